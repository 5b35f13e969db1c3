"""Input and fits of vectors with outliers; densities and posteriors are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from unit.emissions.helpers import started, stream
from unit.sequence.hmm_models import GAUSSIAN, quick

from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.emissions._common._columns import InMemoryRows, moments_of
from skdp.emissions._gaussian._student_t import make_nodes, robust_moments
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)


def with_outliers(n_steps=3000, n_states=3, share=0.02, seed=0):
    """Return clusters of which some steps are far off, true states and which steps these are."""
    rng = np.random.default_rng(seed)
    z = np.repeat(rng.integers(0, n_states, n_steps), rng.geometric(0.02, n_steps))[:n_steps]
    x = 6.0 * rng.permutation(n_states)[z][:, np.newaxis] * [1.0, -1.0]
    x = x + rng.normal(size=x.shape)
    off = rng.random(n_steps) < share
    x[off] += 30.0 * rng.normal(size=(off.sum(), 2))
    return x, z, off


# Robust moments


def test_moments_of_normal_data():
    x = RNG.normal(size=(20_000, 2)) @ np.array([[2.0, 1.0], [0.0, 1.0]]) + [1.0, -3.0]
    center, covariance = robust_moments(x)
    assert_allclose(center, [1.0, -3.0], atol=0.06)
    assert_allclose(covariance, moments_of(InMemoryRows(x))[1], rtol=0.08)


def test_moments_with_outliers():
    x = RNG.normal(size=(2000, 2))
    x[::50] = 1e6
    center, covariance = robust_moments(x)
    assert_allclose(center, 0.0, atol=0.1)
    assert_allclose(np.diag(covariance), 1.0, rtol=0.2)
    assert abs(covariance[0, 1]) < 0.3


def test_moments_of_columns_without_spread():
    """More than half of a value, all of it, nothing but one value, gaps."""
    x = np.zeros((10, 3))
    x[:3, 0] = 1.0
    x[:, 1] = np.arange(10.0)
    x[4:, 1] = np.nan
    center, covariance = robust_moments(x)
    assert_allclose(center, [0.0, 1.5, 0.0])
    assert_allclose(covariance[0, 0], x[:, 0].var())
    assert_allclose(covariance[2, 2], 1.0)
    assert np.all(np.linalg.eigvalsh(covariance) > 0.0)
    _, one = robust_moments(np.array([[3.0]]))
    assert one > 0.0


# Samplers


def test_moves_see_the_weights_of_the_sweep():
    """Moves and draws of parameters condition on the same statistics."""
    x, z, _ = with_outliers(200)
    x[3, 0] = x[5] = np.nan
    sampler, rng = StudentTEmission(degrees_of_freedom_prior=7.0).make_sampler(x, 4), stream()
    sampler.attach(x)
    sampler.draw(z, rng)
    sampler.complete(z, rng)
    part = sampler.restrict(np.arange(200), 4)
    part.condition(z)
    sampler.draw(z, rng)
    for name in ("counts", "masses", "centers", "scatter"):
        assert_array_equal(getattr(part, name), getattr(sampler, name))
    assert part.log_evidence() == sampler.log_evidence()


def test_random_starts_leave_outliers_out():
    x, z, off = with_outliers()
    x[off] *= 1e3
    found = []
    for emission in (GaussianEmission(), StudentTEmission()):
        _, states = started(emission, x, 5)
        found.append(adjusted_rand_score(z[~off], states[~off]))
    assert found[1] > found[0] + 0.2


@pytest.mark.parametrize("freedom", [150.0, 250.0, 1e8, 1e16, 1e20])
def test_nodes_are_few_and_have_the_moments(freedom):
    nodes = make_nodes(freedom, 2)
    assert len(nodes.logs) < 1000
    weights, u = np.exp(nodes.log_weights), np.exp(nodes.logs)
    assert_allclose(weights @ u, 1.0, rtol=1e-9)
    assert_allclose(weights @ (u - 1.0) ** 2, 2.0 / freedom, rtol=1e-6)


@pytest.mark.parametrize("tail_prior", [(1e8, 1e-8), (1e8, 1e8), (1e-8, 1e-8), (1e-8, 1e8)])
def test_priors_at_their_ends(tail_prior):
    x = np.random.default_rng(0).normal(size=(30, 2))
    emission = StudentTEmission("auto", tail_prior=tail_prior)
    model = HDPHMMLT(2, emission=emission, max_iter=2, random_state=0).fit(x)
    assert np.isfinite(model.score(x))
    assert np.isfinite(model.transform(x)).all()


# Fits


def test_outliers_get_no_states():
    """Gaussian states are made for outliers, or stretched; those of heavy tails are not."""
    x, z, off = with_outliers()
    found = {}
    for name, emission in (("gaussian", "gaussian"), ("student_t", StudentTEmission(2.0))):
        model = HDPHMMLT(10, emission=emission, max_iter=100, random_state=0).fit(x)
        found[name] = np.count_nonzero(model.state_shares_ > 0.01)
    assert found["student_t"] == 3
    assert found["gaussian"] > 3
    assert adjusted_rand_score(z, model.predict(x)) > 0.97
    assert adjusted_rand_score(z[~off], model.predict(x)[~off]) > 0.99
    scales = np.diagonal(model.emission_.scales[:3], axis1=1, axis2=2)
    assert np.all((scales > 0.4) & (scales < 1.1))


def test_far_outliers():
    x, z, _ = with_outliers(500)
    x[[3, 50]] = [[1e100, -1e100], [1e30, 0.0]]
    model = HDPHMMLT(6, emission="student_t", max_iter=40, random_state=0).fit(x)
    assert np.isfinite(model.score(x))
    assert adjusted_rand_score(z, model.predict(x)) > 0.95


def test_degrees_of_freedom_are_learned():
    """One cluster of heavy tails, and one of none."""
    rng = np.random.default_rng(1)
    for x, low, high in (
        (rng.standard_t(3.0, size=(4000, 1)), 2.0, 4.5), (rng.normal(size=(4000, 1)), 15.0, 1e4)
    ):  # fmt: skip
        model = HDPHMMLT(1, emission=StudentTEmission("auto"), max_iter=60, random_state=0)
        found = [sample.emission.degrees_of_freedom for sample in model.fit(x).samples_]
        assert low < np.mean(found) < high


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_missing_values(covariance_type):
    X = [x.copy() for x in GAUSSIAN]
    X[0][3], X[1][5:8, 0] = np.nan, np.nan
    estimator = quick(emission=StudentTEmission(4.0, covariance_type)).fit(X)
    assert np.isfinite(estimator.score_samples(X)).all()
    assert_allclose(estimator.score_samples([np.full((4, 2), np.nan)]), 0.0, atol=1e-12)
    assert np.isfinite(np.vstack(estimator.impute(X))).all()


def test_forecasts_without_a_variance():
    ahead = quick(emission=StudentTEmission(2.0)).fit(GAUSSIAN).forecast(GAUSSIAN, 2)
    assert np.isinf(ahead.sd[0]).all()
    assert np.isfinite(ahead.mean[0]).all()
    assert np.isfinite(ahead.quantiles[0]).all()
