"""Gaussian observations: priors, odd data and first states; results are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from unit.emissions.helpers import log_obs, started, stream

from skdp.emissions import GaussianEmission
from skdp.emissions._common._columns import InMemoryRows, moments_of
from skdp.emissions._gaussian._sampler import find_tight_clusters

every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def observations(n_steps=60, n_dims=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = 5.0 * rng.normal(size=(3, n_dims))
    return centers[rng.integers(3, size=n_steps)] + rng.normal(size=(n_steps, n_dims))


def prior_of(values, *args, **params):
    return GaussianEmission(*args, **params).make_sampler(values, 3).prior


# Priors


@pytest.mark.parametrize(("n_dims", "n_missing"), [(1, 5), (3, 0), (3, 5)])
def test_priors_from_the_data(n_missing, n_dims):
    values = observations(n_dims=n_dims)
    values[:n_missing, 0] = np.nan
    prior = prior_of(values)
    assert_allclose(prior.mean[0], np.nanmean(values, axis=0))
    share = 0.2 ** (1.0 / n_dims)
    assert_allclose(np.diag(prior.scale[0]), share * n_dims * np.nanvar(values, axis=0))
    assert (prior.precision, prior.dof) == (0.01, 2.0 * n_dims + 1.0)
    if n_missing == 0:
        covariance = np.cov(values.T, bias=True)
        assert_allclose(prior.scale[0] / (prior.dof - n_dims - 1.0), share * covariance, rtol=2e-4)
    prior = prior_of(values, "diag")
    assert_allclose(prior.mean[:, 0], np.nanmean(values, axis=0))
    assert_allclose(prior.scale[:, 0, 0], share * np.nanvar(values, axis=0))
    assert prior.dof == 3.0


@pytest.mark.parametrize(("n_columns", "full"), [(10, 0.01005), (20, 0.10026), (60, 0.25)])
def test_default_precision_of_means(n_columns, full):
    """It is exp(-46 / D), from .01 to .25; .01 for columns that are independent."""
    values = np.random.default_rng(0).normal(size=(30, n_columns))
    assert prior_of(values).precision == pytest.approx(full, rel=1e-3)
    assert prior_of(values, "diag").precision == pytest.approx(0.01)


@pytest.mark.parametrize(("freedom", "factor"), [(1.5, 1.0), (4.0, 1.0), (5.5, 2.5), (1e6, 999997)])
def test_the_mean_covariance_does_not_depend_on_the_degrees_of_freedom(freedom, factor):
    """This holds if the mean exists with a margin."""
    values = observations()
    prior = prior_of(values, degrees_of_freedom_prior=freedom)
    assert_allclose(np.diag(prior.scale[0]), factor * np.sqrt(0.2) * values.var(axis=0))


def test_moments_of_columns_that_say_little():
    """Constant to rounding, never observed, twice the same; or never seen together."""
    rng = np.random.default_rng(0)
    column = rng.normal(size=30) + 1e3
    constant = np.full(30, 0.1) + 1e-17 * np.arange(30)
    values = np.column_stack([column, 2.0 * column, constant, np.full(30, np.nan)])
    mean, covariance = moments_of(InMemoryRows(values))
    assert_allclose(mean, [column.mean(), 2.0 * column.mean(), 0.1, 0.0])
    assert_allclose(np.diag(covariance), [column.var(), 4.0 * column.var(), 1.0, 1.0])
    assert np.linalg.eigvalsh(covariance)[0] > 0.0
    assert_array_equal(covariance[2:, :2], 0.0)
    values = rng.normal(size=(90, 1)) * [1.0, 1.0, -1.0]
    values[np.arange(90), np.arange(90) // 30] = np.nan
    assert np.linalg.eigvalsh(moments_of(InMemoryRows(values))[1])[0] > 0.0


# Odd data and priors


@every_type
@pytest.mark.parametrize(
    "values",
    [
        np.full((5, 2), 3.0),
        np.zeros((1, 2)),
        np.full((4, 2), np.nan),
        np.tile(np.arange(6.0)[:, np.newaxis], 2),
        1e9 + 1e-3 * observations(),
        1e-150 * observations(),
        1e100 * observations(),
        observations(n_steps=200, n_dims=1) ** 3 @ np.ones((1, 7)),
    ],
    ids=["constant", "one step", "nothing", "line", "far", "small", "large", "copies"],
)
def test_odd_data(values, covariance_type):
    sampler, states = started(GaussianEmission(covariance_type), values, 8)
    assert states.min() >= 0
    assert states.max() < 8
    rng = stream(1)
    for _ in range(5):
        sampler.draw(states, rng)
        assert np.isfinite(log_obs(sampler, len(values), 8)).all()
    assert np.isfinite(sampler.log_evidence())
    assert np.isfinite(sampler.model().log_obs(values)).all()


@pytest.mark.parametrize("freedom", [1e-3, 1e6])
@every_type
def test_odd_degrees_of_freedom(covariance_type, freedom):
    emission = GaussianEmission(covariance_type, degrees_of_freedom_prior=freedom)
    sampler, _ = started(emission, observations(n_dims=1), 20)
    out = log_obs(sampler, 60, 20)
    assert not np.isnan(out).any()
    assert out.max() < np.inf
    assert np.isfinite(sampler.log_evidence())
    draws = sampler.model().sample(np.arange(20).repeat(50), np.random.default_rng(0))
    assert np.isfinite(draws).all()


@every_type
def test_the_model_of_a_state_without_a_mean_covariance(covariance_type):
    """An empty state with nu <= D + 1: the inverse of the mean precision."""
    scale = np.eye(2) if covariance_type == "full" else np.ones(2)
    emission = GaussianEmission(
        covariance_type, degrees_of_freedom_prior=1.5, covariance_prior=3.0 * scale
    )
    sampler, _ = started(emission, observations(), 200)
    empty = np.flatnonzero(sampler.counts.reshape(200, -1)[:, 0] == 0.0)[0]
    assert_allclose(sampler.model().covariances[empty], 2.0 * scale)


@every_type
def test_the_model_of_far_observations(covariance_type):
    """Squares that overflow have density 0; nothing is NaN."""
    sampler, _ = started(GaussianEmission(covariance_type), 1e-100 * observations())
    out = sampler.model().log_obs(np.array([[1.0, -1.0], [1e110, 1e110], [1e110, np.nan]]))
    assert np.isfinite(out[0]).all()
    assert_array_equal(out[1:], -np.inf)


def test_parameters_are_drawn_given_completed_values():
    """Rows that moves between the two have completed keep their completed values."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3))
    values[::3, 1] = np.nan
    states, draws = rng.integers(0, 3, 40), stream()
    sampler = GaussianEmission(degrees_of_freedom_prior=7.0).make_sampler(values, 4)
    sampler.attach(values)
    sampler.draw(states, draws)
    sampler.complete(states, draws)
    seen = sampler.restrict(np.arange(40), 4)
    seen.condition(states)
    sampler.draw(states, draws)
    assert_allclose(sampler.log_evidence(), seen.log_evidence(), rtol=1e-12)


