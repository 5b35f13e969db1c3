"""Display of the trace of a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._checks import shorten
from skdp._fit import ChainEstimator
from skdp.inference._trace import Trace
from skdp.inspection._axes import (
    LITERAL,
    PALETTE,
    add_legend,
    check_matplotlib,
    make_panels,
    open_axes,
    write_name,
)
from skdp.inspection._estimators import check_model


class TraceDisplay:
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
        names : list of str, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        TraceDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted, or has no trace because it did not run a chain.
        TypeError
            If the estimator is fitted without chains.
        ValueError
            If `names` are not in the trace.
        ImportError
            If matplotlib is not installed.
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
            The ``trace_`` of a fitted estimator.
        names : list of str, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        TraceDisplay

        Raises
        ------
        ValueError
            If `names` are not in the trace.
        ImportError
            If matplotlib is not installed.
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

        Returns
        -------
        TraceDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `names` are not in the trace.
        ImportError
            If matplotlib is not installed.
        """
        names = self._check_names(names)
        check_matplotlib(f"{type(self).__name__}.plot")
        n_chains = self.trace.n_chains
        chains = [f"chain {c}" for c in range(1, n_chains + 1)] if n_chains > 1 else []
        n_columns = 1 if len(names) <= 2 else 2
        n_rows = math.ceil(len(names) / n_columns)
        self.ax_ = ax = open_axes(ax, (4.2 * n_columns, 0.5 + 1.5 * n_rows), chains)
        self.figure_ = ax.figure
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
            panel.set_title(
                write_name(name.replace("_", " ")), loc="left", fontsize="small", pad=3.0, **LITERAL
            )
            panel.ticklabel_format(axis="y", useOffset=False, style="plain")
        self.legend_ = add_legend(ax, self.lines_[0], chains) if chains else None
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
