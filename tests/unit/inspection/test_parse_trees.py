import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from skdp.data import check_sentences
from skdp.grammar import ParseTree
from skdp.inspection import ParseTreeDisplay

TEXTS = ["(S (NP he) (VP ran off))", "(S (NP (DT the) (NN cat)) (VP sat))", "(X $a$ $b$)"]
TREES = [ParseTree.from_brackets(text) for text in TEXTS]


class Flat(BaseEstimator):
    """Like a fitted grammar: every sentence is a flat tree of its word ids."""

    def fit(self, X, y=None):
        self.sentences_ = check_sentences(self, X, reset=True)
        return self

    def predict(self, X):
        sentences = check_sentences(self, X, reset=False)
        return [ParseTree("S0", [str(w) for w in sentence]) for sentence in sentences]


def texts_of(display, i=0):
    return [text.get_text() for text in display.texts_[i]]


def boxes_of(display, i=0):
    renderer = display.figure_.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in display.texts_[i]]


def test_texts_and_lines():
    display = ParseTreeDisplay(TREES[0]).plot()
    assert texts_of(display) == ["he", "NP", "ran", "off", "VP", "S"]
    styles = [text.get_style() for text in display.texts_[0]]
    assert styles == ["italic", "normal", "italic", "italic", "normal", "normal"]
    assert len(display.lines_[0].get_segments()) == 5
    assert display.titles_ == []
    assert not display.ax_.axison
    assert display.figure_ is display.ax_.figure


def test_lines_join_parents_and_children():
    display = ParseTreeDisplay(TREES[0]).plot()
    x = [text.get_position()[0] for text in display.texts_[0]]
    y = [text.get_position()[1] for text in display.texts_[0]]
    parents = [1, 5, 4, 4, 5]
    for i, (above, below) in enumerate(display.lines_[0].get_segments()):
        assert above[0] == x[parents[i]]
        assert below[0] == x[i]
        assert y[parents[i]] < above[1] < below[1] < y[i]


def test_several_trees():
    display = ParseTreeDisplay(TREES, names=["a", "b", "c"]).plot(n_columns=2)
    assert [texts_of(display, i)[-1] for i in range(3)] == ["S", "S", "X"]
    assert [title.get_text() for title in display.titles_] == ["a", "b", "c"]
    boxes = [box for i in range(3) for box in boxes_of(display, i)]
    renderer = display.figure_.canvas.get_renderer()
    boxes += [title.get_window_extent(renderer) for title in display.titles_]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert display.figure_.bbox.contains(*box.min)
        assert display.figure_.bbox.contains(*box.max)


def test_columns_suit_the_axes():
    """Side by side in a wide one, one above the other in a high one, as large as can be."""
    trees = [TREES[0]] * 4
    found = {}
    for shape in [(24, 2), (1, 12)]:
        sizes = {}
        for n_columns in (1, 2, 4, None):
            ax = plt.figure(figsize=shape).add_axes((0, 0, 1, 1))
            display = ParseTreeDisplay(trees).plot(ax, n_columns=n_columns)
            sizes[n_columns] = display.texts_[0][0].get_size()
            plt.close(ax.figure)
        roots = np.array([texts[-1].get_position() for texts in display.texts_])
        found[shape] = len(np.unique(roots[:, 0]))
        assert sizes.pop(None) == max(sizes.values())
    assert found == {(24, 2): 4, (1, 12): 1}


def test_dollars_are_no_formulas():
    display = ParseTreeDisplay(TREES[2]).plot()
    display.figure_.canvas.draw()
    assert texts_of(display) == ["$a$", "$b$", "X"]


@pytest.mark.parametrize("size", [(3.0, 1.5), (1.0, 4.0)])
def test_a_small_axes(size):
    """Texts get as small as the axes asks for, and do not overlap."""
    ax = plt.figure(figsize=size).add_axes((0, 0, 1, 1))
    display = ParseTreeDisplay(TREES[:2]).plot(ax)
    assert display.ax_ is ax
    boxes = boxes_of(display) + boxes_of(display, 1)
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_huge_tree():
    words = [f"word{i}" for i in range(2000)]
    display = ParseTreeDisplay(ParseTree("S", words)).plot()
    assert display.figure_.get_size_inches().max() == pytest.approx(30.0)
    assert display.texts_[0][0].get_size() < 5.0


def test_from_estimator():
    model = Flat().fit([[0, 1, 2], [2, 0]])
    display = ParseTreeDisplay.from_estimator(model, [[2, 0]])
    assert texts_of(display) == ["2", "0", "S0"]
    words = np.array(["the", "cat", "sat"])
    display = ParseTreeDisplay.from_estimator(
        model, [[2, 0], [1]], feature_names=words, names=["x", "y"], n_columns=2
    )
    assert texts_of(display) == ["sat", "the", "S0"]
    assert texts_of(display, 1) == ["cat", "S0"]
    with pytest.raises(ValueError, match="feature_names must hold 3 names, got 2"):
        ParseTreeDisplay.from_estimator(model, [[2, 0]], feature_names=words[:2])
    with pytest.raises(NotFittedError):
        ParseTreeDisplay.from_estimator(clone(model), [[2, 0]])


@pytest.mark.parametrize("trees", [[], ["(S a)"], [TREES[0], None]])
def test_no_trees(trees):
    with pytest.raises(ValueError, match="trees must be a ParseTree or several, got"):
        ParseTreeDisplay(trees)


def test_bad_arguments():
    with pytest.raises(ValueError, match="names must hold 2 names, got 1"):
        ParseTreeDisplay(TREES[:2], names=["a"])
    with pytest.raises(ValueError, match="n_columns must be an integer >= 1, got 0"):
        ParseTreeDisplay(TREES).plot(n_columns=0)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ParseTreeDisplay\.plot needs matplotlib"):
        ParseTreeDisplay(TREES).plot()


@pytest.mark.parametrize("letter", ["Щ", "‰", "Ж", "—", "W"])
def test_wide_letters_are_within_the_figure(letter):
    """A figure is as wide as its drawn texts, regardless of estimates."""
    tree = ParseTree("S", ["a", 30 * letter])
    display = ParseTreeDisplay([tree, tree], names=["one", 60 * letter]).plot(n_columns=1)
    display.figure_.canvas.draw()
    boxes = [*boxes_of(display), *boxes_of(display, 1)]
    boxes += [title.get_window_extent() for title in display.titles_]
    assert max(box.x1 for box in boxes) <= display.figure_.bbox.x1
    assert min(box.x0 for box in boxes) >= 0.0
