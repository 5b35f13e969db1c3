"""Filtering, smoothing and draws of states and segments against enumeration of all states."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.hmm import changes, enumerate_states, last_ages, posterior, quiet
from exact.sequence.hmm.problems import (
    CASES,
    INF,
    PLAIN,
    SEGMENTS,
    Model,
    beginnings,
    log_likelihoods,
    messages,
    posteriors,
    quiet_chances,
    random_model,
    ring,
    sample,
    written,
)
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from skdp.sequence import hmm_log_likelihood, hmm_posterior, hmm_sample_states

every_case = pytest.mark.parametrize("case", CASES)
each_kind = pytest.mark.parametrize("longest", [None, 4], ids=["states", "segments"])


@every_case
def test_log_likelihood(case):
    """Log p(x), and what each step adds to it."""
    steps, (found,) = log_likelihoods(CASES[case])
    expected = [total for total, _ in beginnings(case)]
    assert found == pytest.approx(expected[-1], abs=1e-10, rel=1e-14)
    assert_allclose(steps, np.diff(expected, prepend=0.0), rtol=1e-12, atol=1e-10)
    assert math.fsum(steps) == pytest.approx(found, rel=1e-14, abs=1e-10)


@every_case
def test_posterior(case):
    model, (_, probabilities) = CASES[case], beginnings(case)[-1]
    expected, found = posterior(probabilities, model.n_states), posteriors(model)
    assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert model.pmf is None or np.all(found[expected == 0.0] <= 1e-300)


@every_case
def test_changes(case):
    """Neighboring segments have other states, so a segment begins where the state changes."""
    model, (_, probabilities) = CASES[case], beginnings(case)[-1]
    found = written(messages(model).changes, len(model.log_obs))
    assert_allclose(found, changes(probabilities), rtol=1e-9, atol=1e-10)


@every_case
def test_no_change_in_intervals(case):
    """All intervals; without durations, also changes between pairs of states only."""
    model, (_, probabilities) = CASES[case], beginnings(case)[-1]
    n_steps = len(model.log_obs)
    ranges = [(a, b) for a in range(1, n_steps) for b in range(a, n_steps)]
    pairs = np.arange(model.n_states) // 2
    for labels in (None, pairs) if model.pmf is None else (None,):
        expected = [quiet(probabilities, *each, labels) for each in ranges]
        found = quiet_chances(model, ranges, labels)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@every_case
def test_filtered(case):
    model = CASES[case]
    expected = [posterior(paths, model.n_states)[-1] for _, paths in beginnings(case)]
    found = written(messages(model).filtered, model.log_obs.shape)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", SEGMENTS)
def test_ages(case):
    model, (_, probabilities) = SEGMENTS[case], beginnings(f"segments: {case}")[-1]
    expected = last_ages(probabilities, model.n_states, model.pmf.shape[1])
    found = written(messages(model).last_ages, (1, *expected.shape))
    assert_allclose(found[0], expected, rtol=1e-9, atol=1e-12)


@every_case
def test_sample_states(case):
    """20,000 draws: 6 standard errors for each of the sequences, 1e-8 false alarms for each."""
    model, (_, probabilities) = CASES[case], beginnings(case)[-1]
    n_draws, n_steps = 20_000, len(model.log_obs)
    tiled = model._replace(log_obs=np.tile(model.log_obs, (n_draws, 1)))
    states = sample(tiled, np.arange(n_draws + 1) * n_steps)
    counts = Counter(map(tuple, states.reshape(n_draws, n_steps).tolist()))
    assert all(probabilities.get(path, 0.0) > 0.0 for path in counts)
    for path, p in probabilities.items():
        error = math.sqrt(max(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert abs(counts[path] / n_draws - p) < 6.0 * error


@each_kind
def test_random_models(longest):
    """Models of all sizes, near and far apart, with zeros of every kind."""
    rng, n_impossible = np.random.default_rng(1), 0
    for i in range(150):
        n_states, n_steps, own = rng.integers((2, 1, 1), (5, 7, 5))
        spread, concentration = (3.0, 30.0, 700.0, 2000.0)[i % 4], (1.0, 0.01)[i // 4 % 2]
        own = None if longest is None else own
        model = random_model(rng, n_states, n_steps, own, spread, concentration)
        if i % 3 == 0:
            model.log_obs[rng.random(model.log_obs.shape) < 0.3] = -INF
        expected, probabilities = enumerate_states(*model)
        assert log_likelihoods(model)[1] == pytest.approx(expected, abs=1e-10, rel=1e-13)
        if expected == -INF:
            n_impossible += 1
            continue
        assert_allclose(posteriors(model), posterior(probabilities, n_states), rtol=0, atol=1e-10)
        assert probabilities[tuple(sample(model, seed=i).tolist())] > 0.0
    assert 0 < n_impossible < 50


@each_kind
def test_panel(longest):
    """Sequences are independent: empty ones, and ones that need logarithms, between others. There
    are more of them than are filtered together."""
    rng = np.random.default_rng(2)
    hard = PLAIN["left to right, late"] if longest is None else SEGMENTS["far apart"]
    parts = [rng.normal(size=(n, 3)) for n in (3, 0, 4, 0, 1, 5, 2, 3, 1, 4, 6)]
    parts.insert(2, hard.log_obs)
    ptr, model = np.cumsum([0, *map(len, parts)]), hard._replace(log_obs=np.concatenate(parts))
    own, (steps, sequences) = messages(model, ptr), log_likelihoods(model, ptr)
    smoothed, changed = posteriors(model, ptr), written(own.changes, ptr[-1])
    filtered, states = written(own.filtered, model.log_obs.shape), sample(model, ptr)
    ages = None if longest is None else written(own.last_ages, (len(parts), 3, 3))
    ranges = np.array([(a + 1, b - 1) for a, b in pairwise(ptr) if b > a + 1])
    rests = iter(quiet_chances(model, ranges, None, ptr))
    assert states.min() >= 0
    for s, part in enumerate(parts):
        here = slice(*ptr[s : s + 2])
        if len(part) == 0:
            assert sequences[s] == 0.0
            continue
        total, probabilities = enumerate_states(*hard._replace(log_obs=part))
        assert sequences[s] == pytest.approx(total, abs=1e-10)
        assert longest is None or steps[here].sum() == pytest.approx(total, abs=1e-10)
        expected = posterior(probabilities, 3)
        assert_allclose(smoothed[here], expected, rtol=0, atol=1e-10)
        assert_allclose(filtered[here][-1], expected[-1], rtol=1e-9, atol=1e-12)
        assert_allclose(changed[here], changes(probabilities), rtol=1e-9, atol=1e-10)
        if len(part) > 1:
            rest = quiet(probabilities, 1, len(part) - 1)
            assert next(rests) == pytest.approx(rest, rel=1e-9, abs=1e-10)
        if longest is not None:
            assert_allclose(ages[s], last_ages(probabilities, 3, 3), rtol=1e-9, atol=1e-12)
    model.log_obs[ptr[3]] = -INF
    own = messages(model, ptr)
    assert own.filtered(np.empty(model.log_obs.shape)) == 3
    assert own.quiet(np.empty(len(ranges)), ranges) == 3
    assert longest is None or own.last_ages(np.empty(ages.shape)) == 3


@pytest.mark.parametrize("log_obs", [[[-INF, -INF]], [[0.0, -INF], [-INF, 0.0]]])
def test_impossible(log_obs):
    model = [1.0, 0.0], np.eye(2), np.array(log_obs)
    assert enumerate_states(*model)[0] == -INF
    assert hmm_log_likelihood(*model)[0] == -INF
    for function in (hmm_posterior, hmm_sample_states):
        with pytest.raises(ValueError, match="Sequence 0 has probability 0"):
            function(*model)
    log_obs = np.array([[0.0, 0.0], *log_obs])
    own = messages(Model(np.array([1.0, 0.0]), np.eye(2), log_obs), [0, 1, len(log_obs)])
    assert own.changes(np.empty(len(log_obs))) == 1


@pytest.mark.parametrize(
    ("log_obs", "steps"),
    [
        ([[0.0, -INF], [0, -INF], [0, -INF], [0, 0]], [math.log(0.5), 0, -INF, -INF]),
        ([[-INF, -INF], [0, 0]], [-INF, -INF]),
    ],
)
def test_impossible_segments(log_obs, steps):
    """Two steps are the longest; an impossible sequence is named, those before it are drawn."""
    log_obs = np.array([[0.0, 0.0], *log_obs])
    model = Model(np.array([0.5, 0.5]), ring(2), log_obs, np.array([[0, 1.0]] * 2))
    ptr = [0, 1, len(log_obs)]
    found, sequences = log_likelihoods(model, ptr)
    assert sequences.tolist() == [0.0, -INF]
    assert_allclose(found, [0.0, *steps], atol=1e-12)
    own, states = messages(model, ptr), np.zeros(len(found), dtype=int)
    assert own.sample_states(states, np.arange(1, 5, dtype=np.uint64)) == 1
    assert own.posteriors(np.empty(log_obs.shape)) == 1


def test_sums_of_several_tiny_terms():
    """States 0 and 1, e^-700 times as probable as 2, are the only ways to state 3."""
    startprob = np.array([0.3, 0.2, 0.5, 0.0])
    transmat = np.array(
        [[0.5, 0.1, 0.2, 0.2], [0.3, 0.2, 0.2, 0.3], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )
    log_obs = np.array(
        [[-700.0, -700.5, 0.0, 0.0], [-0.1, -0.2, 0.0, -0.3], [-INF, -INF, -INF, -0.4]]
    )
    with np.errstate(divide="ignore"):
        log_start, log_from = np.log(startprob), np.log(transmat)
    expected = log_start + log_obs[0]
    for row in log_obs[1:]:
        expected = logsumexp(expected[:, np.newaxis] + log_from, axis=0) + row
    found = hmm_log_likelihood(startprob, transmat, log_obs, [0, 3])
    assert_allclose(found, logsumexp(expected), rtol=1e-14)


# --- long sequences -------------------------------------------------------------------------


def test_long_sequences():
    """100,000 steps: the log likelihood of a chain that forgets at every step is a plain sum."""
    rng, n_steps, n_states = np.random.default_rng(0), 100_000, 5
    weights = rng.dirichlet(np.ones(n_states))
    log_obs = 300.0 * rng.normal(size=(n_steps, n_states))
    transmat = np.tile(weights, (n_states, 1))
    terms = np.logaddexp.reduce(np.log(weights) + log_obs, axis=1)
    assert hmm_log_likelihood(weights, transmat, log_obs)[0] == pytest.approx(
        math.fsum(terms), rel=1e-13
    )
    expected = np.exp(np.log(weights) + log_obs - terms[:, np.newaxis])
    assert_allclose(hmm_posterior(weights, transmat, log_obs), expected, atol=1e-10)
    states = hmm_sample_states(weights, transmat, log_obs, random_state=0)
    assert expected[np.arange(n_steps), states].min() > 1e-9


def test_long_sequences_with_impossible_transitions():
    """100,000 steps on a ring of states that is walked one way, against scaled products."""
    n_steps, n_states = 100_000, 4
    rng = np.random.default_rng(1)
    transmat = 0.6 * np.eye(n_states) + 0.4 * ring(n_states)
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
    assert_allclose(hmm_posterior(startprob, transmat, log_obs), expected, atol=1e-10)
    states = hmm_sample_states(startprob, transmat, log_obs, random_state=0)
    assert states[0] == 0
    assert np.all(transmat[states[:-1], states[1:]] > 0.0)
    assert expected[np.arange(n_steps), states].min() > 1e-9


def test_draws_of_long_segments():
    """Shares of steps in a state are those of the posterior: 400 draws of 500 steps. The share of a
    step is 1/400 of a number of draws: 6 standard errors, 1e-8 false alarms for each of 1,500
    figures."""
    n_steps, n_draws = 500, 400
    model = random_model(np.random.default_rng(3), 3, n_steps, 8, spread=1.0)
    tiled = model._replace(log_obs=np.tile(model.log_obs, (n_draws, 1)))
    states = sample(tiled, np.arange(n_draws + 1) * n_steps).reshape(n_draws, -1)
    for j, p in enumerate(posteriors(model).T):
        error = np.sqrt(np.maximum(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert np.all(np.abs((states == j).mean(axis=0) - p) < 6.0 * error)


def by_age(startprob, transmat, log_obs, pmf):
    """Return the hidden Markov model whose states are pairs of a state and its age."""
    n_states, longest = pmf.shape
    survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    n = n_states * longest
    start, matrix = np.zeros(n), np.zeros((n, n))
    start[::longest] = startprob
    for j in range(n_states):
        for age in range(longest):
            leave = pmf[j, age] / survival[j, age]
            matrix[j * longest + age, ::longest] = leave * transmat[j]
            if age + 1 < longest:
                matrix[j * longest + age, j * longest + age + 1] = 1.0 - leave
    return start, matrix, np.repeat(log_obs, longest, axis=1)


@pytest.mark.parametrize("spread", [1.0, 20.0, 300.0, 3000.0])
def test_long_segments(spread):
    """Against the model whose states are pairs of state and age; the truth may last longer."""
    rng = np.random.default_rng(4)
    n_steps, n_states, longest = 3000, 4, 6
    truth = np.repeat(rng.integers(n_states, size=n_steps), rng.integers(1, 12, n_steps))[:n_steps]
    log_obs = -spread * rng.random((n_steps, n_states))
    log_obs[np.arange(n_steps), truth] /= 50.0
    model = random_model(rng, n_states, 1, longest)._replace(log_obs=log_obs)
    aged = by_age(*model)
    assert log_likelihoods(model)[1] == pytest.approx(hmm_log_likelihood(*aged), rel=1e-12)
    expected = hmm_posterior(*aged).reshape(n_steps, n_states, longest).sum(axis=2)
    assert_allclose(posteriors(model), expected, rtol=0, atol=1e-9)
    assert expected[np.arange(n_steps), sample(model)].min() > 1e-9


def test_no_underflow_of_segments():
    """100,000 steps, and states that are 700 nats apart at every step."""
    rng = np.random.default_rng(5)
    log_obs = -700.0 * rng.random((100_000, 3))
    model = random_model(rng, 3, 1, 4)._replace(log_obs=log_obs)
    expected = hmm_log_likelihood(*by_age(*model))
    assert log_likelihoods(model)[1] == pytest.approx(expected, rel=1e-12)
    assert np.abs(posteriors(model).sum(axis=1) - 1.0).max() < 1e-12
    states = sample(model)
    lengths = np.diff(np.flatnonzero(np.r_[True, states[1:] != states[:-1], True]))
    assert lengths.max() <= 4
