"""Transitions whose similarity is 0, such as those from a state to itself in semi-Markov models.

Their posterior is in tests/exact."""

import math

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import GaussianSimilarity
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._kernels._locations import log_likelihood_of_distances

PTR, STATES = np.array([0, 4, 6]), np.array([0, 1, 0, 2, 1, 0])


def make_transitions(n_states):
    """Return transitions without jumps to the same state, and their stream."""
    rng = make_stream(make_seed_sequence(0))
    priors = TransitionPriors(None, (2.0, 1.0), None, (2.0, 1.0), 0.0, (1.0, 1.0))
    return Transitions(n_states, priors, rng, self_transitions=False), rng


def test_similarities_see_no_jumps_to_the_same_state():
    """They are drawn given T_j, which such jumps are not part of; their log phi stays -inf."""
    transitions, rng = make_transitions(4)
    similarity, same = GaussianSimilarity(2).make_sampler(4), np.eye(4, dtype=bool)
    similarity.start(None, rng)
    for _ in range(50):
        transitions.take_similarity(similarity, None)
        assert_array_equal(np.isneginf(transitions.log_similarity[:-1]), same)
        assert np.all(transitions.log_similarity[:-1][~same] < 0.0)
        startprob, transmat = transitions.matrix()
        assert_array_equal(transmat > 0.0, ~same)  # no floor at impossible jumps
        assert_allclose(transmat.sum(axis=1), 1.0)
        assert_allclose(startprob.sum(), 1.0)
        transitions.draw(PTR, STATES, rng)
        assert np.isfinite(transitions.log_rates).all()
        assert math.isfinite(transitions.log_probability())
        counts, log_rates = transitions.counts_and_rates()
        assert_array_equal(log_rates[:-1], np.where(same, -np.inf, transitions.log_rates[:-1]))
        similarity.draw(counts, log_rates, None, rng)
        assert np.isfinite(similarity.decay)


def test_nothing_follows_the_only_state():
    transitions, rng = make_transitions(1)
    transitions.draw(np.array([0, 1]), np.array([0]), rng)
    assert [part.tolist() for part in transitions.matrix()] == [[1.0], [[0.0]]]
    assert math.isfinite(transitions.log_probability())


def test_customers_without_end():
    """Failed transitions have too many tables to seat if all weight is on one state."""
    transitions, rng = make_transitions(3)
    transitions.weights[:] = 1.0 - 2e-200, 1e-200, 1e-200
    transitions.gamma = 0.01
    transitions.log_rates[0] = 0.0, -1e200, -1e200
    for _ in range(20):
        transitions.draw(PTR, STATES, rng)
        assert np.isfinite(transitions.log_rates).all()


def test_similarities_do_not_depend_on_impossible_transitions():
    rng = make_stream(make_seed_sequence(0))
    priors = TransitionPriors(1.0, (1.0, 1.0), 2.0, (1.0, 1.0), 0.5, (1.0, 1.0))
    allowed = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)
    transitions = Transitions(3, priors, rng, allowed=allowed)
    transitions.draw(np.array([0, 8]), np.array([0, 1, 2, 1, 0, 0, 1, 2]), rng)
    near = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]])
    far = near.copy()
    far[0, 2] = far[2, 0] = 3.0
    values = [log_likelihood_of_distances(each, 0.7, *transitions.timed()) for each in (near, far)]
    assert values[0] == values[1]
    _, log_rates = transitions.counts_and_rates()
    assert_array_equal(np.isneginf(log_rates), ~allowed)
