"""Gaussian observations against densities of scipy and moments in closed form."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._model import GaussianModel

N_STATES = 3
MEAN = np.array([0.5, -1.0, 2.0])
SCALE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.5]])
PRECISION, FREEDOM = 0.3, 4.5


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_sampler(values, covariance_type):
    n_dims = values.shape[1]
    scale = SCALE[:n_dims, :n_dims]
    emission = GaussianEmission(
        covariance_type,
        mean_prior=MEAN[:n_dims],
        mean_precision_prior=PRECISION,
        degrees_of_freedom_prior=FREEDOM,
        covariance_prior=scale if covariance_type == "full" else np.diag(scale),
    )
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    sampler.start(np.zeros(len(values), dtype=np.int64), stream(99))
    return sampler


def observations(n_steps=12, n_dims=3, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_steps, n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    return values, rng.integers(2, size=n_steps)  # the last state is empty


def log_predictive(x, before, mean, precision, freedom, scale):
    """Return log p(x given earlier observations of the state), a multivariate t density."""
    n, n_dims = before.shape
    if n:
        away = before.mean(axis=0) - mean
        spread = before - before.mean(axis=0)
        outer = precision * n / (precision + n) * np.outer(away, away)
        scale = scale + spread.T @ spread + outer
        mean = (precision * mean + before.sum(axis=0)) / (precision + n)
    precision, df = precision + n, freedom + n - n_dims + 1
    shape = scale * (precision + 1) / (precision * df)
    return stats.multivariate_t.logpdf(x, mean, shape, df=df)


def sequential(values, states, mean, scale):
    """Return the log evidence, observation by observation; NaN does not count."""
    total = 0.0
    for t in range(len(values)):
        before = values[:t][states[:t] == states[t]]
        before = before[~np.isnan(before).any(axis=1)]
        if not np.isnan(values[t]).any():
            total += log_predictive(values[t], before, mean, PRECISION, FREEDOM, scale)
    return total


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_log_evidence(covariance_type, n_dims):
    values, states = observations(n_dims=n_dims)
    values[4] = np.nan  # a row of which nothing was observed
    sampler = make_sampler(values, covariance_type)
    sampler.draw(states, stream())
    if covariance_type == "full":
        expected = sequential(values, states, MEAN[:n_dims], SCALE[:n_dims, :n_dims])
    else:
        expected = sum(
            sequential(values[:, [d]], states, MEAN[[d]], SCALE[[d]][:, [d]]) for d in range(n_dims)
        )
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)


def test_log_evidence_of_diagonal_covariances_leaves_out_missing_values():
    values, states = observations()
    values[[1, 3, 7], [0, 1, 1]] = np.nan
    sampler = make_sampler(values, "diag")
    sampler.draw(states, stream())
    expected = sum(
        sequential(values[:, [d]], states, MEAN[[d]], SCALE[[d]][:, [d]]) for d in range(3)
    )
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)


def hide_some(values, seed=1):
    hidden = np.random.default_rng(seed).random(values.shape) < 0.4
    hidden[0], hidden[1] = True, False
    return np.where(hidden, np.nan, values)


def log_marginals(values, means, covariances):
    out = np.zeros((len(values), len(means)))
    for t, x in enumerate(values):
        seen = ~np.isnan(x)
        for j, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
            if seen.any():
                out[t, j] = stats.multivariate_normal.logpdf(
                    x[seen], mean[seen], covariance[np.ix_(seen, seen)]
                )
    return out


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("n_dims", [1, 2, 3, 4, 5, 6, 11])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_densities(covariance_type, n_dims, missing):
    rng = np.random.default_rng(n_dims)
    values = 2.0 * rng.normal(size=(40, n_dims))
    if missing:
        values = hide_some(values)
    means = rng.normal(size=(N_STATES, n_dims))
    roots = rng.normal(size=(N_STATES, n_dims, n_dims + 2))
    covariances = roots @ roots.swapaxes(1, 2)
    if covariance_type == "diag":
        variances = np.array([np.diag(covariance) for covariance in covariances])
        covariances = np.array([np.diag(variance) for variance in variances])
    model = GaussianModel(means, covariances if covariance_type == "full" else variances)
    expected = log_marginals(values, means, covariances)
    assert_allclose(model.log_obs(values), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_densities_with_the_parameters_last_drawn(covariance_type):
    values, states = observations()
    values = hide_some(values)
    sampler = make_sampler(values, covariance_type)
    sampler.draw(states, stream())
    out = np.empty((len(values), N_STATES))
    sampler.write_log_obs(out)
    if covariance_type == "full":
        factors, means = sampler.precision_factors, sampler.means
    else:
        factors = [np.diag(u) for u in sampler.precision_factors.reshape(N_STATES, 3)]
        means = sampler.means.reshape(N_STATES, 3)
    covariances = [np.linalg.inv(u.T @ u) for u in factors]
    assert_allclose(out, log_marginals(values, means, covariances), rtol=1e-9)


def posterior(values, mean, scale):
    """Return m_n, c_n, nu_n, S_n."""
    n = len(values)
    away = values.mean(axis=0) - mean
    spread = values - values.mean(axis=0)
    scale = scale + spread.T @ spread + PRECISION * n / (PRECISION + n) * np.outer(away, away)
    mean = (PRECISION * mean + values.sum(axis=0)) / (PRECISION + n)
    return mean, PRECISION + n, FREEDOM + n, scale


def z_scores(draws, expected):
    """Return by how many standard errors the mean of independent draws is off."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    return (draws.mean(axis=0) - expected) / error


