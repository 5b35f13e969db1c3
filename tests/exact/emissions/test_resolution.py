"""Values on a grid: steps of grids, and likelihoods against their definition and quadrature.

A value x of a column with the step h counts as values y about it with the variance R = h^2 / 10:
the log likelihood is the mean of log p(y). Draws by Kolmogorov-Smirnov tests, each of which fails
for one seed in a million.
"""

import math

import numpy as np
import pytest
from exact.oracles.normal_wishart import NormalWishart
from numpy.testing import assert_allclose
from scipy import integrate, special, stats
from unit.emissions.helpers import Parts, stream

from skdp.emissions import (
    AutoregressiveEmission,
    GaussianEmission,
    IndependentEmissions,
    RegressionEmission,
    StudentTEmission,
)
from skdp.emissions._common._columns import InMemoryRows, find_steps
from skdp.mixture import DPMixture

NAN, N_STATES = np.nan, 3  # the last state has no data
STEPS = np.array([0.5, 0.0, 2.0])
SPREAD = STEPS**2 / 10.0
PRIOR = NormalWishart(
    np.array([0.5, -1.0, 2.0]), 0.3, 5.5,
    np.array([[1.0, 0.3, -0.2], [0.3, 0.6, 0.1], [-0.2, 0.1, 0.8]]),
)  # fmt: skip
every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def rows(gaps=False):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, 3)) + np.array([0.0, 0.0, 2.0])
    grid = STEPS > 0.0
    values[:, grid] = STEPS[grid] * np.round(values[:, grid] / STEPS[grid])
    if gaps:
        values[3] = NAN
        values[5, 0] = values[7, 1:] = NAN
    return values, rng.integers(2, size=12)


def make(values, covariance_type, kind=GaussianEmission, n_dims=3, **params):
    prior = PRIOR.of(range(n_dims))
    emission = kind(
        covariance_type=covariance_type,
        mean_prior=prior.mean,
        mean_precision_prior=prior.precision,
        degrees_of_freedom_prior=prior.dof,
        covariance_prior=prior.scale if covariance_type == "full" else np.diag(prior.scale),
        **{"resolution": STEPS[:n_dims], **params},
    )
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    return sampler


def blocks_of(covariance_type):
    return [[0, 1, 2]] if covariance_type == "full" else [[0], [1], [2]]


def posteriors(covariance_type, values, states, weights=None):
    """Yield the columns of a block, the posterior of each state, and its log evidence."""
    for block in blocks_of(covariance_type):
        prior = PRIOR if len(block) == 3 else PRIOR.column(block[0])
        for k in range(N_STATES):
            own = values[states == k][:, block]
            u = np.ones(len(own)) if weights is None else weights[states == k]
            given = prior.given(own, u)
            given = given._replace(scale=given.scale + len(own) * np.diag(SPREAD[block]))
            n, width = len(own), len(block)
            log = 0.5 * width * (np.log(u).sum() - n * math.log(math.pi))
            log += 0.5 * width * math.log(prior.precision / given.precision)
            log += special.multigammaln(given.dof / 2, width)
            log -= special.multigammaln(prior.dof / 2, width)
            log += 0.5 * prior.dof * np.linalg.slogdet(prior.scale)[1]
            log -= 0.5 * given.dof * np.linalg.slogdet(given.scale)[1]
            yield block, k, given, log


def integrate_out(log_likelihood, prior):
    """Return the log evidence of a column, by a sum over a grid of mu and log s."""
    mu, log_s = np.meshgrid(np.linspace(-30.0, 30.0, 6001), np.linspace(-7.0, 9.0, 161))
    s, scale = np.exp(log_s), float(prior.scale[0, 0])
    logs = log_likelihood(mu, s) + stats.invgamma.logpdf(s, prior.dof / 2, scale=scale / 2) + log_s
    logs += stats.norm.logpdf(mu, prior.mean[0], np.sqrt(s / prior.precision))
    return special.logsumexp(logs) + math.log(0.01 * 0.1)


# The likelihood, and what follows from it


def test_evidence_by_quadrature():
    """Of a column: the mean of log N(y; mu, s) over y = x - r and x + r, with r^2 = R."""
    values, states = rows()
    x, prior, r = values[states == 0][:, 0], PRIOR.column(0), math.sqrt(SPREAD[0])

    def log_likelihood(mu, s):
        return sum(0.5 * stats.norm.logpdf(y, mu, np.sqrt(s)) for y in [*(x - r), *(x + r)])

    _, _, _, found = next(posteriors("diag", values, states))
    assert found == pytest.approx(integrate_out(log_likelihood, prior), abs=1e-7)


