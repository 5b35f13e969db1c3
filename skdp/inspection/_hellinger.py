"""Displays along a document: Hellinger distances of topic shares, and weights of mixing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import check_choice, is_number
from skdp._numeric import Floats
from skdp.data import SegmentedCorpus
from skdp.inspection._axes import GREY, PALETTE, Display, check_fractions, check_numbers, write_name
from skdp.inspection._topic_evolution import (
    check_cuts,
    check_parts,
    choose_documents,
    choose_width,
    draw_cuts,
    draw_parts,
    set_segment_axis,
    shares_of,
)
from skdp.metrics import hellinger_to_document, hellinger_to_previous

_LONGEST_NAME = 60
_LINE = "hellinger distance"
"""Name by which the lines are identified."""
_STYLES = {"previous": "-", "document": "--"}
_MAX_MARKED = 60
"""Number of segments beyond which only segments without neighbors have a marker."""


class HellingerDisplay(Display):
    """Hellinger distances along a document: to the previous segment and to the whole document.

    Create it with `from_estimator` or `from_predictions`. The distance between the topic shares of
    a segment and the previous one shows where the subject changes, and how smoothly topics change
    ([1]_, figure 6.7). The distance to the shares of the document shows whether segments drift away
    from it (figure 7.9). 0: the same shares; 1: no topic in common. To draw several models in one
    plot, pass the `ax_` of the first display to the others.

    Parameters
    ----------
    to_previous : array-like of shape (n_segments,), default=None
        Distances to the previous segment, in [0, 1]; nan if there is none.
    to_document : array-like of shape (n_segments,), default=None
        Distances to the document, in [0, 1]; nan if unknown. At least one of the two is required.
    name : str, default=None
        Name of the model, for the legend.
    boundaries : array-like of int, shape (n_parts - 1,), default=None
        The first segments of all parts except the first, see `TopicEvolutionDisplay`.
    part_names : list of n_parts str, default=None
        Short names of the parts, to be written above them.
    cut_proba : array-like of shape (n_segments - 1,), default=None
        Probability of a cut in each gap between segments, see `TopicEvolutionDisplay`.
    true_cuts : array-like of int, default=None
        The first segments of all true parts except the first: triangles at the top.

    Attributes
    ----------
    to_previous, to_document : ndarray of shape (n_segments,), or None
    name, boundaries, part_names, cut_proba, true_cuts
        As passed, all but names as arrays or None.
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        The lines of `to_previous` and `to_document`, in this order, if drawn.
    legend_ : matplotlib Legend
        Legend of all lines in the axes; means are over the segments that have a distance.

    See Also
    --------
    skdp.metrics.hellinger_to_previous : Computes the distances between neighbors.
    skdp.metrics.hellinger_to_document : Computes the distances to the document.
    TopicEvolutionDisplay : Plots the shares themselves.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.inspection import HellingerDisplay
    >>> shares = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]]
    >>> display = HellingerDisplay.from_predictions(shares, name="A")
    >>> display.to_previous.round(2)
    array([ nan, 0.1 , 0.54])
    >>> other = HellingerDisplay.from_predictions(shares[::-1], name="B", ax=display.ax_)
    >>> [text.get_text() for text in other.legend_.get_texts()]
    ['A: to previous (mean 0.32)', 'B: to previous (mean 0.32)']
    """

    def __init__(
        self,
        to_previous: ArrayLike | None = None,
        to_document: ArrayLike | None = None,
        *,
        name: str | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        cut_proba: ArrayLike | None = None,
        true_cuts: ArrayLike | None = None,
    ):
        self.to_previous = _check_distances(to_previous, "to_previous")
        self.to_document = _check_distances(to_document, "to_document")
        lengths = {len(array) for array in self._distances().values()}
        if len(lengths) != 1:
            raise ValueError(
                "to_previous or to_document must be given, and both must have the same length; "
                f"got lengths {sorted(lengths)}."
            )
        self.name = name
        n_segments = lengths.pop()
        self._parts = check_parts(n_segments, boundaries, part_names)
        self.boundaries, self.part_names = self._parts.boundaries, self._parts.names
        self._cuts = check_cuts(n_segments, cut_proba, true_cuts)
        self.cut_proba, self.true_cuts = self._cuts

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        document: int | None = 0,
        to: str = "previous",
        name: str | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        true_cuts: ArrayLike | None = None,
        line_kw: Mapping[str, Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot how topics change along a document, or along all documents end to end.

        Parameters
        ----------
        estimator : fitted topic model
        X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
            As for the methods of the estimator.
        document : int or None, default=0
            Index of the document in X. None: all documents end to end, with boundaries between
            them. The first segment of a document has no previous one, so lines of distances to the
            previous segment break at boundaries.
        to : {"previous", "document", "both"}, default="previous"
        name : str, default=None
            Name of the model, for the legend. None: the name of its class.
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts of the document, see the class. Only for a single document.
            None: those of the corpus, if it is divided into parts.
        part_names : list of str, default=None
            Names of the parts, see the class; of all documents in X if `document` is None.
        true_cuts : array-like of int, default=None
            First segments of true parts, see the class. Only for a single document.
        line_kw, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a topic model.
        ValueError, ImportError
            If `document` is out of range or has no segments, or X or another argument is invalid,
            or matplotlib is not installed.
        """
        cls._check_matplotlib()
        chosen = choose_documents(
            estimator, X, document, boundaries, part_names, true_cuts, reads_cuts=True
        )
        doc_topic, segment_topic = shares_of(estimator, chosen.samples)
        to_document = None
        if doc_topic is not None:
            to_document = hellinger_to_document(doc_topic, segment_topic, chosen.doc_ptr)
        to_previous = hellinger_to_previous(segment_topic, chosen.doc_ptr)
        name = type(estimator).__name__ if name is None else name
        return cls._show(locals(), **chosen.marks)

    @classmethod
    def from_predictions(
        cls,
        segment_topic: ArrayLike,
        *,
        doc_topic: ArrayLike | None = None,
        doc_ptr: SegmentedCorpus | ArrayLike | None = None,
        to: str | None = None,
        name: str | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        cut_proba: ArrayLike | None = None,
        true_cuts: ArrayLike | None = None,
        line_kw: Mapping[str, Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot how given topic shares change.

        Parameters
        ----------
        segment_topic : array-like of shape (n_segments, n_components)
            Topic shares of the segments, in reading order. Rows of weights >= 0, not all zero, are
            divided by their sums, here and in `doc_topic`.
        doc_topic : array-like of shape (n_components,) or (n_documents, n_components), default=None
            Topic shares of the document, or of the documents of `doc_ptr`.
        doc_ptr : SegmentedCorpus or array-like of int, shape (n_documents + 1,), default=None
            Offsets of the documents in `segment_topic`, or the corpus itself. None: all
            segments belong to one document.
        to : {"previous", "document", "both"}, default=None
        name : str, default=None
            See the class.
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts, see the class. None: boundaries between the documents of
            `doc_ptr`.
        part_names, cut_proba, true_cuts
        line_kw, ax

        Raises
        ------
        ValueError, ImportError
            If shares are negative or all zero, or shapes do not fit, or another argument is
            invalid, or matplotlib is not installed.
        """
        if doc_ptr is None:
            ptr = np.array([0, len(np.asarray(segment_topic))])
        else:
            ptr = np.asarray(getattr(doc_ptr, "doc_ptr", doc_ptr))
        to_previous = hellinger_to_previous(segment_topic, ptr)
        to_document = None
        if doc_topic is not None:
            mu = np.asarray(doc_topic)
            mu = mu[None] if doc_ptr is None and mu.ndim == 1 else mu
            to_document = hellinger_to_document(mu, segment_topic, ptr)
        if boundaries is None:
            boundaries = ptr[:-1][np.diff(ptr) > 0][1:]
        return cls._show(locals())

    def plot(
        self,
        ax: Any = None,
        *,
        to: str | None = None,
        name: str | None = None,
        line_kw: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the distances.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw, such as the `ax_` of another model's display. None: in a new figure. The
            legend is to the right of the axes; your own figure should have
            ``layout="constrained"``, which makes room for it.
        to : {"previous", "document", "both"}, default=None
            Distances to the previous segment (a solid line), to the document (dashed), or both.
            None: to the previous segment, if known.
        name : str, default=None
            Name of the model, for the legend. None: the attribute.
        line_kw : dict, default=None
            Further arguments of ``Axes.plot``, such as ``{"color": "black"}``. Without a color,
            each display uses the next one of the axes.

        Raises
        ------
        ValueError, ImportError
            If `to` is invalid, or the distances to draw are not known or all nan, or matplotlib is
            not installed.
        """
        chosen = self._choose(to)
        if line_kw is not None and not isinstance(line_kw, Mapping):
            raise TypeError(f"line_kw must be a dict or None, got {type(line_kw).__name__}.")
        name = self.name if name is None else name
        prefix = "" if name is None else f"{write_name(str(name), _LONGEST_NAME)}: "
        labels = [
            f"{prefix}to {key} (mean {np.nanmean(values):.2f})" for key, values in chosen.items()
        ]
        n_segments = int(self._parts.ptr[-1])
        ax = self._open(ax, (choose_width(self._parts, n_segments), 3.0), labels)
        if not ax.lines:
            ax.set_prop_cycle(color=PALETTE)
        self.lines_: list[Any] = []
        for (key, values), label in zip(chosen.items(), labels, strict=True):
            style = {"linestyle": _STYLES[key], "linewidth": 1.2, **(line_kw or {})}
            if self.lines_:  # lines of a model have the same color
                style.setdefault("color", self.lines_[0].get_color())
            self.lines_.append(_draw_line(ax, values, label, style))
        # matplotlib hides labels that begin with "_", such as its default labels.
        lines = [
            line
            for line in ax.lines
            if line.get_gid() == _LINE or not str(line.get_label()).startswith("_")
        ]
        labels = [str(line.get_label()) for line in lines]
        longest = max(len(line.get_xdata()) for line in lines)
        set_segment_axis(ax, longest)
        top = max(np.nanmax(line.get_ydata()) for line in lines)
        ax.set(ylim=(0.0, min(1.08 * top, 1.02) or 1.0), ylabel="Hellinger distance")
        marks = draw_cuts(ax, self._cuts)
        labels += [str(mark.get_label()) for mark in marks]
        self._add_legend([*lines, *marks], labels)
        draw_parts(ax, self._parts)
        return self

    def _distances(self) -> dict[str, NDArray[np.float64]]:
        """Return the known distances."""
        known = {"previous": self.to_previous, "document": self.to_document}
        return {key: values for key, values in known.items() if values is not None}

    def _choose(self, to: str | None) -> dict[str, NDArray[np.float64]]:
        known = self._distances()
        if to is None:
            to = next(iter(known))
        check_choice(to, "to", "previous", "document", "both")
        keys = ("previous", "document") if to == "both" else (to,)
        for key in keys:
            if key not in known:
                raise ValueError(f"to={to!r} needs distances to_{key}, which are unknown.")
            if np.isnan(known[key]).all():
                raise ValueError(f"to={to!r}: no segment has a distance to_{key}.")
        return {key: known[key] for key in keys}


def _draw_line(ax: Any, values: Floats, label: str, style: dict[str, Any]) -> Any:
    known = np.isfinite(values)
    padded = np.concatenate([[False], known, [False]])
    alone = known & ~padded[:-2] & ~padded[2:]
    marked = known if len(values) <= _MAX_MARKED else alone
    style = {
        "gid": _LINE,
        "marker": "o",
        "markersize": 3.0,
        "markevery": np.flatnonzero(marked).tolist(),
        **style,
    }
    return ax.plot(np.arange(1, len(values) + 1), values, label=label, **style)[0]


def _check_distances(values: ArrayLike | None, name: str) -> Floats | None:
    if values is None:
        return None
    array = check_numbers(values, name, 1)
    if np.any((array < 0.0) | (array > 1.0)):
        raise ValueError(f"{name} must hold distances in [0, 1], or nan.")
    return array


# Weights of the document and of the previous segment for each segment.


_LABELS = ["the document", "the segment before"]


class SegmentMixingDisplay(Display):
    """Weights of the document and of the previous segment, along a training document.

    Create it with `from_estimator` or `from_weights`. In an adaptive topic model ([1]_, chapter 7),
    the topics of a segment come from those of its document with a weight that is learned for each
    segment, and otherwise from those of the previous segment. If the column of the document is
    high, the segment returns to the theme of the document; if it is low, the segment continues the
    previous one. A column at the line of the prior mean may be due to the prior alone, because
    short segments carry little information about their weight.

    Parameters
    ----------
    segment_mixing : array-like of shape (n_segments,)
        Weights of the document, in [0, 1]; 1 for the first segment of a document or part, which has
        no previous one.
    prior_mean : float, default=None
        Weight that is expected without data, in [0, 1].
    boundaries : array-like of int, shape (n_parts - 1,), default=None
        The first segments of all parts (chapters, documents) except the first, see
        `TopicEvolutionDisplay`.
    part_names : list of n_parts str, default=None
        Short names of the parts, to be written above them.

    Attributes
    ----------
    segment_mixing : ndarray of shape (n_segments,)
    prior_mean, boundaries, part_names
        As passed, `boundaries` as an array.
    ax_, figure_ : matplotlib Axes and Figure
    areas_ : list of 2 matplotlib PolyCollection
        The weights of the document, and of the previous segment.
    line_ : matplotlib Line2D or None
        The prior mean, if known.
    legend_ : matplotlib Legend

    See Also
    --------
    HellingerDisplay : Plots how far topics move from segment to segment.
    TopicEvolutionDisplay : Plots topic shares along a document.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.inspection import SegmentMixingDisplay
    >>> display = SegmentMixingDisplay.from_weights([1.0, 0.2, 0.4, 0.7], prior_mean=0.5)
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['the document', 'the segment before', 'prior mean']
    """

    def __init__(
        self,
        segment_mixing: ArrayLike,
        *,
        prior_mean: float | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
    ):
        self.segment_mixing = check_fractions(segment_mixing, "segment_mixing", 1, what="weights")
        if prior_mean is not None and not (is_number(prior_mean) and 0.0 <= prior_mean <= 1.0):
            raise ValueError(f"prior_mean must be in [0, 1], got {prior_mean!r}.")
        self.prior_mean = prior_mean
        self._parts = check_parts(len(self.segment_mixing), boundaries, part_names)
        self.boundaries, self.part_names = self._parts.boundaries, self._parts.names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        document: int | None = 0,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the weights that a fit learned for a training document, or for all documents.

        Parameters
        ----------
        estimator : fitted adaptive topic model
            With an attribute ``segment_mixing_``; its parameter ``mixing_prior`` gives the line of
            the prior mean.
        X : SegmentedCorpus, or list of documents
            The training data, which determine the segments of each document. The weights come from
            the fit, without fold-in.
        document : int or None, default=0
            Index of the document in X. None: all documents end to end, with boundaries between
            them.
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts of the document, see the class. Only for a single document.
            None: those of the corpus, if it is divided into parts.
        part_names : list of str, default=None
            Names of the parts, see the class; of all documents in X if `document` is None.
        ax : matplotlib Axes, default=None

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or has no ``segment_mixing_``.
        ValueError, ImportError
            If X and the training documents differ in the number of segments, `document` is out of
            range or has no segments, or another argument is invalid, or matplotlib is not
            installed.
        """
        what = "an adaptive topic model fitted to documents"
        cls._check_model(estimator, what, "segment_mixing_")
        chosen = choose_documents(estimator, X, document, boundaries, part_names)
        weights = np.asarray(estimator.segment_mixing_)
        if len(weights) != chosen.n_rows:
            raise ValueError(
                f"X must be the training documents, with {len(weights)} segments "
                f"in all; got {chosen.n_rows} segments."
            )
        prior = getattr(estimator, "mixing_prior", None)
        prior_mean = prior and float(prior[0] / (prior[0] + prior[1]))
        return cls._show(locals(), segment_mixing=weights[chosen.rows], **chosen.marks)

    @classmethod
    def from_weights(
        cls,
        segment_mixing: ArrayLike,
        *,
        prior_mean: float | None = None,
        boundaries: ArrayLike | None = None,
        part_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot given weights.

        Parameters
        ----------
        segment_mixing : array-like of shape (n_segments,)
            Weights of the document, such as rows of the attribute ``segment_mixing_``.
        prior_mean, boundaries, part_names
        ax : matplotlib Axes, default=None

        Raises
        ------
        ValueError, ImportError
            If an argument is invalid, or matplotlib is not installed.
        """
        return cls._show(locals())

    def plot(self, ax: Any = None) -> Self:
        """Draw the weights: one column per segment, with the share of the document at the bottom.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for the legend on the right.
        """
        n_segments = len(self.segment_mixing)
        labels = _LABELS + ["prior mean"] * (self.prior_mean is not None)
        ax = self._open(ax, (choose_width(self._parts, n_segments), 2.2), labels)
        x = np.repeat(np.arange(n_segments), 2) + np.tile([0.5, 1.5], n_segments)
        y = np.repeat(self.segment_mixing, 2)
        self.areas_ = [
            ax.fill_between(x, 0.0, y, facecolor=PALETTE[0], edgecolor="none"),
            ax.fill_between(x, y, 1.0, facecolor=GREY, edgecolor="none"),
        ]
        self.line_ = None
        if self.prior_mean is not None:
            self.line_ = ax.axhline(self.prior_mean, color="black", linestyle=":", linewidth=1.2)
        set_segment_axis(ax, n_segments)
        ax.set(ylim=(0, 1), ylabel="weight")
        handles = [*self.areas_, self.line_][: len(labels)]
        self._add_legend(handles, labels)
        draw_parts(ax, self._parts)
        return self
