"""Probabilities that interpolate restaurants of a franchise, from the broadest to the narrowest.

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

from skdp._numeric._numba import njit, njit_forceinline


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
