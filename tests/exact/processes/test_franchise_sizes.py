"""The sizes of tables, given how many customers sit at how many, against Stirling numbers."""

from math import comb

import numpy as np
import pytest
from exact.language.franchise import rising, stirling
from exact.oracles.batch_means import assert_means

from skdp._random import make_seed_sequence, make_stream
from skdp.processes._kernels_franchise_hyper import add_sizes
from skdp.processes._stirling import StirlingRatios


def expected_sizes(n, t, d):
    """Return how many tables of each size there are on average, by the joint of all seats."""
    numbers = stirling(n, d)
    return [0.0] + [
        comb(n, s) * rising(1.0 - d, s - 1) * numbers[n - s][t - 1] / numbers[n][t]
        if t - 1 <= n - s
        else 0.0
        for s in range(1, n + 1)
    ]


def draw_sizes(n, t, d, n_rows, n_draws):
    """Return numbers of tables by size, and let the kernel see only `n_rows` rows of ratios."""
    ratios = StirlingRatios.for_counts(n, d)
    row_ptr = ratios.row_ptr[: n_rows + 1]
    values = ratios.values[: row_ptr[-1]]
    rng = make_stream(make_seed_sequence(0))
    opened, seat, size = np.zeros(n, np.bool_), np.zeros(n, np.int32), np.zeros(n, np.int32)
    draws = np.zeros((n_draws, n + 1), np.int64)
    for counts in draws:
        add_sizes(n, t, d, values, row_ptr, opened, seat, size, counts, rng)
    return draws


@pytest.mark.parametrize("n_rows", [100, 4], ids=["by the table", "in blocks"])
@pytest.mark.parametrize(
    ("n", "t", "d"),
    [(8, 2, 0.5), (12, 4, 0.2), (12, 9, 0.8), (30, 5, 0.0), (5, 5, 0.3), (5, 1, 0.3)],
)
def test_sizes(n, t, d, n_rows):
    """A false alarm once in 80,000 comparisons, 150 of them."""
    draws = draw_sizes(n, t, d, n_rows, 8_000)
    np.testing.assert_array_equal(draws.sum(axis=1), t)
    np.testing.assert_array_equal(draws @ np.arange(n + 1), n)
    assert_means(draws, expected_sizes(n, t, d), "tables of each size")


@pytest.mark.parametrize(("n", "t", "d"), [(40, 15, 0.2), (40, 4, 0.7), (90, 30, 0.0)])
def test_blocks_decide_what_the_table_decides(n, t, d):
    """Bounds spare ratios; they change no draw."""
    np.testing.assert_array_equal(draw_sizes(n, t, d, 4, 1_000), draw_sizes(n, t, d, 100, 1_000))
