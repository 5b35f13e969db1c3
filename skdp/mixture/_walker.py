"""The walker of the mixtures: all that a sweep draws."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._typing import Floats
from skdp.emissions._clusters import ClusterTerms
from skdp.inference import Part
from skdp.mixture._hyper import PartitionPrior, log_partition
from skdp.mixture._kernels import kernels_of, shuffle
from skdp.mixture._model import MixtureModel, log_shares
from skdp.mixture._state import MixtureState


def count_tries(n_rows: int) -> int:
    """Return how many moves are tried in a sweep: more rows may have more clusters."""
    return 20 + int(0.1 * n_rows**0.5)


_FIRST_CAPACITY = 16
_THREE = 3

IMPOSSIBLE = (
    "The covariance of a cluster is not positive definite to rounding: scale the columns of X, or "
    "give a larger covariance_prior."
)


class MixtureWalker(Part):
    """Markov chain over partitions of rows, discount and concentration, parameters summed out.

    Parameters
    ----------
    values : (N, D) array
    emission : ClusterEmission
        For one state; it holds the prior.
    prior : PartitionPrior
    discount, concentration : float
        What they are, or where they begin.
    init : (N,) array of int or None
        First clusters, named from 0 without gaps. None: one row after the other, in random order,
        joins a cluster given the rows before.
    init_stream, stream : (4,) uint64 arrays
        Streams of the first partition and of the sweeps.
    split_merge : bool, default=True
        Whether sweeps try to split and merge clusters.

    Attributes
    ----------
    labels : (N,) array of int64
    n_clusters : int
    """

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_values", "_terms", "_kernels", "_log_alone", "_order",
    )  # fmt: skip

    def __init__(
        self,
        values: Floats,
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
        self.emission = emission
        self.prior = prior
        self.discount, self.concentration = discount, concentration
        self.split_merge = split_merge
        self.stream = stream
        self.labels = np.full(len(values), -1, dtype=np.int64)
        self.n_clusters = 0
        self._capacity = _FIRST_CAPACITY
        self.attach(values)
        if init is None:
            self._begin(init_stream)
        else:
            self.labels[:] = init
            self.n_clusters = int(init.max()) + 1

    def _begin(self, rng: NDArray[np.uint64]) -> None:
        """Draw the first partition."""
        order = np.arange(len(self.labels))
        shuffle(order, rng)
        self._seat(order, rng)

    def attach(self, values: Floats) -> None:
        """Take the observations (again)."""
        self._values = values
        self._order = np.arange(len(values))
        self.emission.attach(values)
        self._take_prior()

    def _take_prior(self) -> None:
        """Compute what follows from the rows and the prior of the parameters."""
        self._terms: ClusterTerms = self.emission.cluster_terms()
        self._kernels = kernels_of(self._terms.kind)
        self._log_alone = np.empty(len(self._values))
        _, rows, prior = self._terms
        room, scratch = self._terms.make_clusters(1), self._terms.make_scratch(1)
        arguments = room, self._order, scratch, self._log_alone
        if not self._kernels.weigh_alone(rows, prior, *arguments):
            raise ValueError(IMPOSSIBLE)

    def sweep(self) -> None:
        """Draw the clusters of all rows, then discount, concentration and what clusters share."""
        self._seat(self._order, self.stream)
        if self.split_merge and len(self.labels) > 1:
            self._split_and_merge()
        self._draw_hyper()

    def _make_room(self, n_spare: int) -> tuple[Any, ...]:
        """Return arrays for the clusters, and so many more, and scratch arrays."""
        while self._capacity < self.n_clusters + n_spare:
            self._capacity *= 2
        room = self._terms.make_clusters(self._capacity)
        weights = np.empty(self._capacity + 1)
        members = np.empty(len(self.labels), dtype=np.int64)
        ends = np.empty(self._capacity + 1, dtype=np.int64)
        return room, weights, members, ends, self._terms.make_scratch(self._capacity)

    def _seat(self, order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Let rows choose their clusters in some order."""
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

    def _move(
        self, n_tries: int, most_rows: int, rng: NDArray[np.uint64], *, n_spare: int = 0
    ) -> Any:
        """Try so many moves of so many rows at most; return the statistics of the clusters.

        In their arrays there is room for `n_spare` more.
        """
        _, rows, prior = self._terms
        n_rows = len(self.labels)
        room, weights, _, ends, scratch = self._make_room(n_tries + n_spare)
        members = np.empty((2, n_rows), dtype=np.int64)
        sides = np.empty((3, n_rows), dtype=np.int8)
        three, pair = self._terms.make_clusters(_THREE), np.empty(2)
        weights = np.empty((2, len(weights)))
        n_clusters = self._kernels.split_and_merge(
            n_tries, rows, prior, room, three, self.n_clusters, self.labels, most_rows,
            self.discount, self.concentration, weights, pair, members, ends, sides, scratch, rng,
        )  # fmt: skip
        if n_clusters < 0:
            raise ValueError(IMPOSSIBLE)
        self.n_clusters = n_clusters
        return room

    def _draw_hyper(self) -> None:
        self.discount, self.concentration = self.prior.draw(
            self.sizes(), self.discount, self.concentration, self.stream
        )
        if hasattr(self.emission, "draw_shared"):
            before = self.emission.prior
            self.emission.draw_shared(self.labels, self.n_clusters, self.stream)
            if self.emission.prior is not before:
                self._take_prior()

    def sizes(self) -> NDArray[np.int64]:
        """Return the numbers of rows of the clusters, (K,)."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    def log_joint(self) -> float:
        """Return log p(X, partition) given what else is drawn, parameters summed out."""
        part = self.emission.restrict(self._order, self.n_clusters)
        part.condition(self.labels)
        log_prior = log_partition(self.sizes(), self.discount, self.concentration)
        return log_prior + float(part.log_evidence())

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.n_clusters),
            "discount": self.discount,
            "concentration": self.concentration,
            **(self.emission.scalars() if hasattr(self.emission, "scalars") else {}),
        }

    def model(self) -> MixtureModel:
        """Return the current sample."""
        return self.model_of(self.labels, self.discount, self.concentration)

    def model_of(
        self, labels: NDArray[np.int64], discount: float, concentration: float
    ) -> MixtureModel:
        """Return a partition, and what the next row follows given it."""
        sizes = np.bincount(labels)
        part = self.emission.restrict(self._order, len(sizes) + 1)  # the last one is empty
        part.condition(labels)
        shares = log_shares(sizes, discount, concentration)
        return MixtureModel(labels.astype(np.int32), shares, part.model())

    def state(self) -> MixtureState:
        """Return a live view of the state."""
        return MixtureState(self)
