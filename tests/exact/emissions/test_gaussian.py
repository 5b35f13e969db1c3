"""Gaussian observations against t densities, moments in closed form, and quadrature.

Draws by batch means (see `batch_means`): |z| < 5 for about 220 figures; and by 15
Kolmogorov-Smirnov tests, each of which fails for one seed in a million.
"""

import math
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means, check_chain
from exact.oracles.normal_wishart import NormalWishart, log_evidence, log_evidence_by_quadrature
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from unit.emissions.helpers import stream

from skdp.emissions import GaussianEmission
from skdp.emissions._gaussian._model import GaussianModel
from skdp.emissions._kernels._gaussian import fast_log_1p, find_peak

NAN = np.nan
N_STATES, N_DRAWS = 3, 20_000  # the last state has no data
MEAN, PRECISION = np.array([0.5, -1.0, 2.0, 0.0, 1.0]), 0.3
COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 1.5]])
every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def make_prior(n_dims, dof=4.5):
    roots = np.random.default_rng(5).normal(size=(n_dims, n_dims + 1))
    return NormalWishart(MEAN[:n_dims], PRECISION, dof, roots @ roots.T + 0.5 * np.eye(n_dims))


def observations(n_dims=3, gaps=False):
    """Return rows, their states, and six other rows."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(15, n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    states, new = rng.integers(2, size=15), 3.0 * rng.normal(size=(6, n_dims))
    if gaps:
        values[4] = NAN
        values[[0, 3, 9], [0, 1, n_dims - 1]] = NAN
        new[2, 1], new[4, 1:], new[5] = NAN, NAN, NAN
    return values, states, new


def drawn(values, states, covariance_type, prior):
    """Return a sampler with its first draw, and the stream."""
    emission = GaussianEmission(
        covariance_type,
        mean_prior=prior.mean,
        mean_precision_prior=prior.precision,
        degrees_of_freedom_prior=prior.dof,
        covariance_prior=prior.scale if covariance_type == "full" else np.diag(prior.scale),
    )
    sampler, rng = emission.make_sampler(values, N_STATES), stream(7)
    sampler.attach(values)
    sampler.draw(states, rng)
    return sampler, rng


def posteriors(values, states, covariance_type, prior):
    """Return the columns of each block, and their posterior for each state."""
    width = values.shape[1]
    blocks = [list(range(width))] if covariance_type == "full" else [[d] for d in range(width)]
    for block in blocks:
        own = prior if covariance_type == "full" else prior.column(block[0])
        rows = [values[j == states][:, block] for j in range(N_STATES)]
        yield block, [own.given(x[~np.isnan(x).any(axis=1)]) for x in rows]


def log_marginals(values, log_density, covariance_type):
    """Add up log densities of the values that are there, (n, J): all together or one by one.

    `log_density` gets them, their columns and the state.
    """
    out = np.zeros((len(values), N_STATES))
    for t, x in enumerate(values):
        seen = np.flatnonzero(~np.isnan(x))
        blocks = seen[:, np.newaxis] if covariance_type == "diag" else [seen] if len(seen) else []
        for block in blocks:
            for j in range(N_STATES):
                out[t, j] += log_density(x[block], block, j)
    return out


# Densities


@every_type
@pytest.mark.parametrize("n_dims", [1, 2, 3, 4, 5, 6, 11])
def test_densities(covariance_type, n_dims):
    """Of known means and covariances, and t densities from heavy tails to all but normal ones."""
    rng = np.random.default_rng(n_dims)
    values = 2.0 * rng.normal(size=(40, n_dims))
    values[10:20][rng.random((10, n_dims)) < 0.4] = NAN
    values[20:30] *= 1e3
    means = rng.normal(size=(N_STATES, n_dims))
    roots = rng.normal(size=(N_STATES, n_dims, n_dims + 2))
    scales = roots @ roots.swapaxes(1, 2)
    ratios, freedoms = np.array([0.5, 1.0, 1.7]), np.array([0.7, 9_990.0, 10_010.0])
    given, spreads = [scales, freedoms, ratios], ratios[:, np.newaxis, np.newaxis] * scales
    if covariance_type == "diag":
        given = [np.diagonal(scales, axis1=1, axis2=2)]
        given += [np.tile(x[:, np.newaxis], n_dims) for x in (freedoms, ratios)]

    def normal(x, block, j):
        covariance = scales[j][np.ix_(block, block)]
        return stats.multivariate_normal.logpdf(x, means[j, block], covariance)

    def student(x, block, j):
        scale = spreads[j][np.ix_(block, block)]
        return stats.multivariate_t.logpdf(x, means[j, block], scale, freedoms[j])

    near = np.concatenate([values[:20], values[30:]])
    expected = log_marginals(near, normal, covariance_type)
    found = GaussianModel(means, given[0]).log_obs(near)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    expected = log_marginals(values, student, covariance_type)
    assert_allclose(GaussianModel(means, *given).log_obs(values), expected, rtol=1e-8, atol=1e-9)


@every_type
def test_densities_with_the_parameters_last_drawn(covariance_type):
    values, states, _ = observations(gaps=True)
    sampler, _ = drawn(values, states, covariance_type, make_prior(3))
    found = np.empty((len(values), N_STATES))
    sampler.write_log_obs(found)
    means, factors = sampler.means, sampler.precision_factors
    if covariance_type == "diag":
        means = means.reshape(N_STATES, 3)
        factors = [np.diag(u) for u in factors.reshape(N_STATES, 3)]
    covariances = [np.linalg.inv(u.T @ u) for u in factors]

    def normal(x, block, j):
        covariance = covariances[j][np.ix_(block, block)]
        return stats.multivariate_normal.logpdf(x, means[j][block], covariance)

    expected = log_marginals(values, normal, covariance_type)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_many_degrees_of_freedom_lose_no_digits():
    """The density tends to the normal one, with relative errors of 1 / nu."""
    freedoms = np.array([1e8, 1e12, 1e15])
    known = np.zeros((3, 2)), np.tile(np.array([[2.0, 0.5], [0.5, 1.0]]), (3, 1, 1))
    values = np.random.default_rng(0).normal(size=(20, 2))
    normal = GaussianModel(*known).log_obs(values)
    found = GaussianModel(*known, freedoms, np.ones(3)).log_obs(values)
    assert np.abs(found - normal)[:, 0].max() < 3e-7
    assert_allclose(found[:, 1:], normal[:, 1:], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("freedom", [3_000.0, 9_999.0, 10_001.0, 30_000.0])
def test_stirlings_series_takes_over_smoothly(freedom):
    model = GaussianModel(np.zeros((1, 1)), np.ones((1, 1, 1)), np.array([freedom]), np.ones(1))
    expected = stats.t.logpdf([0.0, 1.5], freedom)
    found = model.log_obs(np.array([[0.0], [1.5]]))[:, 0]
    assert_allclose(found, expected, rtol=0.0, atol=1e-10)


def test_logarithms_of_one_and_more():
    x = np.concatenate([[0.0], 10.0 ** np.linspace(-300.0, 299.0, 3001)])
    assert_allclose([fast_log_1p(y) for y in x], np.log1p(x), rtol=1e-15)
    assert fast_log_1p(math.inf) == math.inf


@pytest.mark.parametrize(
    ("power", "square"),
    [(0.6, 0.0), (40.0, 1e-3), (2.5, 7.0), (2.0, 1e10), (40.0, 1e17), (2.0, 1e30), (0.6, 1e60),
     (2.5, 1e280)],
)  # fmt: skip
def test_peaks_of_weights(power, square):
    """Without loss of digits, however far away a row is."""
    shape, total = 2.0, 2.5
    with localcontext() as context:
        context.prec = 700
        a, d, n = Decimal(shape), Decimal(square), Decimal(total)
        b = a + (Decimal(power) - n) * d
        expected = 2 * n / (b + (b * b + 4 * a * n * d).sqrt())
    assert_allclose(find_peak(shape, total, power, square), float(expected), rtol=1e-13)


# Evidence and what follows from it


@pytest.mark.parametrize(("covariance_type", "n_dims"), [("full", 2), ("full", 3), ("diag", 3)])
def test_log_evidence(covariance_type, n_dims):
    """Columns that are independent are left out where they are missing."""
    values, states, _ = observations(n_dims, gaps=True)
    if covariance_type == "full":  # others are drawn
        values[np.isnan(values).any(axis=1)] = NAN
    prior = make_prior(n_dims)
    sampler, _ = drawn(values, states, covariance_type, prior)
    expected = 0.0
    for j in range(N_STATES):
        rows = values[states == j]
        if covariance_type == "full":
            expected += log_evidence(rows, prior)
        else:
            expected += sum(log_evidence(rows[:, [d]], prior.column(d)) for d in range(n_dims))
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("n_dims", "above"), [(1, 0.3), (2, 1.5), (1, 4.5), (5, 0.3), (5, 1.5), (3, 4.5)]
)
def test_predictive_densities(n_dims, above):
    """Of whole rows and of some columns; up to D + 1 degrees of freedom no mean covariance."""
    values, states, new = observations(n_dims)
    if n_dims > 2:
        new[3, 1], new[4, 1:], new[5] = NAN, NAN, NAN
    prior = make_prior(n_dims, n_dims - 1 + above)
    model = drawn(values, states, "full", prior)[0].model()
    assert_allclose(model.degrees_of_freedom[2], above)
    ((_, laws),) = posteriors(values, states, "full", prior)
    expected = log_marginals(new, lambda x, own, j: laws[j].of(own).log_next(x)[0], "full")
    assert_allclose(model.log_obs(new), expected, rtol=1e-9)


@pytest.mark.parametrize("dof", [0.4, 6.0])
def test_predictive_densities_of_independent_columns(dof):
    """Columns of a state have been observed different numbers of times."""
    values, states, new = observations(gaps=True)
    prior = make_prior(3, dof)
    model = drawn(values, states, "diag", prior)[0].model()
    assert model.degrees_of_freedom.shape == (N_STATES, 3)
    laws = [own for _, own in posteriors(values, states, "diag", prior)]
    expected = log_marginals(new, lambda x, own, j: laws[own[0]][j].log_next(x)[0], "diag")
    assert_allclose(model.log_obs(new), expected, rtol=1e-9)


@pytest.mark.parametrize(("covariance_type", "dof"), [("full", 0.7), ("diag", 5.0)])
def test_one_column_by_quadrature_over_its_mean_and_variance(covariance_type, dof):
    values, states, _ = observations(1)
    prior, new = make_prior(1, dof), np.array([[-4.0], [0.3], [7.0]])
    found = drawn(values, states, covariance_type, prior)[0].model().log_obs(new)
    known = prior.mean[0], PRECISION, dof, prior.scale[0, 0]
    for j in range(N_STATES):
        own = values[states == j, 0]
        before = log_evidence_by_quadrature(own, *known)
        for t, x in enumerate(new[:, 0]):
            joint = log_evidence_by_quadrature(np.append(own, x), *known)
            assert_allclose(found[t, j], joint - before, rtol=1e-7)


@every_type
def test_the_model_holds_posterior_means(covariance_type):
    values, states, _ = observations(gaps=covariance_type == "diag")
    prior = make_prior(3)
    model = drawn(values, states, covariance_type, prior)[0].model()
    for block, laws in posteriors(values, states, covariance_type, prior):
        for j, law in enumerate(laws):
            assert_allclose(model.means[j, block], law.mean)
            found = (
                model.covariances[j] if covariance_type == "full" else model.covariances[j, block]
            )
            assert_allclose(found, np.squeeze(law.expected_covariance()), rtol=1e-7)


@pytest.mark.parametrize("dof", [2.5, 7.0])
def test_proposals(dof):
    """Densities at the expected mean and covariance, or precision where the latter is infinite."""
    values, states, _ = observations(2)
    states[:2] = -1  # of no state
    prior = make_prior(2, dof)
    sampler, _ = drawn(values, np.zeros(len(values), dtype=np.int64), "full", prior)
    found = np.empty((len(values), N_STATES))
    sampler.condition(states)
    sampler.write_log_predictive(found)
    for j in range(N_STATES):
        law = prior.given(values[states == j])
        divisor = law.dof - 3.0 if law.dof > 3.0 else law.dof
        expected = stats.multivariate_normal(law.mean, law.scale / divisor).logpdf(values)
        assert_allclose(found[:, j], expected, rtol=1e-10)


# Draws


@pytest.mark.parametrize("j", [1, 2], ids=["a state of some steps", "an empty state"])
def test_draws_of_parameters(j):
    values, states, _ = observations()
    prior = make_prior(3, 9.5)
    sampler, rng = drawn(values, states, "full", prior)
    law = prior.given(values[states == j])

    def step():
        sampler.draw(states, rng)
        factor = sampler.precision_factors[j]
        assert np.all(np.triu(factor, 1) == 0.0)
        return sampler.means[j].copy(), factor.T @ factor

    check_chain(step, law.compare, N_DRAWS)


def test_draws_of_parameters_of_columns():
    values, states, _ = observations(gaps=True)
    prior = make_prior(3, 9.5)
    sampler, rng = drawn(values, states, "diag", prior)
    laws = [own[1] for _, own in posteriors(values, states, "diag", prior)]

    def step():
        sampler.draw(states, rng)
        factors = sampler.precision_factors.reshape(N_STATES, 3)
        return sampler.means.reshape(N_STATES, 3)[1].copy(), factors[1] ** 2

    def compare(means, precisions):
        for d, law in enumerate(laws):
            yield from law.compare(means[:, [d]], precisions[:, [[d]]])

    check_chain(step, compare, N_DRAWS)


@pytest.mark.slow
def test_missing_values_are_drawn_given_what_was_observed():
    """Rows apart from each other."""
    values, states, _ = observations()
    hidden = np.random.default_rng(1).random(values.shape) < 0.4
    hidden[0], hidden[1] = True, False
    values[hidden] = NAN
    sampler, rng = drawn(values, states, "full", make_prior(3))
    covariances = [np.linalg.inv(u.T @ u) for u in sampler.precision_factors]
    partial = np.flatnonzero(np.isnan(values).any(axis=1) & ~np.isnan(values).all(axis=1))
    assert len(partial) >= 4

    def step():
        sampler.complete(states, rng)
        whole = np.delete(np.arange(len(values)), partial)
        assert_array_equal(sampler._filled[whole], values[whole])
        return sampler._filled.copy()

    def compare(draws):
        firsts = []
        for t in partial:
            gone = np.isnan(values[t])
            mean, covariance = sampler.means[states[t]], covariances[states[t]]
            own = covariance[np.ix_(~gone, ~gone)]
            gain = np.linalg.solve(own, covariance[np.ix_(~gone, gone)]).T
            expected = mean[gone] + gain @ (values[t, ~gone] - mean[~gone])
            rest = covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(~gone, gone)]
            away = draws[:, t, gone] - expected
            yield away, np.zeros(gone.sum()), f"means of row {t}"
            yield away[:, :, np.newaxis] * away[:, np.newaxis], rest, f"covariance of row {t}"
            firsts.append(away[:, 0])
        pairs = np.array([x * y for x, y in combinations(firsts, 2)]).T
        yield pairs, np.zeros(pairs.shape[1]), "covariances of rows"

    check_chain(step, compare, N_DRAWS)


@every_type
def test_samples_of_a_known_model_have_its_moments(covariance_type):
    covariance = COVARIANCE if covariance_type == "full" else np.diag(np.diag(COVARIANCE))
    known = covariance if covariance_type == "full" else np.diag(covariance)
    model = GaussianModel(np.array([MEAN[:3], -MEAN[:3]]), np.array([known, 2.0 * known]))
    for j, sign in enumerate((1.0, -1.0)):
        away = model.sample(np.full(N_DRAWS, j), np.random.default_rng(j)) - sign * MEAN[:3]
        assert_means(away, np.zeros(3), "means")
        products = away[:, :, np.newaxis] * away[:, np.newaxis]
        assert_means(products, (1.0 + j) * covariance, "covariances")


@every_type
def test_samples_follow_the_predictive_density(covariance_type):
    values, states, _ = observations()
    model = drawn(values, states, covariance_type, make_prior(3, 3.1))[0].model()
    for j in range(N_STATES):
        draws = model.sample(np.full(N_DRAWS, j), np.random.default_rng(j))
        freedoms = np.broadcast_to(model.degrees_of_freedom[j], 3)
        scale = model.scales[j] if covariance_type == "full" else np.diag(model.scales[j])
        for d in range(3):
            marginal = stats.t(freedoms[d], model.means[j, d], math.sqrt(scale[d, d]))
            assert stats.kstest(draws[:, d], marginal.cdf).pvalue > 1e-6
        if covariance_type == "full":
            # |U (x - m)|^2 / D is F distributed: one draw of the tail for all columns of a row.
            away = draws - model.means[j]
            squares = np.einsum("sd,de,se->s", away, np.linalg.inv(scale), away) / 3.0
            assert stats.kstest(squares, stats.f(3, freedoms[0]).cdf).pvalue > 1e-6
