"""Transitions whose similarity is 0, such as those from a state to itself in semi-Markov models."""

import math

import numpy as np
from numpy.testing import assert_array_equal

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import GaussianSimilarity
from skdp.sequence._hmm import _kernels_transitions as kernels
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._kernels_emission import log_likelihood

PTR, STATES = np.array([0, 4, 6]), np.array([0, 1, 0, 2, 1, 0])


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_transitions(n_states, rng):
    priors = TransitionPriors(None, (2.0, 1.0), None, (2.0, 1.0), 0.0, (1.0, 1.0))
    return Transitions(n_states, priors, rng, self_transitions=False)


def test_chain():
    rng = stream()
    transitions = make_transitions(4, rng)
    for _ in range(200):
        startprob, transmat = transitions.matrix()
        assert np.all(np.diag(transmat) == 0.0)  # no floor where a jump is impossible
        assert np.all(transmat[~np.eye(4, dtype=bool)] > 0.0)
        np.testing.assert_allclose(transmat.sum(axis=1), 1.0)
        np.testing.assert_allclose(startprob.sum(), 1.0)
        transitions.draw(PTR, STATES, rng)
        assert np.isfinite(transitions.log_rates).all()
        assert math.isfinite(transitions.log_probability())


def test_one_state():
    """Nothing follows the only state."""
    rng = stream()
    transitions = make_transitions(1, rng)
    transitions.draw(np.array([0, 1]), np.array([0]), rng)
    startprob, transmat = transitions.matrix()
    assert startprob.tolist() == [1.0]
    assert transmat.tolist() == [[0.0]]
    assert math.isfinite(transitions.log_probability())


def test_similarities_see_no_jumps_to_the_same_state():
    """They are drawn given T_j, which such jumps are not part of; their log phi stays -inf."""
    rng = stream()
    transitions = make_transitions(3, rng)
    similarity = GaussianSimilarity(2).make_sampler(3)
    similarity.start(None, rng)
    transitions.take_similarity(similarity, None)
    same = np.eye(3, dtype=bool)
    assert np.all(np.isneginf(transitions.log_similarity[:-1][same]))
    assert np.all(transitions.log_similarity[:-1][~same] < 0.0)
    _, log_rates = transitions.counts_and_rates()
    assert np.all(np.isneginf(log_rates[:-1][same]))
    assert np.array_equal(log_rates[:-1][~same], transitions.log_rates[:-1][~same])
    for _ in range(50):
        transitions.draw(PTR, STATES, rng)
        similarity.draw(*transitions.counts_and_rates(), None, rng)
        transitions.take_similarity(similarity, None)
        assert np.isfinite(similarity.decay)
        assert np.isfinite(transitions.log_probability())


def test_tables_of_failed_jumps():
    """m_jj ~ Poisson(alpha beta_j log(1 + u_j)): 20,000 draws, 6 standard errors."""
    n = 2
    log_similarity = np.zeros((n + 1, n))
    log_similarity[[0, 1], [0, 1]] = -np.inf
    log_times = np.array([math.log(3.0), -np.inf, -np.inf])
    weights, alpha, rng = np.array([0.3, 0.7]), 2.0, stream()
    tables, draws = np.empty(n, dtype=np.int64), np.empty((20_000, n))
    for i in range(len(draws)):
        kernels.draw_tables(
            np.zeros((n + 1, n), dtype=np.int64), log_similarity, log_times, weights, alpha, 0.0,
            tables, rng,
        )  # fmt: skip
        draws[i] = tables
    mean = alpha * 0.3 * math.log(4.0)
    assert abs(draws[:, 0].mean() - mean) < 6.0 * math.sqrt(mean / len(draws))
    assert abs(draws[:, 0].var() - mean) < 6.0 * math.sqrt((2 * mean**2 + mean) / len(draws))
    assert not draws[:, 1].any()


def test_rates_of_impossible_jumps():
    """pi_jj ~ Gamma(alpha beta_j, 1), however long the state is occupied: 20,000 draws."""
    n = 2
    log_similarity = np.zeros((n + 1, n))
    log_similarity[[0, 1], [0, 1]] = -np.inf
    counts = np.array([[0, 5], [4, 0], [1, 0]])
    log_times, rng = np.array([50.0, 2.0, 0.0]), stream()
    log_rates, draws = np.empty((n + 1, n)), np.empty((20_000, n))
    for i in range(len(draws)):
        kernels.draw_rates(
            counts, log_similarity, log_times, np.array([0.4, 0.6]), 5.0, 0.0, log_rates, rng
        )
        draws[i] = np.exp(log_rates[[0, 1], [0, 1]])
    shape = np.array([2.0, 3.0])
    assert np.all(np.abs(draws.mean(axis=0) - shape) < 6.0 * np.sqrt(shape / len(draws)))


def test_customers_without_end():
    """Failed transitions have too many tables to seat if all weight is on one state."""
    rng = stream()
    transitions = make_transitions(3, rng)
    transitions.weights[:] = 1.0 - 2e-200, 1e-200, 1e-200
    transitions.gamma = 0.01
    transitions.log_rates[0] = 0.0, -1e200, -1e200
    for _ in range(20):
        transitions.draw(PTR, STATES, rng)
        assert np.isfinite(transitions.log_rates).all()


def test_similarities_do_not_depend_on_impossible_transitions():
    rng = stream()
    priors = TransitionPriors(1.0, (1.0, 1.0), 2.0, (1.0, 1.0), 0.5, (1.0, 1.0))
    allowed = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)
    transitions = Transitions(3, priors, rng, allowed=allowed)
    transitions.draw(np.array([0, 8]), np.array([0, 1, 2, 1, 0, 0, 1, 2]), rng)
    near = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]])
    far = near.copy()
    far[0, 2] = far[2, 0] = 3.0
    values = [log_likelihood(each, 0.7, *transitions.timed()) for each in (near, far)]
    assert values[0] == values[1]
    _, log_rates = transitions.counts_and_rates()
    assert_array_equal(np.isneginf(log_rates), ~allowed)
