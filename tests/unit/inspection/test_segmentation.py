import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import SegmentationDisplay
from skdp.language import HierarchicalPitmanYorLM, NestedPitmanYorLM

TEXTS = ["thedog", "thecat", "adog", "acat", "thedogsawacat", "thecatsawthedog", "a"]
IDS = [[0, 1, 2, 0, 1], [2, 0, 1], [0, 1, 0, 1], [2, 2]]
PROBABILITIES = [0.1, 0.0, 0.9, 0.6, 0.2]


@pytest.fixture(scope="module")
def model():
    return NestedPitmanYorLM(
        max_iter=4, n_samples=2, n_chains=1, anneal=None, max_word_length=6, random_state=0
    ).fit(TEXTS)


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def words_of(display):
    """Return the characters whose middle is in each box."""
    words = []
    for path in display.boxes_.get_paths():
        box = path.get_extents()
        words.append(
            "".join(
                text.get_text()
                for text in display.texts_
                if box.x0 < text.get_position()[0] < box.x1
                and box.y0 < text.get_position()[1] < box.y1
            )
        )
    return words


def places_of(display, name):
    return np.round(display.marks_[name].get_xdata()).astype(int).tolist()


def test_words_and_bars():
    display = SegmentationDisplay("thedog", PROBABILITIES).plot()
    assert display.predicted.tolist() == [0, 0, 1, 1, 0]
    assert words_of(display) == ["the", "d", "og"]
    bars = display.bars_.get_segments()
    assert [bar[0][0] for bar in bars] == [1, 3, 4, 5]
    heights = np.array([bar[1][1] - bar[0][1] for bar in bars])
    np.testing.assert_allclose(heights / heights[1] * 0.9, [0.1, 0.9, 0.6, 0.2])
    assert labels_of(display) == ["probability of a cut"]
    assert display.marks_ == {}
    assert display.ax_.get_title(loc="left") == ""


def test_the_truth():
    display = SegmentationDisplay.from_predictions(
        "thedog", PROBABILITIES, [0, 0, 1, 1, 0], [0, 1, 1, 0, -1]
    )
    assert places_of(display, "true cut, found") == [3]
    assert places_of(display, "true cut, missed") == [2]
    assert places_of(display, "cut that is not true") == [4]
    assert display.ax_.get_title(loc="left") == "1 of 2 true cuts found, 1 others"
    assert len(labels_of(display)) == 4


def test_known_cuts():
    display = SegmentationDisplay("thedog", PROBABILITIES, known=[-1, 0, 1, -1, -1]).plot()
    assert places_of(display, "known: a cut") == [3]
    assert places_of(display, "known: no cut") == [2]
    both = SegmentationDisplay(
        "thedog", PROBABILITIES, true=["the", "dog"], known=[-1, 0, 1, -1, -1]
    ).plot()
    heights = {name: mark.get_ydata() for name, mark in both.marks_.items()}
    assert heights["known: a cut"][0] < heights["true cut, found"][0]


def test_words_stand_for_cuts():
    display = SegmentationDisplay("thedog", PROBABILITIES, ["th", "edog"], ["the", "dog"])
    assert display.predicted.tolist() == [0, 1, 0, 0, 0]
    assert display.true.tolist() == [0, 0, 1, 0, 0]


def test_lines():
    n = 200
    probabilities = np.zeros(n - 1)
    probabilities[4::5] = 1.0
    display = SegmentationDisplay("abcde" * 40, probabilities).plot(width=32)
    rows = {text.get_position()[1] for text in display.texts_}
    assert len(rows) == 7  # of 30 columns, where words end
    assert words_of(display) == ["abcde"] * 40
    assert max(text.get_position()[0] for text in display.texts_) < 30
    assert len(display.bars_.get_segments()) == 39


def test_a_word_in_two_lines():
    display = SegmentationDisplay("abcdefghij", np.zeros(9)).plot(width=6)
    assert words_of(display) == ["abcdef", "ghij"]


def test_characters_do_not_overlap():
    display = SegmentationDisplay("thedogmWWW" * 12, np.full(119, 0.3)).plot()
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.texts_]
    for left, right in pairwise(boxes):
        assert right.y0 != left.y0 or left.x1 <= right.x0 + 1.5  # pixels of anti-aliasing
    legend = display.legend_.get_window_extent()
    assert not any(legend.overlaps(box) for box in boxes)
    picture = display.figure_.bbox
    assert all(picture.x0 <= box.x0 and box.x1 <= picture.x1 for box in boxes)


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
def test_combining_and_wide_characters():
    text = "cafe\N{COMBINING ACUTE ACCENT}日本$x$ \n"
    display = SegmentationDisplay(text, np.full(len(text) - 1, 0.2)).plot()
    display.figure_.draw_without_rendering()
    drawn = [t.get_text() for t in display.texts_]
    assert drawn == [*"caf", "e\N{COMBINING ACUTE ACCENT}", *"日本$x$␣␣"]
    ends = [bar[0][0] for bar in display.bars_.get_segments()]
    assert ends == [1, 2, 3, 3.6, 4, 6, 8, 9, 10, 11, 12]


def test_one_character():
    display = SegmentationDisplay("a", []).plot()
    assert words_of(display) == ["a"]
    assert display.predicted.shape == (0,)
    assert len(display.bars_.get_segments()) == 0
    assert SegmentationDisplay("a", [], ["a"], ["a"]).true.shape == (0,)


