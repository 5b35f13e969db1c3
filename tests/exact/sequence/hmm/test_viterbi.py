"""The most probable paths against all paths."""

import math
import warnings
from itertools import product

import numpy as np
import pytest
from exact.oracles import hmm, hsmm
from exact.sequence.hmm.segment_problems import CASES as SEGMENT_CASES
from exact.sequence.hmm.segment_problems import random_model as random_segment_model
from exact.sequence.hmm.test_messages import CASES

from skdp.sequence import hmm_log_likelihood, hmm_viterbi
from skdp.sequence._hmm._viterbi import decode

INF = np.inf


def all_paths(startprob, transmat, log_obs):
    """Return log p(x, z) of every path z."""
    paths = product(range(len(startprob)), repeat=len(log_obs))
    return {z: hmm.log_joint(startprob, transmat, log_obs, z) for z in paths}


def all_segmented_paths(startprob, transmat, log_obs, pmf):
    result = {}
    for durations in hsmm.segmentations(len(log_obs), len(pmf[0])):
        for states in hsmm.labelings(len(durations), len(startprob)):
            path = tuple(j for d, j in zip(durations, states, strict=True) for _ in range(d))
            result[path] = hsmm.log_joint(startprob, transmat, log_obs, pmf, durations, states)
    return result


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


def segments(startprob, transmat, log_obs, pmf, ptr=None):
    pmf = np.asarray(pmf)
    survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        tables = np.log(pmf), np.log(survival)
    ptr = np.array([0, len(log_obs)]) if ptr is None else ptr
    return decode(ptr, startprob, transmat, log_obs, tables)


def single(found):
    (log_probability,), states = found
    return log_probability, states


@pytest.mark.parametrize("case", CASES)
def test_path(case):
    model = CASES[case]
    check(single(hmm_viterbi(*model)), all_paths(*model), len(model[2]))


@pytest.mark.parametrize("case", SEGMENT_CASES)
def test_segments(case):
    model = SEGMENT_CASES[case]
    check(single(segments(*model)), all_segmented_paths(*model), len(model[2]))


@pytest.mark.filterwarnings("ignore:.*has probability 0")
def test_random_models():
    """Models of all sizes, with zeros of every kind."""
    rng = np.random.default_rng(0)
    n_impossible = 0
    for i in range(300):
        n_states, n_steps = rng.integers((1, 1), (6, 6))
        concentration, spread = (1.0, 0.05)[i % 2], (1.0, 30.0, 2000.0)[i % 3]
        startprob = rng.dirichlet(np.full(n_states, concentration))
        transmat = rng.dirichlet(np.full(n_states, concentration), n_states)
        transmat[rng.random(transmat.shape) < 0.2] = 0.0
        transmat[transmat.sum(axis=1) == 0.0, 0] = 1.0
        transmat /= transmat.sum(axis=1, keepdims=True)
        log_obs = spread * rng.normal(size=(n_steps, n_states))
        log_obs[rng.random(log_obs.shape) < 0.3] = -INF
        model = startprob, transmat, log_obs
        found = single(hmm_viterbi(*model))
        n_impossible += found[0] == -INF
        check(found, all_paths(*model), n_steps)
        assert found[0] <= hmm_log_likelihood(*model)[0] + 1e-9
    assert 20 < n_impossible < 200


@pytest.mark.filterwarnings("ignore:.*has probability 0")
def test_random_segments():
    rng = np.random.default_rng(1)
    n_impossible = 0
    for i in range(200):
        n_states, n_steps, longest = rng.integers((2, 1, 1), (5, 8, 7))
        spread, concentration = (3.0, 30.0, 2000.0)[i % 3], (1.0, 0.05)[i % 2]
        model = random_segment_model(rng, n_states, n_steps, longest, spread, concentration)
        if i % 3 == 0:
            model[2][rng.random(model[2].shape) < 0.3] = -INF
        found = single(segments(*model))
        n_impossible += found[0] == -INF
        check(found, all_segmented_paths(*model), n_steps)
    assert 5 < n_impossible < 100


def test_panel():
    """Sequences are independent; impossible ones neither disturb others nor raise."""
    rng = np.random.default_rng(2)
    startprob, transmat = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    np.fill_diagonal(transmat, 0.0)
    transmat /= transmat.sum(axis=1, keepdims=True)
    parts = [rng.normal(size=(n, 3)) for n in (4, 0, 3, 1, 5, 6)]
    parts[2][1] = parts[4][4] = -INF
    ptr = np.cumsum([0, *map(len, parts)])
    pmf = rng.dirichlet(np.ones(4), 3)
    model = startprob, transmat, np.concatenate(parts)
    for solve, oracle, more in (
        (hmm_viterbi, all_paths, ()),
        (segments, all_segmented_paths, (pmf,)),
    ):
        with pytest.warns(UserWarning, match="Sequence 2 and 1 other have probability 0"):
            log_probabilities, states = solve(*model, *more, ptr)
        assert log_probabilities[1] == 0.0
        for s, part in enumerate(parts):
            if len(part) > 0:
                own = log_probabilities[s], states[ptr[s] : ptr[s + 1]]
                check(own, oracle(startprob, transmat, part, *more), len(part))


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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hmm_viterbi(uniform, half, np.zeros((2, 2)))
    for ptr, message in (
        (None, "The sequence has probability 0"),
        ([0, 1, 2], "Sequence 1 has probability 0"),
        ([0, 0, 0, 1, 2], "Sequence 3 has probability 0"),
    ):
        with pytest.warns(UserWarning, match=message) as caught:
            hmm_viterbi(uniform, half, [[0.0, 0.0], [-INF, -INF]], ptr)
        assert caught[0].filename == __file__
