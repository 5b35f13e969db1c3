import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.data import TokenSequences
from skdp.inspection import PerplexityDisplay
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, NestedPitmanYorLM

TRAIN = TokenSequences.from_sequences([[0, 1, 2], [0, 1, 1, 2], [0, 2], [0, 1, 2]], 3)
TEST = [[0, 1, 2], [0, 2]]


@pytest.fixture(scope="module")
def kneser_ney():
    return [KneserNeyLM(order, discount=0.5).fit(TRAIN) for order in (3, 1, 2)]


@pytest.fixture(scope="module")
def pitman_yor():
    return [
        HierarchicalPitmanYorLM(order, max_iter=4, random_state=0).fit(TRAIN) for order in (1, 2)
    ]


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_one_line_a_class(kneser_ney, pitman_yor):
    display = PerplexityDisplay.from_estimators([*kneser_ney, *pitman_yor], TEST)
    assert labels_of(display) == ["KneserNeyLM", "HierarchicalPitmanYorLM"]
    first, second = display.lines_
    assert first.get_xdata().tolist() == [1, 2, 3]
    expected = [kneser_ney[i].perplexity(TEST) for i in (1, 2, 0)]
    np.testing.assert_array_equal(first.get_ydata(), expected)
    assert second.get_xdata().tolist() == [1, 2]
    assert display.ax_.get_xticks().tolist() == [1, 2, 3]
    assert display.ax_.get_xlabel() == "order"
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()


def test_labels_make_lines(kneser_ney):
    display = PerplexityDisplay.from_estimators(kneser_ney, TEST, labels=["a", "b", "b"])
    assert {label: list(curve) for label, curve in display.perplexities.items()} == {
        "a": [3],
        "b": [1, 2],
    }


def test_a_dict(kneser_ney, pitman_yor):
    display = PerplexityDisplay.from_estimators({"many": kneser_ney, "$one$": pitman_yor[1]}, TEST)
    assert labels_of(display) == ["many", "$one$"]
    display.figure_.draw_without_rendering()
    assert list(display.perplexities["$one$"]) == [2]


def test_one_order(kneser_ney):
    display = PerplexityDisplay.from_estimators(kneser_ney[0], TEST)
    assert display.ax_.get_xticks().tolist() == [3]
    assert display.ax_.get_xlim() == (2.0, 4.0)
    assert display.lines_[0].get_marker() == "o"


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    display = PerplexityDisplay({"a": {2: 90, 1: 100.0}}).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.lines_[0].get_xydata().tolist() == [[1, 100], [2, 90]]
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("perplexities", "message"),
    [
        ({}, "perplexities must be a dict of labels"),
        ([1.0, 2.0], "perplexities must be a dict of labels"),
        ({"a": []}, "perplexities of 'a' must be a dict of orders"),
        ({"a": {}}, "perplexities of 'a' must be a dict of orders"),
        ({"a": {0: 1.0}}, "an order must be an integer >= 1"),
        ({"a": {1: 0.0}}, "perplexities of 'a' must be positive numbers, got 0.0"),
        ({"a": {1: np.nan}}, "perplexities of 'a' must be positive numbers, got nan"),
        ({"a": {1: "x"}}, "perplexities of 'a' must be positive numbers, got 'x'"),
    ],
)
def test_invalid_perplexities(perplexities, message):
    with pytest.raises(ValueError, match=message):
        PerplexityDisplay(perplexities)


def test_invalid_estimators(kneser_ney):
    show = PerplexityDisplay.from_estimators
    one = kneser_ney[0]
    with pytest.raises(ValueError, match="at least one fitted language model"):
        show([], TEST)
    with pytest.raises(NotFittedError):
        show([one, clone(one).set_params(order=1)], TEST)
    with pytest.raises(ValueError, match="two models of order 3 are labeled 'KneserNeyLM'"):
        show([one, one], TEST)
    with pytest.raises(ValueError, match="labels must hold 2 names, one for each estimator, got 1"):
        show([one, one], TEST, labels=["a"])
    with pytest.raises(ValueError, match="labels are the keys of estimators"):
        show({"a": one}, TEST, labels=["a"])
    with pytest.raises(
        TypeError, match=r"must be language models with an order.* got NestedPitman"
    ):
        show(NestedPitmanYorLM(), TEST)
    with pytest.raises(TypeError, match=r"must be language models with an order.* got str"):
        show("models", TEST)


def test_models_that_cannot_be_compared(kneser_ney):
    show = PerplexityDisplay.from_estimators
    other = KneserNeyLM(1, discount=0.5).fit([[0, 3]])
    with pytest.raises(ValueError, match=r"vocabularies of different sizes .* is 3 or 4"):
        show([kneser_ney[0], other], TEST)
    endless = KneserNeyLM(1, discount=0.5, end_of_sequence=False).fit(TRAIN)
    with pytest.raises(ValueError, match=r"whether ends of sentences count .* is False or True"):
        show([kneser_ney[0], endless], TEST)


def test_invalid_data(kneser_ney):
    with pytest.raises(ValueError, match="TokenVectorizer"):
        PerplexityDisplay.from_estimators(kneser_ney, [[0, 7]])
    endless = KneserNeyLM(1, discount=0.5, end_of_sequence=False).fit(TRAIN)
    with pytest.raises(ValueError, match="X has no words to score"):
        PerplexityDisplay.from_estimators(endless, [[]])
    assert plt.get_fignums() == []


def test_without_matplotlib(monkeypatch, kneser_ney):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"PerplexityDisplay\.plot needs matplotlib"):
        PerplexityDisplay({"a": {1: 2.0}}).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        PerplexityDisplay.from_estimators(kneser_ney, TEST)
