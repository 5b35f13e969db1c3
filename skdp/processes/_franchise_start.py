"""Concentrations and tables from which the sampler of a franchise begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from skdp._numeric._typing import Floats, Ints, Places
from skdp.processes._franchise import FranchiseLayout, FranchisePriors

_CANDIDATES = np.geomspace(1e-2, 1e4, 61)
_SMALLEST = 1e-2
"""Least concentration; with a discount the formula may give a negative one."""
_MOST_CELLS = 2**13
"""About the largest number of cells of a depth that its concentration depends on."""
_DIRICHLET = 1e-6
"""Discount below which the number of tables is that of a Dirichlet process."""


class FranchiseStart(NamedTuple):
    """Where the sampler of a franchise begins."""

    concentration: Floats  # (n_laws,)
    tables: Ints  # (n_cells,)


def find_start(layout: FranchiseLayout, base: Floats, priors: FranchisePriors) -> FranchiseStart:
    """Return a start near the posterior of concentrations and tables, which move together slowly.

    From one table in each cell, large restaurants would have far too few tables for hundreds of
    sweeps, and concentrations would stay low. Here concentrations do not depend on tables.
    """
    n_laws = layout.n_laws
    discount = np.full(n_laws, 0.5) if priors.discount is None else priors.discount
    is_given = priors.concentration is not None
    shape, rate = priors.concentration_prior
    log_posterior = np.tile((shape - 1.0) * np.log(_CANDIDATES) - rate * _CANDIDATES, (n_laws, 1))
    concentration = np.ones(n_laws) if priors.concentration is None else priors.concentration.copy()
    customers = layout.observed.astype(float)
    tables = np.ones(len(layout.parent), np.int32)
    for m in range(layout.n_depths - 1, -1, -1):
        cells, law = layout.cells_at(m), int(layout.laws[m])
        mine = customers[cells]
        node = layout.node[cells].astype(np.int64) - layout.nodes_at(m).start
        shares = base if m == 0 else _shares_above(layout, m, mine)
        d = float(discount[law])
        if not is_given:
            # Without a discount, customers are Dirichlet-multinomial draws around the distribution
            # above, for which all customers of restaurants with the same parent are taken together.
            log_posterior[law] += _log_evidence(mine, node, shares)
            theta = _CANDIDATES[log_posterior[law].argmax()]
            # With a discount, a process with this concentration varies as much around its base.
            concentration[law] = max((1.0 - d) * (theta + 1.0) - 1.0, _SMALLEST)
        expected = _expected_tables(mine, concentration[law] * shares, d)
        tables[cells] = np.clip(np.rint(expected), 1.0, np.maximum(mine, 1.0))
        if m > 0:
            np.add.at(customers, layout.parent[cells], tables[cells])
    return FranchiseStart(concentration, tables)


def _shares_above(layout: FranchiseLayout, m: int, mine: Floats) -> Floats:
    """Return the share of each cell's dish among the customers of its restaurant's siblings."""
    above = layout.cells_at(m - 1)
    parent = layout.parent[layout.cells_at(m)] - above.start
    pooled = np.bincount(parent, mine, above.stop - above.start)
    node = layout.node[above] - layout.nodes_at(m - 1).start
    shares = pooled / np.bincount(node, pooled)[node]
    return np.asarray(shares[parent], float)


def _log_evidence(mine: Floats, node: Places, shares: Floats) -> Floats:
    """Return the log probability of the customers of restaurants, by candidate."""
    n_cells = len(mine)
    # With many cells, use evenly chosen restaurants, scaled up to all cells.
    every = len(mine) // _MOST_CELLS + 1
    chosen = node % every == 0
    totals = np.bincount(node[chosen] // every, mine[chosen])
    mine, shares = mine[chosen], shares[chosen]
    found = np.empty(len(_CANDIDATES))
    for i, theta in enumerate(_CANDIDATES):
        prior = theta * shares
        found[i] = np.sum(gammaln(prior + mine) - gammaln(prior))
        found[i] += np.sum(gammaln(theta) - gammaln(theta + totals))
    return found * (n_cells / max(len(mine), 1))


def _expected_tables(customers: Floats, prior: Floats, discount: float) -> Floats:
    """Return the expected numbers of tables of processes with the concentrations `prior`."""
    if discount < _DIRICHLET:
        return np.asarray(prior * (digamma(prior + customers) - digamma(prior)), float)
    log_ratio = gammaln(prior + customers + discount) - gammaln(prior + customers)
    log_ratio -= gammaln(prior + discount) - gammaln(prior)
    return np.asarray(prior / discount * np.expm1(log_ratio), float)
