"""The collapsed sampler of the mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Places
from skdp.mixture._cluster_sampler import IMPOSSIBLE, ClusterSampler, count_tries
from skdp.mixture._hyper import PartitionPrior, log_partition
from skdp.mixture._kernels_moves import GroupCounts, empty_group_counts
from skdp.mixture._labels import LabeledRows
from skdp.mixture._model import MixtureModel, SampledPrior, log_shares
from skdp.mixture._state import MixtureState


class MixtureSampler(ClusterSampler):
    """Markov chain over partitions, discount and concentration; parameters are integrated out."""

    def __init__(
        self,
        rows: LabeledRows,
        emission: Any,
        prior: PartitionPrior,
        discount: float,
        concentration: float,
        init: NDArray[np.int64] | None,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        split_merge: bool = True,
    ):
        super().__init__(len(rows.values), emission, stream, split_merge=split_merge)
        self.prior = prior
        self.discount, self.concentration = discount, concentration
        self.attach(rows)
        if init is None:
            self._begin(init_stream)
        else:
            self._begin_with(init, init_stream)

    @property
    def is_single(self) -> bool:
        """Whether the columns show no clusters of rows without groups."""
        is_one_distribution = getattr(self.emission, "mixes_to_itself", False)
        return super().is_single or (self.known is None and is_one_distribution)

    def _part(
        self, rows: Places, emission: Any, init: Places | None, rng: NDArray[np.uint64]
    ) -> MixtureSampler:
        return MixtureSampler(
            self._rows.take(rows), emission, self.prior, self.discount, self.concentration, init,
            rng, rng, split_merge=self.split_merge,
        )  # fmt: skip

    def _take_above(self, part: MixtureSampler) -> None:
        self.discount, self.concentration = part.discount, part.concentration

    def _seat(self, order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw the clusters of the given rows in order."""
        _, rows, prior = self._terms
        place = 0
        while place < len(order):
            room, weights, members, ends, scratch = self._make_room(1)
            place, self.n_clusters = self._kernels.sweep(
                place, order, rows, prior, room, self.n_clusters, self.labels, self._log_alone,
                self.discount, self.concentration, weights, members, ends, scratch, rng,
            )  # fmt: skip
            if place < 0:
                raise ValueError(IMPOSSIBLE)

    def _split_and_merge(self) -> None:
        """Try to split clusters and to merge them."""
        n_rows = len(self.labels)
        self._move(count_tries(n_rows), n_rows, self.stream)

    def _one_group(self) -> GroupCounts:
        """Return empty counts that treat all rows as one group."""
        return empty_group_counts(np.zeros(len(self.labels), dtype=np.int64), 1)

    def _move(
        self, n_tries: int, most_rows: int, rng: NDArray[np.uint64], *, n_spare: int = 0
    ) -> Any:
        """Try `n_tries` moves of at most `most_rows` rows; return statistics of the clusters."""
        return self._move_clusters(
            self._kernels.split_and_merge, n_tries, self._one_group(),
            (most_rows, self.discount, self.concentration), n_spare=n_spare, rng=rng,
        )  # fmt: skip

    def _draw_hyper(self) -> None:
        self.discount, self.concentration = self.prior.draw(
            self.sizes(), self.discount, self.concentration, self.stream
        )

    def log_prior(self) -> float:
        """Return the log probability of the partition given discount and concentration."""
        return log_partition(self.sizes(), self.discount, self.concentration)

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.n_components),
            "discount": self.discount,
            "concentration": self.concentration,
            **self._scalars_of_emission(),
        }

    def model(self) -> MixtureModel:
        """Return the current sample."""
        return self.model_of(self.components, self.discount, self.concentration)

    def model_of(
        self, labels: NDArray[np.int64], discount: float, concentration: float
    ) -> MixtureModel:
        """Return the predictive model given a partition, discount and concentration."""
        sizes = np.bincount(labels)
        shares = log_shares(sizes, discount, concentration)
        emission = self._predictive(labels, len(sizes))
        hyper = SampledPrior(discount, concentration, self._terms.prior)
        return MixtureModel(labels.astype(np.int32), shares, emission, hyper)

    def state(self) -> MixtureState:
        """Return a live view of the state."""
        return MixtureState(self)
