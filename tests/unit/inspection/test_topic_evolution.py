import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import TopicEvolutionDisplay
from skdp.inspection._axes import GREY, PALETTE
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel, SequentialLDA

SHARES = np.array([[0.2, 0.1, 0.7, 0.0], [0.5, 0.1, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]])


def heights_of_areas(display, segment):
    """Return the drawn heights at a place, from the top of the stack down."""
    heights = []
    ceiling = 1.0
    for area in display.areas_:
        (path,) = area.get_paths()
        at = path.vertices[np.isclose(path.vertices[:, 0], segment), 1]
        assert at.max() == pytest.approx(ceiling)
        heights.append(at.max() - at.min())
        ceiling = at.min()
    assert ceiling == 0.0
    return heights


def heights_of_bars(display):
    """Return the drawn heights, a row a panel, a column a topic."""
    corners = np.array([[path.vertices for path in bars.get_paths()] for bars in display.bars_])
    return np.ptp(corners[..., 1], axis=2).T


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def texts_of(display):
    """Return the texts that a drawn figure shows, with their boxes."""
    display.figure_.canvas.draw()
    texts = list(display.legend_.get_texts())
    for ax in [display.ax_, *display.ax_.child_axes]:
        texts += [ax.title, ax.xaxis.label, ax.yaxis.label]
        texts += [child for child in ax.get_children() if isinstance(child, plt.Text)]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            texts += [tick.label1 for tick in ticks]
    shown = {text for text in texts if text.get_visible() and text.get_text().strip()}
    return [(text.get_text(), text.get_window_extent()) for text in shown]


def test_areas():
    display = TopicEvolutionDisplay.from_predictions(SHARES, n_topics=2)
    np.testing.assert_array_equal(display.topics_, [0, 2])
    assert len(display.areas_) == 3
    for j, shares in enumerate(SHARES, start=1):
        heights = heights_of_areas(display, j)
        np.testing.assert_allclose(heights, [shares[0], shares[2], shares[1] + shares[3]])
    assert labels_of(display) == ["topic 0", "topic 2", "other"]
    colors = [to_hex(area.get_facecolor()).upper() for area in display.areas_]
    assert colors == [PALETTE[0], PALETTE[2], GREY]
    assert display.bars_ is None
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_xlim() == (0.5, 3.5)
    assert display.ax_.get_ylim() == (0, 1)
    assert display.ax_.get_xlabel() == "segment"


def test_areas_are_mean_shares():
    display = TopicEvolutionDisplay.from_predictions(SHARES)
    for k, area in zip(display.topics_, display.areas_, strict=True):
        x, y = area.get_paths()[0].vertices.T
        size = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2  # shoelace
        assert size == pytest.approx(SHARES[:, k].sum())


def test_no_others():
    display = TopicEvolutionDisplay.from_predictions(SHARES, n_topics=4)
    np.testing.assert_array_equal(display.topics_, [0, 2, 1, 3])
    assert labels_of(display) == ["topic 0", "topic 2", "topic 1", "topic 3"]
    assert len(display.areas_) == 4


@pytest.mark.parametrize("doc_topic", [None, [0.4, 0.1, 0.4, 0.1]])
def test_bars(doc_topic):
    display = TopicEvolutionDisplay.from_predictions(
        SHARES, doc_topic=doc_topic, kind="bar", n_topics=2
    )
    rows = SHARES if doc_topic is None else np.vstack([doc_topic, SHARES])
    gathered = np.column_stack([rows[:, 0], rows[:, 2], rows[:, 1] + rows[:, 3]])
    np.testing.assert_allclose(heights_of_bars(display), gathered)
    texts = [text.get_text() for text in display.ax_.texts]
    titles = ["document"] * (doc_topic is not None) + ["segment 1", "segment 2", "segment 3"]
    assert texts == [*titles, "0", "2", "…"]  # numbers below the lowest panel only
    assert labels_of(display) == ["topic 0", "topic 2", "other"]
    assert display.areas_ is None
    ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert ticks == ["0", "0.5"] * len(rows)


