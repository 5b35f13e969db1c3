"""Re-estimation of the Dirichlet priors against scipy's special functions."""

import numpy as np
import pytest
from scipy.special import digamma

from skdp.topics._shared._arrays import (
    FLOOR,
    _digamma,
    count_frequencies,
    sum_rises,
    update_by_frequencies,
    update_symmetric_dirichlet,
)

RNG = np.random.default_rng(0)
COUNTS = {
    "small": RNG.poisson(2.0, (20, 4)),
    # Around 32 the lookup in a table of sums ends.
    "both sides of the table": np.array([[31, 0, 1], [32, 33, 34], [0, 0, 0], [33, 31, 500]]),
    "large": RNG.poisson(3e4, (5, 3)),
    "sparse": RNG.poisson(0.02, (200, 6)),
    "one column": np.array([[3], [40]]),
}
every_counts = pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)


def test_digamma():
    """Errors are relative, but next to the root at 1.46."""
    x = np.concatenate([np.geomspace(1e-8, 1e12, 3000), np.linspace(1e-3, 20, 3000)])
    found = np.array([_digamma(value) for value in x])
    np.testing.assert_allclose(found, digamma(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("prior", [FLOOR, 1e-3, 0.5, 7.0, 40.0, 1e5])
@every_counts
def test_updates(counts, prior):
    """Of a vector and of a common value: one step of the fixed point."""
    n_columns, totals = counts.shape[1], counts.sum(axis=1)
    vector, common = prior * np.linspace(0.5, 1.5, n_columns), np.full(n_columns, prior)
    for start, symmetric in ((vector, False), (common, True)):
        ups = np.sum(digamma(start + counts) - digamma(start), axis=0)
        down = np.sum(digamma(start.sum() + totals) - digamma(start.sum()))
        if symmetric:
            ups, down = ups.sum(), n_columns * down
        expected = np.maximum((0.5 + start * ups) / (0.3 + down), FLOOR)
        args = count_frequencies([counts], n_columns), 1.5, 0.3, symmetric
        found = update_by_frequencies(start, *args)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    alone = update_symmetric_dirichlet(prior, sum_rises(prior, counts), totals, n_columns, 1.5, 0.3)
    assert alone == pytest.approx(expected[0], rel=1e-9)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_counts_of_any_layout(dtype, order):
    """Rows without counts have no effect."""

    def update(counts):
        rises, totals = sum_rises(0.5, counts), counts.sum(axis=1)
        return update_symmetric_dirichlet(0.5, rises, totals, counts.shape[1], 1.5, 0.3)

    given = np.asarray(COUNTS["small"], dtype=dtype, order=order)
    padded = np.vstack([given, np.zeros((3, given.shape[1]), dtype=dtype)])
    assert update(given) == update(padded) == update(COUNTS["small"])


@pytest.mark.parametrize("prior", [0.02, 3.0])
def test_the_largest_counts_are_rare(prior):
    counts = np.array([0, 1, 5, 2**20 - 1, 2**20, 2**20 + 1, 2**24 - 1, 9], dtype=np.float32)
    expected = np.sum(digamma(prior + counts.astype(float)) - digamma(prior))
    assert sum_rises(prior, counts) == pytest.approx(expected, rel=1e-12)
    assert counts[6] == 2**24 - 1


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@every_counts
def test_frequencies_of_parts_add_up_to_those_of_the_whole(counts, dtype):
    counts = counts.astype(dtype)
    n_columns = counts.shape[1]
    whole = count_frequencies([counts], n_columns)
    parts = [counts[i::3] for i in range(min(3, len(counts)))]
    together = count_frequencies(iter(parts), n_columns)
    added, *others = (count_frequencies([part], n_columns) for part in parts)
    for other in others:
        added = other + added
    for found in (together, added):
        np.testing.assert_array_equal(found.keys, whole.keys)
        np.testing.assert_array_equal(found.times, whole.times)
    for k, column in enumerate([*counts.T, counts.sum(axis=1)]):
        values, times = np.unique(column[column > 0], return_counts=True)
        here = whole.keys >> 40 == k
        np.testing.assert_array_equal(whole.keys[here], (k << 40) + values.astype(np.int64))
        np.testing.assert_array_equal(whole.times[here], times)
