"""Probabilities of states given the past against enumeration of all beginnings of a sequence."""

from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states, posterior
from exact.oracles.hsmm import enumerate_segments
from exact.sequence.hmm.segment_problems import CASES as SEGMENT_CASES
from exact.sequence.hmm.segment_problems import arguments
from exact.sequence.hmm.test_messages import CASES
from numpy.testing import assert_allclose

from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._segment_messages import SegmentMessages


def expected_of(enumerate_all, startprob, transmat, log_obs, *more):
    """Return p(z_t given x_<=t) of all steps."""
    rows = []
    for n in range(1, len(log_obs) + 1):
        _, probabilities = enumerate_all(startprob, transmat, log_obs[:n], *more)
        rows.append(posterior(probabilities, len(startprob))[-1])
    return np.array(rows)


def expected_ages(startprob, transmat, log_obs, pmf):
    """Return the probabilities of states and ages of the last step, (D, J)."""
    _, probabilities = enumerate_segments(startprob, transmat, log_obs, pmf)
    result = np.zeros((len(pmf[0]), len(startprob)))
    for path, p in probabilities.items():
        changes = np.flatnonzero(np.diff(path)) + 1  # neighboring segments have other states
        result[len(path) - 1 - max(changes, default=0), path[-1]] += p
    return result


def run(messages, method, shape):
    out = np.full(shape, np.nan)
    assert getattr(messages, method)(out) == -1
    return out


@pytest.mark.parametrize("case", CASES)
def test_filtered(case):
    startprob, transmat, log_obs = CASES[case]
    messages = HMMMessages(np.array([0, len(log_obs)]), startprob, transmat, log_obs)
    found = run(messages, "filtered", log_obs.shape)
    expected = expected_of(enumerate_states, *CASES[case])
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", SEGMENT_CASES)
def test_filtered_segments(case):
    model = SEGMENT_CASES[case]
    found = run(SegmentMessages(*arguments(model)), "filtered", model[2].shape)
    assert_allclose(found, expected_of(enumerate_segments, *model), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", SEGMENT_CASES)
def test_ages(case):
    model = SEGMENT_CASES[case]
    expected = expected_ages(*model)
    found = run(SegmentMessages(*arguments(model)), "last_ages", (1, *expected.shape))
    assert_allclose(found[0], expected, rtol=1e-9, atol=1e-12)


def test_panel():
    """Sequences are independent, also one that needs logarithms."""
    rng = np.random.default_rng(0)
    startprob, transmat, hard = CASES["left to right, late"]
    parts = [rng.normal(size=(3, 3)), hard, np.empty((0, 3)), rng.normal(size=(2, 3))]
    ptr = np.cumsum([0, *map(len, parts)])
    log_obs = np.concatenate(parts)
    found = run(HMMMessages(ptr, startprob, transmat, log_obs), "filtered", log_obs.shape)
    for begin, end in pairwise(ptr):
        expected = expected_of(enumerate_states, startprob, transmat, log_obs[begin:end])
        assert_allclose(found[begin:end], expected.reshape(-1, 3), rtol=1e-9, atol=1e-12)
    log_obs[-1] = -np.inf
    assert HMMMessages(ptr, startprob, transmat, log_obs).filtered(np.empty(log_obs.shape)) == 3


def test_panel_of_segments():
    rng = np.random.default_rng(1)
    startprob, transmat, _, pmf = SEGMENT_CASES["plain"]
    parts = [rng.normal(size=(n, 3)) for n in (3, 1, 6, 4)]
    ptr = np.cumsum([0, *map(len, parts)])
    model = startprob, transmat, np.concatenate(parts), pmf
    messages = SegmentMessages(*arguments(model, ptr))
    found = run(messages, "filtered", model[2].shape)
    ages = run(messages, "last_ages", (4, len(pmf[0]), 3))
    for s, part in enumerate(parts):
        own = startprob, transmat, part, pmf
        expected = expected_of(enumerate_segments, *own)
        assert_allclose(found[ptr[s] : ptr[s + 1]], expected, rtol=1e-9, atol=1e-12)
        assert_allclose(ages[s], expected_ages(*own), rtol=1e-9, atol=1e-12)
    model[2][ptr[2]] = -np.inf
    messages = SegmentMessages(*arguments(model, ptr))
    assert messages.filtered(np.empty(model[2].shape)) == 2
    assert messages.last_ages(np.empty(ages.shape)) == 2
