"""Ratios of Stirling numbers, tabulated and integrated, against exact arithmetic."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from exact.oracles.partitions import (
    half_stirling_ratio,
    set_partitions,
    stirling_columns,
    stirling_diagonals,
    stirling_row,
)
from exact.oracles.segmented import rising
from exact.oracles.stirling_far import stirling_ratios_far

from skdp.processes import StirlingRatios, log_stirling_numbers, stirling_ratios
from skdp.processes._kernels_stirling import open_ratio, share_ratio

WHOLE_ROWS = 1_000  # customers up to which the table has all tables

DISCOUNTS = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)]
every_discount = pytest.mark.parametrize("a", DISCOUNTS, ids=float)


def log_fraction(value: Fraction) -> float:
    """Return the logarithm of a fraction too large for a float."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return float(np.log(float(value / Fraction(2) ** bits)) + bits * np.log(2.0))


def few_tables(n, most, a):
    """Return t = 2, ..., `most`, their Stirling numbers, and U and V in exact arithmetic."""
    numbers, t = stirling_columns(n, most + 2, a), range(2, most + 1)
    share = [float(n - a * i + numbers[i - 1] / numbers[i]) for i in t]
    opening = [float(1 + (n - a * (i + 1)) * numbers[i + 1] / numbers[i]) for i in t]
    return np.array(t), [numbers[i] for i in t], np.array([share, opening])


def many_tables(n, fewest, a):
    """Return t = n, ..., `fewest`, as far as U and V do not need more tables than customers."""
    numbers, d = stirling_diagonals(n, n - fewest + 3, a), range(n - fewest + 1)
    share = [float(n - a * (n - i) + numbers[i + 1] / numbers[i]) for i in d]
    fewer = [numbers[i - 1] / numbers[i] if i > 0 else 0 for i in d]
    opening = [float(1 + (n - a * (n - i + 1)) * fewer[i]) for i in d]
    return n - np.array(d), [numbers[i] for i in d], np.array([share, opening])


def ratios_of_one_half(n, n_between):
    """Return many t from 2 to n, and U and V in closed form."""
    t = np.unique(np.concatenate([
        np.arange(2, 40), np.geomspace(2, n - 1, n_between).astype(int), n - np.arange(1, 40)
    ]))  # fmt: skip
    share = [float(n - Fraction(int(i), 2) + 1 / half_stirling_ratio(n, int(i))) for i in t]
    opening = [
        float(1 + (n - Fraction(int(i) + 1, 2)) * half_stirling_ratio(n, int(i) + 1)) for i in t
    ]
    return t, np.array([share, opening])


@every_discount
def test_numbers_count_seatings(a):
    """S^n_t is the total weight, prod (1 - a)_{m - 1}, of the seatings at t tables."""
    n = 7
    total = np.zeros(n + 1)
    for seats in set_partitions(n):
        sizes = np.bincount(seats)
        total[len(sizes)] += np.prod([rising(1.0 - float(a), m - 1) for m in sizes])
    found = np.exp(log_stirling_numbers(n, np.arange(n + 1), float(a)))
    np.testing.assert_allclose(found, total, rtol=1e-11)


@every_discount
@pytest.mark.parametrize("n", [1, 2, 3, 10, 60, 250])
def test_table_and_integral_match_integers(n, a):
    t = np.arange(1, n + 1)
    row, following = (stirling_columns(m, n + 2, a) for m in (n, n + 1))
    share = [float(following[i] / row[i]) for i in t]
    opening = [float(following[i + 1] / row[i]) for i in t]
    table = StirlingRatios.for_counts(n, float(a))
    pairs = table.values[table.row_ptr[n] + 1 : table.row_ptr[n + 1]]
    np.testing.assert_allclose(pairs, np.stack([share, opening], axis=1), rtol=1e-13)
    np.testing.assert_allclose(stirling_ratios(n, t, float(a)), [share, opening], rtol=1e-10)
    logs = [log_fraction(row[i]) for i in t]
    np.testing.assert_allclose(log_stirling_numbers(n, t, float(a)), logs, atol=1e-9)


