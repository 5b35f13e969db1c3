"""Cuts and unions of the components of linked observations.

Every observation has one link, to another one or to itself. Components are the connected components
of the undirected graph. After a cut, searches from both ends take turns, one edge at a time, so
that the time is proportional to the size of the smaller side.

| name | symbol | shape | meaning |
|---|---|---|---|
| links | c_i | (n,) int64 | observation that each one links to; itself: none |
| labels | z(c)_i | (n,) int64 | component of each, below n |
| first | | (n,) int64 | the latest observation that links to each, -1: none |
| after, before | | (n,) int64 | next and previous observation with the same target; -1: none |
| sizes | | (n,) int64 | observations of each component |
| counts | n_kx | (n, X) int64 | observations of each outcome per component; (0, X): not counted |
| n_of_outcome | m_x | (X,) int64 | components whose first member has outcome x |
| free | | (n,) int64 | unused labels, of which the first n - M are valid |
| numbers | M | (2,) int64 | number of components, and of searches so far |
| marks | | (n,) int64 | scratch: latest search that visited, and its side |
| queues, walk | | (2, n), (2, 4) int64 | scratch: visited observations and positions of searches |
| outcomes | x_i | (n,) int64 | |
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc

HEAD, TAIL, CHILD, SOURCE = 0, 1, 2, 3
"""Entries of `walk`: place in the queue, its end, next child to visit, current observation."""

FORWARD, DONE = -2, -1
"""Values of CHILD: the link itself is next; all edges of this observation are done."""


class Components(NamedTuple):
    """Links and the components that they form."""

    links: NDArray[np.int64]
    labels: NDArray[np.int64]
    first: NDArray[np.int64]
    after: NDArray[np.int64]
    before: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_of_outcome: NDArray[np.int64]
    free: NDArray[np.int64]
    numbers: NDArray[np.int64]
    marks: NDArray[np.int64]
    queues: NDArray[np.int64]
    walk: NDArray[np.int64]
    outcomes: NDArray[np.int64]


@njit_internal_nogc
def begin_search(side, i, mark, c):
    """Start a search at observation i."""
    c.marks[i] = mark
    c.queues[side, 0] = i
    c.walk[side, HEAD] = 0
    c.walk[side, TAIL] = 1
    c.walk[side, CHILD] = DONE


@njit_internal_nogc
def next_edge(side, c):
    """Return the other end of the next edge of a search; -1 if there is none."""
    walk = c.walk
    while walk[side, CHILD] == DONE:
        if walk[side, HEAD] == walk[side, TAIL]:
            return -1
        walk[side, SOURCE] = c.queues[side, walk[side, HEAD]]
        walk[side, HEAD] += 1
        walk[side, CHILD] = FORWARD
    if walk[side, CHILD] == FORWARD:
        walk[side, CHILD] = c.first[walk[side, SOURCE]]
        return c.links[walk[side, SOURCE]]
    child = walk[side, CHILD]
    walk[side, CHILD] = c.after[child]
    return child


@njit_internal_nogc
def visit(side, i, mark, c):
    """Add observation i to the queue of a search unless it has been visited."""
    if c.marks[i] != mark:
        c.marks[i] = mark
        c.queues[side, c.walk[side, TAIL]] = i
        c.walk[side, TAIL] += 1


@njit_internal_nogc
def find_smaller_side(i, j, c):
    """Return which side of a cut edge is smaller, 0 (of i) or 1 (of j); -1: i and j are connected.

    The members of the smaller part are in ``queues[side]``.
    """
    c.numbers[1] += 1
    mark = 2 * c.numbers[1]
    begin_search(0, i, mark, c)
    begin_search(1, j, mark + 1, c)
    while True:
        for side in range(2):
            k = next_edge(side, c)
            if k < 0:
                return side
            if c.marks[k] == mark + 1 - side:
                return -1
            visit(side, k, mark + side, c)


@njit_internal_nogc
def collect(i, c):
    """Write all members of i's component to ``queues[0]`` and return their number."""
    c.numbers[1] += 1
    mark = 2 * c.numbers[1]
    begin_search(0, i, mark, c)
    k = next_edge(0, c)
    while k >= 0:
        visit(0, k, mark, c)
        k = next_edge(0, c)
    return c.walk[0, TAIL]


@njit_internal_nogc
def relabel(side, n, old, new, c):
    """Move the first n observations of a queue from one component to another."""
    for place in range(n):
        i = c.queues[side, place]
        c.labels[i] = new
        if c.counts.shape[0] > 0:
            c.counts[old, c.outcomes[i]] -= 1
            c.counts[new, c.outcomes[i]] += 1
    c.sizes[old] -= n
    c.sizes[new] += n


@njit_internal_nogc
def cut_link(i, c):
    """Link i to itself; if this splits its component, the smaller part gets a new label."""
    j = c.links[i]
    c.links[i] = i
    if c.before[i] >= 0:
        c.after[c.before[i]] = c.after[i]
    else:
        c.first[j] = c.after[i]
    if c.after[i] >= 0:
        c.before[c.after[i]] = c.before[i]
    side = find_smaller_side(i, j, c)
    if side >= 0:
        n_free = c.free.shape[0] - c.numbers[0]
        relabel(side, c.walk[side, TAIL], c.labels[i], c.free[n_free - 1], c)
        c.numbers[0] += 1
        c.n_of_outcome[c.outcomes[i]] += 1


@njit_internal_nogc
def set_link(i, j, c):
    """Link i, which links to itself, to j; the larger component keeps its label."""
    old, new = c.labels[i], c.labels[j]
    if old != new:
        start = i
        if c.sizes[old] > c.sizes[new]:
            old, new, start = new, old, j
        relabel(0, collect(start, c), old, new, c)
        c.free[c.free.shape[0] - c.numbers[0]] = old
        c.numbers[0] -= 1
        c.n_of_outcome[c.outcomes[i]] -= 1
    c.links[i] = j
    c.before[i] = -1
    c.after[i] = c.first[j]
    if c.first[j] >= 0:
        c.before[c.first[j]] = i
    c.first[j] = i
