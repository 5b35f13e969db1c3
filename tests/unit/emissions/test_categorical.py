"""Samplers of the probabilities of symbols."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp._random import make_seed_sequence, make_stream
from skdp.emissions._categorical import MEAN_RUN, CategoricalModel
from skdp.sequence import CategoricalEmission


def start(n_steps, n_states, seed=0):
    sampler = CategoricalEmission(2).make_sampler(np.zeros((n_steps, 1)), n_states)
    states = np.full(n_steps, -1, dtype=np.int64)
    sampler.start(states, make_stream(make_seed_sequence(seed)))
    return states


def test_first_states_come_in_runs():
    """A step begins a run with probability 1/3, and the new state is another in 19 of 20 cases.

    5 standard errors of the share of changes: a false alarm for one seed in 2 million. Of 30,000
    steps a state has 1,500, with a standard error below 90.
    """
    n_steps, n_states = 30_000, 20
    states = start(n_steps, n_states)
    expected = (1.0 - 1.0 / n_states) / MEAN_RUN
    error = (expected * (1.0 - expected) / n_steps) ** 0.5
    assert abs(np.mean(states[1:] != states[:-1]) - expected) < 5.0 * error
    assert np.all(np.abs(np.bincount(states, minlength=n_states) - n_steps / n_states) < 450)


def test_first_states_of_a_short_panel():
    """The first step begins a run: not all chains begin with state 0."""
    assert len({int(start(1, 5, seed)[0]) for seed in range(20)}) == 5


def test_names_of_hmmlearn():
    model = CategoricalModel(np.array([[0.2, 0.8], [0.5, 0.5]]))
    assert_array_equal(model.emissionprob_, model.probs)
    with pytest.raises(ValueError, match="read-only"):
        model.emissionprob_[0, 0] = 1.0
