"""The distance-dependent CRP: stored samples, predictions, the sampler, and checks of arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._checks import as_floats, is_number, shorten
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._part import ChainComponent, ChainState
from skdp.context._distance_dependent._kernels import Components, kernel_of
from skdp.context._distance_dependent._similarities import (
    ContextObservations,
    GivenTable,
    Similarity,
    SubsetIndex,
    SubsetOverlap,
    SubsetProduct,
    count_pairs,
    draw_positive,
    weigh_subsets,
)

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
    weigh: Callable[[Floats], Floats] | None,  # weights of the sets; None: the parameter itself
    contexts: Ints,
    models: Sequence[LinkModel],
    values: Sequence[Floats],
) -> list[Floats]:
    """Return sums from counts of observations that agree in sets of columns."""
    parameters = [np.asarray(model.parameter) for model in models]
    weights = parameters if weigh is None else list(map(weigh, parameters))
    return index.smooth(contexts, np.array(weights), values)


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


def name_by_first(labels: Places) -> Places:
    """Return the components, renumbered from 0 in the order of their first members."""
    _, firsts, names = np.unique(labels, return_index=True, return_inverse=True)
    places = np.empty(len(firsts), dtype=np.int64)
    places[np.argsort(firsts)] = np.arange(len(firsts))
    return places[names.ravel()]


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
    """Markov chain over links, parameters of priors and the parameter of the similarity.

    With `is_shared` a component has one outcome, not a distribution of outcomes. Priors are Gamma,
    (shape, rate); None: the value is known.
    """

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
        kernel_of(self.is_shared, self.similarity.is_table)(
            N_PROPOSALS, self.concentration, self.outcome_prior, self._log_gammas,
            self._log_total_gammas, self.similarity.source, components, self.stream,
        )  # fmt: skip
        self.labels = name_by_first(components.labels)
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


def make_smoother(similarity: Similarity, observations: ContextObservations) -> Smoother:
    """Return the smoother over the training contexts for a similarity."""
    if isinstance(similarity, SubsetProduct):
        return partial(smooth_by_subsets, similarity.index, weigh_subsets)
    if isinstance(similarity, SubsetOverlap):
        return partial(smooth_by_subsets, similarity.index, None)
    if isinstance(similarity, GivenTable):
        return smooth_given
    return partial(smooth_by_table, observations.codes)
