"""Random halves of groups: how many items, which of them, and what decides it."""

from itertools import combinations

import numpy as np
from scipy.stats import chisquare

from skdp._numeric._random import find_second_halves


def test_sizes():
    ptr = np.cumsum([0, 0, 1, 2, 3, 0, 40, 41, 0])
    halves = find_second_halves(ptr, np.arange(ptr[-1]))
    found = [int(half.sum()) for half in np.split(halves, ptr[1:-1])]
    assert found == [0, 0, 1, 1, 0, 20, 20, 0]


def test_no_groups():
    assert find_second_halves(np.array([0]), np.zeros(0, dtype=np.int32)).shape == (0,)


def test_all_halves_are_equally_probable():
    """Of 5,000 groups of five items. The test is seeded: it fails always or never. Right halves
    would fail it with a probability of one in a million."""
    contents = np.arange(25_000, dtype=np.int32)
    halves = find_second_halves(np.arange(0, 25_001, 5), contents).reshape(-1, 5)
    pairs = [tuple(np.flatnonzero(half)) for half in halves]
    counts = [pairs.count(pair) for pair in combinations(range(5), 2)]
    assert sum(counts) == 5_000
    assert chisquare(counts).pvalue > 1e-6


def test_content_alone_decides():
    """Neither the place of a group, nor the groups next to it, nor the type of integers."""
    rng = np.random.default_rng(0)
    items = rng.integers(0, 99, (30, 2))
    alone = find_second_halves(np.array([0, 30]), items)
    both = find_second_halves(np.array([0, 7, 37]), np.concatenate([items[-7:], items]))
    np.testing.assert_array_equal(both[7:], alone)
    wide = find_second_halves(np.array([0, 30]), items.astype(np.uint64))
    np.testing.assert_array_equal(wide, alone)
    others = [find_second_halves(np.array([0, 30]), items + i) for i in range(1, 9)]
    assert len({tuple(half) for half in others} | {tuple(alone)}) == 9
