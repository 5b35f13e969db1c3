"""Polya-Gamma draws against their moments, Laplace transform and distribution."""

import math

import numpy as np
import pytest
from scipy import stats

from skdp._numeric._numba import njit
from skdp._numeric._random import draw_polya_gamma, make_seed_sequence, make_stream

N = 40_000


@njit
def fill(z, out, rng):
    for i in range(out.shape[0]):
        out[i] = draw_polya_gamma(z, rng)


def draw(z, seed=0, n=N):
    out = np.empty(n)
    fill(float(z), out, make_stream(make_seed_sequence(seed)))
    return out


def log_cosh(x):
    return x + math.log1p(math.exp(-2.0 * x)) - math.log(2.0)


@pytest.mark.parametrize("z", [0.0, 0.7, -2.0, 3.1, 3.2, 9.0, 70.0])
def test_moments_and_laplace_transform(z):
    """|z| < 5 for six figures of independent draws: a false alarm in 3e-6 seeds."""
    omegas = draw(z)
    size = abs(z)
    mean = math.tanh(0.5 * size) / (2.0 * size) if size else 0.25
    # The variance is (sinh z - z) / (4 z^3 cosh^2(z / 2)).
    variance = 1.0 / 24.0
    if size:
        variance = (math.tanh(0.5 * size) * 2.0 - size / math.cosh(0.5 * size) ** 2) / 4.0 / size**3
    figures = [(omegas, mean), ((omegas - mean) ** 2, variance)]
    for t in (0.5, 3.0, 20.0, 200.0):
        log_transform = log_cosh(0.5 * size) - log_cosh(math.sqrt(0.25 * size**2 + 0.5 * t))
        figures.append((np.exp(-t * omegas), math.exp(log_transform)))
    for values, expected in figures:
        error = values.std() / math.sqrt(N)
        assert abs(values.mean() - expected) < 5.0 * error


@pytest.mark.parametrize("z", [0.0, 2.0, 8.0])
def test_distribution(z):
    """Kolmogorov-Smirnov tests against sums of Gamma variables: false alarms in 3e-6 seeds. PG(1,
    z) is the sum of Gamma(1) / (2 pi^2 ((n - 1/2)^2 + z^2 / (4 pi^2))) over n >= 1; the mean of the
    terms beyond the last one is added."""
    n = np.arange(1, 301)
    weights = 1.0 / (2.0 * np.pi**2 * ((n - 0.5) ** 2 + z * z / (4.0 * np.pi**2)))
    mean = math.tanh(0.5 * z) / (2.0 * z) if z else 0.25
    sums = np.random.default_rng(0).exponential(size=(N, len(n))) @ weights
    sums += mean - weights.sum()
    assert stats.ks_2samp(draw(z, seed=1), sums).pvalue > 1e-6


@pytest.mark.parametrize("z", [1e3, 1e8, 1e100, -1e150, 1e155, -1.7e308])
def test_large_log_odds(z):
    """omega is close to its mean, 1 / (2 |z|)."""
    omegas = draw(z, n=2000)
    assert np.all(omegas > 0.0)
    assert abs(omegas.mean() * 2.0 * abs(z) - 1.0) < 5.0 * math.sqrt(2.0 / abs(z) / 2000) + 1e-12
