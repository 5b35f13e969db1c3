"""Topic shares along the segments of a document or of a whole book."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from skdp._checks import as_floats, check_count, shorten
from skdp.inspection._axes import GREY, PALETTE, add_legend, as_names, check_matplotlib, open_axes
from skdp.inspection._segments import (
    average_neighbors,
    check_cuts,
    check_parts,
    choose_width,
    draw_cuts,
    draw_parts,
    set_segment_axis,
)
from skdp.inspection._topic_models import choose_documents, name_topics, shares_of

_KINDS = ("area", "step", "bar")
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


class TopicEvolutionDisplay:
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
    figure_ : matplotlib Figure
    legend_ : matplotlib Legend
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

    segment_topic: NDArray[np.float64]
    doc_topic: NDArray[np.float64] | None
    topic_names: list[str]
    areas_: list[Any] | None
    bars_: list[Any] | None

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
            if shares.shape != (n_components,):
                raise ValueError(
                    f"doc_topic must have shape ({n_components},), one share for each column of "
                    f"segment_topic, got {shares.shape}."
                )
            self.doc_topic = _check_shares([shares], "doc_topic")[0]
        if topic_names is None:
            topic_names = [f"topic {k}" for k in range(n_components)]
        why = ", one for each column of segment_topic"
        self.topic_names = as_names(topic_names, "topic_names", n_components, why)
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
        n_topics : int, default=8
            See `plot`.
        smooth : int, default=1
            See `plot`.
        colors : list of n_components matplotlib colors, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        TopicEvolutionDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not a topic model.
        ValueError
            If `document` is out of range or has no segments, or X or another argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        _check_shows_cuts(kind, true_cuts)
        check_matplotlib(f"{cls.__name__}.from_estimator")
        chosen = choose_documents(
            estimator, X, document, boundaries, part_names, true_cuts, reads_cuts=kind != "bar"
        )
        if topic_names is None:
            topic_names = name_topics(estimator, feature_names)
        doc_topic, segment_topic = shares_of(estimator, chosen.samples)
        display = cls(
            segment_topic,
            doc_topic=None if doc_topic is None or document is None else doc_topic[0],
            topic_names=topic_names,
            boundaries=chosen.parts.boundaries,
            part_names=chosen.parts.names,
            cut_proba=chosen.cuts.proba,
            true_cuts=chosen.cuts.true,
        )
        if kind is None:
            is_short = document is not None and len(segment_topic) <= _MAX_PANELS and smooth == 1
            kind = "bar" if is_short and not chosen.cuts.are_known else "step"
            if estimator._segments_are_ordered and chosen.cuts.proba is None:
                kind = "area"
        return display.plot(ax, kind=kind, n_topics=n_topics, smooth=smooth, colors=colors)

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
        doc_topic : array-like of shape (n_components,), default=None
            Topic shares of the document.
        topic_names : list of n_components str, default=None
            Labels of the topics. None: "topic 0", "topic 1", ...
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts (chapters), see the class; ``corpus.doc_ptr[1:-1]`` for
            documents, if all documents have segments.
        part_names : list of n_parts str, default=None
            Names of the parts, see the class.
        cut_proba : array-like of shape (n_segments - 1,), default=None
            Probability of a cut in each gap, see the class.
        true_cuts : array-like of int, default=None
            First segments of true parts, see the class.
        kind : {"area", "step", "bar"}, default="area"
            See `plot`.
        n_topics : int, default=8
            See `plot`.
        smooth : int, default=1
            See `plot`.
        colors : list of n_components matplotlib colors, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        TopicEvolutionDisplay

        Raises
        ------
        ValueError
            If shares are negative or do not sum to 1, or shapes do not fit, or another argument is
            invalid.
        ImportError
            If matplotlib is not installed.
        """
        _check_shows_cuts(kind, cut_proba, true_cuts)
        display = cls(
            segment_topic,
            doc_topic=doc_topic,
            topic_names=topic_names,
            boundaries=boundaries,
            part_names=part_names,
            cut_proba=cut_proba,
            true_cuts=true_cuts,
        )
        return display.plot(ax, kind=kind, n_topics=n_topics, smooth=smooth, colors=colors)

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
            Where to draw. None: in a new figure. The legend is to the right of the axes; your own
            figure should have ``layout="constrained"``, which makes room for it.
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

        Returns
        -------
        TopicEvolutionDisplay
            The display itself.

        Raises
        ------
        ValueError
            If an argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ValueError(f"kind must be 'area', 'step' or 'bar', got {kind!r}.")
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
        check_matplotlib(f"{type(self).__name__}.plot")

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
        self.figure_ = self.ax_.figure
        self.legend_ = add_legend(self.ax_, handles, labels)
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

    def _gather(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
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
        self.ax_ = ax = open_axes(ax, (choose_width(self._parts, n_segments), 3.4), labels)
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
        self.ax_ = ax = open_axes(ax, (0.5 + n_columns * width, 0.7 + n_rows), labels)
        top = float(shares.max())
        rows, columns = np.divmod(cells, n_columns)
        floors = np.asarray(-top * (1.0 + _PITCH * rows), dtype=np.float64)
        starts = np.asarray((len(labels) + _PANEL_GAP) * columns, dtype=np.float64)
        _frame_panels(ax, starts, floors, top, len(labels), titles)
        numbers = [str(k) for k in self.topics_] + ["…"] * (len(labels) - len(self.topics_))
        lowest = cells + n_columns > cells[-1]
        _number_bars(ax, starts[lowest], floors[lowest] - 0.05 * top, numbers)
        return [
            _add_bars(ax, starts + i, floors, heights, color)
            for i, (heights, color) in enumerate(zip(shares.T, colors, strict=True))
        ]


def _check_shows_cuts(kind: str | None, *cuts: Any) -> None:
    """Raise if cuts are given for bars, which do not show them."""
    if kind == "bar" and any(each is not None for each in cuts):
        raise ValueError("kind='bar' shows no cuts: use 'step' or 'area'.")


def _outline(ptr: NDArray[np.int64], kind: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
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
    ax: Any,
    starts: NDArray[np.float64],
    floors: NDArray[np.float64],
    top: float,
    n_bars: int,
    titles: list[str],
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


def _number_bars(
    ax: Any, starts: NDArray[np.float64], tops: NDArray[np.float64], numbers: list[str]
) -> None:
    for start, top in zip(starts, tops, strict=True):
        for i, number in enumerate(numbers):
            ax.text(start + i + 0.5, top, number, ha="center", va="top", fontsize="small")


def _add_bars(
    ax: Any,
    left: NDArray[np.float64],
    floors: NDArray[np.float64],
    heights: NDArray[np.float64],
    color: Any,
) -> Any:
    """Return bars (n,), of width 1 with the gap at their right and left, as a collection."""
    from matplotlib.collections import PolyCollection

    x = left[:, None] + [0.08, 0.08, 0.92, 0.92]
    y = floors[:, None] + heights[:, None] * [0.0, 1.0, 1.0, 0.0]
    bars = PolyCollection(list(np.stack([x, y], axis=2)), facecolor=color, edgecolor="none")
    return ax.add_collection(bars, autolim=False)


def _check_shares(shares: Any, name: str) -> NDArray[np.float64]:
    given = as_floats(shares, name)
    array: NDArray[np.float64] = check_array(given, dtype=np.float64, input_name=name)
    if np.any(array < 0) or not np.allclose(array.sum(axis=1), 1.0, rtol=0, atol=1e-4):
        raise ValueError(f"{name} must hold shares: non-negative, with sums of 1.")
    return array
