"""Topic shares along the segments of a document or book; common parts of displays of segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from skdp._checks import as_floats, check_choice, check_count, shorten
from skdp._numeric import Floats, Places
from skdp.data import check_corpus
from skdp.data._ragged import Offsets, offsets
from skdp.inspection._axes import (
    GREY,
    LITERAL,
    PALETTE,
    Display,
    as_names,
    check_index,
    check_inner,
    check_model,
    check_names,
    check_shape,
    draw_boundaries,
    write_name,
)

# Plots along segments: cuts, and names of parts, such as chapters or documents.


_LINES = (2.4, 0.8)
"""Widths of the lines between parts, with and without their rim."""
_NAMES = "part names"
"""Label by which the axis of names is identified."""
_LONGEST = 40
"""Largest number of drawn characters of a name, which fill the axes' height if vertical."""
_GAP_INCHES = 0.05
"""Least gap between two names."""


_CUTS = "cuts"
"""Identifier of the artists that show cuts."""


class Cuts(NamedTuple):
    """What is known of cuts between the segments of a document."""

    cut_proba: NDArray[np.float64] | None
    """(n_segments - 1,) probability of a cut in each gap; nan: no gap of a document."""
    true_cuts: NDArray[np.int64] | None
    """The first segment of each true part but the first."""


class NamedParts(NamedTuple):
    """Offsets of parts in a sequence of segments, and their names if they have any."""

    ptr: Offsets
    names: list[str] | None

    @property
    def boundaries(self) -> NDArray[np.int64]:
        """(n_parts - 1,) array of the first segments, from 0, of all parts except the first."""
        return self.ptr[1:-1]


def check_parts(
    n_segments: int,
    boundaries: ArrayLike | None,
    part_names: Sequence[str] | None,
    name: str = "boundaries",
) -> NamedParts:
    """Return the parts of `n_segments` segments between boundaries."""
    if boundaries is None:
        if part_names is not None:
            raise ValueError("part_names are the names of parts between boundaries: give both.")
        return NamedParts(offsets([n_segments]), None)
    ptr = check_inner(boundaries, name, n_segments, "segments")
    names = None
    if part_names is not None:
        why = ", one more than there are boundaries"
        names = as_names(part_names, "part_names", len(ptr) - 1, why)
    return NamedParts(ptr, names)


def check_cuts(n_segments: int, cut_proba: ArrayLike | None, true_cuts: ArrayLike | None) -> Cuts:
    """Return the probabilities of cuts and the true cuts of `n_segments` segments."""
    proba = true = None
    if cut_proba is not None:
        proba = as_floats(cut_proba, "cut_proba")
        what = "one probability for each gap between segments"
        check_shape(proba, "cut_proba", (n_segments - 1,), what)
        if np.any((proba < 0.0) | (proba > 1.0)):
            raise ValueError("cut_proba must hold probabilities in [0, 1], or nan.")
    if true_cuts is not None:
        true = check_parts(n_segments, true_cuts, None, name="true_cuts").boundaries
    return Cuts(proba, true)


