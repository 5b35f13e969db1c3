"""Missing values of autoregressive sequences given states and parameters: a Gaussian in full."""

from itertools import pairwise

import numpy as np
import pytest
from exact.emissions.test_autoregressive import make_emission, make_prior, stream
from numpy.testing import assert_allclose

from skdp.emissions import AutoregressiveEmission

N_STATES = 3
PTR = np.array([0, 9, 15, 26])
cases = pytest.mark.parametrize(
    ("n_dims", "lags", "trend"),
    [(1, 1, "c"), (1, 3, "c"), (2, 1, "c"), (2, 2, "ct"), (1, [1, 4], "ct"), (2, [3], "c")],
)


def with_gaps(n_dims, seed=0):
    """Return values, of which first ones, whole steps and single columns are missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(PTR[-1], n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    for t in (0, 4, 5, 6, 16, 25):
        values[t] = np.nan
    values[[1, 12, 20], -1] = np.nan
    return values, rng.integers(2, size=PTR[-1])


def make_sampler(n_dims, lags, trend, states, values):
    emission = AutoregressiveEmission(lags, trend=trend, degrees_of_freedom_prior=n_dims + 4.0)
    sampler = emission.make_sampler(values, N_STATES, PTR)
    sampler.attach(values, PTR)
    sampler.draw(states, stream(1))
    return sampler


def list_lags(lags):
    return list(range(1, lags + 1)) if isinstance(lags, int) else lags


def gaussian(sampler, values, states, lags, trend):
    """Return means and covariances of the missing values of each sequence, from all residuals."""
    n_dims, lags = values.shape[1], list_lags(lags)
    whitening, start, found = sampler.whitening(), sampler.starting_lags, []
    for begin, end in pairwise(PTR):
        n = (end - begin) * n_dims
        rows, constants = [], []
        inverse = np.linalg.inv(start.root @ start.root.T)
        first = np.zeros((len(start.mean), n))
        for e in range(len(start.mean)):
            t = max(lags) - 1 - e // n_dims
            first[e, t * n_dims + e % n_dims] = 1.0
        precision = first.T @ inverse @ first
        linear = first.T @ inverse @ start.mean
        for t in range(max(lags), end - begin):
            w = whitening[states[begin + t]]
            row, constant = np.zeros((n_dims, n)), w[:, 0].copy()
            for i, lag in enumerate(lags):
                at = (t - lag) * n_dims
                row[:, at : at + n_dims] += w[:, 1 + i * n_dims : 1 + (i + 1) * n_dims]
            if trend == "ct":
                constant += w[:, 1 + len(lags) * n_dims] * (t + 1)
            row[:, t * n_dims : (t + 1) * n_dims] += w[:, -n_dims:]
            rows.append(row)
            constants.append(constant)
        rows, constants = np.vstack(rows), np.concatenate(constants)
        precision, linear = precision + rows.T @ rows, linear - rows.T @ constants
        own = values[begin:end].ravel()
        hidden = np.isnan(own)
        covariance = np.linalg.inv(precision[np.ix_(hidden, hidden)])
        known = precision[np.ix_(hidden, ~hidden)] @ own[~hidden]
        found.append((covariance @ (linear[hidden] - known), covariance))
    return found


@cases
def test_draws_of_missing_values(n_dims, lags, trend):
    """Standardized draws: moments of up to 15 values; |z| < 5, a false alarm in 1e-4 of seeds."""
    values, states = with_gaps(n_dims)
    sampler = make_sampler(n_dims, lags, trend, states, values)
    expected = gaussian(sampler, values, states, lags, trend)
    rng, n_draws, draws = stream(3), 4000, []
    for _ in range(n_draws):
        sampler.complete(states, rng)
        draws.append(sampler._drawn)
    draws = np.array(draws)
    hidden = np.isnan(values)
    ends = np.cumsum([hidden[begin:end].sum() for begin, end in pairwise(PTR)])
    parts = np.split(draws, ends[:-1], axis=1)
    everything = []
    for own, (mean, covariance) in zip(parts, expected, strict=True):
        root = np.linalg.cholesky(covariance)
        everything.append(np.linalg.solve(root, (own - mean).T).T)
    z = np.hstack(everything)
    n = z.shape[1]
    assert np.abs(z.mean(axis=0) * np.sqrt(n_draws)).max() < 5.0
    products = (z.T @ z / n_draws - np.eye(n)) * np.sqrt(n_draws)
    assert np.abs(np.diag(products) / np.sqrt(2.0)).max() < 5.0
    assert np.abs(products[np.triu_indices(n, 1)]).max() < 5.0


def test_whitening_maps_to_standard_residuals():
    """The rows are those of the densities: squares and log determinants give log_obs."""
    prior = make_prior(2, 1, 4.5)
    values = np.random.default_rng(0).normal(size=(PTR[-1], 2))
    states = np.arange(PTR[-1]) % 2
    sampler = make_emission(prior, 1).make_sampler(values, N_STATES, PTR)
    sampler.attach(values, PTR)
    sampler.draw(states, stream())
    found = np.empty((PTR[-1], N_STATES))
    sampler.write_log_obs(found)
    for t in (1, 10, 25):
        for j, w in enumerate(sampler.whitening()):
            residuals = w @ np.concatenate([[1.0], values[t - 1], values[t]])
            expected = np.linalg.slogdet(w[:, -2:])[1] - np.log(2 * np.pi)
            assert_allclose(found[t, j], expected - 0.5 * residuals @ residuals, rtol=1e-9)


def test_long_gaps_of_smooth_series_keep_their_digits():
    """A gap of 2,000 steps in a double random walk, whose precision has a condition of 1e14."""
    t = np.arange(2400)
    values = (1e-3 * t + np.cumsum(np.cumsum(np.random.default_rng(0).normal(size=2400))))[:, None]
    values[200:2200] = np.nan
    ptr = np.array([0, 2400])
    emission = AutoregressiveEmission(
        2, coef_prior=[[2.0, -1.0, 0.0]], coef_precision_prior=1e6, covariance_prior=[[1e4]],
        degrees_of_freedom_prior=1e4,
    )  # fmt: skip
    sampler = emission.make_sampler(values, 1, ptr)
    sampler.attach(values, ptr)
    states = np.zeros(2400, dtype=np.int64)
    sampler.draw(states, stream())
    sampler.complete(states, stream(2))
    filled = values.copy()
    filled[200:2200, 0] = sampler._drawn
    w = sampler.whitening()[0, 0]
    residuals = w[0] + w[1] * filled[1:-1] + w[2] * filled[:-2] + w[3] * filled[2:]
    assert 0.9 < np.std(residuals) < 1.1
    assert np.abs(residuals).max() < 6.0