def test_draws_have_the_moments_of_the_posterior():
    """24 figures, |z| < 5: a false alarm in 1.4e-5 of seeds."""
    values, states = observations(n_steps=15)
    sampler, rng = make_sampler(values, "full"), stream(7)
    means, precisions = [], []
    for _ in range(20_000):
        sampler.draw(states, rng)
        means.append(sampler.means[1].copy())
        factor = sampler.precision_factors[1]
        assert np.all(np.triu(factor, 1) == 0.0)
        precisions.append(factor.T @ factor)
    means, precisions = np.array(means), np.array(precisions)
    m, c, nu, scale = posterior(values[states == 1], MEAN, SCALE)
    expected = nu * np.linalg.inv(scale)
    upper = np.triu_indices(3)
    assert np.abs(z_scores(precisions[:, *upper], expected[upper])).max() < 5.0
    # Var W_ij = nu (V_ij^2 + V_ii V_jj) of a Wishart(nu, V) matrix.
    v = np.linalg.inv(scale)
    variances = nu * (v**2 + np.multiply.outer(np.diag(v), np.diag(v)))
    squares = (precisions - expected) ** 2
    assert np.abs(z_scores(squares[:, *upper], variances[upper])).max() < 5.0
    # (mu - m) sqrt(c) is normal with the precision drawn along with it, uncorrelated with that.
    assert np.abs(z_scores(means, m)).max() < 5.0
    distances = c * np.einsum("sd,sde,se->s", means - m, precisions, means - m)
    assert np.abs(z_scores(distances, 3.0)) < 5.0
    covariance = c * (nu - 4.0) * np.einsum("sd,se->sde", means - m, means - m)
    assert np.abs(z_scores(covariance[:, *upper], scale[upper])).max() < 5.0


def test_draws_of_columns_have_the_moments_of_the_posterior():
    """9 figures, |z| < 5: a false alarm in 5e-6 of seeds."""
    values, states = observations(n_steps=15)
    values[np.flatnonzero(states == 1)[:2], [0, 1]] = np.nan
    sampler, rng = make_sampler(values, "diag"), stream(8)
    means, precisions = [], []
    for _ in range(20_000):
        sampler.draw(states, rng)
        means.append(sampler.means.reshape(N_STATES, 3)[1].copy())
        precisions.append(sampler.precision_factors.reshape(N_STATES, 3)[1] ** 2)
    means, precisions = np.array(means), np.array(precisions)
    for d in range(3):
        column = values[states == 1][:, [d]]
        column = column[~np.isnan(column[:, 0])]
        m, c, nu, scale = posterior(column, MEAN[[d]], SCALE[[d]][:, [d]])
        # The precision is Gamma(nu / 2, S / 2); the mean has variance S / (c (nu - 2)).
        assert np.abs(z_scores(precisions[:, d], nu / scale[0, 0])) < 5.0
        assert np.abs(z_scores(means[:, d], m[0])) < 5.0
        assert np.abs(z_scores((means[:, d] - m) ** 2, scale[0, 0] / (c * (nu - 2)))) < 5.0


