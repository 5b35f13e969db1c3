import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdp.inspection import TopicTreeDisplay
from skdp.topics import GibbsLDA, SegmentedTopicModel

LINKAGE = np.array([[0.0, 2.0, 0.1, 2.0], [1.0, 3.0, 0.4, 3.0]])


def labels_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_lines_join_topics_at_their_losses():
    display = TopicTreeDisplay(LINKAGE, names=["a", "b", "$c$"]).plot()
    heights = {name: i for i, name in enumerate(labels_of(display))}
    assert labels_of(display) == [["a", "b", "$c$"][k] for k in display.leaves_]
    assert abs(heights["a"] - heights["$c$"]) == 1
    assert sorted(line[:, 0].max() for line in display.lines_.get_segments()) == [0.1, 0.4]
    first = next(line for line in display.lines_.get_segments() if line[:, 0].max() == 0.1)
    places = dict(zip(labels_of(display), display.ax_.get_yticks(), strict=True))
    assert set(first[:, 1]) == {places["a"], places["$c$"]}
    assert display.figure_ is display.ax_.figure


def test_from_estimator(model, corpus):
    names = [f"word{v}" for v in range(8)]
    _, ax = plt.subplots()
    display = TopicTreeDisplay.from_estimator(model, feature_names=names, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.linkage, model.topic_tree().linkage)
    words = [", ".join(row) for row in model.top_words(names, 3)]
    assert labels_of(display) == [f"{k}: {words[k]}" for k in display.leaves_]


def test_many_topics_are_merged_first(corpus):
    fine = SegmentedTopicModel(60, max_iter=3, random_state=0).fit(corpus)
    assert len(TopicTreeDisplay.from_estimator(fine).leaves_) == 40
    display = TopicTreeDisplay.from_estimator(fine, n_topics=7)
    assert labels_of(display) == [str(k) for k in display.leaves_]
    np.testing.assert_array_equal(display.linkage, fine.reduce_topics(7).topic_tree().linkage)


def test_bad_arguments(model):
    with pytest.raises(ValueError, match="linkage must be a linkage matrix"):
        TopicTreeDisplay(np.ones((2, 4)))
    with pytest.raises(ValueError, match="names"):
        TopicTreeDisplay(LINKAGE, names=["a"])
    with pytest.raises(ValueError, match="at least two topics"):
        TopicTreeDisplay.from_estimator(model, n_topics=1)
    with pytest.raises(ValueError, match="at most the number of topics, 3, got 4"):
        TopicTreeDisplay.from_estimator(model, n_topics=4)
    with pytest.raises(NotFittedError):
        TopicTreeDisplay.from_estimator(GibbsLDA())
    with pytest.raises(ValueError, match="needs the shares of topics"):
        TopicTreeDisplay.from_estimator(GibbsLDA.from_topics(np.eye(3), doc_topic_prior=1.0))


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"TopicTreeDisplay\.plot needs matplotlib"):
        TopicTreeDisplay(LINKAGE).plot()
