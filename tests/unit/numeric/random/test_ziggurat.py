"""Layers of one area below the densities, and draws from them, tails included."""

import numpy as np
import pytest
from scipy import stats

from skdp._numeric import _random as ziggurat
from skdp._numeric._numba import njit
from skdp._numeric._random import draw_exponential, draw_normal

N = 2_000_000
LAYERS = {
    "normal": (ziggurat.NORMAL_EDGES, ziggurat.NORMAL_HEIGHTS),
    "exponential": (ziggurat.EXPONENTIAL_EDGES, ziggurat.EXPONENTIAL_HEIGHTS),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_of_one_area(name):
    edges, heights = LAYERS[name]
    assert np.all(np.diff(edges) < 0.0)
    assert heights[-1] == 1.0
    areas = edges[1:-1] * np.diff(heights)[1:]
    np.testing.assert_allclose(areas, edges[0] * heights[1], rtol=1e-11)


@njit
def draw_normals(out, rng):
    for i in range(out.shape[0]):
        out[i] = draw_normal(rng)


@njit
def draw_exponentials(out, rng):
    for i in range(out.shape[0]):
        out[i] = draw_exponential(rng)


@pytest.mark.parametrize(
    ("kernel", "distribution"), [(draw_normals, stats.norm), (draw_exponentials, stats.expon)]
)
def test_draws(kernel, distribution):
    """A chi-square test of 2,000 bins, and of the tails: false alarms in 2e-6 seeds each."""
    draws = np.empty(N)
    kernel(draws, np.random.SeedSequence(1).generate_state(4, np.uint64))
    cdf = distribution.cdf(draws)
    counts = np.histogram(cdf, np.linspace(0.0, 1.0, 2001))[0]
    assert stats.chisquare(counts).pvalue > 1e-6
    bounds = np.array([1e-6, 1e-5, 1e-4])
    for values in (cdf, distribution.sf(draws)):
        in_tail = (values[:, np.newaxis] < bounds).sum(axis=0)
        assert stats.binom.cdf(in_tail, N, bounds).min() > 1e-7
        assert stats.binom.sf(in_tail - 1, N, bounds).min() > 1e-7
