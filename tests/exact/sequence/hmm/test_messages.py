"""Filtering, smoothing and draws of states against enumeration."""

import math
from collections import Counter

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states, posterior
from scipy.special import logsumexp

from skdp.sequence import hmm_log_likelihood, hmm_posterior, hmm_sample_states

RNG = np.random.default_rng(0)
INF = np.inf


def random_model(n_states, n_steps, spread=3.0, concentration=1.0):
    return (
        RNG.dirichlet(np.full(n_states, concentration)),
        RNG.dirichlet(np.full(n_states, concentration), n_states),
        spread * RNG.normal(size=(n_steps, n_states)),
    )


def left_to_right(log_obs):
    """Three states that are never entered again once left."""
    return np.array([1.0, 0, 0]), np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1.0]]), log_obs


CASES = {
    "plain": random_model(3, 6),
    "two states": random_model(2, 9),
    "one step": random_model(4, 1),
    "one state": (np.ones(1), np.ones((1, 1)), RNG.normal(size=(5, 1))),
    "nine states": random_model(9, 4),
    "seventeen states": random_model(17, 3),
    "sparse": random_model(3, 6, concentration=1e-3),
    "far apart": random_model(3, 6, spread=1000.0),
    "densities": (*random_model(3, 5)[:2], 700.0 + RNG.normal(size=(5, 3))),
    "impossible observations": (
        *random_model(3, 4)[:2],
        np.array([[0, -INF, -INF], [-INF, 0, 1], [0, 0, -INF], [-INF, -INF, 0]]),
    ),
    "left to right": left_to_right(RNG.normal(size=(6, 3))),
    # Whoever stays in the first states pays for it at the end, 5000 nats at once or step by step:
    # the best path leaves through probabilities that 64 bits cannot hold.
    "left to right, late": left_to_right(
        np.array([[0.0, 0, 0], [0, -2000, 0], [0, -2000, 0], [0, -1000, 0], [-9999, -9999, 0]])
    ),
    "left to right, step by step": left_to_right(
        np.array([[0.0, 0, 0], [0, -400, 0], [-300, 0, 0], [-300, 0, 0], [-300, 0, 0]])
    ),
    # All paths but one end in an impossible state; the one is e^-3000 at first.
    "a way out": (
        np.array([0.5, 0.5]),
        np.eye(2),
        np.array([[0.0, -1000], [0, -1000], [0, -1000], [-INF, 0], [0, 0]]),
    ),
    "a narrow way out": (
        np.array([1.0, 1e-150]),
        np.eye(2),
        np.array([[0.0, -1000], [-INF, 0], [0, 0]]),
    ),
    "the likeliest is unreachable": (
        np.array([0.5, 0.5, 0.0]),
        np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0, 0, 1.0]]),
        np.array([[-5000.0, -5001, 0], [-4000, -7000, 0], [-800, -3, 0]]),
    ),
    "tiny transition": (
        np.array([1.0, 0.0]),
        np.array([[1.0, 1e-300], [1e-300, 1.0]]),
        np.array([[0.0, 0], [-1000, 0], [-1000, 0], [-100, -900]]),
    ),
}

every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_log_likelihood(case):
    model = CASES[case]
    expected, _ = enumerate_states(*model)
    (found,) = hmm_log_likelihood(*model)
    assert found == pytest.approx(expected, abs=1e-10, rel=1e-14)


@every_case
def test_posterior(case):
    model = CASES[case]
    _, probabilities = enumerate_states(*model)
    expected = posterior(probabilities, len(model[0]))
    np.testing.assert_allclose(hmm_posterior(*model), expected, rtol=0, atol=1e-10)


