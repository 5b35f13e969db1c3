"""Re-estimation of the Dirichlet priors against scipy's special functions."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from skdp.topics._shared._priors import (
    FLOOR,
    _digamma,
    count_frequencies,
    sum_rises,
    update_dirichlet,
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
PRIORS = [FLOOR, 1e-3, 0.5, 7.0, 40.0, 1e5]
every_counts = pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
every_prior = pytest.mark.parametrize("prior", PRIORS)


def sums_of_digammas(prior, counts):
    """Return the two sums of digammas in a step of the fixed point."""
    total, totals = prior.sum(), counts.sum(axis=1)
    ups = np.sum(digamma(prior + counts) - digamma(prior), axis=0)
    down = np.sum(digamma(total + totals) - digamma(total))
    return ups, down


def log_posterior(prior, counts, shape, rate):
    """Return the log posterior of a vector up to a constant."""
    total = prior.sum()
    value = np.sum(gammaln(prior + counts) - gammaln(prior))
    value += np.sum(gammaln(total) - gammaln(total + counts.sum(axis=1)))
    return value + np.sum((shape - 1.0) * np.log(prior) - rate * prior)


def test_digamma():
    """Errors are relative, but next to the root at 1.46."""
    x = np.concatenate([np.geomspace(1e-8, 1e12, 3000), np.linspace(1e-3, 20, 3000)])
    found = np.array([_digamma(value) for value in x])
    np.testing.assert_allclose(found, digamma(x), rtol=1e-13, atol=1e-13)


def test_digamma_follows_its_recurrence():
    x = np.geomspace(1e-6, 1e6, 500)
    steps = np.array([_digamma(value + 1.0) - _digamma(value) for value in x])
    np.testing.assert_allclose(steps, 1.0 / x, rtol=1e-9, atol=1e-14)


@every_prior
@every_counts
def test_update_of_a_vector(counts, prior):
    start = prior * np.linspace(0.5, 1.5, counts.shape[1])
    ups, down = sums_of_digammas(start, counts)
    expected = np.maximum((0.5 + start * ups) / (0.3 + down), FLOOR)
    found = update_dirichlet(start, counts, 1.5, 0.3, symmetric=False)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@every_prior
@every_counts
def test_update_of_a_common_value(counts, prior):
    size = counts.shape[1]
    start = np.full(size, prior)
    ups, down = sums_of_digammas(start, counts)
    expected = max((0.5 + prior * ups.sum()) / (0.3 + size * down), FLOOR)
    found = update_dirichlet(start, counts, 1.5, 0.3, symmetric=True)
    np.testing.assert_allclose(found, np.full(size, expected), rtol=1e-9)
    alone = update_symmetric_dirichlet(
        prior, sum_rises(prior, counts), counts.sum(axis=1), counts.shape[1], 1.5, 0.3
    )
    assert alone == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_counts_of_any_layout(dtype, order):
    counts = COUNTS["small"]
    expected = update_symmetric_dirichlet(
        0.5, sum_rises(0.5, counts), counts.sum(axis=1), counts.shape[1], 1.5, 0.3
    )
    given = np.asarray(counts, dtype=dtype, order=order)
    assert (
        update_symmetric_dirichlet(
            0.5, sum_rises(0.5, given), given.sum(axis=1), given.shape[1], 1.5, 0.3
        )
        == expected
    )
    padded = np.vstack([given, np.zeros((3, counts.shape[1]), dtype=dtype)])
    assert (
        update_symmetric_dirichlet(
            0.5, sum_rises(0.5, padded), padded.sum(axis=1), padded.shape[1], 1.5, 0.3
        )
        == expected
    )


@pytest.mark.parametrize("shape", [1.0, 2.5])
@every_counts
def test_every_step_climbs(counts, shape):
    """The fixed point maximizes a lower bound of the log posterior that touches it."""
    prior = np.linspace(0.2, 3.0, counts.shape[1])
    before = log_posterior(prior, counts, shape, 0.2)
    for _ in range(20):
        prior = update_dirichlet(prior, counts, shape, 0.2, symmetric=False)
        after = log_posterior(prior, counts, shape, 0.2)
        assert after >= before - 1e-9 * abs(before)
        before = after


@pytest.mark.parametrize("shape", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("rate", [1e-8, 1.0, 1e8])
@every_counts
def test_updates_stay_finite_and_above_the_floor(counts, shape, rate):
    prior, common = np.full(counts.shape[1], 0.1), 0.1
    for _ in range(200):
        prior = update_dirichlet(prior, counts, shape, rate, symmetric=False)
        common = update_symmetric_dirichlet(
            common, sum_rises(common, counts), counts.sum(axis=1), counts.shape[1], shape, rate
        )
    for values in (prior, common):
        assert np.all(np.isfinite(values))
        assert np.all(values >= FLOOR)


@pytest.mark.parametrize("prior", [0.02, 3.0])
def test_the_largest_counts_are_rare(prior):
    counts = np.array([0, 1, 5, 2**20 - 1, 2**20, 2**20 + 1, 2**24 - 1, 9], dtype=np.float32)
    expected = np.sum(digamma(prior + counts.astype(float)) - digamma(prior))
    assert sum_rises(prior, counts) == pytest.approx(expected, rel=1e-12)
    assert counts[6] == 2**24 - 1


def test_prior_given_is_left_alone():
    prior = np.array([0.3, 0.9, 0.2, 1.4])
    update_dirichlet(prior, COUNTS["small"], 1.5, 0.3, symmetric=False)
    np.testing.assert_array_equal(prior, [0.3, 0.9, 0.2, 1.4])


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
