"""Mixtures of rows: collapsed and blocked Markov chains, and predictions of stored samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from sklearn.metrics import adjusted_rand_score

from skdp._checks import check_count
from skdp._executors import call_all
from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_key, draw_slice, make_generator, make_seed_sequence
from skdp._part import ChainComponent
from skdp.emissions._common._clusters import ClusterTerms
from skdp.emissions._kernels._clusters import AUGMENTED
from skdp.inference._chain import check_interrupts
from skdp.mixture._kernels import _blocked as kernels
from skdp.mixture._kernels import _moves as large_moves
from skdp.mixture._kernels._moves import GroupCounts, empty_group_counts
from skdp.mixture._kernels._rows import draw_latent_values, kernels_of, shuffle
from skdp.mixture._rows._cluster_tree import Summary, summarize
from skdp.mixture._rows._partition import LabeledRows, RowCopies, restrict_partition

_FIRST_CAPACITY = 16
_FEWEST_ROWS = 1000
"""Number of rows, at least, up to which clusters are split and merged in a stream."""
_THREE = 3

_STAGES = (500, 100), (2000, 100), (20_000, 50)
"""(number of rows, number of sweeps) of the initialization stages.

If there are at least twice as many rows, a random subset of this size is clustered first, because
moves that are rarely accepted with many rows are accepted with few. The first stage is for columns
that may turn out to be noise: with many rows, a partition that fits their noise is stable.
"""

_SWEEPS = 15
"""Number of sweeps after which starts are compared."""
_N_SPREADS = 2.0
"""Starts that are worse by this many standard deviations over sweeps are not compared further."""

_FIRST_ROUNDS, _LAST_ROUNDS = 10, 5
"""Numbers of draws of missing values given a first partition, and given the representative one."""

IMPOSSIBLE = (
    "The covariance of a cluster is not positive definite to rounding: scale the columns of X, or "
    "give a larger covariance_prior."
)


def count_tries(n_rows: int) -> int:
    """Return the number of moves in a sweep, which grows with the number of rows."""
    return 20 + int(0.1 * n_rows**0.5)


class ClusterSampler(ChainComponent):
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
        self.n_settled = 0  # number of first rows from earlier calls of `partial_fit`
        self.n_left = 0  # number of rows before these that have left the window
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
        starts = []
        for labels in (self.labels, *self.emission.find_clusters(rng)):
            labels = restrict_partition(labels, self.known)
            part = self._part(self._order, self.emission.copy(), labels, rng)
            logs = np.empty(_SWEEPS)
            for sweep in range(_SWEEPS):
                check_interrupts()
                part.sweep()
                logs[sweep] = part.log_joint()
            last = logs[_SWEEPS // 2 :]
            starts.append((float(last.mean()), float(last.std()), part))
        # S is shared and moves slowly, so the same clusters may differ by ten nats. Of starts that
        # are hardly worse than the best one, the one wins that agrees most with the others.
        starts.sort(key=lambda start: -start[0])
        highest, spread, _ = starts[0]
        alike = [part for mean, _, part in starts if mean >= highest - _N_SPREADS * spread]
        labels = [part.labels for part in alike]
        agreements = [sum(adjusted_rand_score(a, b) for b in labels) for a in labels]
        return alike[int(np.argmax(agreements))]

    def _begin_with(self, labels: Places, rng: NDArray[np.uint64]) -> None:
        """Begin with the given partition, and with shared parameters that suit it."""
        self.labels[:] = labels
        self.n_clusters = int(labels.max()) + 1
        for _ in range(_FIRST_ROUNDS if self._is_augmented else 0):
            self._draw_latent(self._order, rng)
        if getattr(self.emission, "draws_dof", False):
            self.emission.fit_shared(self.labels, self.n_clusters, rng)
            self._take_prior()

    def _continue(self, before: Self) -> None:
        """Take the state of the chain of the first rows; the others choose their clusters."""
        # The prior may depend on all rows, so its learned parameters are drawn again.
        self.n_settled, self.stream = len(before.labels), before.stream.copy()
        self._take_above(before)
        rows = np.arange(self.n_settled)
        part = self._part(rows, self.emission.copy(), before.labels, self.stream)
        part = part.settled(part.labels)
        self.stream = part.stream
        self._take_part(rows, part)
        self._seat_pinned()
        order = self._free[self._free >= self.n_settled]
        shuffle(order, self.stream)
        self._seat(order, self.stream)

    def _chosen(self) -> Places:
        """Return the rows that a sweep draws: all, or the new ones and as many others."""
        if self.n_settled == 0:
            return self._free
        earlier, new = np.split(self._free, [np.searchsorted(self._free, self.n_settled)])
        some = make_generator(self.stream).integers(max(len(earlier), 1), size=len(new))
        return np.concatenate([earlier[some[: len(earlier)]], new])

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
    def values(self) -> Any:
        """The rows."""
        return self._values

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
        self._seat(self._chosen(), self.stream)
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
        draws_tables = getattr(self.emission, "draws_tables", False)
        if not self._is_augmented and not self._may_be_alike and not draws_tables:
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


class MixtureState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def labels(self) -> NDArray[np.int64]:
        """Cluster of every row, (N,), from 0 to the number of clusters minus 1."""
        view: NDArray[np.int64] = self._sampler.components.view()
        view.flags.writeable = False
        return view

    @property
    def discount(self) -> float:
        """Discount a."""
        return float(self._sampler.discount)

    @property
    def concentration(self) -> float:
        """Concentration b."""
        return float(self._sampler.concentration)

    def log_joint(self) -> float:
        """Return log p(X, labels) given discount and concentration (parameters integrated out)."""
        return float(self._sampler.log_joint())

    def copy(self) -> MixtureState:
        """Return a state that later sweeps do not change."""
        return MixtureState(self._sampler.copy())


# Prior of partitions, and draws of its discount and concentration.


_FAR = 30.0
"""Bound on the logit of the discount: beyond it the discount is practically 0 or 1."""

_LOGS = math.log(1e-8), math.log(1e8)
"""Range of the logarithm of a drawn concentration."""


def log_partition(sizes: Places, discount: float, concentration: float) -> float:
    """Return the log probability of a partition with clusters of these sizes."""
    # (b + a) ... (b + (K - 1) a) / (b + 1)_{n - 1} prod_k (1 - a)_{n_k - 1}
    a, b, n = discount, concentration, int(sizes.sum())
    numbers, repeats = np.unique(sizes, return_counts=True)
    result = float(np.log(b + a * np.arange(1, len(sizes))).sum())
    result -= math.lgamma(b + n) - math.lgamma(b + 1.0)
    terms: Floats = repeats * (gammaln(numbers - a) - gammaln(1.0 - a))
    return result + float(terms.sum())


@dataclass(frozen=True)
class PartitionPrior:
    """Priors of discount and concentration; None: the value is fixed."""

    discount_prior: tuple[float, float] | None  # Beta(p, q)
    concentration_prior: tuple[float, float] | None  # Gamma(shape, rate)

    def draw(
        self, sizes: Places, discount: float, concentration: float, rng: NDArray[np.uint64]
    ) -> tuple[float, float]:
        """Draw the discount and concentration given the sizes of clusters."""
        if self.discount_prior is not None:
            p, q = self.discount_prior

            def log_density_of_logit(logit: float) -> float:
                if not -_FAR <= logit <= _FAR:
                    return -math.inf
                a = 1.0 / (1.0 + math.exp(-logit))
                both = p * math.log(a) - q * math.log1p(math.exp(logit))
                return log_partition(sizes, a, concentration) + both

            logit = draw_slice(
                log_density_of_logit, math.log(discount) - math.log1p(-discount), rng
            )
            discount = 1.0 / (1.0 + math.exp(-logit))
        if self.concentration_prior is not None:
            shape, rate = self.concentration_prior

            def log_density(log_b: float) -> float:
                if not _LOGS[0] <= log_b <= _LOGS[1]:
                    return -math.inf
                b = math.exp(log_b)
                return log_partition(sizes, discount, b) + shape * log_b - rate * b

            concentration = math.exp(draw_slice(log_density, math.log(concentration), rng))
        return discount, concentration


# Stored samples, and the predictive distribution of new rows.


_BLOCK = 10_000
"""Number of rows per block, which limits the memory for densities."""


def log_shares(sizes: NDArray[Any], discount: float, concentration: float) -> Floats:
    """Return log probabilities that the next row joins each cluster, or, last, a new one."""
    weights = np.append(sizes - discount, concentration + discount * len(sizes))
    with np.errstate(divide="ignore"):  # if concentration and discount are both 0
        return np.asarray(np.log(weights / (sizes.sum() + concentration)))


class SampledPrior(NamedTuple):
    """Hyperparameters of a stored sample."""

    discount: float
    concentration: float
    clusters: Any  # prior of the parameters of clusters, as of `ClusterTerms`


@dataclass(frozen=True, eq=False)
class MixtureModel:
    """A partition of the training rows, and the distribution of the next row given it."""

    labels: NDArray[np.int32]  # (N,), of the training rows
    log_weights: Floats  # (K + 1,), that the next row joins each cluster or, last, a new one
    emission: Any  # distributions of the next row in each cluster and, last, a new one
    hyper: SampledPrior | None = None  # `LeftOutDensities` needs it

    @property
    def weights(self) -> Floats:
        """Probabilities that the next row joins each cluster, or, last, a new one, (K + 1,)."""
        return np.asarray(np.exp(self.log_weights))

    def log_joint_with(self, values: Floats) -> Floats:
        """Return log p(x, cluster) of rows, (N, K + 1)."""
        return np.asarray(self.log_weights + self.emission.log_obs(values))

    def log_densities(self, values: Floats) -> Floats:
        """Return log p(x) of rows, (N,)."""
        blocks = range(0, len(values), _BLOCK)
        parts = [logsumexp(self.log_joint_with(values[i : i + _BLOCK]), axis=1) for i in blocks]
        return np.concatenate(parts)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Return independent draws of the next row, (n, D)."""
        weights = self.weights
        clusters = rng.choice(len(weights), n, p=weights / weights.sum())
        return np.asarray(self.emission.sample(clusters, rng))


