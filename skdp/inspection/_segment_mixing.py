"""Weights of the document and of the previous segment for each segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, is_number
from skdp.inspection._axes import GREY, PALETTE, add_legend, check_matplotlib, open_axes
from skdp.inspection._estimators import check_model
from skdp.inspection._segments import check_parts, choose_width, draw_parts, set_segment_axis
from skdp.inspection._topic_models import choose_documents

_LABELS = ["the document", "the segment before"]


class SegmentMixingDisplay:
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
        Boundaries between parts (chapters, documents): the first segments, counted from 0, of all
        parts except the first, in ascending order from 1 to n_segments - 1. They are marked by
        lines.
    part_names : list of n_parts str, default=None
        Short names of the parts, to be written above them.

    Attributes
    ----------
    segment_mixing : ndarray of shape (n_segments,)
    prior_mean, boundaries, part_names
        As passed, `boundaries` as an array.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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
        weights = as_array(segment_mixing, "segment_mixing")
        if weights.ndim != 1 or len(weights) == 0 or weights.dtype.kind not in "biuf":
            raise ValueError(
                f"segment_mixing must be a 1-D array of weights, got shape {weights.shape} and "
                f"type {weights.dtype}."
            )
        if not np.all((weights >= 0.0) & (weights <= 1.0)):
            raise ValueError("segment_mixing must hold weights in [0, 1].")
        self.segment_mixing: NDArray[np.float64] = weights.astype(np.float64)
        if prior_mean is not None and not (is_number(prior_mean) and 0.0 <= prior_mean <= 1.0):
            raise ValueError(f"prior_mean must be in [0, 1], got {prior_mean!r}.")
        self.prior_mean = prior_mean
        self._parts = check_parts(len(weights), boundaries, part_names)
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
            See `plot`.

        Returns
        -------
        SegmentMixingDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no ``segment_mixing_``.
        ValueError
            If X and the training documents differ in the number of segments, `document` is out of
            range or has no segments, or another argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_model(estimator, "an adaptive topic model fitted to documents", "segment_mixing_")
        chosen = choose_documents(estimator, X, document, boundaries, part_names)
        weights = np.asarray(estimator.segment_mixing_)
        if len(weights) != chosen.n_rows:
            raise ValueError(
                f"X must be the training documents, with {len(weights)} segments "
                f"in all; got {chosen.n_rows} segments."
            )
        display = cls(
            weights[chosen.rows],
            prior_mean=_prior_mean(getattr(estimator, "mixing_prior", None)),
            boundaries=chosen.parts.boundaries,
            part_names=chosen.parts.names,
        )
        return display.plot(ax)

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
        prior_mean : float, default=None
            Weight that is expected without data.
        boundaries : array-like of int, shape (n_parts - 1,), default=None
            Boundaries between parts, see the class.
        part_names : list of n_parts str, default=None
            Names of the parts, see the class.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        SegmentMixingDisplay

        Raises
        ------
        ValueError
            If an argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        display = cls(
            segment_mixing, prior_mean=prior_mean, boundaries=boundaries, part_names=part_names
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the weights: one column per segment, with the share of the document at the bottom.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. The legend is to the right of the axes; your own
            figure should have ``layout="constrained"``, which makes room for it.

        Returns
        -------
        SegmentMixingDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        n_segments = len(self.segment_mixing)
        labels = _LABELS + ["prior mean"] * (self.prior_mean is not None)
        self.ax_ = ax = open_axes(ax, (choose_width(self._parts, n_segments), 2.2), labels)
        self.figure_ = ax.figure
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
        self.legend_ = add_legend(ax, handles, labels)
        draw_parts(ax, self._parts)
        return self


def _prior_mean(prior: tuple[float, float] | None) -> float | None:
    """Return the mean weight of the document under a Beta prior."""
    return None if prior is None else float(prior[0] / (prior[0] + prior[1]))
