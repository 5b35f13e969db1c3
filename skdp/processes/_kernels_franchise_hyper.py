"""The discount and the concentration that restaurants share, given their tables.

The restaurants of one depth of a franchise share a discount d and a concentration theta. Given
the numbers T_u of tables and C_u of customers of each restaurant u,

    p(tables | d, theta) = prod_(u, w) S_d(c_uw, t_uw) prod_u (theta | d)_(T_u) / (theta)_(C_u),

where (x)_n = x (x + 1) ... (x + n - 1) and (x | d)_n = x (x + d) ... (x + (n - 1) d). The first
product is over cells (``_kernels_cell_pairs.py``); if seats are known, it is prod_s (1 - d)_(s - 1)
over tables of sizes s instead. Histograms suffice: the number of tables with size s, and the number
of restaurants with T tables or C customers. If each restaurant has its own theta, its T and C are
needed.

| name | symbol | shape | meaning |
|---|---|---|---|
| sizes, n_sizes | s | (A,) each | distinct sizes of tables, and the number of tables with each |
| tables, n_tables | T_u | (B,) each | numbers of tables, and counts of restaurants |
| customers, n_customers | C_u | (C,) each | numbers of customers, and counts of restaurants |
| discount, concentration | d, theta | scalars | 0 <= d < 1, theta > 0 |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline, njit_loop, njit_outlined
from skdp._numeric._random import make_draw_slice, next_double, next_open_double
from skdp.processes._kernels_cell_pairs import sum_log_seatings

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
