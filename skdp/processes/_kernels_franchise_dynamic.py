"""The dynamic layout of a franchise: a tree of restaurants whose cells are added and dropped.

A cell is a pair (node, outcome); its tables are customers of the cell of the same outcome in the
parent node. Nodes and some cells have fixed places. The other cells are found by hashing, and every
change can be undone. The tables of a cell are stored as a histogram of their sizes, a list in
ascending order: a cell of c customers has at most sqrt(2 c) sizes.

| name | symbol | shape | meaning |
|---|---|---|---|
| cells | c, t | (C, 4) | customers, tables, first entry of the sizes (-1 none), node (-1: spare) |
| parents | | (C,) | cell of the same outcome in the parent node, -1 at a root |
| nodes | c_u, t_u | (M, 2) | customers, tables |
| entries | | (E, 3) | size, number of tables of that size, next entry (-1 none) |
| keys | | (H,) | node * 2**32 + outcome of a hashed cell, -1 empty; H a power of two |
| places | | (H,) | the cell of each key |
| spare | | (C',) | stack of the free cells |
| journal | | (J, 3) | kind, cell, size of table: changes that may be undone |
| counters | | (5,) | see below |
| prior | d, theta | (levels, 2) | discount and concentration of each level of the tree |
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop, njit_outlined

CUSTOMERS, TABLES, FIRST, NODE = 0, 1, 2, 3
SIZE, COUNT, NEXT = 0, 1, 2
N_SPARE, SPARE_ENTRY, N_CHANGES, MASK, N_HASHED = 0, 1, 2, 3, 4
JOINED, OPENED, LEFT, CLOSED = map(np.int64, range(4))  # not literals: one kernel for all

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class DynamicFranchise(NamedTuple):
    """All restaurants: see the table above."""

    cells: NDArray[np.int32]
    parents: NDArray[np.int32]
    nodes: NDArray[np.int32]
    entries: NDArray[np.int32]
    keys: NDArray[np.int64]
    places: NDArray[np.int32]
    spare: NDArray[np.int32]
    journal: NDArray[np.int32]
    counters: NDArray[np.int64]
    prior: NDArray[np.float64]


def empty_franchise(
    n_fixed: int, n_hashed: int, n_nodes: int, n_entries: int, n_changes: int, n_levels: int
) -> DynamicFranchise:
    """Return restaurants without customers; cells with fixed places come first."""
    n_cells = n_fixed + n_hashed
    n_keys = 64
    while n_keys < 2 * n_hashed:
        n_keys *= 2
    cells = np.zeros((n_cells, 4), dtype=np.int32)
    cells[:, FIRST:] = -1
    entries = np.zeros((n_entries, 3), dtype=np.int32)
    entries[:, NEXT] = np.arange(1, n_entries + 1)
    entries[-1, NEXT] = -1
    counters = np.zeros(5, dtype=np.int64)
    counters[N_SPARE], counters[MASK] = n_hashed, min(n_keys, 1024) - 1
    prior = np.empty((n_levels, 2))
    prior[:, 0], prior[:, 1] = 0.5, 1.0
    return DynamicFranchise(
        cells,
        np.full(n_cells, -1, dtype=np.int32),
        np.zeros((n_nodes, 2), dtype=np.int32),
        entries,
        np.full(n_keys, -1, dtype=np.int64),
        np.zeros(n_keys, dtype=np.int32),
        np.arange(n_cells - 1, n_fixed - 1, -1, dtype=np.int32),
        np.zeros((n_changes, 3), dtype=np.int32),
        counters,
        prior,
    )


# The hash table uses linear probing; after the removal of a key the following keys move up.


@njit_inlined
def _home_of_key(key, mask):
    """Return the slot where the search for a key begins."""
    mixed = np.uint64(key) * _GOLDEN
    return np.int64(mixed >> _HALF) & mask


@njit_inlined
def find_cell(f, node, outcome):
    """Return the hashed cell of an outcome in a node, -1 if there is none."""
    key = (np.int64(node) << 32) | np.int64(outcome)
    mask = f.counters[MASK]
    i = _home_of_key(key, mask)
    while True:
        found = f.keys[i]
        if found == key:
            return np.int64(f.places[i])
        if found == -1:
            return np.int64(-1)
        i = (i + 1) & mask


@njit_inlined
def _put_key(f, key, cell):
    mask = f.counters[MASK]
    i = _home_of_key(key, mask)
    while f.keys[i] != -1:
        i = (i + 1) & mask
    f.keys[i] = key
    f.places[i] = cell


def _widen(f):
    """Double the part of the hash table that is used, because a compact table stays in cache."""
    n_old = f.counters[MASK] + 1
    keys, places = f.keys[:n_old].copy(), f.places[:n_old].copy()
    f.counters[MASK] = 2 * n_old - 1
    f.keys[: 2 * n_old] = -1
    for i in range(n_old):
        if keys[i] != -1:
            _put_key(f, keys[i], np.int64(places[i]))


_widen = njit_outlined(_widen, makes_arrays=True)


@njit_inlined
def find_or_add_cell(f, node, outcome, parent):
    """Return the hashed cell of an outcome in a node, which is added with `parent` if missing."""
    cell = find_cell(f, node, outcome)
    if cell < 0:
        if 2 * (f.counters[N_HASHED] + 1) > f.counters[MASK] + 1:
            _widen(f)
        f.counters[N_SPARE] -= 1
        f.counters[N_HASHED] += 1
        cell = np.int64(f.spare[f.counters[N_SPARE]])
        f.cells[cell, NODE] = node
        f.parents[cell] = parent
        _put_key(f, (np.int64(node) << 32) | np.int64(outcome), cell)
    return cell


@njit_internal_nogc
def drop_cell(f, outcome, cell):
    """Free a hashed cell without customers."""
    mask = f.counters[MASK]
    key = (np.int64(f.cells[cell, NODE]) << 32) | np.int64(outcome)
    i = _home_of_key(key, mask)
    while f.keys[i] != key:
        i = (i + 1) & mask
    j = i
    while True:
        j = (j + 1) & mask
        moving = f.keys[j]
        if moving == -1:
            break
        home = _home_of_key(moving, mask)
        if ((j - home) & mask) >= ((j - i) & mask):  # its search passes i
            f.keys[i] = moving
            f.places[i] = f.places[j]
            i = j
    f.keys[i] = -1
    f.cells[cell, NODE] = -1
    f.spare[f.counters[N_SPARE]] = cell
    f.counters[N_SPARE] += 1
    f.counters[N_HASHED] -= 1


# Sizes of tables


@njit_inlined
def _new_entry(f, size, count, following):
    entry = f.counters[SPARE_ENTRY]
    f.counters[SPARE_ENTRY] = f.entries[entry, NEXT]
    f.entries[entry, SIZE] = size
    f.entries[entry, COUNT] = count
    f.entries[entry, NEXT] = following
    return entry


@njit_inlined
def _free_entry(f, entry):
    f.entries[entry, NEXT] = f.counters[SPARE_ENTRY]
    f.counters[SPARE_ENTRY] = entry


@njit_inlined
def _link(f, cell, previous, entry):
    """Link `entry` after `previous`, or as the first entry of the cell if that is -1."""
    if previous < 0:
        f.cells[cell, FIRST] = entry
    else:
        f.entries[previous, NEXT] = entry


@njit_internal_nogc
def resize_table(f, cell, size, step):
    """Make one table of a cell larger (step 1) or smaller (step -1) by one customer."""
    previous = np.int64(-1)
    entry = np.int64(f.cells[cell, FIRST])
    while f.entries[entry, SIZE] != size:
        previous = entry
        entry = np.int64(f.entries[entry, NEXT])
    following = np.int64(f.entries[entry, NEXT])
    near = following if step > 0 else previous
    has_near = near >= 0 and f.entries[near, SIZE] == size + step
    if has_near:
        f.entries[near, COUNT] += 1
        f.entries[entry, COUNT] -= 1
        if f.entries[entry, COUNT] == 0:
            _link(f, cell, previous, following)
            _free_entry(f, entry)
    elif f.entries[entry, COUNT] == 1:
        f.entries[entry, SIZE] = size + step
    else:
        f.entries[entry, COUNT] -= 1
        if step > 0:
            f.entries[entry, NEXT] = _new_entry(f, size + 1, 1, following)
        else:
            _link(f, cell, previous, _new_entry(f, size - 1, 1, entry))


@njit_inlined
def _add_single(f, cell):
    first = np.int64(f.cells[cell, FIRST])
    if first >= 0 and f.entries[first, SIZE] == 1:
        f.entries[first, COUNT] += 1
    else:
        f.cells[cell, FIRST] = _new_entry(f, 1, 1, first)


@njit_inlined
def _drop_single(f, cell):
    first = np.int64(f.cells[cell, FIRST])
    f.entries[first, COUNT] -= 1
    if f.entries[first, COUNT] == 0:
        f.cells[cell, FIRST] = f.entries[first, NEXT]
        _free_entry(f, first)


@njit_internal_nogc
def drop_table(f, cell, size):
    """Remove a table of `size` with its customers from a cell; the node keeps its sums."""
    previous = np.int64(-1)
    entry = np.int64(f.cells[cell, FIRST])
    while f.entries[entry, SIZE] != size:
        previous = entry
        entry = np.int64(f.entries[entry, NEXT])
    f.cells[cell, CUSTOMERS] -= size
    f.cells[cell, TABLES] -= 1
    f.entries[entry, COUNT] -= 1
    if f.entries[entry, COUNT] == 0:
        _link(f, cell, previous, np.int64(f.entries[entry, NEXT]))
        _free_entry(f, entry)


@njit_internal_nogc
def add_table(f, cell, size):
    """Add a table of `size` with its customers to a cell; the node keeps its sums."""
    previous = np.int64(-1)
    entry = np.int64(f.cells[cell, FIRST])
    while entry >= 0 and f.entries[entry, SIZE] < size:
        previous = entry
        entry = np.int64(f.entries[entry, NEXT])
    f.cells[cell, CUSTOMERS] += size
    f.cells[cell, TABLES] += 1
    if entry >= 0 and f.entries[entry, SIZE] == size:
        f.entries[entry, COUNT] += 1
    else:
        _link(f, cell, previous, _new_entry(f, size, 1, entry))


# Changes


@njit_internal_nogc
def change_seats(f, kind, cell, size):
    """Make a customer join or leave a table of `size`, or open or close its own table."""
    step = 1 if kind in (JOINED, OPENED) else -1
    node = f.cells[cell, NODE]
    f.cells[cell, CUSTOMERS] += step
    f.nodes[node, 0] += step
    if kind == OPENED:
        f.cells[cell, TABLES] += 1
        f.nodes[node, 1] += 1
        _add_single(f, cell)
    elif kind == CLOSED:
        f.cells[cell, TABLES] -= 1
        f.nodes[node, 1] -= 1
        _drop_single(f, cell)
    else:
        resize_table(f, cell, size, step)


@njit_inlined
def record_change(f, kind, cell, size):
    """Make a change and record it in the journal."""
    change_seats(f, kind, cell, size)
    n = f.counters[N_CHANGES]
    f.journal[n, 0] = kind
    f.journal[n, 1] = cell
    f.journal[n, 2] = size
    f.counters[N_CHANGES] = n + 1


@njit_internal_nogc
def undo_changes(f, n_left):
    """Undo the changes in the journal, beginning with the last, until `n_left` are left."""
    for i in range(f.counters[N_CHANGES] - 1, n_left - 1, -1):
        kind, cell, size = f.journal[i, 0], np.int64(f.journal[i, 1]), f.journal[i, 2]
        if kind == JOINED:
            change_seats(f, LEFT, cell, np.int32(size + 1))
        elif kind == LEFT:
            change_seats(f, JOINED, cell, np.int32(size - 1))
        elif kind == OPENED:
            change_seats(f, CLOSED, cell, size)
        else:
            change_seats(f, OPENED, cell, size)
    f.counters[N_CHANGES] = n_left


@njit_internal_nogc
def take_seat(f, cell, discount, left):
    """Seat a customer at one of the cell's tables; `left` is uniform on [0, c - d t)."""
    entry = np.int64(f.cells[cell, FIRST])
    while True:
        left -= f.entries[entry, COUNT] * (f.entries[entry, SIZE] - discount)
        if left < 0.0 or f.entries[entry, NEXT] < 0:
            break
        entry = np.int64(f.entries[entry, NEXT])
    record_change(f, JOINED, cell, f.entries[entry, SIZE])


