"""Messages of hidden semi-Markov models against enumeration of segments."""

import math
from collections import Counter

import numpy as np
import pytest
from exact.oracles.hmm import posterior
from exact.oracles.hsmm import enumerate_segments, predictive

from skdp._random import make_seed_sequence, make_stream
from skdp.sequence import hmm_log_likelihood, hmm_posterior
from skdp.sequence._hmm._kernels_transitions import count_changes
from skdp.sequence._hmm._segment_messages import SegmentMessages

RNG = np.random.default_rng(0)
INF = np.inf


def random_model(n_states, n_steps, longest, spread=3.0, concentration=1.0):
    transmat = RNG.dirichlet(np.full(n_states, concentration), n_states) + 1e-300
    transmat[np.diag_indices(n_states)] = 0.0
    return (
        RNG.dirichlet(np.full(n_states, concentration)),
        transmat / transmat.sum(axis=1, keepdims=True),
        spread * RNG.normal(size=(n_steps, n_states)),
        RNG.dirichlet(np.full(longest, concentration), n_states),
    )


def with_holes(model, share=0.3):
    """Make some observations impossible, but not all of any step."""
    log_obs = model[2]
    holes = RNG.random(log_obs.shape) < share
    holes[np.arange(len(log_obs)), RNG.integers(log_obs.shape[1], size=len(log_obs))] = False
    log_obs[holes] = -INF
    return model


def shifted(model, shift):
    """Add a constant to the logarithms of all observations."""
    return *model[:2], model[2] + shift, model[3]


def ring(n_states):
    """Return the transitions of states that follow each other in turn."""
    return np.roll(np.eye(n_states), 1, axis=1)


CASES = {
    "plain": random_model(3, 6, 4),
    "two states": random_model(2, 6, 3),
    "one step": random_model(3, 1, 4),
    "one state": (np.ones(1), np.zeros((1, 1)), RNG.normal(size=(3, 1)), np.full((1, 4), 0.25)),
    "longest of one step": random_model(3, 5, 1),
    "longest of two steps": random_model(3, 6, 2),
    "longer than the sequence": random_model(2, 3, 7),
    "nine states": random_model(9, 4, 3),
    "sparse": random_model(3, 6, 3, concentration=0.02),
    "far apart": random_model(3, 6, 3, spread=1000.0),
    "apart": random_model(3, 6, 3, spread=100.0),
    "densities": shifted(random_model(3, 5, 3), 700.0),
    "impossible observations": with_holes(random_model(3, 6, 3)),
    "impossible observations, far apart": with_holes(random_model(3, 6, 4, spread=1000.0)),
    # The first state must last two steps, the second one three: what fits best is forbidden.
    "fixed durations": (
        np.array([0.5, 0.5]), ring(2), 400.0 * RNG.normal(size=(6, 2)),
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ),
    # One state fits all steps, but cannot last so long: another one must come in between.
    "no state lasts": (
        np.array([1.0, 0.0, 0.0]), random_model(3, 1, 1)[1],
        np.array([[0.0, -800.0, -2000.0]] * 6), np.array([[0.2, 0.8]] * 3),
    ),
    # A short segment is all but impossible, a long one pays at the end.
    "tiny probabilities of durations": (
        np.array([0.4, 0.6]), ring(2), np.array([[0.0, -300], [-400, 0], [0, -500], [-900, -100]]),
        np.array([[1e-300, 1e-200, 1.0], [1e-250, 1.0, 1e-280]]),
    ),
    "tiny transitions": (
        np.array([1.0, 0.0, 0.0]),
        np.array([[0, 1.0, 1e-300], [1e-300, 0, 1.0], [0.5, 0.5, 0]]),
        np.array([[0, 0, 0], [-1000, -1100, 0], [-1000, 0, 0], [-100, -900, -500], [0, 0, -700.0]]),
        random_model(3, 1, 3)[3],
    ),
}  # fmt: skip

every_case = pytest.mark.parametrize("case", CASES)


def tables(pmf):
    """Return log P(D = d) and log P(D >= d)."""
    survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        return np.log(pmf), np.log(np.ascontiguousarray(survival))


def arguments(model, ptr=None):
    startprob, transmat, log_obs, pmf = model
    ptr = np.array([0, len(log_obs)] if ptr is None else ptr)
    ptr.flags.writeable = False  # as that of a panel: numba compiles nothing twice
    return ptr, startprob, transmat, np.ascontiguousarray(log_obs), *tables(pmf)


