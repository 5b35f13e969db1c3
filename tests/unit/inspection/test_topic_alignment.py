import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import TopicAlignmentDisplay
from skdp.metrics import align_topics, hellinger_distance
from skdp.topics import SegmentedTopicModel

TOPICS = np.random.default_rng(0).dirichlet(np.full(8, 0.3), 4)
ORDER = [2, 0, 3, 1]


def ticks_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.fixture
def other(corpus):
    return SegmentedTopicModel(n_components=5, max_iter=10, random_state=1).fit(corpus)


def test_matched_topics_are_in_line():
    display = TopicAlignmentDisplay.from_components(TOPICS, TOPICS[ORDER])
    np.testing.assert_array_equal(display.row_topics_, range(4))
    np.testing.assert_array_equal(display.column_topics_, np.argsort(ORDER))
    np.testing.assert_array_equal(np.diag(display.distances), 0.0)
    np.testing.assert_array_equal(display.image_.get_array(), display.distances)
    assert display.image_.get_clim() == (0.0, 1.0)
    assert ticks_of(display.ax_.yaxis) == ["0", "1", "2", "3"]
    assert ticks_of(display.ax_.xaxis) == [str(k) for k in np.argsort(ORDER)]
    assert display.figure_ is display.ax_.figure
    assert display.colorbar_.mappable is display.image_


def test_topics_without_a_match_come_last():
    wide = TopicAlignmentDisplay.from_components(TOPICS[[3, 1]], TOPICS)
    np.testing.assert_array_equal(wide.column_topics_, [3, 1, 0, 2])
    assert wide.distances.shape == (2, 4)
    tall = TopicAlignmentDisplay.from_components(TOPICS, TOPICS[[3, 1]])
    np.testing.assert_array_equal(tall.row_topics_, [3, 1, 0, 2])
    np.testing.assert_array_equal(tall.column_topics_, [0, 1])
    np.testing.assert_array_equal(tall.distances, wide.distances.T)
    assert tall.ax_.get_xlabel() == tall.ax_.get_ylabel() == "topics"


def test_similarity():
    display = TopicAlignmentDisplay.from_components(TOPICS, TOPICS[ORDER], kind="similarity")
    np.testing.assert_array_equal(display.image_.get_array(), 1 - display.distances)
    assert display.colorbar_.ax.get_ylabel() == "1 - Hellinger distance"


def test_from_estimators(model, other):
    display = TopicAlignmentDisplay.from_estimators(model, other)
    order, distances = align_topics(model.components_, other.components_)
    np.testing.assert_array_equal(display.column_topics_[:3], order)
    np.testing.assert_allclose(np.diag(display.distances), distances)
    full = hellinger_distance(model.components_, other.components_)
    np.testing.assert_array_equal(display.distances, full[:, display.column_topics_])
    assert display.ax_.get_ylabel() == "SegmentedTopicModel"
    assert sorted(ticks_of(display.ax_.xaxis)) == list("01234")


def test_labels_of_top_words(model, other):
    names = [f"word{v}" for v in range(8)]
    display = TopicAlignmentDisplay.from_estimators(
        model, other, feature_names=names, names=("A", "B")
    )
    words = [", ".join(row) for row in model.top_words(names, 3)]
    assert ticks_of(display.ax_.yaxis) == [f"{k}: {row}" for k, row in enumerate(words)]
    words = [", ".join(row) for row in other.top_words(names, 3)]
    assert ticks_of(display.ax_.xaxis) == [f"{k}: {words[k]}" for k in display.column_topics_]
    assert {label.get_rotation() for label in display.ax_.xaxis.get_ticklabels()} == {90.0}
    assert display.ax_.get_ylabel() == "A"
    assert display.ax_.get_xlabel() == "B"


def test_values_in_cells():
    display = TopicAlignmentDisplay.from_components(TOPICS, TOPICS[ORDER])
    for (i, j), value in np.ndenumerate(display.distances):
        assert display.texts_[i, j].get_text() == f"{value:.2f}"
        assert display.texts_[i, j].get_position() == (j, i)
    colors = {text.get_color() for text in np.diag(display.texts_)}
    assert colors == {"white"}  # on the darkest cells
    assert display.plot(include_values=False).texts_ is None
    many = np.random.default_rng(0).dirichlet(np.ones(30), 13)
    assert TopicAlignmentDisplay.from_components(many, many).texts_ is None


def test_many_topics_keep_a_bounded_figure():
    many = np.random.default_rng(0).dirichlet(np.ones(30), 150)
    display = TopicAlignmentDisplay.from_components(many, many)
    assert max(display.figure_.get_size_inches()) < 14
    assert len(ticks_of(display.ax_.xaxis)) <= 75


def test_texts_do_not_overlap(model, other):
    display = TopicAlignmentDisplay.from_estimators(
        model, other, feature_names=[f"word{v}" for v in range(8)]
    )
    display.figure_.canvas.draw()
    texts = [*display.ax_.xaxis.get_ticklabels(), *display.ax_.yaxis.get_ticklabels()]
    texts += [display.ax_.xaxis.label, display.ax_.yaxis.label, *display.texts_.ravel()]
    boxes = [text.get_window_extent() for text in texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert display.figure_.bbox.padded(1).contains(box.x0, box.y0)
        assert display.figure_.bbox.padded(1).contains(box.x1, box.y1)


def test_given_axes_and_colors():
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = TopicAlignmentDisplay(hellinger_distance(TOPICS))
    assert display.plot(ax, cmap="viridis") is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.image_.get_cmap().name == "viridis"
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "angle"}, "kind must be 'distance' or 'similarity'"),
        ({"components": TOPICS[0]}, "2-D array"),
        ({"other": TOPICS[:, :3]}, "other must have as many columns"),
        ({"topic_names": ["a"]}, "topic_names must hold 4 names"),
        ({"other_topic_names": ["a"]}, "other_topic_names must hold 4 names"),
        ({"names": ["a"]}, "names must hold 2 names"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        TopicAlignmentDisplay.from_components(
            **{"components": TOPICS, "other": TOPICS[ORDER], **arguments}
        )
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("distances", "message"),
    [([0.5], "2-D array"), (np.empty((0, 2)), "2-D array"), ([[1.5]], r"in \[0, 1\]")],
)
def test_invalid_distances(distances, message):
    with pytest.raises(ValueError, match=message):
        TopicAlignmentDisplay(distances)


def test_unfitted(model):
    with pytest.raises(NotFittedError):
        TopicAlignmentDisplay.from_estimators(model, clone(model))


def test_without_matplotlib(monkeypatch, model):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"TopicAlignmentDisplay\.plot needs matplotlib"):
        TopicAlignmentDisplay([[0.5]]).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        TopicAlignmentDisplay.from_estimators(model, model)