@every_type
def test_evidence_and_predictions(covariance_type):
    values, states = rows()
    sampler = make(values, covariance_type)
    sampler.condition(states)
    known = list(posteriors(covariance_type, values, states))
    expected = sum(log for *_, log in known)
    assert sampler.log_evidence() == pytest.approx(expected, rel=1e-10)
    part = sampler.restrict(np.flatnonzero(states == 1), 2)
    part.condition(np.zeros((states == 1).sum(), dtype=np.int64))
    expected = sum(log for _, k, _, log in known if k == 1)
    assert part.log_evidence() == pytest.approx(expected, rel=1e-10)
    expected = np.zeros((len(values), N_STATES))
    for block, k, given, _ in known:
        expected[:, k] += given.log_next(values[:, block])
    assert_allclose(sampler.model().log_obs(values), expected, rtol=1e-9)


@every_type
def test_densities_with_the_parameters_last_drawn(covariance_type):
    """A row of which something is observed loses tr(Sigma^-1 R) / 2 of each such block."""
    values, states = rows(gaps=True)
    sampler = make(values, covariance_type)
    sampler.draw(states, stream())
    found = np.empty((len(values), N_STATES))
    sampler.write_log_obs(found)
    expected, width = np.zeros(found.shape), sampler.means.shape[1]
    precisions = sampler.precision_factors.swapaxes(1, 2) @ sampler.precision_factors
    for t, x in enumerate(values):
        for k in range(N_STATES):
            for b, block in enumerate(blocks_of(covariance_type)):
                own = k * len(values[0]) // width + b
                seen = np.flatnonzero(~np.isnan(x[block]))
                if len(seen):
                    sigma = np.linalg.inv(precisions[own])[np.ix_(seen, seen)]
                    mean = sampler.means[own][seen]
                    loss = 0.5 * np.trace(precisions[own] @ np.diag(SPREAD[block]))
                    normal = stats.multivariate_normal.logpdf(x[block][seen], mean, sigma)
                    expected[t, k] += normal - loss
    assert_allclose(found, expected, rtol=1e-9)


@every_type
def test_draws_of_covariances(covariance_type):
    values, states = rows()
    sampler, rng, draws = make(values, covariance_type), stream(3), []
    for _ in range(2000):
        sampler.draw(states, rng)
        draws.append(sampler.precision_factors[0, -1, -1] ** 2)
    _, _, given, _ = next(posteriors(covariance_type, values, states))
    conditional = 1.0 / np.linalg.inv(given.scale)[-1, -1]  # of the last column given the others
    found = stats.kstest(np.array(draws) * conditional, stats.chi2(given.dof).cdf)
    assert found.pvalue > 1e-6


def full_next_to_diagonal(resolution):
    parts = [("full", GaussianEmission(resolution=resolution), [0, 1])]
    return IndependentEmissions([*parts, ("diag", GaussianEmission("diag", resolution=None), [2])])


@pytest.mark.parametrize(
    ("make_emission", "n_columns"),
    [
        (full_next_to_diagonal, 3),
        (lambda resolution: GaussianEmission(resolution=resolution), 13),
        (lambda resolution: StudentTEmission(4.0, resolution=resolution), 13),
    ],
)
def test_mixtures_that_take_rows_as_they_are(make_emission, n_columns):
    values = np.round(np.random.default_rng(0).normal(size=(60, n_columns)))
    assert find_steps(InMemoryRows(values)).all()
    models = [DPMixture(make_emission(each), max_iter=5, random_state=0) for each in (None, "auto")]
    assert_allclose(*(model.fit(values).score_samples(values) for model in models))
    with pytest.raises(ValueError, match="mixtures take values as exact"):
        DPMixture(make_emission(1.0), max_iter=5).fit(values)


# Student t: the precision of a row is drawn, and the variance about it is R / u


@pytest.mark.parametrize("nu", [0.7, 4.0])
@every_type
def test_densities_of_students(covariance_type, nu):
    values, states = rows()
    sampler = make(values, covariance_type, StudentTEmission, degrees_of_freedom=nu)
    sampler.draw(states, stream())
    found = np.empty((len(values), N_STATES))
    sampler.write_log_obs(found)
    precisions = sampler.precision_factors.swapaxes(1, 2) @ sampler.precision_factors
    n_blocks = len(blocks_of(covariance_type))
    for t in (0, 5):
        for k in range(N_STATES):
            expected = 0.0
            for b, block in enumerate(blocks_of(covariance_type)):
                precision, away = (
                    precisions[k * n_blocks + b],
                    values[t, block] - sampler.means[k * n_blocks + b],
                )
                q = away @ precision @ away
                head = 0.5 * np.linalg.slogdet(precision / (2.0 * math.pi))[1]
                head -= 0.5 * np.trace(precision @ np.diag(SPREAD[block]))
                power = 0.5 * len(block)

                def density(log_u, q=q, head=head, power=power):
                    u = math.exp(log_u)
                    log = stats.gamma.logpdf(u, nu / 2, scale=2 / nu) + log_u
                    return math.exp(log + head + power * log_u - 0.5 * u * q)

                expected += math.log(integrate.quad(density, -60.0, 8.0, limit=400)[0])
            assert found[t, k] == pytest.approx(expected, rel=1e-7)


