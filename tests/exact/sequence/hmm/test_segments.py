"""Filtering and smoothing of hidden semi-Markov models against enumeration of segments."""

import math

import numpy as np
import pytest
from exact.oracles.hmm import posterior
from exact.oracles.hsmm import enumerate_segments, predictive
from exact.sequence.hmm.segment_problems import (
    CASES,
    INF,
    arguments,
    enumerated,
    every_case,
    log_likelihoods,
    posteriors,
    random_model,
    ring,
    sample,
)

from skdp.sequence._hmm._segment_messages import SegmentMessages


@every_case
def test_log_likelihood(case):
    steps, (found,) = log_likelihoods(*arguments(CASES[case]))
    expected, _ = enumerated(case)
    assert expected > -INF
    assert found == pytest.approx(expected, abs=1e-10, rel=1e-14)
    np.testing.assert_allclose(steps, predictive(*CASES[case]), rtol=1e-12, atol=1e-10)
    assert math.fsum(steps) == pytest.approx(found, rel=1e-14, abs=1e-12)


@every_case
def test_posterior(case):
    _, probabilities = enumerated(case)
    expected = posterior(probabilities, len(CASES[case][0]))
    found = posteriors(*arguments(CASES[case]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert np.all(found[expected == 0.0] <= 1e-300)


def test_random_models():
    """Models of all sizes, near and far apart, with zeros of every kind."""
    rng = np.random.default_rng(1)
    n_impossible = 0
    for i in range(150):
        n_states, n_steps, longest = rng.integers((2, 1, 1), (5, 7, 5))
        spread, concentration = (3.0, 30.0, 700.0, 2000.0)[i % 4], (1.0, 0.01)[i // 4 % 2]
        model = random_model(rng, n_states, n_steps, longest, spread, concentration)
        if i % 3 == 0:
            model[2][rng.random(model[2].shape) < 0.3] = -INF
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
    rng = np.random.default_rng(2)
    startprob, transmat, _, pmf = CASES["plain"]
    parts = [rng.normal(size=(3, 3)), np.empty((0, 3)), CASES["far apart"][2]]
    parts += [rng.normal(size=(1, 3)), np.empty((0, 3)), rng.normal(size=(6, 3))]
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