# The collapsed sampler.


class MixtureSampler(ClusterSampler):
    """Markov chain over partitions, discount and concentration; parameters are integrated out."""

    def __init__(
        self,
        rows: LabeledRows,
        emission: Any,
        prior: PartitionPrior,
        discount: float,
        concentration: float,
        init: NDArray[np.int64] | MixtureSampler | None,  # labels, or a chain of the first rows
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
        elif isinstance(init, MixtureSampler):
            self._continue(init)
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
        n_rows = most_rows = len(self.labels)
        if self.n_settled > 0:  # in time proportional to the new rows
            n_rows -= self.n_settled
            most_rows = max(_FEWEST_ROWS, 4 * n_rows)
        self._move(count_tries(n_rows), most_rows, self.stream)

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


# The blocked sampler for large mixtures: all rows are drawn at once given the parameters.


_FIVE = 5

_N_TRIES = 20
"""Moves of large clusters in a sweep, and as many of small ones."""

_FEW_ROWS = 20_000
"""Largest number of rows in a move that draws rows one by one, each given the others."""


def count_stirs(n_rows: int) -> int:
    """Return the number of proposals per sweep that open or remove a singleton cluster."""
    return 20 + int(n_rows**0.5)


class BlockedSampler(MixtureSampler):
    """Markov chain over the states of `MixtureSampler` with steps that draw all rows at once."""

    def __init__(self, *args: Any, n_jobs: int | None = None, **params: Any):
        self.n_jobs = n_jobs
        super().__init__(*args, **params)

    @property
    def _blocked(self) -> kernels.BlockedKernels:
        return kernels.blocked_kernels_of(self._terms.kind)

    def _weigh_alone(self) -> Floats:
        """Return the log densities of rows that are alone, at their drawn values and weights."""
        if not self._is_augmented:
            return self._log_alone
        _, rows, prior = self._terms
        out, room = np.empty(len(self.labels)), self._terms.make_clusters(1)
        kernels.weigh_completed_alone(
            rows, prior, room, self._order, self._terms.make_scratch(1), out
        )
        return out

    def _seat_others(self, order: Places, rng: NDArray[np.uint64]) -> None:
        """Draw the clusters of all unassigned rows at once."""
        drawn = self._draw_parameters(self._move(0, 0, rng), rng)
        self._draw_rows(drawn, rng, others=True)

    def sweep(self) -> None:
        """Move clusters, draw parameters and the clusters of rows, then the hyperparameters."""
        if self.n_settled > 0:
            super().sweep()
            return
        n_rows = len(self.labels)
        n_tries = _N_TRIES if self.split_merge and n_rows > 1 else 0
        n_large = n_tries if n_rows > _FEW_ROWS else 0
        clusters = self._move(n_tries, _FEW_ROWS, self.stream, n_spare=n_large)
        self._move_large(clusters, n_large, self.stream)
        clusters = self._stir(clusters, count_stirs(n_rows), self.stream)
        self._draw_rows(self._draw_parameters(clusters, self.stream), self.stream)
        self._draw_above()

    def _move_large(self, clusters: Any, n_tries: int, rng: NDArray[np.uint64]) -> None:
        """Try `n_tries` moves of large clusters; `clusters` must have room for the new ones."""
        _, rows, prior = self._terms
        n_rows, n_sample = len(self.labels), large_moves.SAMPLE + 2
        n_clusters = self._blocked.move_large(
            n_tries, rows, prior, clusters, self._terms.make_clusters(_FIVE), self.n_clusters,
            self.labels, self._pinned, np.empty(n_rows, dtype=np.int64),
            np.empty(self._capacity + 1, dtype=np.int64), self.discount, self.concentration,
            self._one_group(), np.empty((2, self._capacity + 1)), np.empty(_FIVE),
            np.empty((2, n_sample), dtype=np.int64), np.empty((3, n_sample), dtype=np.int8),
            np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int8),
            self._terms.make_scratch(self._capacity), rng,
        )  # fmt: skip
        if n_clusters < 0:
            raise ValueError(IMPOSSIBLE)
        self.n_clusters = n_clusters

    def _stir(self, clusters: Any, n_tries: int, rng: NDArray[np.uint64]) -> Any:
        """Open and remove singleton clusters; return the statistics of all clusters."""
        _, rows, prior = self._terms
        row_sums = np.zeros(self._capacity, dtype=np.int64)
        kernels.sum_rows(self.labels, row_sums)
        members = np.empty(len(self.labels), dtype=np.int64)
        log_alone = self._weigh_alone()
        while n_tries > 0:
            if self.n_clusters == self._capacity:
                self._capacity *= 2
                clusters = _widen_all(clusters)
                row_sums = _widen(row_sums)
            n_tries, self.n_clusters = self._blocked.stir(
                n_tries, rows, prior, clusters, self.n_clusters, self.labels, self._pinned,
                log_alone, self.discount, self.concentration, np.empty(self._capacity + 1),
                members, row_sums, self._terms.make_scratch(self._capacity), rng,
            )  # fmt: skip
            if self.n_clusters < 0:
                raise ValueError(IMPOSSIBLE)
        return clusters

    def _draw_parameters(self, clusters: Any, rng: NDArray[np.uint64]) -> Any:
        """Return draws of the parameters and weights of all clusters."""
        drawn = self._terms.make_parameters(self.n_clusters)
        scratch = self._terms.make_scratch(1)
        self._blocked.draw_all_parameters(
            self._terms.prior, clusters, self.discount, drawn, scratch, rng
        )
        return drawn

    def _draw_rows(self, drawn: Any, rng: NDArray[np.uint64], *, others: bool = False) -> None:
        """Draw the clusters of all rows but the first ones, or of all unassigned rows."""
        key = np.empty_like(rng)
        draw_key(rng, key)
        n = self.n_clusters

        def find(begin: int, n_blocks: int) -> Floats:
            firsts = np.empty(n)
            kernels.find_firsts(
                begin, n_blocks, self.labels, self._pinned, key, firsts, np.empty_like(key)
            )
            return firsts

        def draw(begin: int, n_blocks: int) -> None:
            self._blocked.draw_rows(
                begin, n_blocks, self._terms.rows, drawn, self.labels, self._pinned, firsts, key,
                self._terms.make_lines(n), np.empty_like(key), np.empty_like(key),
            )  # fmt: skip

        firsts = np.full(n, -1.0) if others else np.min(self._for_blocks(find), axis=0)
        self._for_blocks(draw)

    def _for_blocks(self, function: Callable[[int, int], Any]) -> list[Any]:
        """Call a function for all blocks of rows and split the blocks among threads."""
        n_blocks = -(-len(self.labels) // kernels.BLOCK)
        n_threads = min(effective_n_jobs(self.n_jobs), n_blocks)
        ends = np.linspace(0, n_blocks, n_threads + 1).astype(int)
        parts = [(int(a), int(b - a)) for a, b in pairwise(ends)]
        # Tasks write to the sampler's arrays, so they must be threads and not processes.
        tasks = [partial(function, *part) for part in parts]
        return call_all(tasks, n_threads, require="sharedmem")


def _widen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose last axis is doubled in length with zeros."""
    return np.concatenate([array, np.zeros_like(array)], axis=-1)


def _widen_all(clusters: Any) -> Any:
    """Return the arrays of a (nested) tuple with their last axes doubled in length."""
    if isinstance(clusters, np.ndarray):
        return _widen(clusters)
    arrays = map(_widen_all, clusters)
    return clusters._make(arrays) if hasattr(clusters, "_make") else tuple(arrays)


# Random rows from the predictive density of stored samples.


class DrawsRows(Protocol):
    """Protocol of a stored sample that can generate rows."""

    def sample(self, n_rows: int, rng: np.random.Generator) -> Floats:
        """Return independent rows."""


def draw_rows(
    models: Sequence[DrawsRows], n_samples: Any, n_columns: int, random_state: Any
) -> Floats:
    """Return independent rows, each given one of the models at random."""
    n_samples = check_count(n_samples, "n_samples", at_least=1)
    rng = np.random.default_rng(make_seed_sequence(random_state))
    which = rng.integers(len(models), size=n_samples)
    out = np.empty((n_samples, n_columns))
    for s in np.unique(which):
        rows = np.flatnonzero(which == s)
        out[rows] = models[s].sample(len(rows), rng)
    return out


# Log densities of the rows of a fit, each given the other rows and their clusters.


class LeftOutDensities:
    """Log p(x_i given x_-i, c_-i and the hyperparameters) under samples: f_i, as of `log_average`.

    Posterior draws of c_-i have the density p(c_-i given x_-i) f_i / p(x_i given x_-i), so that the
    harmonic mean of f_i over them is p(x_i given x_-i).
    """

    def __init__(self, emission: Any):
        self._terms: ClusterTerms = emission.cluster_terms()
        if getattr(emission, "may_be_alike", False):
            raise TypeError(
                "to_arviz requires columns of categories with a known prior, such as "
                "CategoricalEmission(prior=0.5). Otherwise the fit draws which columns differ "
                "between clusters, and that depends on the row that is left out."
            )
        if getattr(emission, "draws_tables", False):
            raise TypeError(
                "to_arviz requires an emission without drawn numbers of rows, such as "
                "MultinomialEmission(row_concentration=None)."
            )
        if self._terms.kind == AUGMENTED and self._terms.draws_latent:
            raise TypeError(
                "to_arviz requires an emission without drawn weights or missing values of rows: "
                "StudentTEmission draws weights, and GaussianEmission with full covariances draws "
                'missing values. GaussianEmission("diag") takes missing values.'
            )

    def __call__(self, model: MixtureModel) -> Floats:
        """Return the log densities of the rows under a stored sample, (N,)."""
        assert model.hyper is not None
        kind, rows, _ = self._terms
        discount, concentration, prior = model.hyper
        if _list_shapes(prior) != _list_shapes(self._terms.prior):
            raise ValueError("to_arviz: the emission is not that of the fit. Fit again.")
        terms, kernels = replace(self._terms, prior=prior), kernels_of(kind)
        labels = model.labels.astype(np.int64)
        n_rows, n_clusters = len(labels), int(labels.max()) + 1
        alone, out = np.empty((2, n_rows))
        room, scratch = terms.make_clusters(n_clusters + 1), terms.make_scratch(n_clusters + 1)
        members, ends = np.empty(n_rows, np.int64), np.empty(n_clusters + 2, np.int64)
        possible = kernels.weigh_alone(rows, prior, room, members, scratch, alone)
        possible &= kernels.weigh_left_out(
            rows, prior, room, n_clusters, labels, alone, discount, concentration,
            np.empty(n_clusters + 2), members, ends, scratch, out,
        )  # fmt: skip
        if not possible:
            raise ValueError(IMPOSSIBLE)
        return out


def _list_shapes(prior: Any) -> Any:
    """Return the shapes of all arrays of a prior, in its structure."""
    if isinstance(prior, tuple):
        return type(prior).__name__, *map(_list_shapes, prior)
    return np.shape(prior)
