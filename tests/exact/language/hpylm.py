"""Hierarchical Pitman-Yor models of n-grams, or of outcomes in contexts, by enumeration of the
tables, hyper-parameters learned.

Given the tables, discounts and concentrations of different depths are independent, and given d the
restaurants, too. So each depth
has a grid of its own, nodes of d by nodes of theta, and a weight on it; a polynomial in d, for
which Gauss's rule is exact, and smooth in log theta, where trapezoids are."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, prod

import numpy as np
from exact.language.franchise import (
    Cell,
    Context,
    Counts,
    by_restaurant,
    customers_of,
    events_of,
    joint,
    restaurant_weight,
    stirling,
    table_counts,
)
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from scipy.stats import beta, gamma


@dataclass(frozen=True, eq=False)
class Model:
    """The model. Words are 0, ..., n_features - 1; the end of a sentence is n_features. With an
    `n_symbols`, contexts have up to so many symbols, and depths beyond those of `discounts` share
    the last one's d and theta. Without a `root`, the contexts of one symbol are the broadest."""

    n_features: int
    discounts: Sequence[float | None]  # (n_laws,), by depth; None: learned
    concentrations: Sequence[float | None]
    end_of_sequence: bool = True
    base: Sequence[float] | None = None  # (n_outcomes,); None: uniform
    discount_prior: tuple[float, float] = (1.0, 1.0)
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # shape, rate
    n_symbols: int | None = None  # of the longest context; None: one for each law below the root
    root: bool = True
    by_context: bool = False  # whether each restaurant has a concentration of its own

    @property
    def top(self) -> int:
        """Number of symbols of the broadest contexts."""
        return int(not self.root)

    @property
    def n_laws(self) -> int:
        return len(self.discounts)

    @property
    def order(self) -> int:
        return (self.n_laws + self.top - 1 if self.n_symbols is None else self.n_symbols) + 1

    def law(self, u: Context) -> int:
        """Return the place of the d and theta of a restaurant."""
        return min(len(u) - self.top, self.n_laws - 1)

    def by_depth(self, values: Sequence | Mapping) -> list | Mapping:
        """Return the value of each depth, given those of the laws, or of each restaurant."""
        if isinstance(values, Mapping):
            return values
        return [values[min(m, self.n_laws - 1)] for m in range(self.order - self.top)]

    @property
    def n_outcomes(self) -> int:
        return self.n_features + self.end_of_sequence

    @cached_property
    def base_probabilities(self) -> dict[int, float]:
        base = np.full(self.n_outcomes, 1.0 / self.n_outcomes) if self.base is None else self.base
        return dict(enumerate(map(float, base)))

    def events(self, corpus: Sequence[Sequence[int]]) -> list[Cell]:
        """Return the events of all sentences."""
        end = self.n_features if self.end_of_sequence else None
        return [event for words in corpus for event in events_of(words, self.order, end)]

    def grid(self, law: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the nodes of d (n, 1), those of theta (1, m), and the prior's weights (n, m)."""
        d, theta = self.discounts[law], self.concentrations[law]
        of_d = np.array([d]), np.ones(1)
        of_theta = np.array([theta]), np.ones(1)
        if d is None:
            of_d = beta_quadrature(*self.discount_prior)
        if theta is None:
            of_theta = gamma_quadrature(*self.concentration_prior)
        return of_d[0][:, None], of_theta[0][None], np.outer(of_d[1], of_theta[1])


def log_joint(
    model: Model, events: Sequence[Cell], tables: Counts, discounts: Sequence[float],
    concentrations: Sequence[float] | Mapping[Context, float],
) -> float:  # fmt: skip
    """Return log p(events, tables | d, theta); tables {(context, word): t} of all cells."""
    customers = customers_of(Counter(events), tables, model.top)
    laws = model.by_depth(discounts), model.by_depth(concentrations)
    return log(joint(customers, tables, *laws, model.base_probabilities, model.top))


def log_prior(model: Model, discounts: Sequence[float], concentrations: Sequence[float]) -> float:
    """Return the log density of the hyper-parameters that are learned."""
    shape, rate = model.concentration_prior
    given = model.concentrations[:1] * len(concentrations) if model.by_context else (
        model.concentrations
    )  # fmt: skip
    of_d = [
        beta.logpdf(d, *model.discount_prior)
        for d, known in zip(discounts, model.discounts, strict=True)
        if known is None
    ]
    of_theta = [
        gamma.logpdf(theta, shape, scale=1.0 / rate)
        for theta, known in zip(concentrations, given, strict=True)
        if known is None
    ]
    return float(sum(of_d) + sum(of_theta))


@dataclass(frozen=True, eq=False)
class Configuration:
    """All table counts, p(words, tables) with the hyper-parameters out, and their posterior."""

    customers: Counts
    tables: Counts
    weight: float
    shares: dict[int | Context, np.ndarray]  # of laws and restaurants, on the grid; each sums to 1


class Posterior:
    """Exact answers given events (`Model.events`, or any others): a list of `configurations` with
    their `probabilities`, `log_evidence`, and posterior means of `tables` and `customers` by
    (context, word), and of `discounts` and `concentrations`, (n_laws,), or {context: mean}."""

    def __init__(self, model: Model, events: Sequence[Cell]):
        self.model = model
        self.grids = [model.grid(law) for law in range(model.n_laws)]
        counts = Counter(events)
        most = max(Counter(w for _, w in events).values(), default=0)
        self._numbers = [stirling(most, d) for d, _, _ in self.grids]
        self._of_law: dict = {}
        self.configurations = [
            self._configuration(*both) for both in table_counts(counts, model.top)
        ]
        weights = np.array([of.weight for of in self.configurations])
        self.log_evidence = float(np.log(weights.sum()))
        self.probabilities = weights / weights.sum()
        self.tables = self._mean_counts([of.tables for of in self.configurations])
        self.customers = self._mean_counts([of.customers for of in self.configurations])
        laws = range(model.n_laws)
        self.discounts = np.array([self._mean_node(0, law, law) for law in laws])
        self.concentrations = np.array([self._mean_node(1, law, law) for law in laws])
        if model.by_context:
            restaurants = {u for u, _ in self.tables}
            self.concentrations = {u: self._mean_node(1, u, model.law(u)) for u in restaurants}

    def _configuration(self, customers: Counts, tables: Counts) -> Configuration:
        restaurants = by_restaurant(customers, tables)
        weight = prod(self.model.base_probabilities[w] ** t
                      for (u, w), t in tables.items() if len(u) == self.model.top)  # fmt: skip
        shares = {}
        for law in range(self.model.n_laws):
            here = {u: tuple(of) for u, of in restaurants.items() if self.model.law(u) == law}
            key = law, tuple(here.values())
            if key not in self._of_law:
                self._of_law[key] = self._law(*key)
            evidence, found = self._of_law[key]
            weight *= evidence
            shares |= zip([law, *here], found, strict=True)
        return Configuration(customers, tables, weight, shares)

    def _law(self, law: int, restaurants: tuple) -> tuple[float, list[np.ndarray]]:
        """Return the factor of all restaurants of a law, d and theta out, and the posterior of d
        and theta: of the law, where each has a theta of its own of another restaurant, and then of
        each restaurant."""
        d, theta, prior = self.grids[law]
        factors = [restaurant_weight(of, d, theta, self._numbers[law]) for of in restaurants]
        if not self.model.by_context:
            weight = prior * prod(factors)
            return weight.sum(), [weight / weight.sum()] * (1 + len(factors))
        of_d, of_theta = prior.sum(axis=1, keepdims=True), prior.sum(axis=0, keepdims=True)
        own = [of_theta, *(of_theta * factor for factor in factors)]
        sums = [part.sum(axis=1, keepdims=True) for part in own]
        weight = of_d * prod(sums)
        shares = [weight / of * part / weight.sum() for of, part in zip(sums, own, strict=True)]
        return weight.sum(), shares

    def _mean_counts(self, counts: list[Counts]) -> dict[Cell, float]:
        return {cell: self.mean([of[cell] for of in counts]) for cell in counts[0]}

    def mean(self, values: Sequence[float]) -> float:
        """Return the mean of values of the configurations."""
        return float(self.probabilities @ np.asarray(values, dtype=float))

    def _mean_node(self, kind: int, whose: int | Context, law: int) -> float:
        """Return the posterior mean of a discount (0) or concentration (1)."""
        nodes = self.grids[law][kind]
        return self.mean([(of.shares[whose] * nodes).sum() for of in self.configurations])

    def predictive(self, context: Context) -> np.ndarray:
        """Return the distribution of the next outcome, (n_outcomes,). `context` is a tuple in
        reading order, -1 the beginning; it is cut to its last order - 1 symbols. A context that was
        not seen falls to its longest suffix that was."""
        seen = context[max(0, len(context) + 1 - self.model.order) :]
        values = [self._given(of, seen) for of in self.configurations]
        return self.probabilities @ np.array(values)

    def _given(self, of: Configuration, context: Context) -> np.ndarray:
        """Return the predictive given the tables: d_m and theta_m are those of this depth alone. So
        it holds only where each depth has a law of its own, or all laws are given."""
        base = np.array(list(self.model.base_probabilities.values()))
        above = self._given(of, context[1:]) if len(context) > self.model.top else base
        words = range(self.model.n_outcomes)
        c, t = (
            np.array([counts.get((context, w), 0) for w in words])
            for counts in (of.customers, of.tables)
        )
        if not c.sum():
            return above
        d, theta, _ = self.grids[self.model.law(context)]
        share = of.shares[context] / (theta + c.sum())
        old = c * share.sum() - t * (share * d).sum()
        return old + (share * (theta + d * t.sum())).sum() * above


def enumerate_posterior(model: Model, corpus: Sequence[Sequence[int]]) -> Posterior:
    """Return the exact posterior of a corpus of a few words."""
    return Posterior(model, model.events(corpus))
