import sys
from copy import copy

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import SegmentMixingDisplay
from skdp.topics import AdaptiveTopicModel

WEIGHTS = np.array([1.0, 0.3, 0.6, 1.0, 0.1, 0.2, 0.9, 0.5, 1.0])


@pytest.fixture
def mixed(model):
    """Return a model as an adaptive one would be, with known weights."""
    estimator = copy(model)
    estimator.segment_mixing_ = WEIGHTS
    estimator.mixing_prior = (1.0, 3.0)
    return estimator


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def height_at(area, place):
    x, y = area.get_paths()[0].vertices.T
    return np.ptp(y[np.isclose(x, place)])


@pytest.mark.parametrize("document", [0, 1, 2])
def test_from_estimator(mixed, corpus, document):
    display = SegmentMixingDisplay.from_estimator(mixed, corpus, document=document)
    begin, end = corpus.doc_ptr[document : document + 2]
    np.testing.assert_array_equal(display.segment_mixing, WEIGHTS[begin:end])
    assert display.prior_mean == 0.25
    assert set(display.line_.get_ydata()) == {0.25}
    assert labels_of(display) == ["the document", "the segment before", "prior mean"]
    assert display.figure_ is display.ax_.figure


def test_of_a_fit(corpus):
    estimator = AdaptiveTopicModel(3, mixing_prior=(3.0, 1.0), max_iter=6, random_state=0)
    display = SegmentMixingDisplay.from_estimator(estimator.fit(corpus), corpus, document=None)
    np.testing.assert_array_equal(display.segment_mixing, estimator.segment_mixing_)
    np.testing.assert_array_equal(display.segment_mixing[[0, 3, 8]], 1.0)  # first segments
    assert display.prior_mean == 0.75


def test_all_documents(mixed, corpus):
    display = SegmentMixingDisplay.from_estimator(
        mixed, list(corpus), document=None, part_names=["I", "II", "III", "IV"]
    )
    np.testing.assert_array_equal(display.segment_mixing, WEIGHTS)
    assert display.boundaries.tolist() == [3, 8]
    assert display.part_names == ["I", "II", "III"]


def test_columns():
    display = SegmentMixingDisplay.from_weights([0.25, 0.25, 0.75])
    below, above = display.areas_
    assert height_at(below, 0.5) == pytest.approx(0.25)
    assert height_at(above, 0.5) == pytest.approx(0.75)
    assert height_at(below, 3.5) == pytest.approx(0.75)
    assert height_at(above, 3.5) == pytest.approx(0.25)
    assert display.line_ is None
    assert labels_of(display) == ["the document", "the segment before"]
    assert display.ax_.get_xlim() == (0.5, 3.5)
    assert display.ax_.get_ylim() == (0, 1)


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = SegmentMixingDisplay(WEIGHTS, prior_mean=0.5)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == before


def test_corpus_of_another_fit(mixed, corpus):
    with pytest.raises(ValueError, match="with 9 segments in all; got 8 segments"):
        SegmentMixingDisplay.from_estimator(mixed, corpus[:2])


@pytest.mark.parametrize(
    ("document", "message"), [(4, "document must be below"), (3, "document 3 has")]
)
def test_document_out_of_range(mixed, corpus, document, message):
    with pytest.raises(ValueError, match=message):
        SegmentMixingDisplay.from_estimator(mixed, corpus, document=document)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"segment_mixing": []}, "1-D array of weights"),
        ({"segment_mixing": [WEIGHTS]}, "1-D array of weights"),
        ({"segment_mixing": 2 * WEIGHTS}, r"weights in \[0, 1\]"),
        ({"segment_mixing": np.nan * WEIGHTS}, r"weights in \[0, 1\]"),
        ({"prior_mean": 1.5}, "prior_mean must be in"),
        ({"boundaries": [9]}, "boundaries must hold increasing integers"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        SegmentMixingDisplay.from_weights(**{"segment_mixing": WEIGHTS, **arguments})
    assert plt.get_fignums() == before


def test_models_without_weights(model, corpus):
    with pytest.raises(
        TypeError, match="a fitted SegmentedTopicModel, which has no segment_mixing_"
    ):
        SegmentMixingDisplay.from_estimator(model, corpus)
    with pytest.raises(NotFittedError):
        SegmentMixingDisplay.from_estimator(clone(model), corpus)


def test_without_matplotlib(monkeypatch, mixed, corpus):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"SegmentMixingDisplay\.plot needs matplotlib"):
        SegmentMixingDisplay(WEIGHTS).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        SegmentMixingDisplay.from_estimator(mixed, corpus)
