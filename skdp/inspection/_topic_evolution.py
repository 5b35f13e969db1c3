"""Topic shares along the segments of a document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from skdp.data import check_corpus
from skdp.inspection._axes import (
    GREY,
    PALETTE,
    add_legend,
    check_matplotlib,
    make_panels,
    open_axes,
)
from skdp.processes._checks import check_count

_N_LABEL_WORDS = 3
_KINDS = ("area", "bar")
_MAX_EDGED = 40
"""With more segments white edges would swallow thin areas."""
_MAX_WIDTH = 12.0
"""Panels of bars next to each other, in inches."""


class TopicEvolutionDisplay:
    """Topic shares along the segments of one document, one colour a topic.

    Make it by `from_estimator` or `from_predictions`. Two kinds of plot: ``"area"``, the shares of
    all segments stacked to 1 along the document (as [1]_, figures 6.6 and 7.7); and ``"bar"``, a
    panel a segment, below one of the whole document if its shares are known (figure 5.7).

    The topics with the largest mean shares over the segments are shown, the largest at the top of
    the stack and at the left of the bars; the others are gathered as "other", in grey.

    Parameters
    ----------
    segment_topic : array-like of shape (n_segments, n_components)
        Topic shares of the document's segments, nu. Rows sum to 1.
    doc_topic : array-like of shape (n_components,), default=None
        Topic shares of the document, mu: a panel of their own in a plot of kind "bar".
    topic_names : list of n_components str, default=None
        Labels of the topics. None: "topic 0", "topic 1", ..., the rows of ``components_``.

    Attributes
    ----------
    segment_topic, doc_topic, topic_names
        As passed, as arrays and a list.
    ax_ : matplotlib Axes
        The axes given to `plot` or made by it. For kind "bar" the frame of the panels, itself
        invisible.
    axes_ : ndarray of matplotlib Axes
        What the shares are drawn in: one for kind "area"; for kind "bar" one of the document if
        `doc_topic` is known, then one a segment.
    figure_ : matplotlib Figure
    legend_ : matplotlib Legend
    topics_ : ndarray of int
        The topics shown, the largest mean share first.
    areas_ : list of matplotlib PolyCollection, or None
        One for each of `topics_`, then one for "other" if there are others. None for kind "bar".
    bars_ : list of matplotlib BarContainer, or None
        One for each of `axes_`, each with a bar for each of `topics_`, then one for "other" if
        there are others. None for kind "area".

    See Also
    --------
    skdp.topics.SegmentedTopicModel : Topics of documents made of segments.
    TraceDisplay : How the chains of a fit ran.

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
    ):
        self.segment_topic = _check_shares(segment_topic, "segment_topic")
        n_components = self.segment_topic.shape[1]
        self.doc_topic = None
        if doc_topic is not None:
            if np.shape(doc_topic) != (n_components,):
                raise ValueError(
                    f"doc_topic must have shape ({n_components},), one share for each column of "
                    f"segment_topic, got {np.shape(doc_topic)}."
                )
            self.doc_topic = _check_shares([doc_topic], "doc_topic")[0]
        if topic_names is None:
            topic_names = [f"topic {k}" for k in range(n_components)]
        self.topic_names = [str(name) for name in topic_names]
        if len(self.topic_names) != n_components:
            raise ValueError(
                f"topic_names must hold {n_components} names, one for each column of "
                f"segment_topic, got {len(self.topic_names)}."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        document: int = 0,
        feature_names: ArrayLike | None = None,
        topic_names: Sequence[str] | None = None,
        kind: str = "area",
        n_topics: int = 8,
        colors: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot what a fitted topic model makes of a document.

        Parameters
        ----------
        estimator : fitted topic model
            With ``transform`` and ``transform_segments``.
        X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
            As for the methods of the estimator.
        document : int, default=0
            Which document of X, from 0.
        feature_names : array-like of shape (n_features,), default=None
            Names of the words, such as a vectorizer's ``get_feature_names_out()``. With them, the
            label of a topic is its number and most probable words. None: those seen in ``fit`` if
            its X was a data frame.
        topic_names : list of n_components str, default=None
            Labels of the topics. None: made of `feature_names` if known, "topic 0", ... otherwise.
        kind : {"area", "bar"}, default="area"
            See `plot`.
        n_topics : int, default=8
            See `plot`.
        colors : list of n_components matplotlib colours, default=None
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
        ValueError
            If `document` is out of range or has no segments, or X or another argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_is_fitted(estimator)
        corpus = check_corpus(estimator, X, reset=False)
        document = check_count(document, "document")
        if document >= len(corpus):
            raise ValueError(
                f"document must be below the number of documents in X, {len(corpus)}, "
                f"got {document}."
            )
        if corpus.doc_ptr[document] == corpus.doc_ptr[document + 1]:
            raise ValueError(f"document {document} has no segments to plot.")
        # A data frame stays one: its columns have names to check.
        samples = getattr(X, "iloc", X) if hasattr(X, "columns") else corpus
        chosen = samples[document : document + 1]
        if topic_names is None:
            topic_names = _name_topics(estimator, feature_names)
        display = cls(
            estimator.transform_segments(chosen),
            doc_topic=np.asarray(estimator.transform(chosen))[0],
            topic_names=topic_names,
        )
        return display.plot(ax, kind=kind, n_topics=n_topics, colors=colors)

    @classmethod
    def from_predictions(
        cls,
        segment_topic: ArrayLike,
        *,
        doc_topic: ArrayLike | None = None,
        topic_names: Sequence[str] | None = None,
        kind: str = "area",
        n_topics: int = 8,
        colors: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot given topic shares.

        Parameters
        ----------
        segment_topic : array-like of shape (n_segments, n_components)
            Topic shares of the document's segments, such as rows of ``transform_segments(X)`` or
            of the attribute ``segment_topic_``. Rows sum to 1.
        doc_topic : array-like of shape (n_components,), default=None
            Topic shares of the document.
        topic_names : list of n_components str, default=None
            Labels of the topics. None: "topic 0", "topic 1", ...
        kind : {"area", "bar"}, default="area"
            See `plot`.
        n_topics : int, default=8
            See `plot`.
        colors : list of n_components matplotlib colours, default=None
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
        display = cls(segment_topic, doc_topic=doc_topic, topic_names=topic_names)
        return display.plot(ax, kind=kind, n_topics=n_topics, colors=colors)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "area",
        n_topics: int = 8,
        colors: Sequence[Any] | None = None,
    ) -> Self:
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure. The legend stands to the right of the axes: a figure
            of yours should have ``layout="constrained"``, to make room for it.
        kind : {"area", "bar"}, default="area"
            Areas stacked along the document, or bars in a panel a segment. Segments are numbered
            from 1. Bars suit documents of up to some dozens of segments.
        n_topics : int, default=8
            Topics to show, >= 1; the others are gathered as "other".
        colors : list of n_components matplotlib colours, default=None
            The colour of every topic. None: with up to 20 topics a colour belongs to a topic, so
            that documents can be compared; with more, to its rank in the document (from the 21st
            shown on they repeat).

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
        if kind not in _KINDS:
            raise ValueError(f"kind must be 'area' or 'bar', got {kind!r}.")
        n_topics = check_count(n_topics, "n_topics", at_least=1)
        n_components = self.segment_topic.shape[1]
        if colors is not None and len(colors) != n_components:
            raise ValueError(f"colors must hold {n_components} colours, got {len(colors)}.")
        check_matplotlib(f"{type(self).__name__}.plot")

        order = np.argsort(-self.segment_topic.mean(axis=0), kind="stable")
        self.topics_ = order[:n_topics]
        shown_colors = self._colors(colors)
        labels = [self.topic_names[k] for k in self.topics_]
        if n_components > n_topics:
            shown_colors.append(GREY)
            labels.append("other")
        draw = self._draw_areas if kind == "area" else self._draw_bars
        handles = draw(ax, shown_colors, labels)
        self.figure_ = self.ax_.figure
        self.legend_ = add_legend(self.ax_, handles, labels)
        return self

    def _colors(self, colors: Sequence[Any] | None) -> list[Any]:
        """Return the colours of the topics shown."""
        if colors is not None:
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

    def _draw_areas(self, ax: Any, colors: list[Any], labels: list[str]) -> list[Any]:
        """Draw stacked areas; return what stands for the topics in the legend."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = ax = open_axes(ax, (5.6, 3.4), labels)
        self.axes_ = np.array([ax], dtype=object)
        shares = self._gather(self.segment_topic)
        n_segments = len(shares)
        # Flat ends give the first and the last segment as much room as the others.
        x = np.concatenate([[0.5], np.arange(1, n_segments + 1), [n_segments + 0.5]])
        heights = np.concatenate([shares[:1], shares, shares[-1:]])
        floors = np.maximum(1.0 - np.cumsum(heights, axis=1), 0.0)
        floors[:, -1] = 0.0
        ceilings = np.hstack([np.ones((len(x), 1)), floors[:, :-1]])
        self.areas_ = [
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
        self.bars_ = None
        ticks = np.asarray(MaxNLocator(integer=True).tick_values(0, n_segments), dtype=int)
        ticks = ticks[(ticks > ticks[1] // 2) & (ticks <= n_segments)]  # none too close to 1
        ax.set_xticks(np.union1d(1, ticks))
        ax.set(xlim=(0.5, n_segments + 0.5), xlabel="segment", ylim=(0, 1), ylabel="topic share")
        return self.areas_

    def _draw_bars(self, ax: Any, colors: list[Any], labels: list[str]) -> list[Any]:
        """Draw a panel of bars a segment; return what stands for the topics in the legend."""
        shares = self._gather(self.segment_topic)
        titles = [f"segment {j}" for j in range(1, len(shares) + 1)]
        width = 0.7 + 0.24 * len(labels)  # room of a panel, in inches
        n_columns = min(math.ceil(len(shares) / 6), max(1, int(_MAX_WIDTH / width)))
        cells = list(range(len(shares)))
        if self.doc_topic is not None:  # above the segments, alone in its row
            shares = np.vstack([self._gather(self.doc_topic[None]), shares])
            titles.insert(0, "document")
            cells = [0, *(n_columns + cell for cell in cells)]
        n_rows = cells[-1] // n_columns + 1
        self.ax_ = ax = open_axes(ax, (0.5 + n_columns * width, 0.5 + n_rows), labels)
        self.axes_ = make_panels(ax, n_rows, n_columns, cells)
        ax.set(xlabel="topic", ylabel="topic share")
        x = np.arange(len(labels))
        bars = [
            panel.bar(x, heights, color=colors, width=0.85)
            for panel, heights in zip(self.axes_, shares, strict=True)
        ]
        numbers = [str(k) for k in self.topics_] + ["…"] * (len(labels) - len(self.topics_))
        for panel, title in zip(self.axes_, titles, strict=True):
            panel.set_title(title, loc="left", fontsize="small", pad=2.0)
            panel.set_xticks(x, numbers)
            panel.set_ylim(0.0, 1.05 * shares.max())
        self.areas_ = None
        self.bars_ = bars
        return list(bars[0])


def _check_shares(shares: Any, name: str) -> NDArray[np.float64]:
    array: NDArray[np.float64] = check_array(shares, dtype=np.float64, input_name=name)
    if np.any(array < 0) or not np.allclose(array.sum(axis=1), 1.0, rtol=0, atol=1e-4):
        raise ValueError(f"{name} must hold shares: non-negative, with sums of 1.")
    return array


def _name_topics(estimator: Any, feature_names: ArrayLike | None) -> list[str] | None:
    """Return the number and most probable words of every topic, if words have names."""
    if feature_names is None and not hasattr(estimator, "feature_names_in_"):
        return None
    words = estimator.top_words(feature_names, _N_LABEL_WORDS)
    return [f"{k}: {', '.join(map(str, row))}" for k, row in enumerate(words)]