# First states


@every_type
def test_first_states_find_separated_clusters(covariance_type):
    rng = np.random.default_rng(3)
    truth = rng.integers(6, size=300)
    centers = np.array([[100.0 * i, 1e-3 * (i % 2)] for i in range(6)])
    values = centers[truth] + rng.normal(size=(300, 2)) * [1.0, 1e-5]
    values[[3, 25], 1] = np.nan
    _, states = started(GaussianEmission(covariance_type), values, 6)
    assert len(set(zip(truth.tolist(), states.tolist(), strict=True))) == 6


THIRDS = np.repeat(np.arange(3), 40)


def three_of_forty_columns(seed=0):
    """Return three groups that differ in three of forty columns, by 8.5 standard deviations."""
    return 6.0 * np.eye(40)[THIRDS] + np.random.default_rng(seed).normal(size=(120, 40))


def find(values, n_clusters, seed=0):
    return find_tight_clusters(values, n_clusters, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_separate_count_for_more(seed):
    """Also if values are missing; and labels have no gaps."""
    X = three_of_forty_columns(seed)
    assert adjusted_rand_score(THIRDS, find(X, 3)) > 0.95
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    X[7] = np.nan
    labels = find(X, 3)
    assert adjusted_rand_score(np.delete(THIRDS, 7), np.delete(labels, 7)) > 0.9
    labels = find(three_of_forty_columns(), 13)
    assert np.unique(labels).tolist() == list(range(labels.max() + 1))
    assert labels.dtype == np.int64


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_units_do_not_matter(shift):
    X = three_of_forty_columns()
    assert_array_equal(find(X, 3), find(10.0 ** np.arange(-20, 20) * (X + shift), 3))


@pytest.mark.parametrize(
    ("values", "n_distinct"),
    [
        (np.full((5, 2), 7.1), 1),
        (np.zeros((1, 3)), 1),
        (np.full((5, 2), np.nan), 1),
        (np.repeat([[0.0, 5.0], [1.0, 5.0]], 4, axis=0), 2),
        (np.arange(6.0).reshape(3, 2), 3),
    ],
    ids=["equal rows", "one row", "nothing", "two distinct rows", "fewer rows than clusters"],
)
def test_no_more_clusters_than_distinct_rows(values, n_distinct):
    assert len(np.unique(find(values, 4))) == n_distinct
