"""Co-assignments of rows in sampled partitions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, check_integers
from skdp.inspection._axes import check_cmap, check_matplotlib, open_axes
from skdp.inspection._matrix import BAR

MOST_ROWS = 5000
"""Largest number of rows, since larger matrices are slow to order and exceed any screen."""

_SIZE = (5.4, 4.6)


class CoAssignmentDisplay:
    """Matrix of how often pairs of rows are in the same cluster, with ordered rows.

    Create it with `from_estimator`, or with the constructor and `plot`. Dark blocks on the diagonal
    are clusters. Pale cells within a block, or dark cells next to one, are uncertain.

    Parameters
    ----------
    partitions : (n_partitions, n_rows) array-like of int
        Sampled partitions: labels of the rows.
    labels : (n_rows,) array-like of int, default=None
        A partition whose clusters stay together and are outlined. None: rows are ordered by
        average linkage alone.

    Attributes
    ----------
    probabilities : (n_rows, n_rows) ndarray
        Shares of the partitions with two rows in the same cluster, in the order of the input.
    labels : (n_rows,) ndarray or None
    order : (n_rows,) ndarray
        The rows in the order of the plot.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    outlines_ : list of matplotlib Rectangle
        One for each cluster of `labels`.
    colorbar_ : matplotlib Colorbar

    Raises
    ------
    ValueError
        If there are more than 5,000 rows, or the partitions or labels are invalid.

    See Also
    --------
    ComponentCountDisplay : Plots the number of components.

    Examples
    --------
    >>> from skdp.inspection import CoAssignmentDisplay
    >>> display = CoAssignmentDisplay([[0, 1, 0], [0, 1, 1]], labels=[0, 1, 0]).plot()
    >>> display.probabilities[0].tolist()
    [1.0, 0.0, 0.5]
    >>> len(display.outlines_)
    2
    """

    def __init__(self, partitions: ArrayLike, *, labels: ArrayLike | None = None):
        array = as_array(partitions, "partitions")
        if array.ndim != 2 or 0 in array.shape:
            raise ValueError(
                "partitions must have shape (n_partitions, n_rows), at least one of each, got "
                f"shape {array.shape}."
            )
        n_rows = array.shape[1]
        if n_rows > MOST_ROWS:
            raise ValueError(
                f"co-assignments of {n_rows} rows are a matrix too large to draw: choose up to "
                f"{MOST_ROWS} of them, such as rows=range(0, {n_rows}, {-(-n_rows // MOST_ROWS)}) "
                "in from_estimator."
            )
        array = check_integers(array, "partitions")
        self.probabilities = _co_assign(array)
        self.labels = None
        if labels is not None:
            self.labels = check_integers(labels, "labels")
            if self.labels.shape != (n_rows,):
                raise ValueError(
                    f"labels must have shape ({n_rows},), a label per row, got shape "
                    f"{self.labels.shape}."
                )
        self.order = _order(self.probabilities, self.labels)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, rows: ArrayLike | None = None, cmap: Any = None, ax: Any = None
    ) -> Self:
        """Plot the co-assignments of the training rows in the stored samples of all chains.

        Parameters
        ----------
        estimator : fitted PitmanYorMixture, DPMixture or HDPMixture
        rows : array-like of int, default=None
            The rows of the training data to draw, with all groups end to end. None: all, up to
            5,000.
        cmap : matplotlib colormap or its name, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        CoAssignmentDisplay
            The display, with the clusters of `labels_` as contiguous blocks.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not a mixture.
        ValueError
            If there are more than 5,000 rows, or an argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_is_fitted(estimator)
        if not all(hasattr(estimator, name) for name in ("n_components_distribution_", "labels_")):
            raise TypeError(
                "estimator must be a mixture that stores sampled partitions, PitmanYorMixture, "
                f"DPMixture or HDPMixture, got {type(estimator).__name__}."
            )
        labels = estimator.labels_
        if isinstance(labels, list):
            labels = np.concatenate(labels)
        n_rows = len(labels)
        places = estimator._places_of_rows()
        if rows is None and n_rows > MOST_ROWS:
            raise ValueError(
                f"co-assignments of {n_rows} rows are a matrix too large to draw: choose up to "
                f"{MOST_ROWS} of them, such as rows=range(0, {n_rows}, {-(-n_rows // MOST_ROWS)})."
            )
        chosen = check_integers(np.flatnonzero(places >= 0) if rows is None else rows, "rows")
        if chosen.ndim != 1 or len(chosen) == 0 or chosen.max() >= n_rows:
            raise ValueError(f"rows must be a list of rows, from 0 to {n_rows - 1}.")
        places = places[chosen]
        if places.min() < 0:
            raise ValueError(
                f"rows must have been in the fit; the weight of row {chosen[np.argmin(places)]} "
                "was 0."
            )
        partitions = np.array([model.labels[places] for model in estimator._models])
        return cls(partitions, labels=labels[chosen]).plot(ax, cmap=cmap)

    def plot(self, ax: Any = None, *, cmap: Any = None) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for the color bar.
        cmap : matplotlib colormap or its name, default=None
            None: from white to blue.

        Returns
        -------
        CoAssignmentDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        from matplotlib.patches import Rectangle

        cmap = check_cmap("Blues" if cmap is None else cmap)
        self.ax_ = ax = open_axes(ax, _SIZE, [])
        self.figure_ = ax.figure
        self.image_ = ax.imshow(
            self.probabilities[np.ix_(self.order, self.order)], cmap=cmap, vmin=0.0, vmax=1.0
        )
        self.outlines_ = []
        if self.labels is not None:
            ordered = self.labels[self.order]
            ends = [*np.flatnonzero(np.diff(ordered)) + 1, len(ordered)]
            begin = 0
            for end in ends:
                n = end - begin
                box = Rectangle((begin - 0.5, begin - 0.5), n, n, fill=False, edgecolor="#D55E00")
                self.outlines_.append(ax.add_patch(box))
                begin = end
        self.colorbar_ = ax.figure.colorbar(self.image_, cax=ax.inset_axes(BAR))
        self.colorbar_.set_label("probability of being together")
        ax.set(xlabel="rows, ordered", ylabel="rows, ordered", xticks=[], yticks=[])
        return self


def _co_assign(partitions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the shares of partitions in which two rows have the same cluster, for all pairs."""
    n_rows = partitions.shape[1]
    counts = np.zeros((n_rows, n_rows), dtype=np.float32)
    for labels in partitions:
        counts += labels[:, np.newaxis] == labels
    return counts.astype(np.float64) / len(partitions)


def _order(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return rows by clusters, and within these by average linkage."""
    order = np.arange(len(probabilities))
    if len(order) > 2:
        distances = squareform(1.0 - probabilities, checks=False)
        order = leaves_list(linkage(distances, "average")).astype(np.int64)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    return order
