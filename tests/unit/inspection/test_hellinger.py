import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import HellingerDisplay
from skdp.inspection._axes import PALETTE
from skdp.metrics import hellinger_to_document, hellinger_to_previous

SHARES = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
MEANS = np.array([[0.4, 0.6], [0.7, 0.3]])
PTR = [0, 2, 5]


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


@pytest.mark.parametrize("document", [0, 1])
def test_from_estimator(model, corpus, document):
    display = HellingerDisplay.from_estimator(model, corpus, document=document, to="both")
    mu, nu = model.transform(corpus), model.transform_segments(corpus)
    begin, end = corpus.doc_ptr[document : document + 2]
    previous = hellinger_to_previous(nu, corpus)[begin:end]
    to_document = hellinger_to_document(mu, nu, corpus)[begin:end]
    for line, values in zip(display.lines_, [previous, to_document], strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, end - begin + 1))
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert labels_of(display) == [
        f"SegmentedTopicModel: to previous (mean {previous[1:].mean():.2f})",
        f"SegmentedTopicModel: to document (mean {to_document.mean():.2f})",
    ]
    assert [line.get_linestyle() for line in display.lines_] == ["-", "--"]
    assert len({line.get_color() for line in display.lines_}) == 1
    assert display.figure_ is display.ax_.figure


def test_all_documents(model, corpus):
    display = HellingerDisplay.from_estimator(
        model, corpus, document=None, part_names=["I", "II", "III", "IV"]
    )
    np.testing.assert_array_equal(display.boundaries, [3, 8])
    assert np.flatnonzero(np.isnan(display.to_previous)).tolist() == [0, 3, 8]
    assert display.part_names == ["I", "II", "III"]
    assert len(display.lines_) == 1


def test_of_a_matrix_of_counts(model, corpus):
    display = HellingerDisplay.from_estimator(model, corpus.to_bow(), document=1, to="document")
    assert display.to_document.shape == (1,)


def test_from_predictions():
    display = HellingerDisplay.from_predictions(SHARES, doc_topic=MEANS, doc_ptr=PTR)
    np.testing.assert_array_equal(display.to_previous, hellinger_to_previous(SHARES, PTR))
    np.testing.assert_array_equal(display.to_document, hellinger_to_document(MEANS, SHARES, PTR))
    assert display.boundaries.tolist() == [2]
    assert labels_of(display) == [f"to previous (mean {np.nanmean(display.to_previous):.2f})"]


def test_from_predictions_of_one_document():
    display = HellingerDisplay.from_predictions(SHARES, doc_topic=MEANS[0], boundaries=[2])
    assert np.flatnonzero(np.isnan(display.to_previous)).tolist() == [0]
    expected = hellinger_to_document(MEANS[:1], SHARES, [0, 5])
    np.testing.assert_array_equal(display.to_document, expected)
    assert display.boundaries.tolist() == [2]


def test_takes_a_corpus_for_its_offsets(model, corpus):
    display = HellingerDisplay.from_predictions(model.segment_topic_, doc_ptr=corpus)
    assert display.boundaries.tolist() == [3, 8]


def test_several_models_in_one_axes():
    first = HellingerDisplay.from_predictions(SHARES, name="A", boundaries=[2])
    n_marks = len(first.ax_.collections)
    second = HellingerDisplay.from_predictions(
        SHARES[::-1] ** 2, name="B", boundaries=[2], ax=first.ax_
    )
    assert second.ax_ is first.ax_
    assert len(first.ax_.lines) == 2
    assert len(first.ax_.collections) == n_marks
    colors = [to_hex(line.get_color()).upper() for line in first.ax_.lines]
    assert colors == PALETTE[:2]
    assert [label[:2] for label in labels_of(second)] == ["A:", "B:"]
    top = max(np.nanmax(line.get_ydata()) for line in first.ax_.lines)
    assert first.ax_.get_ylim()[0] == 0.0
    assert first.ax_.get_ylim()[1] >= top


def test_line_keywords_and_name():
    display = HellingerDisplay(SHARES[:, 0])
    assert display.plot(name="C", line_kw={"color": "black", "linestyle": ":"}) is display
    assert display.lines_[0].get_color() == "black"
    assert display.lines_[0].get_linestyle() == ":"
    assert labels_of(display)[0].startswith("C: ")


def test_lone_segments_are_seen():
    values = np.full(100, 0.5)
    values[[3, 5, 50]] = np.nan
    (line,) = HellingerDisplay(values).plot().lines_
    assert line.get_marker() == "o"
    assert list(line.get_markevery()) == [4]


def test_document_is_drawn_if_it_is_all_there_is():
    display = HellingerDisplay(to_document=[0.2, 0.4]).plot()
    assert labels_of(display) == ["to document (mean 0.30)"]


def test_zero_distances():
    display = HellingerDisplay.from_predictions(SHARES[[0, 0, 0]])
    assert display.ax_.get_ylim() == (0.0, 1.0)


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = HellingerDisplay.from_predictions(SHARES, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": "next"}, "to must be 'previous', 'document' or 'both'"),
        ({"to": "document"}, "needs distances to_document"),
        ({"to": "both"}, "needs distances to_document"),
        ({"segment_topic": SHARES[:1]}, "no segment has a distance to_previous"),
        ({"segment_topic": SHARES[0]}, "2-D array"),
        ({"segment_topic": -SHARES}, "segment_topic must hold finite numbers >= 0"),
        ({"doc_topic": MEANS}, "doc_topic must have a row for each"),
        ({"doc_topic": MEANS[0], "doc_ptr": PTR}, "doc_topic must be a 2-D array"),
        ({"doc_ptr": [0, 2]}, "doc_ptr must rise from 0 to 5"),
        ({"boundaries": [9]}, "boundaries must hold increasing integers"),
        ({"part_names": ["a", "b"]}, "part_names must hold 1 names"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        HellingerDisplay.from_predictions(**{"segment_topic": SHARES, **arguments})
    assert plt.get_fignums() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "to_previous or to_document must be given"),
        ({"to_previous": [0.1], "to_document": [0.1, 0.2]}, "both must have the same length"),
        ({"to_previous": [[0.1]]}, "to_previous must be a 1-D array"),
        ({"to_document": ["a"]}, "to_document must be a 1-D array"),
        ({"to_document": [1.5]}, r"to_document must hold distances in \[0, 1\]"),
    ],
)
def test_invalid_distances(arguments, message):
    with pytest.raises(ValueError, match=message):
        HellingerDisplay(**arguments)


def test_document_out_of_range(model, corpus):
    with pytest.raises(ValueError, match="document must be below"):
        HellingerDisplay.from_estimator(model, corpus, document=4)
    with pytest.raises(ValueError, match="document 3 has no segments"):
        HellingerDisplay.from_estimator(model, corpus, document=3)


def test_unfitted(model, corpus):
    with pytest.raises(NotFittedError):
        HellingerDisplay.from_estimator(clone(model), corpus)


def test_without_matplotlib(monkeypatch, model, corpus):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"HellingerDisplay\.plot needs matplotlib"):
        HellingerDisplay([0.5]).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        HellingerDisplay.from_estimator(model, corpus)
