"""Draws of segments against enumeration, and against their posterior where that is too large."""

import math
from collections import Counter

import numpy as np
from exact.sequence.hmm.segment_problems import (
    CASES,
    arguments,
    enumerated,
    every_case,
    posteriors,
    random_model,
    sample,
)


@every_case
def test_sample_segments(case):
    """20,000 draws: 6 standard errors for each of the sequences, 1e-8 false alarms for each."""
    model = CASES[case]
    _, probabilities = enumerated(case)
    n_draws, n_steps = 20_000, len(model[2])
    tiled = model[0], model[1], np.tile(model[2], (n_draws, 1)), model[3]
    states = sample(*arguments(tiled, np.arange(n_draws + 1) * n_steps))
    counts = Counter(map(tuple, states.reshape(n_draws, n_steps).tolist()))
    assert all(probabilities.get(path, 0.0) > 0.0 for path in counts)
    for path, p in probabilities.items():
        error = math.sqrt(max(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert abs(counts[path] / n_draws - p) < 6.0 * error


def test_draws_of_long_sequences():
    """Shares of steps in a state are those of the posterior: 400 draws of 500 steps.

    The share of a step is 1/400 of a number of draws: 6 standard errors, 1e-8 false alarms for each
    of 1,500 figures.
    """
    rng = np.random.default_rng(3)
    n_steps, n_draws = 500, 400
    startprob, transmat, log_obs, pmf = random_model(rng, 3, n_steps, 8, spread=1.0)
    expected = posteriors(*arguments((startprob, transmat, log_obs, pmf)))
    tiled = startprob, transmat, np.tile(log_obs, (n_draws, 1)), pmf
    states = sample(*arguments(tiled, np.arange(n_draws + 1) * n_steps)).reshape(n_draws, -1)
    for j in range(3):
        p = expected[:, j]
        error = np.sqrt(np.maximum(p * (1.0 - p), 1.0 / n_draws) / n_draws)
        assert np.all(np.abs((states == j).mean(axis=0) - p) < 6.0 * error)
