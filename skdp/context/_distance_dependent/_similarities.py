"""Training contexts and their similarities: data for sweeps, and draws of their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._arrays import unique_rows
from skdp._numeric._random import draw_gamma, draw_slice
from skdp._part import ChainComponent
from skdp.context._distance_dependent import _kernels as kernels
from skdp.context._distance_dependent._kernels import Buckets, SimilarityTable
from skdp.data._coding import Column

# Training observations: the distinct contexts and the outcomes observed in them.


@dataclass(frozen=True, eq=False)
class ContextObservations:
    """Distinct contexts, and the context and outcome of each observation."""

    codes: Ints  # (U, D), of categories; no columns if similarities are given
    similarities: Floats | None  # (U, U), unless they follow from the codes
    context_of: Places  # (n,)
    outcomes: Places  # (n,)
    classes: NDArray[Any]  # (X,), possible outcomes
    columns: list[Column] | None = None  # the categories of the codes
    contexts: NDArray[Any] | None = None  # (U, n_features), if needed later
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": {}}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a result that depends on the observations only, computed once for all chains."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    @property
    def n_outcomes(self) -> int:
        """Number of possible outcomes X."""
        return len(self.classes)

    @property
    def n_contexts(self) -> int:
        """Number of distinct contexts U."""
        return len(self.codes)

    @property
    def repeats(self) -> Places:
        """Number of observations of each context, (U,)."""
        return np.bincount(self.context_of, minlength=self.n_contexts)

    def groups(self, *, by_outcome: bool) -> Places:
        """Return the group of each observation; only members of a group may link to each other."""
        return self.outcomes if by_outcome else np.zeros_like(self.outcomes)


def count_pairs(
    firsts: NDArray[np.integer], seconds: NDArray[np.integer], n_firsts: int, n_seconds: int
) -> Floats:
    """Return how often pairs of numbers occur together, (n_firsts, n_seconds)."""
    flat = firsts.astype(np.int64) * n_seconds + seconds
    counts = np.bincount(flat, minlength=n_firsts * n_seconds)
    return counts.reshape(n_firsts, n_seconds).astype(np.float64)


# Similarities of contexts as sums over the sets of columns in which they agree.
#
# exp(-sum_n lambda_n [h_n != h'_n]) is a product of factors t_n + (1 - t_n) [h_n = h'_n] with t_n =
# exp(-lambda_n), so it is a sum over sets of columns: prod_{n in set} (1 - t_n) prod_{n not in set}
# t_n if the contexts agree in the whole set. So sums of similarities are weighted sums of numbers
# of observations, and a draw by similarity is a draw of a set followed by a draw of one of the
# observations that agree in it. Overlaps are sums over single columns by definition.


def weigh_subsets(decay: Floats) -> Floats:
    """Return the weights of all sets of columns in the "product" similarity: they sum to 1."""
    weights = np.ones(1)
    for rate in decay:
        weights = np.concatenate([weights * np.exp(-rate), weights * -np.expm1(-rate)])
    return weights


class SubsetIndex:
    """Index of the combinations of codes that contexts have in sets of columns: `names`, (Q, U).

    Sets are given as bits; each without its highest column is another listed set, or empty.
    """

    def __init__(self, codes: Ints, subsets: Sequence[int]):
        self.subsets = list(subsets)
        self._n_codes = [int(column.max()) + 1 for column in codes.T]
        self._keys: dict[int, Places] = {}
        known = {0: np.zeros(len(codes), dtype=np.int64)}
        for subset in self.subsets:
            if subset:
                pairs = self._pair(known, codes, subset)
                self._keys[subset], names = np.unique(pairs, return_inverse=True)
                known[subset] = names.ravel()
        self.names = np.array([known[subset] for subset in self.subsets])

    def _pair(self, known: dict[int, Places], codes: Ints, subset: int) -> Places:
        """Return keys of contexts in a set from a subset's numbers and one more column's codes."""
        d = subset.bit_length() - 1
        return known[subset ^ (1 << d)] * self._n_codes[d] + codes[:, d]

    def find(self, codes: Ints) -> Places:
        """Return the numbers of other contexts, (Q, m); -1 for combinations that are unknown."""
        known = {0: np.zeros(len(codes), dtype=np.int64)}
        for subset in self.subsets:
            if subset:
                d = subset.bit_length() - 1
                pairs, keys = self._pair(known, codes, subset), self._keys[subset]
                place = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
                is_new = (known[subset ^ (1 << d)] < 0) | (codes[:, d] < 0) | (keys[place] != pairs)
                known[subset] = np.where(is_new, -1, place)
        return np.array([known[subset] for subset in self.subsets])

    def count(self, repeats: Places) -> Floats:
        """Return the number of observations that agree with each context in each set, (U, Q)."""
        columns = [np.bincount(names, weights=repeats)[names] for names in self.names]
        return np.ascontiguousarray(np.transpose(columns))

    def make_buckets(self, observations: ContextObservations, groups: Places) -> Buckets:
        """Return buckets of observations by their combination in each set, separately by group."""
        n_groups = int(groups.max()) + 1
        kinds, row_of = np.unique(observations.context_of * n_groups + groups, return_inverse=True)
        shape = len(self.subsets), len(kinds)
        starts, sizes = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        members = np.empty((len(self.subsets), len(groups)), dtype=np.int32)
        for q, names in enumerate(self.names):
            keys = names[observations.context_of] * n_groups + groups
            members[q] = np.argsort(keys, kind="stable")
            in_order = keys[members[q]]
            wanted = names[kinds // n_groups] * n_groups + kinds % n_groups
            starts[q] = np.searchsorted(in_order, wanted, "left")
            sizes[q] = np.searchsorted(in_order, wanted, "right") - starts[q]
        return Buckets(
            np.empty(len(self.subsets)),
            np.ascontiguousarray(starts.T),
            np.ascontiguousarray(sizes.T),
            members,
            row_of.ravel().astype(np.int64),
            np.empty(len(self.subsets)),
        )

    def smooth(self, codes: Ints, weights: Floats, values: Sequence[Floats]) -> list[Floats]:
        """Return sums over known contexts, weighted by similarity to others: S arrays (m, X).

        The weights of the sets are (S, Q); `values` are S arrays (U, X), or one for all samples.
        """
        sums = [np.zeros((len(codes), values[0].shape[1])) for _ in weights]
        for q, found in enumerate(self.find(codes)):
            names = self.names[q]
            shape = int(names.max()) + 1, len(names)
            gather = csr_matrix((np.ones(len(names)), (names, np.arange(len(names)))), shape=shape)
            rows = np.flatnonzero(found >= 0)
            parts = [(gather @ value)[found[rows]] for value in values]
            for s, total in enumerate(sums):
                total[rows] += weights[s, q] * parts[s % len(parts)]
        return sums


# Similarities and draws of their parameters.
#
# Given the links, p(parameter) is proportional to its prior times the similarities along links,
# divided by the product of the normalizers alpha + S_i, with S_i the sum of similarities to all
# other observations.

_LOGS = math.log(1e-8), math.log(1e8)
"""Range of the logarithms of drawn values."""


def draw_positive(
    log_density: Callable[[float], float], value: float, rng: NDArray[np.uint64]
) -> float:
    """Return a slice sample of a positive number, given the log density of its logarithm."""

    def bounded(log_value: float) -> float:
        if not _LOGS[0] <= log_value <= _LOGS[1]:
            return -math.inf
        return log_density(math.exp(log_value))

    return math.exp(draw_slice(bounded, math.log(value), rng))


class Similarity(ChainComponent):
    """Base class of similarities of contexts; a parameter without a prior is known."""

    is_table: ClassVar[bool]
    name: ClassVar[str] = ""
    """Name of the parameter in the trace."""

    source: Any  # Buckets or SimilarityTable for the kernels; copies of a chain share it
    sums: Floats  # (U,), similarities of an observation in each context to all others

    def __init__(self, parameter: Floats | None, prior: Any):
        self.parameter = parameter
        self.prior = prior

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        """Set the observations and everything that is derived from them."""
        raise NotImplementedError

    def log_along(self, links: Places) -> float:
        """Return the sum of log similarities along links to others."""
        raise NotImplementedError

    def draw(self, links: Places, concentration: float, rng: NDArray[np.uint64]) -> None:
        """Draw the parameter given the links."""

    def scalars(self) -> dict[str, float]:
        """Return the elements of the parameter for the trace."""
        if self.parameter is None:
            return {}
        return {f"{self.name}_{d}": float(value) for d, value in enumerate(self.parameter)}

    def _take(self, observations: ContextObservations) -> None:
        self._observations = observations
        self._repeats = observations.repeats.astype(np.float64)

    def _ends(self, links: Places) -> tuple[Places, Places]:
        """Return the contexts at both ends of the links between different observations."""
        context_of = self._observations.context_of
        others = np.flatnonzero(links != np.arange(len(links)))
        return context_of[others], context_of[links[others]]


class _Product(Similarity):
    """exp(-sum_n lambda_n [h_n != h'_n])."""

    name = "decay"
    parameter: Floats

    def _count_differences(self, links: Places) -> Places:
        """Return the number of links whose ends differ in each column."""
        codes = self._observations.codes
        source, target = self._ends(links)
        return np.asarray((codes[source] != codes[target]).sum(axis=0))

    def log_along(self, links: Places) -> float:
        return -float(self._count_differences(links) @ self.parameter)

    def _split(self, d: int) -> tuple[Floats, Floats]:
        """Return sums without column d, (U,): over contexts that agree in d, and over all contexts.

        The sums are (1 - t_d) times the first plus t_d times the second, t_d = exp(-lambda_d).
        """
        raise NotImplementedError

    def _changed(self, d: int, before: float) -> None:
        """Update derived values after a change of the decay of column d."""

    def draw(self, links: Places, concentration: float, rng: NDArray[np.uint64]) -> None:
        if self.prior is None:
            return
        shape, rate = self.prior
        differences = self._count_differences(links)
        for d in range(len(differences)):
            alike, every = self._split(d)

            def log_density(
                value: float, d: int = d, alike: Floats = alike, every: Floats = every
            ) -> float:
                sums = -math.expm1(-value) * alike + math.exp(-value) * every
                normalizers = float(self._repeats @ np.log(concentration + sums))
                log_prior = shape * math.log(value) - rate * value
                return log_prior - float(differences[d]) * value - normalizers

            before = float(self.parameter[d])
            self.parameter[d] = draw_positive(log_density, before, rng)
            self._changed(d, before)
        self._refresh()

    def _refresh(self) -> None:
        """Recompute everything that is derived from the decays."""


class _Subsets(Similarity):
    """Sums over sets of columns in which contexts agree, indexed once for all chains."""

    is_table = False
    _data_attributes = ("_observations", "_repeats", "index", "_others", "source")
    parameter: Floats

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        self._take(observations)
        codes, repeats = observations.codes, observations.repeats
        groups = observations.groups(by_outcome=by_outcome)
        self.index: SubsetIndex = observations.once(
            "index", lambda: SubsetIndex(codes, self._list_subsets(codes.shape[1]))
        )
        self._others: Floats = observations.once("others", lambda: self.index.count(repeats) - 1.0)
        buckets: Buckets = observations.once(
            "buckets", lambda: self.index.make_buckets(observations, groups)
        )
        n_subsets = len(self.index.subsets)
        self.source = buckets._replace(weights=np.empty(n_subsets), sums=np.empty(n_subsets))
        self._refresh()

    def _list_subsets(self, n_columns: int) -> list[int]:
        """Return the sets of columns with weights."""
        raise NotImplementedError

    def _refresh(self) -> None:
        """Recompute the weights and sums from the parameter."""
        self.source.weights[:] = self._weigh()
        self.sums = np.asarray(self._others @ self.source.weights)

    def _weigh(self) -> Floats:
        """Return the weights of the sets."""
        raise NotImplementedError


class SubsetProduct(_Subsets, _Product):
    """The product similarity as a sum over all sets of columns."""

    def _list_subsets(self, n_columns: int) -> list[int]:
        return list(range(2**n_columns))  # as bits, subsets before their supersets

    def _weigh(self) -> Floats:
        return weigh_subsets(self.parameter)

    def _split(self, d: int) -> tuple[Floats, Floats]:
        weights = weigh_subsets(np.delete(self.parameter, d))
        is_with = (np.arange(2 * len(weights)) >> d) & 1 == 1
        return self._others[:, is_with] @ weights, self._others[:, ~is_with] @ weights


class SubsetOverlap(_Subsets):
    """sum_n w_n [h_n = h'_n]."""

    name = "weight"

    def _list_subsets(self, n_columns: int) -> list[int]:
        return [1 << d for d in range(n_columns)]

    def _weigh(self) -> Floats:
        return self.parameter

    def _agreements(self, links: Places) -> Floats:
        """Return indicators of the columns in which the ends of each link agree."""
        codes = self._observations.codes
        source, target = self._ends(links)
        return (codes[source] == codes[target]).astype(np.float64)

    def log_along(self, links: Places) -> float:
        return float(np.log(self._agreements(links) @ self.parameter).sum())

    def draw(self, links: Places, concentration: float, rng: NDArray[np.uint64]) -> None:
        """Draw the weights as shares of Gamma variates, whose sum is independent of the shares."""
        if self.prior is None:
            return
        patterns, _, repeats, _ = unique_rows(self._agreements(links))
        n_columns = len(self.parameter)
        parts = self.parameter * draw_gamma(self.prior * n_columns, rng)
        parts = np.maximum(parts, math.exp(_LOGS[0]))
        for d in range(n_columns):
            rest = np.where(np.arange(n_columns) == d, 0.0, parts)
            along, others, total = patterns @ rest, self._others @ rest, float(rest.sum())

            def log_density(
                value: float,
                d: int = d,
                along: Floats = along,
                others: Floats = others,
                total: float = total,
            ) -> float:
                share = 1.0 / (total + value)
                similarities = (along + value * patterns[:, d]) * share
                sums = (others + value * self._others[:, d]) * share
                with np.errstate(divide="ignore"):
                    log_links = float(repeats @ np.log(similarities))
                normalizers = float(self._repeats @ np.log(concentration + sums))
                return self.prior * math.log(value) - value + log_links - normalizers

            parts[d] = draw_positive(log_density, float(parts[d]), rng)
        self.parameter[:] = parts / parts.sum()
        self._refresh()


class _TableSimilarity(Similarity):
    """Base class of similarities in a table of all pairs of contexts."""

    is_table = True

    def _make_table(self, observations: ContextObservations, groups: Places) -> None:
        """Make a table whose sums are filled in later."""
        n_groups, context_of = int(groups.max()) + 1, observations.context_of
        n_contexts = observations.n_contexts
        keys, column_of, sizes = np.unique(
            groups * n_contexts + context_of, return_inverse=True, return_counts=True
        )
        group_of_column, self._context_of_column = np.divmod(keys, n_contexts)
        self._column_repeats = sizes.astype(np.float64)
        self._starts_group = np.diff(group_of_column, prepend=-1) > 0
        self.source = SimilarityTable(
            cumulative=np.empty((n_contexts, len(keys))),
            own=np.empty(n_contexts),
            row_of=context_of,
            column_of=column_of.ravel().astype(np.int64),
            column_ptr=np.concatenate([[0], np.cumsum(sizes)]),
            column_members=np.argsort(column_of.ravel(), kind="stable"),
            group_ptr=np.searchsorted(group_of_column, np.arange(n_groups + 1)),
            group_of=groups,
        )

    def _accumulate(self, similarities: Floats) -> None:
        self.source.own[:] = np.diagonal(similarities)
        columns = self._context_of_column, self._column_repeats, self._starts_group
        kernels.accumulate(similarities, *columns, self.source.cumulative)


class GivenTable(_TableSimilarity):
    """Given similarities."""

    _data_attributes = (
        *("_observations", "_repeats", "source"),
        *("_context_of_column", "_column_repeats", "_starts_group"),
    )
    _similarities: Floats

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        self._take(observations)
        assert observations.similarities is not None
        similarities = observations.similarities
        self._make_table(observations, observations.groups(by_outcome=by_outcome))
        self._accumulate(similarities)
        apart = np.array(similarities)
        np.fill_diagonal(apart, 0.0)
        self.sums = apart @ self._repeats + np.diagonal(similarities) * (self._repeats - 1.0)

    def log_along(self, links: Places) -> float:
        assert self._observations.similarities is not None
        return float(np.log(self._observations.similarities[self._ends(links)]).sum())


class ProductTable(_Product, _TableSimilarity):
    """The product similarity for many columns, with more sets of columns than contexts."""

    _data_attributes = (
        *("_observations", "_repeats", "_distances", "_similarities", "source"),
        *("_context_of_column", "_column_repeats", "_starts_group"),
    )

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        self._take(observations)
        self._make_table(observations, observations.groups(by_outcome=by_outcome))
        n_contexts = observations.n_contexts
        self._distances = np.empty((n_contexts, n_contexts))
        self._similarities = np.empty((n_contexts, n_contexts))
        self._refresh()

    def _refresh(self) -> None:
        kernels.measure(self._observations.codes, self.parameter, self._distances)
        kernels.exponentiate(self._distances, self._similarities)
        self._accumulate(self._similarities)
        np.fill_diagonal(self._similarities, 0.0)
        self.sums = np.asarray(self._similarities @ self._repeats + (self._repeats - 1.0))

    def _split(self, d: int) -> tuple[Floats, Floats]:
        alike, unlike = np.empty(len(self._repeats)), np.empty(len(self._repeats))
        kernels.split_sums(
            self._observations.codes, d, float(self.parameter[d]), self._repeats,
            self._distances, alike, unlike,
        )  # fmt: skip
        return alike, alike + unlike

    def _changed(self, d: int, before: float) -> None:
        change = float(self.parameter[d]) - before
        kernels.move_apart(self._observations.codes, d, change, self._distances)
