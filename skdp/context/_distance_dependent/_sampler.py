"""Sampler of the distance-dependent CRP, for the links and the parameters of their prior."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.context._distance_dependent._kernels_components import Components
from skdp.context._distance_dependent._kernels_sweep import kernel_of
from skdp.context._distance_dependent._model import LinkModel
from skdp.context._distance_dependent._observations import ContextObservations, count_pairs
from skdp.context._distance_dependent._similarities import Similarity, draw_positive
from skdp.context._distance_dependent._state import LinkState

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


class LinkSampler(Part):
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
            N_PROPOSALS,
            self.concentration,
            self.outcome_prior,
            self._log_gammas,
            self._log_total_gammas,
            self.similarity.source,
            components,
            self.stream,
        )
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

    def log_outcomes(self) -> float:
        """Return the log probability of the outcomes given the links."""
        return self._count_outcomes().log_probability(self.outcome_prior)

    def log_joint(self) -> float:
        """Return log p(links, outcomes) given the parameters."""
        return self.log_links() + self.log_outcomes()

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
