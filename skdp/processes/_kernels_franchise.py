"""The Chinese restaurant franchise with known dishes: sweeps over tables, and parameters.

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
| most | | (X,) int32 | most visits to the customers of each cell in a sweep |
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

from skdp._numeric._numba import njit, njit_forceinline, njit_inlined, njit_loop, njit_outlined
from skdp._numeric._random import make_draw_slice, next_double, next_open_double
from skdp.processes._kernels_stirling import log_stirling, open_ratio
from skdp.processes._kernels_table_counts import sum_log_seatings

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


class ProcessParameters(NamedTuple):
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
def _visit_customers(x, m, most, cells, nodes, laws, path, chance, rng):
    """Redraw the seats of at most `most` customers of cell x, at depth m, one after another."""
    _find_path(x, m, cells, path)
    _find_chances(m, cells, nodes, laws, path, chance)
    u = cells.node[x]
    d, theta = laws.discount[m], laws.concentration[u if laws.by_node else m]
    c = cells.customers[x]
    left = min(c, most)
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
            adds = v * (1.0 - stays) >= drops
        else:
            left -= 1
            adds = False
        if not adds:
            cells.tables[x] -= 1
            nodes.tables[u] -= 1
            if m > 0:
                _leave(m - 1, cells, nodes, laws, path, rng)
                _find_chances(m, cells, nodes, laws, path, chance)
            joins = c - 1 - d * (t - 1)
            opens = (theta + d * nodes.tables[u]) * chance[m]
            adds = next_double(rng) * (joins + opens) >= joins
        if adds:
            cells.tables[x] += 1
            nodes.tables[u] += 1
            if m > 0:
                _enter(m - 1, cells, nodes, laws, path, chance, rng)
        _find_chances(m, cells, nodes, laws, path, chance)


@njit
def sweep_cells(visited, m, most, cells, nodes, laws, scratch, rng):
    """Redraw the tables of cells of depth m that may have two customers, one customer at a time."""
    # The number of visits must not depend on the tables of this depth and of those above.
    path, chance = scratch
    for i in range(visited.shape[0]):
        x = visited[i]
        if cells.customers[x] >= 2:
            _visit_customers(x, m, most[x], cells, nodes, laws, path, chance, rng)


@njit
def seat_customers(arrivals, depths, cells, nodes, laws, scratch, rng):
    """Seat a new customer in each of some cells of given depths, one after another."""
    path, chance = scratch
    for i in range(arrivals.shape[0]):
        m = depths[i]
        _find_path(arrivals[i], m, cells, path)
        _find_chances(m, cells, nodes, laws, path, chance)
        _enter(m, cells, nodes, laws, path, chance, rng)


@njit
def unseat_customers(departures, depths, cells, nodes, laws, scratch, rng):
    """Remove a customer from each of some cells of given depths, one after another."""
    for i in range(departures.shape[0]):
        m = depths[i]
        _find_path(departures[i], m, cells, scratch.path)
        _leave(m, cells, nodes, laws, scratch.path, rng)


@njit
def count_customers(first, last, observed, cells, nodes):
    """Count customers and tables of cells `first:last` of one depth, and add to those above."""
    # From the deepest depth up, beginning with zeros, this computes all counts from the tables.
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


# The discount and the concentration that restaurants share, given their tables.
#
# The restaurants of one depth of a franchise share a discount d and a concentration theta. Given
# the numbers T_u of tables and C_u of customers of each restaurant u,
#
#     p(tables | d, theta) = prod_(u, w) S_d(c_uw, t_uw) prod_u (theta | d)_(T_u) / (theta)_(C_u),
#
# where (x)_n = x (x + 1) ... (x + n - 1) and (x | d)_n = x (x + d) ... (x + (n - 1) d). The first
# product is over cells (`_kernels_table_counts`); if seats are known, it is
# prod_s (1 - d)_(s - 1) over tables of sizes s instead. Histograms suffice: the number of tables
# with size s, and the number of restaurants with T tables or C customers. If each restaurant has
# its own theta, its T and C are needed.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | sizes, n_sizes | s | (A,) each | distinct sizes of tables, and the number of tables with each |
# | tables, n_tables | T_u | (B,) each | numbers of tables, and counts of restaurants |
# | customers, n_customers | C_u | (C,) each | numbers of customers, and counts of restaurants |
# | discount, concentration | d, theta | scalars | 0 <= d < 1, theta > 0 |


LARGEST_LOG = 230.0
"""Draws of a concentration stay between exp(-230) and exp(230), about 1e100."""

SMALLEST = 1e-8
"""Smallest distance of a discount from 0 and 1, near which digits are lost."""

_FEW = 24
"""Up to this many factors are multiplied, because differences of log-gammas lose digits."""


@njit_loop
def log_rising(x, step, n):
    """Return log (x | step)_n = sum_{i < n} log(x + i step); `step` may be 0."""
    if n <= _FEW or step == 0.0:
        if step == 0.0:
            return n * math.log(x)
        product = 1.0
        total = 0.0
        for i in range(n):
            product *= x + i * step
            if not 1e-200 < product < 1e200:
                total += math.log(product)
                product = 1.0
        return total + math.log(product)
    ratio = x / step
    if ratio > 1e6 * n:  # log(x + i step) is almost linear in i, and log-gammas would cancel
        return n * math.log(x) + 0.5 * n * (n - 1.0) / ratio
    return n * math.log(step) + math.lgamma(ratio + n) - math.lgamma(ratio)


@njit_loop
def log_sizes_given(discount, sizes, n_sizes):
    """Return log prod_s (1 - d)_(s - 1) over tables of sizes s."""
    total = 0.0
    for i in range(sizes.shape[0]):
        total += n_sizes[i] * log_rising(1.0 - discount, 1.0, sizes[i] - 1)
    return total


@njit_loop
def log_tables_given(discount, concentration, tables, n_tables, customers, n_customers):
    """Return log prod_u (theta | d)_(T_u) / (theta)_(C_u) from two histograms."""
    total = 0.0
    for i in range(tables.shape[0]):  # the first factors, theta, cancel
        n = tables[i] - 1
        total += n_tables[i] * log_rising(concentration + discount, discount, n)
    for i in range(customers.shape[0]):
        total -= n_customers[i] * log_rising(concentration + 1.0, 1.0, customers[i] - 1)
    return total


@njit_loop
def log_tables_by_node(discount, concentration, tables, customers):
    """Return the log probability of `log_tables_given` if each restaurant has its own theta."""
    total = 0.0
    for u in range(tables.shape[0]):
        total += _log_restaurant(discount, concentration[u], tables[u], customers[u])
    return total


@njit_forceinline
def _log_restaurant(discount, concentration, n_tables, n_customers):
    """Return log (theta + d | d)_(T - 1) - log (theta + 1)_(C - 1)."""
    seated = log_rising(concentration + discount, discount, n_tables - 1)
    return seated - log_rising(concentration + 1.0, 1.0, n_customers - 1)


@njit_forceinline
def _log_density(log_theta, discount, n_tables, n_customers, shape, rate):
    """Return the log density of log(theta), up to a constant."""
    if abs(log_theta) > LARGEST_LOG:
        return -math.inf
    theta = math.exp(log_theta)
    prior = shape * log_theta - rate * theta
    return prior + _log_restaurant(discount, theta, n_tables, n_customers)


def _make_draw_discount(log_seatings, log_tables):
    """Return a kernel that draws a discount, given kernels for the factors of the joint."""

    @njit_outlined
    def log_density(d, p, q, concentration, cells, restaurants):
        if not SMALLEST <= d <= 1.0 - SMALLEST:
            return -math.inf
        density = (p - 1.0) * math.log(d) + (q - 1.0) * math.log1p(-d)
        return density + (log_seatings(d, *cells) + log_tables(d, concentration, *restaurants))

    return njit_loop(make_draw_slice(log_density))


draw_discount_of_sizes = _make_draw_discount(log_sizes_given, log_tables_given)
draw_discount_of_pairs = _make_draw_discount(sum_log_seatings, log_tables_given)
draw_discount_by_node = _make_draw_discount(sum_log_seatings, log_tables_by_node)


@njit_outlined
def _log_density_of_shared(log_theta, discount, shape, rate, restaurants):
    """Return the log density of the log(theta) that restaurants share, up to a constant."""
    if abs(log_theta) > LARGEST_LOG:
        return -math.inf
    theta = math.exp(log_theta)
    return shape * log_theta - rate * theta + log_tables_given(discount, theta, *restaurants)


draw_log_concentration = njit_loop(make_draw_slice(_log_density_of_shared))


@njit_loop
def draw_concentrations(discount, concentration, tables, customers, shape, rate, rng):
    """Draw the concentration of each restaurant, in place, by slice sampling of log(theta)."""
    width = 2.0
    for u in range(tables.shape[0]):
        t, c = tables[u], customers[u]
        x = math.log(concentration[u])
        level = _log_density(x, discount, t, c, shape, rate) + math.log(next_open_double(rng))
        low = x - width * next_double(rng)
        high = low + width
        while _log_density(low, discount, t, c, shape, rate) > level:
            low -= width
        while _log_density(high, discount, t, c, shape, rate) > level:
            high += width
        while True:
            proposal = low + (high - low) * next_double(rng)
            if _log_density(proposal, discount, t, c, shape, rate) > level or proposal == x:
                concentration[u] = math.exp(proposal)
                break
            if proposal < x:
                low = proposal
            else:
                high = proposal
