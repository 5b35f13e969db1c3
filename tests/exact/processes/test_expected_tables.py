"""Numbers of tables in closed form against all seatings, and against sums of Stirling numbers."""

from math import exp

import pytest
from exact.oracles.partitions import seating_probability, set_partitions
from exact.oracles.segmented import rising, stirling

from skdp.processes import concentration_for_table_count, expected_table_count, log_stirling_numbers

PARAMETERS = [(0.0, 0.3), (0.0, 20.0), (0.5, -0.3), (0.5, 1.0), (0.9, 0.0), (0.9, 5.0)]
every_process = pytest.mark.parametrize(("a", "b"), PARAMETERS)
every_size = pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])


def table_count_moment(power, n, a, b):
    """Return E[T^power] by all seatings."""
    return sum(
        (max(seats) + 1) ** power * seating_probability(seats, a, b) for seats in set_partitions(n)
    )


@every_process
def test_expected_table_count_matches_enumeration(a, b):
    for n in range(1, 25):
        # (b | a)_T / (b)_n without the factor b of both, so that b may be 0.
        p = [rising(b + a, t - 1, a) / rising(b + 1, n - 1) * stirling(n, t, a) for t in
             range(1, n + 1)]  # fmt: skip
        assert sum(p) == pytest.approx(1.0)
        expected = sum(t * weight for t, weight in enumerate(p, start=1))
        assert expected_table_count(n, a, b) == pytest.approx(expected, rel=1e-11)


@every_process
@every_size
def test_moments_by_all_seatings(n, a, b):
    """Mean and variance of the number of tables: in closed form, and by Stirling numbers."""
    mean, square = (table_count_moment(power, n, a, b) for power in (1, 2))
    assert expected_table_count(n, a, b) == pytest.approx(mean, rel=1e-13)
    # (b | a)_T / (b)_n without the factor b of both, so that b may be 0.
    p = [
        rising(b + a, t - 1, a) / rising(b + 1, n - 1) * exp(log_stirling_numbers(n, t, discount=a))
        for t in range(1, n + 1)
    ]
    assert sum(p) == pytest.approx(1.0, rel=1e-12)
    by_numbers = [sum(t**power * weight for t, weight in enumerate(p, 1)) for power in (1, 2)]
    assert by_numbers[0] == pytest.approx(mean, rel=1e-12)
    variance = by_numbers[1] - by_numbers[0] ** 2
    assert variance == pytest.approx(square - mean**2, rel=1e-9, abs=1e-12)


@every_process
@every_size
def test_concentration_is_the_one_that_seatings_have(n, a, b):
    if n > 1:
        mean = table_count_moment(1, n, a, b)
        assert concentration_for_table_count(n, mean, a) == pytest.approx(b, rel=1e-11, abs=1e-12)
