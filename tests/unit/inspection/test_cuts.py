"""Cuts in the plots along documents: probabilities, true cuts, and parts of a corpus."""

import numpy as np
import pytest

from skdp.data import SegmentedCorpus
from skdp.inspection import HellingerDisplay, SegmentMixingDisplay, TopicEvolutionDisplay
from skdp.inspection._segments import find_cuts
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, TopicSegmenter

X = SegmentedCorpus.from_documents(
    [[[0, 1, 0, 1]] * 4 + [[2, 3, 2, 3]] * 4, [[2, 3]] * 3, [[0, 1]]], n_features=4
)
SHARES = np.tile([0.3, 0.7], (4, 1))
BOTH = [TopicEvolutionDisplay, HellingerDisplay]
every_display = pytest.mark.parametrize("display", BOTH)


@pytest.fixture(scope="module")
def segmenter():
    return TopicSegmenter(2, concentration=5.0, max_iter=60, random_state=0).fit(X)


def heights_of(display):
    lines, *_ = find_cuts(display.ax_)
    return [(x[0][0], x[1][1]) for x in lines.get_segments()]


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


@every_display
def test_probabilities_are_heights(display, segmenter):
    drawn = display.from_estimator(segmenter, X, document=0, true_cuts=[4])
    expected = segmenter.predict_proba(X[:1])[0]
    np.testing.assert_array_equal(drawn.cut_proba, expected)
    np.testing.assert_allclose(heights_of(drawn), np.column_stack([np.arange(7) + 1.5, expected]))
    assert expected[3] > 0.9  # or there would be nothing to see
    _, marks = find_cuts(drawn.ax_)
    assert marks.get_offsets()[:, 0].tolist() == [4.5]
    assert labels_of(drawn)[-2:] == ["probability of a cut", "true cut"]


def test_given_topics():
    topics = [[0.49, 0.49, 0.01, 0.01], [0.01, 0.01, 0.49, 0.49]]
    model = TopicSegmenter.from_topics(topics, doc_topic_prior=0.5, concentration=5.0)
    drawn = TopicEvolutionDisplay.from_estimator(model, X, document=0)
    assert drawn.cut_proba[3] > 0.9


@every_display
def test_gaps_between_documents_have_none(display, segmenter):
    drawn = display.from_estimator(segmenter, X, document=None)
    assert np.flatnonzero(np.isnan(drawn.cut_proba)).tolist() == [7, 10]
    assert [height for _, height in heights_of(drawn)][7] == 0.0


@every_display
def test_given_cuts(display):
    drawn = display.from_predictions(SHARES, cut_proba=[0.1, np.nan, 1.0], true_cuts=[])
    assert heights_of(drawn) == [(1.5, 0.1), (2.5, 0.0), (3.5, 1.0)]
    assert drawn.true_cuts.tolist() == []


@every_display
def test_nothing_is_drawn_of_other_models(display):
    model = SegmentedTopicModel(2, max_iter=4, random_state=0).fit(X)
    drawn = display.from_estimator(model, X, document=0)
    assert drawn.cut_proba is drawn.true_cuts is None
    assert find_cuts(drawn.ax_) == []


def test_kinds(segmenter):
    drawn = TopicEvolutionDisplay.from_estimator(segmenter, X, document=0, kind="bar")
    assert drawn.cut_proba is None
    assert TopicEvolutionDisplay.from_estimator(segmenter, X, document=0).areas_ is not None
    assert drawn.plot(kind="area").plot(kind="bar").bars_ is not None
    with pytest.raises(ValueError, match="kind='bar' shows no cuts"):
        TopicEvolutionDisplay.from_predictions(SHARES, true_cuts=[1], kind="bar")
    with pytest.raises(ValueError, match="kind='bar' shows no cuts"):
        TopicEvolutionDisplay.from_estimator(segmenter, X, true_cuts=[4], kind="bar")


@every_display
def test_a_second_plot_names_them_once(display, segmenter):
    drawn = display.from_estimator(segmenter, X, document=0, true_cuts=[4])
    labels = labels_of(drawn)
    again = (
        drawn.plot(drawn.ax_) if display is HellingerDisplay else drawn.plot(drawn.ax_, kind="step")
    )
    assert [label for label in labels_of(again) if "cut" in label] == labels[-2:]


def test_models_in_one_plot_share_the_labels(segmenter):
    first = HellingerDisplay.from_estimator(segmenter, X, document=0, true_cuts=[4])
    other = HellingerDisplay.from_estimator(segmenter, X, document=0, name="B", ax=first.ax_)
    assert labels_of(other)[2:] == ["probability of a cut", "true cut"]


@pytest.mark.parametrize("display", [*BOTH, SegmentMixingDisplay])
def test_a_divided_corpus_has_its_own_boundaries(display):
    divided = X.with_parts([[3], [2], []])
    model = AdaptiveTopicModel(2, max_iter=4, random_state=0).fit(divided)
    drawn = display.from_estimator(model, divided, document=1)
    assert drawn.boundaries.tolist() == [2]
    drawn = display.from_estimator(model, divided, document=0, boundaries=[5])
    assert drawn.boundaries.tolist() == [5]
    drawn = display.from_estimator(model, divided, document=None)
    assert drawn.boundaries.tolist() == [8, 11]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cut_proba": [0.1]}, r"cut_proba must have shape \(3,\)"),
        ({"cut_proba": [0.1, 0.2, 1.5]}, r"cut_proba must hold probabilities in \[0, 1\]"),
        ({"true_cuts": [0]}, "true_cuts must hold increasing integers between 0 and 4"),
        ({"true_cuts": [4]}, "true_cuts must hold increasing integers between 0 and 4"),
    ],
)
@every_display
def test_bad_input(display, given, message):
    with pytest.raises(ValueError, match=message):
        display.from_predictions(SHARES, **given)


@every_display
def test_true_cuts_are_those_of_one_document(display, segmenter):
    with pytest.raises(ValueError, match="true_cuts must not be given if document is None"):
        display.from_estimator(segmenter, X, document=None, true_cuts=[4])
