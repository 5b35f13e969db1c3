"""Autoregressive observations against t densities, quadrature and moments in closed form."""

import math

import numpy as np
import pytest
from exact.oracles import autoregression as oracle
from numpy.testing import assert_allclose
from scipy import integrate, stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import AutoregressiveEmission

N_STATES = 3
FREEDOM = 4.5
PTR = np.array([0, 9, 15, 26])  # not a multiple of four steps


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_prior(n_dims, n_lags, freedom=FREEDOM):
    rng = np.random.default_rng(10 * n_dims + n_lags)
    n = n_dims * n_lags + 1
    roots = rng.normal(size=(n, n)), rng.normal(size=(n_dims, n_dims))
    precision, scale = (root @ root.T + 0.5 * np.eye(len(root)) for root in roots)
    rows = [tuple(map(tuple, x)) for x in (rng.normal(size=(n_dims, n)), precision, scale)]
    return oracle.MatrixNormalInverseWishart(rows[0], rows[1], freedom, rows[2])


def make_emission(prior, n_lags):
    return AutoregressiveEmission(
        n_lags,
        coef_prior=prior.coefs,
        coef_precision_prior=np.array(prior.precision),
        degrees_of_freedom_prior=prior.freedom,
        covariance_prior=prior.scale,
    )


def make_sampler(values, n_lags, prior):
    sampler = make_emission(prior, n_lags).make_sampler(values, N_STATES, PTR)
    sampler.attach(values, PTR)
    return sampler


def observations(n_dims, seed=0):
    rng = np.random.default_rng(seed)
    n = PTR[-1]
    values = rng.normal(size=(n, n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    return values, rng.integers(2, size=n)  # the last state is empty


def steps_by_state(values, states, n_lags):
    """Return the pairs (a, x) of the steps of each state."""
    found = oracle.pairs(np.split(values, PTR[1:-1]), n_lags)
    return [
        [pair for pair, z in zip(found, states, strict=True) if z == j and pair is not None]
        for j in range(N_STATES)
    ]


every_size = pytest.mark.parametrize(
    ("n_dims", "n_lags"), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (5, 2)]
)


@every_size
def test_log_evidence(n_dims, n_lags):
    prior = make_prior(n_dims, n_lags, n_dims + 1.5)
    values, states = observations(n_dims)
    sampler = make_sampler(values, n_lags, prior)
    sampler.condition(states)
    known = steps_by_state(values, states, n_lags)
    expected = sum(oracle.log_evidence(own, prior) for own in known)
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)


def test_log_evidence_by_quadrature():
    prior = make_prior(1, 1)
    values, states = observations(1)
    sampler = make_sampler(values, 1, prior)
    chosen = np.where(np.arange(PTR[-1]) % 4 == 1, states, -1)  # -1: of no state
    sampler.condition(chosen)
    expected = sum(
        oracle.log_evidence_by_quadrature(own, prior)
        for own in steps_by_state(values, chosen, 1)
        if own
    )
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-6)


def test_sequences_have_boundaries():
    """Two sequences are not one: first steps have no lags, and are not explained."""
    values, states = observations(2)
    prior = make_prior(2, 1)
    sampler = make_sampler(values, 1, prior)
    joined = make_emission(prior, 1).make_sampler(values, N_STATES, PTR[[0, -1]])
    joined.attach(values, PTR[[0, -1]])
    outs = np.empty((2, len(values), N_STATES))
    for own, out in zip((sampler, joined), outs, strict=True):
        own.draw(states, stream())
        own.write_log_obs(out)
    assert np.all(outs[0][PTR[:-1]] == 0.0)
    assert np.all(outs[1][0] == 0.0)
    assert np.all(outs[1][PTR[1:-1]] != 0.0)
    assert sampler.counts.sum() == PTR[-1] - 3
    assert joined.counts.sum() == PTR[-1] - 1


@every_size
def test_restricted_samplers_keep_lags(n_dims, n_lags):
    prior = make_prior(n_dims, n_lags, n_dims + 1.5)
    values, states = observations(n_dims)
    sampler = make_sampler(values, n_lags, prior)
    steps = np.flatnonzero(states == 1)
    groups = np.arange(len(steps)) % 2
    part = sampler.restrict(steps, 2)
    part.condition(groups)
    kept = np.full(len(values), -1)
    kept[steps] = groups
    expected = sum(oracle.log_evidence(own, prior) for own in steps_by_state(values, kept, n_lags))
    assert_allclose(part.log_evidence(), expected, rtol=1e-10)


