"""Vectors with outliers against the scale mixture that they are, and quadrature.

Chains by batch means (see `batch_means`): |z| < 5 for 50 figures. Other draws by some 80
Kolmogorov-Smirnov tests, each of which fails for one seed in a million.
"""

import numpy as np
import pytest
from exact.oracles import student_t as oracle
from exact.oracles.batch_means import check_chain
from exact.oracles.normal_wishart import NormalWishart, log_evidence
from numpy.testing import assert_allclose
from scipy import special, stats
from unit.emissions.helpers import stream

from skdp.emissions import StudentTEmission
from skdp.emissions._gaussian._student_t import ScaleMixture

NAN = np.nan
N_STATES = 3  # the last one has no data
PRIOR = NormalWishart(np.array([0.5, -1.0]), 0.3, 4.2, np.array([[2.0, 0.7], [0.7, 1.1]]))
STATES = np.array([0, 1, 0, 0, 1, 1, 0, 1, 0])
VALUES = np.array(
    [[0.3, 1.0], [2.0, -1.0], [9.0, 3.0], [-0.4, 0.2], [1.2, -2.0], [14.0, NAN], [NAN, NAN],
     [1.0, 7.0], [NAN, 0.4]]
)  # fmt: skip
WHOLE = VALUES[[0, 1, 2, 3, 4, 7]], STATES[[0, 1, 2, 3, 4, 7]]
COLUMN = np.array([-0.9, 0.2, 1.4, 8.0, 0.1, NAN])
OF_COLUMN = np.array([0, 0, 1, 1, 0, 0])
LINE = (0.2, 0.5, 2.5, 0.8)
every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def make(values, covariance_type="full", nu=3.0, prior=PRIOR, n_states=N_STATES):
    n_dims = values.shape[1]
    mean, precision, freedom, scale = prior
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
    return sampler, stream()


def drawn(covariance_type="full", nu=3.0):
    """Return a sampler of whole rows, its stream, and the weights that its parameters follow."""
    values, states = WHOLE
    sampler, rng = make(values, covariance_type, nu)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    weights = sampler._weights.copy()
    sampler.draw(states, rng)
    return sampler, rng, weights


def blocks_of(covariance_type):
    return [[0, 1]] if covariance_type == "full" else [[0], [1]]


def prior_of(block):
    return PRIOR if len(block) == 2 else PRIOR.column(block[0])


def parameters(sampler):
    """Return means (J, D) and scales (J, D, D) that were drawn last."""
    width = sampler.means.shape[1]
    sigma = np.linalg.inv(sampler.precision_factors.swapaxes(1, 2) @ sampler.precision_factors)
    means = sampler.means.reshape(N_STATES, -1)
    return means, [np.diag(s) for s in sigma.reshape(N_STATES, -1)] if width == 1 else sigma


@pytest.mark.parametrize(
    ("nu", "covariance_type"), [(0.7, "full"), (3.0, "diag"), (50.0, "full"), (0.7, "diag")]
)
def test_log_densities(nu, covariance_type):
    sampler, rng = make(VALUES, covariance_type, nu)
    sampler.draw(STATES, rng)
    found = np.empty((len(VALUES), N_STATES))
    sampler.write_log_obs(found)
    means, scales = parameters(sampler)
    expected = np.zeros(found.shape)
    for t, x in enumerate(VALUES):
        for block in blocks_of(covariance_type):
            seen = [d for d in block if not np.isnan(x[d])]
            for j in range(N_STATES if seen else 0):
                law = stats.multivariate_t(means[j][seen], scales[j][np.ix_(seen, seen)], nu)
                expected[t, j] += law.logpdf(x[seen])
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


# Stored samples


