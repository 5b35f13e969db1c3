"""Beam sampling against enumeration of paths."""

from collections import Counter

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states
from numpy.testing import assert_array_equal
from scipy.stats import chi2

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._hmm._messages import HMMMessages

RNG = np.random.default_rng(3)
N_SEQUENCES = 20_000
SPARSE = np.array([[0.6, 0.4, 0.0], [0.0, 0.5, 0.5], [0.1, 0.0, 0.9]])

CASES = {
    "plain": (RNG.dirichlet(np.ones(3)), RNG.dirichlet(np.ones(3), 3), RNG.normal(size=(4, 3))),
    "sparse": (np.array([0.5, 0.5, 0.0]), SPARSE, RNG.normal(size=(4, 3))),
    "unlikely transitions": (
        np.array([0.98, 0.01, 0.01]),
        np.array([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]]),
        RNG.normal(size=(4, 3)),
    ),
    # The states that fit best at first lead to a dead end.
    "800 nats apart": (
        np.array([0.5, 0.5, 0.0]),
        np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.3, 0.7]]),
        np.array([[0.0, -800, -800], [0, -800, -799], [0, -800.5, -801], [-9000, 0, 0.5]]),
    ),
    "one step": (np.array([0.2, 0.3, 0.5]), np.eye(3), np.array([[0.0, 1.0, -1.0]])),
}

every_case = pytest.mark.parametrize("case", CASES)


def draw(model, paths, n_sweeps, seed=0):
    """Return paths, (n, T), after so many draws by beams."""
    startprob, transmat, log_obs = model
    n, n_steps = paths.shape
    ptr, states = np.arange(n + 1) * n_steps, paths.ravel().copy()
    log_obs, rng = np.tile(log_obs, (n, 1)), make_stream(make_seed_sequence(seed))
    messages = HMMMessages(ptr, startprob, transmat, log_obs)
    for _ in range(n_sweeps):
        assert messages.sample_states_by_beam(states, rng) == -1
    return states.reshape(paths.shape)


def check_frequencies(paths, probabilities):
    """Compare independent paths with their distribution: a chi-squared test at 1e-6."""
    counts = Counter(map(tuple, paths.tolist()))
    assert all(probabilities[path] > 0.0 for path in counts)
    expected = np.array(list(probabilities.values())) * len(paths)
    found = np.array([counts[path] for path in probabilities])
    rare = expected < 20
    expected = np.append(expected[~rare], expected[rare].sum())
    found = np.append(found[~rare], found[rare].sum())
    kept = expected >= 20
    statistic = ((found - expected)[kept] ** 2 / expected[kept]).sum()
    assert chi2.sf(statistic, max(kept.sum() - 1, 1)) > 1e-6


@every_case
def test_a_draw_leaves_the_posterior_as_it_is(case):
    """Paths from p(z given x) are such after a draw: false alarms 1e-6 a case."""
    model = CASES[case]
    _, probabilities = enumerate_states(*model)
    paths = np.array(list(probabilities))
    p = np.array(list(probabilities.values()))
    starts = np.random.default_rng(0).choice(len(paths), p=p / p.sum(), size=N_SEQUENCES)
    check_frequencies(draw(model, paths[starts], 1), probabilities)


@every_case
def test_draws_reach_the_posterior(case):
    """From one path of all sequences 200 draws lead to p(z given x): false alarms 1e-6 a case."""
    model = CASES[case]
    _, probabilities = enumerate_states(*model)
    least = min((path for path, p in probabilities.items() if p > 0.0), key=probabilities.get)
    paths = np.tile(least, (N_SEQUENCES // 4, 1))
    check_frequencies(draw(model, paths, 200), probabilities)


def test_panel():
    """Sequences of different lengths are drawn each on its own; an empty one is passed over."""
    startprob, transmat, _ = CASES["800 nats apart"]
    states = np.array([0, 0, 0, 0, 1, 2, 1])
    log_obs = np.full((7, 3), -np.inf)
    log_obs[np.arange(7), states] = 0.0
    ptr = np.array([0, 4, 6, 6, 7])
    found = states.copy()
    messages = HMMMessages(ptr, startprob, transmat, log_obs)
    rng = make_stream(make_seed_sequence(0))
    assert messages.sample_states_by_beam(found, rng) == -1
    assert_array_equal(found, states)


def test_impossible_sequence_is_named():
    model = np.full(2, 0.5), np.full((2, 2), 0.5), np.array([[0.0, 0.0], [-np.inf, -np.inf]])
    ptr, rng = np.array([0, 1, 2]), make_stream(make_seed_sequence(0))
    assert HMMMessages(ptr, *model).sample_states_by_beam(np.zeros(2, dtype=np.int64), rng) == 1


def test_seed():
    paths = np.zeros((50, 4), dtype=np.int64)
    first, same, other = (draw(CASES["plain"], paths, 3, seed) for seed in (1, 1, 2))
    assert_array_equal(first, same)
    assert (first != other).any()
