"""The Chinese restaurant franchise with known dishes: tables of cells, and sweeps over them.

A franchise is a tree of restaurants; a restaurant of depth m serves the dishes of the restaurant
above, with discount d_m and concentration theta_m. Here every possible pair of a restaurant and a
dish, a *cell*, is known beforehand and has a number, and the cells of a depth are consecutive, so
that no hash map and no allocation is needed. The customers of a cell are the tables of the cells
below it, and the observed customers. The joint is

    prod_u (theta | d)_(T_u) / (theta)_(C_u) prod_w S_d(c_uw, t_uw)  prod_w H(w)^(t_w at the root)

with generalized Stirling numbers S_d: seatings are integrated out, and the removal of a customer
removes a table with probability S^{c-1}_{t-1} / S^c_t.

| name | symbol | shape | meaning |
|---|---|---|---|
| cells.customers, tables | c_uw, t_uw | (X,) int32 | customers and tables of each cell |
| cells.parent | | (X,) int32 | the cell above; -1 at the root |
| cells.node | u | (X,) int32 | the restaurant |
| nodes.customers, tables | C_u, T_u | (U,) int32 | customers and tables of each restaurant |
| base | H | (X_0,) | probability of the dish of each cell of the root, the first cells |
| discount, concentration | d_m, theta_m | (depths,) | discounts and concentrations by depth |
| by_node | | bool | whether there is a concentration theta_u for each restaurant instead |
| values, row_ptr | U, V | | ratios of Stirling numbers and offsets of rows, for all tables |
| values_ptr, values_end, rows_ptr, rows_end | | (depths,) | bounds of the table of each depth |
| chance | | (depths + 1,) scratch | chance[m]: probability of the dish in the restaurant above |
| path | | (depths,) scratch | the cell and the cells above it, by depth |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_forceinline, njit_inlined, njit_outlined
from skdp._numeric._random import next_double
from skdp.processes._kernels_stirling import log_stirling, open_ratio

_FEW_VISITS = 4
"""Number of visits up to which two logarithms are slower than single visits."""


class Cells(NamedTuple):
    """Customers, tables, parent cell and restaurant of every cell."""

    customers: np.ndarray
    tables: np.ndarray
    parent: np.ndarray
    node: np.ndarray


class Nodes(NamedTuple):
    """Customers and tables of every restaurant."""

    customers: np.ndarray
    tables: np.ndarray


class Laws(NamedTuple):
    """Parameters of the restaurants, by depth or by restaurant, and the base of the root."""

    discount: np.ndarray
    concentration: np.ndarray
    by_node: bool
    base: np.ndarray
    values: np.ndarray
    values_ptr: np.ndarray
    values_end: np.ndarray
    row_ptr: np.ndarray
    rows_ptr: np.ndarray
    rows_end: np.ndarray


class PathScratch(NamedTuple):
    """A path from a cell to the root, and the probabilities along it."""

    path: np.ndarray
    chance: np.ndarray


@njit_outlined
def _rare_ratio(laws, m, n, t):
    """Return V = S^{n+1}_{t+1} / S^n_t for depth m, in or beyond the table."""
    values = laws.values[laws.values_ptr[m] : laws.values_end[m]]
    row_ptr = laws.row_ptr[laws.rows_ptr[m] : laws.rows_end[m]]
    return open_ratio(values, row_ptr, n, t, laws.discount[m])


@njit_forceinline
def drop_chance(laws, m, c, t):
    """Return the probability S^{c-1}_{t-1} / S^c_t that one of c >= 1 customers sits alone."""
    if t == 1:
        return 1.0 if c == 1 else 0.0
    if t == c:
        return 1.0
    n = c - 1
    first = laws.rows_ptr[m]
    if first + n < laws.rows_end[m] - 1:
        row = laws.row_ptr[first + n]
        if row + t - 1 < laws.row_ptr[first + n + 1]:
            return 1.0 / laws.values[laws.values_ptr[m] + row + t - 1, 1]
    return 1.0 / _rare_ratio(laws, m, n, t - 1)


@njit_forceinline
def _find_path(x, m, cells, path):
    """Write the cell x of depth m and the cells above it."""
    for j in range(m, -1, -1):
        path[j] = x
        x = cells.parent[x]


@njit_forceinline
def _find_chances(m, cells, nodes, laws, path, chance):
    """Write the probabilities of the dish in the restaurants above, for depths 0 to m."""
    chance[0] = laws.base[path[0]]
    for j in range(m):
        x = path[j]
        u = cells.node[x]
        d, theta = laws.discount[j], laws.concentration[u if laws.by_node else j]
        opens = theta + d * nodes.tables[u]
        served = cells.customers[x] - d * cells.tables[x] + opens * chance[j]
        chance[j + 1] = served / (theta + nodes.customers[u])


@njit_forceinline
def _leave(m, cells, nodes, laws, path, rng):
    """Remove a customer from the cell at depth m, and from cells above if its table closes."""
    for j in range(m, -1, -1):
        x = path[j]
        u = cells.node[x]
        drops = drop_chance(laws, j, cells.customers[x], cells.tables[x])
        cells.customers[x] -= 1
        nodes.customers[u] -= 1
        if drops == 0.0 or (drops < 1.0 and next_double(rng) >= drops):
            return
        cells.tables[x] -= 1
        nodes.tables[u] -= 1


@njit_forceinline
def _enter(m, cells, nodes, laws, path, chance, rng):
    """Seat a customer in the cell at depth m, given the probabilities down to that depth."""
    for j in range(m, -1, -1):
        x = path[j]
        u = cells.node[x]
        d = laws.discount[j]
        joins = cells.customers[x] - d * cells.tables[x]
        theta = laws.concentration[u if laws.by_node else j]
        opens = (theta + d * nodes.tables[u]) * chance[j]
        is_first = cells.customers[x] == 0
        cells.customers[x] += 1
        nodes.customers[u] += 1
        if not is_first and next_double(rng) * (joins + opens) < joins:
            return
        cells.tables[x] += 1
        nodes.tables[u] += 1


@njit_inlined
def _visit_customers(x, m, cells, nodes, laws, path, chance, rng):
    """Redraw the seats of all customers of cell x, at depth m, one after another."""
    _find_path(x, m, cells, path)
    _find_chances(m, cells, nodes, laws, path, chance)
    u = cells.node[x]
    d, theta = laws.discount[m], laws.concentration[u if laws.by_node else m]
    c = cells.customers[x]
    left = c
    while left > 0:
        t = cells.tables[x]
        drops = drop_chance(laws, m, c, t)
        joins = c - 1 - d * t
        opens = (theta + d * nodes.tables[u]) * chance[m]
        if drops < 1.0:
            stays = (1.0 - drops) * joins / (joins + opens)
            if stays >= 1.0:
                return
            if left <= _FEW_VISITS:
                v = next_double(rng)
                left -= 1
                if v < stays:
                    continue
                v = (v - stays) / (1.0 - stays)
            else:
                # A visit changes nothing with the same probability until a change, so the number of
                # these visits is geometric.
                idle = math.log(1.0 - next_double(rng)) / math.log(stays)
                if idle >= left:
                    return
                left -= int(idle) + 1
                v = next_double(rng)
            dropped = v * (1.0 - stays) < drops
        else:
            left -= 1
            dropped = True
        if not dropped:
            cells.tables[x] += 1
            nodes.tables[u] += 1
            if m > 0:
                _enter(m - 1, cells, nodes, laws, path, chance, rng)
        else:
            cells.tables[x] -= 1
            nodes.tables[u] -= 1
            if m > 0:
                _leave(m - 1, cells, nodes, laws, path, rng)
                _find_chances(m, cells, nodes, laws, path, chance)
            joins = c - 1 - d * (t - 1)
            opens = (theta + d * nodes.tables[u]) * chance[m]
            if next_double(rng) * (joins + opens) >= joins:
                cells.tables[x] += 1
                nodes.tables[u] += 1
                if m > 0:
                    _enter(m - 1, cells, nodes, laws, path, chance, rng)
        _find_chances(m, cells, nodes, laws, path, chance)


@njit
def sweep_cells(visited, m, cells, nodes, laws, scratch, rng):
    """Redraw the tables of cells of depth m that may have two customers, one customer at a time."""
    path, chance = scratch
    for i in range(visited.shape[0]):
        x = visited[i]
        if cells.customers[x] >= 2:
            _visit_customers(x, m, cells, nodes, laws, path, chance, rng)


@njit
def count_customers(first, last, observed, cells, nodes):
    """Count customers and tables of cells `first:last` of one depth, and add to those above.

    From the deepest depth up, beginning with zeros, this computes all counts from the tables.
    """
    for x in range(first, last):
        cells.customers[x] += observed[x]
        u = cells.node[x]
        nodes.customers[u] += cells.customers[x]
        nodes.tables[u] += cells.tables[x]
        if cells.parent[x] >= 0:
            cells.customers[cells.parent[x]] += cells.tables[x]


@njit
def sum_log_stirling(n, t, counts, m, laws):
    """Return the sum of log S_d(n, t) over pairs at depth m, weighted by `counts`."""
    values = laws.values[laws.values_ptr[m] : laws.values_end[m]]
    row_ptr = laws.row_ptr[laws.rows_ptr[m] : laws.rows_end[m]]
    total = 0.0
    for i in range(n.shape[0]):
        total += counts[i] * log_stirling(values, row_ptr, n[i], t[i], laws.discount[m])
    return total
