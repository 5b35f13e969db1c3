"""Pk and WindowDiff against pairs of units, one by one; scores of strings cut into words."""

import math

import numpy as np
import pytest

from skdp.metrics import pk, segmentation_scores, window_diff


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


@pytest.mark.parametrize("k", [1, 2, 5, 29, 30])
def test_against_pairs_of_units(k):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        true, predicted = rng.random(30) < 0.2, rng.random(30) < 0.3
        found = pk(true, predicted, k), window_diff(true, predicted, k)
        assert found == pytest.approx(misjudged(true, predicted, k))
        assert found[0] <= found[1]


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
    found = pk(true, predicted), window_diff(true, predicted)
    assert found == (pk(true, predicted, k), window_diff(true, predicted, k))
    assert found == pytest.approx(misjudged(true, predicted, k))


def parse(text):
    return [int(digit) for digit in text]


def test_examples():
    """The values of NLTK's documentation; an extra boundary; no boundaries, and all of them."""
    first, second, third = map(parse, ("000100000010", "000010000100", "100000010000"))
    assert window_diff(first, first, 3) == 0.0
    assert math.isclose(window_diff(first, second, 3), 0.3)
    assert math.isclose(window_diff(second, third, 3), 0.8)
    true = parse("0100" * 100)
    assert round(pk(true, parse("1" * 400), 2), 2) == 0.5
    assert round(pk(true, parse("0" * 400), 2), 2) == 0.5
    assert pk(true, true, 2) == 0.0
    true, predicted = parse("0000010000"), parse("0000110000")
    assert pk(true, predicted, 4) == 1 / 7  # one pair that only the extra boundary parts
    assert window_diff(true, predicted, 4) == 4 / 7
    none, every = np.zeros(20), np.ones(20)
    assert pk(none, every) == window_diff(none, every) == 1.0
    assert pk(none, none) == window_diff(every, every) == 0.0


# Words


def test_words_by_hand():
    true, predicted = [["the", "dog"], ["a", "dog", "ran"]], [["the", "dog"], ["a", "do", "gran"]]
    scores = segmentation_scores(true, predicted)
    assert scores.token_precision == scores.token_recall == 3 / 5
    assert scores.token_f == pytest.approx(3 / 5)
    assert (scores.boundary_precision, scores.boundary_recall) == (2 / 3, 2 / 3)
    assert (scores.type_precision, scores.type_recall) == (3 / 5, 3 / 4)
    assert scores.type_f == pytest.approx(2 / 3)


def test_perfect_and_empty():
    assert set(segmentation_scores([["ab"], []], [["ab"], []])) == {1.0}
    assert segmentation_scores([["ab"]], [["a", "b"]]).boundary_precision == 0.0
    assert segmentation_scores([["ab"]], [["a", "b"]]).boundary_recall == 0.0
    assert segmentation_scores([["a", "b"]], [["ab"]]).boundary_f == 0.0
    assert segmentation_scores([["a", "b"]], [["ab"]]).token_f == 0.0


def test_ids():
    true = [[np.array([0, 1]), np.array([2])]]
    assert segmentation_scores(true, [[[0, 1], (2,)]]).token_f == 1.0
    assert segmentation_scores(true, [[[0], [1, 2]]]).type_f == 0.0
