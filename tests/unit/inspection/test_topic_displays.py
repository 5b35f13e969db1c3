"""Topics along documents and next to each other."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from registry import fitted
from sklearn.base import clone
from unit.inspection.figures import check_texts, labels_of, ticks_of

from skdp.data import SegmentedCorpus
from skdp.inspection import (
    HellingerDisplay,
    SegmentMixingDisplay,
    TopicAlignmentDisplay,
    TopicEvolutionDisplay,
    TopicTreeDisplay,
)
from skdp.inspection._axes import GREY, PALETTE
from skdp.inspection._topic_evolution import (
    average_neighbors,
    check_parts,
    draw_parts,
    find_cuts,
    set_segment_axis,
)
from skdp.metrics import (
    align_topics,
    hellinger_distance,
    hellinger_to_document,
    hellinger_to_previous,
)
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)

SHARES = np.array([[0.2, 0.1, 0.7, 0.0], [0.5, 0.1, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]])
NAMES = [f"word{v}" for v in range(8)]
of_shares = TopicEvolutionDisplay.from_predictions


def outline(area):
    """Return the corners of an area, x and y."""
    (path,) = area.get_paths()
    return path.vertices.T


def size_of(area):
    """Return the size of an area by the shoelace formula."""
    x, y = outline(area)
    return abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2


def heights_of_areas(display, segment):
    """Return the drawn heights at a place, from the top of the stack down."""
    heights, ceiling = [], 1.0
    for x, y in map(outline, display.areas_):
        at = y[np.isclose(x, segment)]
        assert at.max() == pytest.approx(ceiling)
        heights.append(at.max() - at.min())
        ceiling = at.min()
    assert ceiling == 0.0
    return heights


def corners_of_bars(display):
    return np.array([[path.vertices for path in bars.get_paths()] for bars in display.bars_])


def colors_of(artists):
    return [to_hex(artist.get_facecolor()).upper() for artist in artists]


# --- shares of topics -----------------------------------------------------------------------------


def test_areas():
    display = of_shares(SHARES, n_topics=2)
    assert display.topics_.tolist() == [0, 2]
    for j, shares in enumerate(SHARES, start=1):
        expected = [shares[0], shares[2], shares[1] + shares[3]]
        np.testing.assert_allclose(heights_of_areas(display, j), expected)
    assert labels_of(display) == ["topic 0", "topic 2", "other"]
    assert colors_of(display.areas_) == [PALETTE[0], PALETTE[2], GREY]
    assert display.bars_ is None
    assert display.ax_.get_xlim() == (0.5, 3.5)
    assert display.ax_.get_ylim() == (0, 1)
    assert display.ax_.get_xlabel() == "segment"
    every = of_shares(SHARES, n_topics=4)
    assert every.topics_.tolist() == [0, 2, 1, 3]
    assert labels_of(every) == ["topic 0", "topic 2", "topic 1", "topic 3"]
    sizes = [size_of(area) for area in every.areas_]
    assert sizes == pytest.approx(SHARES.sum(axis=0)[every.topics_])


def test_steps():
    display = of_shares(SHARES, kind="step", n_topics=2)
    x, y = outline(display.areas_[0])
    for j, shares in enumerate(SHARES, start=1):
        for place in (j - 0.5, j + 0.5):
            assert np.any(np.isclose(x, place) & np.isclose(y, 1 - shares[0]))
    assert size_of(display.areas_[0]) == pytest.approx(SHARES[:, 0].sum())
    assert not np.any(np.isclose(x, 2.0))  # no slope inside a segment


@pytest.mark.parametrize("kind", ["area", "step"])
def test_areas_do_not_cross_boundaries(kind):
    display = of_shares(SHARES[[0, 0, 2, 2]], kind=kind, n_topics=1, boundaries=[2])
    x, y = outline(display.areas_[0])
    for side, share in ((x < 2.5, SHARES[0, 0]), (x > 2.5, SHARES[2, 0])):
        np.testing.assert_allclose(np.unique(y[(y < 1) & side].round(9)), [1 - share])


def test_smooth():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 12)
    display = of_shares(shares, kind="step", smooth=5, boundaries=[4], colors=list("rgb"))
    assert display.ax_.get_ylabel() == "topic share, mean of 5 segments"
    x, y = outline(display.areas_[0])
    for j in range(12):
        begin, end = (0, 4) if j < 4 else (4, 12)
        window = shares[max(begin, j - 2) : min(end, j + 3), display.topics_[0]]
        left, right = (set(y[np.isclose(x, j + side) & (y < 1)].round(9)) for side in (0.5, 1.5))
        (floor,) = left & right
        assert 1 - floor == pytest.approx(window.mean())
    np.testing.assert_array_equal(display.segment_topic, shares)


@pytest.mark.parametrize("doc_topic", [None, [0.4, 0.1, 0.4, 0.1]])
def test_bars(doc_topic):
    display = of_shares(SHARES, doc_topic=doc_topic, kind="bar", n_topics=2)
    rows = SHARES if doc_topic is None else np.vstack([doc_topic, SHARES])
    gathered = np.column_stack([rows[:, 0], rows[:, 2], rows[:, 1] + rows[:, 3]])
    np.testing.assert_allclose(np.ptp(corners_of_bars(display)[..., 1], axis=2).T, gathered)
    titles = ["document"] * (doc_topic is not None) + ["segment 1", "segment 2", "segment 3"]
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == [*titles, "0", "2", "…"]  # numbers below the lowest panel only
    assert labels_of(display) == ["topic 0", "topic 2", "other"]
    assert display.areas_ is None
    assert ticks_of(display.ax_.yaxis) == ["0", "0.5"] * len(rows)


def test_panels_lie_in_a_grid():
    """The document is above the segments in reading order; the bars of a topic in one place."""
    shares = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    display = of_shares(shares, doc_topic=np.full(4, 0.25), kind="bar")
    low = corners_of_bars(display).min(axis=2)
    np.testing.assert_allclose(np.diff(low[:, :, 0], axis=0), 1.0)
    np.testing.assert_array_equal(low[0, :, 1], low[1, :, 1])
    x, y = low[0].T
    assert np.all(y[1:] < y[0])
    assert x[0] == x[1]
    np.testing.assert_array_equal(np.lexsort([x, -y]), np.arange(21))


@pytest.mark.parametrize("kind", ["area", "step", "bar"])
def test_long_documents_are_few_artists(kind):
    """A panel of its own for each of 300 segments would take half a minute."""
    display = of_shares(np.random.default_rng(0).dirichlet(np.ones(6), 100), kind=kind)
    assert len(display.figure_.axes) == 1
    assert len(display.bars_ if kind == "bar" else display.areas_) == 6
    assert len(display.ax_.collections) <= 7


@pytest.mark.parametrize(
    ("kind", "n_segments", "n_components"),
    [
        *(("area", 1, 1), ("bar", 1, 1), ("step", 4, 6)),
        *(("area", 12, 21), ("bar", 12, 21), ("step", 30, 50), ("bar", 30, 50)),
    ],
)
def test_texts_of_evolutions_do_not_overlap(kind, n_segments, n_components):
    boundaries = range(3, n_segments, 4)
    display = of_shares(
        np.random.default_rng(0).dirichlet(np.full(n_components, 0.3), n_segments),
        doc_topic=np.full(n_components, 1 / n_components),
        topic_names=[f"{k}: one, two, three" for k in range(n_components)],
        boundaries=boundaries,
        part_names=[f"part {p}" for p in range(1 + len(boundaries))],
        kind=kind,
        n_topics=20,
    )
    check_texts(display)


def test_colors_of_topics():
    """A color belongs to a topic, and to a rank if there are more topics than colors."""
    for shares, k in ((SHARES, 2), (SHARES[:, [2, 1, 0, 3]], 0)):
        display = of_shares(shares[:1], n_topics=1)
        assert colors_of(display.areas_)[0] == PALETTE[k]
    many = np.random.default_rng(0).dirichlet(np.ones(40), 3)
    assert colors_of(of_shares(many, n_topics=20).areas_) == [*PALETTE, GREY]
    given = of_shares(SHARES, colors=["red", "green", "blue", "black"], kind="bar", n_topics=2)
    assert colors_of(given.bars_) == ["#FF0000", "#0000FF", GREY]


@pytest.mark.parametrize("document", [0, 1, 2])
def test_evolution_of_a_model(model, corpus, document):
    display = TopicEvolutionDisplay.from_estimator(model, corpus, document=document)
    rows = slice(*corpus.doc_ptr[document : document + 2])
    shares = model.transform_segments(corpus)[rows]
    np.testing.assert_array_equal(display.segment_topic, shares)
    np.testing.assert_array_equal(display.doc_topic, model.transform(corpus)[document])
    assert sorted(labels_of(display)) == ["topic 0", "topic 1", "topic 2"]
    listed = TopicEvolutionDisplay.from_estimator(model, list(corpus), document=document)
    np.testing.assert_array_equal(listed.segment_topic, shares)
    counts = TopicEvolutionDisplay.from_estimator(
        model, corpus.to_bow(), document=document, kind="bar"
    )
    assert counts.segment_topic.shape == (1, 3)
    assert corners_of_bars(counts).shape[:2] == (3, 2)


def test_topics_are_named_by_their_words(model, corpus):
    display = TopicEvolutionDisplay.from_estimator(model, corpus, feature_names=NAMES)
    words = model.top_words(NAMES, 3)
    assert display.topic_names == [f"{k}: {', '.join(row)}" for k, row in enumerate(words)]
    given = TopicEvolutionDisplay.from_estimator(
        model, corpus, feature_names=NAMES, topic_names=["a", "b", "c"]
    )
    assert given.topic_names == ["a", "b", "c"]
    frame = pd.DataFrame(corpus.to_bow().toarray(), columns=NAMES)
    estimator = clone(model).set_params(max_iter=4).fit(frame)
    display = TopicEvolutionDisplay.from_estimator(estimator, frame)
    assert all("word" in label for label in labels_of(display))


PARTS = {"document": None, "part_names": ["I", "II", "III", "IV"]}
"""The fourth document has no segments."""


@pytest.mark.parametrize("kind", ["area", "bar"])
def test_evolution_of_all_documents(model, corpus, kind):
    display = TopicEvolutionDisplay.from_estimator(model, corpus, kind=kind, **PARTS)
    np.testing.assert_array_equal(display.segment_topic, model.transform_segments(corpus))
    assert display.doc_topic is None
    assert display.boundaries.tolist() == [3, 8]
    assert display.part_names == ["I", "II", "III"]


def test_documents_are_folded_in_once(model, corpus, monkeypatch):
    calls = []
    fold_in = type(model)._fold_in
    monkeypatch.setattr(
        type(model), "_fold_in", lambda self, X: calls.append(len(X)) or fold_in(self, X)
    )
    display = TopicEvolutionDisplay.from_estimator(
        model, corpus, document=1, boundaries=[2], part_names=["a", "b"]
    )
    assert (display.boundaries.tolist(), display.part_names) == ([2], ["a", "b"])
    TopicEvolutionDisplay.from_estimator(model, corpus, document=None)
    assert calls == [1, 4]


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        *((SegmentedTopicModel, "bar"), (GibbsLDA, "bar")),
        *((SequentialLDA, "area"), (AdaptiveTopicModel, "area")),
    ],
)
def test_areas_are_for_segments_in_order(cls, kind):
    documents = [[[0, 1, 0], [2, 3], [0, 1]], [[2, 3]] * 30]
    model = cls(2, max_iter=6, random_state=0).fit(documents)
    display = TopicEvolutionDisplay.from_estimator(model, documents)
    assert (display.bars_ is None) == (kind == "area")
    for params in ({"document": 1}, {"document": None}, {"smooth": 3}):  # too many, or means
        display = TopicEvolutionDisplay.from_estimator(model, documents, **params)
        x = np.unique(outline(display.areas_[0])[0])
        assert np.any(x == 1.0) == (kind == "area")  # columns have corners at their ends alone
        assert display.bars_ is None
    given = TopicEvolutionDisplay.from_estimator(model, documents, kind="area")
    assert given.bars_ is None


# --- distances between segments -------------------------------------------------------------------

PAIRS = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
MEANS = np.array([[0.4, 0.6], [0.7, 0.3]])
PTR = [0, 2, 5]


@pytest.mark.parametrize("document", [0, 1])
def test_distances_of_a_model(model, corpus, document):
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


def test_distances_of_all_documents(model, corpus):
    display = HellingerDisplay.from_estimator(model, corpus, **PARTS)
    assert display.boundaries.tolist() == [3, 8]
    assert np.flatnonzero(np.isnan(display.to_previous)).tolist() == [0, 3, 8]
    assert display.part_names == ["I", "II", "III"]
    assert len(display.lines_) == 1
    counts = HellingerDisplay.from_estimator(model, corpus.to_bow(), document=1, to="document")
    assert counts.to_document.shape == (1,)
    given = HellingerDisplay.from_predictions(model.segment_topic_, doc_ptr=corpus)
    assert given.boundaries.tolist() == [3, 8]


def test_distances_of_shares():
    display = HellingerDisplay.from_predictions(PAIRS, doc_topic=MEANS, doc_ptr=PTR)
    np.testing.assert_array_equal(display.to_previous, hellinger_to_previous(PAIRS, PTR))
    np.testing.assert_array_equal(display.to_document, hellinger_to_document(MEANS, PAIRS, PTR))
    assert display.boundaries.tolist() == [2]
    assert labels_of(display) == [f"to previous (mean {np.nanmean(display.to_previous):.2f})"]
    display = HellingerDisplay.from_predictions(PAIRS, doc_topic=MEANS[0], boundaries=[2])
    assert np.flatnonzero(np.isnan(display.to_previous)).tolist() == [0]
    expected = hellinger_to_document(MEANS[:1], PAIRS, [0, 5])
    np.testing.assert_array_equal(display.to_document, expected)
    assert display.boundaries.tolist() == [2]
    assert HellingerDisplay.from_predictions(PAIRS[[0, 0]]).ax_.get_ylim() == (0.0, 1.0)


def test_several_models_in_one_axes():
    first = HellingerDisplay.from_predictions(PAIRS, name="A", boundaries=[2])
    n_marks = len(first.ax_.collections)
    second = HellingerDisplay.from_predictions(
        PAIRS[::-1] ** 2, name="_B", boundaries=[2], ax=first.ax_
    )
    lines = first.ax_.lines
    assert len(first.ax_.collections) == n_marks
    assert [to_hex(line.get_color()).upper() for line in lines] == PALETTE[:2]
    assert [label[:3] for label in labels_of(second)] == ["A: ", "_B:"]
    bottom, top = first.ax_.get_ylim()
    assert (bottom, top) == (0.0, max(top, *(np.nanmax(line.get_ydata()) for line in lines)))


def test_lines_of_distances():
    display = HellingerDisplay(PAIRS[:, 0])
    assert display.plot(name="C", line_kw={"color": "black", "linestyle": ":"}) is display
    assert display.lines_[0].get_color() == "black"
    assert display.lines_[0].get_linestyle() == ":"
    assert labels_of(display)[0].startswith("C: ")
    display = HellingerDisplay(to_document=[0.2, 0.4]).plot()  # all there is
    assert labels_of(display) == ["to document (mean 0.30)"]
    values = np.full(100, 0.5)
    values[[3, 5, 50]] = np.nan
    (line,) = HellingerDisplay(values).plot().lines_
    assert line.get_marker() == "o"
    assert list(line.get_markevery()) == [4]  # a lone segment


# --- weights of the segment before ----------------------------------------------------------------


def test_weights_of_a_fit(corpus):
    estimator = AdaptiveTopicModel(3, mixing_prior=(3.0, 1.0), max_iter=6, random_state=0)
    weights = estimator.fit(corpus).segment_mixing_
    display = SegmentMixingDisplay.from_estimator(estimator, list(corpus), **PARTS)
    np.testing.assert_array_equal(display.segment_mixing, weights)
    np.testing.assert_array_equal(weights[[0, 3, 8]], 1.0)  # first segments
    assert display.boundaries.tolist() == [3, 8]
    assert display.part_names == ["I", "II", "III"]
    assert display.prior_mean == 0.75
    assert set(display.line_.get_ydata()) == {0.75}
    assert labels_of(display) == ["the document", "the segment before", "prior mean"]
    for document in range(3):
        display = SegmentMixingDisplay.from_estimator(estimator, corpus, document=document)
        expected = weights[slice(*corpus.doc_ptr[document : document + 2])]
        np.testing.assert_array_equal(display.segment_mixing, expected)


def test_columns_of_weights():
    display = SegmentMixingDisplay.from_weights([0.25, 0.25, 0.75])
    for area, heights in zip(display.areas_, [(0.25, 0.75), (0.75, 0.25)], strict=True):
        x, y = outline(area)
        found = [np.ptp(y[np.isclose(x, place)]) for place in (0.5, 3.5)]
        assert found == pytest.approx(heights)
    assert display.line_ is None
    assert labels_of(display) == ["the document", "the segment before"]
    assert display.ax_.get_xlim() == (0.5, 3.5)
    assert display.ax_.get_ylim() == (0, 1)


# --- parts of documents ---------------------------------------------------------------------------


def draw(n_segments, boundaries, names):
    _, ax = plt.subplots(figsize=(6.0, 2.0), layout="constrained")
    set_segment_axis(ax, n_segments)
    draw_parts(ax, check_parts(n_segments, boundaries, names))
    return ax


def names_of(ax):
    (axis,) = ax.child_axes
    return axis.get_xticklabels()


def test_names_of_parts():
    """They are centered, and lines lie between segments; a second plot adds nothing."""
    ax = draw(9, np.array([2, 7]), ["I", "II", "III"])
    for lines in ax.collections:
        assert [segment[0][0] for segment in lines.get_segments()] == [2.5, 7.5]
    labels, n_lines = names_of(ax), len(ax.collections)
    assert [text.get_text() for text in labels] == ["I", "II", "III"]
    np.testing.assert_allclose([text.get_position()[0] for text in labels], [1.5, 5, 8.5])
    assert {text.get_rotation() for text in labels} == {0.0}
    draw_parts(ax, check_parts(9, [2, 7], ["I", "II", "III"]))
    assert (len(ax.collections), len(ax.child_axes)) == (n_lines, 1)


def test_crowded_names_of_parts():
    """They stand upright, and those of small parts give way."""
    names = [f"chapter {i}" for i in range(20)]
    labels = names_of(draw(40, range(2, 40, 2), names))
    assert [text.get_text() for text in labels] == names
    assert {text.get_rotation() for text in labels} == {90.0}
    boundaries = [i + step for i in range(0, 300, 10) for step in (1, 10)][:-1]
    names = [kind + str(i) for i in range(30) for kind in ("small", "large")]
    labels = names_of(draw(300, boundaries, names))
    shown = [text.get_text() for text in labels]
    assert len(shown) < 60
    assert all(f"large{i}" in shown for i in range(30))
    boxes = [text.get_window_extent() for text in labels]
    assert not any(box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i])


@pytest.mark.parametrize("width", [1, 3, 5, 99])
def test_averages_end_at_boundaries(width):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 11)
    ptr = np.array([0, 1, 7, 11])
    found = average_neighbors(shares, ptr, width)
    assert (found is shares) == (width == 1)
    for j in range(11):
        part = np.searchsorted(ptr, j, side="right")
        low, high = max(ptr[part - 1], j - width // 2), min(ptr[part], j + width // 2 + 1)
        np.testing.assert_allclose(found[j], shares[low:high].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


# --- cuts -----------------------------------------------------------------------------------------

X = SegmentedCorpus.from_documents(
    [[[0, 1, 0, 1]] * 4 + [[2, 3, 2, 3]] * 4, [[2, 3]] * 3, [[0, 1]]], n_features=4
)
BOTH = [TopicEvolutionDisplay, HellingerDisplay]
every_display = pytest.mark.parametrize("display", BOTH)


@pytest.fixture(scope="module")
def segmenter():
    return TopicSegmenter(2, concentration=5.0, max_iter=60, random_state=0).fit(X)


def heights_of_cuts(display):
    lines, *_ = find_cuts(display.ax_)
    return [(x[0][0], x[1][1]) for x in lines.get_segments()]


@every_display
def test_cuts_of_a_model(display, segmenter):
    """Heights are probabilities, and triangles are true cuts; a second plot names them once."""
    drawn = display.from_estimator(segmenter, X, document=0, true_cuts=[4])
    expected = segmenter.predict_proba(X[:1])[0]
    np.testing.assert_array_equal(drawn.cut_proba, expected)
    places = np.column_stack([np.arange(7) + 1.5, expected])
    np.testing.assert_allclose(heights_of_cuts(drawn), places)
    assert expected[3] > 0.9  # or there would be nothing to see
    _, marks = find_cuts(drawn.ax_)
    assert marks.get_offsets()[:, 0].tolist() == [4.5]
    assert labels_of(drawn)[-2:] == ["probability of a cut", "true cut"]
    options = {} if display is HellingerDisplay else {"kind": "step"}
    again = labels_of(drawn.plot(drawn.ax_, **options))
    assert [label for label in again if "cut" in label] == ["probability of a cut", "true cut"]
    whole = display.from_estimator(segmenter, X, document=None)
    assert np.flatnonzero(np.isnan(whole.cut_proba)).tolist() == [7, 10]  # between documents
    assert [height for _, height in heights_of_cuts(whole)][7] == 0.0


@every_display
def test_given_cuts(display):
    drawn = display.from_predictions(SHARES, cut_proba=[0.1, np.nan], true_cuts=[])
    assert heights_of_cuts(drawn) == [(1.5, 0.1), (2.5, 0.0)]
    assert drawn.true_cuts.tolist() == []
    plain = display.from_estimator(fitted("SegmentedTopicModel"), [[[0, 1], [2]]], document=0)
    assert plain.cut_proba is plain.true_cuts is None
    assert find_cuts(plain.ax_) == []


def test_cuts_of_given_topics():
    topics = [[0.49, 0.49, 0.01, 0.01], [0.01, 0.01, 0.49, 0.49]]
    model = TopicSegmenter.from_topics(topics, doc_topic_prior=0.5, concentration=5.0)
    drawn = TopicEvolutionDisplay.from_estimator(model, X, document=0)
    assert drawn.cut_proba[3] > 0.9


def test_kinds_with_cuts(segmenter):
    drawn = TopicEvolutionDisplay.from_estimator(segmenter, X, document=0, kind="bar")
    assert drawn.cut_proba is None
    assert TopicEvolutionDisplay.from_estimator(segmenter, X, document=0).areas_ is not None
    assert drawn.plot(kind="area").plot(kind="bar").bars_ is not None
    first = HellingerDisplay.from_estimator(segmenter, X, document=0, true_cuts=[4])
    other = HellingerDisplay.from_estimator(segmenter, X, document=0, name="B", ax=first.ax_)
    assert labels_of(other)[2:] == ["probability of a cut", "true cut"]


@pytest.mark.parametrize("display", [*BOTH, SegmentMixingDisplay])
def test_a_divided_corpus_has_its_own_boundaries(display):
    divided = X.with_parts([[3], [2], []])
    model = AdaptiveTopicModel(2, max_iter=4, random_state=0).fit(divided)
    for options, expected in [
        ({"document": 1}, [2]),
        ({"document": 0, "boundaries": [5]}, [5]),
        ({"document": None}, [8, 11]),
    ]:
        drawn = display.from_estimator(model, divided, **options)
        assert drawn.boundaries.tolist() == expected


# --- two models, and trees of topics --------------------------------------------------------------

TOPICS = np.random.default_rng(0).dirichlet(np.full(8, 0.3), 4)
ORDER = [2, 0, 3, 1]
align = TopicAlignmentDisplay.from_components


@pytest.fixture(scope="module")
def other(corpus):
    return SegmentedTopicModel(n_components=5, max_iter=10, random_state=1).fit(corpus)


def test_matched_topics_are_in_line():
    display = align(TOPICS, TOPICS[ORDER])
    np.testing.assert_array_equal(display.row_topics_, range(4))
    np.testing.assert_array_equal(display.column_topics_, np.argsort(ORDER))
    np.testing.assert_array_equal(np.diag(display.distances), 0.0)
    np.testing.assert_array_equal(display.image_.get_array(), display.distances)
    assert display.image_.get_clim() == (0.0, 1.0)
    assert ticks_of(display.ax_.yaxis) == ["0", "1", "2", "3"]
    assert ticks_of(display.ax_.xaxis) == [str(k) for k in np.argsort(ORDER)]
    assert display.colorbar_.mappable is display.image_
    similar = align(TOPICS, TOPICS[ORDER], kind="similarity")
    np.testing.assert_array_equal(similar.image_.get_array(), 1 - display.distances)
    assert similar.colorbar_.ax.get_ylabel() == "1 - Hellinger distance"
    assert similar.plot(cmap="viridis").image_.get_cmap().name == "viridis"


def test_topics_without_a_match_come_last():
    wide, tall = align(TOPICS[[3, 1]], TOPICS), align(TOPICS, TOPICS[[3, 1]])
    np.testing.assert_array_equal(wide.column_topics_, [3, 1, 0, 2])
    assert wide.distances.shape == (2, 4)
    np.testing.assert_array_equal(tall.row_topics_, [3, 1, 0, 2])
    np.testing.assert_array_equal(tall.column_topics_, [0, 1])
    np.testing.assert_array_equal(tall.distances, wide.distances.T)
    assert tall.ax_.get_xlabel() == tall.ax_.get_ylabel() == "topics"


def test_alignment_of_models(model, other):
    display = TopicAlignmentDisplay.from_estimators(model, other)
    order, distances = align_topics(model.components_, other.components_)
    np.testing.assert_array_equal(display.column_topics_[:3], order)
    np.testing.assert_allclose(np.diag(display.distances), distances)
    full = hellinger_distance(model.components_, other.components_)
    np.testing.assert_array_equal(display.distances, full[:, display.column_topics_])
    assert display.ax_.get_ylabel() == "SegmentedTopicModel"
    assert sorted(ticks_of(display.ax_.xaxis)) == list("01234")
    display = TopicAlignmentDisplay.from_estimators(
        model, other, feature_names=NAMES, names=("A", "B")
    )
    rows, columns = ([", ".join(row) for row in m.top_words(NAMES, 3)] for m in (model, other))
    assert ticks_of(display.ax_.yaxis) == [f"{k}: {row}" for k, row in enumerate(rows)]
    assert ticks_of(display.ax_.xaxis) == [f"{k}: {columns[k]}" for k in display.column_topics_]
    assert {label.get_rotation() for label in display.ax_.xaxis.get_ticklabels()} == {90.0}
    assert (display.ax_.get_ylabel(), display.ax_.get_xlabel()) == ("A", "B")
    check_texts(display)


def test_values_in_cells():
    display = align(TOPICS, TOPICS[ORDER])
    for (i, j), value in np.ndenumerate(display.distances):
        assert display.texts_[i, j].get_text() == f"{value:.2f}"
        assert display.texts_[i, j].get_position() == (j, i)
    colors = {text.get_color() for text in np.diag(display.texts_)}
    assert colors == {"white"}  # on the darkest cells
    assert display.plot(include_values=False).texts_ is None
    many = np.random.default_rng(0).dirichlet(np.ones(30), 150)
    assert align(many[:13], many[:13]).texts_ is None
    large = align(many, many)
    assert max(large.figure_.get_size_inches()) < 14
    assert len(ticks_of(large.ax_.xaxis)) <= 75


def test_the_tree_joins_topics_at_their_losses():
    linkage = np.array([[0.0, 2.0, 0.1, 2.0], [1.0, 3.0, 0.4, 3.0]])
    display = TopicTreeDisplay(linkage, names=["a", "b", "$c$"]).plot()
    labels = ticks_of(display.ax_.yaxis)
    assert labels == [["a", "b", "$c$"][k] for k in display.leaves_]
    assert abs(labels.index("a") - labels.index("$c$")) == 1
    assert sorted(line[:, 0].max() for line in display.lines_.get_segments()) == [0.1, 0.4]
    first = next(line for line in display.lines_.get_segments() if line[:, 0].max() == 0.1)
    places = dict(zip(labels, display.ax_.get_yticks(), strict=True))
    assert set(first[:, 1]) == {places["a"], places["$c$"]}


def test_tree_of_a_model(model, corpus):
    display = TopicTreeDisplay.from_estimator(model, feature_names=NAMES)
    np.testing.assert_array_equal(display.linkage, model.topic_tree().linkage)
    words = [", ".join(row) for row in model.top_words(NAMES, 3)]
    assert ticks_of(display.ax_.yaxis) == [f"{k}: {words[k]}" for k in display.leaves_]
    fine = SegmentedTopicModel(60, max_iter=3, random_state=0).fit(corpus)
    assert len(TopicTreeDisplay.from_estimator(fine).leaves_) == 40  # many are merged first
    display = TopicTreeDisplay.from_estimator(fine, n_topics=7)
    assert ticks_of(display.ax_.yaxis) == [str(k) for k in display.leaves_]
    np.testing.assert_array_equal(display.linkage, fine.reduce_topics(7).topic_tree().linkage)
