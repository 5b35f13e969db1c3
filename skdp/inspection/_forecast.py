"""Plots of forecasts and of the observations before them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_floats, check_count, is_number, shorten
from skdp.inspection._axes import LITERAL, PALETTE, check_matplotlib, open_axes, write_name
from skdp.inspection._estimators import check_model

_SIZE = (7.0, 3.2)


class ForecastDisplay:
    """A forecast of one column: the past, the predictive mean, and an interval at each step.

    Create it with `from_estimator`, or with the constructor and `plot`. The interval holds the next
    observation with the given probability under the model, at each step on its own: a whole path
    stays within the band less often.

    Parameters
    ----------
    mean : array-like of shape (n_steps,)
        Predictive means.
    lower, upper : array-like of shape (n_steps,)
        Ends of the intervals; the lower ones are not above the upper ones.
    history : array-like of shape (n_past,), default=None
        Observations before the forecast; NaN is missing.
    times : array-like of shape (n_past + n_steps,), default=None
        Times of all steps, dates or numbers. None: 0, 1, ...
    name : str, default=None
        Name of the column.

    Attributes
    ----------
    mean, lower, upper, history : ndarray
    times : ndarray
    name : str or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The history and the means.
    band_ : matplotlib PolyCollection
        The intervals.

    Raises
    ------
    ValueError
        If shapes do not fit, there is no step, or an interval is empty.

    See Also
    --------
    skdp.sequence.HDPHMMLT.forecast : The numbers, for all columns.

    Examples
    --------
    >>> from skdp.inspection import ForecastDisplay
    >>> display = ForecastDisplay([2.0, 2.1], [1.0, 0.9], [3.0, 3.3], history=[1.0, 1.5, 2.2])
    >>> lines = display.plot().lines_
    >>> display.times.tolist()
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        mean: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        history: ArrayLike | None = None,
        times: ArrayLike | None = None,
        name: str | None = None,
    ):
        self.mean = as_floats(mean, "mean", 1)
        self.lower, self.upper = as_floats(lower, "lower", 1), as_floats(upper, "upper", 1)
        self.history = np.empty(0) if history is None else as_floats(history, "history", 1)
        n_steps, n_past = len(self.mean), len(self.history)
        if n_steps == 0 or not len(self.lower) == len(self.upper) == n_steps:
            raise ValueError(
                "mean, lower and upper must have the same length of at least 1, got "
                f"{n_steps}, {len(self.lower)} and {len(self.upper)}."
            )
        if not np.all(self.lower <= self.upper):
            raise ValueError("lower must not exceed upper at any step.")
        self.times = np.arange(n_past + n_steps) if times is None else np.asarray(times)
        if self.times.shape != (n_past + n_steps,):
            raise ValueError(
                f"times must hold a time for each of the {n_past + n_steps} steps, got shape "
                f"{self.times.shape}."
            )
        self.name = None if name is None else str(name)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        n_steps: int,
        *,
        column: int | str = 0,
        interval: float = 0.9,
        n_past: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Forecast a sequence and plot the result.

        Parameters
        ----------
        estimator : HDPHMMLT
            A fitted model with a method ``forecast``, of columns of numbers.
        X : (T, n_features) array or data frame
            One sequence. Dates in the index of a pandas data frame are the times, if their
            frequency is regular.
        n_steps : int
            Number of steps to forecast, >= 1.
        column : int or str, default=0
            The column to plot, by its number or, for a data frame, its name.
        interval : float, default=0.9
            Probability of the interval at each step, between 0 and 1.
        n_past : int, default=None
            Number of last observations to show. None: all.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        ForecastDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError, TypeError
            If the estimator has no forecasts, an argument is invalid, X holds several sequences, or
            the column holds categories.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_model(estimator, "an HDPHMMLT, or a model with its forecasts", "forecast")
        if not is_number(interval) or not 0.0 < interval < 1.0:
            raise ValueError(f"interval must be between 0 and 1, got {shorten(interval)}.")
        if np.ndim(X) != 2:
            raise ValueError("X must be one sequence, a (T, n_features) array or data frame.")
        d = _find_column(column, X)
        tail = 0.5 * (1.0 - float(interval))
        found = estimator.forecast(X, n_steps, [tail, 1.0 - tail])
        if "mean" not in found:
            raise ValueError("X holds categories, which have no mean: see forecast(...).proba.")
        values = X.iloc[:, d] if hasattr(X, "iloc") else np.asarray(X)[:, d]
        history = np.asarray(values, dtype=np.float64)
        n_shown = len(history)
        if n_past is not None:
            n_shown = min(check_count(n_past, "n_past"), n_shown)
        times = _join_times(X, found.get("frame"), len(history) + len(found.mean))
        display = cls(
            found.mean[:, d],
            *found.quantiles[:, d].T,
            history=history[len(history) - n_shown :],
            times=times[len(history) - n_shown :],
            name=str(X.columns[d]) if hasattr(X, "columns") else None,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the history, the means and the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.

        Returns
        -------
        ForecastDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        self.ax_ = ax = open_axes(ax, _SIZE, [])
        self.figure_ = ax.figure
        n_past = len(self.history)
        past, ahead = self.times[:n_past], self.times[n_past:]
        self.lines_ = ax.plot(past, self.history, color="black", linewidth=1.0)
        marker = "." if len(ahead) <= 25 else ""
        self.lines_ += ax.plot(ahead, self.mean, color=PALETTE[0], marker=marker)
        self.band_ = ax.fill_between(
            ahead, self.lower, self.upper, color=PALETTE[0], alpha=0.25, linewidth=0.0
        )
        if self.times.dtype.kind != "M":
            ax.set_xlabel("step")
        if self.name is not None:
            ax.set_ylabel(write_name(self.name), **LITERAL)
        ax.spines[["top", "right"]].set_visible(False)
        return self


def _find_column(column: Any, X: Any) -> int:
    """Return the number of a column of X."""
    n_columns = np.shape(X)[1]
    if isinstance(column, str):
        names = list(getattr(X, "columns", []))
        if names.count(column) != 1:
            raise ValueError(f"column {shorten(column)} is not one column of X.")
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, Integral):
        raise TypeError(f"column must be a number or a name, got {type(column).__name__}.")
    if not -n_columns <= column < n_columns:
        raise ValueError(f"column must be below {n_columns}, got {column}.")
    return int(column) % n_columns


def _join_times(X: Any, frame: Any, n_steps: int) -> NDArray[Any]:
    """Return the dates of X and of its forecast, or the numbers of the steps."""
    if frame is not None:
        past, ahead = (
            part.index.to_timestamp() if hasattr(part.index, "to_timestamp") else part.index
            for part in (X, frame)
        )
        if past.dtype.kind == ahead.dtype.kind == "M":
            past, ahead = (
                part if part.tz is None else part.tz_localize(None) for part in (past, ahead)
            )
            return np.concatenate([part.to_numpy() for part in (past, ahead)])
    return np.arange(n_steps)