def log_likelihoods(*args):
    steps, sequences = np.full(len(args[3]), np.nan), np.full(len(args[0]) - 1, np.nan)
    SegmentMessages(*args).log_likelihoods(steps, sequences)
    return steps, sequences


def posteriors(*args):
    out = np.full(args[3].shape, np.nan)
    assert SegmentMessages(*args).posteriors(out) == -1
    return out


def sample(*args, seed=0):
    states = np.full(len(args[3]), -1)
    rng = make_stream(make_seed_sequence(seed))
    assert SegmentMessages(*args).sample_states(states, rng) == -1
    return states


@every_case
def test_log_likelihood(case):
    steps, (found,) = log_likelihoods(*arguments(CASES[case]))
    expected, _ = enumerate_segments(*CASES[case])
    assert expected > -INF
    assert found == pytest.approx(expected, abs=1e-10, rel=1e-14)
    np.testing.assert_allclose(steps, predictive(*CASES[case]), rtol=1e-12, atol=1e-10)
    assert math.fsum(steps) == pytest.approx(found, rel=1e-14, abs=1e-12)


@every_case
def test_posterior(case):
    _, probabilities = enumerate_segments(*CASES[case])
    expected = posterior(probabilities, len(CASES[case][0]))
    found = posteriors(*arguments(CASES[case]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert np.all(found[expected == 0.0] <= 1e-300)


@every_case
def test_sample_segments(case):
    """20,000 draws: 6 standard errors for each of the sequences, 1e-8 false alarms for each."""
    model = CASES[case]
    _, probabilities = enumerate_segments(*model)
    n_draws, n_steps = 20_000, len(model[2])
    tiled = model[0], model[1], np.tile(model[2], (n_draws, 1)), model[3]
    states = sample(*arguments(tiled, np.arange(n_draws + 1) * n_steps))
    counts = Counter(map(tuple, states.reshape(n_draws, n_steps).tolist()))
    assert all(probabilities.get(path, 0.0) > 0.0 for path in counts)
    for path, p in probabilities.items():
        error = math.sqrt(max(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert abs(counts[path] / n_draws - p) < 6.0 * error


def test_random_models():
    """Models of all sizes, near and far apart, with zeros of every kind."""
    n_impossible = 0
    for i in range(150):
        n_states, n_steps, longest = RNG.integers((2, 1, 1), (5, 7, 5))
        spread, concentration = (3.0, 30.0, 700.0, 2000.0)[i % 4], (1.0, 0.01)[i // 4 % 2]
        model = random_model(n_states, n_steps, longest, spread, concentration)
        if i % 3 == 0:
            model[2][RNG.random(model[2].shape) < 0.3] = -INF
        expected, probabilities = enumerate_segments(*model)
        _, (found,) = log_likelihoods(*arguments(model))
        assert found == pytest.approx(expected, abs=1e-10, rel=1e-13)
        if expected == -INF:
            n_impossible += 1
            continue
        np.testing.assert_allclose(
            posteriors(*arguments(model)), posterior(probabilities, n_states), rtol=0, atol=1e-10
        )
        assert probabilities[tuple(sample(*arguments(model), seed=i).tolist())] > 0.0
    assert 0 < n_impossible < 50


def test_panel():
    """Sequences are independent: empty ones, one that needs logarithms, one that is longer."""
    startprob, transmat, _, pmf = CASES["plain"]
    parts = [RNG.normal(size=(3, 3)), np.empty((0, 3)), CASES["far apart"][2]]
    parts += [RNG.normal(size=(1, 3)), np.empty((0, 3)), RNG.normal(size=(6, 3))]
    model = startprob, transmat, np.concatenate(parts), pmf
    args = arguments(model, np.cumsum([0, *map(len, parts)]))
    steps, sequences = log_likelihoods(*args)
    states, found = sample(*args), posteriors(*args)
    assert states.min() >= 0
    for s, part in enumerate(parts):
        begin, end = args[0][s : s + 2]
        if begin == end:
            assert sequences[s] == 0.0
            continue
        likelihood, probabilities = enumerate_segments(startprob, transmat, part, pmf)
        assert sequences[s] == pytest.approx(likelihood, abs=1e-10)
        assert math.fsum(steps[begin:end]) == pytest.approx(likelihood, abs=1e-10)
        np.testing.assert_allclose(
            found[begin:end], posterior(probabilities, 3), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize(
    ("log_obs", "steps"),
    [
        ([[0.0, -INF], [0, -INF], [0, -INF], [0, 0]], [math.log(0.5), 0, -INF, -INF]),
        ([[-INF, -INF], [0, 0]], [-INF, -INF]),
    ],
)
def test_impossible(log_obs, steps):
    """Two steps are the longest; an impossible sequence is named, those before it are drawn."""
    model = (
        np.array([0.5, 0.5]),
        ring(2),
        np.array([[0.0, 0.0], *log_obs]),
        np.array([[0, 1.0]] * 2),
    )
    args = arguments(model, [0, 1, 1 + len(log_obs)])
    found, sequences = log_likelihoods(*args)
    assert sequences.tolist() == [0.0, -INF]
    np.testing.assert_allclose(found, [0.0, *steps], atol=1e-12)
    states = np.zeros(len(found), dtype=int)
    messages = SegmentMessages(*args)
    assert messages.sample_states(states, np.arange(1, 5, dtype=np.uint64)) == 1
    assert messages.posteriors(np.empty(args[3].shape)) == 1


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
def test_long_sequences(spread):
    """Against the model whose states are pairs of state and age; the truth may last longer."""
    n_steps, n_states, longest = 3000, 4, 6
    startprob, transmat, _, pmf = random_model(n_states, 1, longest)
    truth = np.repeat(RNG.integers(n_states, size=n_steps), RNG.integers(1, 12, n_steps))[:n_steps]
    log_obs = -spread * RNG.random((n_steps, n_states))
    log_obs[np.arange(n_steps), truth] /= 50.0
    model = startprob, transmat, log_obs, pmf
    start, matrix, repeated = by_age(*model)
    _, (likelihood,) = log_likelihoods(*arguments(model))
    assert likelihood == pytest.approx(hmm_log_likelihood(start, matrix, repeated)[0], rel=1e-12)
    expected = (
        hmm_posterior(start, matrix, repeated).reshape(n_steps, n_states, longest).sum(axis=2)
    )
    np.testing.assert_allclose(posteriors(*arguments(model)), expected, rtol=0, atol=1e-9)
    states = sample(*arguments(model))
    assert expected[np.arange(n_steps), states].min() > 1e-9


def test_no_underflow():
    """100,000 steps, and states that are 700 nats apart at every step."""
    n_steps, n_states = 100_000, 3
    startprob, transmat, _, pmf = random_model(n_states, 1, 4)
    log_obs = -700.0 * RNG.random((n_steps, n_states))
    model = startprob, transmat, log_obs, pmf
    _, (likelihood,) = log_likelihoods(*arguments(model))
    assert likelihood == pytest.approx(hmm_log_likelihood(*by_age(*model))[0], rel=1e-12)
    assert np.abs(posteriors(*arguments(model)).sum(axis=1) - 1.0).max() < 1e-12
    states = sample(*arguments(model))
    lengths = np.diff(np.flatnonzero(np.r_[True, states[1:] != states[:-1], True]))
    assert lengths.max() <= 4


def test_draws_of_long_sequences():
    """Shares of steps in a state are those of the posterior: 400 draws of 500 steps.

    The share of a step is 1/400 of a number of draws: 6 standard errors, 1e-8 false alarms for each
    of 1,500 figures.
    """
    n_steps, n_draws = 500, 400
    startprob, transmat, log_obs, pmf = random_model(3, n_steps, 8, spread=1.0)
    expected = posteriors(*arguments((startprob, transmat, log_obs, pmf)))
    tiled = startprob, transmat, np.tile(log_obs, (n_draws, 1)), pmf
    states = sample(*arguments(tiled, np.arange(n_draws + 1) * n_steps)).reshape(n_draws, -1)
    for j in range(3):
        p = expected[:, j]
        error = np.sqrt(np.maximum(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert np.all(np.abs((states == j).mean(axis=0) - p) < 6.0 * error)


def test_count_changes():
    ptr, states = np.array([0, 5, 5, 6, 9]), np.array([0, 0, 2, 2, 0, 1, 1, 1, 2])
    counts = np.full((4, 3), 7)
    count_changes(ptr, states, counts)
    assert counts.tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 2, 0]]
