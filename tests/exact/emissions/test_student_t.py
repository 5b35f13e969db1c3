"""Vectors with outliers against the scale mixture that they are, and quadrature."""

import numpy as np
import pytest
from exact.oracles import student_t as oracle
from exact.oracles.predictive import log_gaussian_evidence
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import StudentTEmission
from skdp.emissions._student_t._model import ScaleMixture

NAN = np.nan
N_STATES = 3  # the last one has no data
MEAN, PRECISION, FREEDOM = np.array([0.5, -1.0]), 0.3, 4.2
SCALE = np.array([[2.0, 0.7], [0.7, 1.1]])
STATES = np.array([0, 1, 0, 0, 1, 1, 0, 1, 0])
VALUES = np.array(
    [[0.3, 1.0], [2.0, -1.0], [9.0, 3.0], [-0.4, 0.2], [1.2, -2.0], [14.0, NAN], [NAN, NAN],
     [1.0, 7.0], [NAN, 0.4]]
)  # fmt: skip
WHOLE = VALUES[[0, 1, 2, 3, 4, 7]], STATES[[0, 1, 2, 3, 4, 7]]
COLUMN = np.array([-0.9, 0.2, 1.4, 8.0, 0.1, NAN])
LINE = (0.2, 0.5, 2.5, 0.8)
every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def make(values, covariance_type="full", nu=3.0, prior=None, n_states=N_STATES):
    n_dims = values.shape[1]
    mean, precision, freedom, scale = prior or (MEAN, PRECISION, FREEDOM, SCALE)
    scale = np.reshape(scale, (n_dims, n_dims))
    emission = StudentTEmission(
        nu,
        covariance_type,
        mean_prior=np.reshape(mean, n_dims),
        mean_precision_prior=precision,
        degrees_of_freedom_prior=freedom,
        covariance_prior=scale if covariance_type == "full" else np.diag(scale),
    )
    sampler = emission.make_sampler(values, n_states)
    sampler.attach(values)
    return sampler, make_stream(make_seed_sequence(0))


def parameters(sampler, covariance_type):
    """Return means (J, D) and scales (J, D, D) that were drawn last."""
    width = sampler.means.shape[1]
    sigma = np.linalg.inv(sampler.precision_factors.swapaxes(1, 2) @ sampler.precision_factors)
    if covariance_type == "full":
        return sampler.means, sigma
    means = sampler.means.reshape(N_STATES, -1)
    return means, [np.diag(s) for s in sigma.reshape(N_STATES, -1)] if width == 1 else None


def expected_log_obs(values, covariance_type, means, scales, nu):
    out = np.zeros((len(values), N_STATES))
    for t, x in enumerate(values):
        seen = np.flatnonzero(~np.isnan(x))
        for j in range(N_STATES):
            if covariance_type == "diag":
                deviations = np.sqrt(np.diag(scales[j])[seen])
                out[t, j] = stats.t.logpdf(x[seen], nu, means[j][seen], deviations).sum()
            elif len(seen):
                known = means[j][seen], scales[j][np.ix_(seen, seen)], nu
                out[t, j] = stats.multivariate_t.logpdf(x[seen], *known)
    return out


@every_type
@pytest.mark.parametrize("nu", [0.7, 3.0, 50.0])
def test_log_densities(covariance_type, nu):
    sampler, rng = make(VALUES, covariance_type, nu)
    sampler.draw(STATES, rng)
    out = np.empty((len(VALUES), N_STATES))
    sampler.write_log_obs(out)
    means, scales = parameters(sampler, covariance_type)
    expected = expected_log_obs(VALUES, covariance_type, means, scales, nu)
    assert_allclose(out, expected, rtol=1e-9, atol=1e-12)


