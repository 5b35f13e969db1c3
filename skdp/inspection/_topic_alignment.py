"""Which topics of two models are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp.inspection._axes import check_matplotlib, open_axes
from skdp.inspection._estimators import name_topics
from skdp.metrics import align_topics, hellinger_distance

_KINDS = ("distance", "similarity")
_MAX_VALUES = 12
"""With more rows or columns numbers in the cells would not be read."""
_MIN_SIDE, _MAX_SIDE = 1.8, 10.0
"""Of the matrix, in inches: room for the names of the models, and on a screen."""
_BAR = (1.03, 0.1, 0.04, 0.8)
"""Place of the bar of colours: left, bottom, width and height in shares of the matrix."""
_CELL, _VALUE_CELL = 0.25, 0.42
"""Side of a cell, in inches: without a number and with one."""


class TopicAlignmentDisplay:
    """Matrix of the Hellinger distances between the topics of two models, matched ones in line.

    Make it by `from_estimators` or `from_components` ([1]_, figure 7.6). A dark diagonal and a pale
    rest say that the models found the same topics. A row without a dark cell is a topic that the
    other model does not have; a row with several, one that the other model has split.

    Topics are matched one to one by `skdp.metrics.align_topics`. The model with fewer topics (the
    first, of equally many) keeps the order of its topics; those of the other come in the order of
    their matches, then, in their own order, those without a match.

    Parameters
    ----------
    distances : array-like of shape (n_rows, n_columns)
        Distances in [0, 1], in the order of the plot.
    row_names : list of n_rows str, default=None
        Labels of the topics of the first model. None: "0", "1", ...
    column_names : list of n_columns str, default=None
        Labels of the topics of the second model. None: "0", "1", ...
    names : (str, str), default=None
        Of the models.

    Attributes
    ----------
    distances : ndarray of shape (n_rows, n_columns)
    row_names, column_names, names
        As passed.
    row_topics_, column_topics_ : ndarray of int
        Which topic of its model each row and column is. Only if made by `from_estimators` or
        `from_components`.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    colorbar_ : matplotlib Colorbar
    texts_ : ndarray of shape (n_rows, n_columns) of matplotlib Text, or None
        The numbers in the cells, if shown.

    See Also
    --------
    skdp.metrics.align_topics : The match.
    skdp.metrics.hellinger_distance : The distances.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.inspection import TopicAlignmentDisplay
    >>> display = TopicAlignmentDisplay.from_components(
    ...     [[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]], [[0.0, 0.0, 1.0], [0.3, 0.4, 0.3], [0.9, 0.1, 0.0]]
    ... )
    >>> display.column_topics_
    array([2, 0, 1])
    >>> display.distances.round(2)
    array([[0.  , 1.  , 0.53],
           [0.95, 0.23, 0.53]])
    """

    row_topics_: NDArray[np.intp]
    column_topics_: NDArray[np.intp]

    def __init__(
        self,
        distances: ArrayLike,
        *,
        row_names: Sequence[str] | None = None,
        column_names: Sequence[str] | None = None,
        names: tuple[str, str] | None = None,
    ):
        array = np.asarray(distances)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
            raise ValueError(
                f"distances must be a 2-D array of numbers, got shape {array.shape} and type "
                f"{array.dtype}."
            )
        if not np.all((array >= 0.0) & (array <= 1.0)):
            raise ValueError("distances must be in [0, 1].")
        self.distances: NDArray[np.float64] = array.astype(np.float64)
        self.row_names = _check_names(row_names, "row_names", array.shape[0])
        self.column_names = _check_names(column_names, "column_names", array.shape[1])
        self.names = None if names is None else _check_names(names, "names", 2)

    @classmethod
    def from_estimators(
        cls,
        first: Any,
        second: Any,
        *,
        feature_names: ArrayLike | None = None,
        names: tuple[str, str] | None = None,
        kind: str = "distance",
        include_values: bool | None = None,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot how the topics of two fitted models correspond.

        Parameters
        ----------
        first, second : fitted topic models
            Of the same words: rows and columns of the matrix.
        feature_names : array-like of shape (n_features,), default=None
            Names of the words. With them, the label of a topic is its number and most probable
            words. None: those seen in ``fit`` if X was a data frame, or numbers only.
        names : (str, str), default=None
            Of the models. None: those of their classes.
        kind : {"distance", "similarity"}, default="distance"
            See `plot`.
        include_values : bool, default=None
            See `plot`.
        cmap : matplotlib colormap or its name, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        TopicAlignmentDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If an estimator is not fitted.
        ValueError
            If the models are of different numbers of words, or an argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimators")
        labels = []
        for estimator in (first, second):
            check_is_fitted(estimator)
            labels.append(name_topics(estimator, feature_names))
        return cls.from_components(
            first.components_,
            second.components_,
            topic_names=labels[0],
            other_topic_names=labels[1],
            names=(type(first).__name__, type(second).__name__) if names is None else names,
            kind=kind,
            include_values=include_values,
            cmap=cmap,
            ax=ax,
        )

    @classmethod
    def from_components(
        cls,
        components: ArrayLike,
        other: ArrayLike,
        *,
        topic_names: Sequence[str] | None = None,
        other_topic_names: Sequence[str] | None = None,
        names: tuple[str, str] | None = None,
        kind: str = "distance",
        include_values: bool | None = None,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot how given topics correspond.

        Parameters
        ----------
        components : array-like of shape (n_components, n_features)
            Word probabilities of topics, such as ``components_``: the rows of the matrix. Weights
            >= 0, not all zero in a row, which are divided by their sums.
        other : array-like of shape (n_other, n_features)
            Those of the other model: the columns.
        topic_names : list of n_components str, default=None
            Labels of `components`, in their order. None: "0", "1", ...
        other_topic_names : list of n_other str, default=None
            Labels of `other`, in their order. None: "0", "1", ...
        names : (str, str), default=None
            Of the models.
        kind : {"distance", "similarity"}, default="distance"
            See `plot`.
        include_values : bool, default=None
            See `plot`.
        cmap : matplotlib colormap or its name, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        TopicAlignmentDisplay

        Raises
        ------
        ValueError
            If an argument is invalid, or the widths differ.
        ImportError
            If matplotlib is not installed.
        """
        distances = hellinger_distance(components, other)
        n_rows, n_columns = distances.shape
        rows, columns = np.arange(n_rows), np.arange(n_columns)
        if n_rows <= n_columns:
            columns = _with_rest(align_topics(components, other)[0], n_columns)
        else:
            rows = _with_rest(align_topics(other, components)[0], n_rows)
        row_names = _check_names(topic_names, "topic_names", n_rows)
        column_names = _check_names(other_topic_names, "other_topic_names", n_columns)
        display = cls(
            distances[np.ix_(rows, columns)],
            row_names=[row_names[k] for k in rows],
            column_names=[column_names[k] for k in columns],
            names=names,
        )
        display.row_topics_, display.column_topics_ = rows, columns
        return display.plot(ax, kind=kind, include_values=include_values, cmap=cmap)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "distance",
        include_values: bool | None = None,
        cmap: Any = None,
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: a new figure. A figure of yours should have
            ``layout="constrained"``, to make room for labels.
        kind : {"distance", "similarity"}, default="distance"
            Hellinger distances H, or 1 - H.
        include_values : bool, default=None
            Whether numbers stand in the cells. None: with up to 12 rows and columns.
        cmap : matplotlib colormap or its name, default=None
            None: from yellow to blue, dark where topics are alike.

        Returns
        -------
        TopicAlignmentDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `kind` is invalid.
        ImportError
            If matplotlib is not installed.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind must be 'distance' or 'similarity', got {kind!r}.")
        check_matplotlib(f"{type(self).__name__}.plot")
        shown = self.distances if kind == "distance" else 1.0 - self.distances
        if cmap is None:
            cmap = "YlGnBu_r" if kind == "distance" else "YlGnBu"
        if include_values is None:
            include_values = max(shown.shape) <= _MAX_VALUES
        self.ax_ = ax = open_axes(ax, self._size(_VALUE_CELL if include_values else _CELL), [])
        self.figure_ = ax.figure
        # With cells kept square a constrained layout does not settle, and cuts labels off.
        self.image_ = ax.imshow(shown, cmap=cmap, vmin=0.0, vmax=1.0, aspect="auto")
        self.texts_ = self._write_values(shown) if include_values else None
        self.colorbar_ = self.figure_.colorbar(self.image_, cax=ax.inset_axes(_BAR))
        self.colorbar_.set_label("1 - " * (kind == "similarity") + "Hellinger distance")
        upright = max(map(len, self.column_names)) > 2
        _label_axis(ax.yaxis, self.row_names, 0)
        _label_axis(ax.xaxis, self.column_names, 90 if upright else 0)
        for axis, name in zip((ax.yaxis, ax.xaxis), self.names or ("", ""), strict=True):
            axis.set_label_text(name or "topics")
        return self

    def _size(self, side: float) -> tuple[float, float]:
        """Return inches for cells of such a side, labels and the bar of colours."""
        n_rows, n_columns = self.distances.shape
        side = min(max(side, _MIN_SIDE / n_rows), _MAX_SIDE / max(n_rows, n_columns))
        rows, columns = (0.08 * max(map(len, n)) for n in (self.row_names, self.column_names))
        return 1.6 + rows + side * n_columns, 0.6 + columns + side * n_rows

    def _write_values(self, shown: NDArray[np.float64]) -> NDArray[np.object_]:
        texts = np.empty(shown.shape, dtype=object)
        for (i, j), value in np.ndenumerate(shown):
            red, green, blue, _ = self.image_.cmap(value)
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            texts[i, j] = self.ax_.text(
                *(j, i, f"{value:.2f}"),
                color="white" if dark else "black",
                ha="center",
                va="center",
                fontsize="small",
            )
        return texts


def _with_rest(order: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    return np.concatenate([order, np.setdiff1d(np.arange(n), order)])


def _check_names(names: Sequence[str] | None, what: str, n: int) -> list[str]:
    if names is None:
        return [str(k) for k in range(n)]
    if len(names) != n:
        raise ValueError(f"{what} must hold {n} names, got {len(names)}.")
    return [str(name) for name in names]


def _label_axis(axis: Any, names: list[str], rotation: int) -> None:
    step = math.ceil(len(names) / 70)  # more labels would not be read
    axis.set_ticks(
        np.arange(0, len(names), step),
        names[::step],
        fontsize="small" if len(names) <= 40 else "xx-small",
    )
    axis.set_tick_params(length=0)
    for label in axis.get_ticklabels():
        label.set_rotation(rotation)