def test_weights_and_evidence_of_students():
    values, states = rows()
    sampler, nu = make(values, "full", StudentTEmission, degrees_of_freedom=3.0), 3.0
    rng, draws = stream(), []
    sampler.draw(states, rng)
    precision = sampler.precision_factors[states[0]].T @ sampler.precision_factors[states[0]]
    away = values[0] - sampler.means[states[0]]
    rate = 0.5 * (nu + away @ precision @ away)
    for _ in range(2000):
        sampler.complete(states, rng)
        draws.append(sampler._weights[0, 0])
    assert stats.kstest(draws, stats.gamma(0.5 * (nu + 3.0), scale=1.0 / rate).cdf).pvalue > 1e-6
    weights = sampler._weights[:, 0].copy()
    sampler.draw(states, rng)
    expected = sum(log for *_, log in posteriors("full", values, states, weights))
    expected += stats.gamma.logpdf(weights, nu / 2, scale=2 / nu).sum()
    assert sampler.log_evidence() == pytest.approx(expected, rel=1e-9)


def test_bound_of_students():
    """First states are sought by a lower bound of the evidence, with the weights integrated out."""
    values, nu, prior = rows()[0][:6, :1], 4.0, PRIOR.of([0])
    params = {"degrees_of_freedom": nu, "resolution": 6.0}
    sampler = make(values, "full", StudentTEmission, n_dims=1, **params)
    sampler.condition(np.zeros(6, dtype=np.int64))

    def log_likelihood(mu, s):
        head = special.gammaln(0.5 * (nu + 1)) - special.gammaln(0.5 * nu)
        head = head - 0.5 * np.log(nu * math.pi * s)
        squares = [(x - mu) ** 2 / s for x in values[:, 0]]
        return sum(head - 1.8 / s - 0.5 * (nu + 1) * np.log1p(q / nu) for q in squares)

    exact = integrate_out(log_likelihood, prior)
    assert exact - 0.6 < sampler.log_evidence() < exact


# Regressions: their targets


def regressions(name):
    """Return a sampler, its prior, states, regressors with the constant first, targets, and R."""
    values, states = rows()
    coefs = np.array([[0.2, -0.1, 0.5], [0.0, 0.3, 0.1]])
    scale, precision = np.array([[1.0, 0.3], [0.3, 0.7]]), np.diag([1.0, 0.4, 0.8])
    given = {
        "coef_prior": coefs,
        "coef_precision_prior": precision,
        "degrees_of_freedom_prior": 4.5,
        "covariance_prior": scale,
    }
    order = [2, 0, 1]
    if name == "lags":
        values = values[:, [0, 2]]
        emission = AutoregressiveEmission(1, resolution=STEPS[[0, 2]], **given)
        sampler = emission.make_sampler(values, N_STATES, np.array([0, 12]))
        sampler.attach(values, np.array([0, 12]))
        a, y, spread = values[:-1], values[1:], SPREAD[[0, 2]]
    else:
        values = np.column_stack([values, np.arange(12.0) % 5.0])
        emission = RegressionEmission([0, 2], [1, 3], resolution=[*STEPS, 0.3], **given)
        sampler = emission.make_sampler(values, N_STATES)
        sampler.attach(values)
        a, y, spread = values[:, [1, 3]], values[:, [0, 2]], SPREAD[[0, 2]]
    a = np.column_stack([np.ones(len(a)), a])
    prior = coefs[:, order], precision[np.ix_(order, order)], 4.5, scale
    return sampler, prior, states, a, y, spread


