"""Sampler of the mixture whose groups share components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._typing import Floats, Places
from skdp.mixture._cluster_sampler import IMPOSSIBLE, ClusterSampler, count_tries
from skdp.mixture._hdp._kernels import kernels_of_groups
from skdp.mixture._hdp._kernels_sections import RowGroups
from skdp.mixture._hdp._model import HDPMixtureModel
from skdp.mixture._hdp._state import HDPMixtureState
from skdp.mixture._kernels_moves import empty_group_counts
from skdp.mixture._labels import LabeledRows
from skdp.processes._kernels_top_level import log_density_of_weights
from skdp.processes._top_level import TopLevel, TopPriors

_N_DRAWS = 120
"""Number of table draws for the weights of a partition that is not a sample."""


class HDPMixtureSampler(ClusterSampler):
    """Markov chain over the components of grouped rows, their weights and both concentrations."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *ClusterSampler._data_attributes, "ptr", "_groups"
    )  # fmt: skip

    def __init__(
        self,
        rows: LabeledRows,
        emission: Any,
        priors: TopPriors,
        concentration: float,
        top_concentration: float,
        init: Places | None,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        split_merge: bool = True,
    ):
        super().__init__(len(rows.values), emission, stream, split_merge=split_merge)
        self.priors = priors
        self.top = TopLevel(np.empty(0), 1.0, concentration, top_concentration)
        self.attach(rows)
        if init is None:
            self._begin(init_stream)
        else:
            self._begin_with(init, init_stream)
            n = self.n_clusters
            even = np.full(n, 1.0 / (n + 1.0))
            self.top = TopLevel(even, 1.0 / (n + 1.0), concentration, top_concentration)
        self._draw_hyper()

    def _part(
        self, rows: Places, emission: Any, init: Places | None, rng: NDArray[np.uint64]
    ) -> HDPMixtureSampler:
        n_groups = len(self.ptr) - 1
        lengths = np.bincount(self._groups[rows], minlength=n_groups)
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        return HDPMixtureSampler(
            self._rows.take(rows)._replace(ptr=ptr), emission, self.priors, self.top.concentration,
            self.top.top_concentration, init, rng, rng, split_merge=self.split_merge,
        )  # fmt: skip

    def _take_above(self, part: HDPMixtureSampler) -> None:
        self.top = part.top

    def _seat_pinned(self) -> None:
        """Assign all rows with known labels; new components share the remaining weight evenly."""
        super()._seat_pinned()
        n_new = self.n_clusters - len(self.top.weights)
        if n_new > 0:
            share = self.top.rest / (n_new + 1.0)
            self.top = self._weighted(np.append(self.top.weights, np.full(n_new, share)), share)

    def attach(self, rows: LabeledRows) -> None:
        """Attach the observations and their known labels."""
        assert rows.ptr is not None
        self.ptr = rows.ptr
        self._groups = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        super().attach(rows)

    @property
    def _group_kernels(self) -> Any:
        return kernels_of_groups(self._terms.kind)

    def counts(self, n_columns: int) -> Places:
        """Return the number of rows of each group in each component, (J, n_columns)."""
        seated = self.labels >= 0
        codes = self._groups[seated] * n_columns + self.labels[seated]
        n_groups = len(self.ptr) - 1
        return np.bincount(codes, minlength=n_groups * n_columns).reshape(n_groups, n_columns)

    def _seat(self, order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        _, rows, prior = self._terms
        place, top = 0, self.top
        while place < len(order):
            room, weights, members, ends, scratch = self._make_room(1)
            groups = RowGroups(
                self._groups,
                self.counts(self._capacity).astype(np.float64),
                np.append(top.weights, np.zeros(self._capacity - len(top.weights))),
                np.array([top.rest]),
            )
            place, self.n_clusters = self._group_kernels.sweep(
                place, order, rows, prior, room, self.n_clusters, self.labels, self._log_alone,
                groups, top.concentration, top.top_concentration, weights, members, ends, scratch,
                rng,
            )  # fmt: skip
            if place < 0:
                raise ValueError(IMPOSSIBLE)
            top = self._weighted(groups.top[: self.n_clusters], float(groups.rest[0]))
        self.top = top

    def _weighted(self, weights: Floats, rest: float) -> TopLevel:
        """Return the top level with other weights."""
        return TopLevel(weights.copy(), rest, self.top.concentration, self.top.top_concentration)

    def _split_and_merge(self) -> None:
        top = self.top
        n_tries = count_tries(len(self.labels))
        group_counts = empty_group_counts(self._groups, len(self.ptr) - 1)
        weights = np.append(top.weights, np.zeros(n_tries))  # room
        first = weights, top.concentration, top.top_concentration
        self._move_clusters(
            self._group_kernels.split_and_merge, n_tries, group_counts, first, np.empty((3, 2))
        )
        self.top = self._weighted(weights[: self.n_clusters], top.rest)

    def _draw_hyper(self) -> None:
        self.top = self.top.drawn(self.ptr, self.labels, self.priors, self.stream)

    def log_prior(self) -> float:
        """Return the log density of components and weights given both concentrations."""
        top = self.top
        counts, prior = self.counts(self.n_clusters), top.concentration * top.weights
        j, k = np.nonzero(counts)
        result = float((gammaln(prior[k] + counts[j, k]) - gammaln(prior[k])).sum())
        total = gammaln(top.concentration + np.diff(self.ptr)) - gammaln(top.concentration)
        density = log_density_of_weights(top.weights, top.rest, top.top_concentration)
        return result - float(total.sum()) + density

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.n_components),
            "concentration": float(self.top.concentration),
            "top_concentration": float(self.top.top_concentration),
            **self._scalars_of_emission(),
        }

    @property
    def top_of_components(self) -> TopLevel:
        """The top level of the components of a sample."""
        if self.is_single:
            return replace(self.top, weights=self.top.weights.sum(keepdims=True))
        return self.top

    def model(self) -> HDPMixtureModel:
        """Return the current sample."""
        return self._model(self.components, self.top_of_components)

    def _model(self, labels: NDArray[np.int64], top: TopLevel) -> HDPMixtureModel:
        return HDPMixtureModel(
            labels.astype(np.int32),
            np.append(top.weights, top.rest),
            float(top.concentration),
            self._predictive(labels, len(top.weights)),
        )

    def model_of(
        self,
        labels: NDArray[np.int64],
        concentration: float,
        top_concentration: float,
        rng: NDArray[np.uint64],
    ) -> HDPMixtureModel:
        """Return the predictive model of groups given a partition, with mean weights."""
        n = int(labels.max()) + 1
        even = np.full(n, 1.0 / (n + 1.0))
        top = TopLevel(even, 1.0 / (n + 1.0), concentration, top_concentration)
        return self._model(labels, top.expected(self.ptr, labels, _N_DRAWS, rng))

    def state(self) -> HDPMixtureState:
        """Return a live view of the state."""
        return HDPMixtureState(self)
