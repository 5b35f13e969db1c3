"""Models with given regressions: moments of forecasts, scores and paths by enumeration.

Given the states, the mean and the covariance of the next observations follow one by one."""

import math

import numpy as np
import pytest
from exact.oracles.hmm import log_joint, posterior
from exact.sequence.hmm.problems import (
    AHEAD,
    START,
    TRANSMAT,
    enumerate_longer,
    every_duration,
    make_model,
)
from numpy.testing import assert_allclose
from scipy import stats

from skdp.data import SequencePanel
from skdp.emissions._gaussian._autoregressive_model import AutoregressiveModel, StartingLags
from skdp.sequence._hmm._gap_filter import Tail
from skdp.sequence._hmm._model import Continuation, HMMModel, forecast_lagged

FREEDOMS = np.array([9.0, 3.5, 40.0])
every_size = pytest.mark.parametrize(("n_dims", "n_lags"), [(1, 1), (2, 1), (1, 3), (2, 2)])


def make_emission(n_dims, n_lags, freedoms=FREEDOMS, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(3, n_dims, n_dims + 2))
    n = n_dims * n_lags
    return AutoregressiveModel(
        0.5 * rng.normal(size=(3, n_dims, n)), rng.normal(size=(3, n_dims)),
        roots @ roots.swapaxes(1, 2), freedoms, rng.uniform(0.5, 1.5, 3),
        np.tril(0.3 * rng.normal(size=(3, n + 1, n + 1))), StartingLags(np.zeros(n), np.eye(n)),
    )  # fmt: skip


def observations(n_dims, n_steps=5, seed=3):
    return 2.0 * np.random.default_rng(seed).normal(size=(n_steps, n_dims)) + 1.0


def log_densities(emission, values):
    """Return log p(x_t given state j and the values before), by scipy; 0 where lags are missing."""
    out = np.zeros((len(values), 3))
    for t in range(emission.n_lags, len(values)):
        a = np.concatenate([[1.0], *values[t - emission.n_lags : t][::-1]])
        for j in range(3):
            size = 1.0 + np.sum((emission.coef_factors[j] @ a) ** 2)
            mean = emission.intercepts[j] + emission.coefs[j] @ a[1:]
            scale = emission.covariances[j] * emission.scale_ratios[j] * size
            freedom = emission.degrees_of_freedom[j]
            out[t, j] = stats.multivariate_t(mean, scale, df=freedom).logpdf(values[t])
    return out


def moments_of_path(emission, states, before):
    """Return E[x] and E[x x^T] of the next observations given their states, one by one."""
    n_dims = before.shape[1]
    n = n_dims * emission.n_lags
    mean, second = before[::-1][: emission.n_lags].ravel(), None
    second = np.outer(mean, mean)
    found = []
    for j in states:
        coefs, intercept = emission.coefs[j], emission.intercepts[j]
        precision = emission.coef_factors[j].T @ emission.coef_factors[j]
        size = 1.0 + precision[0, 0] + 2.0 * precision[0, 1:] @ mean
        size += np.trace(precision[1:, 1:] @ second)
        freedom = emission.degrees_of_freedom[j]
        noise = emission.covariances[j] * emission.scale_ratios[j] * freedom / (freedom - 2.0)
        x = coefs @ mean + intercept
        xx = coefs @ second @ coefs.T + np.outer(intercept, x) + np.outer(x, intercept)
        xx += size * noise - np.outer(intercept, intercept)
        with_lags = coefs @ second + np.outer(intercept, mean)
        found.append((x, xx))
        shift = n - n_dims
        second = np.block(
            [[xx, with_lags[:, :shift]], [with_lags[:, :shift].T, second[:shift, :shift]]]
        )
        mean = np.concatenate([x, mean[:shift]])
    return found


def tails(ends, values, n_lags=None):
    """Return the ends of one sequence, given the probabilities of states and ages, (1, A, J)."""
    lags = values[::-1][: n_lags or len(values)].reshape(1, -1)
    return [Tail(lags, ends[0][:, :, np.newaxis])]


@every_duration
@every_size
def test_moments(duration, n_dims, n_lags):
    emissions = [make_emission(n_dims, n_lags, seed=seed) for seed in (0, 1)]
    models = [make_model(duration, emission) for emission in emissions]
    values = observations(n_dims, 4)
    mean, square = np.zeros((2, AHEAD, n_dims))
    for emission in emissions:
        log_obs = log_densities(emission, values)
        for path, p in enumerate_longer(duration, log_obs)[1].items():
            for h, (x, xx) in enumerate(moments_of_path(emission, path[-AHEAD:], values)):
                mean[h] += 0.5 * p * x
                square[h] += 0.5 * p * np.diag(xx)
    panel = SequencePanel.from_sequences([values])
    tails = [model.tails(panel.ptr, values) for model in models]
    ((found, sd, quantiles),) = forecast_lagged(models, tails, panel, AHEAD, np.array([]))
    assert_allclose(found, mean, rtol=1e-9)
    assert_allclose(sd, np.sqrt(square - mean**2), rtol=1e-8)
    assert quantiles.shape == (AHEAD, n_dims, 0)


