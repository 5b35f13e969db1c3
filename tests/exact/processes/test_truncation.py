"""Errors of truncated weights against enumeration in exact arithmetic, and against draws.

The draws are compared at a p-value of 1e-6, one fixed seed each: a false alarm for one choice of
the seeds in 150,000."""

from fractions import Fraction

import numpy as np
import pytest
from exact.oracles.sticks import probability_of_later_labels, truncation_distance
from scipy import stats

from skdp.processes import gem_truncation_error, sample_gem

PARAMETERS = [("0", "0.3"), ("0", "20"), ("0.5", "-0.3"), ("0.5", "1"), ("0.9", "0"), ("0.9", "5")]
every_process = pytest.mark.parametrize(("a", "b"), PARAMETERS)


@every_process
@pytest.mark.parametrize("n_sticks", [1, 2, 3, 4])
def test_one_draw(a, b, n_sticks):
    expected = truncation_distance(1, n_sticks, Fraction(a), Fraction(b))
    assert gem_truncation_error(n_sticks, float(a), float(b)) == pytest.approx(
        float(expected), rel=1e-12
    )


@every_process
@pytest.mark.parametrize("n_sticks", [1, 2, 3])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_several_draws(a, b, n_sticks, n):
    """The distance is the probability of a label after the sticks, and the bound is above."""
    exact = Fraction(a), Fraction(b)
    distance = truncation_distance(n, n_sticks, *exact)
    assert distance == probability_of_later_labels(n, n_sticks, *exact)
    rest = truncation_distance(1, n_sticks, *exact)
    bound = gem_truncation_error(n_sticks, float(a), float(b), n)
    assert bound == pytest.approx(float(1 - (1 - rest) ** n), rel=1e-12)
    assert distance <= bound <= min(1, n * rest)
    assert distance > 0.3 * bound  # here; it is no idle bound


@every_process
@pytest.mark.parametrize("n_sticks", [30, 700])
def test_many_sticks(a, b, n_sticks):
    a, b = Fraction(a), Fraction(b)
    rest = Fraction(1)
    for k in range(1, n_sticks + 1):
        rest *= (b + k * a) / (b + 1 + (k - 1) * a)
    assert gem_truncation_error(n_sticks, float(a), float(b)) == pytest.approx(
        float(rest), rel=1e-11, abs=0.0
    )


@every_process
def test_what_draws_leave(a, b):
    a, b, generator = float(a), float(b), np.random.default_rng(0)
    rest = [
        1.0
        - sample_gem(3, discount=a, concentration=b, tolerance=0.0, random_state=generator).sum()
        for _ in range(20_000)
    ]
    assert stats.ttest_1samp(rest, gem_truncation_error(3, a, b)).pvalue > 1e-6
