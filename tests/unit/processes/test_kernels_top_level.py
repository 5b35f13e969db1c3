"""Tables that customers open, and weights of the top level."""

import math

import numpy as np
import pytest

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.processes import _kernels_table_counts as kernels


def stream():
    return derive_stream(make_seed_sequence(0), Role.SWEEP)


@pytest.mark.parametrize(("n", "concentration"), [(5000, 0.3), (40_000, 2.5), (10**6, 0.02)])
def test_tables_of_many_customers(n, concentration):
    """Means and variances of sums of independent events: 4,000 draws, 6 standard errors."""
    rng = stream()
    draws = [kernels.draw_table_count(n, concentration, rng) for _ in range(4000)]
    p = concentration / (concentration + np.arange(n))
    variance = (p * (1.0 - p)).sum()
    assert abs(np.mean(draws) - p.sum()) < 6.0 * math.sqrt(variance / 4000)
    fourth = variance + 3.0 * variance**2
    assert abs(np.var(draws) - variance) < 6.0 * math.sqrt(fourth / 4000)


def test_few_customers():
    """n customers have at most n tables and at least one; 0 customers have no table."""
    rng = stream()
    assert kernels.draw_table_count(0, 2.0, rng) == 0
    assert kernels.draw_table_count(1, 1e-9, rng) == 1
    assert {kernels.draw_table_count(3, 1.0, rng) for _ in range(200)} == {1, 2, 3}


def test_weights_have_the_moments_of_a_dirichlet():
    """Means of 20,000 draws, 6 standard errors."""
    rng, tables, gamma = stream(), np.array([1, 5, 2]), 0.7
    draws, weights = np.empty((20_000, 4)), np.empty(3)
    for row in draws:
        row[3] = kernels.draw_top_weights(tables, gamma, weights, rng)
        row[:3] = weights
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)
    shape = np.append(tables, gamma)
    mean = shape / shape.sum()
    variance = mean * (1.0 - mean) / (shape.sum() + 1.0)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 6.0 * np.sqrt(variance / len(draws)))


def test_weights_stay_positive():
    """Under a tiny concentration, too."""
    rng, weights = stream(), np.empty(2)
    for _ in range(100):
        rest = kernels.draw_top_weights(np.array([10**9, 1]), 1e-6, weights, rng)
        assert rest > 0.0
        assert weights.min() > 0.0