def predict(x, values, weights, nu, prior):
    """Return log p(x given weighted values), with the weight of x integrated out."""
    before = oracle.log_weighted_evidence(values, weights, *prior)

    def joint(log_u):
        u = np.exp(log_u)
        after = oracle.log_weighted_evidence([*values, x], [*weights, u], *prior)
        return after - before + stats.gamma.logpdf(u, 0.5 * nu, scale=2.0 / nu) + log_u

    grid = np.linspace(-55.0, 6.0, 401)
    return special.logsumexp([joint(v) for v in grid]) + np.log(grid[1] - grid[0])


@every_type
@pytest.mark.parametrize("nu", [0.7, 3.0])
def test_predictive_given_weights(covariance_type, nu):
    """Against ratios of evidences; of rows that miss a value, too, and far outliers."""
    values, states = WHOLE
    sampler, rng = make(values, covariance_type, nu)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    weights = sampler._weights.copy()
    sampler.draw(states, rng)
    new = np.array([[0.0, 0.5], [4.0, NAN], [NAN, -6.0], [3e3, -2e4], [NAN, NAN]])
    found = sampler.model().log_obs(new)
    for j in range(N_STATES):
        own = values[j == states], weights[j == states]
        for t, x in enumerate(new):
            seen = np.flatnonzero(~np.isnan(x))
            expected = 0.0
            blocks = [seen] if covariance_type == "full" else seen[:, np.newaxis]
            for block in blocks:
                if len(block) == 0:
                    continue
                missing = 2 - len(block) if covariance_type == "full" else 0
                prior = MEAN[block], PRECISION, FREEDOM - missing, SCALE[np.ix_(block, block)]
                b = 0 if covariance_type == "full" else block[0]
                expected += predict(x[block], own[0][:, block], own[1][:, b], nu, prior)
            assert_allclose(found[t, j], expected, rtol=1e-7, atol=1e-8)


@every_type
@pytest.mark.parametrize("nu", [0.2, 3.0, 50.0, 1e6])
def test_many_rows_at_once(covariance_type, nu, monkeypatch):
    """Polynomials stand for sums over nodes: those of single rows, which the test above checks."""
    values, states = WHOLE
    sampler, rng = make(values, covariance_type, nu)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    sampler.draw(states, rng)
    rng = np.random.default_rng(0)
    new = 3.0 * rng.standard_t(0.8, size=(6_000, 2))
    new[::700, 0], new[300::700] = NAN, NAN
    new[1000], new[2000] = (3e3, -2e4), sampler.model().means[1]
    some = np.unique([*range(0, 6_000, 77), 700, 1000, 1000, 2000, np.nanargmax(abs(new[:, 1]))])
    expected = np.concatenate([sampler.model().log_obs(new[[t]]) for t in some])
    seen, add_up = [], ScaleMixture._add_up
    monkeypatch.setattr(
        ScaleMixture, "_add_up", lambda self, d: seen.append(len(d)) or add_up(self, d)
    )
    found = sampler.model().log_obs(new)
    assert max(seen) < 2_000
    assert_allclose(found[some], expected, rtol=1e-11, atol=1e-11)


def test_what_is_no_polynomial_is_added_up(monkeypatch):
    sampler, rng = make(*WHOLE[:1])
    sampler.draw(WHOLE[1], rng)
    sampler.complete(WHOLE[1], rng)
    new = np.random.default_rng(0).normal(size=(2_000, 2))
    expected = sampler.model().log_obs(new)
    monkeypatch.setattr("skdp.emissions._student_t._model._EXACT", 0.0)
    found = sampler.model().log_obs(new)
    assert np.any(found != expected)
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_stored_parameters_are_posterior_means():
    values, states = WHOLE
    sampler, rng = make(values)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    weights = sampler._weights.copy()
    sampler.draw(states, rng)
    model = sampler.model()
    for j in range(N_STATES):
        known = values[j == states], weights[j == states, 0], MEAN, PRECISION, FREEDOM, SCALE
        center, _, freedom, scale = oracle.posterior(*known)
        assert_allclose(model.means[j], center)
        assert_allclose(model.scales[j], scale / (freedom - 3.0))
        assert_allclose(model.covariances[j], 3.0 * model.scales[j])


