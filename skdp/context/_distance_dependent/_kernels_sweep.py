"""A sweep over the links, with components as in `_kernels_components`.

Links to observations of the same group are proposed from their prior: with "shared" outcomes the
observations of an outcome are a group, else all observations are. A proposal takes time logarithmic
in the number of column subsets, not a pass over all observations, and the outcomes only enter its
acceptance probability. The link is cut once for all proposals of a visit.

A kernel that branches on the kind would compile all kinds, so `kernel_of` chooses in Python.

| name | symbol | shape | meaning |
|---|---|---|---|
| concentration | alpha | float | weight of a link to itself |
| outcome_prior | gamma | float | |
| log_gammas | log Gamma(gamma + k) | (n + 1,) | "dirichlet" |
| log_total_gammas | log Gamma(X gamma + k) | (n + 1,) | "dirichlet" |
| weights | omega_q | (Q,) | weights of the sets of columns |
| starts, sizes | N_rq | (R, Q) int32 | observations that agree with row r: start and number |
| members | | (Q, n) int32 | observations, sorted by the buckets of each set |
| row_of | | (n,) int64 | row of each observation |
| cumulative | | (U, T) | cumulative sums of similarities over the columns of a group |
| own | phi_uu | (U,) | similarity of a context to itself |
| column_of | | (n,) int64 | column of each observation |
| column_ptr, column_members | | (T + 1,), (n,) int64 | observations of each column |
| group_ptr | | (G + 1,) int64 | columns of each group |
| group_of | | (n,) int64 | |
| sums | | (Q,) | scratch |
"""

# mypy: ignore-errors

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, next_open_double
from skdp.context._distance_dependent._kernels_components import cut_link, set_link


class Buckets(NamedTuple):
    """Observations in buckets by the sets of columns in which contexts can agree."""

    weights: NDArray[np.float64]
    starts: NDArray[np.int32]
    sizes: NDArray[np.int32]
    members: NDArray[np.int32]
    row_of: NDArray[np.int64]
    sums: NDArray[np.float64]


class SimilarityTable(NamedTuple):
    """Cumulative similarities of all pairs, along the rows."""

    cumulative: NDArray[np.float64]
    own: NDArray[np.float64]
    row_of: NDArray[np.int64]
    column_of: NDArray[np.int64]
    column_ptr: NDArray[np.int64]
    column_members: NDArray[np.int64]
    group_ptr: NDArray[np.int64]
    group_of: NDArray[np.int64]


@njit_internal_nogc
def find_above(value, sums, first, last):
    """Return the first index in [first, last] whose sum exceeds a value; the last if none does."""
    while first < last:
        middle = (first + last) // 2
        if sums[middle] > value:
            last = middle
        else:
            first = middle + 1
    return first


@njit_internal_nogc
def draw_other(i, members, start, size, rng):
    """Return a random member other than i of a bucket of `size` members that contains i."""
    j = members[start + min(int(next_double(rng) * (size - 1)), size - 2)]
    return members[start + size - 1] if j == i else j


@njit_internal_nogc
def weigh_buckets(i, source):
    """Return the sum of similarities of i to its group's others, and write cumulative `sums`."""
    total, row = 0.0, source.row_of[i]
    for q in range(source.weights.shape[0]):
        total += source.weights[q] * (source.sizes[row, q] - 1)
        source.sums[q] = total
    return total


@njit_internal_nogc
def draw_from_buckets(i, total, source, rng):
    """Draw an observation of i's group by similarity, after `weigh_buckets`."""
    row = source.row_of[i]
    q = find_above(next_double(rng) * total, source.sums, 0, source.sums.shape[0] - 1)
    while q > 0 and source.sums[q] == source.sums[q - 1]:  # rounding overshot the end
        q -= 1
    return draw_other(i, source.members[q], source.starts[row, q], source.sizes[row, q], rng)


@njit_internal_nogc
def weigh_columns(i, source):
    """Return the sum of similarities of i to all others of its group."""
    row, end = source.row_of[i], source.group_ptr[source.group_of[i] + 1]
    return max(source.cumulative[row, end - 1] - source.own[row], 0.0)