@pytest.mark.parametrize("name", ["lags", "inputs"])
def test_regressions(name):
    sampler, (m, c, dof, scale), states, a, y, spread = regressions(name)
    states_of_targets = states[len(states) - len(y) :]
    sampler.condition(states)
    expected = 0.0
    for k in range(N_STATES):
        own, x, n = y[states_of_targets == k], a[states_of_targets == k], 0
        n = len(own)
        total = c + x.T @ x
        cross = own.T @ x + m @ c
        rest = scale + own.T @ own + m @ c @ m.T - cross @ np.linalg.solve(total, cross.T)
        rest = rest + n * np.diag(spread)
        expected += np.linalg.slogdet(c)[1] - np.linalg.slogdet(total)[1] - n * math.log(math.pi)
        expected += special.multigammaln(0.5 * (dof + n), 2) - special.multigammaln(0.5 * dof, 2)
        expected += 0.5 * dof * np.linalg.slogdet(scale)[1]
        expected -= 0.5 * (dof + n) * np.linalg.slogdet(rest)[1]
        covariance = sampler.model().covariances[k]
        divisor = dof + n - 3.0 if dof + n > 3.0 else dof + n
        assert_allclose(covariance, rest / divisor, rtol=1e-9)
    assert sampler.log_evidence() == pytest.approx(expected, rel=1e-9)
    if name == "lags":
        sampler.draw(states, stream())
        found = np.empty((len(states), N_STATES))
        sampler.write_log_obs(found)
        assert not found[0].any()
        for k, whitening in enumerate(sampler.whitening()):
            u = whitening[:, 3:]
            z = np.hstack([a, y]) @ whitening.T
            logs = stats.norm.logpdf(z).sum(axis=1) + np.linalg.slogdet(u)[1]
            logs -= 0.5 * (u**2 @ spread).sum()
            assert_allclose(found[1:, k], logs, rtol=1e-9)


# Steps of grids

N = 900
WHOLE = np.round(np.random.default_rng(1).normal(20.0, 0.4, N))
TENTHS = np.round(np.random.default_rng(2).normal(20.0, 1.0, N), 1)
NOISE = np.random.default_rng(3).normal(size=N)
GRIDS = {
    "whole": (WHOLE, 1.0),
    "tenths": (TENTHS, 0.1),
    "another origin": (TENTHS + 273.15, 0.1),
    "Fahrenheit": (1.8 * WHOLE + 32.0, 1.8),
    "Celsius": ((WHOLE - 32.0) * 5.0 / 9.0, 5.0 / 9.0),
    "large": (1e9 * WHOLE, 1e9),
    "small": (1e-9 * WHOLE, 1e-9),
    "of single precision": (TENTHS.astype(np.float32).astype(float), 0.1),
    "without neighbors": (6.0 * (WHOLE > 20.0) + 15.0 * (NOISE > 0.0), 3.0),
    "a few values off the grid": (np.where(NOISE > 2.0, 30.0 * NOISE, WHOLE), 1.0),
    "gaps": (np.where(NOISE > 1.0, NAN, WHOLE), 1.0),
    "exact": (NOISE, 0.0),
    "at two limits": (np.clip(NOISE, -1.0, 1.0), 0.0),
    "no two alike": (np.arange(900.0), 0.0),
    "constant": (np.ones(N), 0.0),
    "nothing": (np.full(N, NAN), 0.0),
}


@pytest.mark.parametrize("name", GRIDS)
def test_steps(name):
    column, expected = GRIDS[name]
    assert find_steps(InMemoryRows(column[:, np.newaxis])) == pytest.approx(expected, rel=1e-6)
    parts = [part[:, np.newaxis] for part in (column[:0], column[:300], column[300:])]
    assert find_steps(Parts(parts)) == find_steps(InMemoryRows(column[:, np.newaxis]))


def test_no_division_by_cells_is_more_probable_than_one_state():
    """Cells in any groups, each with its own variance, and the variance of all of them."""
    for mean in np.linspace(0.0, 0.5, 6):
        for deviation in np.geomspace(0.05, 2.0, 20):
            ends = np.arange(-8.5, 9.0)
            mass = np.diff(stats.norm.cdf(ends, mean, deviation))
            cells = np.arange(-8.0, 9.0)[mass > 1e-12]
            mass = mass[mass > 1e-12] / mass[mass > 1e-12].sum()

            def gain(own, cells=cells, mass=mass):
                share = mass[own].sum()
                center = mass[own] @ cells[own] / share
                variance = mass[own] @ (cells[own] - center) ** 2 / share
                return share * (math.log(share) - 0.5 * math.log(variance + 0.1))

            best = [0.0]
            for end in range(1, len(cells) + 1):
                best.append(max(best[i] + gain(slice(i, end)) for i in range(end)))
            assert best[-1] <= gain(slice(None)) + 1e-9


@pytest.mark.parametrize("resolution", [-0.1, [0.1, -1.0, 0.0], "whole", [0.1, 0.2]])
def test_wrong_resolutions(resolution):
    with pytest.raises(ValueError, match="resolution"):
        GaussianEmission(resolution=resolution).make_sampler(rows()[0], 2)
