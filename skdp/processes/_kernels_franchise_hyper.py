"""Discount and concentration of restaurants that share them, given their tables and seats.

The restaurants of one depth of a franchise have one discount d and one concentration theta. Given
the sizes s of their tables, the numbers T_u of tables and C_u of customers of each restaurant u,

    p(tables | d, theta) = prod_s (1 - d)_(s - 1) prod_u (theta | d)_(T_u) / (theta)_(C_u),

where (x)_n = x (x + 1) ... (x + n - 1) and (x | d)_n = x (x + d) ... (x + (n - 1) d). What matters
are three histograms: how many tables have size s, how many restaurants T tables or C customers.

| name | symbol | shape | meaning |
|---|---|---|---|
| sizes, n_sizes | s | (A,) each | distinct sizes of tables, and how many tables have each |
| tables, n_tables | T_u | (B,) each | distinct numbers of tables, and how many restaurants |
| customers, n_customers | C_u | (C,) each | distinct numbers of customers, likewise |
| discount, concentration | d, theta | scalars | 0 <= d < 1, theta > 0 |
"""

import math

from skdp._numba import njit, njit_loop
from skdp._random import next_double
from skdp.processes._kernels_stirling import open_ratio

_FEW = 24
"""Factors up to so many are multiplied: differences of log-gamma functions lose digits."""


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


@njit
def log_tables_given(
    discount, concentration, sizes, n_sizes, tables, n_tables, customers, n_customers
):
    """Return log p(tables | d, theta) from the three histograms."""
    total = 0.0
    for i in range(sizes.shape[0]):
        total += n_sizes[i] * log_rising(1.0 - discount, 1.0, sizes[i] - 1)
    for i in range(tables.shape[0]):  # the first factors, theta, cancel
        n = tables[i] - 1
        total += n_tables[i] * log_rising(concentration + discount, discount, n)
    for i in range(customers.shape[0]):
        total -= n_customers[i] * log_rising(concentration + 1.0, 1.0, customers[i] - 1)
    return total


@njit_loop
def add_sizes(n, t, discount, values, row_ptr, opened, seat, size, counts, rng):
    """Draw the sizes of the `t` tables of `n` customers of one dish, and count them.

    Given n and t, a seating has a probability in proportion to prod_k (1 - d)_(s_k - 1). From the
    last customer to the first it is drawn who opened a table (the chance that customer n did is
    S^{n-1}_{t-1} / S^n_t = 1 / V); then, from the first to the last, whom the others joined: table
    k in proportion to s_k - d, by the table of anyone before and a refusal with probability d / s.

    Parameters
    ----------
    n, t : int
        1 <= t <= n.
    discount : float
    values, row_ptr : arrays
        Ratios of Stirling numbers for the discount.
    opened : (n,) bool, scratch
    seat, size : (n,) int32, scratch
    counts : (at least n + 1,) int64
        To ``counts[s]`` the number of tables of size s is added.
    rng : (4,) uint64
    """
    if t == 1:
        counts[n] += 1
        return
    if t == n:
        counts[1] += n
        return
    left = t
    for i in range(n - 1, 0, -1):  # customer i, from 0, is the last of i + 1
        if left == 1:
            opened[i] = False
        elif left == i + 1:
            opened[i] = True
            left -= 1
        else:
            ratio = open_ratio(values, row_ptr, i, left - 1, discount)
            opened[i] = next_double(rng) * ratio < 1.0
            left -= opened[i]
    seat[0] = 0
    size[0] = 1
    n_tables = 1
    for i in range(1, n):
        if opened[i]:
            seat[i] = n_tables
            size[n_tables] = 1
            n_tables += 1
        else:
            while True:
                u = next_double(rng) * i
                k = seat[int(u)]
                if (u - int(u)) * size[k] >= discount:
                    break
            seat[i] = k
            size[k] += 1
    for k in range(t):
        counts[size[k]] += 1
