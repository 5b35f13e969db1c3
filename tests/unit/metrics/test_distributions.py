"""Distances of distributions, aligned topics, and how segments vary, against plain sums."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import SegmentedCorpus
from skdp.metrics import (
    align_topics,
    hellinger_distance,
    hellinger_to_document,
    hellinger_to_previous,
    segment_deviation,
    segment_entropy,
)


def distance(p, q):
    p, q = ([x / math.fsum(row) for x in row] for row in (p, q))
    return math.sqrt(
        math.fsum((math.sqrt(x) - math.sqrt(y)) ** 2 for x, y in zip(p, q, strict=True)) / 2
    )


def draw(n, width, seed, concentration=0.3):
    return np.random.default_rng(seed).dirichlet(np.full(width, concentration), size=n)


def test_distances():
    p, q = draw(4, 6, 0), draw(3, 6, 1)
    expected = [[distance(a, b) for b in q.tolist()] for a in p.tolist()]
    found = hellinger_distance(p, q)
    assert_allclose(found, expected, rtol=1e-13)
    assert_allclose(hellinger_distance(7 * p, q.astype(np.float32)), found, rtol=1e-6)
    assert_array_equal(hellinger_distance(p), hellinger_distance(p, p))
    assert_array_equal(hellinger_distance([[1, 3]], [[2, 6]]), [[0.0]])


def test_identical_and_disjoint():
    p = draw(5, 1000, 2)
    assert np.all(np.diag(hellinger_distance(p)) == 0.0)
    disjoint = hellinger_distance(np.hstack([p, 0 * p]), np.hstack([0 * p, p]))
    assert_allclose(disjoint, 1.0, rtol=1e-14)
    assert disjoint.max() <= 1.0


@pytest.mark.parametrize("n_other", [4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_alignment_against_all_permutations(n_other, seed):
    reference, other = draw(4, 5, seed), draw(n_other, 5, seed + 100)
    order, distances = align_topics(reference, other)
    cost = {
        choice: math.fsum(distance(reference[k], other[j]) ** 2 for k, j in enumerate(choice))
        for choice in permutations(range(n_other), 4)
    }
    assert tuple(order.tolist()) == min(cost, key=cost.get)
    expected = [distance(reference[k], other[j]) for k, j in enumerate(order)]
    assert_allclose(distances, expected, rtol=1e-13)


# Segments. The second document is empty, the third a single segment.

CORPUS = SegmentedCorpus.from_documents([[[0], [1], []], [], [[1]], [[2], [0]]])
PTR = [0, 3, 3, 4, 6]
OWNER = np.array([0, 0, 0, 2, 3, 3])
MU, NU = draw(4, 5, 3), draw(6, 5, 4)
NU[0, 2:] = 0.0  # topics without any share


@pytest.mark.parametrize("ptr", [PTR, CORPUS], ids=["numbers", "corpus"])
def test_segments(ptr):
    nan, shares = math.nan, NU / NU.sum(axis=1, keepdims=True)
    expected = [nan, distance(NU[0], NU[1]), distance(NU[1], NU[2]), nan, nan]
    expected += [distance(NU[4], NU[5])]
    assert_allclose(hellinger_to_previous(NU, ptr), expected, rtol=1e-13)
    expected = [distance(MU[d], row) for d, row in zip(OWNER, NU, strict=True)]
    assert_allclose(hellinger_to_document(MU, NU, ptr), expected, rtol=1e-13)
    assert np.all(hellinger_to_document(MU, MU[OWNER], ptr) == 0.0)
    entropies, deviations = [], []
    for d, (begin, end) in enumerate(pairwise(PTR)):
        n, rows = end - begin, shares[begin:end].tolist()
        total = -sum(x * math.log(x) for row in rows for x in row if x > 0)
        squares = sum(
            (x - m) ** 2 for row in rows for x, m in zip(row, MU[d].tolist(), strict=True)
        )
        entropies.append(total / n if n else nan)
        deviations.append(math.sqrt(squares / n) if n else nan)
    assert_allclose(segment_entropy(NU, ptr), entropies, rtol=1e-12)
    assert_allclose(segment_entropy(3 * NU, ptr), entropies, rtol=1e-12)
    assert_allclose(segment_deviation(MU, NU, ptr), deviations, rtol=1e-12)


def test_without_segments():
    none = np.empty((0, 3))
    assert hellinger_to_previous(none, [0, 0]).shape == (0,)
    assert hellinger_to_document([[1, 1, 1]], none, [0, 0]).shape == (0,)
    assert np.isnan(segment_entropy(none, [0, 0])).tolist() == [True]


def test_extremes():
    uniform, one = np.full((2, 6), 1 / 6), np.eye(2, 6)
    assert segment_entropy(one, [0, 2]).tolist() == [0.0]
    assert_allclose(segment_entropy(uniform, [0, 2]), math.log(6), rtol=1e-14)
    assert segment_deviation(uniform, uniform, [0, 1, 2]).tolist() == [0.0, 0.0]
    assert_allclose(segment_deviation(one[:1], one[1:], [0, 1]), math.sqrt(2))
