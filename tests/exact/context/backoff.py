"""Back-off of contexts by enumeration of the tables, discounts and concentrations integrated out.

An event is a pair (context, outcome); the context is the tuple of the levels' values, the most
important first. A restaurant is a prefix of a context, of 0 or 1 values at the top. Its customers
are the tables of the restaurants that are one value longer, at the end the events. With c
customers and t tables a cell (restaurant u, outcome x),

    p(events, t) = prod_u (theta|d)_{t_u.} / (theta)_{c_u.} prod_x S_d(c_ux, t_ux)
                   prod_{u at the top} prod_x (1 / n_outcomes)^{t_ux}.

The restaurants of a depth share d and theta, or d alone. Given the tables, depths are independent,
and given d, too, are the restaurants. Integrals are sums over nodes of d and of theta."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np
from exact.language.franchise import restaurant_weight, stirling
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from scipy.stats import beta, gamma

Cell = tuple[tuple, int]


@dataclass(frozen=True, eq=False)
class Model:
    """The model of events whose contexts have as many values as there are levels."""

    n_outcomes: int
    n_levels: int
    root: bool = True
    discounts: Sequence[float | None] | None = None  # by depth, from the top; None: learned
    concentrations: Sequence[float | None] | None = None
    by_context: bool = False  # whether each restaurant has a concentration of its own
    discount_prior: tuple[float, float] = (1.0, 1.0)
    concentration_prior: tuple[float, float] = (1.0, 0.1)
    step: float = 0.2

    @property
    def n_depths(self) -> int:
        return self.n_levels + self.root

    def depth(self, restaurant: tuple) -> int:
        return len(restaurant) - (not self.root)

    def prefixes(self, context: tuple) -> list[tuple]:
        """Return the restaurants of a context, from the top down."""
        return [context[:n] for n in range(not self.root, self.n_levels + 1)]

    def grid(self, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return nodes of d (n, 1) and of theta (1, k), and the prior's weights of each."""
        if self.discounts is None:
            d = beta_quadrature(*self.discount_prior, 24)
        else:
            d = np.array([self.discounts[m]]), np.ones(1)
        if self.concentrations is None:
            theta = gamma_quadrature(*self.concentration_prior, self.step)
        else:
            theta = np.array([self.concentrations[m]]), np.ones(1)
        return d[0][:, None], theta[0][None], d[1][:, None], theta[1][None]


def cells_of(model: Model, events: Counter) -> list[Cell]:
    """Return all cells, the narrowest contexts first."""
    found = {(u, x): None for context, x in events for u in model.prefixes(context)}
    return sorted(found, key=lambda cell: -len(cell[0]))


def table_counts(model: Model, events: Counter) -> Iterator[tuple[dict, dict]]:
    """Yield customers and tables of all cells, for every possible choice of the tables."""
    cells = cells_of(model, events)

    def choose(i: int, customers: dict, tables: dict) -> Iterator[tuple[dict, dict]]:
        if i == len(cells):
            yield customers, tables
            return
        u, x = cells[i]
        for t in range(1, customers[u, x] + 1):
            above = dict(customers)
            if model.depth(u) > 0:
                above[u[:-1], x] += t
            yield from choose(i + 1, above, {**tables, (u, x): t})

    yield from choose(0, {cell: events.get(cell, 0) for cell in cells}, {})


def by_restaurant(customers: Mapping, tables: Mapping) -> dict[tuple, tuple]:
    result = defaultdict(list)
    for (u, x), c in customers.items():
        result[u].append((c, tables[u, x]))
    return {u: tuple(cells) for u, cells in result.items()}


def log_joint(
    model: Model, events: Counter, tables: Mapping, discounts: Sequence[float],
    concentrations: Mapping[tuple, float],
) -> float:  # fmt: skip
    """Return log p(events, tables | discounts, concentrations of the restaurants)."""
    customers = Counter({cell: events.get(cell, 0) for cell in tables})
    for (u, x), t in tables.items():
        if model.depth(u) > 0:
            customers[u[:-1], x] += t
    total = 0.0
    for u, cells in by_restaurant(customers, tables).items():
        m = model.depth(u)
        d = discounts[m]
        numbers = stirling(max(c for c, _ in cells), d)
        total += log(restaurant_weight(cells, d, concentrations[u], numbers))
        if m == 0:
            total -= sum(t for _, t in cells) * log(model.n_outcomes)
    return total


def log_prior(model: Model, discounts: Sequence[float], concentrations: Sequence[float]) -> float:
    """Return the log density of what is learned: discounts by depth, and all concentrations."""
    shape, rate = model.concentration_prior
    total = 0.0
    if model.discounts is None:
        total += sum(beta.logpdf(d, *model.discount_prior) for d in discounts)
    if model.concentrations is None:
        total += sum(gamma.logpdf(theta, shape, scale=1.0 / rate) for theta in concentrations)
    return float(total)


