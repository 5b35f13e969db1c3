"""Numbers of tables, and errors of truncated weights, in closed form."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import digamma

from skdp.processes import (
    concentration_for_table_count,
    expected_table_count,
    gem_truncation_error,
)


def recursion(n: int, a: Fraction, b: Fraction) -> float:
    """Add the probabilities of opening a table: E_{i+1} = E_i + (b + a E_i) / (b + i)."""
    expected = Fraction(1)
    for i in range(1, n):
        expected += (b + a * expected) / (b + i)
    return float(expected)


@pytest.mark.parametrize("a", ["0", "1e-12", "1/10", "1/2", "99/100"])
@pytest.mark.parametrize("b", ["1e-12", "1", "1e6", "1e15"])
def test_expected_table_count_is_stable(a, b):
    a, b = Fraction(a), Fraction(b)
    n = [1, 2, 3, 15, 16, 17, 18, 19, 40, 200]
    expected = [recursion(i, a, b) for i in n]
    np.testing.assert_allclose(expected_table_count(n, float(a), float(b)), expected, rtol=2e-12)


def test_expected_table_count_without_discount_at_large_n():
    n, b = 10**9, 3.0
    expected = b * (digamma(b + n) - digamma(b))
    np.testing.assert_allclose(expected_table_count(n, 0.0, b), expected, rtol=1e-11)


def test_expected_table_count_keeps_the_shape():
    assert expected_table_count([[0, 1], [2, 3]], 0.5, 1.0).shape == (2, 2)
    assert expected_table_count(0, 0.5, 1.0) == 0.0
    assert expected_table_count(1, 0.5, -0.4) == 1.0


def test_expected_table_count_near_the_smallest_concentration():
    """Nothing cancels if b + a is small."""
    b = 1e-9 - 0.9
    expected = recursion(400, Fraction(0.9), Fraction(b))
    np.testing.assert_allclose(expected_table_count(400, 0.9, b), expected, rtol=1e-14)


@pytest.mark.parametrize("a", [0.0, 1e-12, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 3, 17, 18, 200])
def test_concentration_leads_to_the_count(a, n):
    counts = [1.0 + 1e-6, 1.01, 1.5, (n + 1) / 2, n - 0.01, n - 1e-6]
    counts = [k for k in counts if 1.0 < k < n]
    concentrations = concentration_for_table_count(n, counts, a)
    assert np.all(np.diff(concentrations[np.argsort(counts)]) >= 0.0)
    for k, b in zip(counts, concentrations, strict=True):
        assert recursion(n, Fraction(a), Fraction(float(b))) == pytest.approx(k, rel=2e-12)


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9])
def test_concentration_of_large_restaurants(a):
    for n, k in ((10**9, 3.0), (10**9, 5e8), (10**9, 10**9 - 1), (2**40, 100.0)):
        b = float(concentration_for_table_count(n, k, a))
        assert expected_table_count(n, a, b) == pytest.approx(k, rel=1e-6)


def test_concentration_broadcasts():
    found = concentration_for_table_count([[10], [1000]], [2.0, 3.0, 4.0])
    assert found.shape == (2, 3)
    assert found[1, 2] == concentration_for_table_count(1000, 4)
    assert concentration_for_table_count(1000, 4).shape == ()
    assert concentration_for_table_count([], []).shape == (0,)
    assert np.all(np.diff(found, axis=0) < 0.0)  # more customers, less new ones each


def test_sign_of_the_concentration():
    at_zero = float(expected_table_count(50, 0.6, 0.0))
    below, above = concentration_for_table_count(50, [at_zero - 0.1, at_zero + 0.1], 0.6)
    assert -0.6 < below < 0.0 < above
    assert concentration_for_table_count(50, at_zero, 0.6) == pytest.approx(0.0, abs=1e-12)
    assert concentration_for_table_count(50, at_zero) > 0.0  # without a discount always


@pytest.mark.parametrize("a", [0.0, 0.4])
def test_truncation_keeps_the_shape_and_the_order(a):
    error = gem_truncation_error([[0, 1, 2], [3, 50, 4]], a, 2.0)
    assert error.shape == (2, 3)
    assert error[0, 0] == 1.0
    assert np.all(np.diff(np.sort(error.ravel())) > 0)
    assert error[1, 1] == error.min()
    assert gem_truncation_error(4, a, 2.0) == error[1, 2]
    assert gem_truncation_error([], a, 2.0).shape == (0,)


@pytest.mark.parametrize("a", [0.0, 1e-12])
@pytest.mark.parametrize("b", [1e-10, 1.0, 1e10])
def test_digits_of_truncations(a, b):
    """Truncations with a tiny remainder, and with nearly all of the weight left."""
    expected = 1.0
    for k in range(1, 4):
        expected *= (b + k * a) / (b + 1.0 + (k - 1) * a)
    assert gem_truncation_error(3, a, b) == pytest.approx(expected, rel=1e-12)
    many = gem_truncation_error(3, a, b, n=1000)
    assert many == pytest.approx(1.0 - (1.0 - expected) ** 1000 if b >= 1 else 1000 * expected)


def test_any_number_of_draws():
    assert gem_truncation_error([0, 1], 0.5, 1.0, n=2**31 - 1).tolist() == [1.0, 1.0]
    with np.errstate(all="raise"):  # no warning of the log of 0
        assert gem_truncation_error(0, 0.5, 1.0, n=3) == 1.0
    assert gem_truncation_error(10**13, 0.0, 1.0) == 0.0
