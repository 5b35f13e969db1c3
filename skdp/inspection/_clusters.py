"""Displays of clusters: rows in a plane, co-assignments of rows, and the tree of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from skdp._checks import as_array, as_floats, check_integers, is_number, shorten
from skdp._merge_tree import check_at_most
from skdp._numeric import Floats, Places
from skdp.inspection._axes import (
    GREY,
    LITERAL,
    PALETTE,
    Display,
    TreeDisplay,
    check_names,
    check_shape,
    count_leaves,
    with_count,
    write_name,
)

_N_STEPS = 150
"""Number of grid points in each direction."""
_MARGIN = 0.15
"""Margin of the grid around the rows, as a share of their range."""
_ROW = 18.0
"""Area of a dot, in square points."""


class ClusterDisplay(Display):
    """Rows of two columns, colored by their cluster, with lines of equal predictive density.

    Create it with `from_estimator`, or with the constructor and `plot`. A line encloses the region
    of highest density that contains a given share of new rows.

    Parameters
    ----------
    points : (n_rows, 2) array-like
    labels : (n_rows,) array-like of int
        Clusters of the rows. The twenty lowest labels have their own colors; the others are gray.
    grid : (x, y, density), default=None
        Two 1-D arrays, and the density at the grid points, (len(y), len(x)). None: no lines.
    column_names : list of 2 str, default=None
        Names of the columns. None: "column 0", "column 1".

    Attributes
    ----------
    points, labels : ndarray
    grid : tuple of three ndarrays, or None
    column_names : list of str
    ax_, figure_ : matplotlib Axes and Figure
    points_ : list of matplotlib PathCollection
        The dots of each entry of the legend.
    contours_ : matplotlib QuadContourSet or None
    legend_ : matplotlib Legend
        Clusters and their numbers of rows.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    CoAssignmentDisplay : Plots which rows belong together, for any number of columns.

    Examples
    --------
    >>> from skdp.inspection import ClusterDisplay
    >>> display = ClusterDisplay([[0.0, 0.0], [0.1, 0.2], [4.0, 4.0]], [0, 0, 1]).plot()
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['0 (2 rows)', '1 (1 row)']
    """

    def __init__(
        self,
        points: ArrayLike,
        labels: ArrayLike,
        *,
        grid: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        column_names: Sequence[str] | None = None,
    ):
        self.points = as_floats(points, "points", 2)
        if self.points.shape[1] != 2 or len(self.points) == 0:
            raise ValueError(f"points must have two columns, got shape {self.points.shape}.")
        self.labels = _check_labels(labels, len(self.points))
        self.grid = None
        if grid is not None:
            if not isinstance(grid, tuple | list) or len(grid) != 3:
                raise ValueError("grid must be (x, y, density).")
            x, y = as_floats(grid[0], "x of grid", 1), as_floats(grid[1], "y of grid", 1)
            density, shape = as_floats(grid[2], "density of grid", 2), (len(y), len(x))
            if density.shape != shape or density.min() < 0.0 or density.max() == 0.0:
                raise ValueError(
                    f"density of grid must have shape {shape} and no negative numbers, got shape "
                    f"{density.shape}."
                )
            self.grid = x, y, density
        self.column_names = check_names(column_names, "column_names", 2, "column ")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        labels: ArrayLike | None = None,
        columns: tuple[int, int] = (0, 1),
        masses: Sequence[float] = (0.5, 0.8, 0.95),
        ax: Any = None,
    ) -> Self:
        """Plot rows, their clusters and the predictive density of a fitted mixture.

        Parameters
        ----------
        estimator : fitted mixture
            A mixture with `predict` and `score_samples`, such as
            :class:`~skdp.mixture.PitmanYorMixture`.
        X : (n_rows, n_features) array-like
        labels : (n_rows,) array-like of int, default=None
            Clusters of the rows, such as the estimator's `labels_`. None: the predicted clusters.
        columns : (int, int), default=(0, 1)
            The two columns to draw. Lines of density are drawn only if there are no other columns.
        masses, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a mixture, or its samples are groups of rows.
        ValueError, ImportError
            If X or another argument is invalid, or matplotlib is not installed.
        """
        cls._check_model(estimator, "a mixture of rows", "predict", "score_samples")
        if hasattr(estimator, "group_weights_"):
            raise TypeError(
                f"estimator must be a mixture of rows, got {type(estimator).__name__}, whose "
                "samples are groups: rows have no common density. "
                f"Use {cls.__name__}(points, labels)."
            )
        names = [str(name) for name in getattr(X, "columns", [])]
        found = estimator.predict(X) if labels is None else labels  # `predict` checks X
        values = as_floats(X, "X", 2)
        pair = check_integers(columns, "columns")
        n_columns = values.shape[1]
        if pair.shape != (2,) or pair.min() < 0 or pair.max() >= n_columns:
            raise ValueError(
                f"columns must be two numbers of columns, from 0 to {n_columns - 1}, got "
                f"{shorten(columns)}."
            )
        points, grid = values[:, pair], None
        if n_columns == 2 and pair[0] != pair[1]:
            x, y = (_steps(column) for column in points.T)
            places = np.empty((len(y), len(x), 2))
            places[..., pair[0]], places[..., pair[1]] = np.meshgrid(x, y)
            rows = places.reshape(-1, 2)
            if names:  # a data frame without them would be a warning
                rows = type(X)(rows, columns=X.columns)
            density = np.exp(estimator.score_samples(rows))
            grid = x, y, density.reshape(len(y), len(x))
        shown = [names[j] if names else f"column {j}" for j in pair]
        return cls(points, found, grid=grid, column_names=shown).plot(ax, masses=masses)

    def plot(self, ax: Any = None, *, masses: Sequence[float] = (0.5, 0.8, 0.95)) -> Self:
        """Draw rows and density.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for the legend on the right.
        masses : list of float, default=(0.5, 0.8, 0.95)
            A line for each: the share of the density on the grid that it encloses, between 0 and
            1. The grid is a little larger than the range of the rows.

        Raises
        ------
        ValueError, ImportError
            If `masses` are invalid, or matplotlib is not installed.
        """
        masses = list(masses)
        if not masses or not all(is_number(mass) and 0.0 < mass < 1.0 for mass in masses):
            raise ValueError(f"masses must be numbers between 0 and 1, got {shorten(masses)}.")
        found, n = np.unique(self.labels), len(PALETTE)
        groups = [
            (self.labels == label, color, str(label))
            for label, color in zip(found, PALETTE, strict=False)
        ]
        if len(found) > n:
            groups.append((self.labels > found[n - 1], GREY, f"{len(found) - n} others"))
        names = [with_count(name, int(rows.sum())) for rows, _, name in groups]
        ax = self._open(ax, (5.6, 4.4), names)
        self.contours_ = None
        if self.grid is not None:
            x, y, density = self.grid
            falling = np.sort(density, axis=None)[::-1]
            shares = np.cumsum(falling) / falling.sum()
            # The region above each of these levels contains one of the masses.
            places = np.minimum(np.searchsorted(shares, masses), len(falling) - 1)
            levels = np.unique(falling[places])
            self.contours_ = ax.contour(
                x, y, density, levels=levels, colors="0.35", linewidths=0.9, zorder=1
            )
        self.points_ = [
            ax.scatter(
                *self.points[rows].T,
                s=_ROW,
                color=color,
                edgecolor="white",
                linewidth=0.4,
                zorder=2,
            )
            for rows, color, _ in groups
        ]
        for axis, name in zip((ax.xaxis, ax.yaxis), self.column_names, strict=True):
            axis.set_label_text(write_name(name), **LITERAL)
        self._add_legend(self.points_, names)
        return self


def _check_labels(labels: ArrayLike, n_rows: int) -> Places:
    array = check_integers(labels, "labels")
    check_shape(array, "labels", (n_rows,), "a label per row")
    return array


def _steps(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return grid points along a column, slightly beyond its range."""
    margin = _MARGIN * np.ptp(column) or 1.0
    return np.linspace(column.min() - margin, column.max() + margin, _N_STEPS)