def test_from_estimator(model):
    y = [0, 0, 1, 0, 0]
    display = SegmentationDisplay.from_estimator(model, TEXTS, y)
    np.testing.assert_array_equal(display.probabilities, model.predict_proba(TEXTS[:1])[0])
    assert words_of(display) == model.predict(TEXTS[:1])[0]
    assert display.true.tolist() == y
    display = SegmentationDisplay.from_estimator(model, np.array(TEXTS), sample=4, width=40)
    assert words_of(display) == model.predict(TEXTS[4:5])[0]
    display = SegmentationDisplay.from_estimator(model, TEXTS, sample=6)
    assert words_of(display) == ["a"]


def test_from_ids():
    model = NestedPitmanYorLM(
        max_iter=4, n_samples=2, n_chains=1, anneal=None, max_word_length=3, random_state=0
    ).fit(IDS)
    display = SegmentationDisplay.from_estimator(model, IDS, sample=1)
    assert display.characters == ["2", "0", "1"]
    display = SegmentationDisplay.from_estimator(
        model, IDS, sample=1, feature_names=["ka", "ri", "n"]
    )
    assert display.characters == ["n", "ka", "ri"]
    words = model.predict(IDS[1:2])[0]
    assert [len(word) for word in words_of(display)] == [
        sum(len(["ka", "ri", "n"][i]) for i in word) for word in words
    ]
    with pytest.raises(ValueError, match="feature_names must hold 3 names, got 1"):
        SegmentationDisplay.from_estimator(model, IDS, feature_names=["ka"])


def test_an_array_of_ids():
    X = np.array([[0, 1, 2, 0], [2, 0, 1, 1], [0, 1, 0, 1]])
    model = NestedPitmanYorLM(
        max_iter=4, n_samples=2, n_chains=1, anneal=None, max_word_length=3, random_state=0
    ).fit(X)
    assert SegmentationDisplay.from_estimator(model, X, sample=1).characters == list("2011")
    frame = pd.DataFrame(X)
    display = SegmentationDisplay.from_estimator(model, frame, sample=2, width=30)
    assert display.characters == list("0101")


def test_empty_string(model):
    with pytest.raises(ValueError, match="must be 1 to 5000 characters, got 0"):
        SegmentationDisplay.from_estimator(model, ["", "thedog"])


def test_given_axes():
    figure, axes = plt.subplots(2, layout="constrained")
    display = SegmentationDisplay.from_predictions("thedog", PROBABILITIES, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", []), "must be 1 to 5000 characters, got 0"),
        (("a" * 5001, np.zeros(5000)), "got 5001: choose a part of the text"),
        (("thedog", [0.5]), "for each of the 5 places between 6 characters"),
        (("thedog", [0.1, 0.2, 1.1, 0.0, 0.0]), r"a number in \[0, 1\]"),
        (("thedog", [0.1, 0.2, np.nan, 0.0, 0.0]), r"a number in \[0, 1\]"),
        (("thedog", "?"), "probabilities must hold real numbers"),
        (("thedog", PROBABILITIES, [1, 0]), "predicted must hold 1, 0 for each of the 5 places"),
        (("thedog", PROBABILITIES, [-1, 0, 0, 0, 1]), "predicted must hold 1, 0 for each"),
        (("thedog", PROBABILITIES, None, [2, 0, 0, 0, 1]), "true must hold 1, 0, -1 for each"),
        (("thedog", PROBABILITIES, None, ["a", "dog"]), "true must hold the words of the text"),
        ((["a", "b"], [0.5], ["ab"]), "predicted must hold the words of the text"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        SegmentationDisplay(*arguments)


def test_invalid_keywords(model):
    with pytest.raises(ValueError, match="known must hold 1, 0, -1 for each"):
        SegmentationDisplay("thedog", PROBABILITIES, known=[1])
    with pytest.raises(ValueError, match="width must be an integer >= 1"):
        SegmentationDisplay("thedog", PROBABILITIES).plot(width=0)
    with pytest.raises(ValueError, match="sample must be below the number of strings in X, 7"):
        SegmentationDisplay.from_estimator(model, TEXTS, sample=7)
    with pytest.raises(ValueError, match="sample must be an integer >= 0"):
        SegmentationDisplay.from_estimator(model, TEXTS, sample=-1)
    with pytest.raises(ValueError, match="X must be a list of strings, got one string"):
        SegmentationDisplay.from_estimator(model, "thedog")
    with pytest.raises(ValueError, match="feature_names are names of ids, but X holds strings"):
        SegmentationDisplay.from_estimator(model, TEXTS, feature_names=["a"])
    with pytest.raises(NotFittedError):
        SegmentationDisplay.from_estimator(clone(model), TEXTS)
    other = HierarchicalPitmanYorLM(1, max_iter=2, random_state=0).fit([[0, 1]])
    with pytest.raises(TypeError, match="must be a NestedPitmanYorLM, got HierarchicalPitman"):
        SegmentationDisplay.from_estimator(other, [[0, 1]])


def test_without_matplotlib(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"SegmentationDisplay\.plot needs matplotlib"):
        SegmentationDisplay("thedog", PROBABILITIES).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        SegmentationDisplay.from_estimator(model, TEXTS)
