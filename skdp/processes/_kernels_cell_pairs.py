"""How probable customers and tables of cells are, as the discount varies.

Cells with as many customers and as many tables have the same factor S_d(c, t) in the joint of a
franchise (``_kernels_franchise.py``). So the discount depends on a histogram of pairs: how many
cells have c customers at t tables.

| name | symbol | shape | meaning |
|---|---|---|---|
| n, t, counts | c, t | (P,) each | distinct pairs, 1 <= t < n, by n; how many cells have them |
| a | d | scalar | discount, 0 <= a < 1 |
| row | s^n_t | (width + 1,) | S^n_t (t - 1)! / (n - 1)!, of the current number of customers |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit, njit_forceinline
from skdp.processes._kernels_stirling import log_stirling

FEW = 64
"""Customers up to which pairs are counted in an array."""

MOST_ROWS = 1000
"""Rows of the recursion: S^n_t (t - 1)! / (n - 1)! lies between 1e-11 and 1e200 there."""


@njit
def count_pairs(visited, customers, tables, few, many):
    """Count the pairs of cells with more customers than tables; return the rows of `many`.

    Parameters
    ----------
    visited : (n,) int32
        Cells.
    customers, tables : (X,) int32
        Of all cells.
    few : (FEW + 1, FEW) int64
        To ``few[c, t]`` the number of cells with c <= FEW customers at t tables is added.
    many : (at least the number of other cells, 2) int32
        Gets the pairs of the other cells, one by one.
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
    """Count numbers from 2 on, ``few[i]`` of them i; return how many larger ones `many` gets."""
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
    """Write the row of n + 1 customers, from that of n in `above`.

    S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t, times (t - 1)! / n!. `falls` has a t for every t.
    """
    share = 1.0 / n
    for t in range(min(n, row.shape[0] - 2) + 1):
        opened = t * above[t]
        row[t + 1] = share * (opened + (n - falls[t + 1]) * above[t + 1])


@njit
def sum_log_seatings(n, t, counts, a, values, row_ptr, work):
    """Return sum counts log S^n_t, up to what does not depend on the discount.

    Numbers of up to MOST_ROWS customers come from the recursion, a pass over all rows in which an
    entry takes a fraction of a nanosecond; the others from formulas and integrals.

    Parameters
    ----------
    n, t, counts : (P,) int64
    a : float
    values, row_ptr : (0, 2) float64 and (0,) int64
        A table without ratios.
    work : (3, at least the largest t of up to MOST_ROWS customers + 1) float64, scratch
    """
    above, row, falls = work[0], work[1], work[2]
    for i in range(row.shape[0]):
        above[i] = row[i] = 0.0
        falls[i] = a * i
    row[1] = 1.0
    customers = 1
    total = 0.0
    for i in range(n.shape[0]):
        if n[i] <= MOST_ROWS:
            while customers < n[i]:
                above, row = row, above
                _add_customer(customers, above, row, falls)
                customers += 1
            total += counts[i] * math.log(row[t[i]])
        else:
            total += counts[i] * log_stirling(values, row_ptr, n[i], t[i], a)
    return total