@every_type
@pytest.mark.parametrize("nu", [0.7, 5.0])
def test_draws_follow_the_marginals(covariance_type, nu):
    """12 Kolmogorov-Smirnov tests: false alarms in 2e-5 of seeds; and quadrature of the cdf."""
    values, states = WHOLE
    sampler, rng = make(values, covariance_type, nu)
    sampler.draw(states, rng)
    model, n = sampler.model(), 4_000
    marginals = model.marginals()
    for j in range(N_STATES):
        x = model.sample(np.full(n, j), np.random.default_rng(j))
        for d in range(2):
            ends = marginals.cdf(x[:, d], d)[:, j]
            assert stats.kstest(ends, stats.uniform.cdf).pvalue > 1e-6
            rows = np.full((1, 2), NAN)

            def density(y, j=j, d=d, rows=rows):
                rows[0, d] = y
                return np.exp(model.log_obs(rows)[0, j])

            a, b = marginals.locations[j, d] + marginals.scales[j, d] * np.array([-1.0, 6.0])
            found = np.diff(marginals.cdf(np.array([a, b]), d)[:, j])[0]
            assert_allclose(found, integrate.quad(density, a, b)[0], rtol=2e-6)
    if nu > 2.0:
        assert np.all(np.isfinite(marginals.variances[:2]))
    else:
        assert np.isinf(marginals.variances).all()
        assert np.isnan(marginals.means).all()


def test_variances_of_a_column():
    """By quadrature of the density."""
    sampler, rng = make(COLUMN.reshape(-1, 1), nu=9.0, prior=(0.2, 0.5, 9.0, 0.8))
    sampler.draw(np.array([0, 0, 1, 1, 0, 0]), rng)
    model = sampler.model()
    marginals = model.marginals()
    for j in range(2):
        middle = model.means[j, 0]

        def moment(y, j=j, middle=middle):
            return (y - middle) ** 2 * np.exp(model.log_obs(np.array([[y]]))[0, j])

        pieces = [(-np.inf, middle), (middle, np.inf)]
        expected = sum(integrate.quad(moment, *piece)[0] for piece in pieces)
        assert_allclose(marginals.variances[j, 0], expected, rtol=1e-4)


@pytest.mark.parametrize("q", [0.001, 0.4, 0.99])
def test_quantiles_lie_in_their_brackets(q):
    values, states = WHOLE
    sampler, rng = make(values, nu=1.0)
    sampler.draw(states, rng)
    marginals = sampler.model().marginals()
    low, high = marginals.brackets(np.array([q]), 1)
    assert np.all(marginals.cdf(low, 1) <= q)
    assert np.all(marginals.cdf(high, 1) >= q)
    few = marginals.take([0])
    assert_allclose(few.cdf(low, 1), marginals.cdf(low, 1)[:, :1])


def test_stored_density_integrates_to_one():
    sampler, rng = make(COLUMN.reshape(-1, 1), nu=1.5, prior=LINE)
    sampler.draw(np.array([0, 0, 1, 1, 0, 0]), rng)
    model = sampler.model()
    for j in range(N_STATES):

        def density(x, j=j):
            return np.exp(model.log_obs(np.array([[x]]))[0, j])

        middle = model.means[j, 0]
        pieces = [(-np.inf, middle), (middle, np.inf)]
        assert_allclose(sum(integrate.quad(density, *piece)[0] for piece in pieces), 1.0, rtol=1e-5)


