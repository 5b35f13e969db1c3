"""Base class of the mixture samplers: the parameters of clusters are integrated out."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Places
from skdp._part import Part
from skdp.emissions._clusters import ClusterTerms
from skdp.emissions._kernels_clusters import AUGMENTED
from skdp.inference._interrupt import check_interrupts
from skdp.mixture._cluster_tree import Summary, summarize
from skdp.mixture._kernels import draw_latent_values, kernels_of, shuffle
from skdp.mixture._kernels_moves import GroupCounts
from skdp.mixture._labels import LabeledRows, restrict_partition
from skdp.mixture._table._weights import RowCopies

_FIRST_CAPACITY = 16
_THREE = 3

_STAGES = (500, 100), (2000, 100), (20_000, 50)
"""(number of rows, number of sweeps) of the initialization stages.

If there are at least twice as many rows, a random subset of this size is clustered first, because
moves that are rarely accepted with many rows are accepted with few. The first stage is for columns
that may turn out to be noise: with many rows, a partition that fits their noise is stable.
"""

_SWEEPS = 15
"""Number of sweeps after which starts are compared."""

_FIRST_ROUNDS, _LAST_ROUNDS = 10, 5
"""Numbers of draws of missing values given a first partition, and given the representative one."""

IMPOSSIBLE = (
    "The covariance of a cluster is not positive definite to rounding: scale the columns of X, or "
    "give a larger covariance_prior."
)


def count_tries(n_rows: int) -> int:
    """Return the number of moves in a sweep, which grows with the number of rows."""
    return 20 + int(0.1 * n_rows**0.5)


class ClusterSampler(Part):
    """Base class with rows, clusters, and quantities that depend on the emission's prior."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_rows", "_values", "_terms", "_log_alone", "_order", "known", "_pinned", "_free",
    )  # fmt: skip

    def __init__(
        self, n_rows: int, emission: Any, stream: NDArray[np.uint64], *, split_merge: bool
    ):
        self.emission = emission  # of a single state, with the prior
        self.split_merge = split_merge
        self.stream = stream
        self.labels = np.full(n_rows, -1, dtype=np.int64)
        self.n_clusters = 0
        self._capacity = _FIRST_CAPACITY

    def attach(self, rows: LabeledRows) -> None:
        """Attach the observations and their known labels."""
        self._rows, self._values, self.known = rows, rows.values, rows.known
        self._order = self._free = np.arange(len(self._values))
        self._pinned = np.zeros(0, dtype=np.bool_)
        if self.known is not None:
            self._free, self._pinned = np.flatnonzero(self.known < 0), self.known >= 0
        if rows.powers is None:
            self.emission.attach(self._values)
        else:
            self.emission.attach(self._values, rows.powers)
        self._take_prior()

    def _begin(self, rng: NDArray[np.uint64]) -> None:
        """Draw the first partition: rows choose their clusters one by one, in random order."""
        order = self._free.copy()
        shuffle(order, rng)
        possible = _STAGES if self._may_be_alike else _STAGES[1:]
        stages = [stage for stage in possible if 2 * stage[0] <= len(order)]
        if stages:  # many rows: a subset is clustered first
            n_rows, n_sweeps = stages[-1]
            rows = np.sort(np.append(order[:n_rows], self._some_pinned(n_rows, rng)))
            part = self._part(rows, self.emission.copy(), None, rng)
            for _ in range(n_sweeps):
                check_interrupts()
                part.sweep()
            self._take_part(rows, part)
            self._seat_pinned()
            self._seat_others(order[n_rows:], rng)
            return
        self._seat_pinned()
        self._seat(order, rng)
        # With few rows for their columns, other partitions are tried, too.
        if getattr(self.emission, "draws_dof", False) and self.emission.has_few_rows:
            self._take_part(self._order, self._find_best_start(rng))

    def _some_pinned(self, n_rows: int, rng: NDArray[np.uint64]) -> Places:
        """Return at most `n_rows` random rows with known labels."""
        pinned = np.flatnonzero(self._pinned)
        if len(pinned) > n_rows:
            shuffle(pinned, rng)
        return pinned[:n_rows]

    def _seat_pinned(self) -> None:
        """Assign all rows with known labels: to the cluster of other such rows, or to a new one."""
        if self.known is None:
            return
        clusters = np.full(int(self.known.max()) + 1, -1)
        seated = self._pinned & (self.labels >= 0)
        clusters[self.known[seated]] = self.labels[seated]
        new = np.flatnonzero(clusters < 0)
        clusters[new] = self.n_clusters + np.arange(len(new))
        self.n_clusters += len(new)
        self.labels[self._pinned] = clusters[self.known[self._pinned]]

    def _find_best_start(self, rng: NDArray[np.uint64]) -> Self:
        """Return a sampler that began with the present clusters or with those of k-means."""
        # With few rows, a chain that begins with one cluster takes its spread for that within
        # clusters.
        best, highest = None, -math.inf
        for labels in (self.labels, *self.emission.find_clusters(rng)):
            labels = restrict_partition(labels, self.known)
            part = self._part(self._order, self.emission.copy(), labels, rng)
            logs = []
            for _ in range(_SWEEPS):
                check_interrupts()
                part.sweep()
                logs.append(part.log_joint())
            mean = float(np.mean(logs[_SWEEPS // 2 :]))
            if best is None or mean > highest:
                best, highest = part, mean
        assert best is not None
        return best

    def _begin_with(self, labels: Places, rng: NDArray[np.uint64]) -> None:
        """Begin with the given partition, and with shared parameters that suit it."""
        self.labels[:] = labels
        self.n_clusters = int(labels.max()) + 1
        for _ in range(_FIRST_ROUNDS if self._is_augmented else 0):
            self._draw_latent(self._order, rng)
        if getattr(self.emission, "draws_dof", False):
            self.emission.fit_shared(self.labels, self.n_clusters, rng)
            self._take_prior()

    def _take_part(self, rows: Places, part: Self) -> None:
        """Adopt the state of a sampler over some of the rows."""
        self.labels[rows], self.n_clusters = part.labels, part.n_clusters
        self._take_above(part)
        if self._is_augmented:
            self.emission.take_latent(rows, part.emission)
        if hasattr(self.emission, "draw_shared"):
            self.emission.prior = part.emission.prior
            self._take_prior()

    def _part(
        self, rows: Places, emission: Any, init: Places | None, rng: NDArray[np.uint64]
    ) -> Self:
        """Return a sampler of the same class over some of the rows; `init`: first clusters."""
        raise NotImplementedError

    def _take_above(self, part: Self) -> None:
        """Copy the hyperparameters from a sampler over a subset of the rows."""
        raise NotImplementedError

    def _seat_others(self, order: Places, rng: NDArray[np.uint64]) -> None:
        """Draw the clusters of unassigned rows."""
        self._seat(order, rng)

    def _take_prior(self) -> None:
        """Compute the quantities that depend on the rows and the prior of the parameters."""
        self._terms: ClusterTerms = self.emission.cluster_terms()
        self._log_alone = np.empty(len(self._values))
        _, rows, prior = self._terms
        room, scratch = self._terms.make_clusters(1), self._terms.make_scratch(1)
        arguments = room, self._order, scratch, self._log_alone
        if not self._kernels.weigh_alone(rows, prior, *arguments):
            raise ValueError(IMPOSSIBLE)

    @property
    def names(self) -> Places:
        """The known labels in ascending order, (C,)."""
        return self._rows.names

    @property
    def copies(self) -> RowCopies | None:
        """The rows of X that the rows are copies of, in a fit with weights."""
        return self._rows.copies

    @property
    def _kernels(self) -> Any:
        """Return the kernels. They are not pickled, because each process would recompile them."""
        return kernels_of(self._terms.kind)

    def sweep(self) -> None:
        """Draw the clusters of all rows, then their hyperparameters, and shared parameters."""
        self._seat(self._free, self.stream)
        if self._is_augmented and self.known is not None:
            self._draw_latent(np.flatnonzero(self._pinned), self.stream)
        if self.split_merge and len(self.labels) > 1:
            self._split_and_merge()
        self._draw_above()

    @property
    def _may_be_alike(self) -> bool:
        """Whether columns may have the same distribution in all clusters."""
        return bool(getattr(self.emission, "may_be_alike", False))

    @property
    def is_single(self) -> bool:
        """Whether the columns of a table show no clusters, so that there is only one."""
        return self.known is None and not getattr(self.emission, "shows_clusters", True)

    @property
    def n_components(self) -> int:
        """Number of clusters of a sample, which is 1 if no columns show them."""
        return 1 if self.is_single else self.n_clusters

    @property
    def components(self) -> NDArray[np.int64]:
        """Clusters of the rows in a sample, (N,)."""
        return np.zeros_like(self.labels) if self.is_single else self.labels

    @property
    def _is_augmented(self) -> bool:
        """Whether missing values or weights of rows are drawn."""
        return self._terms.kind == AUGMENTED

    def _draw_latent(self, order: Places, rng: NDArray[np.uint64]) -> None:
        """Draw missing values and weights of the given rows in order, given their clusters."""
        _, rows, prior = self._terms
        room, _, members, ends, scratch = self._make_room(0)
        if not draw_latent_values(
            order, rows, prior, room, self.n_clusters, self.labels, members, ends, scratch, rng
        ):
            raise ValueError(IMPOSSIBLE)

    def settled(self, labels: Places) -> Self:
        """Return a sampler whose latent values and varying columns suit a partition, or itself."""
        if not self._is_augmented and not self._may_be_alike:
            return self
        other = self.copy()
        other.labels, other.n_clusters = labels.astype(np.int64), int(labels.max()) + 1
        for _ in range(_LAST_ROUNDS):
            if self._is_augmented:
                other._draw_latent(other._order, other.stream)
            else:
                other._draw_shared()
        return other

    def copy(self) -> Self:
        """Return a copy with its own arrays; data are shared."""
        other = super().copy()
        if "_terms" in vars(self) and self._is_augmented:
            other._terms = other.emission.cluster_terms()
            other._terms.rows.alone[:] = self._terms.rows.alone
        return other

    def _draw_above(self) -> None:
        """Draw the hyperparameters of the partition and of the cluster parameters."""
        self._draw_hyper()
        self._draw_shared()

    def _draw_shared(self) -> None:
        """Draw the parameters that clusters share, and which columns differ between clusters."""
        if hasattr(self.emission, "draw_shared"):
            before = self.emission.prior
            self.emission.draw_shared(self.labels, self.n_clusters, self.stream)
            if self.emission.prior is not before:
                self._take_prior()

    def _seat(self, order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw the clusters of the given rows in order."""
        raise NotImplementedError

    def _split_and_merge(self) -> None:
        """Try to split clusters and to merge them."""
        raise NotImplementedError

    def _draw_hyper(self) -> None:
        """Draw the hyperparameters of the partition prior."""
        raise NotImplementedError

    def _make_room(self, n_spare: int) -> tuple[Any, ...]:
        """Return arrays with room for `n_spare` more clusters, and scratch arrays."""
        while self._capacity < self.n_clusters + n_spare:
            self._capacity *= 2
        room = self._terms.make_clusters(self._capacity)
        weights = np.empty(self._capacity + 1)
        members = np.empty(len(self.labels), dtype=np.int64)
        ends = np.empty(self._capacity + 1, dtype=np.int64)
        return room, weights, members, ends, self._terms.make_scratch(self._capacity)

    def _move_clusters(
        self,
        split_and_merge: Any,
        n_tries: int,
        group_counts: GroupCounts,
        first: tuple[Any, ...],
        *others: Any,
        n_spare: int = 0,
        rng: NDArray[np.uint64] | None = None,
    ) -> Any:
        """Try `n_tries` moves; return cluster statistics with room for `n_spare` more clusters.

        `first` and `others` are the kernel's own arguments before and after `group_counts`.
        """
        _, rows, prior = self._terms
        n_rows = len(self.labels)
        room, weights, _, ends, scratch = self._make_room(n_tries + n_spare)
        members = np.empty((2, n_rows), dtype=np.int64)
        sides = np.empty((3, n_rows), dtype=np.int8)
        three, pair = self._terms.make_clusters(_THREE), np.empty(2)
        weights = np.empty((2, len(weights)))
        n_clusters = split_and_merge(
            n_tries, rows, prior, room, three, self.n_clusters, self.labels, self._pinned, *first,
            group_counts, *others, weights, pair, members, ends, sides, scratch,
            self.stream if rng is None else rng,
        )  # fmt: skip
        if n_clusters < 0:
            raise ValueError(IMPOSSIBLE)
        self.n_clusters = n_clusters
        return room

    def sizes(self) -> NDArray[np.int64]:
        """Return the numbers of rows of the clusters, (K,)."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    def log_prior(self) -> float:
        """Return the log density of the partition and its drawn hyperparameters."""
        raise NotImplementedError

    def log_joint(self) -> float:
        """Return log p(X, partition) given the hyperparameters; parameters are integrated out."""
        part = self.emission.restrict(self._order, self.n_clusters)
        part.condition(self.labels)
        return self.log_prior() + float(part.log_evidence())

    def summarize(self, labels: NDArray[np.int64]) -> Summary:
        """Return the statistics on which the evidence of the clusters of a partition depends."""
        return summarize(self._terms, labels)

    def _scalars_of_emission(self) -> dict[str, float]:
        return self.emission.scalars() if hasattr(self.emission, "scalars") else {}

    def _predictive(self, labels: NDArray[np.int64], n_clusters: int) -> Any:
        """Return predictive distributions of the next row for each cluster and, last, a new one."""
        part = self.emission.restrict(self._order, n_clusters + 1)  # the last one is empty
        part.condition(labels)
        return part.model()