@every_type
@pytest.mark.parametrize("nu", [0.7, 3.0])
def test_predictive_given_weights(nu, covariance_type):
    """With the weight of the new row integrated out; of rows that miss a value, too, and far ones.

    What is stored of a state are its posterior means.
    """
    values, states = WHOLE
    sampler, _, weights = drawn(covariance_type, nu)
    new = np.array([[0.0, 0.5], [4.0, NAN], [NAN, -6.0], [3e3, -2e4], [NAN, NAN]])
    model = sampler.model()
    found, expected = model.log_obs(new), np.zeros((len(new), N_STATES))
    log_u, step = np.linspace(-55.0, 6.0, 401, retstep=True)
    u = np.exp(log_u)
    log_prior = stats.gamma.logpdf(u, 0.5 * nu, scale=2.0 / nu) + log_u
    for b, block in enumerate(blocks_of(covariance_type)):
        for j in range(N_STATES):
            own = j == states
            law = prior_of(block).given(values[own][:, block], weights[own, b])
            assert_allclose(model.means[j, block], law.mean)
            own_scale = model.scales[j][block]
            assert_allclose(own_scale, law.expected_covariance().reshape(own_scale.shape))
            for t, x in enumerate(new[:, block]):
                if not np.isnan(x).all():
                    seen = np.flatnonzero(~np.isnan(x))
                    logs = law.of(seen).log_next(x[seen], u) + log_prior
                    expected[t, j] += special.logsumexp(logs) + np.log(step)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("nu", "covariance_type"), [(3.0, "full"), (0.2, "diag"), (50.0, "diag"), (1e6, "full")]
)
def test_many_rows_at_once(nu, covariance_type, monkeypatch):
    """Polynomials stand for sums over nodes: those of single rows, which the test above checks."""
    model = drawn(covariance_type, nu)[0].model()
    rng = np.random.default_rng(0)
    new = 3.0 * rng.standard_t(0.8, size=(6_000, 2))
    new[::700, 0], new[300::700] = NAN, NAN
    new[1000], new[2000] = (3e3, -2e4), model.means[1]
    some = np.unique([*range(0, 6_000, 77), 700, 1000, 1000, 2000, np.nanargmax(abs(new[:, 1]))])
    expected = np.concatenate([model.log_obs(new[[t]]) for t in some])
    seen, add_up = [], ScaleMixture._add_up
    monkeypatch.setattr(
        ScaleMixture, "_add_up", lambda self, d: seen.append(len(d)) or add_up(self, d)
    )
    found = model.log_obs(new)
    assert max(seen) < 2_000
    assert_allclose(found[some], expected, rtol=1e-11, atol=1e-11)


def test_what_is_no_polynomial_is_added_up(monkeypatch):
    model = drawn()[0].model()
    new = np.random.default_rng(0).normal(size=(2_000, 2))
    expected = model.log_obs(new)
    monkeypatch.setattr("skdp.emissions._gaussian._student_t._EXACT", 0.0)
    found = drawn()[0].model().log_obs(new)
    assert np.any(found != expected)
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("nu", "covariance_type"), [(0.7, "full"), (5.0, "diag"), (5.0, "full")])
def test_draws_follow_the_marginals(nu, covariance_type):
    """And these are integrals of densities."""
    model = drawn(covariance_type, nu)[0].model()
    marginals, n = model.marginals(), 4_000
    assert_allclose(model.covariances, 5.0 / 3.0 * model.scales if nu > 2.0 else np.inf)
    for j in range(N_STATES):
        x = model.sample(np.full(n, j), np.random.default_rng(j))
        for d in range(2):
            ends = marginals.cdf(x[:, d], d)[:, j]
            assert stats.kstest(ends, stats.uniform.cdf).pvalue > 1e-6
            y = marginals.locations[j, d] + marginals.scales[j, d] * np.linspace(-1.0, 6.0, 4_001)
            rows = np.full((len(y), 2), NAN)
            rows[:, d] = y
            expected = np.trapezoid(np.exp(model.log_obs(rows)[:, j]), y)
            found = np.diff(marginals.cdf(y[[0, -1]], d)[:, j])[0]
            assert_allclose(found, expected, rtol=2e-6)
    if nu > 2.0:
        assert np.all(np.isfinite(marginals.variances[:2]))
    else:
        assert np.isinf(marginals.variances).all()
        assert np.isnan(marginals.means).all()


@pytest.mark.parametrize(("nu", "freedom"), [(1.5, 2.5), (9.0, 9.0)])
def test_density_of_a_column(nu, freedom):
    """It integrates to one, and has the variance, by trapezoids over the tangent of an angle."""
    sampler, rng = make(COLUMN.reshape(-1, 1), nu=nu, prior=(0.2, 0.5, freedom, 0.8))
    sampler.draw(OF_COLUMN, rng)
    model = sampler.model()
    angles, step = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 10_001, retstep=True)
    away, volume = np.tan(angles[1:-1]), step / np.cos(angles[1:-1]) ** 2
    for j in range(N_STATES):
        rows = model.means[j] + away[:, np.newaxis]
        masses = np.exp(model.log_obs(rows)[:, j]) * volume
        assert_allclose(masses.sum(), 1.0, rtol=1e-5)
        if nu > 2.0:
            expected = model.marginals().variances[j, 0]
            assert_allclose(masses @ away**2, expected, rtol=1e-4)


