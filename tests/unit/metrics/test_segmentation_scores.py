import numpy as np
import pytest

from skdp.metrics import segmentation_scores


def test_by_hand():
    scores = segmentation_scores(
        [["the", "dog"], ["a", "dog", "ran"]], [["the", "dog"], ["a", "do", "gran"]]
    )
    assert scores.token_precision == 3 / 5
    assert scores.token_recall == 3 / 5
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


def test_texts_are_not_lists_of_words():
    with pytest.raises(TypeError, match=r"true\[0\] must be the list of its words, .*'a dog'"):
        segmentation_scores(["a dog"], ["ado g"])
    with pytest.raises(TypeError, match=r"predicted\[1\] must be the list .*'ado g': split it"):
        segmentation_scores([["a"], ["a", "dog"]], [["a"], "ado g"])
    with pytest.raises(TypeError, match=r"true\[0\] must be the list"):
        segmentation_scores("a dog", "a dog")


def test_other_strings():
    with pytest.raises(ValueError, match="as many strings, got 1 and 2"):
        segmentation_scores([["a"]], [["a"], ["b"]])
    with pytest.raises(ValueError, match="same letters: string 1 has not"):
        segmentation_scores([["a"], ["ab"]], [["a"], ["a", "c"]])
