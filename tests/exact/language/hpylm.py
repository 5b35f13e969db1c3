"""The hierarchical Pitman-Yor n-gram model by enumeration of the tables, hyper-parameters learned.

Given the tables, discounts and concentrations of different depths are independent. So each depth
has a grid of its own, nodes of d by nodes of theta, and a weight on it; a polynomial in d, for
which Gauss's rule is exact, and smooth in log theta, where trapezoids are."""

from collections import Counter
from collections.abc import Sequence
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
    the last one's d and theta."""

    n_features: int
    discounts: Sequence[float | None]  # (n_laws,), by depth; None: learned
    concentrations: Sequence[float | None]
    end_of_sequence: bool = True
    base: Sequence[float] | None = None  # (n_outcomes,); None: uniform
    discount_prior: tuple[float, float] = (1.0, 1.0)
    concentration_prior: tuple[float, float] = (1.0, 0.1)  # shape, rate
    n_symbols: int | None = None  # of the longest context; None: n_laws - 1

    @property
    def n_laws(self) -> int:
        return len(self.discounts)

    @property
    def order(self) -> int:
        return self.n_laws if self.n_symbols is None else self.n_symbols + 1

    def law(self, depth: int) -> int:
        """Return the place of the d and theta of a depth."""
        return min(depth, self.n_laws - 1)

    def by_depth(self, values: Sequence) -> list:
        """Return the value of each depth, given those of the laws."""
        return [values[self.law(m)] for m in range(self.order)]

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
    model: Model, corpus: Sequence[Sequence[int]], tables: Counts, discounts: Sequence[float],
    concentrations: Sequence[float],
) -> float:  # fmt: skip
    """Return log p(words, tables | d, theta); tables {(context, word): t} of all cells."""
    customers = customers_of(Counter(model.events(corpus)), tables)
    laws = model.by_depth(discounts), model.by_depth(concentrations)
    return log(joint(customers, tables, *laws, model.base_probabilities))


def log_prior(model: Model, discounts: Sequence[float], concentrations: Sequence[float]) -> float:
    """Return the log density of the hyper-parameters that are learned."""
    shape, rate = model.concentration_prior
    result = 0.0
    for m in range(model.n_laws):
        if model.discounts[m] is None:
            result += beta.logpdf(discounts[m], *model.discount_prior)
        if model.concentrations[m] is None:
            result += gamma.logpdf(concentrations[m], shape, scale=1.0 / rate)
    return float(result)


@dataclass(frozen=True, eq=False)
class Configuration:
    """All table counts, p(words, tables) with the hyper-parameters out, and their posterior."""

    customers: Counts
    tables: Counts
    weight: float
    shares: list[np.ndarray]  # by law, on its grid; each sums to 1


class Posterior:
    """Exact answers given events (`Model.events`, or any others): a list of `configurations` with
    their `probabilities`, `log_evidence`, and posterior means of `tables` and `customers` by
    (context, word), and of `discounts` and `concentrations`, (n_laws,)."""

    def __init__(self, model: Model, events: Sequence[Cell]):
        self.model = model
        self.grids = [model.grid(law) for law in range(model.n_laws)]
        counts = Counter(events)
        most = max(Counter(w for _, w in events).values(), default=0)
        self._numbers = [stirling(most, d) for d, _, _ in self.grids]
        self._of_law: dict = {}
        self.configurations = [self._configuration(*both) for both in table_counts(counts)]
        weights = np.array([of.weight for of in self.configurations])
        self.log_evidence = float(np.log(weights.sum()))
        self.probabilities = weights / weights.sum()
        self.tables = self._mean_counts([of.tables for of in self.configurations])
        self.customers = self._mean_counts([of.customers for of in self.configurations])
        self.discounts = self._mean_nodes(0)
        self.concentrations = self._mean_nodes(1)

    def _configuration(self, customers: Counts, tables: Counts) -> Configuration:
        restaurants = by_restaurant(customers, tables)
        weight = prod(self.model.base_probabilities[w] ** t
                      for (u, w), t in tables.items() if not u)  # fmt: skip
        shares = []
        for law in range(self.model.n_laws):
            cells = tuple(tuple(of) for u, of in restaurants.items()
                          if self.model.law(len(u)) == law)  # fmt: skip
            evidence, share = self._law(law, cells)
            weight *= evidence
            shares.append(share)
        return Configuration(customers, tables, weight, shares)

    def _law(self, law: int, restaurants: tuple) -> tuple[float, np.ndarray]:
        """Return the factor of all restaurants of a law, d and theta out, and their posterior."""
        if (law, restaurants) not in self._of_law:
            d, theta, weight = self.grids[law]
            for cells in restaurants:
                weight = weight * restaurant_weight(cells, d, theta, self._numbers[law])
            self._of_law[law, restaurants] = weight.sum(), weight / weight.sum()
        return self._of_law[law, restaurants]

    def _mean_counts(self, counts: list[Counts]) -> dict[Cell, float]:
        return {cell: self.mean([of[cell] for of in counts]) for cell in counts[0]}

    def mean(self, values: Sequence[float]) -> float:
        """Return the mean of values of the configurations."""
        return float(self.probabilities @ np.asarray(values, dtype=float))

    def _mean_nodes(self, kind: int) -> np.ndarray:
        """Return the posterior mean of the discount (0) or concentration (1) of each law."""
        return np.array([
            self.mean([(of.shares[law] * grid[kind]).sum() for of in self.configurations])
            for law, grid in enumerate(self.grids)
        ])  # fmt: skip

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
        above = self._given(of, context[1:]) if context else base
        words = range(self.model.n_outcomes)
        c, t = (
            np.array([counts.get((context, w), 0) for w in words])
            for counts in (of.customers, of.tables)
        )
        if not c.sum():
            return above
        law = self.model.law(len(context))
        d, theta, _ = self.grids[law]
        share = of.shares[law] / (theta + c.sum())
        old = c * share.sum() - t * (share * d).sum()
        return old + (share * (theta + d * t.sum())).sum() * above


def enumerate_posterior(model: Model, corpus: Sequence[Sequence[int]]) -> Posterior:
    """Return the exact posterior of a corpus of a few words."""
    return Posterior(model, model.events(corpus))
