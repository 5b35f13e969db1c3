"""The distance-dependent CRP: similarities of contexts, the sampler, and predictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import gammaln

from skdp._checks import as_floats, is_number, shorten
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._arrays import unique_rows
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_gamma, draw_slice
from skdp._part import ChainComponent, ChainState
from skdp.context._distance_dependent import _kernels as kernels
from skdp.context._distance_dependent._kernels import Buckets, Components, SimilarityTable
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
    """Index of the combinations of codes that contexts have in sets of columns: `names`, (Q, U)."""

    # Sets are given as bits; each without its highest column is another listed set, or empty.

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
        """Return sums over known contexts, weighted by similarity to others: S arrays (m, X)."""
        # The weights of the sets are (S, Q); `values` are S arrays (U, X), or one for all samples.
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
        self._observations = observations
        self._repeats = observations.repeats.astype(np.float64)

    def smoother(self) -> Smoother:
        """Return the smoother of predictions, which does not hold the chain."""
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
        """Return sums without column d, (U,): over contexts that agree in d, and over all."""
        # The sums are (1 - t_d) times the first plus t_d times the second, t_d = exp(-lambda_d).
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
    _list_subsets: Callable[[int], list[int]]  # the sets with weights
    _weigh: Callable[[Floats], Floats]  # weights of the sets, given the parameter
    parameter: Floats

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        super().attach(observations, by_outcome=by_outcome)
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

    def _refresh(self) -> None:
        """Recompute the weights and sums from the parameter."""
        self.source.weights[:] = self._weigh(self.parameter)
        self.sums = np.asarray(self._others @ self.source.weights)

    def smoother(self) -> Smoother:
        return partial(smooth_by_subsets, self.index, self._weigh)


class SubsetProduct(_Subsets, _Product):
    """The product similarity as a sum over all sets of columns."""

    _weigh = staticmethod(weigh_subsets)

    @staticmethod
    def _list_subsets(n_columns: int) -> list[int]:
        return list(range(2**n_columns))  # as bits, subsets before their supersets

    def _split(self, d: int) -> tuple[Floats, Floats]:
        weights = weigh_subsets(np.delete(self.parameter, d))
        is_with = (np.arange(2 * len(weights)) >> d) & 1 == 1
        return self._others[:, is_with] @ weights, self._others[:, ~is_with] @ weights


class SubsetOverlap(_Subsets):
    """sum_n w_n [h_n = h'_n]."""

    name = "weight"
    _weigh = staticmethod(np.asarray)  # the parameter itself

    @staticmethod
    def _list_subsets(n_columns: int) -> list[int]:
        return [1 << d for d in range(n_columns)]

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
    _data_attributes = (
        *("_observations", "_repeats", "_distances", "_similarities", "source"),
        *("_context_of_column", "_column_repeats", "_starts_group"),
    )

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        super().attach(observations, by_outcome=by_outcome)
        groups, context_of = observations.groups(by_outcome=by_outcome), observations.context_of
        n_groups = int(groups.max()) + 1
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
        """Fill in the sums of similarities, whose diagonal becomes 0."""
        self.source.own[:] = np.diagonal(similarities)
        columns = self._context_of_column, self._column_repeats, self._starts_group
        kernels.accumulate(similarities, *columns, self.source.cumulative)
        np.fill_diagonal(similarities, 0.0)
        self.sums = similarities @ self._repeats + self.source.own * (self._repeats - 1.0)


class GivenTable(_TableSimilarity):
    """Given similarities."""

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        super().attach(observations, by_outcome=by_outcome)
        self._accumulate(np.array(observations.similarities))

    def log_along(self, links: Places) -> float:
        assert self._observations.similarities is not None
        return float(np.log(self._observations.similarities[self._ends(links)]).sum())

    def smoother(self) -> Smoother:
        return smooth_given


class ProductTable(_Product, _TableSimilarity):
    """The product similarity for many columns, with more sets of columns than contexts."""

    def attach(self, observations: ContextObservations, *, by_outcome: bool) -> None:
        super().attach(observations, by_outcome=by_outcome)
        n_contexts = observations.n_contexts
        self._distances = np.empty((n_contexts, n_contexts))
        self._similarities = np.empty((n_contexts, n_contexts))
        self._refresh()

    def _refresh(self) -> None:
        self._distances[:] = 0.0
        for d in range(len(self.parameter)):
            self._changed(d, 0.0)
        kernels.exponentiate(self._distances, self._similarities)
        self._accumulate(self._similarities)

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

    def smoother(self) -> Smoother:
        return partial(smooth_by_table, self._observations.codes)


# Public state of the sampler after a sweep.


class LinkState(ChainState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    @property
    def links(self) -> NDArray[np.int64]:
        """Observation that each observation links to, (n,); itself: none."""
        return as_readonly(self._sampler.links)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Component of every observation, (n,), from 0 to the number of components minus 1."""
        return as_readonly(self._sampler.labels)

    @property
    def decay(self) -> Floats | None:
        """Decays lambda, (n_features,), of the product similarity; None for other similarities."""
        return self._parameter("decay")

    @property
    def weights(self) -> Floats | None:
        """Weights of the columns, (n_features,), of the overlap; None for other similarities."""
        return self._parameter("weight")

    def _parameter(self, name: str) -> Floats | None:
        similarity = self._sampler.similarity
        return as_readonly(similarity.parameter) if similarity.name == name else None

    @property
    def concentration(self) -> float:
        """Concentration alpha."""
        return float(self._sampler.concentration)

    @property
    def outcome_prior(self) -> float:
        """Parameter gamma of the prior on distributions of outcomes."""
        return float(self._sampler.outcome_prior)


# Stored samples of links, and predictions for new contexts.


@dataclass(frozen=True, eq=False)
class LinkModel:
    """A sample: components of the training observations, and the parameters of their prior."""

    labels: NDArray[np.int32]  # (n,)
    parameter: Floats | None  # (D,), of the similarity
    concentration: float
    outcome_prior: float


Smoother = Callable[[NDArray, Sequence[LinkModel], Sequence[Floats]], list[Floats]]
"""Function from new contexts, samples and (U, X) values of each sample (or of all) to (m, X) sums
over the training contexts, weighted by their similarity to the new contexts."""


def smooth_by_subsets(
    index: SubsetIndex,
    weigh: Callable[[Floats], Floats],
    contexts: Ints,
    models: Sequence[LinkModel],
    values: Sequence[Floats],
) -> list[Floats]:
    """Return sums from counts of observations that agree in sets of columns."""
    weights = np.array([weigh(np.asarray(model.parameter)) for model in models])
    return index.smooth(contexts, weights, values)


def smooth_given(
    contexts: NDArray, models: Sequence[LinkModel], values: Sequence[Floats]
) -> list[Floats]:
    """Return sums for contexts that are rows of similarities."""
    sums = [contexts @ value for value in values]
    return [sums[s % len(sums)] for s in range(len(models))]


def smooth_by_table(
    codes: Ints, contexts: NDArray, models: Sequence[LinkModel], values: Sequence[Floats]
) -> list[Floats]:
    """Return sums with the product similarity of all pairs of contexts and training `codes`."""
    differ = contexts[:, None] != codes
    return [
        np.exp(-(differ @ model.parameter)) @ values[s % len(values)]
        for s, model in enumerate(models)
    ]


class Predictor:
    """Predictive distributions of the outcomes in new contexts, from stored samples."""

    def __init__(self, smoother: Smoother, observations: ContextObservations, *, is_shared: bool):
        self.smoother = smoother
        self.context_of, self.outcomes = observations.context_of, observations.outcomes
        self.n_contexts, self.n_outcomes = observations.n_contexts, observations.n_outcomes
        self.is_shared = is_shared

    def _values(self, model: LinkModel) -> Floats:
        """Return the summed outcome distributions of links to the observations of each context."""
        if self.is_shared:
            return count_pairs(self.context_of, self.outcomes, self.n_contexts, self.n_outcomes)
        n_components = int(model.labels.max()) + 1
        counts = count_pairs(model.labels, self.outcomes, n_components, self.n_outcomes)
        counts += model.outcome_prior
        shares = counts / counts.sum(axis=1, keepdims=True)
        values = np.zeros((self.n_contexts, self.n_outcomes))
        np.add.at(values, self.context_of, shares[model.labels])
        return values

    def _fresh(self, model: LinkModel) -> Floats:
        """Return the distribution of outcomes of a new component, (X,)."""
        counts = np.full(self.n_outcomes, model.outcome_prior)
        if self.is_shared:
            firsts = np.unique(model.labels, return_index=True)[1]
            counts += np.bincount(self.outcomes[firsts], minlength=self.n_outcomes)
        return counts / counts.sum()

    def predict(self, contexts: NDArray, models: Sequence[LinkModel]) -> Floats:
        """Return the distributions of outcomes in new contexts, (m, X): the mean over samples."""
        kinds = models[:1] if self.is_shared else models
        sums = self.smoother(contexts, models, [self._values(model) for model in kinds])
        total = np.zeros((len(contexts), self.n_outcomes))
        for model, part in zip(models, sums, strict=True):
            weights = part + model.concentration * self._fresh(model)  # parts may share memory
            total += weights / weights.sum(axis=1, keepdims=True)
        return total / len(models)


# The sampler of the links and of the parameters of their prior.

N_PROPOSALS = 4
"""Number of links that are proposed for an observation per sweep."""


def list_sources(links: Places) -> tuple[Places, Places, Places]:
    """Return linked lists of the links to each observation: first, after, before; -1 ends them."""
    first, after, before = (np.full(len(links), -1, dtype=np.int64) for _ in range(3))
    sources = np.flatnonzero(links != np.arange(len(links)))
    sources = sources[np.argsort(links[sources], kind="stable")]
    targets = links[sources]
    is_first = np.diff(targets, prepend=-1) != 0
    first[targets[is_first]] = sources[is_first]
    one, next_one = sources[:-1][~is_first[1:]], sources[1:][~is_first[1:]]
    after[one], before[next_one] = next_one, one
    return first, after, before


class OutcomeCounts:
    """Counts of outcomes in several groups, (M, X), each group with its own distribution."""

    def __init__(self, counts: NDArray[Any]):
        self._n_outcomes = counts.shape[1]
        self._values, self._n_values = np.unique(counts[counts > 0], return_counts=True)
        self._totals, self._n_totals = np.unique(counts.sum(axis=1), return_counts=True)

    def log_probability(self, gamma: float) -> float:
        """Return the log probability of outcomes in any order under Dir(gamma, ..., gamma)."""
        total = self._n_outcomes * gamma
        ones = self._n_values @ (gammaln(gamma + self._values) - gammaln(gamma))
        return float(ones + self._n_totals @ (gammaln(total) - gammaln(total + self._totals)))


class LinkSampler(ChainComponent):
    """Markov chain over links, parameters of priors and the parameter of the similarity."""

    # With `is_shared` a component has one outcome, not a distribution of outcomes. Priors are
    # Gamma, (shape, rate); None: the value is known.

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "observations", "_outcomes", "_log_gammas", "_log_total_gammas",
    )  # fmt: skip

    def __init__(
        self,
        observations: ContextObservations,
        similarity: Similarity,
        *,
        is_shared: bool,
        outcome_prior: float,
        dirichlet_prior: tuple[float, float] | None,
        concentration: float,
        concentration_prior: tuple[float, float] | None,
        stream: NDArray[np.uint64],
    ):
        n = len(observations.outcomes)
        self.similarity = similarity
        self.is_shared = is_shared
        self.outcome_prior = outcome_prior
        self.dirichlet_prior = dirichlet_prior
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.stream = stream
        self.links, self.labels = np.arange(n), np.arange(n)
        self.attach(observations)

    def attach(self, observations: ContextObservations) -> None:
        """Set the observations and everything that is derived from them."""
        self.observations = observations
        self.similarity.attach(observations, by_outcome=self.is_shared)
        self._outcomes = np.array(observations.outcomes, dtype=np.int64)
        self._tabulate()

    def _tabulate(self) -> None:
        """Tabulate log-gamma terms of the outcome prior for the odds of links."""
        n, total = len(self._outcomes), self.observations.n_outcomes * self.outcome_prior
        self._log_gammas = gammaln(self.outcome_prior + np.arange(n + 1.0))
        self._log_total_gammas = gammaln(total + np.arange(n + 1.0))

    def sweep(self) -> None:
        """Draw all links, the parameters of the priors, and the parameter of the similarity."""
        components = self._make_components()
        kernels.kernel_of(self.is_shared, self.similarity.is_table)(
            N_PROPOSALS, self.concentration, self.outcome_prior, self._log_gammas,
            self._log_total_gammas, self.similarity.source, components, self.stream,
        )  # fmt: skip
        _, firsts, names = np.unique(components.labels, return_index=True, return_inverse=True)
        numbers = np.empty(len(firsts), dtype=np.int64)  # in the order of first members
        numbers[np.argsort(firsts)] = np.arange(len(firsts))
        self.labels = numbers[names.ravel()]
        self._draw_outcome_prior()
        self._draw_concentration()
        self.similarity.draw(self.links, self.concentration, self.stream)

    def _make_components(self) -> Components:
        """Return the links, which the sweep changes in place, and the arrays derived from them."""
        n, n_components = len(self.links), int(self.labels.max()) + 1
        first, after, before = list_sources(self.links)
        counts = np.zeros((0 if self.is_shared else n, self.observations.n_outcomes), np.int64)
        if not self.is_shared:
            counts[:n_components] = self._count_members()
        free = np.zeros(n, dtype=np.int64)
        free[: n - n_components] = np.arange(n_components, n)
        return Components(
            links=self.links,
            labels=self.labels.copy(),
            first=first,
            after=after,
            before=before,
            sizes=np.bincount(self.labels, minlength=n),
            counts=counts,
            n_of_outcome=self._count_components(),
            free=free,
            numbers=np.array([n_components, 0]),
            marks=np.zeros(n, dtype=np.int64),
            queues=np.empty((2, n), dtype=np.int64),
            walk=np.empty((2, 4), dtype=np.int64),
            outcomes=self._outcomes,
        )

    def _count_members(self) -> Floats:
        """Return the number of members of each component with each outcome, (M, X)."""
        return count_pairs(
            self.labels, self._outcomes, int(self.labels.max()) + 1, self.observations.n_outcomes
        )

    def _count_components(self) -> Places:
        """Return the number of components whose first member has each outcome, (X,)."""
        firsts = np.unique(self.labels, return_index=True)[1]
        return np.bincount(self._outcomes[firsts], minlength=self.observations.n_outcomes)

    def _draw_concentration(self) -> None:
        if self.concentration_prior is None:
            return
        shape, rate = self.concentration_prior
        n_loops = float(np.count_nonzero(self.links == np.arange(len(self.links))))
        sums, repeats = self.similarity.sums, self.observations.repeats

        def log_density(value: float) -> float:
            log_normalizers = float(repeats @ np.log(value + sums))
            return (shape + n_loops) * math.log(value) - rate * value - log_normalizers

        self.concentration = draw_positive(log_density, self.concentration, self.stream)

    def log_links(self) -> float:
        """Return the log probability of the links."""
        n_loops = int(np.count_nonzero(self.links == np.arange(len(self.links))))
        log_normalizers = self.observations.repeats @ np.log(
            self.concentration + self.similarity.sums
        )
        log_along = self.similarity.log_along(self.links)
        return n_loops * math.log(self.concentration) + log_along - float(log_normalizers)

    def _draw_outcome_prior(self) -> None:
        if self.dirichlet_prior is None:
            return
        shape, rate = self.dirichlet_prior
        counts = self._count_outcomes()

        def log_density(value: float) -> float:
            return shape * math.log(value) - rate * value + counts.log_probability(value)

        self.outcome_prior = draw_positive(log_density, self.outcome_prior, self.stream)
        self._tabulate()

    def _count_outcomes(self) -> OutcomeCounts:
        """Return the counts of outcomes for each distribution of outcomes."""
        return OutcomeCounts(
            self._count_components()[None] if self.is_shared else self._count_members()
        )

    def log_joint(self) -> float:
        """Return log p(links, outcomes) given the parameters."""
        return self.log_links() + self._count_outcomes().log_probability(self.outcome_prior)

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.labels.max() + 1),
            "concentration": self.concentration,
            "outcome_prior": self.outcome_prior,
            **self.similarity.scalars(),
        }

    def model(self) -> LinkModel:
        """Return the current sample."""
        parameter = self.similarity.parameter
        return LinkModel(
            self.labels.astype(np.int32),
            None if parameter is None else parameter.copy(),
            self.concentration,
            self.outcome_prior,
        )

    def state(self) -> LinkState:
        """Return a live view of the state."""
        return LinkState(self)


# Checks of user input, and choices that depend on it.


_LARGEST = 1e120
"""Largest similarity, since sums have to stay finite."""

_FEW_COLUMNS = 6
"""Number of columns up to which sets of columns are used even if there are fewer contexts."""


def has_few_subsets(n_columns: int, n_contexts: int) -> bool:
    """Return whether there are few columns, or at most as many sets of them as contexts."""
    return n_columns <= _FEW_COLUMNS or n_columns <= int(np.log2(n_contexts))


def check_decay(decay: Any, n_columns: int) -> Floats | None:
    """Return the decays, or None if they are drawn."""
    if isinstance(decay, str):
        return None
    rates = as_floats(decay, "decay")
    if is_number(decay):
        rates = np.full(n_columns, rates)
    if rates.shape != (n_columns,) or not np.all((rates >= 0.0) & (rates < np.inf)):
        raise ValueError(
            f"decay must be 'auto', a finite number >= 0 or {n_columns} of them, one for each "
            f"column of X; got {shorten(decay)}."
        )
    return rates


def check_weights(weights: Any, n_columns: int) -> Floats | None:
    """Return the weights, or None if they are drawn."""
    if weights is None:
        return np.full(n_columns, 1.0 / n_columns)
    if isinstance(weights, str):
        return None
    shares = as_floats(weights, "weights", 1)
    if (
        shares.shape != (n_columns,)
        or not np.all(shares >= 0.0)
        or not abs(shares.sum() - 1.0) < 1e-6
    ):
        raise ValueError(
            f"weights must be None, 'auto' or {n_columns} numbers >= 0 with sum 1, one for "
            f"each column of X; got {shorten(weights)}."
        )
    return shares / shares.sum()


def check_kernel_values(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """Return similarities after checking them."""
    similarities = as_floats(values, what)
    if similarities.shape != shape:
        raise ValueError(
            f"{what} must have shape {shape}, a row for each context in A and a column for each in "
            f"B; got {similarities.shape}."
        )
    wrong = ~((similarities >= 0.0) & (similarities <= _LARGEST))  # NaN is neither
    if wrong.any():
        i, j = (int(index[0]) for index in np.nonzero(wrong))
        raise ValueError(
            f"{what} must hold finite numbers >= 0, up to {_LARGEST:g}; got "
            f"{similarities[i, j]} in row {i}, column {j}."
        )
    return similarities
