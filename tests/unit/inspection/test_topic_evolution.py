import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inspection import TopicEvolutionDisplay
from skdp.inspection._axes import GREY, PALETTE

SHARES = np.array([[0.2, 0.1, 0.7, 0.0], [0.5, 0.1, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]])


def heights_of_areas(display, segment):
    """Return the drawn heights at a segment, from the top of the stack down."""
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


def heights_of_bars(bars):
    return [bar.get_height() for bar in bars]


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def texts_of(display):
    """Return the texts that a drawn figure shows, with their boxes."""
    display.figure_.canvas.draw()
    texts = list(display.legend_.get_texts())
    for ax in {display.ax_, *display.axes_}:
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
    assert list(display.axes_) == [display.ax_]
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
    assert len(display.axes_) == len(display.bars_) == len(rows)
    for bars, shares in zip(display.bars_, rows, strict=True):
        np.testing.assert_allclose(
            heights_of_bars(bars), [shares[0], shares[2], shares[1] + shares[3]]
        )
    titles = [panel.get_title(loc="left") for panel in display.axes_]
    assert titles == ["document"] * (doc_topic is not None) + [
        "segment 1",
        "segment 2",
        "segment 3",
    ]
    assert labels_of(display) == ["topic 0", "topic 2", "other"]
    ticks = [tick.get_text() for tick in display.axes_[-1].get_xticklabels()]
    assert ticks == ["0", "2", "…"]
    assert display.areas_ is None
    assert len({panel.get_ylim() for panel in display.axes_}) == 1


def test_document_is_above_the_segments():
    rng = np.random.default_rng(0)
    display = TopicEvolutionDisplay.from_predictions(
        rng.dirichlet(np.ones(4), 20), doc_topic=np.full(4, 0.25), kind="bar"
    )
    display.figure_.canvas.draw()
    boxes = [panel.get_position() for panel in display.axes_]
    assert all(box.y1 < boxes[0].y0 for box in boxes[1:])
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("kind", ["area", "bar"])
@pytest.mark.parametrize(("n_segments", "n_components"), [(1, 1), (4, 6), (12, 21), (30, 50)])
def test_texts_do_not_overlap(kind, n_segments, n_components):
    rng = np.random.default_rng(0)
    display = TopicEvolutionDisplay.from_predictions(
        rng.dirichlet(np.full(n_components, 0.3), n_segments),
        doc_topic=np.full(n_components, 1 / n_components),
        topic_names=[f"{k}: one, two, three" for k in range(n_components)],
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
    colors = [to_hex(bar.get_facecolor()) for bar in display.bars_[0]]
    assert colors == [to_hex("red"), to_hex("blue"), GREY.lower()]


def test_given_axes():
    _, axes = plt.subplots(1, 2, layout="constrained")
    numbers = plt.get_fignums()
    for ax, kind in zip(axes, ["area", "bar"], strict=True):
        display = TopicEvolutionDisplay.from_predictions(SHARES, kind=kind, ax=ax)
        assert display.ax_ is ax
        assert display.legend_ is ax.get_legend()
    assert plt.get_fignums() == numbers
    display.figure_.canvas.draw()
    frame = axes[1].get_position().padded(1e-6)
    for panel in display.axes_:
        box = panel.get_position()
        assert frame.contains(box.x0, box.y0)
        assert frame.contains(box.x1, box.y1)


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
    assert len(of_counts.axes_) == 2


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
