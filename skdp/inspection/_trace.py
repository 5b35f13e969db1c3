"""Displays of the trace of a fit, of lower bounds, and of the number of components."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, as_floats, check_choice, check_count, check_unmasked, shorten
from skdp._fit import ChainEstimator
from skdp.inference._trace import Trace
from skdp.inspection._axes import (
    GREY,
    LITERAL,
    PALETTE,
    Display,
    check_model,
    check_names,
    make_panels,
    write_name,
    write_title,
)
from skdp.sequence._hmm._model import count_active


class TraceDisplay(Display):
    """Scalars of every kept sweep of a fit, with one panel per scalar and one line per chain.

    Create it with `from_estimator` or `from_trace`. Ideally, all chains vary around the same level
    without a trend; different levels or a slope indicate that more sweeps are needed.

    Parameters
    ----------
    trace : Trace
        The ``trace_`` of a fitted estimator.

    Attributes
    ----------
    trace : Trace
    ax_ : matplotlib Axes
        The axes given to `plot` or made by it: the invisible frame of the panels.
    axes_ : ndarray of matplotlib Axes
        The panels, one per scalar.
    figure_ : matplotlib Figure
    lines_ : list of lists of matplotlib Line2D
        For each of `axes_`, one line per chain.
    legend_ : matplotlib Legend or None
        None with one chain.

    See Also
    --------
    TopicEvolutionDisplay : Plots topic shares along a document.

    Examples
    --------
    >>> from skdp.inspection import TraceDisplay
    >>> from skdp.topics import SegmentedTopicModel
    >>> documents = [[[0, 1, 0], [2, 3, 2]], [[2, 3, 3], [1, 0]]]
    >>> model = SegmentedTopicModel(n_components=2, max_iter=40, n_chains=2, random_state=0)
    >>> display = TraceDisplay.from_estimator(model.fit(documents), names=["concentration"])
    >>> len(display.axes_), len(display.lines_[0])
    (1, 2)
    """

    def __init__(self, trace: Trace):
        if not isinstance(trace, Trace):
            raise TypeError(f"trace must be a Trace, got {type(trace).__name__}.")
        self.trace = trace

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Plot the trace of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With an attribute ``trace_``.
        names, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted, or has no trace because it did not run a chain.
        TypeError
            If the estimator is fitted without chains.
        ValueError, ImportError
            If `names` are not in the trace, or matplotlib is not installed.
        """
        if isinstance(estimator, ChainEstimator):
            check_is_fitted(estimator, "trace_")
        check_model(estimator, "a model that is fitted by chains", "trace_")
        return cls.from_trace(estimator.trace_, names=names, ax=ax)

    @classmethod
    def from_trace(
        cls, trace: Trace, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Plot a trace.

        Parameters
        ----------
        trace : Trace
        names, ax

        Raises
        ------
        ValueError, ImportError
            If `names` are not in the trace, or matplotlib is not installed.
        """
        return cls(trace).plot(ax, names=names)

    def plot(self, ax: Any = None, *, names: Sequence[str] | None = None) -> Self:
        """Draw the trace.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for labels.
        names : list of str, default=None
            Scalars to show, in this order. None: all scalars that varied.

        Raises
        ------
        ValueError, ImportError
            If `names` are not in the trace, or matplotlib is not installed.
        """
        names = self._check_names(names)
        n_chains = self.trace.n_chains
        chains = [f"chain {c}" for c in range(1, n_chains + 1)] if n_chains > 1 else []
        n_columns = 1 if len(names) <= 2 else 2
        n_rows = math.ceil(len(names) / n_columns)
        ax = self._open(ax, (4.2 * n_columns, 0.5 + 1.5 * n_rows), chains)
        self.axes_ = make_panels(ax, n_rows, n_columns, list(range(len(names))))
        ax.set_xlabel("sweep")
        self.lines_ = []
        marker = "." if len(self.trace.sweeps) <= 25 else ""
        for panel, name in zip(self.axes_, names, strict=True):
            lines = [
                panel.plot(
                    self.trace.sweeps,
                    values,
                    color=PALETTE[c % len(PALETTE)],
                    linewidth=1.0,
                    marker=marker,
                )[0]
                for c, values in enumerate(self.trace[name])
            ]
            self.lines_.append(lines)
            write_title(panel, write_name(name.replace("_", " ")), **LITERAL)
            panel.ticklabel_format(axis="y", useOffset=False, style="plain")
        self.legend_ = None
        if chains:
            self._add_legend(self.lines_[0], chains)
        return self

    def _check_names(self, names: Sequence[str] | None) -> list[str]:
        if names is None:
            varied = [name for name, values in self.trace.items() if np.ptp(values) > 0]
            return varied or list(self.trace)
        lone: Any = names
        names = [lone] if isinstance(lone, str) or not hasattr(lone, "__iter__") else list(lone)
        unknown = [name for name in names if name not in list(self.trace)]
        if unknown or not names:
            raise ValueError(
                f"names must be some of {', '.join(self.trace)}, got {shorten(names)}."
            )
        return names


# Lower bounds of a fit by iteration.


class LowerBoundDisplay(Display):
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
    ax_, figure_ : matplotlib Axes and Figure
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

    def __init__(
        self, lower_bounds: ArrayLike | Sequence[ArrayLike], *, names: Sequence[str] | None = None
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
        kind, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If an estimator is not fitted, or has no lower bounds.
        ValueError, ImportError
            If an argument is invalid, or matplotlib is not installed.
        """
        cls._check_matplotlib()
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

        Raises
        ------
        ValueError, ImportError
            If `kind` is unknown, or matplotlib is not installed.
        """
        check_choice(kind, "kind", "bound", "gap")
        names = [] if self.names is None else self.names
        ax = self._open(ax, (5.4, 3.4), names)
        highest = max(float(bounds.max()) for bounds in self.lower_bounds)
        self.lines_ = []
        for i, bounds in enumerate(self.lower_bounds):
            values, is_best = bounds, i == self.best_
            color = PALETTE[0 if self.names is None else i % len(PALETTE)]
            if kind == "gap":
                values = np.where(bounds < highest, highest - bounds, np.nan)
            self.lines_ += ax.plot(
                np.arange(1, len(bounds) + 1),
                values,
                color=GREY if self.names is None and not is_best else color,
                linewidth=1.8 if is_best else 1.0,
                marker="." if len(bounds) <= 25 else "",
                zorder=3 if is_best else 2,
            )
        ax.set(xlabel="iteration", ylabel="lower bound" if kind == "bound" else "below the highest")
        if kind == "gap":
            ax.set_yscale("log")
        else:
            ax.ticklabel_format(axis="y", useOffset=False, style="plain")
        ax.spines[["top", "right"]].set_visible(False)
        self.legend_ = None
        if names:
            self._add_legend(self.lines_, names)
        return self


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


# Posterior distribution of the number of components, topics or features.


_LEAST = 1e-3
"""Least probability of the smallest and the largest number that are drawn."""
_FEW = 100
"""Bars show counts of sweeps if there are fewer than this."""


class ComponentCountDisplay(Display):
    """The posterior distribution of the number of components, topics or features, as bars.

    Create it with `from_estimator`, or with the constructor and `plot`.

    Parameters
    ----------
    probabilities : (n,) array-like
        Entry k is the probability of k components.
    n_components : int, default=None
        Number whose bar is emphasized, such as that of the representative partition.
    n_samples : int, default=None
        Number of samples that the probabilities are shares of. If there are fewer than 100, bars
        show counts of samples, which are too few to call them probabilities.

    Attributes
    ----------
    probabilities : ndarray
    n_components, n_samples : int or None
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
        A bar for each number between the smallest and the largest with a probability of at least a
        thousandth.

    Raises
    ------
    ValueError
        If `probabilities` are not numbers from 0 to 1 that sum to 1.

    See Also
    --------
    CoAssignmentDisplay : Plots which rows belong together.
    TraceDisplay : Plots the number of components sweep by sweep.

    Examples
    --------
    >>> from skdp.inspection import ComponentCountDisplay
    >>> display = ComponentCountDisplay([0.0, 0.0, 0.75, 0.25]).plot()
    >>> [float(bar.get_height()) for bar in display.bars_]
    [0.75, 0.25]
    """

    def __init__(
        self,
        probabilities: ArrayLike,
        *,
        n_components: int | None = None,
        n_samples: int | None = None,
    ):
        self.probabilities = as_floats(probabilities, "probabilities", 1)
        if not (np.all(self.probabilities >= 0.0) and abs(self.probabilities.sum() - 1.0) < 1e-6):
            raise ValueError("probabilities must be numbers from 0 to 1 that sum to 1.")
        self.n_components = self.n_samples = None
        if n_components is not None:
            self.n_components = check_count(n_components, "n_components")
        if n_samples is not None:
            self.n_samples = check_count(n_samples, "n_samples", at_least=1)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the posterior of the number of components (topics, features) of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A mixture, `HDPTopicModel`, `IBPLatentFeatures`, or a `SegmentedTopicModel` or
            `AdaptiveTopicModel` with ``n_components="auto"``: `n_components_distribution_`. Or an
            `HDPHMMLT`: the numbers of states in use of the kept sweeps in its `trace_`.
        ax : matplotlib Axes, default=None

        Returns
        -------
        ComponentCountDisplay
            The number in the estimator's attributes is emphasized: `n_components_`, or the number
            of states in use in `state_shares_`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the number of components of this model is fixed.
        ImportError
            If matplotlib is not installed.
        """
        cls._check_matplotlib()
        check_is_fitted(estimator)
        trace = getattr(estimator, "trace_", {})
        if hasattr(estimator, "n_components_distribution_"):
            probabilities = estimator.n_components_distribution_
            n_components = int(estimator.n_components_)
        elif "n_active_components" in trace and hasattr(estimator, "state_shares_"):
            numbers = np.asarray(trace["n_active_components"]).astype(np.int64).ravel()
            probabilities = np.bincount(numbers) / len(numbers)
            n_components = count_active(estimator.state_shares_)
        else:
            raise TypeError(
                f"estimator must be a model that learns a number of components, got a fitted "
                f"{type(estimator).__name__}, which has neither n_components_distribution_ nor "
                "numbers of states in use."
            )
        n_samples = estimator.trace_["log_joint"].size
        display = cls(probabilities, n_components=n_components, n_samples=n_samples)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the distribution.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.
        """
        shown = np.flatnonzero(self.probabilities >= _LEAST)
        numbers = np.arange(shown[0], shown[-1] + 1)
        ax = self._open(ax, (4.2, 3.0))
        from matplotlib.ticker import MaxNLocator

        chosen = self.n_components is None
        colors = [PALETTE[0] if chosen or k == self.n_components else GREY for k in numbers]
        heights, label = self.probabilities[numbers], "posterior probability"
        if self.n_samples is not None and self.n_samples < _FEW:
            heights, label = heights * self.n_samples, f"kept sweeps, of {self.n_samples}"
        self.bars_ = ax.bar(numbers, heights, color=colors, width=0.8)
        ax.set(xlabel="number of components", ylabel=label)
        ax.set_xlim(numbers[0] - 1.0, numbers[-1] + 1.0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
        return self