@every_case
def test_sample_states(case):
    """20,000 draws: 6 standard errors for each of the sequences, 1e-8 false alarms for each."""
    startprob, transmat, log_obs = CASES[case]
    _, probabilities = enumerate_states(startprob, transmat, log_obs)
    n_draws, n_steps = 20_000, len(log_obs)
    states = hmm_sample_states(
        startprob, transmat, np.tile(log_obs, (n_draws, 1)),
        np.arange(n_draws + 1) * n_steps, random_state=0,
    )  # fmt: skip
    counts = Counter(map(tuple, states.reshape(n_draws, n_steps).tolist()))
    assert all(probabilities[sequence] > 0.0 for sequence in counts)
    for sequence, p in probabilities.items():
        error = math.sqrt(max(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert abs(counts[sequence] / n_draws - p) < 6.0 * error


def test_panel():
    """Sequences are independent: empty ones, and one that needs logarithms, between others.

    There are more of them than are filtered together.
    """
    parts = [random_model(3, 3)[2], np.empty((0, 3)), CASES["left to right, late"][2]]
    parts += [RNG.normal(size=(4, 3)), np.empty((0, 3))]
    parts += [RNG.normal(size=(n, 3)) for n in (1, 5, 2, 3, 1, 4)]
    startprob, transmat, _ = CASES["left to right"]
    log_obs = np.concatenate(parts)
    ptr = np.cumsum([0, *map(len, parts)])
    likelihoods = hmm_log_likelihood(startprob, transmat, log_obs, ptr)
    posteriors = hmm_posterior(startprob, transmat, log_obs, ptr)
    for s, part in enumerate(parts):
        if not len(part):
            assert likelihoods[s] == 0.0
            continue
        likelihood, probabilities = enumerate_states(startprob, transmat, part)
        assert likelihoods[s] == pytest.approx(likelihood, abs=1e-10)
        found = posteriors[ptr[s] : ptr[s + 1]]
        np.testing.assert_allclose(found, posterior(probabilities, 3), rtol=0, atol=1e-10)


@pytest.mark.parametrize("log_obs", [[[-INF, -INF]], [[0.0, -INF], [-INF, 0.0]]])
def test_impossible(log_obs):
    model = [1.0, 0.0], np.eye(2), np.array(log_obs)
    assert enumerate_states(*model)[0] == -INF
    assert hmm_log_likelihood(*model)[0] == -INF
    for function in (hmm_posterior, hmm_sample_states):
        with pytest.raises(ValueError, match="Sequence 0 has probability 0"):
            function(*model)


def test_long_sequences():
    """100,000 steps: the log likelihood of a chain that forgets at every step is a plain sum."""
    n_steps, n_states = 100_000, 5
    weights = RNG.dirichlet(np.ones(n_states))
    log_obs = 300.0 * RNG.normal(size=(n_steps, n_states))
    transmat = np.tile(weights, (n_states, 1))
    terms = np.logaddexp.reduce(np.log(weights) + log_obs, axis=1)
    assert hmm_log_likelihood(weights, transmat, log_obs)[0] == pytest.approx(
        math.fsum(terms), rel=1e-13
    )
    expected = np.exp(np.log(weights) + log_obs - terms[:, np.newaxis])
    np.testing.assert_allclose(hmm_posterior(weights, transmat, log_obs), expected, atol=1e-10)
    states = hmm_sample_states(weights, transmat, log_obs, random_state=0)
    assert expected[np.arange(n_steps), states].min() > 1e-9


def test_long_sequences_with_impossible_transitions():
    """100,000 steps on a ring of states that is walked one way, against scaled products."""
    n_steps, n_states = 100_000, 4
    rng = np.random.default_rng(1)
    transmat = 0.6 * np.eye(n_states) + 0.4 * np.roll(np.eye(n_states), 1, axis=1)
    startprob = np.array([1.0, 0.0, 0.0, 0.0])
    log_obs = 3.0 * rng.normal(size=(n_steps, n_states))
    density = np.exp(log_obs)
    forward, backward, scales = np.empty_like(density), np.ones_like(density), np.empty(n_steps)
    predicted = startprob
    for t in range(n_steps):
        row = predicted * density[t]
        scales[t] = row.sum()
        forward[t] = row / scales[t]
        predicted = forward[t] @ transmat
    for t in range(n_steps - 1, 0, -1):
        backward[t - 1] = transmat @ (density[t] * backward[t]) / scales[t]
    (found,) = hmm_log_likelihood(startprob, transmat, log_obs)
    assert found == pytest.approx(math.fsum(np.log(scales)), rel=1e-13)
    expected = forward * backward
    np.testing.assert_allclose(hmm_posterior(startprob, transmat, log_obs), expected, atol=1e-10)
    states = hmm_sample_states(startprob, transmat, log_obs, random_state=0)
    assert states[0] == 0
    assert np.all(transmat[states[:-1], states[1:]] > 0.0)
    assert expected[np.arange(n_steps), states].min() > 1e-9


def test_sums_of_several_tiny_terms():
    """States 0 and 1, e^-700 times as probable as 2, are the only ways to state 3."""
    startprob = np.array([0.3, 0.2, 0.5, 0.0])
    transmat = np.array(
        [[0.5, 0.1, 0.2, 0.2], [0.3, 0.2, 0.2, 0.3], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )
    log_obs = np.array(
        [[-700.0, -700.5, 0.0, 0.0], [-0.1, -0.2, 0.0, -0.3], [-np.inf, -np.inf, -np.inf, -0.4]]
    )
    with np.errstate(divide="ignore"):
        log_start, log_from = np.log(startprob), np.log(transmat)
    expected = log_start + log_obs[0]
    for row in log_obs[1:]:
        expected = logsumexp(expected[:, np.newaxis] + log_from, axis=0) + row
    found = hmm_log_likelihood(startprob, transmat, log_obs, [0, 3])
    np.testing.assert_allclose(found, logsumexp(expected), rtol=1e-14)