def test_panels_lie_in_a_grid():
    """The document above the segments, those in reading order, bars of a topic in one place."""
    rng = np.random.default_rng(0)
    display = TopicEvolutionDisplay.from_predictions(
        rng.dirichlet(np.ones(4), 20), doc_topic=np.full(4, 0.25), kind="bar"
    )
    low = np.array(
        [[path.vertices.min(axis=0) for path in bars.get_paths()] for bars in display.bars_]
    )
    np.testing.assert_allclose(np.diff(low[:, :, 0], axis=0), 1.0)
    np.testing.assert_array_equal(low[0, :, 1], low[1, :, 1])
    x, y = low[0].T
    assert np.all(y[1:] < y[0])
    assert x[0] == x[1]
    order = np.lexsort([x, -y])
    np.testing.assert_array_equal(order, np.arange(21))


def test_long_documents_are_few_artists():
    """300 separate panels would take half a minute."""
    shares = np.random.default_rng(0).dirichlet(np.ones(6), 300)
    for kind in ("area", "step", "bar"):
        display = TopicEvolutionDisplay.from_predictions(shares, kind=kind)
        assert len(display.figure_.axes) == 1
        drawn = display.bars_ if kind == "bar" else display.areas_
        assert len(drawn) == 6
        assert len(display.ax_.collections) <= 7


def test_steps():
    display = TopicEvolutionDisplay.from_predictions(SHARES, kind="step", n_topics=2)
    for j, shares in enumerate(SHARES, start=1):
        for place in (j - 0.5, j + 0.5):
            x, y = display.areas_[0].get_paths()[0].vertices.T
            assert np.any(np.isclose(x, place) & np.isclose(y, 1 - shares[0]))
    x, y = display.areas_[0].get_paths()[0].vertices.T
    size = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2  # shoelace
    assert size == pytest.approx(SHARES[:, 0].sum())
    assert not np.any(np.isclose(x, 2.0))  # no slope inside a segment


@pytest.mark.parametrize("kind", ["area", "step"])
def test_areas_do_not_cross_boundaries(kind):
    display = TopicEvolutionDisplay.from_predictions(
        SHARES[[0, 0, 2, 2]], kind=kind, n_topics=1, boundaries=[2]
    )
    x, y = display.areas_[0].get_paths()[0].vertices.T
    floors = y[(y < 1) & (x < 2.5)], y[(y < 1) & (x > 2.5)]
    np.testing.assert_allclose(np.unique(floors[0].round(9)), [1 - SHARES[0, 0]])
    np.testing.assert_allclose(np.unique(floors[1].round(9)), [1 - SHARES[2, 0]])


def test_smooth():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 12)
    display = TopicEvolutionDisplay.from_predictions(
        shares, kind="step", smooth=5, boundaries=[4], colors=["red", "green", "blue"]
    )
    assert display.ax_.get_ylabel() == "topic share, mean of 5 segments"
    x, y = display.areas_[0].get_paths()[0].vertices.T
    for j in range(12):
        begin, end = (0, 4) if j < 4 else (4, 12)
        window = shares[max(begin, j - 2) : min(end, j + 3), display.topics_[0]]
        (floor,) = set(y[np.isclose(x, j + 0.5) & (y < 1)].round(9)) & set(
            y[np.isclose(x, j + 1.5) & (y < 1)].round(9)
        )
        assert 1 - floor == pytest.approx(window.mean())
    np.testing.assert_array_equal(display.segment_topic, shares)


@pytest.mark.parametrize("kind", ["area", "step", "bar"])
@pytest.mark.parametrize(("n_segments", "n_components"), [(1, 1), (4, 6), (12, 21), (30, 50)])
def test_texts_do_not_overlap(kind, n_segments, n_components):
    rng = np.random.default_rng(0)
    display = TopicEvolutionDisplay.from_predictions(
        rng.dirichlet(np.full(n_components, 0.3), n_segments),
        doc_topic=np.full(n_components, 1 / n_components),
        topic_names=[f"{k}: one, two, three" for k in range(n_components)],
        boundaries=range(3, n_segments, 4),
        part_names=[f"part {p}" for p in range(1 + len(range(3, n_segments, 4)))],
        kind=kind,
        n_topics=20,
    )
    texts = texts_of(display)
    names = [name for name, _ in texts]
    for i, (_, box) in enumerate(texts):
        clashes = [names[j] for j in range(i) if box.overlaps(texts[j][1])]
        assert not clashes, (names[i], clashes)
        assert display.figure_.bbox.padded(1).contains(box.x0, box.y0)
        assert display.figure_.bbox.padded(1).contains(box.x1, box.y1)