@njit_internal_nogc
def draw_from_columns(i, total, source, rng):
    """Draw an observation of i's group by similarity; i itself only through rounding."""
    row, mine, group = source.row_of[i], source.column_of[i], source.group_of[i]
    sums, first = source.cumulative[row], source.group_ptr[group]
    value = next_double(rng) * total
    # The similarity of i to itself is at the end of its column, and is skipped.
    start, size = source.column_ptr[mine], source.column_ptr[mine + 1] - source.column_ptr[mine]
    below = sums[mine - 1] if mine > first else 0.0
    if value >= below + (size - 1) * source.own[row]:
        value += source.own[row]
    column = find_above(value, sums, first, source.group_ptr[group + 1] - 1)
    while column > first and sums[column] == sums[column - 1]:
        column -= 1
    if column == mine:
        if size == 1:
            return i
        return draw_other(i, source.column_members, start, size, rng)
    start = source.column_ptr[column]
    size = source.column_ptr[column + 1] - start
    return source.column_members[start + min(int(next_double(rng) * size), size - 1)]


@njit_internal_nogc
def weigh_union(i, j, log_gammas, log_total_gammas, c):
    """Return log f(A u B) - log f(A) - log f(B) of the components of i and j; 0 if they are one."""
    a, b = c.labels[i], c.labels[j]
    if a == b:
        return 0.0
    n_a, n_b = c.sizes[a], c.sizes[b]
    # f(A) = Gamma(X gamma) / Gamma(X gamma + n_A) prod_x Gamma(gamma + n_Ax) / Gamma(gamma)
    result = log_total_gammas[n_a] + log_total_gammas[n_b]
    result -= log_total_gammas[n_a + n_b] + log_total_gammas[0]
    for x in range(c.counts.shape[1]):
        k, m = c.counts[a, x], c.counts[b, x]
        if k > 0 and m > 0:  # else the terms cancel
            result += log_gammas[k + m] + log_gammas[0] - log_gammas[k] - log_gammas[m]
    return result


@njit_internal_nogc
def weigh_common_outcome(i, j, outcome_prior, c):
    """Return the log ratio of p(outcomes) for joining the components of i and j, of one outcome."""
    if c.labels[i] == c.labels[j]:
        return 0.0
    n_components, m_x = c.numbers[0], c.n_of_outcome[c.outcomes[i]]
    # (X gamma + M - 1) / (gamma + m_x - 1), not (2.23)
    total = c.n_of_outcome.shape[0] * outcome_prior + n_components - 1.0
    return math.log(total / (outcome_prior + m_x - 1.0))


@cache
def kernel_of(is_shared: bool, is_table: bool) -> Callable:
    """Return the kernel of a sweep for a model of outcomes and a kind of similarities."""

    @njit_loop
    def sweep(
        n_proposals, concentration, outcome_prior, log_gammas, log_total_gammas, source, c, rng
    ):
        """Draw the link of every observation, given all others, by `n_proposals` proposals."""
        for i in range(c.links.shape[0]):
            chosen = c.links[i]
            if chosen != i:
                cut_link(i, c)
            if is_shared:
                weight = weigh_common_outcome(i, chosen, outcome_prior, c)
            else:
                weight = weigh_union(i, chosen, log_gammas, log_total_gammas, c)
            if is_table:
                total = weigh_columns(i, source)
            else:
                total = weigh_buckets(i, source)
            for _ in range(n_proposals):
                j = i
                if next_double(rng) * (concentration + total) >= concentration:
                    if is_table:
                        j = draw_from_columns(i, total, source, rng)
                    else:
                        j = draw_from_buckets(i, total, source, rng)
                if is_shared:
                    other = weigh_common_outcome(i, j, outcome_prior, c)
                else:
                    other = weigh_union(i, j, log_gammas, log_total_gammas, c)
                if other >= weight or math.log(next_open_double(rng)) < other - weight:
                    chosen, weight = j, other
            if chosen != i:
                set_link(i, chosen, c)

    return sweep