def predictive(model: Model, context: tuple, x: int, customers, tables, discounts, concentrations):
    """Return p(x | context) given all tables and laws, from the top down."""
    p = 1.0 / model.n_outcomes
    for u in model.prefixes(context):
        n_customers = sum(c for (v, _), c in customers.items() if v == u)
        if not n_customers:
            break
        n_tables = sum(t for (v, _), t in tables.items() if v == u)
        d, theta = discounts[model.depth(u)], concentrations[u]
        own = customers.get((u, x), 0) - d * tables.get((u, x), 0)
        p = (own + (theta + d * n_tables) * p) / (theta + n_customers)
    return p


class Posterior:
    """Exact answers: posterior means of `tables` and `customers` by cell, `discounts` (n_depths,),
    and `concentrations` by restaurant."""

    def __init__(self, model: Model, events: Sequence[tuple[tuple, int]]):
        self.model = model
        counts = Counter(events)
        most = max(Counter(x for _, x in events).values())
        self._grids = [model.grid(m) for m in range(model.n_depths)]
        self._numbers = [stirling(most, grid[0]) for grid in self._grids]
        self._known: dict[Any, Any] = {}
        weights, self._states = [], []
        for customers, tables in table_counts(model, counts):
            weight, shares = self._integrate(by_restaurant(customers, tables))
            n_top = sum(t for (u, _), t in tables.items() if model.depth(u) == 0)
            weights.append(weight / model.n_outcomes**n_top)
            self._states.append((customers, tables, shares))
        self.probabilities = np.array(weights) / np.sum(weights)
        cells = cells_of(model, counts)
        self.customers = {cell: self._mean([s[0][cell] for s in self._states]) for cell in cells}
        self.tables = {cell: self._mean([s[1][cell] for s in self._states]) for cell in cells}
        restaurants = {u: None for u, _ in cells}
        of_depth = {model.depth(u): u for u in restaurants}
        self.discounts = np.array([self._moment(of_depth[m], 0) for m in range(model.n_depths)])
        self.concentrations = {u: self._moment(u, 1) for u in restaurants}

    def _integrate(self, restaurants: dict) -> tuple[float, dict]:
        """Return p(tables) without the base, and p(d, theta of u | tables) on the grid of u."""
        weight, shares = 1.0, {}
        for m in range(self.model.n_depths):
            here = {u: cells for u, cells in restaurants.items() if self.model.depth(u) == m}
            key = m, tuple(here.items())
            if key not in self._known:
                self._known[key] = self._of_depth(m, here)
            evidence, found = self._known[key]
            weight *= evidence
            shares.update(found)
        return weight, shares

    def _of_depth(self, m: int, here: dict) -> tuple[float, dict]:
        d, theta, of_d, of_theta = self._grids[m]
        factors = {u: restaurant_weight(cells, d, theta, self._numbers[m])
                   for u, cells in here.items()}  # fmt: skip
        if not self.model.by_context:
            joint = of_d * of_theta * prod(factors.values())
            return joint.sum(), dict.fromkeys(here, joint / joint.sum())
        own = {u: of_theta * factor for u, factor in factors.items()}
        sums = {u: part.sum(axis=1, keepdims=True) for u, part in own.items()}
        evidence = (of_d * prod(sums.values())).sum()
        shares = {}
        for u, part in own.items():
            others = prod((sums[v] for v in here if v != u), start=np.ones_like(of_d))
            shares[u] = of_d * others * part / evidence
        return evidence, shares

    def _mean(self, values: Sequence) -> Any:
        return np.tensordot(self.probabilities, np.asarray(values, dtype=float), 1)

    def _moment(self, u: tuple, which: int) -> float:
        nodes = self._grids[self.model.depth(u)][which]
        return float(self._mean([(shares[u] * nodes).sum() for _, _, shares in self._states]))

    def predictive(self, context: tuple) -> np.ndarray:
        """Return the distribution of the outcome in a context, (n_outcomes,)."""
        return self._mean([self._given(context, *state) for state in self._states])

    def _given(self, context: tuple, customers: dict, tables: dict, shares: dict) -> np.ndarray:
        outcomes = range(self.model.n_outcomes)
        p = np.full(self.model.n_outcomes, 1.0 / self.model.n_outcomes)
        for u in self.model.prefixes(context):
            c, t = (np.array([of.get((u, x), 0) for x in outcomes]) for of in (customers, tables))
            if not c.sum():
                break
            d, theta, _, _ = self._grids[self.model.depth(u)]
            share = shares[u] / (theta + c.sum())
            own = c * share.sum() - t * (share * d).sum()
            p = own + (share * (theta + d * t.sum())).sum() * p
        return p
