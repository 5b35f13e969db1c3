"""Sequences that kernels go through together: results do not depend on how many these are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._hmm import _batches
from skdp.sequence._hmm._batches import Batches, find_longest
from skdp.sequence._hmm._kernels_messages import filter_in_logs
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._segment_messages import SegmentMessages

PTR = np.array([0, 3, 4, 4, 9, 10, 17, 18, 20])
RNG = np.random.default_rng(0)
LOG_OBS = RNG.normal(size=(20, 2))
PLAIN = np.array([0.3, 0.7]), np.array([[0.8, 0.2], [0.4, 0.6]])
NARROW = np.array([1.0, 0.0]), np.array([[1.0, 1e-190], [0.0, 1.0]])
"""A way out so narrow that sequences of two steps and more take logarithms."""

DURATIONS = np.log([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]), np.log([[1.0, 0.5, 0.2], [1.0, 0.8, 0.6]])


@pytest.mark.parametrize("room", [1, 12, 14, 20, 100])
def test_batches(monkeypatch, room):
    monkeypatch.setattr(_batches, "_ROOM", room)
    batches = Batches(PTR, 2)
    bounds = list(batches)
    assert [first for first, _ in bounds] == [0, *(last for _, last in bounds[:-1])]
    assert bounds[-1][1] == len(PTR) - 1
    n_steps = [PTR[last] - PTR[first] for first, last in bounds]
    assert max(n_steps) <= batches.n_steps <= max(room // 2, find_longest(PTR))
    assert batches.shape == (batches.n_steps, 2)


def test_no_steps():
    ptr = np.array([0, 0])
    assert list(Batches(ptr, 3)) == [(0, 1)]
    assert find_longest(ptr) == 1
    assert list(Batches(np.array([0]), 3)) == []


def results(make):
    """Return likelihoods, posteriors and states of all sequences."""
    messages = make()
    likelihoods, steps = np.empty(len(PTR) - 1), np.empty(len(LOG_OBS))
    args = (steps, likelihoods) if isinstance(messages, SegmentMessages) else (likelihoods,)
    messages.log_likelihoods(*args)
    probabilities, states = np.empty(LOG_OBS.shape), np.empty(len(LOG_OBS), dtype=np.int64)
    assert messages.posteriors(probabilities) == -1
    assert messages.sample_states(states, make_stream(make_seed_sequence(0))) == -1
    return likelihoods, probabilities, states


@pytest.mark.parametrize(
    "make",
    [
        lambda: HMMMessages(PTR, *PLAIN, LOG_OBS),
        lambda: HMMMessages(PTR, *NARROW, LOG_OBS),
        lambda: SegmentMessages(PTR, PLAIN[0], np.eye(2)[::-1], LOG_OBS, *DURATIONS),
    ],
    ids=["plain", "in logarithms", "segments"],
)
def test_results_do_not_depend_on_batches(monkeypatch, make):
    expected = results(make)
    for room in (1, 12, 20):
        monkeypatch.setattr(_batches, "_ROOM", room)
        for found, one in zip(results(make), expected, strict=True):
            assert_array_equal(found, one)


def test_logarithms_are_compiled_when_needed(monkeypatch):
    """A fit of a plain model never calls the kernels that are in logarithms."""
    calls = []

    def note(*args):
        calls.append(1)
        return filter_in_logs(*args)

    monkeypatch.setattr("skdp.sequence._hmm._messages.kernels.filter_in_logs", note)
    results(lambda: HMMMessages(PTR, *PLAIN, LOG_OBS))
    assert calls == []
    results(lambda: HMMMessages(PTR, *NARROW, LOG_OBS))
    assert len(calls) == 3 * np.count_nonzero(np.diff(PTR) > 1)


def beam(messages, states, rng):
    states[:] = np.arange(len(states)) % 2
    return messages.sample_states_by_beam(states, rng)


@pytest.mark.parametrize(
    ("make", "sample"),
    [
        (lambda x: HMMMessages(PTR, *PLAIN, x), HMMMessages.sample_states),
        (lambda x: HMMMessages(PTR, *NARROW, x), HMMMessages.sample_states),
        (lambda x: HMMMessages(PTR, *PLAIN, x), beam),
        (
            lambda x: SegmentMessages(PTR, PLAIN[0], np.eye(2)[::-1], x, *DURATIONS),
            SegmentMessages.sample_states,
        ),
    ],
    ids=["plain", "in logarithms", "beam", "segments"],
)
def test_draws_do_not_depend_on_other_sequences(make, sample):
    """Observations of one sequence are replaced; the states of all others stay."""
    found = []
    longest = int(np.diff(PTR).argmax())
    begin, end = PTR[longest : longest + 2]
    for log_obs in (LOG_OBS, LOG_OBS.copy()):
        if found:
            log_obs[begin:end] = -600.0, 0.0
        states = np.empty(len(LOG_OBS), dtype=np.int64)
        assert sample(make(log_obs), states, make_stream(make_seed_sequence(0))) == -1
        found.append(states)
    same = np.ones(len(LOG_OBS), dtype=bool)
    same[begin:end] = False
    assert_array_equal(found[0][same], found[1][same])
    assert not np.array_equal(*found)