def test_quantiles_lie_in_their_brackets():
    marginals = drawn(nu=1.0)[0].model().marginals()
    q = np.array([0.001, 0.4, 0.99])
    low, high = marginals.brackets(q, 1)
    assert np.all(marginals.cdf(low, 1) <= q[:, np.newaxis])
    assert np.all(marginals.cdf(high, 1) >= q[:, np.newaxis])
    assert_allclose(marginals.take([0]).cdf(low, 1), marginals.cdf(low, 1)[:, :1])


# Weights


@every_type
def test_weights_and_missing_values(covariance_type):
    nu, n_draws = 3.0, 8_000
    sampler, rng = make(VALUES, covariance_type, nu)
    sampler.draw(STATES, rng)
    means, scales = parameters(sampler)
    weights, filled = [], []
    for _ in range(n_draws):
        sampler.complete(STATES, rng)
        weights.append(sampler._weights)
        filled.append(sampler._filled)
    weights, filled = np.array(weights), np.array(filled)
    for t, x in enumerate(VALUES):
        m, s = means[STATES[t]], scales[STATES[t]]
        for b, block in enumerate(blocks_of(covariance_type)):
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
    """Also that of a restricted sampler, which moves of states use."""
    (values, states), nu = WHOLE, 3.0
    sampler, rng = make(values, covariance_type, nu)
    sampler.draw(states, rng)
    sampler.complete(states, rng)
    weights = sampler._weights.copy()
    part = sampler.restrict(np.arange(len(values)), N_STATES)
    part.condition(states)
    sampler.draw(states, rng)
    expected = stats.gamma.logpdf(weights, 0.5 * nu, scale=2.0 / nu).sum()
    for j in range(N_STATES):
        for b, block in enumerate(blocks_of(covariance_type)):
            own = j == states
            expected += log_evidence(values[own][:, block], prior_of(block), weights[own, b])
    assert_allclose(sampler.log_evidence(), expected)
    assert_allclose(part.log_evidence(), expected)


def test_parameters_given_weights():
    values, states = WHOLE
    sampler, rng, weights = drawn()

    def step():
        sampler._weights, sampler._filled = weights, values
        sampler.draw(states, rng)
        factors = sampler.precision_factors
        return sampler.means.copy(), factors.swapaxes(1, 2) @ factors

    def compare(means, precisions):
        for j in range(2):
            own = j == states
            law = PRIOR.given(values[own], weights[own, 0])
            yield from law.compare(means[:, j], precisions[:, j])

    check_chain(step, compare, 10_000)


def column_chain(nu, tail_prior=None):
    """Return a function that draws mu, log sigma and log nu, given that there is one state."""
    sampler, rng = make(COLUMN.reshape(-1, 1), nu=nu, prior=LINE, n_states=1)
    sampler.tail_prior = tail_prior
    states = np.zeros(len(COLUMN), dtype=np.int64)

    def step():
        sampler.draw(states, rng)
        log_sigma = -np.log(sampler.precision_factors[0, 0, 0])
        return np.array([sampler.means[0, 0], log_sigma, np.log(sampler.freedom)])

    return sampler, step


def test_posterior_of_a_column():
    """Weights are integrated out right."""
    mu, sigma, logs = oracle.log_column_terms(tuple(COLUMN), 1.5, LINE)
    p = special.softmax(logs)
    expected = [(p * mu).sum(), (p * np.log(sigma)).sum()]
    check_chain(column_chain(1.5)[1], lambda x: [(x[:, :2], expected, "mu, log sigma")], 12_000)


@pytest.mark.slow
def test_posterior_of_the_degrees_of_freedom():
    logs, moments = [], []
    for log_nu in np.linspace(-4.0, 5.0, 46):
        nu = np.exp(log_nu)
        mu, sigma, terms = oracle.log_column_terms(tuple(COLUMN), nu, LINE)
        p = special.softmax(terms)
        moments.append([(p * mu).sum(), (p * np.log(sigma)).sum(), log_nu])
        log_prior = stats.gamma.logpdf(nu, 2.0, scale=1.0 / 0.4) + log_nu
        logs.append(special.logsumexp(terms) + log_prior)
    expected = special.softmax(logs) @ np.array(moments)
    _, step = column_chain(4.0, (2.0, 0.4))
    check_chain(step, lambda x: [(x, expected, "mu, log sigma, log nu")], 8_000)


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
    expected = sum(log_evidence(values[states == j], PRIOR) for j in range(2))
    assert_allclose(part.log_evidence(), expected, rtol=1e-6)
    sampler.draw(states, rng)
    assert_allclose(sampler.masses, sampler.counts, rtol=1e-3)