@njit_internal_nogc
def leave_seat(f, cell, uniform):
    """Remove a uniformly chosen customer of a cell; return whether its table closes."""
    left = uniform * f.cells[cell, CUSTOMERS]
    entry = np.int64(f.cells[cell, FIRST])
    while True:
        left -= f.entries[entry, COUNT] * f.entries[entry, SIZE]
        if left < 0.0 or f.entries[entry, NEXT] < 0:
            break
        entry = np.int64(f.entries[entry, NEXT])
    size = f.entries[entry, SIZE]
    record_change(f, CLOSED if size == 1 else LEFT, cell, size)
    return size == 1


# Predictive probabilities


@njit_inlined
def split_share(f, cell, node, level):
    """Return a and b of a node's predictive probability a + b p, where p is the parent's."""
    discount, concentration = f.prior[level, 0], f.prior[level, 1]
    scale = 1.0 / (concentration + f.nodes[node, 0])
    own = 0.0
    if cell >= 0:  # else no customers
        own = (f.cells[cell, CUSTOMERS] - discount * f.cells[cell, TABLES]) * scale
    return own, (concentration + discount * f.nodes[node, 1]) * scale


# Histograms


@njit_loop
def list_sizes(f, first_cell, end_cell, first_node, end_node, levels, out):
    """Write (level, size, count) of cells' tables, or none if `out` is empty; return how many."""
    n = 0
    for cell in range(first_cell, end_cell):
        node = f.cells[cell, NODE]
        if node < first_node or node >= end_node:
            continue
        entry = np.int64(f.cells[cell, FIRST])
        while entry >= 0:
            if n < out.shape[0]:
                out[n, 0] = levels[node]
                out[n, 1] = f.entries[entry, SIZE]
                out[n, 2] = f.entries[entry, COUNT]
            n += 1
            entry = np.int64(f.entries[entry, NEXT])
    return n


# Restaurants that do not change


@njit_loop
def put_hashed_cells(f, nodes, outcomes, counts):
    """Add hashed cells with given customers and tables, without setting their parents."""
    for i in range(nodes.shape[0]):
        cell = find_or_add_cell(f, np.int64(nodes[i]), np.int64(outcomes[i]), np.int64(-1))
        f.cells[cell, CUSTOMERS] = counts[i, 0]
        f.cells[cell, TABLES] = counts[i, 1]
