"""What stored samples say of the next observation, against ratios of evidences."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from exact.oracles import predictive as oracle
from numpy.testing import assert_allclose
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._discrete._poisson import PoissonEmission, PoissonModel
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._kernels_student import fast_log_1p, find_peak
from skdp.emissions._gaussian._model import GaussianModel

MEAN = np.array([0.5, -1.0, 2.0, 0.0, 1.0])
PRECISION = 0.3
N_STATES = 3  # the last one has no data
every_type = pytest.mark.parametrize("covariance_type", ["full", "diag"])


def make_scale(n_dims):
    roots = np.random.default_rng(5).normal(size=(n_dims, n_dims + 1))
    return roots @ roots.T + 0.5 * np.eye(n_dims)


def learned(values, states, covariance_type, freedom):
    """Return the model of a sampler that was given the states, and the prior."""
    n_dims = values.shape[1]
    scale = make_scale(n_dims)
    if covariance_type == "diag":
        scale = np.diag(np.diag(scale))
    emission = GaussianEmission(
        covariance_type,
        mean_prior=MEAN[:n_dims],
        mean_precision_prior=PRECISION,
        degrees_of_freedom_prior=freedom,
        covariance_prior=scale if covariance_type == "full" else np.diag(scale),
    )
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    sampler.draw(states, make_stream(make_seed_sequence(0)))
    return sampler.model(), (MEAN[:n_dims], PRECISION, freedom, scale)


def observations(n_dims, n_steps=15, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_steps, n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    return values, rng.integers(2, size=n_steps), 3.0 * rng.normal(size=(6, n_dims))


def of_column(d, prior):
    mean, precision, freedom, scale = prior
    return mean[[d]], precision, freedom, scale[[d]][:, [d]]


@pytest.mark.parametrize("above", [0.3, 1.5, 4.5])
@pytest.mark.parametrize("n_dims", [1, 2, 5])
def test_full_covariances(n_dims, above):
    """Up to 2 degrees of freedom above D - 1 a covariance has no prior mean."""
    values, states, new = observations(n_dims)
    model, prior = learned(values, states, "full", n_dims - 1 + above)
    assert model.degrees_of_freedom.shape == (N_STATES,)
    assert_allclose(model.degrees_of_freedom[2], above)
    expected = [
        [oracle.log_gaussian_predictive(x, values[states == j], *prior) for j in range(N_STATES)]
        for x in new
    ]
    assert_allclose(model.log_obs(new), expected, rtol=1e-9)


@pytest.mark.parametrize("freedom", [0.4, 1.5, 6.0])
def test_independent_columns(freedom):
    """Columns of a state have been observed different numbers of times."""
    values, states, new = observations(3)
    values[[0, 3, 4, 9], [0, 1, 1, 2]] = np.nan
    new[2, 1], new[4, [0, 2]], new[5] = np.nan, np.nan, np.nan
    model, prior = learned(values, states, "diag", freedom)
    assert model.degrees_of_freedom.shape == (N_STATES, 3)
    expected = np.zeros((len(new), N_STATES))
    for t, x in enumerate(new):
        for j in range(N_STATES):
            for d in np.flatnonzero(~np.isnan(x)):
                column = values[states == j][:, [d]]
                column = column[~np.isnan(column[:, 0])]
                known = column, *of_column(d, prior)
                expected[t, j] += oracle.log_gaussian_predictive(x[[d]], *known)
    assert_allclose(model.log_obs(new), expected, rtol=1e-9)


@every_type
@pytest.mark.parametrize("freedom", [0.7, 5.0])
def test_one_column_by_quadrature_over_its_mean_and_variance(covariance_type, freedom):
    values, states, _ = observations(1)
    new = np.array([[-4.0], [0.3], [7.0]])
    model, prior = learned(values, states, covariance_type, freedom)
    prior = prior[0][0], prior[1], prior[2], prior[3][0, 0]
    found = model.log_obs(new)
    for j in range(N_STATES):
        own = values[states == j, 0]
        before = oracle.log_evidence_of_column(own, *prior)
        for t, x in enumerate(new[:, 0]):
            joint = oracle.log_evidence_of_column(np.append(own, x), *prior)
            assert_allclose(found[t, j], joint - before, rtol=1e-7)


@pytest.mark.parametrize("missing", [0, 1, 2])
@pytest.mark.parametrize("above", [0.8, 4.5])
def test_missing_entries_are_integrated_out(missing, above):
    values, states, new = observations(3)
    model, prior = learned(values, states, "full", 2.0 + above)
    new[:, missing] = np.nan
    found = model.log_obs(new)
    for t, x in enumerate(new[:3]):
        seen = x[~np.isnan(x)]
        for j in range(N_STATES):
            own = values[states == j]
            expected = oracle.log_gaussian_predictive_without(missing, seen, own, *prior)
            assert_allclose(found[t, j], expected, rtol=1e-6)


def test_two_missing_entries_of_five():
    """Marginals of the inverse Wishart: fewer columns, and as many degrees of freedom less."""
    values, states, new = observations(5)
    model, (mean, precision, freedom, scale) = learned(values, states, "full", 4.6)
    seen = np.array([0, 2, 3])
    new[:, [1, 4]] = np.nan
    prior = mean[seen], precision, freedom - 2.0, scale[np.ix_(seen, seen)]
    expected = [
        [
            oracle.log_gaussian_predictive(x[seen], values[states == j][:, seen], *prior)
            for j in range(N_STATES)
        ]
        for x in new
    ]
    assert_allclose(model.log_obs(new), expected, rtol=1e-9)


@every_type
@pytest.mark.parametrize("n_dims", [1, 2, 3, 4, 5, 6, 11])
def test_densities_are_those_of_scipy(covariance_type, n_dims):
    """Whole rows and rows with missing entries, from heavy tails to all but normal ones."""
    rng = np.random.default_rng(n_dims)
    values = 2.0 * rng.normal(size=(30, n_dims))
    values[10:20][rng.random((10, n_dims)) < 0.4] = np.nan
    values[20:] *= 1e3
    means = rng.normal(size=(N_STATES, n_dims))
    roots = rng.normal(size=(N_STATES, n_dims, n_dims + 2))
    covariances = roots @ roots.swapaxes(1, 2)
    ratios, freedoms = np.array([0.5, 1.0, 1.7]), np.array([0.7, 9_990.0, 10_010.0])
    expected = np.zeros((len(values), N_STATES))
    if covariance_type == "diag":
        covariances = np.diagonal(covariances, axis1=1, axis2=2)
        ratios, freedoms = (np.tile(x[:, np.newaxis], n_dims) for x in (ratios, freedoms))
    model = GaussianModel(means, covariances, freedoms, ratios)
    for t, x in enumerate(values):
        seen = np.flatnonzero(~np.isnan(x))
        for j in range(N_STATES):
            if covariance_type == "diag":
                deviations = np.sqrt(model.scales[j, seen])
                logs = stats.t.logpdf(x[seen], freedoms[j, seen], means[j, seen], deviations)
                expected[t, j] = logs.sum()
            elif len(seen):
                known = means[j, seen], model.scales[j][np.ix_(seen, seen)], freedoms[j]
                expected[t, j] = stats.multivariate_t.logpdf(x[seen], *known)
    assert_allclose(model.log_obs(values), expected, rtol=1e-8, atol=1e-9)


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


@pytest.mark.parametrize("square", [0.0, 1e-3, 7.0, 1e10, 1e17, 1e30, 1e60, 1e280])
@pytest.mark.parametrize("power", [0.6, 2.0, 2.5, 40.0])
def test_peaks_of_weights(power, square):
    """Without loss of digits, however far away a row is."""
    shape, total = 2.0, 2.5
    with localcontext() as context:
        context.prec = 700
        a, d, n = Decimal(shape), Decimal(square), Decimal(total)
        b = a + (Decimal(power) - n) * d
        expected = 2 * n / (b + (b * b + 4 * a * n * d).sqrt())
    assert_allclose(find_peak(shape, total, power, square), float(expected), rtol=1e-13)


@every_type
def test_draws_follow_the_density(covariance_type):
    """12 Kolmogorov-Smirnov tests and 3 correlations: false alarms in 2e-5 of seeds."""
    values, states, _ = observations(3)
    model, _ = learned(values, states, covariance_type, 3.1)
    n = 20_000
    for j in range(N_STATES):
        draws = model.sample(np.full(n, j), np.random.default_rng(j))
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


# Counts

COUNTS = np.array([[3, 0], [5, 1], [0, 9], [2, 2], [7, 0], [1, 12], [4, 1]], dtype=float)
STATES = np.array([0, 0, 1, 0, 1, 1, 0])


@pytest.mark.parametrize(("shape", "rate"), [(1.5, 0.4), (0.2, 3.0)])
def test_counts_by_quadrature_over_the_intensity(shape, rate):
    sampler = PoissonEmission(shape, rate).make_sampler(COUNTS, N_STATES)
    sampler.attach(COUNTS)
    sampler.draw(STATES, make_stream(make_seed_sequence(0)))
    new = np.array([[0.0, 0.0], [4.0, 2.0], [1.0, 15.0], [4.0, 0.0]])
    found = sampler.model().log_obs(new)
    for j in range(N_STATES):
        own = COUNTS[j == STATES]
        for t, x in enumerate(new):
            expected = 0.0
            for d in range(2):
                joint = oracle.log_count_evidence([*own[:, d], x[d]], shape, rate)
                expected += joint - oracle.log_count_evidence(own[:, d], shape, rate)
            assert_allclose(found[t, j], expected, rtol=1e-7)


@pytest.mark.parametrize("shape", [1, 15, 17, 300, 10**6, 10**9])
def test_large_counts_and_shapes_lose_no_digits(shape):
    counts = np.array([0.0, 1.0, 2.0, 15.0, 16.0, 900.0, 20_000.0])
    for mean in (1e-6, 0.7, 900.0, 2e4, 1e12):
        model = PoissonModel(np.array([[mean]]), np.array([[float(shape)]]))
        expected = [oracle.log_negative_binomial(x, mean, shape) for x in counts]
        found = model.log_obs(counts[:, np.newaxis])[:, 0]
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_draws_of_counts_follow_their_probabilities():
    """4 chi-square tests: false alarms in 4e-6 of seeds."""
    model = PoissonModel(np.array([[0.8, 6.0], [3.0, 40.0]]), np.array([[0.5, 2.0], [9.0, 30.0]]))
    n = 20_000
    for j in range(2):
        draws = model.sample(np.full(n, j), np.random.default_rng(j))
        for d in range(2):
            column = PoissonModel(model.intensities[[j]][:, [d]], model.shapes[[j]][:, [d]])
            probs = np.exp(column.log_obs(np.arange(400.0)[:, np.newaxis]))[:, 0]
            assert_allclose(probs.sum(), 1.0, rtol=1e-9)
            end = int(np.searchsorted(np.cumsum(probs), 0.999))
            expected = n * np.append(probs[:end], 1.0 - probs[:end].sum())
            counted = np.bincount(np.minimum(draws[:, d], end).astype(int), minlength=end + 1)
            few = expected < 5.0
            counted, expected = (
                np.append(x[~few], x[few].sum()) for x in (counted.astype(float), expected)
            )
            positive = expected > 0.0
            pvalue = stats.chisquare(counted[positive], expected[positive]).pvalue
            assert pvalue > 1e-6


def condition(emission, values, states):
    """Return log densities of all steps in each state, as moves on states propose by them."""
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    out = np.empty((len(values), N_STATES))
    sampler.condition(np.asarray(states, dtype=np.int64))
    sampler.write_log_predictive(out)
    return out


@pytest.mark.parametrize("freedom", [2.5, 7.0])
def test_proposals_for_gaussians(freedom):
    """Densities at the expected mean and covariance, or precision where the latter is infinite."""
    values, states, _ = observations(2)
    states[:2] = -1  # of no state
    scale = make_scale(2)
    emission = GaussianEmission(
        mean_prior=MEAN[:2], mean_precision_prior=PRECISION, degrees_of_freedom_prior=freedom,
        covariance_prior=scale,
    )  # fmt: skip
    found = condition(emission, values, states)
    for j in range(N_STATES):
        own = values[states == j]
        n = len(own)
        mean = (PRECISION * MEAN[:2] + own.sum(axis=0)) / (PRECISION + n)
        posterior = scale + own.T @ own + PRECISION * np.outer(MEAN[:2], MEAN[:2])
        posterior = posterior - (PRECISION + n) * np.outer(mean, mean)
        divisor = freedom + n - 3.0 if freedom + n > 3.0 else freedom + n
        expected = stats.multivariate_normal(mean, posterior / divisor).logpdf(values)
        assert_allclose(found[:, j], expected, rtol=1e-10)


def test_proposals_for_counts():
    values = np.array([[0.0, 3.0], [2.0, 8.0], [1.0, 0.0], [4.0, 4.0], [0.0, 1.0]])
    states = np.array([0, 1, -1, 1, 0])
    found = condition(PoissonEmission(shape=1.5, rate=0.5), values, states)
    for j in range(N_STATES):
        own = values[states == j]
        means = (1.5 + own.sum(axis=0)) / (0.5 + len(own))
        expected = stats.poisson(means).logpmf(values).sum(axis=1)
        assert_allclose(found[:, j], expected, rtol=1e-10)


def test_proposals_for_symbols():
    symbols, states = np.array([0, 2, 1, 2, 2]), np.array([0, 1, 0, 1, -1])
    found = condition(CategoricalEmission(3, prior=0.4), symbols[:, np.newaxis], states)
    for j in range(N_STATES):
        counts = np.bincount(symbols[states == j], minlength=3) + 0.4
        assert_allclose(found[:, j], np.log(counts / counts.sum())[symbols], rtol=1e-12)