@every_type
def test_weights_and_missing_values(covariance_type):
    """22 Kolmogorov-Smirnov tests at most: false alarms in 3e-5 of seeds."""
    nu, n_draws = 3.0, 8_000
    sampler, rng = make(VALUES, covariance_type, nu)
    sampler.draw(STATES, rng)
    means, scales = parameters(sampler, covariance_type)
    weights, filled = [], []
    for _ in range(n_draws):
        sampler.complete(STATES, rng)
        weights.append(sampler._weights)
        filled.append(sampler._filled)
    weights, filled = np.array(weights), np.array(filled)
    blocks = [[0, 1]] if covariance_type == "full" else [[0], [1]]
    for t, x in enumerate(VALUES):
        m, s = means[STATES[t]], scales[STATES[t]]
        for b, block in enumerate(blocks):
            seen = [d for d in block if not np.isnan(x[d])]
            if not seen:
                assert np.isnan(filled[:, t, block]).all()
                continue
            away = x[seen] - m[seen]
            inverse = np.linalg.inv(s[np.ix_(seen, seen)])
            distance = away @ inverse @ away
            law = stats.gamma(0.5 * (nu + len(seen)), scale=2.0 / (nu + distance))
            assert stats.kstest(weights[:, t, b], law.cdf).pvalue > 1e-6
            for d in set(block) - set(seen):
                slope = s[d, seen] @ inverse
                rest = s[d, d] - slope @ s[seen, d]
                scale = rest * (nu + distance) / (nu + len(seen))
                law = stats.t(nu + len(seen), m[d] + slope @ away, np.sqrt(scale))
                assert stats.kstest(filled[:, t, d], law.cdf).pvalue > 1e-6


@every_type
def test_evidence_given_weights(covariance_type):
    values, states = WHOLE
    nu = 3.0
    sampler, rng = make(values, covariance_type, nu)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    weights = sampler._weights.copy()
    part = sampler.restrict(np.arange(len(values)), N_STATES)
    part.condition(states)
    sampler.draw(states, rng)
    expected = stats.gamma.logpdf(weights, 0.5 * nu, scale=2.0 / nu).sum()
    blocks = [[0, 1]] if covariance_type == "full" else [[0], [1]]
    for j in range(N_STATES):
        for b, block in enumerate(blocks):
            own = j == states
            prior = MEAN[block], PRECISION, FREEDOM, SCALE[np.ix_(block, block)]
            known = values[own][:, block], weights[own, b]
            expected += oracle.log_weighted_evidence(*known, *prior)
    assert_allclose(sampler.log_evidence(), expected)
    assert_allclose(part.log_evidence(), expected)


def test_parameters_given_weights():
    """|z| < 5 for 12 figures: false alarms in 7e-6 of seeds."""
    values, states = WHOLE
    sampler, rng = make(values)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    weights, n_draws = sampler._weights.copy(), 10_000
    means, precisions = [], []
    for _ in range(n_draws):
        sampler._weights, sampler._filled = weights, values
        sampler.draw(states, rng)
        means.append(sampler.means.copy())
        factors = sampler.precision_factors
        precisions.append(factors.swapaxes(1, 2) @ factors)
    means, precisions = np.array(means), np.array(precisions)
    for j in range(2):
        own = j == states
        known = values[own], weights[own, 0], MEAN, PRECISION, FREEDOM, SCALE
        center, _, freedom, scale = oracle.posterior(*known)
        for found, expected in (
            (means[:, j], center),
            (precisions[:, j], freedom * np.linalg.inv(scale)),
        ):
            error = found.std(axis=0) / np.sqrt(n_draws)
            assert np.all(np.abs(found.mean(axis=0) - expected) < 5.0 * error)


def run_column(nu, n_sweeps, tail_prior=None, seed=0):
    """Return draws of mu, log sigma and nu given that all of a column is of one state."""
    column = COLUMN.reshape(-1, 1)
    sampler, rng = make(column, nu=nu, prior=LINE, n_states=1)
    sampler.tail_prior = tail_prior
    states = np.zeros(len(column), dtype=np.int64)
    draws = np.empty((n_sweeps, 3))
    for draw in draws:
        sampler.draw(states, rng)
        log_sigma = -np.log(sampler.precision_factors[0, 0, 0])
        draw[:] = sampler.means[0, 0], log_sigma, np.log(sampler.freedom)
    return draws