def average_neighbors(shares: Floats, ptr: Offsets, width: int) -> Floats:
    """Return the means of rows over windows of `width` rows, truncated at the ends of parts."""
    if width == 1:
        return shares
    sizes = np.diff(ptr)
    row = np.arange(len(shares))
    low = np.maximum(row - width // 2, np.repeat(ptr[:-1], sizes))
    high = np.minimum(row + width // 2 + 1, np.repeat(ptr[1:], sizes))
    sums = np.vstack([np.zeros((1, shares.shape[1])), np.cumsum(shares, axis=0)])
    means = np.maximum((sums[high] - sums[low]) / (high - low)[:, None], 0.0)
    return means / means.sum(axis=1, keepdims=True)  # corrects rounding errors


def choose_width(parts: NamedParts, n_segments: int) -> float:
    """Return the suitable width in inches for a sequence of segments."""
    return float(np.clip(max(0.03 * n_segments, 0.27 * (len(parts.ptr) - 1)), 5.6, 10.0))


def set_segment_axis(ax: Any, n_segments: int) -> None:
    """Label the x axis with the numbers of segments, from 1."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(integer=True).tick_values(0, n_segments), dtype=int)
    ticks = ticks[(ticks > ticks[1] // 2) & (ticks <= n_segments)]  # none too close to 1
    ax.set_xticks(np.union1d(1, ticks))
    ax.set(xlim=(0.5, n_segments + 0.5), xlabel="segment")


def draw_parts(ax: Any, parts: NamedParts) -> None:
    """Draw lines between parts, and names above, unless drawn; call it last, after the layout."""
    places = parts.boundaries + 0.5
    if len(places) and not any(line.get_gid() == _NAMES for line in ax.collections):
        widths = _LINES if len(places) <= 40 else (_LINES[0] / 3, _LINES[1] / 3)
        draw_boundaries(ax, places, widths, gid=_NAMES)
    if parts.names and not any(axis.get_label() == _NAMES for axis in ax.child_axes):
        names = np.array([write_name(name, _LONGEST) for name in parts.names], dtype=object)
        _write_names(ax, parts.ptr, names)


def draw_cuts(ax: Any, cuts: Cuts) -> list[Any]:
    """Draw probabilities of cuts as lines, true cuts as triangles; return the legend's handles."""
    where = {"transform": ax.get_xaxis_transform(), "gid": _CUTS, "zorder": 3}
    if cuts.cut_proba is not None:
        places = np.arange(len(cuts.cut_proba)) + 1.5
        heights = np.nan_to_num(cuts.cut_proba)
        rim, line = (
            ax.vlines(places, 0.0, heights, color=color, linewidth=width, **where)
            for color, width in (("white", 3.6), ("black", 1.6))
        )
        rim.set_label("_rim")
        line.set_label("probability of a cut")
    if cuts.true_cuts is not None:
        heights = np.full(len(cuts.true_cuts), 0.96)
        style = {"marker": "v", "facecolor": "black", "edgecolor": "white", "label": "true cut"}
        ax.scatter(cuts.true_cuts + 0.5, heights, **style, **where)
    return find_cuts(ax)


def find_cuts(ax: Any) -> list[Any]:
    """Return the artists that show cuts, one for each label."""
    drawn = [artist for artist in ax.collections if artist.get_gid() == _CUTS]
    by_label = {artist.get_label(): artist for artist in drawn}
    return [artist for label, artist in by_label.items() if not label.startswith("_")]


def _write_names(ax: Any, ptr: Offsets, names: NDArray[np.object_]) -> None:
    centers = (ptr[:-1] + ptr[1:] + 1) / 2
    axis = ax.secondary_xaxis("top", label=_NAMES)
    axis.set_xticks(centers, names, **LITERAL)
    axis.tick_params(length=0, labelsize="small", pad=2.0)
    axis.spines["top"].set_visible(False)
    figure = ax.figure.figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axis.get_xticklabels()]
    at = ax.transData.transform(np.column_stack([centers, np.zeros(len(names))]))[:, 0]
    widths = np.array([box.width for box in boxes])
    gap = _GAP_INCHES * figure.dpi
    kept = _find_room(at, widths + gap, np.diff(ptr))
    if len(kept) < len(names):  # vertical names take the width of a line each
        kept = _find_room(at, np.full(len(at), boxes[0].height) + gap / 2, np.diff(ptr))
        axis.set_xticks(centers[kept], names[kept], rotation=90, **LITERAL)


def _find_room(at: Floats, widths: Floats, sizes: Places) -> NDArray[np.intp]:
    """Return the indices of names, centered at `at`, that do not overlap, large parts first."""
    kept: list[int] = []
    for i in np.argsort(-sizes, kind="stable").tolist():
        if all(abs(at[i] - at[j]) >= (widths[i] + widths[j]) / 2 for j in kept):
            kept.append(i)
    return np.sort(np.array(kept, dtype=np.intp))


# Documents, shares and topic names of fitted topic models.


TOPIC_MODEL = "a topic model of skdp.topics"

_N_LABEL_WORDS = 3


class Chosen(NamedTuple):
    """Documents of X to draw."""

    samples: Any
    """Input with these documents."""
    doc_ptr: Offsets
    """Offsets of the documents in their segments."""
    rows: slice
    """Slice of their segments in those of X."""
    n_rows: int
    """Number of segments of X."""
    marks: dict[str, Any]
    """The arguments of displays that draw the parts and the cuts."""
    cuts: Cuts


def choose_documents(
    estimator: Any,
    X: Any,
    document: int | None,
    boundaries: ArrayLike | None,
    part_names: Sequence[str] | None,
    true_cuts: ArrayLike | None = None,
    *,
    reads_cuts: bool = False,
) -> Chosen:
    """Return a single document with the given parts, or all documents (None), each as a part."""
    check_model(estimator, TOPIC_MODEL, "transform_segments")
    corpus = check_corpus(estimator, X, reset=False)
    ptr = corpus.doc_ptr
    n_rows = int(ptr[-1])
    if document is None:
        if true_cuts is not None:
            raise ValueError("true_cuts must not be given if document is None.")
        if boundaries is not None:
            raise ValueError(
                "boundaries must not be given if document is None: they are those of the documents."
            )
        if part_names is not None and len(part_names) != len(ptr) - 1:
            raise ValueError(
                f"part_names must hold {len(ptr) - 1} names, one for each document of X, got "
                f"{len(part_names)}."
            )
        filled = np.flatnonzero(np.diff(ptr))  # empty documents have no position
        if len(filled) == 0:
            raise ValueError("X has no segments to plot.")
        if part_names is not None:
            part_names = [part_names[int(d)] for d in filled]
        samples, doc_ptr, boundaries, first = X, ptr, ptr[filled[1:]], 0
    else:
        document = check_index(document, "document", len(corpus), "documents")
        chosen = slice(document, document + 1)
        # A data frame is kept, because its columns have names to check.
        samples = (getattr(X, "iloc", X) if hasattr(X, "columns") else corpus)[chosen]
        doc_ptr, first = corpus[chosen].doc_ptr, int(ptr[document])
        if doc_ptr[-1] == 0:
            raise ValueError(f"document {document} has no segments to plot.")
        if boundaries is None and corpus.part_ptr is not None:  # those of a divided corpus
            boundaries = corpus[chosen].part_ptr[1:-1]
    n = int(doc_ptr[-1])
    parts = check_parts(n, boundaries, part_names)
    proba = None
    if reads_cuts and hasattr(estimator, "predict_proba"):
        gaps = np.full(n, np.nan)  # between documents
        for begin, found in zip(doc_ptr[:-1], estimator.predict_proba(samples), strict=True):
            gaps[begin : begin + len(found)] = found
        proba = gaps[:-1]
    cuts = check_cuts(n, proba, true_cuts)
    marks = {"boundaries": parts.boundaries, "part_names": parts.names, **cuts._asdict()}
    return Chosen(samples, doc_ptr, slice(first, first + n), n_rows, marks, cuts)


def shares_of(estimator: Any, samples: Any) -> tuple[Any, Any]:
    """Return the shares of topics in documents (None: of something else, LDCC) and in segments."""
    doc_topic, segment_topic = estimator._fold_in(samples)[:2]
    return (doc_topic if estimator._documents_share_topics else None), segment_topic


def name_topics(estimator: Any, feature_names: ArrayLike | None) -> list[str] | None:
    """Return topic names: given ones, else most probable words, or numbers; None: numbers only."""
    check_model(estimator, TOPIC_MODEL, "top_words")
    if feature_names is None and estimator._topic_names is not None:
        return list(estimator._topic_names)
    given = estimator._given_names()
    if feature_names is None and not hasattr(estimator, "feature_names_in_"):
        if not any(given):
            return None
        return [f"topic {k}" if name is None else name for k, name in enumerate(given)]
    n_words = min(_N_LABEL_WORDS, estimator.n_features_in_)
    return estimator._name_by_words(estimator.top_words(feature_names, n_words))


# Topic shares along segments.


_MAX_EDGED = 40
"""Number of segments beyond which white edges would cover thin areas."""
_MAX_PANELS = 24
"""Largest number of segments that have a panel each by default."""
_MAX_WIDTH = 12.0
"""Largest width of panels of bars next to each other, in inches."""
_PITCH = 1.45
"""Distance between panels in a column, in heights of a panel, with a title of one line."""
_PANEL_GAP = 1.3
"""Gap between panels next to each other, in bars."""


class TopicEvolutionDisplay(Display):
    """Topic shares along the segments of a document or of a whole book, one color per topic.

    Create it with `from_estimator` or `from_predictions`. There are three kinds of plot:
    ``"area"``, the shares of all segments stacked to 1 along the document (as in [1]_, figures 6.6
    and 7.7); ``"step"``, the same with one column per segment and nothing drawn between columns;
    and ``"bar"``, one panel per segment, below a panel of the whole document if its shares are
    known (figure 5.7).

    The topics with the largest mean shares over the segments are shown, the largest at the top of
    the stack and on the left of the bars; the rest is combined as "other", in gray.

    Parameters
    ----------
    segment_topic : array-like of shape (n_segments, n_components)
        Topic shares of the segments, nu, in reading order. Rows sum to 1.
    doc_topic : array-like of shape (n_components,), default=None
        Topic shares of the document, mu: an additional panel in a plot of kind "bar".
    topic_names : list of n_components str, default=None
        Labels of the topics. None: "topic 0", "topic 1", ..., the rows of ``components_``.
    boundaries : array-like of int, shape (n_parts - 1,), default=None
        Boundaries between parts (chapters): the first segments, counted from 0, of all parts except
        the first, in ascending order from 1 to n_segments - 1. They are marked by lines; areas do
        not cross them.
    part_names : list of n_parts str, default=None
        Short names of the parts, to be written above them. If they do not fit side by side, they
        are written vertically; if even that does not fit, those of small parts are left out.
    cut_proba : array-like of shape (n_segments - 1,), default=None
        Probability that the document changes its subject in each gap between segments, as
        `TopicSegmenter.predict_proba` returns it: black lines whose heights are the probabilities
        (1: the height of the axes). nan: none.
    true_cuts : array-like of int, default=None
        The first segments, counted from 0, of all true parts except the first: triangles at the
        top.

    Attributes
    ----------
    segment_topic, doc_topic, topic_names
        As passed, as arrays and a list.
    boundaries, part_names
        As passed, as an array and a list or None. Without boundaries, an array of length 0.
    cut_proba, true_cuts
        As passed, as arrays or None.
    ax_ : matplotlib Axes
        The axes given to `plot` or made by it.
    figure_, legend_ : matplotlib Figure and Legend
    topics_ : ndarray of int
        The topics shown, the largest mean share first.
    areas_ : list of matplotlib PolyCollection, or None
        One area for each of `topics_`, then one for "other" if there are other topics. None for
        kind "bar".
    bars_ : list of matplotlib PolyCollection, or None
        One collection for each of `topics_`, then one for "other" if there are other topics. Each
        has one bar per panel: for the document, if `doc_topic` is known, then for the segments.
        None for other kinds.

    See Also
    --------
    skdp.topics.SegmentedTopicModel : Finds topics in documents made of segments.
    HellingerDisplay : Plots how far topics move from segment to segment.
    TraceDisplay : Plots the chains of a fit.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.inspection import TopicEvolutionDisplay
    >>> shares = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.1, 0.8, 0.1]]
    >>> display = TopicEvolutionDisplay.from_predictions(shares, n_topics=2)
    >>> display.topics_
    array([1, 0])
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['topic 1', 'topic 0', 'other']
    """

    def __init__(
        self,
        segment_topic: ArrayLike,
        *,
        doc_topic: ArrayLike | None = None,
        topic_names: Sequence[str] | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        cut_proba: ArrayLike | None = None,
        true_cuts: ArrayLike | None = None,
    ):
        self.segment_topic = _check_shares(segment_topic, "segment_topic")
        n_components = self.segment_topic.shape[1]
        self.doc_topic = None
        if doc_topic is not None:
            shares = as_floats(doc_topic, "doc_topic")
            what = "one share for each column of segment_topic"
            check_shape(shares, "doc_topic", (n_components,), what)
            self.doc_topic = _check_shares([shares], "doc_topic")[0]
        why = ", one for each column of segment_topic"
        self.topic_names = check_names(topic_names, "topic_names", n_components, "topic ", why)
        self._parts = check_parts(len(self.segment_topic), boundaries, part_names)
        self.boundaries, self.part_names = self._parts.boundaries, self._parts.names
        self._cuts = check_cuts(len(self.segment_topic), cut_proba, true_cuts)
        self.cut_proba, self.true_cuts = self._cuts

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        document: int | None = 0,
        feature_names: ArrayLike | None = None,
        topic_names: Sequence[str] | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        true_cuts: ArrayLike | None = None,
        kind: str | None = None,
        n_topics: int = 8,
        smooth: int = 1,
        colors: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the topic shares of a document, or of all documents end to end, under a fitted
        model.

        Parameters
        ----------
        estimator : fitted topic model
            With ``transform`` and ``transform_segments``.
        X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
            As for the methods of the estimator.
        document : int or None, default=0
            Index of the document in X. None: all documents end to end, such as the chapters of a
            book, with boundaries between them; kind "bar" then has only panels of segments.
        feature_names : array-like of shape (n_features,), default=None
            Names of the words, such as those from a vectorizer's ``get_feature_names_out()``. With
            them, the label of a topic is its number and most probable words. None: the names seen
            in ``fit`` if X was a data frame.
        topic_names : list of n_components str, default=None
            Labels of the topics. None: made from `feature_names` if known, otherwise "topic 0", ...
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts of the document, see the class. Only for a single document.
            None: those of the corpus, if it is divided into parts.
        part_names : list of str, default=None
            Names of the parts, see the class; of all documents in X if `document` is None.
        true_cuts : array-like of int, default=None
            First segments of true parts, see the class. Only for a single document.
        kind : {"area", "step", "bar"} or None, default=None
            See `plot`. None: "area" if the model has ordered segments (`SequentialLDA`,
            `AdaptiveTopicModel`). Segments of other models are exchangeable, and nothing is drawn
            between them: "bar" for one document of up to 24 segments, otherwise "step". If there
            are cuts to show, not "bar", and "step" for `TopicSegmenter`, since shares change at
            cuts.
        n_topics, smooth, colors, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a topic model.
        ValueError, ImportError
            If `document` is out of range or has no segments, or X or another argument is invalid,
            or matplotlib is not installed.
        """
        _check_shows_cuts(kind, true_cuts)
        cls._check_matplotlib()
        chosen = choose_documents(
            estimator, X, document, boundaries, part_names, true_cuts, reads_cuts=kind != "bar"
        )
        if topic_names is None:
            topic_names = name_topics(estimator, feature_names)
        doc_topic, segment_topic = shares_of(estimator, chosen.samples)
        doc_topic = None if doc_topic is None or document is None else doc_topic[0]
        if kind is None:
            is_short = document is not None and len(segment_topic) <= _MAX_PANELS and smooth == 1
            has_cuts = any(each is not None for each in chosen.cuts)
            kind = "bar" if is_short and not has_cuts else "step"
            if estimator._segments_are_ordered and chosen.cuts.cut_proba is None:
                kind = "area"
        return cls._show(locals(), **chosen.marks)

    @classmethod
    def from_predictions(
        cls,
        segment_topic: ArrayLike,
        *,
        doc_topic: ArrayLike | None = None,
        topic_names: Sequence[str] | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        cut_proba: ArrayLike | None = None,
        true_cuts: ArrayLike | None = None,
        kind: str = "area",
        n_topics: int = 8,
        smooth: int = 1,
        colors: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot given topic shares.

        Parameters
        ----------
        segment_topic : array-like of shape (n_segments, n_components)
            Topic shares of the segments of the document, such as rows of ``transform_segments(X)``
            or of the attribute ``segment_topic_``. Rows sum to 1.
        doc_topic, topic_names
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts (chapters), see the class; ``corpus.doc_ptr[1:-1]`` for
            documents, if all documents have segments.
        part_names, cut_proba, true_cuts
        kind, n_topics, smooth, colors, ax

        Raises
        ------
        ValueError, ImportError
            If shares are negative or do not sum to 1, or shapes do not fit, or another argument is
            invalid, or matplotlib is not installed.
        """
        _check_shows_cuts(kind, cut_proba, true_cuts)
        return cls._show(locals())

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "area",
        n_topics: int = 8,
        smooth: int = 1,
        colors: Sequence[Any] | None = None,
    ) -> Self:
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for the legend on the right.
        kind : {"area", "step", "bar"}, default="area"
            Areas stacked along the document, with straight lines from segment to segment; stacked
            columns, one per segment; or bars, with one panel per segment. Segments are numbered
            from 1. Bars suit documents of up to a few dozen segments, the other two whole books.
            Bars show no cuts.
        n_topics : int, default=8
            Number of topics to show, >= 1; the rest is combined as "other".
        smooth : int, default=1
            Draw means over this many neighboring segments, an odd number; windows end at boundaries
            and at both ends of the document. The label of the y axis mentions it. 1: the shares
            themselves. Not for kind "bar".
        colors : list of n_components matplotlib colors, default=None
            The color of each topic. None: with up to 20 topics, each topic has a fixed color, so
            documents can be compared; with more, colors follow the rank in the document and repeat
            from the 21st topic on.

        Raises
        ------
        ValueError, ImportError
            If an argument is invalid, or matplotlib is not installed.
        """
        check_choice(kind, "kind", "area", "step", "bar")
        n_topics = check_count(n_topics, "n_topics", at_least=1)
        smooth = check_count(smooth, "smooth", at_least=1)
        if smooth % 2 == 0:
            raise ValueError(f"smooth must be odd, got {smooth}.")
        if kind == "bar" and smooth > 1:
            raise ValueError("smooth must be 1 for kind='bar': bars show single segments.")
        n_components = self.segment_topic.shape[1]
        if colors is not None:
            if isinstance(colors, str | dict | set) or not hasattr(colors, "__iter__"):
                raise ValueError(
                    f"colors must be a list of {n_components} colors, got {shorten(colors)}."
                )
            colors = list(colors)
            if len(colors) != n_components:
                raise ValueError(f"colors must hold {n_components} colors, got {len(colors)}.")
        self._check_matplotlib("plot")

        order = np.argsort(-self.segment_topic.mean(axis=0), kind="stable")
        self.topics_ = order[:n_topics]
        shown_colors = self._colors(colors)
        labels = [self.topic_names[k] for k in self.topics_]
        if n_components > n_topics:
            shown_colors.append(GREY)
            labels.append("other")
        self.areas_ = self.bars_ = None
        if kind == "bar":
            handles = self.bars_ = self._draw_bars(ax, shown_colors, labels)
        else:
            handles = self.areas_ = self._draw_areas(ax, shown_colors, labels, kind, smooth)
            marks = draw_cuts(self.ax_, self._cuts)
            handles = [*handles, *marks]
            labels += [mark.get_label() for mark in marks]
        self._add_legend(handles, labels)
        if kind != "bar":
            draw_parts(self.ax_, self._parts)
        return self

    def _colors(self, colors: Sequence[Any] | None) -> list[Any]:
        """Return the colors of the topics shown."""
        if colors is not None:
            from matplotlib.colors import is_color_like

            for k, color in enumerate(colors):
                if not is_color_like(color):
                    raise ValueError(f"colors must hold matplotlib colors, got {color!r} for {k}.")
            return [colors[k] for k in self.topics_]
        by_topic = self.segment_topic.shape[1] <= len(PALETTE)
        keys = self.topics_ if by_topic else range(len(self.topics_))
        return [PALETTE[key % len(PALETTE)] for key in keys]

    def _gather(self, shares: Floats) -> Floats:
        """Return the shares (n, K) of the topics shown, and of the others if there are any."""
        shown = shares[:, self.topics_]
        if shown.shape[1] == shares.shape[1]:
            return shown
        rest = np.delete(shares, self.topics_, axis=1).sum(axis=1, keepdims=True)
        return np.hstack([shown, rest])

    def _draw_areas(
        self, ax: Any, colors: list[Any], labels: list[str], kind: str, smooth: int
    ) -> list[Any]:
        """Draw and return stacked areas."""
        n_segments = len(self.segment_topic)
        ax = self._open(ax, (choose_width(self._parts, n_segments), 3.4), labels)
        shares = average_neighbors(self._gather(self.segment_topic), self._parts.ptr, smooth)
        x, rows = _outline(self._parts.ptr, kind)
        floors = np.maximum(1.0 - np.cumsum(shares, axis=1), 0.0)[rows]
        floors[:, -1] = 0.0
        ceilings = np.hstack([np.ones((len(x), 1)), floors[:, :-1]])
        set_segment_axis(ax, n_segments)
        name = "topic share" if smooth == 1 else f"topic share, mean of {smooth} segments"
        ax.set(ylim=(0, 1), ylabel=name)
        return [
            ax.fill_between(
                x,
                floor,
                ceiling,
                facecolor=color,
                edgecolor="white" if n_segments <= _MAX_EDGED else color,
                linewidth=0.4,
            )
            for floor, ceiling, color in zip(floors.T, ceilings.T, colors, strict=True)
        ]

    def _draw_bars(self, ax: Any, colors: list[Any], labels: list[str]) -> list[Any]:
        """Draw and return the bars, in panels of a single axes, which is fast for hundreds."""
        shares = self._gather(self.segment_topic)
        titles = [f"segment {j}" for j in range(1, len(shares) + 1)]
        width = 0.35 + 0.24 * len(labels)  # width of a panel, in inches
        n_columns = min(math.ceil(len(shares) / 6), max(1, int(_MAX_WIDTH / width)))
        cells = np.arange(len(shares))
        if self.doc_topic is not None:  # above the segments, alone in its row
            shares = np.vstack([self._gather(self.doc_topic[None]), shares])
            titles.insert(0, "document")
            cells = np.concatenate([[0], n_columns + cells])
        n_rows = int(cells[-1]) // n_columns + 1
        ax = self._open(ax, (0.5 + n_columns * width, 0.7 + n_rows), labels)
        top = float(shares.max())
        rows, columns = np.divmod(cells, n_columns)
        floors = np.asarray(-top * (1.0 + _PITCH * rows), dtype=np.float64)
        starts = np.asarray((len(labels) + _PANEL_GAP) * columns, dtype=np.float64)
        _frame_panels(ax, starts, floors, top, len(labels), titles)
        numbers = [str(k) for k in self.topics_] + ["…"] * (len(labels) - len(self.topics_))
        lowest = cells + n_columns > cells[-1]
        for x, y in zip(starts[lowest] + 0.5, floors[lowest] - 0.05 * top, strict=True):
            for i, number in enumerate(numbers):
                ax.text(x + i, y, number, ha="center", va="top", fontsize="small")
        return [
            _add_bars(ax, starts + i, floors, heights, color)
            for i, (heights, color) in enumerate(zip(shares.T, colors, strict=True))
        ]


def _check_shows_cuts(kind: str | None, *cuts: Any) -> None:
    """Raise if cuts are given for bars, which do not show them."""
    if kind == "bar" and any(each is not None for each in cuts):
        raise ValueError("kind='bar' shows no cuts: use 'step' or 'area'.")


def _outline(ptr: Places, kind: str) -> tuple[Floats, Places]:
    """Return the positions of the vertices of areas, and the segment of each vertex."""
    segments = np.arange(ptr[-1])
    if kind == "step":
        rows = np.repeat(segments, 2)
        return rows + np.tile([0.5, 1.5], len(segments)), rows
    # Flat ends give the first and last segment of a part as much room as the others.
    firsts, lasts = ptr[:-1], ptr[1:] - 1
    x = np.concatenate([firsts + 0.5, segments + 1.0, lasts + 1.5])
    rows = np.concatenate([firsts, segments, lasts])
    order = np.lexsort([x, rows])
    return x[order], rows[order]


def _frame_panels(
    ax: Any, starts: Floats, floors: Floats, top: float, n_bars: int, titles: list[str]
) -> None:
    """Draw axes, scales and titles of the panels of bars."""
    from matplotlib.collections import LineCollection

    corners = np.array([[0.0, top], [0.0, 0.0], [n_bars, 0.0]])
    frames = np.stack([starts, floors], axis=1)[:, None] + corners
    ax.add_collection(LineCollection(frames, color="black", linewidth=0.8), autolim=False)
    for x, y, title in zip(starts, floors + 1.06 * top, titles, strict=True):
        ax.text(x, y, title, fontsize="small", va="bottom")
    tick = next(tick for tick in (1.0, 0.5, 0.2, 0.1, 0.05, 0.0) if tick <= top)
    rows = np.unique(floors)
    values = np.tile([0.0, tick], len(rows))
    ax.set_yticks(np.repeat(rows, 2) + values, [f"{v:g}" for v in values], fontsize="small")
    ax.set(xticks=[], frame_on=False, xlabel="topic", ylabel="topic share")
    ax.set_xlim(0.0, starts.max() + n_bars)
    ax.set_ylim(floors.min() - 0.25 * top, 0.35 * top)


def _add_bars(ax: Any, left: Floats, floors: Floats, heights: Floats, color: Any) -> Any:
    """Return bars (n,), of width 1 with the gap at their right and left, as a collection."""
    from matplotlib.collections import PolyCollection

    x = left[:, None] + [0.08, 0.08, 0.92, 0.92]
    y = floors[:, None] + heights[:, None] * [0.0, 1.0, 1.0, 0.0]
    bars = PolyCollection(list(np.stack([x, y], axis=2)), facecolor=color, edgecolor="none")
    return ax.add_collection(bars, autolim=False)


def _check_shares(shares: Any, name: str) -> Floats:
    given = as_floats(shares, name)
    array: NDArray[np.float64] = check_array(given, dtype=np.float64, input_name=name)
    if np.any(array < 0) or not np.allclose(array.sum(axis=1), 1.0, rtol=0, atol=1e-4):
        raise ValueError(f"{name} must hold shares: non-negative, with sums of 1.")
    return array