def test_color_belongs_to_topic():
    turned = SHARES[:, [2, 1, 0, 3]]
    first = TopicEvolutionDisplay.from_predictions(SHARES[:1], n_topics=1)
    second = TopicEvolutionDisplay.from_predictions(turned[:1], n_topics=1)
    assert to_hex(first.areas_[0].get_facecolor()).upper() == PALETTE[2]
    assert to_hex(second.areas_[0].get_facecolor()).upper() == PALETTE[0]


def test_color_belongs_to_rank_among_many_topics():
    rng = np.random.default_rng(0)
    display = TopicEvolutionDisplay.from_predictions(rng.dirichlet(np.ones(40), 3), n_topics=20)
    colors = [to_hex(area.get_facecolor()).upper() for area in display.areas_]
    assert colors == [*PALETTE, GREY]


def test_given_colors():
    display = TopicEvolutionDisplay.from_predictions(
        SHARES, colors=["red", "green", "blue", "black"], kind="bar", n_topics=2
    )
    colors = [to_hex(bars.get_facecolor()) for bars in display.bars_]
    assert colors == [to_hex("red"), to_hex("blue"), GREY.lower()]


def test_given_axes():
    _, axes = plt.subplots(1, 2, layout="constrained")
    numbers = plt.get_fignums()
    for ax, kind in zip(axes, ["area", "bar"], strict=True):
        display = TopicEvolutionDisplay.from_predictions(SHARES, kind=kind, ax=ax)
        assert display.ax_ is ax
        assert display.legend_ is ax.get_legend()
    assert plt.get_fignums() == numbers


def test_plot_again():
    display = TopicEvolutionDisplay(SHARES, doc_topic=SHARES[0])
    assert not hasattr(display, "ax_")
    assert display.plot() is display
    first = display.figure_
    assert display.plot(kind="bar").figure_ is not first
    assert display.areas_ is None


@pytest.mark.parametrize("document", [0, 1, 2])
def test_from_estimator(model, corpus, document):
    display = TopicEvolutionDisplay.from_estimator(model, corpus, document=document)
    begin, end = corpus.doc_ptr[document : document + 2]
    np.testing.assert_array_equal(
        display.segment_topic, model.transform_segments(corpus)[begin:end]
    )
    np.testing.assert_array_equal(display.doc_topic, model.transform(corpus)[document])
    assert sorted(labels_of(display)) == ["topic 0", "topic 1", "topic 2"]


def test_from_estimator_takes_lists_and_matrices(model, corpus):
    of_corpus = TopicEvolutionDisplay.from_estimator(model, corpus, document=1)
    of_list = TopicEvolutionDisplay.from_estimator(model, list(corpus), document=1)
    np.testing.assert_array_equal(of_list.segment_topic, of_corpus.segment_topic)
    counts = corpus.to_bow()
    of_counts = TopicEvolutionDisplay.from_estimator(model, counts, document=1, kind="bar")
    assert of_counts.segment_topic.shape == (1, 3)
    assert heights_of_bars(of_counts).shape == (2, 3)


def test_labels_of_top_words(model, corpus):
    names = [f"word{v}" for v in range(8)]
    display = TopicEvolutionDisplay.from_estimator(model, corpus, feature_names=names)
    words = model.top_words(names, 3)
    assert display.topic_names == [f"{k}: {', '.join(row)}" for k, row in enumerate(words)]
    given = TopicEvolutionDisplay.from_estimator(
        model, corpus, feature_names=names, topic_names=["a", "b", "c"]
    )
    assert given.topic_names == ["a", "b", "c"]


def test_labels_of_a_data_frame(model, corpus):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(corpus.to_bow().toarray(), columns=[f"word{v}" for v in range(8)])
    estimator = clone(model).set_params(max_iter=4).fit(frame)
    display = TopicEvolutionDisplay.from_estimator(estimator, frame)
    assert all("word" in label for label in labels_of(display))


@pytest.mark.parametrize("kind", ["area", "bar"])
def test_all_documents(model, corpus, kind):
    display = TopicEvolutionDisplay.from_estimator(
        model, corpus, document=None, part_names=["I", "II", "III", "IV"], kind=kind
    )
    np.testing.assert_array_equal(display.segment_topic, model.transform_segments(corpus))
    assert display.doc_topic is None
    np.testing.assert_array_equal(display.boundaries, [3, 8])
    assert display.part_names == ["I", "II", "III"]  # the fourth has no segments


def test_parts_of_a_document(model, corpus):
    display = TopicEvolutionDisplay.from_estimator(
        model, corpus, document=1, boundaries=[2], part_names=["a", "b"]
    )
    assert display.boundaries.tolist() == [2]
    assert display.part_names == ["a", "b"]


