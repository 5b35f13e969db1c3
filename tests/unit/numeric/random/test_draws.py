"""Every draw against its distribution.

Each comparison has one fixed seed and fails a right sampler with probability at most 1e-6 (the
p-value asked for); there are about 75, so the file alarms falsely for one seed in 13,000."""

import math

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from scipy import stats

from skdp._numeric._random import (
    draw_bernoulli,
    draw_beta,
    draw_binomial,
    draw_categorical,
    draw_gamma,
    draw_log_beta,
    draw_log_gamma,
    draw_normal,
    draw_poisson,
    draw_slice,
)

N = 20_000
ALPHA = 1e-6


@pytest.fixture
def rng():
    return np.random.SeedSequence(20_240_229).generate_state(4, np.uint64)


def draws(kernel, *arguments):
    return np.array([kernel(*arguments) for _ in range(N)])


def assert_distributed(sample, cdf):
    assert stats.kstest(sample, cdf).pvalue > ALPHA


def assert_frequencies(sample, probabilities):
    counts = np.bincount(sample, minlength=len(probabilities))
    possible = np.asarray(probabilities) > 0.0
    assert counts[~possible].sum() == 0
    expected = np.asarray(probabilities)[possible] * len(sample)
    assert stats.chisquare(counts[possible], expected).pvalue > ALPHA


def assert_counts(sample, distribution):
    """Compare frequencies in the bulk of a distribution of counts, and those of its tails."""
    low, high = (int(q) for q in distribution.ppf([1e-3, 1 - 1e-3]))
    inside = distribution.pmf(np.arange(low, high + 1))
    pmf = [distribution.cdf(low - 1), *inside, distribution.sf(high)]
    assert_frequencies(np.clip(sample - low + 1, 0, len(pmf) - 1), pmf)


def test_normal_draws_are_uncorrelated(rng):
    x = draws(draw_normal, rng)
    for lag in (1, 2, 3):
        z = np.mean(x[lag:] * x[:-lag]) * math.sqrt(N)
        assert abs(z) < 4.9


@pytest.mark.parametrize("shape", [0.05, 0.3, 1.0, 1.5, 4.0, 300.0, 1e6])
def test_gamma(shape, rng):
    assert_distributed(draws(draw_gamma, shape, rng), stats.gamma(shape).cdf)
    assert_distributed(np.exp(draws(draw_log_gamma, shape, rng)), stats.gamma(shape).cdf)


@pytest.mark.parametrize("shape", [1e-4, 1e-8, 1e-100])
def test_log_gamma_of_tiny_shape(shape, rng):
    """-shape log X is exponential in the limit; at shape 1e-4 the difference is 1e-4."""
    sample = -shape * draws(draw_log_gamma, shape, rng)
    assert np.all(np.isfinite(sample))
    assert_distributed(sample, stats.expon.cdf)


def test_limits_of_gamma(rng):
    assert draw_log_gamma(0.0, rng) == -math.inf
    assert draw_gamma(0.0, rng) == 0.0
    assert draw_gamma(1e-8, rng) == 0.0


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.5, 0.5), (1.0, 1.0), (2.0, 0.3), (5.0, 1e4), (1e-2, 3.0), (40.0, 20.0)]
)
def test_beta(alpha, beta, rng):
    expected = stats.beta(alpha, beta)
    assert_distributed(draws(draw_beta, alpha, beta, rng), expected.cdf)
    log_x, log_y = draws(draw_log_beta, alpha, beta, rng).T
    assert_distributed(np.exp(log_x), expected.cdf)
    np.testing.assert_allclose(np.exp(log_x) + np.exp(log_y), 1.0, rtol=1e-14)


def test_log_beta_keeps_small_tails(rng):
    """1 - x of Beta(1, b) with a tiny b: -b log(1 - x) is exponential."""
    b = 1e-9
    sample = np.array([draw_log_beta(1.0, b, rng)[1] for _ in range(N)])
    assert_distributed(-b * sample, stats.expon.cdf)


@pytest.mark.parametrize("scale", [1e-8, 1e-320])
def test_log_beta_of_tiny_shapes(scale, rng):
    sample = draws(draw_log_beta, 3 * scale, 7 * scale, rng)
    assert not np.any(np.isnan(sample))
    assert_frequencies((sample[:, 0] < sample[:, 1]).astype(int), [0.3, 0.7])


def test_categorical(rng):
    weights = np.array([0.0, 3.0, 0.0, 1.0, 0.5, 0.0])
    sample = draws(draw_categorical, weights, weights.sum(), rng)
    assert_frequencies(sample, weights / weights.sum())


def test_categorical_survives_rounding(rng):
    """A total that is too large by rounding leads to the last category that is possible."""
    weights = np.array([1.0, 1.0, 0.0])
    sample = draws(draw_categorical, weights, 2.2, rng)
    assert set(sample) == {0, 1}


def test_bernoulli(rng):
    assert_frequencies(draws(draw_bernoulli, 0.2, rng).astype(int), [0.8, 0.2])
    assert not draws(draw_bernoulli, 0.0, rng).any()
    assert draws(draw_bernoulli, 1.0, rng).all()


@pytest.mark.parametrize(
    ("n", "probability"), [(1, 0.3), (16, 0.5), (17, 0.5), (40, 0.02), (40, 0.97), (1000, 0.3)]
)
def test_binomial(n, probability, rng):
    assert_counts(draws(draw_binomial, n, probability, rng), stats.binom(n, probability))


def test_binomial_of_certain_events(rng):
    for n in (0, 5, 100):
        assert set(draws(draw_binomial, n, 0.0, rng)) == {0}
        assert set(draws(draw_binomial, n, 1.0, rng)) == {n}


@pytest.mark.parametrize("mean", [1e-3, 0.7, 15.9, 16.1, 60.0, 3000.0])
def test_poisson(mean, rng):
    assert_counts(draws(draw_poisson, mean, rng), stats.poisson(mean))
    assert set(draws(draw_poisson, 0.0, rng)) == {0}


@pytest.mark.parametrize(("width", "max_steps"), [(0.1, 100), (2.0, 100), (50.0, 100), (0.5, 2)])
def test_means_of_slices(width, max_steps, rng):
    """The log of an exponential number, bounded below; a false alarm once in 80,000, 3 of them."""
    bound = np.log(0.1)

    def log_density(x):
        return x - np.exp(x) if x >= bound else -np.inf

    x, draws = 0.0, []
    for _ in range(20_000):
        x = draw_slice(log_density, x, rng, width, max_steps)
        draws.append((np.exp(x), np.exp(2.0 * x), x < 0.0))
    # An exponential number above 0.1 is 0.1 and an exponential number.
    share = (stats.expon.cdf(1.0) - stats.expon.cdf(0.1)) / stats.expon.sf(0.1)
    assert_means(draws, [1.1, 0.01 + 0.2 + 2.0, share])


def test_constant_where_the_slice_is_a_point(rng):
    assert draw_slice(lambda x: 0.0 if x == 1.5 else -np.inf, 1.5, rng) == 1.5