@pytest.mark.slow
@every_duration
def test_simulated_quantiles(duration):
    """10,000 paths agree with 6,000 single ones; the first step is exact. |z| < 5."""
    model = make_model(duration, make_emission(2, 2))
    values, levels = observations(2), np.array([0.1, 0.5, 0.9])
    panel = SequencePanel.from_sequences([values])
    ends = model.ends(panel.ptr, values)
    ((_, _, found),) = forecast_lagged([model], [tails(ends, values, 2)], panel, AHEAD, levels)
    rng, n_draws = np.random.default_rng(1), 6_000
    draws = np.empty((n_draws, AHEAD, 2))
    for i in range(n_draws):
        states = model.draw_next_states(ends[0], AHEAD, rng)
        draws[i] = model.draw_observations(states, rng, values)
    below = (draws[..., np.newaxis] <= found).mean(axis=0)
    error = np.sqrt(levels * (1.0 - levels) * (1.0 / n_draws + 1.0 / 10_000))
    assert np.all(np.abs(below - levels) < 5.0 * error)
    weights = Continuation(model).moves.move(ends[0]).sum(axis=0)
    marginals = model.emission.marginals_after(values[::-1][:2].ravel())
    for d in range(2):
        laws = stats.t(marginals.freedoms[:, d], marginals.locations[:, d], marginals.scales[:, d])
        assert_allclose(weights @ laws.cdf(found[0, d][:, np.newaxis]).T, levels, rtol=1e-9)


@every_duration
@every_size
def test_scores_and_paths(duration, n_dims, n_lags):
    """Two sequences: first steps are uninformative, and only transitions determine their state."""
    emission = make_emission(n_dims, n_lags)
    model = make_model(duration, emission)
    parts = [observations(n_dims, 5), observations(n_dims, n_lags + 1, seed=4)]
    ptr, values = np.array([0, 5, 6 + n_lags]), np.vstack(parts)
    likelihoods, posteriors = model.log_likelihoods(ptr, values), model.posteriors(ptr, values)
    log_joints, paths = model.decode(ptr, values)
    for s, part in enumerate(parts):
        log_obs = log_densities(emission, part)
        total, probabilities = enumerate_longer(duration, log_obs, 0)
        assert likelihoods[s] == pytest.approx(total, rel=1e-9)
        assert_allclose(posteriors[ptr[s] : ptr[s + 1]], posterior(probabilities, 3), rtol=1e-8)
        best = max(probabilities, key=probabilities.get)
        assert tuple(paths[ptr[s] : ptr[s + 1]].tolist()) == best
        assert log_joints[s] == pytest.approx(total + math.log(probabilities[best]), rel=1e-9)
        steps = model.log_predictives(part)
        assert steps.sum() == pytest.approx(total, rel=1e-9)
        assert_allclose(steps[:n_lags], 0.0, atol=1e-12)
        if duration is None:
            assert log_joint(START, TRANSMAT, log_obs, best) == pytest.approx(log_joints[s])


def test_moments_that_do_not_exist():
    values, levels = observations(1), np.array([0.5])
    panel = SequencePanel.from_sequences([values])
    transmat = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    for least, is_nan in ((2.0, False), (0.9, True)):
        emission = make_emission(1, 1, np.array([5.0, 7.0, least]))
        model = HMMModel(np.array([1.0, 0.0, 0.0]), transmat, emission, np.full(3, 1 / 3))
        ends = np.array([[[1.0, 0.0, 0.0]]])
        ((mean, sd, quantiles),) = forecast_lagged(
            [model], [tails(ends, values, 1)], panel, 4, levels
        )
        # The last state is out of reach of the first step, and then lasts.
        assert np.all(np.isfinite(mean[0]) & np.isfinite(sd[0]))
        assert np.all(np.isnan(mean[1:]) == is_nan)
        assert np.all(np.isinf(sd[1:]))
        assert np.all(np.isfinite(quantiles))


def test_far_from_the_origin():
    """Moments lose no digits to a large level."""
    emission = make_emission(2, 1)
    values, level = observations(2), 1e7
    found = []
    for shift in (0.0, level):
        moved = emission.intercepts + shift - emission.coefs @ np.full(2, shift)
        factors = emission.coef_factors.copy()
        factors[:, :, 0] -= factors[:, :, 1:] @ np.full(2, shift)
        own = make_model(None, AutoregressiveModel(
            emission.coefs, moved, emission.covariances, emission.degrees_of_freedom,
            emission.scale_ratios, factors, emission.starting_lags,
        ))  # fmt: skip
        panel = SequencePanel.from_sequences([values + shift])
        ends = np.full((1, 1, 3), 1 / 3)
        found.append(
            forecast_lagged([own], [tails(ends, values + shift, 1)], panel, 5, np.array([]))[0]
        )
    assert_allclose(found[1][0] - level, found[0][0], atol=1e-6)
    assert_allclose(found[1][1], found[0][1], rtol=1e-6)


def test_states_that_grow_without_bounds():
    emission = make_emission(1, 1)
    emission.coefs[:] = 1e30
    model = make_model(None, emission)
    panel = SequencePanel.from_sequences([observations(1)])
    ends = np.full((1, 1, 3), 1 / 3)
    ((mean, sd, _),) = forecast_lagged(
        [model], [tails(ends, observations(1), 1)], panel, 20, np.array([0.5])
    )
    assert np.all(np.isfinite(mean[:3]) & np.isfinite(sd[:3]))
    assert not np.any(np.isfinite(sd[-1]))
