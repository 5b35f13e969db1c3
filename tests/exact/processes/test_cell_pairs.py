"""Evidence of customers and tables of cells about the discount, against Stirling numbers."""

import numpy as np
import pytest
from exact.language.franchise import stirling

from skdp.processes._franchise import CellPairs
from skdp.processes._kernels_table_counts import FEW, MOST_ROWS


def pairs_of(cells):
    """Return the pairs of cells (customers, tables), each second cell visited."""
    both = np.zeros((2 * len(cells), 2), np.int32)
    both[::2] = [9, 1]
    both[1::2] = cells
    visited = np.arange(1, len(both), 2, dtype=np.int32)
    return CellPairs.of(visited, np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1]))


def test_pairs():
    cells = [(3, 2), (FEW, 5), (0, 0), (FEW + 1, 5), (3, 2), (4, 4), (2000, 1), (FEW + 1, 5)]
    pairs = pairs_of(cells)
    found = [tuple(map(int, each)) for each in zip(*pairs, strict=True)]
    assert found == [(3, 2, 2), (FEW, 5, 1), (FEW + 1, 5, 2), (2000, 1, 1)]


@pytest.mark.parametrize("discount", [0.0, 0.2, 0.93])
def test_every_small_pair(discount):
    """All at once and one at a time, up to a constant for each pair."""
    n_max = 25
    numbers, others = stirling(n_max, discount), stirling(n_max, 0.5)
    cells = [(n, t) for n in range(2, n_max + 1) for t in range(1, n)]
    for some in [cells, cells[::7] * 3, *([cell] for cell in cells[::5])]:
        pairs = pairs_of(some)
        found = pairs.log_seatings(discount) - pairs.log_seatings(0.5)
        expected = sum(np.log(numbers[n][t] / others[n][t]) for n, t in some)
        assert found == pytest.approx(expected, rel=1e-11)


def log_numbers(n_max, discount):
    """Return log S^n_t by the recursion in logarithms, for n = n_max and t = 0, ..., n_max."""
    logs = np.full(n_max + 1, -np.inf)
    logs[0] = 0.0
    t = np.arange(1, n_max + 1)
    for n in range(n_max):
        with np.errstate(divide="ignore"):
            joins = np.log(np.maximum(n - discount * t, 0.0))
        logs[1:] = np.logaddexp(logs[:-1], joins + logs[1:])
        logs[0] = -np.inf
    return logs


@pytest.mark.parametrize("n", [MOST_ROWS, 2 * MOST_ROWS])
def test_many_customers(n):
    """By the recursion and beyond it; with other pairs before and after."""
    discounts = 1e-8, 0.6, 0.99
    logs = [log_numbers(n, d) for d in discounts]
    alone = pairs_of([(70, 60), (4 * n, 1)])
    for t in (1, 2, n // 3, n - 2, n - 1):
        pairs = pairs_of([(70, 60), (n, t), (4 * n, 1)])
        found = [pairs.log_seatings(d) - alone.log_seatings(d) for d in discounts]
        expected = [each[t] for each in logs]
        np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9, atol=1e-8)