@every_size
@pytest.mark.parametrize("above", [0.3, 1.5, 4.5])
def test_predictive_densities(n_dims, n_lags, above):
    """Of proposals and of stored samples, beside what evidences say."""
    prior = make_prior(n_dims, n_lags, n_dims - 1 + above)
    values, states = observations(n_dims)
    sampler = make_sampler(values, n_lags, prior)
    sampler.draw(states, stream())
    known = steps_by_state(values, states, n_lags)
    new = np.random.default_rng(3).normal(size=(8, n_dims)) * 4.0
    ptr = np.array([0, 4, 8])
    expected = np.zeros((8, N_STATES))
    for t, pair in enumerate(oracle.pairs(np.split(new, [4]), n_lags)):
        if pair is not None:
            for j in range(N_STATES):
                expected[t, j] = oracle.predictive(pair[0], known[j], prior).logpdf(pair[1])
    model = sampler.model()
    assert_allclose(model.degrees_of_freedom[2], above)
    assert_allclose(model.log_obs(new, ptr), expected, rtol=1e-9)
    sampler._rows = None
    sampler.attach(new, ptr)
    found = np.empty(expected.shape)
    sampler.write_log_predictive(found)
    assert_allclose(found, expected, rtol=1e-9)


def test_predictive_densities_integrate_to_one():
    values, states = observations(1)
    prior = make_prior(1, 2)
    sampler = make_sampler(values, 2, prior)
    sampler.draw(states, stream())
    model = sampler.model()

    def density(x, j):
        return math.exp(model.log_obs(np.array([[0.3], [-2.0], [x]]), np.array([0, 3]))[2, j])

    for j in range(N_STATES):
        total = sum(
            integrate.quad(density, *ends, args=(j,), epsabs=1e-10, limit=200)[0]
            for ends in ((-np.inf, -5.0), (-5.0, 5.0), (5.0, np.inf))
        )
        assert total == pytest.approx(1.0, rel=1e-7)


def test_densities_with_the_parameters_last_drawn():
    """log_obs of coefficients and covariances that are read off the maps."""
    for n_dims, n_lags in ((1, 1), (2, 2), (5, 1)):
        prior = make_prior(n_dims, n_lags, n_dims + 2.0)
        values, states = observations(n_dims)
        sampler = make_sampler(values, n_lags, prior)
        sampler.draw(states, stream())
        found = np.empty((len(values), N_STATES))
        sampler.write_log_obs(found)
        drawn = [read_draw(sampler, j, prior) for j in range(N_STATES)]
        for t, pair in enumerate(oracle.pairs(np.split(values, PTR[1:-1]), n_lags)):
            for j, (coefs, precision) in enumerate(drawn):
                expected = 0.0
                if pair is not None:
                    mean, covariance = coefs @ pair[0], np.linalg.inv(precision)
                    expected = stats.multivariate_normal.logpdf(pair[1], mean, covariance)
                assert found[t, j] == pytest.approx(expected, rel=1e-8, abs=1e-10)


def read_draw(sampler, j, prior):
    """Return A (intercepts last) and the inverse of Sigma of the last draw of a state."""
    n_dims = len(prior.scale)
    to_regressors = np.linalg.inv(sampler.prior.precision_root)
    to_residuals = np.linalg.inv(sampler.prior.scale_root)
    maps = sampler.regressions.maps[j]
    left, right = maps[:, :-n_dims], maps[:, -n_dims:]
    assert np.all(np.triu(right, 1) == 0.0)
    factor = right @ to_residuals  # U
    coefs = -np.linalg.solve(factor, left @ to_regressors)  # of what the prior's leave
    coefs = np.hstack([coefs[:, 1:], coefs[:, :1]]) + np.array(prior.coefs)
    return coefs, factor.T @ factor


