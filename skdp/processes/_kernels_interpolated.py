"""Predictive distributions of a franchise: interpolated restaurants, and customers left out.

In restaurant u a dish w has probability p(w | u) = mass_uw + backoff_u p(w | restaurant above u),
where mass is 0 for a dish that was not served in u; the base H is above the topmost restaurant. A
path leads from there down to the last existing restaurant, whose distribution also applies to the
missing restaurants below it.

| name | symbol | shape | meaning |
|---|---|---|---|
| mass | | (X,) | mass of each cell |
| backoff | | (U,) | backoff of each restaurant |
| base | H | (n_outcomes,) | |
| cell_ptr, outcome | | (U + 1,), (X,) | cells of a restaurant, and the dish of each cell |
| top | | (n_outcomes,) | distribution above depth `first`, the same for all paths |
| total | | (n, n_outcomes) | sums of the distributions at the ends of paths |
| contexts, cells | u, uw | (n, depths) int32 | paths by depth, with -1 for missing entries |
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_forceinline
from skdp.processes._kernels_franchise import drop_chance


@njit_forceinline
def find_place(value, values, first, last):
    """Return the index of a value in the sorted ``values[first:last]``, or -1 if it is missing."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    if first < end and values[first] == value:
        return first
    return -1


@njit
def find_cells(outcomes, contexts, cell_ptr, outcome, cells):
    """Write the cells of outcomes in their contexts."""
    for i in range(contexts.shape[0]):
        for m in range(contexts.shape[1]):
            u = contexts[i, m]
            x = -1
            if u >= 0:
                x = find_place(outcomes[i], outcome, cell_ptr[u], cell_ptr[u + 1])
            cells[i, m] = x


@njit
def add_probabilities(outcomes, contexts, cells, mass, backoff, base, total):
    """Add to `total` the probability of each event's outcome."""
    order = contexts.shape[1]
    for i in range(outcomes.shape[0]):
        p = base[outcomes[i]]
        for m in range(order):
            u = contexts[i, m]
            if u < 0:
                break
            p *= backoff[u]
            x = cells[i, m]
            if x >= 0:
                p += mass[x]
        total[i] += p


@njit
def add_distributions(contexts, first, cell_ptr, outcome, mass, backoff, top, row, total):
    """Add to the rows of `total` the distributions at the ends of paths."""
    n_outcomes = top.shape[0]
    for i in range(contexts.shape[0]):
        for w in range(n_outcomes):
            row[w] = top[w]
        for m in range(first, contexts.shape[1]):
            u = contexts[i, m]
            if u < 0:
                break
            for w in range(n_outcomes):
                row[w] *= backoff[u]
            for x in range(cell_ptr[u], cell_ptr[u + 1]):
                row[outcome[x]] += mass[x]
        for w in range(n_outcomes):
            total[i, w] += row[w]


# Predictive distributions of a franchise for an observed customer that is left out.
#
# Let s be the tables given all customers, and s' the tables after one observed customer of cell x
# in restaurant u has left. The cells above x lose a customer each, up to the first one whose table
# does not close; the numbers of tables determine the probabilities R(s') of the possible s'. Then
#
#     1 / p(x | the others) = E[sum_s' R(s') / p(x | s')]  and
#     p(w | the others) = E[sum_s' R(s') p(w | s') / p(x | s')] / E[sum_s' R(s') / p(x | s')]
#
# are exact, where E is the mean over the posterior of s, discounts and concentrations. Other
# symbols are as above.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | cells | x | (n, depths) int32 | cells of the customers left out, from the top |
# | first | | int | the first depth of s' that loses a customer; all below it lose a table, too |
# | reach | R | (depths + 1,) scratch | R(s') by `first` |
# | rows | p(. given s') | (depths + 1, n_outcomes) scratch | distributions above each depth of s |
# | row | | (n_outcomes,) scratch | |
# | inverse | | (n,) | sums of R(s') / p(x given s') |
# | total | | (n, n_outcomes) | sums of R(s') p(w given s') / p(x given s') |


class OutcomeCells(NamedTuple):
    """Customers, tables, restaurant and dish of every cell."""

    customers: np.ndarray
    tables: np.ndarray
    node: np.ndarray
    outcome: np.ndarray


@njit_forceinline
def _descend(u, x, m, first, cell_ptr, counts, nodes, laws, above, below):
    """Write the distribution of restaurant u of depth m, given the one above it."""
    d = laws.discount[m]
    theta = laws.concentration[u if laws.by_node else m]
    n_customers, n_tables = nodes.customers[u], nodes.tables[u]
    own_customers, own_tables = counts.customers[x], counts.tables[x]
    if m >= first:
        n_customers -= 1
        own_customers -= 1
    if m > first:
        n_tables -= 1
        own_tables -= 1
    total = theta + n_customers
    share = (theta + d * n_tables) / total
    for w in range(above.shape[0]):
        below[w] = share * above[w]
    if n_customers == 0:
        for w in range(above.shape[0]):
            below[w] = above[w]
        return
    for y in range(cell_ptr[u], cell_ptr[u + 1]):
        c, t = counts.customers[y], counts.tables[y]
        if y == x:
            c, t = own_customers, own_tables
        below[counts.outcome[y]] += (c - d * t) / total


@njit
def add_left_out(cells, cell_ptr, counts, nodes, laws, base, reach, rows, row, inverse, total):
    """Add the terms of the two expectations above for each customer to `inverse` and `total`."""
    last = cells.shape[1] - 1
    n_outcomes = base.shape[0]
    for i in range(cells.shape[0]):
        mine = counts.outcome[cells[i, last]]
        left = 1.0
        for m in range(last, -1, -1):
            x = cells[i, m]
            drops = drop_chance(laws, m, counts.customers[x], counts.tables[x])
            reach[m + 1] = left * (1.0 - drops)
            left *= drops
        reach[0] = left
        rows[0, :] = base
        for m in range(last):
            x = cells[i, m]
            _descend(
                counts.node[x], x, m, last + 1, cell_ptr, counts, nodes, laws, rows[m], rows[m + 1]
            )
        for first in range(-1, last + 1):
            chance = reach[first + 1]
            if chance <= 0.0:
                continue
            for w in range(n_outcomes):
                row[w] = rows[max(first, 0), w]
            for m in range(max(first, 0), last + 1):
                x = cells[i, m]
                _descend(counts.node[x], x, m, first, cell_ptr, counts, nodes, laws, row, row)
            weight = chance / row[mine]
            inverse[i] += weight
            for w in range(n_outcomes):
                total[i, w] += weight * row[w]