@every_discount
@pytest.mark.parametrize("n", [5_000, 5_001])
def test_edges_at_5000_match_integers(n, a):
    for t, numbers, ratios in (few_tables(n, 6, a), many_tables(n, n - 5, a)):
        np.testing.assert_allclose(stirling_ratios(n, t, float(a)), ratios, rtol=1e-9)
        logs = [log_fraction(number) for number in numbers]
        found = log_stirling_numbers(n, t, float(a))
        np.testing.assert_allclose(found, logs, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n", [5_000, 100_000, 1_000_000])
def test_closed_form_of_one_half(n):
    t, ratios = ratios_of_one_half(n, 200)
    np.testing.assert_allclose(stirling_ratios(n, t, 0.5), ratios, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("a", ["0", "0.1", "0.9", "0.99"])
def test_all_tables_at_5000_match_50_digits(a):
    n = 5_000
    row = stirling_row(n, Decimal(a))
    t = np.arange(1, n + 1)
    ratio = np.array(row[1:] / np.append(row[2:], Decimal(1)), dtype=float)  # S_t / S_{t+1}
    before = np.concatenate([[0.0], ratio[:-1]])
    after = np.append(1.0 / ratio[:-1], 0.0)
    share, opening = stirling_ratios(n, t, float(a))
    np.testing.assert_allclose(share, n - float(a) * t + before, rtol=1e-9)
    np.testing.assert_allclose(opening, 1.0 + (n - float(a) * (t + 1)) * after, rtol=1e-9)
    table = StirlingRatios.for_counts(n, float(a))
    found = [
        (
            share_ratio(table.values, table.row_ptr, n, int(i), float(a)),
            open_ratio(table.values, table.row_ptr, n, int(i), float(a)),
        )
        for i in t
    ]
    np.testing.assert_allclose(found, np.stack([share, opening], axis=1), rtol=1e-9)


def patched_ratios(n: int, t: np.ndarray, a: float) -> np.ndarray:
    """Return U and V from the patches behind a table, (2, T)."""
    table = StirlingRatios.for_counts(n, a, max_rows=WHOLE_ROWS)
    return np.array([
        [kernel(table.values, table.row_ptr, n, int(i), a) for i in t]
        for kernel in (share_ratio, open_ratio)
    ])  # fmt: skip


@every_discount
@pytest.mark.parametrize("n", [1_001, 5_000])
def test_patches_match_integers(n, a):
    """Few tables and many, from the first row of patches on."""
    for t, _, ratios in (few_tables(n, 40, a), many_tables(n, n - 39, a)):
        np.testing.assert_allclose(patched_ratios(n, t, float(a)), ratios, rtol=2e-9)


@pytest.mark.parametrize("a", [1 - Fraction(1, 10**5), 1 - Fraction(1, 10**8)], ids=float)
def test_discounts_next_to_one(a):
    """Patches up to 1 - 1e-5, integrals beyond: a relative error of 1e-6 at most."""
    t, _, ratios = many_tables(1_001, 962, Fraction(float(a)))
    np.testing.assert_allclose(patched_ratios(1_001, t, float(a)), ratios, rtol=1e-6)


@pytest.mark.parametrize("n", [1_001, 30_000, 1_000_000, 2_000_000])
@pytest.mark.parametrize("a", ["0", "0.05", "0.3", "0.5", "0.9", "0.999"])
def test_patches_match_sums_of_140_digits(n, a):
    """Few tables and very many customers; the sums do not use the recursion."""
    ratio = np.array(stirling_ratios_far(n, 40, Decimal(a)), dtype=float)  # from t = 2 on
    t = np.arange(1, 40)
    share, opening = patched_ratios(n, t, float(a))
    before = np.concatenate([[0.0], 1.0 / ratio[:-1]])
    np.testing.assert_allclose(share, n - float(a) * t + before, rtol=1e-9)
    np.testing.assert_allclose(opening, 1.0 + (n - float(a) * (t + 1)) * ratio, rtol=1e-9)


@pytest.mark.parametrize("n", [1_001, 5_000, 100_000, 1_000_000, 2_000_000])
def test_patches_match_closed_form_of_one_half(n):
    t, ratios = ratios_of_one_half(n, 400)
    np.testing.assert_allclose(patched_ratios(n, t, 0.5), ratios, rtol=1e-9)


@pytest.mark.parametrize("a", [0.0, 1e-7, 0.1, 0.3, 0.7, 0.9, 0.99])
def test_patches_follow_the_recursion(a):
    """V / U at (n, t) is R^{n+1}_{t+1}, which V at (n + 1, t) tells: everywhere, not at edges."""
    rng = np.random.default_rng(0)
    table = StirlingRatios.for_counts(2_000_001, a, max_rows=WHOLE_ROWS)
    for _ in range(3_000):
        n = int(np.exp(rng.uniform(np.log(1_001), np.log(2e6))))
        t = int(np.exp(rng.uniform(0.0, np.log(n))))
        if rng.random() < 0.5:
            t = n - t + 1
        arrays = table.values, table.row_ptr
        share, opening = share_ratio(*arrays, n, t, a), open_ratio(*arrays, n, t, a)
        expected = 1.0 + (n + 1 - a * (t + 1)) * opening / share
        assert open_ratio(*arrays, n + 1, t, a) == pytest.approx(expected, rel=1e-9)