def z_scores(draws, expected):
    """Return by how many standard errors the mean of independent draws is off."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    return (draws.mean(axis=0) - expected) / error


@pytest.mark.parametrize("j", [1, 2], ids=["a state of some steps", "an empty state"])
def test_draws_have_the_moments_of_the_posterior(j):
    """39 figures, |z| < 5: a false alarm in 2.2e-5 of seeds."""
    values, states = observations(2)
    prior = make_prior(2, 2, 6.5)
    sampler, rng = make_sampler(values, 2, prior), stream(7)
    coefs, precisions = [], []
    for _ in range(20_000):
        sampler.draw(states, rng)
        drawn = read_draw(sampler, j, prior)
        coefs.append(drawn[0])
        precisions.append(drawn[1])
    coefs, precisions = np.array(coefs), np.array(precisions)
    m, c, nu, scale = oracle.update(steps_by_state(values, states, 2)[j], prior)
    v, upper = np.linalg.inv(scale), np.triu_indices(2)
    assert np.abs(z_scores(precisions[:, *upper], nu * v[upper])).max() < 5.0
    # Var W_ij = nu (V_ij^2 + V_ii V_jj) of a Wishart(nu, V) matrix.
    variances = nu * (v**2 + np.multiply.outer(np.diag(v), np.diag(v)))
    squares = (precisions - nu * v) ** 2
    assert np.abs(z_scores(squares[:, *upper], variances[upper])).max() < 5.0
    away = coefs - m
    assert np.abs(z_scores(coefs.reshape(-1, 10), m.ravel())).max() < 5.0
    # (A - M) C^1/2 are normal rows with the precision drawn along with them.
    distances = np.einsum("sdk,kl,sde,sel->s", away, c, precisions, away)
    assert np.abs(z_scores(distances, 10.0)) < 5.0
    # Cov vec A = C^-1 x E[Sigma].
    columns = np.einsum("sdk,sdl->skl", away, away)
    expected = np.linalg.inv(c) * np.trace(scale) / (nu - 3.0)
    some = np.triu_indices(5)
    assert np.abs(z_scores(columns[:, *some], expected[some])).max() < 5.0
    rows = np.einsum("sdk,kl,sel->sde", away, c, away)
    assert np.abs(z_scores(rows[:, *upper], 5.0 * scale[upper] / (nu - 3.0))).max() < 5.0


def test_the_model_holds_posterior_means():
    values, states = observations(3)
    prior = make_prior(3, 2, 4.5)
    sampler = make_sampler(values, 2, prior)
    sampler.draw(states, stream())
    model, known = sampler.model(), steps_by_state(values, states, 2)
    for j in range(N_STATES):
        coefs, precision, nu, scale = oracle.update(known[j], prior)
        assert_allclose(model.coefs[j], coefs[:, :-1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.intercepts[j], coefs[:, -1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.covariances[j], scale / (nu - 4.0), rtol=1e-9)
        assert_allclose(model.scales[j], scale / (nu - 2.0), rtol=1e-9)
        order = np.roll(np.arange(7), 1)
        factor = model.coef_factors[j]
        assert_allclose(
            factor.T @ factor, np.linalg.inv(precision)[np.ix_(order, order)], rtol=1e-8
        )


def test_draws_of_the_next_observation_follow_the_density():
    """9 Kolmogorov-Smirnov tests: false alarms in 9e-6 of seeds."""
    values, states = observations(2)
    sampler = make_sampler(values, 2, make_prior(2, 2, 3.1))
    sampler.draw(states, stream())
    model, n = sampler.model(), 20_000
    before = np.array([[0.5, -1.0], [2.0, 1.0]])  # in time order
    lags = before[::-1].ravel()
    for j in range(N_STATES):
        rng = np.random.default_rng(j)
        draws = model.draw_next(np.full(n, j), np.tile(lags, (n, 1)), rng)
        marginals = model.marginals_after(lags)
        for d in range(2):
            law = stats.t(
                marginals.freedoms[j, d], marginals.locations[j, d], marginals.scales[j, d]
            )
            assert stats.kstest(draws[:, d], law.cdf).pvalue > 1e-6
            # The density of log_obs, as margins of t distributions are t distributions.
        factor = np.linalg.inv(np.linalg.cholesky(model.scales[j]))
        size = 1.0 + np.sum((model.coef_factors[j] @ np.append(1.0, lags)) ** 2)
        away = (draws - model.intercepts[j] - model.coefs[j] @ lags) @ factor.T
        squares = (away**2).sum(axis=1) / (2.0 * size)
        assert stats.kstest(squares, stats.f(2, model.degrees_of_freedom[j]).cdf).pvalue > 1e-6
        one = model.sample(np.array([j]), np.random.default_rng(5), before)
        other = model.draw_next(np.array([j]), lags[np.newaxis], np.random.default_rng(5))
        assert_allclose(one, other)
        known = np.vstack([before, one])
        (expected,) = (
            stats.multivariate_t(
                model.intercepts[j] + model.coefs[j] @ lags,
                model.scales[j] * size,
                df=model.degrees_of_freedom[j],
            )
            .logpdf(one[:1])
            .reshape(1)
        )
        assert model.log_obs(known, np.array([0, 3]))[2, j] == pytest.approx(expected, rel=1e-9)


class TestChosenLagsAndTrends:
    """The regressors are other columns; the rest is the same."""

    CASES = pytest.mark.parametrize(
        ("n_dims", "lags", "trend"),
        [(1, [3], "c"), (1, [1, 4], "ct"), (2, [2, 3], "c"), (2, 2, "ct"), (3, [1, 3], "ct")],
    )

    @staticmethod
    def make(n_dims, lags, trend):
        """Return the emission, its prior, values, states and the pairs (a, x) by state."""
        n_chosen = lags if isinstance(lags, int) else len(lags)
        width = n_dims * n_chosen + (trend == "ct") + 1
        rng = np.random.default_rng(width)
        roots = rng.normal(size=(width, width)), rng.normal(size=(n_dims, n_dims))
        precision, scale = (root @ root.T + 0.5 * np.eye(len(root)) for root in roots)
        rows = [tuple(map(tuple, x)) for x in (rng.normal(size=(n_dims, width)), precision, scale)]
        prior = oracle.MatrixNormalInverseWishart(rows[0], rows[1], n_dims + 1.5, rows[2])
        emission = AutoregressiveEmission(
            lags, trend=trend, coef_prior=prior.coefs, coef_precision_prior=precision,
            degrees_of_freedom_prior=prior.freedom, covariance_prior=scale,
        )  # fmt: skip
        values, states = observations(n_dims)
        found = oracle.pairs(np.split(values, PTR[1:-1]), lags, trend == "ct")
        known = [
            [pair for pair, z in zip(found, states, strict=True) if z == j and pair is not None]
            for j in range(N_STATES)
        ]
        return emission, prior, values, states, known

    @CASES
    def test_evidence_and_predictive_densities(self, n_dims, lags, trend):
        emission, prior, values, states, known = self.make(n_dims, lags, trend)
        sampler = emission.make_sampler(values, N_STATES, PTR)
        sampler.attach(values, PTR)
        sampler.draw(states, stream())
        expected = sum(oracle.log_evidence(own, prior) for own in known)
        assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)
        model = sampler.model()
        found = model.log_obs(values, PTR)
        pairs = oracle.pairs(np.split(values, PTR[1:-1]), lags, trend == "ct")
        for t, pair in enumerate(pairs):
            for j in range(N_STATES):
                law = None if pair is None else oracle.predictive(pair[0], known[j], prior)
                density = 0.0 if law is None else law.logpdf(pair[1])
                assert found[t, j] == pytest.approx(density, rel=1e-9)

    @CASES
    def test_model_and_next_steps(self, n_dims, lags, trend):
        """Posterior means, marginals, moments and draws of the step after 8 others."""
        emission, prior, values, states, known = self.make(n_dims, lags, trend)
        sampler = emission.make_sampler(values, N_STATES, PTR)
        sampler.attach(values, PTR)
        sampler.draw(states, stream())
        model = sampler.model()
        (*_, (a, _)) = oracle.pairs([values[:9]], lags, trend == "ct")
        before = values[:8][::-1][: model.n_lags].ravel()
        marginals = model.marginals_after(before, 9)
        origin = values[0]
        steps = model.steps_about(origin, 9)
        moved = np.append(1.0, before - np.tile(origin, model.n_lags))
        for j in range(N_STATES):
            coefs = oracle.update(known[j], prior)[0]
            law, n = oracle.predictive(a, known[j], prior), n_dims * len(model.lags)
            assert_allclose(model.coefs[j], coefs[:, :n], rtol=1e-8, atol=1e-10)
            assert_allclose(model.intercepts[j], coefs[:, -1], rtol=1e-8, atol=1e-10)
            if trend == "ct":
                assert_allclose(model.trends[j], coefs[:, -2], rtol=1e-8, atol=1e-10)
            assert_allclose(marginals.locations[j], law.loc, rtol=1e-8)
            assert_allclose(marginals.scales[j] ** 2, np.diag(law.shape), rtol=1e-8)
            mean = (steps.maps[j] @ moved)[1 : n_dims + 1] + origin
            assert_allclose(mean, law.loc, rtol=1e-8)
            size = 1.0 + moved @ steps.precisions[j] @ moved
            noise = steps.covariances[j] * size
            assert_allclose(noise, law.shape * law.df / (law.df - 2.0), rtol=1e-7)
            states_of_draws, rng = np.full(4000, j), np.random.default_rng(j)
            draws = model.draw_next(states_of_draws, np.tile(before, (4000, 1)), rng, 9)
            for d in range(n_dims):
                single = stats.t(law.df, law.loc[d], np.sqrt(law.shape[d, d]))
                assert stats.kstest(draws[:, d], single.cdf).pvalue > 1e-6
        one = model.sample(np.array([0]), np.random.default_rng(5), values[:8])
        again = model.draw_next(np.array([0]), before[np.newaxis], np.random.default_rng(5), 9)
        assert_allclose(one, again)
