"""Rows in a plane with their clusters and the learned density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_floats, check_integers, is_number, shorten
from skdp.inspection._axes import (
    GREY,
    PALETTE,
    add_legend,
    check_matplotlib,
    check_names,
    open_axes,
    with_count,
    write_name,
)
from skdp.inspection._estimators import check_model

_SIZE = (5.6, 4.4)
_N_STEPS = 150
"""Number of grid points in each direction."""
_MARGIN = 0.15
"""Margin of the grid around the rows, as a share of their range."""
_ROW = 18.0
"""Area of a dot, in square points."""


class ClusterDisplay:
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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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
        self.labels = check_integers(labels, "labels")
        if self.labels.shape != (len(self.points),):
            raise ValueError(
                f"labels must have shape ({len(self.points)},), a label per row, got shape "
                f"{self.labels.shape}."
            )
        self.grid = None if grid is None else _check_grid(grid)
        if column_names is None:
            column_names = ["column 0", "column 1"]
        self.column_names = check_names(column_names, "column_names", 2)

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
        masses : list of float, default=(0.5, 0.8, 0.95)
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        ClusterDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not a mixture, or its samples are groups of rows.
        ValueError
            If X or another argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_model(estimator, "a mixture of rows", "predict", "score_samples")
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
            density = np.exp(estimator.score_samples(_like(X, places.reshape(-1, 2))))
            grid = x, y, density.reshape(len(y), len(x))
        shown = [names[j] if names else f"column {j}" for j in pair]
        return cls(points, found, grid=grid, column_names=shown).plot(ax, masses=masses)

    def plot(self, ax: Any = None, *, masses: Sequence[float] = (0.5, 0.8, 0.95)) -> Self:
        """Draw rows and density.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. The legend is to the right of the axes; your own
            figure should have ``layout="constrained"``, which makes room for it.
        masses : list of float, default=(0.5, 0.8, 0.95)
            A line for each: the share of the density on the grid that it encloses, between 0 and
            1. The grid is a little larger than the range of the rows.

        Returns
        -------
        ClusterDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `masses` are invalid.
        ImportError
            If matplotlib is not installed.
        """
        masses = list(masses)
        if not masses or not all(is_number(mass) and 0.0 < mass < 1.0 for mass in masses):
            raise ValueError(f"masses must be numbers between 0 and 1, got {shorten(masses)}.")
        check_matplotlib(f"{type(self).__name__}.plot")
        groups, names = self._group()
        self.ax_ = ax = open_axes(ax, _SIZE, names)
        self.figure_ = ax.figure
        self.contours_ = None
        if self.grid is not None:
            x, y, density = self.grid
            levels = np.unique(_enclosing_levels(density, masses))
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
            for rows, color in groups
        ]
        ax.set_xlabel(write_name(self.column_names[0]), parse_math=False)
        ax.set_ylabel(write_name(self.column_names[1]), parse_math=False)
        self.legend_ = add_legend(ax, self.points_, names)
        return self

    def _group(self) -> tuple[list[tuple[NDArray[np.bool_], str]], list[str]]:
        """Return the rows and colors of the entries of the legend, and their names."""
        found, groups, names = np.unique(self.labels), [], []
        for place, label in enumerate(found[: len(PALETTE)]):
            rows = self.labels == label
            groups.append((rows, PALETTE[place]))
            names.append(with_count(str(label), int(rows.sum())))
        if len(found) > len(PALETTE):
            rows = self.labels > found[len(PALETTE) - 1]
            groups.append((rows, GREY))
            names.append(with_count(f"{len(found) - len(PALETTE)} others", int(rows.sum())))
        return groups, names


def _check_grid(grid: Any) -> tuple[NDArray[np.float64], ...]:
    if not isinstance(grid, tuple | list) or len(grid) != 3:
        raise ValueError("grid must be (x, y, density).")
    x, y = as_floats(grid[0], "x of grid", 1), as_floats(grid[1], "y of grid", 1)
    density = as_floats(grid[2], "density of grid", 2)
    if density.shape != (len(y), len(x)) or density.min() < 0.0 or density.max() == 0.0:
        raise ValueError(
            f"density of grid must have shape ({len(y)}, {len(x)}) and no negative numbers, got "
            f"shape {density.shape}."
        )
    return x, y, density


def _steps(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return grid points along a column, slightly beyond its range."""
    margin = _MARGIN * np.ptp(column) or 1.0
    return np.linspace(column.min() - margin, column.max() + margin, _N_STEPS)


def _like(X: Any, rows: NDArray[np.float64]) -> Any:
    """Return rows as a data frame if X is one, to avoid warnings about missing names."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows


def _enclosing_levels(density: NDArray[np.float64], masses: Sequence[float]) -> NDArray[np.float64]:
    """Return the densities above which the region contains each mass."""
    falling = np.sort(density, axis=None)[::-1]
    shares = np.cumsum(falling) / falling.sum()
    places = np.minimum(np.searchsorted(shares, masses), len(falling) - 1)
    return np.asarray(falling[places])
