"""Ratios of generalized Stirling numbers, by a table for small counts and patches beyond.

S^n_t (Du, 2012, equation 3.4; discount a) counts the ways to seat n customers at t tables:

    S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t,    S^0_0 = 1.

The numbers overflow, but their ratios do not, and Gibbs samplers need only ratios. Ratios beyond
the table come from the patches after it (``_kernels_stirling_patches.py``); without patches, and
for the numbers themselves, an integral is used (``_kernels_stirling_integral.py``).

| name | symbol | shape | meaning |
|---|---|---|---|
| n, t | N, T | scalars | customers and tables, 1 <= t <= n or n = t = 0 |
| a | a | scalar | discount, 0 <= a < 1 |
| values | U, V | (P, 2) | U = S^{n+1}_t / S^n_t and V = S^{n+1}_{t+1} / S^n_t, row after row |
| row_ptr | | (rows + 1,) int64 | pair (n, t) is values[row_ptr[n] + t], if row n contains t |
| r | R^n_t | (width + 2,) | S^n_t / S^n_{t-1} of the current row: infinite at t = 1, 0 at t > n |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit, njit_inlined_source, njit_loop
from skdp.processes._kernels_stirling_integral import integrate
from skdp.processes._kernels_stirling_patches import SMALLEST_COUNT, patched_ratio


@njit
def fill_ratios(values, row_ptr, a, r):
    """Fill the table row by row, by sums, products and quotients of positive numbers.

    So the relative error grows at most linearly in n, from 1e-16. Row n + 1 must depend only on
    row n: its width (largest t) is at most that of row n, or n + 1 if row n is complete.
    """
    r[1] = math.inf
    values[0, 0], values[0, 1] = 0.0, 1.0
    for n in range(1, row_ptr.shape[0] - 1):
        row, below = row_ptr[n], row_ptr[n - 1]
        width = row_ptr[n + 1] - row - 1
        for t in range(2, min(width + 1, n) + 1):
            r[t] = values[below + t - 1, 1] / values[below + t - 1, 0]
        values[row, 0], values[row, 1] = 0.0, 0.0  # no customers without a table
        for t in range(1, width + 1):
            values[row + t, 0] = n - a * t + 1.0 / r[t]
            values[row + t, 1] = 1.0 + (n - a * (t + 1)) * r[t + 1]


@njit_inlined_source
def _next_ratio(values, row_ptr, n, t, a):
    """Return R^n_t = S^n_t / S^n_{t-1}, t >= 2; 0 for t > n."""
    if t > n:
        return 0.0
    if t == n:
        return 2.0 / ((1.0 - a) * n * (n - 1.0))
    first = row_ptr[row_ptr.shape[0] - 1]
    if n >= SMALLEST_COUNT and first < values.shape[0] and n <= values[first, 0]:
        return patched_ratio(values, first, n, t, a)
    return integrate(float(n), float(t), a)[1]


@njit_loop
def share_ratio(values, row_ptr, n, t, a):
    """Return U = S^{n+1}_t / S^n_t: one more customer at the same number of tables."""
    if n < row_ptr.shape[0] - 1 and row_ptr[n] + t < row_ptr[n + 1]:
        return values[row_ptr[n] + t, 0]
    if t < 2:
        return n - a * t
    return n - a * t + 1.0 / _next_ratio(values, row_ptr, n, t, a)


@njit_loop
def open_ratio(values, row_ptr, n, t, a):
    """Return V = S^{n+1}_{t+1} / S^n_t: one more customer at its own table."""
    if n < row_ptr.shape[0] - 1 and row_ptr[n] + t < row_ptr[n + 1]:
        return values[row_ptr[n] + t, 1]
    if t == 0:
        return 1.0
    return 1.0 + (n - a * (t + 1)) * _next_ratio(values, row_ptr, n, t + 1, a)


@njit
def log_stirling(values, row_ptr, n, t, a):
    """Return log S^n_t; -inf if no seating exists."""
    if t == n:
        return 0.0
    if t < 1 or t > n:
        return -math.inf
    if n - t <= 32 and n < row_ptr.shape[0] and row_ptr[n - 1] + t < row_ptr[n]:
        product = 1.0  # below n^32
        for i in range(t, n):
            product *= values[row_ptr[i] + t, 0]
        return math.log(product)
    if t == 1:
        return math.lgamma(n - a) - math.lgamma(1.0 - a)
    if t == n - 1:
        return math.log(0.5 * (1.0 - a) * n * (n - 1.0))
    return integrate(float(n), t + 1.0, a)[0]
