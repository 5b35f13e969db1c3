"""SSA, sampling of seating arrangements (Teh, 2006; Du, 2012, algorithm 1).

Symbols as in `_kernels/_tables`. The state is the seating itself, stored as described below. The
words of a topic are exchangeable, so individual seats are not stored: a word that leaves comes from
a table of its topic in proportion to its size. A word enters by

    sitting at table l   size_l - a
    opening one          (b + a T) (alpha_k + c_k) / (A + c.)

and the weights of sitting at tables of one topic add up to n - a t.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_forceinline

# Individual tables of SSA: linked lists, one for each topic of each segment.
#
# Symbols as in `_kernels/_tables`. An entry of the pool holds a table: its customers (`sizes`), the
# parent from which it ordered its dish (`kinds`), and the next table of its segment and topic
# (`links`). Free entries are linked to each other from ``free[0]`` on; their number is ``free[1]``.
#
# In the worst case every table of a node has tables at all levels above it, so a pool that is
# always large enough would not be linear in memory: it grows before a segment is swept. No kernel
# may return a larger one to Python (see "What a kernel may return" in the developers' guide), so it
# stops if seats are lacking, returns the number of seats that it needs, and is called again with
# them (`add_seats`).


DOCUMENT, PREVIOUS = np.int64(1), np.int64(2)
"""Parent from which a table ordered its dish."""

LONG_WALK = 128
"""Number of passed tables in a list from which on the reached table moves to the head.

Large tables are reached often, so they gather at the head: otherwise a word of a topic with T
tables costs T / 2 steps. A draw has the same distribution in any order.
"""


@njit_forceinline
def move_ahead(j, k, before, seat, heads, links):
    """Move `seat`, which follows `before` in the list of topic `k` in segment `j`, to its head."""
    links[before] = links[seat]
    links[seat] = heads[j, k]
    heads[j, k] = seat


@njit_forceinline
def open_seat(j, k, kind, heads, links, sizes, kinds, free):
    """Put a table with one customer at the head of the list of topic `k` in segment `j`."""
    seat = free[0]
    free[0] = links[seat]
    free[1] -= 1
    sizes[seat] = 1
    kinds[seat] = kind
    links[seat] = heads[j, k]
    heads[j, k] = seat


@njit_forceinline
def take_seat(j, k, target, a, heads, links, sizes):
    """Seat a customer at the table where the running sum of (size - a) exceeds `target`."""
    before, seat, passed = -1, heads[j, k], 0
    target -= sizes[seat] - a
    while target >= 0.0 and links[seat] >= 0:  # stop at the last one if rounding leads beyond it
        before, seat, passed = seat, links[seat], passed + 1
        target -= sizes[seat] - a
    sizes[seat] += 1
    if passed >= LONG_WALK:
        move_ahead(j, k, before, seat, heads, links)


@njit_forceinline
def leave_seat(j, k, target, heads, links, sizes, kinds, free):
    """Remove a customer from the table at `target` in the sums; return its parent if lost, or 0."""
    before, seat = -1, heads[j, k]
    target -= sizes[seat]
    while target >= 0.0 and links[seat] >= 0:
        before, seat = seat, links[seat]
        target -= sizes[seat]
    sizes[seat] -= 1
    if sizes[seat] > 0:
        return 0
    if before < 0:
        heads[j, k] = links[seat]
    else:
        links[before] = links[seat]
    links[seat] = free[0]
    free[0] = seat
    free[1] += 1
    return kinds[seat]


@njit_forceinline
def seats_for(d, j, corpus, prior):
    """Return the seats that segment `j` of a chain, or otherwise all of document `d`, may take."""
    begin, end, n_levels = corpus.doc_ptr[d], corpus.doc_ptr[d + 1], 1
    if prior.to_previous > 0.0:  # every word may also open a table at every level above it
        begin, end, n_levels = j, j + 1, j + 1 - corpus.part_begin[j]
    return (corpus.segment_ptr[end] - corpus.segment_ptr[begin]) * n_levels
