"""Entropy and deviation of segments' topics, against sums and the variance of the process."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import entropy

from skdp.data import SegmentedCorpus
from skdp.metrics import segment_deviation, segment_entropy

PTR = [0, 2, 2, 3, 7]


def make_shares(seed=0):
    rng = np.random.default_rng(seed)
    nu = rng.dirichlet(np.full(5, 0.3), size=7)
    nu[0, 2:] = 0.0  # topics without any share
    return rng.dirichlet(np.ones(5), size=4), nu


def test_against_sums():
    mu, nu = make_shares()
    entropies, deviations = [], []
    for d, (begin, end) in enumerate(pairwise(PTR)):
        if begin == end:
            entropies.append(math.nan)
            deviations.append(math.nan)
            continue
        total, squares = 0.0, 0.0
        for row in nu[begin:end].tolist():
            row = [x / sum(row) for x in row]
            total -= sum(x * math.log(x) for x in row if x > 0)
            squares += sum((x - m) ** 2 for x, m in zip(row, mu[d].tolist(), strict=True))
        entropies.append(total / (end - begin))
        deviations.append(math.sqrt(squares / (end - begin)))
    np.testing.assert_allclose(segment_entropy(nu, PTR), entropies, rtol=1e-12)
    np.testing.assert_allclose(segment_deviation(mu, nu, PTR), deviations, rtol=1e-12)
    np.testing.assert_allclose(segment_entropy(3 * nu, PTR), entropies, rtol=1e-12)
    corpus = SegmentedCorpus.from_documents([[[0], []], [], [[1]], [[0], [1], [0], [0]]])
    np.testing.assert_array_equal(segment_entropy(nu, corpus), segment_entropy(nu, PTR))
    np.testing.assert_array_equal(segment_deviation(mu, nu, corpus), segment_deviation(mu, nu, PTR))


def test_extremes():
    uniform, one = np.full((2, 6), 1 / 6), np.eye(2, 6)
    assert segment_entropy(one, [0, 2]).tolist() == [0.0]
    np.testing.assert_allclose(segment_entropy(uniform, [0, 2]), math.log(6), rtol=1e-14)
    assert segment_deviation(uniform, uniform, [0, 1, 2]).tolist() == [0.0, 0.0]
    np.testing.assert_allclose(segment_deviation(one[:1], one[1:], [0, 1]), math.sqrt(2))


@pytest.mark.parametrize("concentration", [0.5, 3.0, 40.0])
def test_the_process_has_the_variance_of_the_source(concentration):
    """(5.9) with discount 0, where the process is a Dirichlet distribution."""
    mu = np.array([[0.5, 0.3, 0.15, 0.05]])
    rng = np.random.default_rng(0)
    nu = rng.dirichlet(concentration * mu[0], size=20_000)
    expected = math.sqrt((1 - np.sum(mu**2)) / (1 + concentration))
    (found,) = segment_deviation(mu, nu, [0, len(nu)])
    assert abs(found / expected - 1) < 0.01


def test_segments_like_their_document_have_its_entropy():
    mu, _ = make_shares()
    owner = np.repeat(np.arange(4), np.diff(PTR))
    found = segment_entropy(mu[owner], PTR)
    np.testing.assert_allclose(found[[0, 2, 3]], entropy(mu, axis=1)[[0, 2, 3]], rtol=1e-12)
