"""Regressions on lags: default priors, first states and fits; results are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score
from unit.emissions.helpers import log_obs, started, stream

from skdp.emissions import AutoregressiveEmission
from skdp.sequence import HDPHMMLT


def turn(angle, size):
    return size * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def spirals(n_steps=600, seed=0):
    """Return points that turn in one of three ways, always about the same center, and the way."""
    rng = np.random.default_rng(seed)
    states = np.repeat(rng.integers(3, size=n_steps // 40), 40)
    ways = [turn(0.1, 0.98), turn(0.7, 0.98), turn(-0.3, 0.98)]
    x = np.zeros((n_steps, 2))
    for t in range(1, n_steps):
        x[t] = ways[states[t]] @ x[t - 1] + 0.1 * rng.normal(size=2)
    return x, states


# Default priors


def test_prior_from_a_regression_on_all_data():
    values, _ = spirals()
    ptr = np.array([0, 250, 600])
    prior = AutoregressiveEmission(2).make_sampler(values, 3, ptr).prior
    rows = np.concatenate([np.arange(2, 250), np.arange(252, 600)])
    design = np.hstack([np.ones((len(rows), 1)), values[rows - 1], values[rows - 2]])
    expected, *_ = np.linalg.lstsq(design, values[rows], rcond=None)
    assert_allclose(prior.coefs, expected.T, atol=1e-6)
    # The coefficients are worth D K / 2 observations.
    precision = prior.precision_root @ prior.precision_root.T
    assert_allclose(precision, 5.0 * design.T @ design / len(rows), rtol=1e-6, atol=1e-6)
    left = values[rows] - design @ expected
    assert prior.dof == 5.0
    scale = prior.scale_root @ prior.scale_root.T
    assert_allclose(scale / 2.0, np.sqrt(0.2) * left.T @ left / len(rows), rtol=1e-3)


@pytest.mark.parametrize("n_lags", [1, 2, 5])
def test_columns_that_hardly_vary(n_lags):
    """A constant column, one that the others determine, one without noise, and few rows."""
    t = np.arange(30.0)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=30)
    values = np.column_stack([np.full(30, 0.1), noise, 2.0 * noise + 1.0, np.sin(0.1 * t)])
    for x in (values, values[: n_lags + 1]):
        sampler, states = started(AutoregressiveEmission(n_lags), x)
        assert np.all(np.isfinite(log_obs(sampler, len(x))))
        model = sampler.model()
        assert np.all(np.isfinite(model.log_obs(x, np.array([0, len(x)]))))
        assert np.isfinite(sampler.log_evidence())
        assert np.all(np.isfinite(model.sample(states, np.random.default_rng(0))))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_values_without_noise(unit):
    """The noise is relative to the values; constants have no unit of their own."""
    line = unit * np.arange(200.0)
    for values, expected in ((line, 1e-6 * line.std()), (np.full(200, 0.1 * unit), 1.0)):
        root = started(AutoregressiveEmission(), values[:, np.newaxis])[0].prior.scale_root
        assert_allclose(root, [[np.sqrt(0.2) * expected]], rtol=1e-3)


# Samplers and models


def test_first_states():
    """Windows choose regressions: more states than there are ways to move, but few mixed ones."""
    values, truth = spirals(2000)
    sampler, states = started(AutoregressiveEmission(), values, 8)
    pairs = np.zeros((8, 3))
    np.add.at(pairs, (states, truth), 1.0)
    assert pairs.max(axis=1).sum() > 0.8 * len(values)
    few = np.zeros(5, dtype=np.int64)
    part = sampler.restrict(np.arange(5), 8)
    part.start(few, stream())
    assert np.all((few >= 0) & (few < 8))


def test_new_sequences_begin_as_successive_values_do():
    """Means and covariances of the first two values; 14 figures, |z| < 5: 8e-6 of seeds."""
    values, _ = spirals(2000)
    values += [3.0, -1.0]
    sampler, _ = started(AutoregressiveEmission(2), values)
    model, rng = sampler.model(), np.random.default_rng(0)
    n = 4000
    pairs = np.array([model.sample(np.zeros(3, int), rng)[:2].ravel() for _ in range(n)])
    expected = np.hstack([values[:-2], values[1:-1]])
    away = pairs - expected.mean(axis=0)
    assert np.all(np.abs(away.mean(axis=0)) < 5.0 * away.std(axis=0) / np.sqrt(n))
    upper = np.triu_indices(4)
    products = np.einsum("sd,se->sde", away, away)[:, *upper]
    error = products.std(axis=0) / np.sqrt(n)
    known = np.cov(expected.T, bias=True)[upper]
    assert np.all(np.abs(products.mean(axis=0) - known) < 5.0 * error)
    assert model.sample(np.zeros(1, int), rng).shape == (1, 2)  # shorter than its lags


# Fits


def test_ways_to_move_are_found():
    """All states are in the same place: only their motion distinguishes them."""
    values, truth = spirals(1200)
    model = HDPHMMLT(8, emission="autoregressive", stickiness="auto", max_iter=100)
    found = model.set_params(random_state=0).fit(values)
    assert found.n_active_components_ == 3
    assert adjusted_rand_score(truth, found.predict(values)) > 0.9
    gaussian = HDPHMMLT(8, stickiness="auto", max_iter=100, random_state=0).fit(values)
    assert adjusted_rand_score(truth, gaussian.predict(values)) < 0.3
    assert found.score(values) > gaussian.score(values) + 0.5
