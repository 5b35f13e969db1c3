"""The hash table, the sizes of tables and the journal, against dictionaries and lists."""

import numpy as np
from numba import njit

from skdp.processes import _kernels_franchise_dynamic as kernels

# Parts of kernels cannot be called from Python.
NAMES = "find_cell find_or_add_cell drop_cell record_change undo_changes take_seat leave_seat"
find, add, drop, change, undo, join, leave = (
    njit(getattr(kernels, name).py_func) for name in NAMES.split()
)


def sizes_of(f, cell):
    """Return the sizes of a cell's tables in the order of its list."""
    sizes, entry = [], f.cells[cell, kernels.FIRST]
    while entry >= 0:
        sizes += [int(f.entries[entry, kernels.SIZE])] * f.entries[entry, kernels.COUNT]
        entry = f.entries[entry, kernels.NEXT]
    return sizes


def test_cells_come_and_go():
    n = 3000
    f = kernels.empty_franchise(5, n, 10, 4, 4, 1)
    rng = np.random.default_rng(0)
    cells, masks = {}, set()
    for _ in range(20_000):
        node, outcome = int(rng.integers(10)), int(rng.integers(400))
        assert find(f, node, outcome) == cells.get((node, outcome), -1)
        if (node, outcome) in cells and rng.random() < 0.45:
            drop(f, outcome, cells.pop((node, outcome)))
        elif len(cells) < n:
            cell = add(f, node, outcome, -1)
            assert cells.setdefault((node, outcome), cell) == cell
            assert cell >= 5
        assert f.counters[kernels.N_SPARE] == n - len(cells)
        masks.add(int(f.counters[kernels.MASK]))
    assert len(masks) > 1
    assert len(set(cells.values())) == len(cells)
    for (node, outcome), cell in cells.items():
        assert find(f, node, outcome) == cell


def test_journal_takes_changes_back():
    f = kernels.empty_franchise(3, 0, 2, 50, 4000, 1)
    f.cells[:, 3] = [0, 0, 1]
    rng = np.random.default_rng(1)
    tables = [[], [], []]
    history = []
    for _ in range(2000):
        cell = int(rng.integers(3))
        history.append([sorted(t) for t in tables])
        own = tables[cell]
        if own and rng.random() < (0.7 if sum(own) > 30 else 0.45):
            i = int(rng.integers(len(own)))
            kind, size = (kernels.LEFT, own[i]) if own[i] > 1 else (kernels.CLOSED, 1)
            own[i] -= 1
            if not own[i]:
                own.pop(i)
        elif own and rng.random() < 0.7:
            i = int(rng.integers(len(own)))
            kind, size = kernels.JOINED, own[i]
            own[i] += 1
        else:
            kind, size = kernels.OPENED, 1
            own.append(1)
        change(f, kind, cell, size)
        check(f, tables)
    for n_left in (1500, 700, 699, 0):
        undo(f, n_left)
        assert f.counters[kernels.N_CHANGES] == n_left
        check(f, history[n_left])


def check(f, tables):
    for cell, own in enumerate(tables):
        assert sizes_of(f, cell) == sorted(own)
        assert f.cells[cell, kernels.CUSTOMERS] == sum(own)
        assert f.cells[cell, kernels.TABLES] == len(own)
    for node, cells in enumerate(([0, 1], [2])):
        assert f.nodes[node, 0] == sum(sum(tables[c]) for c in cells)
        assert f.nodes[node, 1] == sum(len(tables[c]) for c in cells)
    rows = np.zeros((50, 3), dtype=np.int32)
    levels = np.array([0, 4], dtype=np.int32)
    n = kernels.list_sizes(f, 0, 3, 0, 2, levels, rows)
    expected = sorted((4 * (c == 2), s) for c, own in enumerate(tables) for s in own)
    assert sorted((a, s) for a, s, count in rows[:n].tolist() for _ in range(count)) == expected


def test_tables_by_size():
    """Where a customer sits down, or who leaves, by the share of [0, 1) that leads there."""
    grid = (np.arange(1000) + 0.5) / 1000
    for discount in (0.0, 0.5):
        joined = []
        for u in grid:
            f = with_tables([1, 1, 3])
            join(f, 0, discount, u * (5 - 3 * discount))
            joined.append(tuple(sizes_of(f, 0)))
        share = joined.count((1, 2, 3)) / 1000
        assert abs(share - 2 * (1 - discount) / (5 - 3 * discount)) < 0.002
        assert joined.count((1, 1, 4)) == 1000 - joined.count((1, 2, 3))
    left = []
    for u in grid:
        f = with_tables([1, 1, 3])
        closes = leave(f, 0, u)
        left.append(tuple(sizes_of(f, 0)))
        assert closes == (left[-1] == (1, 3))
    assert left.count((1, 3)) == 400
    assert left.count((1, 1, 2)) == 600


def with_tables(sizes):
    f = kernels.empty_franchise(1, 0, 1, 20, 20, 1)
    f.cells[0, 3] = 0
    for size in sizes:
        change(f, kernels.OPENED, 0, 1)
        for s in range(1, size):
            change(f, kernels.JOINED, 0, s)
    return f