def test_an_empty_state_is_drawn_from_the_prior():
    """9 figures, |z| < 5: a false alarm in 5e-6 of seeds."""
    values, states = observations()
    sampler, rng = make_sampler(values, "full"), stream(9)
    precisions, distances = [], []
    for _ in range(20_000):
        sampler.draw(states, rng)
        factor = sampler.precision_factors[2]
        precisions.append((factor.T @ factor)[np.triu_indices(3)])
        distances.append(PRECISION * np.sum((factor @ (sampler.means[2] - MEAN)) ** 2))
    expected = FREEDOM * np.linalg.inv(SCALE)[np.triu_indices(3)]
    assert np.abs(z_scores(np.array(precisions), expected)).max() < 5.0
    assert np.abs(z_scores(np.array(distances), 3.0)) < 5.0


def test_missing_values_are_drawn_given_what_was_observed():
    """Rows apart from each other. At most 80 figures, |z| < 5: a false alarm in 5e-5 of seeds."""
    values, states = observations(n_dims=3)
    values = hide_some(values)
    sampler, rng = make_sampler(values, "full"), stream(10)
    sampler.draw(states, rng)
    covariances = [np.linalg.inv(u.T @ u) for u in sampler.precision_factors]

    def complete():
        sampler.complete(states, rng)
        return sampler._filled

    draws = np.array([complete() for _ in range(20_000)])
    n_partial, firsts = 0, []
    for t, x in enumerate(values):
        gone = np.isnan(x)
        if gone.all() or not gone.any():
            np.testing.assert_array_equal(draws[0, t], x)
            continue
        n_partial += 1
        mean, covariance = sampler.means[states[t]], covariances[states[t]]
        gain = np.linalg.solve(covariance[np.ix_(~gone, ~gone)], covariance[np.ix_(~gone, gone)]).T
        expected = mean[gone] + gain @ (x[~gone] - mean[~gone])
        rest = covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(~gone, gone)]
        away = draws[:, t, gone] - expected
        assert np.abs(z_scores(away, 0.0)).max() < 5.0
        products = np.einsum("sd,se->sde", away, away).reshape(len(away), -1)
        assert np.abs(z_scores(products, rest.ravel())).max() < 5.0
        firsts.append(away[:, 0])
    assert n_partial >= 4
    pairs = np.array([x * y for x, y in combinations(firsts, 2)]).T
    assert pairs.shape[1] <= 60
    assert np.abs(z_scores(pairs, 0.0)).max() < 5.0


def test_the_model_holds_posterior_means():
    values, states = observations(n_steps=15)
    sampler = make_sampler(values, "full")
    sampler.draw(states, stream())
    model = sampler.model()
    for j in range(2):
        m, _, nu, scale = posterior(values[states == j], MEAN, SCALE)
        assert_allclose(model.means[j], m)
        assert_allclose(model.covariances[j], scale / (nu - 4.0))
    assert_allclose(model.means[2], MEAN)
    assert_allclose(model.covariances[2], SCALE / (FREEDOM - 4.0))


def test_the_model_of_columns_holds_posterior_means():
    values, states = observations(n_steps=15)
    values[np.flatnonzero(states == 0)[:2], [0, 2]] = np.nan
    sampler = make_sampler(values, "diag")
    sampler.draw(states, stream())
    model = sampler.model()
    for j in range(2):
        for d in range(3):
            column = values[states == j][:, [d]]
            column = column[~np.isnan(column[:, 0])]
            m, _, nu, scale = posterior(column, MEAN[[d]], SCALE[[d]][:, [d]])
            assert_allclose(model.means[j, d], m[0])
            assert_allclose(model.covariances[j, d], scale[0, 0] / (nu - 2.0))


def test_samples_have_the_moments_of_the_model():
    """9 figures, |z| < 5: a false alarm in 5e-6 of seeds."""
    model = GaussianModel(np.array([MEAN, -MEAN]), np.array([SCALE, np.eye(3)]))
    draws = model.sample(np.zeros(20_000, dtype=np.int64), np.random.default_rng(0))
    assert np.abs(z_scores(draws, MEAN)).max() < 5.0
    products = np.einsum("sd,se->sde", draws - MEAN, draws - MEAN)
    upper = np.triu_indices(3)
    assert np.abs(z_scores(products[:, *upper], SCALE[upper])).max() < 5.0
