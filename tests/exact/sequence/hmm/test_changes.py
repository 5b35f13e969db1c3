"""Probabilities of changes of the state against enumeration of all sequences of states."""

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states
from exact.oracles.hsmm import enumerate_segments
from exact.sequence.hmm.segment_problems import CASES as SEGMENT_CASES
from exact.sequence.hmm.segment_problems import arguments
from exact.sequence.hmm.test_messages import CASES, random_model
from numpy.testing import assert_allclose

from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._segment_messages import SegmentMessages


def expected_of(probabilities):
    """Return P(z_t is not z_t-1 given x) of all steps; 0 for the first."""
    n_steps = len(next(iter(probabilities)))
    result = np.zeros(n_steps)
    for path, p in probabilities.items():
        result[1:] += p * (np.diff(path) != 0)
    return result


def changes_of(messages, n_steps):
    out = np.full(n_steps, np.nan)
    assert messages.changes(out) == -1
    return out


@pytest.mark.parametrize("case", CASES)
def test_changes(case):
    startprob, transmat, log_obs = CASES[case]
    messages = HMMMessages(np.array([0, len(log_obs)]), startprob, transmat, log_obs)
    expected = expected_of(enumerate_states(*CASES[case])[1])
    assert_allclose(changes_of(messages, len(log_obs)), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("case", SEGMENT_CASES)
def test_changes_of_segments(case):
    """Neighboring segments have other states, so a segment begins where the state changes."""
    model = SEGMENT_CASES[case]
    expected = expected_of(enumerate_segments(*model)[1])
    found = changes_of(SegmentMessages(*arguments(model)), len(model[2]))
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_panel():
    """Sequences are independent; the first step of each has no step before it."""
    startprob, transmat, _ = random_model(3, 1)
    parts = [random_model(3, n)[2] for n in (4, 1, 5)]
    ptr = np.cumsum([0, *map(len, parts)])
    found = changes_of(HMMMessages(ptr, startprob, transmat, np.concatenate(parts)), ptr[-1])
    expected = [expected_of(enumerate_states(startprob, transmat, part)[1]) for part in parts]
    assert_allclose(found, np.concatenate(expected), rtol=1e-9, atol=1e-10)


def test_panel_of_segments():
    rng = np.random.default_rng(1)
    startprob, transmat, _, pmf = SEGMENT_CASES["plain"]
    parts = [rng.normal(size=(n, 3)) for n in (4, 1, 6)]
    ptr = np.cumsum([0, *map(len, parts)])
    args = arguments((startprob, transmat, np.concatenate(parts), pmf), ptr)
    expected = [
        expected_of(enumerate_segments(startprob, transmat, part, pmf)[1]) for part in parts
    ]
    found = changes_of(SegmentMessages(*args), ptr[-1])
    assert_allclose(found, np.concatenate(expected), rtol=1e-9, atol=1e-10)


def test_impossible():
    log_obs = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    messages = HMMMessages(np.array([0, 1, 2]), np.array([1.0, 0.0]), np.eye(2), log_obs)
    assert messages.changes(np.empty(2)) == 1
