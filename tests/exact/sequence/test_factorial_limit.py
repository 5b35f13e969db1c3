"""Large concentrations and similarities that are products over factors: the factorial chain."""

from itertools import product

import numpy as np
import pytest

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._fixed import FixedSimilarity

CHAINS = [
    np.array([[0.9, 0.1], [0.4, 0.6]]),
    np.array([[0.7, 0.3], [0.2, 0.8]]),
    np.array([[0.95, 0.05], [0.5, 0.5]]),
]


def factorial_chain():
    """Return P(b' | b) = prod_d A^d(b_d, b'_d), states in the order of binary numbers."""
    states = list(product(range(2), repeat=len(CHAINS)))
    return np.array(
        [
            [np.prod([A[i, j] for A, i, j in zip(CHAINS, b, c, strict=True)]) for c in states]
            for b in states
        ]
    )


@pytest.mark.parametrize("concentration", [1e4, 1e6, 1e8])
def test_matrix(concentration):
    """Rates have standard deviations of J^(1/2) / alpha^(1/2) of their mean, weights less."""
    expected = factorial_chain()
    assert not np.allclose(expected, expected.T)
    n_states = len(expected)
    similarity = FixedSimilarity(expected / expected.max()).make_sampler(n_states)
    log_similarity = np.empty((n_states, n_states))
    similarity.write(log_similarity, None)
    assert np.count_nonzero(np.diag(log_similarity) < 0.0) == n_states - 1
    priors = TransitionPriors(concentration, (1.0, 0.1), concentration, (1.0, 0.1), 0.0, (1.0, 1.0))
    rng = make_stream(make_seed_sequence(0))
    transitions = Transitions(n_states, priors, rng)
    transitions.take_similarity(similarity, None)
    # No transition but that to the first state of one sequence, of length 1.
    transitions.draw(np.array([0, 1]), np.array([0]), rng)
    startprob, transmat = transitions.matrix()
    rtol = 6.0 * np.sqrt(2.0 * n_states / concentration)
    np.testing.assert_allclose(transmat, expected, rtol=rtol)
    np.testing.assert_allclose(startprob, 1.0 / n_states, rtol=rtol)
