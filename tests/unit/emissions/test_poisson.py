"""Stored samples of counts; results are in tests/exact."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp._random import make_seed_sequence, make_stream
from skdp.emissions._poisson import PoissonEmission, PoissonModel

COUNTS = np.array([[3, 0], [5, 1], [0, 9], [2, 2], [7, 0]], dtype=float)
STATES = np.array([0, 0, 1, 0, 1])


def learned_model(n_states=3):
    sampler = PoissonEmission().make_sampler(COUNTS, n_states)
    sampler.attach(COUNTS)
    sampler.draw(STATES, make_stream(make_seed_sequence(0)))
    return sampler.model()


def test_models_with_and_without_uncertainty():
    learned = learned_model()
    known = PoissonModel(learned.intensities)
    assert known.shapes is None
    assert np.abs(known.log_obs(COUNTS) - learned.log_obs(COUNTS)).max() > 0.01
    order = np.array([2, 0, 1])
    for model in (learned, known):
        copied = pickle.loads(pickle.dumps(model))
        assert_array_equal(copied.log_obs(COUNTS), model.log_obs(COUNTS))
        ordered = model.reorder(order)
        assert_array_equal(ordered.log_obs(COUNTS), model.log_obs(COUNTS)[:, order])
        draws = [m.sample(STATES, np.random.default_rng(0)) for m in (copied, model)]
        assert_array_equal(*draws)
    assert known.reorder(order).shapes is None


def test_many_rows_and_counts():
    """More than are done at a time, of the rows and of different counts."""
    values = np.random.default_rng(0).permutation(np.arange(5000.0)).reshape(-1, 2)
    model = learned_model()
    expected = np.concatenate([model.log_obs(row[np.newaxis]) for row in values])
    assert_array_equal(model.log_obs(values), expected)


@pytest.mark.parametrize("wrong", [-1.0, 0.5, np.nan, np.inf])
def test_what_is_no_count_is_named(wrong):
    learned = learned_model()
    for model in (learned, PoissonModel(learned.intensities)):
        with pytest.raises(ValueError, match="X must hold counts"):
            model.log_obs(np.array([[1.0, wrong]]))


def test_names_of_hmmlearn():
    model = learned_model()
    assert_array_equal(model.lambdas_, model.intensities)
    with pytest.raises(ValueError, match="read-only"):
        model.lambdas_[0, 0] = 1.0
    model.intensities[0, 0] = 1.0  # as before
