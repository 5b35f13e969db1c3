"""The most probable paths against all paths."""

import math

import numpy as np
import pytest
from exact.oracles.hmm import log_joints
from exact.sequence.hmm.problems import CASES, INF, random_model, tables

from skdp.sequence import hmm_log_likelihood, hmm_viterbi
from skdp.sequence._hmm._messages import decode


def check(found, paths, n_steps):
    """Compare a log probability and a path with all of them; rounding may choose among the best."""
    log_probability, states = found
    best = max(paths.values(), default=-INF)
    assert log_probability == pytest.approx(best, rel=1e-14, abs=1e-10)
    path = tuple(states.tolist())
    if best == -INF:
        assert path == (-1,) * n_steps
    else:
        assert paths[path] == pytest.approx(best, rel=1e-14, abs=1e-10)


def solve(model, ptr=None):
    if model.pmf is None:
        return hmm_viterbi(*model[:3], ptr)
    ptr = np.array([0, len(model.log_obs)]) if ptr is None else ptr
    return decode(ptr, *model[:3], tables(model.pmf))


def single(found):
    (log_probability,), states = found
    return log_probability, states


@pytest.mark.parametrize("case", CASES)
def test_path(case):
    model = CASES[case]
    check(single(solve(model)), log_joints(*model), len(model.log_obs))


@pytest.mark.filterwarnings("ignore:.*has probability 0")
@pytest.mark.parametrize("has_durations", [False, True])
def test_random_models(has_durations):
    """Models of all sizes, with zeros of every kind."""
    rng, n_impossible = np.random.default_rng(0), 0
    for i in range(200):
        n_states, n_steps, longest = rng.integers((2, 1, 1), (5, 7, 7))
        spread, concentration = (1.0, 30.0, 2000.0)[i % 3], (1.0, 0.05)[i % 2]
        longest = longest if has_durations else None
        model = random_model(rng, n_states, n_steps, longest, spread, concentration)
        if not has_durations:
            transmat = np.where(rng.random((n_states, n_states)) < 0.2, 0.0, model.transmat)
            transmat[transmat.sum(axis=1) < 0.01, 0] = 1.0
            model = model._replace(transmat=transmat / transmat.sum(axis=1, keepdims=True))
        model.log_obs[rng.random(model.log_obs.shape) < 0.3 * (i % 4 > 0)] = -INF
        found = single(solve(model))
        n_impossible += found[0] == -INF
        check(found, log_joints(*model), n_steps)
        assert has_durations or found[0] <= hmm_log_likelihood(*model[:3])[0] + 1e-9
    assert 5 < n_impossible < 120


@pytest.mark.parametrize("longest", [None, 4])
def test_panel(longest):
    """Sequences are independent; impossible ones neither disturb others nor raise."""
    rng = np.random.default_rng(2)
    model = random_model(rng, 3, 1, longest)
    parts = [rng.normal(size=(n, 3)) for n in (4, 0, 3, 1, 5, 6)]
    parts[2][1] = parts[4][4] = -INF
    ptr = np.cumsum([0, *map(len, parts)])
    with pytest.warns(UserWarning, match="Sequence 2 and 1 other have probability 0"):
        log_probabilities, states = solve(model._replace(log_obs=np.concatenate(parts)), ptr)
    assert log_probabilities[1] == 0.0
    for s, part in enumerate(parts):
        if len(part) > 0:
            own = log_probabilities[s], states[ptr[s] : ptr[s + 1]]
            check(own, log_joints(*model._replace(log_obs=part)), len(part))


def test_order_of_ties():
    """Among equally probable paths, the lowest last state counts, then that before, and so on."""
    uniform, log_obs = np.full(4, 0.25), np.zeros((3, 4))
    log_obs[1, 0] = log_obs[2, :2] = -INF
    _, states = hmm_viterbi(uniform, np.tile(uniform, (4, 1)), log_obs)
    np.testing.assert_array_equal(states, [0, 1, 2])


def test_long_sequence():
    """A long sequence of certain states: its path, and the sum that it has by hand."""
    rng = np.random.default_rng(3)
    states = np.repeat(rng.permutation(20).repeat(5), 100)
    log_obs = np.full((len(states), 20), -50.0)
    log_obs[np.arange(len(states)), states] = -1.0
    transmat = np.full((20, 20), 0.1 / 19)
    np.fill_diagonal(transmat, 0.9)
    (found,), path = hmm_viterbi(np.full(20, 0.05), transmat, log_obs)
    np.testing.assert_array_equal(path, states)
    n_jumps = 19
    expected = -math.log(20) - 10000 + n_jumps * math.log(0.1 / 19) + 9980 * math.log(0.9)
    assert found == pytest.approx(expected, rel=1e-13)


def test_warnings():
    """They name what is impossible, and come only then."""
    uniform, half = [0.5, 0.5], np.full((2, 2), 0.5)
    hmm_viterbi(uniform, half, np.zeros((2, 2)))
    for ptr, message in (
        (None, "The sequence has probability 0"),
        ([0, 1, 2], "Sequence 1 has probability 0"),
        ([0, 0, 0, 1, 2], "Sequence 3 has probability 0"),
    ):
        with pytest.warns(UserWarning, match=message) as caught:
            hmm_viterbi(uniform, half, [[0.0, 0.0], [-INF, -INF]], ptr)
        assert caught[0].filename == __file__
