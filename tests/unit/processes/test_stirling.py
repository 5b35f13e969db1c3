from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skdp.processes import StirlingRatios, log_stirling_numbers, stirling_ratios
from skdp.processes._kernels_stirling import log_stirling, open_ratio, share_ratio

DISCOUNTS = [0.0, 1e-7, 0.25, 0.7, 0.99]
every_discount = pytest.mark.parametrize("a", DISCOUNTS)


@every_discount
def test_integral_continues_the_table(a):
    """Beyond the table the ratios are integrals; they follow the table's own recursion."""
    table = StirlingRatios.for_counts(1_000, a)
    for n in (400, 1_000):
        pairs = table.values[table.row_ptr[n] + 1 : table.row_ptr[n + 1]]
        found = np.stack(stirling_ratios(n, np.arange(1, n + 1), a), axis=1)
        np.testing.assert_allclose(found, pairs, rtol=1e-10)


@every_discount
def test_kernels_do_not_depend_on_the_table(a):
    small, large = StirlingRatios.for_counts(5, a), StirlingRatios.for_counts(60, a)
    for n in range(1, 61):
        for t in range(1, n + 1):
            for kernel in (share_ratio, open_ratio, log_stirling):
                one, other = (kernel(s.values, s.row_ptr, n, t, a) for s in (small, large))
                assert one == pytest.approx(other, rel=1e-11, abs=1e-11)


@every_discount
def test_recursion_far_out(a):
    """U at t and V at t are tied through R^n_{t+1} / R^{n+1}_{t+1}, whatever computes them."""
    n, t = 100_000, np.array([1, 2, 3, 10, 1_000, 30_000, 99_000, 99_999])
    share, opening = stirling_ratios(n, t, a)
    following = np.exp(log_stirling_numbers(n + 1, t + 1, a) - log_stirling_numbers(n + 1, t, a))
    np.testing.assert_allclose(opening / share, following, rtol=1e-7)
    assert np.all(share > n - a * t - 1e-6)
    assert np.all(opening >= 1.0)


def test_first_customer():
    table = StirlingRatios.for_counts(0, 0.5)
    assert table.values.shape == (1, 2)
    for a in DISCOUNTS:
        assert share_ratio(table.values, table.row_ptr, 0, 0, a) == 0.0
        assert open_ratio(table.values, table.row_ptr, 0, 0, a) == 1.0
    np.testing.assert_array_equal(stirling_ratios(0, 0, 0.5), [0.0, 1.0])


def test_numbers_that_are_zero():
    np.testing.assert_array_equal(
        log_stirling_numbers([0, 0, 3, 3], [0, 1, 0, 4], 0.3), [0.0, -np.inf, -np.inf, -np.inf]
    )


def test_arguments_broadcast():
    share, opening = stirling_ratios(np.array([[3], [4]]), np.array([1, 2, 3]), 0.1)
    assert share.shape == opening.shape == (2, 3)
    assert log_stirling_numbers(3, 2, 0.0) == pytest.approx(np.log(3.0))


@pytest.mark.parametrize("n_max", [0, 1, 999, 1_000, 1_001, 3_000, 10_000, 1_000_000])
def test_size_of_the_table_is_bounded(n_max):
    table = StirlingRatios.for_counts(n_max, 0.4)
    n_pairs = table.row_ptr[-1]
    assert n_pairs <= 2_000_000
    assert np.all(np.isfinite(table.values[:n_pairs]))
    assert len(table.values) == n_pairs if n_max <= 1_000 else len(table.values) < n_pairs + 100_000
    assert (table.n_max, table.discount) == (n_max, 0.4)
    again = StirlingRatios.for_counts(n_max, 0.4)
    np.testing.assert_array_equal(table.values, again.values)


def far_pairs(n_max):
    """Return pairs (n, t) of many patches, in random order."""
    rng = np.random.default_rng(0)
    n = np.exp(rng.uniform(np.log(1_001), np.log(n_max), 300)).astype(int)
    return [(int(i), int(np.exp(rng.uniform(0.0, np.log(i))))) for i in n]


def far_ratios(table, pairs):
    arrays = table.values, table.row_ptr
    return [open_ratio(*arrays, n, t, table.discount) for n, t in pairs]


@every_discount
def test_patches_do_not_depend_on_what_was_asked_before(a):
    pairs = far_pairs(20_000)
    found = far_ratios(StirlingRatios.for_counts(20_000, a, max_rows=1_000), pairs)
    backwards = far_ratios(StirlingRatios.for_counts(900_000, a, max_rows=1_000), pairs[::-1])
    assert found == backwards[::-1]
    shared = StirlingRatios.for_counts(20_000, a, max_rows=1_000)
    with ThreadPoolExecutor(4) as pool:
        for other in pool.map(far_ratios, [shared] * 4, [pairs] * 4):
            assert other == found
    inside, beyond = (open_ratio(shared.values, shared.row_ptr, n, 3, a) for n in (1_000, 1_001))
    assert inside < beyond < 1.01 * inside


@pytest.mark.parametrize("a", [0.0, 0.5])
def test_a_long_segment_asks_for_few_patches(a):
    """A patch is 72 integrals: what a topic passes on its way to 30,000 customers is 30 of them."""
    table = StirlingRatios.for_counts(30_000, a)
    arrays = table.values, table.row_ptr
    for n in range(1_001, 30_000):
        t = int(20 * (1 + n**a))
        for i in (t - 1, t, t + 1):
            share_ratio(*arrays, n, i, a)
            open_ratio(*arrays, n, i, a)
    patches = table.values[table.row_ptr[-1] + 2 :].reshape(-1, 72)
    assert 0 < np.sum(np.isfinite(patches[:, 0])) <= 30


def test_rows_beyond_the_whole_ones():
    whole, beyond = StirlingRatios.for_counts(1_000, 0.4), StirlingRatios.for_counts(5_000, 0.4)
    np.testing.assert_array_equal(beyond.values[: len(whole.values)], whole.values)
    n = 5_000
    pairs = beyond.values[beyond.row_ptr[n] + 1 : beyond.row_ptr[n + 1]]
    found = np.stack(stirling_ratios(n, np.arange(1, len(pairs) + 1), 0.4), axis=1)
    np.testing.assert_allclose(found, pairs, rtol=1e-10)
