"""Matching of labels."""

import numpy as np
import pytest

from skdp.inference._trace import align_labels


@pytest.mark.parametrize("seed", range(5))
def test_a_permutation_is_found_in_spite_of_noise(seed):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(30, 0.1), size=8)
    order = rng.permutation(8)
    noisy = topics[order] + 0.1 * rng.dirichlet(np.ones(30), size=8)
    assert np.array_equal(align_labels(topics, noisy), order)


def test_the_sum_counts_not_the_single_best():
    reference = np.array([[0.6, 0.4, 0.0], [0.5, 0.0, 0.5]])
    current = np.array([[0.7, 0.15, 0.15], [0.0, 1.0, 0.0]])
    assert align_labels(reference, current).tolist() == [1, 0]
