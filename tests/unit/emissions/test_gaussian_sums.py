"""Statistics of Gaussian observations: exact in any order, as good as two passes of floats."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.emissions.helpers import Parts

from skdp.emissions._common._columns import InMemoryRows, Ranges, find_moments

N_STATES = 4


def draw_values(scale, n_steps=300, n_dims=3):
    """Return steps of states that differ, some of them missing, and the states, some none."""
    rng = np.random.default_rng(0)
    states = np.array([-1, 0, 1, 3])[rng.integers(0, 4, n_steps)]  # of 2 there are none
    values = (rng.normal(size=(n_steps, n_dims)) + 10.0 * states[:, np.newaxis]) * scale
    values[rng.random(n_steps) < 0.1] = np.nan
    return values, states


SCALES = {
    "ones": np.ones(3),
    "columns": np.array([1e-120, 1.0, 1e110]),
    "tiny": np.array([1e-300, 5e-324, 1e-160]),
}


def exactly(values, states, n_blocks):
    """Return counts, means and scatter of each block of columns of each state, by fractions."""
    found = []
    for rows in (values[states == j] for j in range(N_STATES)):
        for block in np.split(rows, n_blocks, axis=1):
            block = block[~np.isnan(block[:, 0])]
            exact = np.array([Fraction(x) for x in block.ravel().tolist()], dtype=object)
            exact = exact.reshape(block.shape)
            mean = exact.sum(axis=0) / Fraction(max(len(exact), 1))
            away = exact - mean
            found.append((len(exact), mean.astype(float), (away.T @ away).astype(float)))
    return map(np.array, zip(*found, strict=True))


def statistics(parts, n_blocks=1):
    """Return counts, means and scatter of parts of a panel, the lower triangle."""
    n_components, width = N_STATES * n_blocks, parts[0][0].shape[1] // n_blocks
    ranges = [Ranges.of(*part, n_components, width) for part in parts]
    whole = sum(ranges[1:], ranges[0])
    sums = [whole.add_up(*part) for part in parts]
    firsts, seconds = (sum(each) for each in zip(*sums, strict=True))
    counts, centers = np.empty(n_components), np.empty((n_components, width))
    scatter = np.zeros((n_components, width, width))
    whole.settle((firsts, seconds), counts, centers, scatter)
    return counts, centers, scatter


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n_blocks", [1, 3])
def test_statistics(scale, n_blocks):
    values, states = draw_values(SCALES[scale])
    found = statistics([(values, states)], n_blocks)
    counts, means, scatter = exactly(values, states, n_blocks)
    deviations = np.sqrt(np.einsum("kdd->kd", scatter))
    assert_array_equal(found[0], counts)
    assert_allclose(found[1], means, rtol=1e-14, atol=1e-320)
    bounds = 1e-14 * deviations[:, :, np.newaxis] * deviations[:, np.newaxis] + 1e-318
    assert np.all(np.abs(found[2] - np.tril(scatter)) <= bounds)


@pytest.mark.parametrize("cuts", [[0], [100, 100], [7, 150, 299]])
def test_parts_and_orders(cuts):
    values, states = draw_values(np.array([1.0, 1e6, 1e-3]))
    whole = statistics([(values, states)])
    parts = list(zip(np.split(values, cuts), np.split(states, cuts), strict=True))
    order = np.random.default_rng(1).permutation(len(values))
    for found in (
        statistics(parts),
        statistics(parts[::-1]),
        statistics([(values[order], states[order])]),
    ):
        for mine, theirs in zip(found, whole, strict=True):
            assert_array_equal(mine, theirs)


def test_outliers_of_another_state():
    """They cost no digits of a state's own; and steps that are all alike have no scatter."""
    values, states = draw_values(np.ones(3))
    values[np.flatnonzero(states == 0)[0]] = 1e100
    _, means, scatter = exactly(values, states, 1)
    found = statistics([(values, states)])
    assert_allclose(found[1][1:3], means[1:3], rtol=1e-14)
    assert_allclose(found[2][1:3], np.tril(scatter)[1:3], rtol=1e-12)
    alike = statistics([(np.full((10, 2), 0.1), np.zeros(10, dtype=np.int64))])
    assert alike[0].tolist() == [10, 0, 0, 0]
    assert alike[1][0].tolist() == [0.1, 0.1]
    assert not alike[2].any()


def test_moments():
    values, _ = draw_values(np.array([1.0, 1e6, 1e-3]))
    values[5, 0] = values[9, 1] = np.nan
    ranges, mean, products = find_moments(InMemoryRows(values))
    assert_array_equal(ranges.numbers, (~np.isnan(values)).sum(axis=0))
    assert_allclose(mean, np.nanmean(values, axis=0), rtol=1e-12)
    known = np.nan_to_num(values - np.nanmean(values, axis=0))
    assert_allclose(products, known.T @ known, rtol=1e-10)
    for cuts in ([150], [0, 17, 200]):
        _, *found = find_moments(Parts(np.split(values, cuts)))
        assert_array_equal(found[0], mean)
        assert_array_equal(found[1], products)
