"""Pk and WindowDiff against pairs of units, one by one."""

import math

import numpy as np
import pytest

from skdp.metrics import pk, window_diff


def label_units(boundaries):
    """Return the number of the segment that each unit is in."""
    labels = [0]
    for boundary in boundaries:
        labels.append(labels[-1] + int(boundary))
    return labels


def misjudged(true, predicted, k):
    """Return P_k and WindowDiff, from the segments of units i and i + k."""
    true, predicted = label_units(true), label_units(predicted)
    together = apart = 0
    n = len(true) - k
    for i in range(n):
        together += (true[i] == true[i + k]) != (predicted[i] == predicted[i + k])
        apart += (true[i + k] - true[i]) != (predicted[i + k] - predicted[i])
    return together / n, apart / n


def draw(seed, n_gaps=30):
    rng = np.random.default_rng(seed)
    return rng.random(n_gaps) < 0.2, rng.random(n_gaps) < 0.3


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [1, 2, 5, 29, 30])
def test_against_pairs_of_units(seed, k):
    true, predicted = draw(seed)
    expected = misjudged(true, predicted, k)
    assert math.isclose(pk(true, predicted, k), expected[0])
    assert math.isclose(window_diff(true, predicted, k), expected[1])
    assert pk(true, predicted, k) <= window_diff(true, predicted, k)


@pytest.mark.parametrize(
    ("true", "k"),
    [
        ([0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0], 2),  # 12 units in 4 segments: 1.5, to even
        ([0] * 9, 5),  # 10 units in one segment
        ([1] * 9, 1),  # segments of one unit
        ([0], 1),
        ([0, 0], 2),
        ([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 3),
    ],
)
def test_default_distance_is_half_the_mean_segment(true, k):
    predicted = np.roll(true, 1)
    assert pk(true, predicted) == pk(true, predicted, k)
    assert window_diff(true, predicted) == window_diff(true, predicted, k)
    expected = misjudged(true, predicted, k)
    assert math.isclose(pk(true, predicted), expected[0])
    assert math.isclose(window_diff(true, predicted), expected[1])


def parse(text):
    return [int(digit) for digit in text]


def test_published_examples():
    """The values of NLTK's documentation."""
    first, second, third = map(parse, ("000100000010", "000010000100", "100000010000"))
    assert window_diff(first, first, 3) == 0.0
    assert math.isclose(window_diff(first, second, 3), 0.3)
    assert math.isclose(window_diff(second, third, 3), 0.8)
    true = parse("0100" * 100)
    assert round(pk(true, parse("1" * 400), 2), 2) == 0.5
    assert round(pk(true, parse("0" * 400), 2), 2) == 0.5
    assert pk(true, true, 2) == 0.0


def test_an_extra_boundary_beside_a_true_one():
    true, predicted = parse("0000010000"), parse("0000110000")
    assert pk(true, predicted, 4) == 1 / 7  # one pair that only the extra boundary parts
    assert window_diff(true, predicted, 4) == 4 / 7


def test_no_boundaries_and_all():
    none, every = np.zeros(20), np.ones(20)
    assert pk(none, every) == window_diff(none, every) == 1.0
    assert pk(none, none) == window_diff(every, every) == 0.0


@pytest.mark.parametrize("measure", [pk, window_diff])
@pytest.mark.parametrize(
    ("true", "predicted", "k", "message"),
    [
        ([], [], None, "true must be 1-D"),
        ([[0, 1]], [0, 1], None, "true must be 1-D"),
        ([0, 1], 1, None, "predicted must be 1-D"),
        ([0, 2], [0, 1], None, "true must hold only 0 and 1"),
        ([0, 1], [0.5, 1], None, "predicted must hold only 0 and 1"),
        ([0, np.nan], [0, 1], None, "true must hold only 0 and 1"),
        (["0", "1"], [0, 1], None, "true must hold only 0 and 1"),
        ([0, 1], [0, 1, 0], None, "predicted must have as many entries as true, 2"),
        ([0, 1], [0, 1], 0, "k must be an integer >= 1"),
        ([0, 1], [0, 1], 1.5, "k must be an integer >= 1"),
        ([0, 1], [0, 1], 3, "k must be at most 2"),
    ],
)
def test_wrong_arguments(measure, true, predicted, k, message):
    with pytest.raises(ValueError, match=message):
        measure(true, predicted, k)
