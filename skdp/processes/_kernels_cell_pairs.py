"""Probabilities of the customers and tables of cells as functions of the discount.

Cells with the same numbers of customers and of tables have the same factor S_d(c, t) in the joint
of a franchise (``_kernels_franchise.py``). So the discount depends on a histogram of pairs: the
number of cells with c customers at t tables.

| name | symbol | shape | meaning |
|---|---|---|---|
| n, t, counts | c, t | (P,) each | distinct pairs, 1 <= t < n, sorted by n; numbers of cells |
| a | d | scalar | discount, 0 <= a < 1 |
| row | s^n_t | (width + 1,) | S^n_t (t - 1)! / (n - 1)! for the current number of customers |
| values, row_ptr | | (0, 2), (0,) | a table without ratios |
| work | | (3, width + 1) | scratch, for the largest t of up to MOST_ROWS customers |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit, njit_forceinline, njit_loop
from skdp.processes._kernels_stirling import log_stirling

FEW = 64
"""Number of customers up to which pairs are counted in an array."""

MOST_ROWS = 1000
"""Number of rows of the recursion, in which S^n_t (t - 1)! / (n - 1)! is from 1e-11 to 1e200."""


@njit
def count_pairs(visited, customers, tables, few, many):
    """Count the pairs of cells with more customers than tables; return the rows used in `many`.

    `few[c, t]` grows by the number of cells with c <= FEW customers at t tables; the pairs of the
    other cells are written to `many`, (at least their number, 2), one by one.
    """
    n_many = 0
    for i in range(visited.shape[0]):
        c, t = customers[visited[i]], tables[visited[i]]
        if c <= t:
            continue
        if c <= FEW:
            few[c, t] += 1
        else:
            many[n_many, 0] = c
            many[n_many, 1] = t
            n_many += 1
    return n_many


@njit
def count_values(numbers, few, many):
    """Count numbers i >= 2 in ``few[i]``; write larger numbers to `many`, return their count."""
    n_many = 0
    for i in range(numbers.shape[0]):
        n = numbers[i]
        if n < few.shape[0]:
            few[n] += n > 1
        else:
            many[n_many] = n
            n_many += 1
    return n_many


@njit_forceinline
def _add_customer(n, above, row, falls):
    """Write the row for n + 1 customers, given the row for n in `above`; `falls` holds a t."""
    # S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t, times (t - 1)! / n!
    share = 1.0 / n
    for t in range(min(n, row.shape[0] - 2) + 1):
        opened = t * above[t]
        row[t + 1] = share * (opened + (n - falls[t + 1]) * above[t + 1])


@njit_loop
def sum_log_seatings(a, n, t, counts, values, row_ptr, work):
    """Return sum counts log S^n_t, up to terms that do not depend on the discount."""
    above, row, falls = work[0], work[1], work[2]
    for i in range(row.shape[0]):
        above[i] = row[i] = 0.0
        falls[i] = a * i
    row[1] = 1.0
    customers = 1
    total = 0.0
    for i in range(n.shape[0]):
        if n[i] <= MOST_ROWS:  # a pass over all rows, at a fraction of a nanosecond per entry
            while customers < n[i]:
                above, row = row, above
                _add_customer(customers, above, row, falls)
                customers += 1
            total += counts[i] * math.log(row[t[i]])
        else:  # formulas and integrals
            total += counts[i] * log_stirling(values, row_ptr, n[i], t[i], a)
    return total