def test_documents_are_folded_in_once(model, corpus, monkeypatch):
    calls = []
    fold_in = type(model)._fold_in
    monkeypatch.setattr(
        type(model), "_fold_in", lambda self, X: calls.append(len(X)) or fold_in(self, X)
    )
    TopicEvolutionDisplay.from_estimator(model, corpus, document=1)
    TopicEvolutionDisplay.from_estimator(model, corpus, document=None)
    assert calls == [1, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"boundaries": [3]}, "boundaries must not be given if document is None"),
        ({"part_names": ["a", "b", "c"]}, "part_names must hold 4 names"),
    ],
)
def test_invalid_parts_of_all_documents(model, corpus, arguments, message):
    with pytest.raises(ValueError, match=message):
        TopicEvolutionDisplay.from_estimator(model, corpus, document=None, **arguments)


def test_no_segments_at_all(model, corpus):
    with pytest.raises(ValueError, match="X has no segments"):
        TopicEvolutionDisplay.from_estimator(model, corpus[3:], document=None)


@pytest.mark.parametrize("document", [4, -1, 0.5, "first"])
def test_document_out_of_range(model, corpus, document):
    with pytest.raises(ValueError, match="document must be"):
        TopicEvolutionDisplay.from_estimator(model, corpus, document=document)


def test_document_without_segments(model, corpus):
    with pytest.raises(ValueError, match="document 3 has no segments"):
        TopicEvolutionDisplay.from_estimator(model, corpus, document=3)


def test_unfitted(model, corpus):
    with pytest.raises(NotFittedError):
        TopicEvolutionDisplay.from_estimator(clone(model), corpus)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"segment_topic": SHARES[0]}, "Expected 2D array"),
        ({"segment_topic": 2 * SHARES}, "segment_topic must hold shares"),
        ({"segment_topic": [[1.5, -0.5]]}, "segment_topic must hold shares"),
        ({"segment_topic": SHARES * np.nan}, "segment_topic contains NaN"),
        ({"doc_topic": SHARES[0, :3]}, "doc_topic must have shape"),
        ({"doc_topic": SHARES[:1]}, "doc_topic must have shape"),
        ({"doc_topic": [1.0, 1.0, 0.0, 0.0]}, "doc_topic must hold shares"),
        ({"topic_names": ["a", "b"]}, "topic_names must hold 4 names"),
        ({"kind": "line"}, "kind must be"),
        ({"n_topics": 0}, "n_topics must be"),
        ({"colors": ["red"]}, "colors must hold 4"),
        ({"smooth": 0}, "smooth must be"),
        ({"smooth": 2}, "smooth must be odd"),
        ({"smooth": 3, "kind": "bar"}, "smooth must be 1"),
        ({"boundaries": [3]}, "boundaries must hold increasing integers"),
    ],
)
def test_invalid_arguments(arguments, message):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        TopicEvolutionDisplay.from_predictions(**{"segment_topic": SHARES, **arguments})
    assert plt.get_fignums() == before


def test_without_matplotlib(monkeypatch, model, corpus):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    display = TopicEvolutionDisplay(SHARES)
    with pytest.raises(ImportError, match=r"TopicEvolutionDisplay\.plot needs matplotlib"):
        display.plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        TopicEvolutionDisplay.from_estimator(model, corpus)


@pytest.mark.parametrize(
    ("cls", "kind"),
    [(SegmentedTopicModel, "bar"), (GibbsLDA, "bar"), (SequentialLDA, "area"),
     (AdaptiveTopicModel, "area")],
)  # fmt: skip
def test_areas_are_for_segments_in_order(cls, kind):
    documents = [[[0, 1, 0], [2, 3], [0, 1]], [[2, 3]] * 30]
    model = cls(2, max_iter=6, random_state=0).fit(documents)
    display = TopicEvolutionDisplay.from_estimator(model, documents)
    assert (display.bars_ is None) == (kind == "area")
    for params in ({"document": 1}, {"document": None}, {"smooth": 3}):  # too many, or means
        display = TopicEvolutionDisplay.from_estimator(model, documents, **params)
        x = np.unique(display.areas_[0].get_paths()[0].vertices[:, 0])
        assert np.any(x == 1.0) == (kind == "area")  # in columns there are corners at ends alone
        assert display.bars_ is None
    given = TopicEvolutionDisplay.from_estimator(model, documents, kind="area")
    assert given.bars_ is None
