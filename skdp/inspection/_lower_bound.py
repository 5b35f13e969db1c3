"""Lower bounds of a fit by iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, check_unmasked, shorten
from skdp.inspection._axes import (
    GREY,
    PALETTE,
    add_legend,
    check_matplotlib,
    check_names,
    open_axes,
)
from skdp.inspection._estimators import check_model

_KINDS = ("bound", "gap")
_SIZE = (5.4, 3.4)


class LowerBoundDisplay:
    """The lower bound of the log evidence over the iterations of one or several fits.

    Create it with `from_estimator`, or with the constructor and `plot`. The bound rises, steeply at
    first. If a line still climbs at its end, the fit needs more iterations; if fits end at
    different heights, use more restarts.

    Parameters
    ----------
    lower_bounds : array-like of shape (n_iterations,), or a list of several
        The bound after every iteration of a fit, or of each of several fits, of any lengths. A list
        of numbers is one fit.
    names : list of n_fits str, default=None
        Names of the fits. None: only the best fit is marked.

    Attributes
    ----------
    lower_bounds : list of ndarray
    names : list of str or None
    best_ : int
        Index of the fit with the highest last bound.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One line per fit.
    legend_ : matplotlib Legend or None
        None without names.

    Raises
    ------
    ValueError
        If there is no fit, if a fit has no iterations or bounds that are not finite, or if the
        numbers of names and fits differ.

    See Also
    --------
    GrammarDisplay : Plots the fitted grammar.
    TraceDisplay : Plots fits by sampling.

    Examples
    --------
    >>> from skdp.inspection import LowerBoundDisplay
    >>> display = LowerBoundDisplay([[-90.0, -50.0, -45.0], [-80.0, -60.0]]).plot()
    >>> display.best_, len(display.lines_)
    (0, 2)
    """

    legend_: Any

    def __init__(
        self,
        lower_bounds: ArrayLike | Sequence[ArrayLike],
        *,
        names: Sequence[str] | None = None,
    ):
        check_unmasked(lower_bounds, "lower_bounds")
        if isinstance(lower_bounds, str) or not hasattr(lower_bounds, "__iter__"):
            raise ValueError(
                f"lower_bounds must be a list of numbers, got {shorten(lower_bounds)}."
            )
        fits: list[Any] = list(lower_bounds)  # type: ignore[arg-type]
        if fits and np.ndim(fits[0]) == 0:
            fits = [fits]
        self.lower_bounds = [_check_bounds(bounds, i) for i, bounds in enumerate(fits)]
        if not fits:
            raise ValueError("lower_bounds must hold the bounds of at least one fit.")
        self.names = None if names is None else check_names(names, "names", len(fits))
        self.best_ = int(np.argmax([bounds[-1] for bounds in self.lower_bounds]))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Sequence[str] | None = None,
        kind: str = "bound",
        ax: Any = None,
    ) -> Self:
        """Plot the lower bounds of one or several fitted models.

        Parameters
        ----------
        estimator : fitted estimator or list of them
            With an attribute ``lower_bounds_``.
        names : list of n_estimators str, default=None
            Names of the fits. None: only the best fit is marked.
        kind : {"bound", "gap"}, default="bound"
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        LowerBoundDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If an estimator is not fitted.
        TypeError
            If an estimator has no lower bounds.
        ValueError
            If an argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        estimators = estimator if isinstance(estimator, list | tuple) else [estimator]
        for fitted in estimators:
            check_model(fitted, "a model that is fitted by a lower bound", "lower_bounds_")
        display = cls([fitted.lower_bounds_ for fitted in estimators], names=names)
        return display.plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "bound") -> Self:
        """Draw the bounds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.
        kind : {"bound", "gap"}, default="bound"
            "bound": the bounds themselves. "gap": the distances below the highest bound, on a
            logarithmic scale, which shows the last steps as well as the first; the last bound of
            the best fit cannot be shown.

        Returns
        -------
        LowerBoundDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `kind` is unknown.
        ImportError
            If matplotlib is not installed.
        """
        if not isinstance(kind, str) or kind not in _KINDS:
            raise ValueError(f"kind must be 'bound' or 'gap', got {kind!r}.")
        check_matplotlib(f"{type(self).__name__}.plot")
        names = [] if self.names is None else self.names
        self.ax_ = ax = open_axes(ax, _SIZE, names)
        self.figure_ = ax.figure
        highest = max(float(bounds.max()) for bounds in self.lower_bounds)
        self.lines_ = []
        for i, bounds in enumerate(self.lower_bounds):
            values = bounds
            if kind == "gap":
                values = np.where(bounds < highest, highest - bounds, np.nan)
            self.lines_ += ax.plot(
                np.arange(1, len(bounds) + 1),
                values,
                color=self._color(i),
                linewidth=1.8 if i == self.best_ else 1.0,
                marker="." if len(bounds) <= 25 else "",
                zorder=3 if i == self.best_ else 2,
            )
        ax.set(xlabel="iteration", ylabel="lower bound" if kind == "bound" else "below the highest")
        if kind == "gap":
            ax.set_yscale("log")
        else:
            ax.ticklabel_format(axis="y", useOffset=False, style="plain")
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = add_legend(ax, self.lines_, names) if names else None
        return self

    def _color(self, i: int) -> str:
        if self.names is None and i != self.best_:
            return GREY
        return PALETTE[0 if self.names is None else i % len(PALETTE)]


def _check_bounds(bounds: ArrayLike, i: int) -> NDArray[np.float64]:
    array = as_array(bounds, f"lower_bounds of fit {i}")
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iuf":
        raise ValueError(
            f"lower_bounds of fit {i} must be a 1-D array of numbers, at least one; got shape "
            f"{array.shape} and type {array.dtype}."
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"lower_bounds of fit {i} must be finite.")
    return array.astype(np.float64)