def z_scores(draws, expected, n_batches=40):
    batches = draws.reshape(n_batches, -1, draws.shape[1]).mean(axis=1)
    return (batches.mean(axis=0) - expected) / (batches.std(axis=0) / np.sqrt(n_batches - 1) + 1e-9)


def test_posterior_of_a_column():
    """Weights are integrated out right: |z| < 5 for 2 figures, false alarms in 1e-5 of seeds."""
    draws = run_column(1.5, 12_000)
    mu, sigma, logs = oracle.log_column_terms(tuple(COLUMN), 1.5, LINE)
    p = np.exp(logs - special.logsumexp(logs))
    z = z_scores(draws[:, :2], [(p * mu).sum(), (p * np.log(sigma)).sum()])
    assert np.abs(z).max() < 5.0, z


def test_posterior_of_the_degrees_of_freedom():
    """|z| < 5 for 3 figures: false alarms in 2e-5 of seeds."""
    prior = (2.0, 0.4)
    draws = run_column(4.0, 8_000, prior)
    grid = np.linspace(-4.0, 5.0, 91)
    logs, moments = [], []
    for log_nu in grid:
        nu = np.exp(log_nu)
        mu, sigma, terms = oracle.log_column_terms(tuple(COLUMN), nu, LINE)
        total = special.logsumexp(terms)
        p = np.exp(terms - total)
        moments.append([(p * mu).sum(), (p * np.log(sigma)).sum(), log_nu])
        logs.append(total + stats.gamma.logpdf(nu, prior[0], scale=1.0 / prior[1]) + log_nu)
    weights = np.exp(logs - special.logsumexp(logs))
    z = z_scores(draws, weights @ np.array(moments))
    assert np.abs(z).max() < 5.0, z


def test_averages_of_stored_densities_are_the_predictive():
    """Over draws of the parameters: |z| < 5 for 3 figures, false alarms in 2e-5 of seeds."""
    nu, new = 1.5, np.array([-1.0, 1.0, 12.0])
    sampler, rng = make(COLUMN.reshape(-1, 1), nu=nu, prior=LINE, n_states=1)
    states = np.zeros(len(COLUMN), dtype=np.int64)
    densities = np.empty((3_000, 3))
    for row in densities:
        sampler.draw(states, rng)
        row[:] = np.exp(sampler.model().log_obs(new[:, np.newaxis])[:, 0])
    before = oracle.log_column_evidence(tuple(COLUMN), nu, LINE)
    after = [oracle.log_column_evidence((*COLUMN, x), nu, LINE) for x in new]
    z = z_scores(densities, np.exp(np.array(after) - before))
    assert np.abs(z).max() < 5.0, z


# First states: weights are fitted, not drawn


@pytest.mark.parametrize("nu", [1.5, 5.0, 100.0])
def test_variational_evidence_is_a_lower_bound(nu):
    column = COLUMN[:-1].reshape(-1, 1)
    sampler, _ = make(column, nu=nu, prior=LINE)
    part = sampler.restrict(np.arange(5), 2)
    for states in ([0, 0, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, -1, 1, 0]):
        states = np.array(states)
        part.condition(states)
        expected = sum(
            oracle.log_column_evidence(tuple(column[states == j, 0]), nu, LINE) for j in range(2)
        )
        assert expected - 1.5 < part.log_evidence() < expected + 1e-6


def test_many_degrees_of_freedom_are_gaussian():
    values, states = WHOLE
    sampler, rng = make(values, nu=1e8)
    part = sampler.restrict(np.arange(len(values)), 2)
    part.condition(states)
    prior = MEAN, PRECISION, FREEDOM, SCALE
    expected = sum(log_gaussian_evidence(values[states == j], *prior) for j in range(2))
    assert_allclose(part.log_evidence(), expected, rtol=1e-6)
    sampler.draw(states, rng)
    assert_allclose(sampler.masses, sampler.counts, rtol=1e-3)
