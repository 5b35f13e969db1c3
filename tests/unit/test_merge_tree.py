"""Trees of merges: cuts, coarse trees and linkages."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from skdp._merge_tree import MergeTree

TREE = MergeTree(
    np.array([[0, 3], [1, 2], [4, 6], [5, 7]]),
    np.array([0.1, -0.05, 0.2, 0.6]),
    np.array([3, 10, 9, 4, 1]),
)
"""Nodes: 5 is {0, 3} of size 7, 6 is {1, 2} of 19, 7 is {1, 2, 4}."""


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (5, [3, 0, 1, 2, 4]),
        (4, [2, 0, 1, 2, 3]),
        (3, [1, 0, 0, 1, 2]),
        (2, [1, 0, 0, 1, 0]),
        (np.int32(1), [0, 0, 0, 0, 0]),
    ],
)
def test_labels(n, expected):
    """Larger ones have lower numbers."""
    assert TREE.labels(n).tolist() == expected


def test_linkage():
    """A merge that gains is drawn at the height of the one before."""
    assert is_valid_linkage(TREE.linkage)
    np.testing.assert_allclose(TREE.linkage[:, 2], [0.1, 0.1, 0.25, 0.85])
    assert TREE.linkage[:, 3].tolist() == [2, 2, 3, 5]
    assert len(set(zip(fcluster(TREE.linkage, 2, "maxclust"), TREE.labels(2), strict=True))) == 2


@pytest.mark.parametrize("n", range(1, 6))
def test_coarse(n):
    coarse = TREE.coarse(n)
    first = TREE.labels(n)
    np.testing.assert_array_equal(coarse.sizes, np.bincount(first, weights=TREE.sizes))
    np.testing.assert_array_equal(coarse.losses, TREE.losses[5 - n :])
    assert is_valid_linkage(coarse.linkage) or n == 1
    for m in range(1, n + 1):
        np.testing.assert_array_equal(coarse.labels(m)[first], TREE.labels(m))


@pytest.mark.parametrize("n", [0, 6, 1.5, True, "two"])
def test_bad_numbers(n):
    for cut in (TREE.labels, TREE.coarse):
        with pytest.raises(ValueError, match="n must be"):
            cut(n)
