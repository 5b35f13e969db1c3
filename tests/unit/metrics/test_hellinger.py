"""Hellinger distances and the alignment of topics, against sums and permutations."""

import math
from itertools import permutations

import numpy as np
import pytest

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


def test_distance_against_sums():
    p, q = draw(4, 6, 0), draw(3, 6, 1)
    expected = [[distance(a, b) for b in q.tolist()] for a in p.tolist()]
    found = hellinger_distance(p, q)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    coefficients = [[math.fsum(map(math.sqrt, a * b)) for b in q] for a in p]
    np.testing.assert_allclose(1 - found**2, coefficients, rtol=1e-12)
    np.testing.assert_allclose(hellinger_distance(7 * p, q.astype(np.float32)), found, rtol=1e-6)
    np.testing.assert_array_equal(hellinger_distance(p), hellinger_distance(p, p))
    np.testing.assert_array_equal(hellinger_distance([[1, 3]], [[2, 6]]), [[0.0]])


def test_identical_and_disjoint():
    p = draw(5, 1000, 2)
    assert np.all(np.diag(hellinger_distance(p)) == 0.0)
    disjoint = hellinger_distance(np.hstack([p, 0 * p]), np.hstack([0 * p, p]))
    np.testing.assert_allclose(disjoint, 1.0, rtol=1e-14)
    assert disjoint.max() <= 1.0


def test_to_previous_and_to_document():
    mu, nu = draw(4, 5, 3), draw(6, 5, 4)
    ptr = [0, 3, 3, 4, 6]  # the second document is empty, the third a single segment
    owner = [0, 0, 0, 2, 3, 3]
    expected = [math.nan, distance(nu[0], nu[1]), distance(nu[1], nu[2])]
    expected += [math.nan, math.nan, distance(nu[4], nu[5])]
    np.testing.assert_allclose(hellinger_to_previous(nu, ptr), expected, rtol=1e-13)
    expected = [distance(mu[d], row) for d, row in zip(owner, nu, strict=True)]
    np.testing.assert_allclose(hellinger_to_document(mu, nu, ptr), expected, rtol=1e-13)
    corpus = SegmentedCorpus.from_documents([[[0], [1], []], [], [[1]], [[2], [0]]])
    np.testing.assert_array_equal(hellinger_to_previous(nu, corpus), hellinger_to_previous(nu, ptr))
    np.testing.assert_array_equal(
        hellinger_to_document(mu, nu, corpus), hellinger_to_document(mu, nu, ptr)
    )
    same = hellinger_to_document(mu, mu[owner], ptr)
    assert np.all(same == 0.0)


def test_without_segments():
    none = np.empty((0, 3))
    assert hellinger_to_previous(none, [0, 0]).shape == (0,)
    assert hellinger_to_document([[1, 1, 1]], none, [0, 0]).shape == (0,)
    assert np.isnan(segment_entropy(none, [0, 0])).tolist() == [True]


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
    np.testing.assert_allclose(distances, expected, rtol=1e-13)


def test_alignment_undoes_a_permutation():
    topics = draw(8, 30, 0)
    shuffle = np.random.default_rng(0).permutation(8)
    order, distances = align_topics(topics, topics[shuffle])
    np.testing.assert_array_equal(topics[shuffle][order], topics)
    assert np.all(distances == 0.0)
    order, distances = align_topics([[1, 2]], [[2, 4]])
    assert (order.tolist(), distances.tolist()) == ([0], [0.0])


GOOD = np.full((2, 3), 1 / 3)
CALLS = {
    "p": lambda bad: hellinger_distance(bad, GOOD),
    "q": lambda bad: hellinger_distance(GOOD, bad),
    "reference": lambda bad: align_topics(bad, GOOD),
    "other": lambda bad: align_topics(GOOD, bad),
    "segment_topic": lambda bad: hellinger_to_previous(bad, [0, 2]),
    "doc_topic": lambda bad: hellinger_to_document(bad, GOOD, [0, 1, 2]),
}
ROWS = [*CALLS.items()]
ROWS += [
    ("segment_topic", lambda bad: hellinger_to_document(GOOD, bad, [0, 1, 2])),
    ("segment_topic", lambda bad: segment_entropy(bad, [0, 2])),
    ("doc_topic", lambda bad: segment_deviation(bad, GOOD, [0, 1, 2])),
    ("segment_topic", lambda bad: segment_deviation(GOOD, bad, [0, 1, 2])),
]


@pytest.mark.parametrize(("name", "call"), ROWS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[0, 0, 0], [1, 0, 0]], "must have a positive entry in every row, row 0 is zero"),
        ([[1, 1, 1], [1, -1, 1]], "must hold finite numbers >= 0"),
        ([[1, 1, 1], [1, np.nan, 1]], "must hold finite numbers >= 0"),
        ([[1, 1, 1], [1, np.inf, 1]], "must hold finite numbers >= 0"),
        ([1, 1, 1], "must be a 2-D array"),
        ([["a", "b", "c"]] * 2, "must be a 2-D array"),
    ],
)
def test_wrong_distributions(name, call, bad, message):
    with pytest.raises(ValueError, match=f"^{name} {message}"):
        call(bad)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hellinger_distance(GOOD, GOOD[:, :2]), "q must have as many columns as p, 3"),
        (lambda: align_topics(GOOD, GOOD[:, :2]), "other must have as many columns as reference"),
        (lambda: align_topics(GOOD, GOOD[:1]), "other must have at least as many topics"),
        (lambda: hellinger_to_previous(GOOD, [0, 1]), "doc_ptr must rise from 0 to 2"),
        (lambda: hellinger_to_previous(GOOD, [0, 1.5, 2]), "doc_ptr must be a 1-D array of int"),
        (lambda: segment_entropy(GOOD, [1, 2]), "doc_ptr must rise from 0 to 2"),
        (lambda: segment_deviation(GOOD, GOOD, [0, 2]), "doc_topic must have a row for each of"),
        (lambda: segment_deviation(GOOD, GOOD[:, 1:], [0, 1, 2]), "segment_topic must have as m"),
        (
            lambda: hellinger_to_previous(GOOD, SegmentedCorpus.from_documents([[[0]]])),
            "doc_ptr must rise from 0 to 2, the number of rows of segment_topic",
        ),
    ],
)
def test_arguments_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