# Co-assignments of rows in sampled partitions.


MOST_ROWS = 5000
"""Largest number of rows, since larger matrices are slow to order and exceed any screen."""


class CoAssignmentDisplay(Display):
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
    ax_, figure_, image_ : matplotlib Axes, Figure and AxesImage
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
        _check_size(n_rows, " in from_estimator")
        array = check_integers(array, "partitions")
        counts = np.zeros((n_rows, n_rows), dtype=np.float32)
        for each in array:
            counts += each[:, np.newaxis] == each
        self.probabilities = counts.astype(np.float64) / len(array)
        self.labels = None if labels is None else _check_labels(labels, n_rows)
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
        cmap, ax

        Returns
        -------
        CoAssignmentDisplay
            The display, with the clusters of `labels_` as contiguous blocks.

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a mixture.
        ValueError, ImportError
            If there are more than 5,000 rows, or an argument is invalid, or matplotlib is not
            installed.
        """
        what = "a mixture that stores sampled partitions, such as a DPMixture or an HDPMixture"
        cls._check_model(estimator, what, "n_components_distribution_", "labels_")
        labels = estimator.labels_
        if isinstance(labels, list):
            labels = np.concatenate(labels)
        n_rows = len(labels)
        places = estimator._places_of_rows()
        if rows is None:
            _check_size(n_rows)
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
        """
        cmap = self._find_cmap(cmap)
        ax = self._open(ax, (5.4, 4.6))
        from matplotlib.patches import Rectangle

        self.image_ = ax.imshow(
            self.probabilities[np.ix_(self.order, self.order)], cmap=cmap, vmin=0.0, vmax=1.0
        )
        self.outlines_ = []
        if self.labels is not None:
            ordered = self.labels[self.order]
            inner = np.flatnonzero(np.diff(ordered)) + 1
            for begin, end in pairwise([0, *inner, len(ordered)]):
                n = end - begin
                box = Rectangle((begin - 0.5, begin - 0.5), n, n, fill=False, edgecolor="#D55E00")
                self.outlines_.append(ax.add_patch(box))
        self._add_colorbar(self.image_, "probability of being together")
        ax.set(xlabel="rows, ordered", ylabel="rows, ordered", xticks=[], yticks=[])
        return self


