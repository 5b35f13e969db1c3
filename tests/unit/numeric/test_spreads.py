"""Robust scales of columns."""

import numpy as np
import pytest

from skdp._numeric._arrays import find_noise_rates, find_spreads, standardize


def test_normal_columns():
    values = [3.0, 0.0] + [2.0, 0.5] * np.random.default_rng(0).normal(size=(20_000, 2))
    spreads = find_spreads(values)
    np.testing.assert_allclose(spreads.middles, [3.0, 0.0], atol=0.05)
    np.testing.assert_allclose(spreads.variances, [4.0, 0.25], rtol=0.03)
    np.testing.assert_allclose(spreads.wide_variances, [4.0, 0.25], rtol=0.03)
    np.testing.assert_allclose(spreads.reaches, np.abs(values - spreads.middles).max(axis=0))
    np.testing.assert_array_equal(spreads.counts, [20_000, 20_000])


@pytest.mark.parametrize("n", [3, 10, 100])
def test_one_value_changes_reaches_alone(n):
    column = np.random.default_rng(0).normal(size=(n, 1))
    before = find_spreads(column)
    column[np.argmax(column)] = 1e119
    after = find_spreads(column)
    assert after.middles == before.middles
    assert after.variances / before.variances == pytest.approx(1.0, abs=0.8)
    assert after.wide_variances / before.wide_variances == pytest.approx(1.0, abs=0.8)
    assert after.reaches == pytest.approx(1e119)


def test_rare_constant_and_missing_values():
    columns = np.zeros((50, 4))
    columns[7, 0] = 5.0  # all but one are 0
    columns[:, 1] = 3.0
    columns[:, 2] = np.nan
    columns[::2, 3], columns[1, 3] = np.nan, 1e-150
    spreads = find_spreads(columns)
    np.testing.assert_array_equal(spreads.middles, [0.0, 3.0, 0.0, 0.0])
    np.testing.assert_allclose(spreads.variances, [0.5, 1.0, 1.0, 4e-302], rtol=1e-6)
    np.testing.assert_array_equal(spreads.reaches, [5.0, 0.0, 0.0, 1e-150])
    np.testing.assert_array_equal(spreads.counts, [50.0, 50.0, 0.0, 25.0])
    columns[1, 3] = 1e-151
    with pytest.raises(ValueError, match=r"vary by 1e-150 or more.* got 1e-151 in column 3"):
        find_spreads(columns)


def test_a_rare_signal_is_wide():
    column = 0.01 * np.random.default_rng(0).normal(size=(100, 1))
    column[:4] += 5.0
    spreads = find_spreads(column)
    assert spreads.variances == pytest.approx(1e-4, rel=0.5)
    assert spreads.wide_variances == pytest.approx(0.03 * 25.0 / 0.925, rel=0.1)


def test_noise_is_not_lost_beside_the_largest_value():
    """The posterior mean of the variance is the squared resolution, or more."""
    variances, resolutions, counts = np.ones(3), np.array([1e-9, 10.0, 10.0]), np.array([4, 4, 98])
    rates = find_noise_rates(variances, resolutions, counts)
    np.testing.assert_allclose(rates, [0.25, 300.0, 5000.0])
    np.testing.assert_allclose(rates[1:] / (1.0 + 0.5 * counts[1:]), 100.0)


def test_standard_values_do_not_depend_on_the_unit():
    values = np.random.default_rng(0).integers(-8, 8, size=(1000, 3)) / 4.0
    spreads = find_spreads(values)
    expected = standardize(values, spreads.middles, spreads.variances**0.5)
    for unit, origin in ((1e-6, 0.0), (1e3, 1e5), (0.3, -7.0)):
        other = unit * values + origin
        spreads = find_spreads(other)
        found = standardize(other, spreads.middles, spreads.variances**0.5)
        np.testing.assert_array_equal(found, expected)