def _check_size(n_rows: int, where: str = "") -> None:
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"co-assignments of {n_rows} rows are a matrix too large to draw: choose up to "
            f"{MOST_ROWS} of them, such as rows=range(0, {n_rows}, {-(-n_rows // MOST_ROWS)})"
            f"{where}."
        )


def _order(probabilities: Floats, labels: Places | None) -> Places:
    """Return rows by clusters, and within these by average linkage."""
    order = np.arange(len(probabilities))
    if len(order) > 2:
        distances = squareform(1.0 - probabilities, checks=False)
        order = leaves_list(linkage(distances, "average")).astype(np.int64)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    return order


# Tree of the clusters of a mixture.


class ClusterTreeDisplay(TreeDisplay):
    """Tree of clusters: which would be merged if there were fewer.

    Create it with `from_estimator`, or with the constructor and `plot`. Clusters that meet far to
    the left are alike, or small; cut the tree where long horizontal lines are.

    Parameters
    ----------
    linkage : (n_clusters - 1, 4) array-like
        Linkage matrix in scipy's convention, such as ``model.cluster_tree().linkage``. The height
        of a merge is the loss of evidence up to there, in nats per row.
    names : list of n_clusters str, default=None
        Labels of the clusters. None: "0", "1", ...

    Attributes
    ----------
    linkage : ndarray
    names : list of str
    leaves_ : list of int
        Clusters from the bottom to the top.
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : matplotlib LineCollection
        The merges.

    Raises
    ------
    ValueError
        If `linkage` is no linkage matrix.

    See Also
    --------
    skdp.mixture.PitmanYorMixture.labels_at : Returns merged labels of rows; all mixtures have this
        method.
    CoAssignmentDisplay : Plots how certain it is that rows belong together.
    TopicTreeDisplay : Plots the tree of the topics of a model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skdp.inspection import ClusterTreeDisplay
    >>> from skdp.mixture import PitmanYorMixture
    >>> model = PitmanYorMixture(max_iter=100, random_state=0).fit(load_iris().data)
    >>> display = ClusterTreeDisplay.from_estimator(model)
    >>> len(display.leaves_) == model.n_components_
    True
    """

    _xlabel = "loss of log evidence (nats per row)"

    def __init__(self, linkage: ArrayLike, *, names: Sequence[str] | None = None):
        super().__init__(linkage, names=names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_clusters: int | None = None, ax: Any = None
    ) -> Self:
        """Plot the tree of the clusters of a fitted mixture.

        Parameters
        ----------
        estimator : fitted mixture
        n_clusters : int, default=None
            Number of clusters to draw, at most that of the mixture: others are merged before, as by
            `labels_at`. None: 40, or all if there are fewer.
        ax : matplotlib Axes, default=None

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a mixture.
        ValueError, ImportError
            If there are fewer than two clusters, or matplotlib is not installed.
        """
        cls._check_model(estimator, "a mixture with clusters", "cluster_tree", "n_components_")
        n_own = estimator.n_components_
        n_clusters = count_leaves(n_clusters, n_own, "n_clusters", "clusters")
        tree = estimator.cluster_tree()
        numbers = getattr(estimator, "component_labels_", range(n_own))
        if n_clusters != n_own:
            numbers = range(n_clusters)
            tree = tree.coarse(check_at_most(n_clusters, "n_clusters", n_own, "components"))
        names = [with_count(str(k), int(n)) for k, n in zip(numbers, tree.sizes, strict=True)]
        return cls(tree.linkage, names=names).plot(ax)
