"""Displays of the transitions between states, and of the binary factors of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, check_choice, is_number
from skdp._numeric import Floats
from skdp.inspection._axes import (
    GREY,
    LITERAL,
    PALETTE,
    Display,
    check_fractions,
    check_model,
    check_names,
    decide_values,
    label_matrix,
    size_matrix,
    text_color,
    write_name,
    write_values,
)
from skdp.inspection._states import check_shares, choose_states
from skdp.sequence._hmm._model import sum_states

_FLOOR = 0.001
"""Lower end of the logarithmic scale, and of the long-run shares of drawn states."""
_SHOWN = 0.005
"""Smallest displayed probability; smaller probabilities would be written as 0.00."""
_LASTING = 1.0 - 1e-8
"""Continuation probability of the chain whose mean shares approximate the long-run shares."""
_SPACE = (6.4, 5.2)
"""Size of the axes of kind "space", in inches."""
_AREA, _LEAST_AREA = 700.0, 110.0
"""Area of the dot of the state with the largest share, and smallest area, in square points."""
_ARC = 3.5
"""Width of the arc of a jump with probability 1, in points."""


class TransitionDisplay(Display):
    """Probabilities of transitions between states, as a matrix or in the space of the states.

    Create it with `from_estimator`, or with the constructor and `plot`. In a matrix, transitions
    lead from the state of the row to the state of the column; the top row is for first states. If
    states have locations, as under a `skdp.sequence.GaussianSimilarity`, they can be drawn as dots,
    and transitions as arcs between them.

    Parameters
    ----------
    transmat : array-like of shape (n_states, n_states)
        Transition probabilities; rows sum to 1.
    startprob : array-like of shape (n_states,), default=None
        Probabilities of the first state.
    locations : array-like of shape (n_states, n_dims), default=None
        Locations of the states.
    shares : array-like of shape (n_states,), default=None
        Shares of time in the states; they sum to 1. None: the long-run shares of the chain, which
        starts from `startprob` (or anywhere).
    state_names : list of n_states str, default=None
        Labels of the states. None: "0", "1", ...

    Attributes
    ----------
    transmat, startprob, locations, shares, state_names
        As passed, as arrays and a list; `shares` computed if None was passed.
    ax_, figure_ : matplotlib Axes and Figure
    states_ : ndarray of int
        The states that are drawn, in this order.
    colorbar_ : matplotlib Colorbar
        Color bar of the probabilities of transitions, or of staying (kind "space").
    image_ : matplotlib AxesImage or None
        The matrix, below the row of first states if these are known.
    texts_ : ndarray of matplotlib Text or None
        The numbers in the cells of `image_`, if shown; empty below 0.005.
    points_ : matplotlib PathCollection or None
        A dot for each of `states_` (kind "space").
    arcs_ : list of matplotlib FancyArrowPatch or None
        Transitions between two of `states_`.
    positions_ : ndarray of shape (n_drawn, 2) or None
        Positions of the dots.

    See Also
    --------
    StateSequenceDisplay : Plots states along a sequence.
    FactorDisplay : Plots the factors of states.

    Examples
    --------
    >>> from skdp.inspection import TransitionDisplay
    >>> transmat = [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]]
    >>> display = TransitionDisplay(transmat, startprob=[0.0, 1.0, 0.0]).plot()
    >>> display.states_
    array([0, 1])
    >>> display.shares.round(3)
    array([0.667, 0.333, 0.   ])
    """

    positions_: NDArray[np.float64] | None
    arcs_: list[Any] | None
    texts_: NDArray[np.object_] | None
    points_: Any

    def __init__(
        self,
        transmat: ArrayLike,
        startprob: ArrayLike | None = None,
        locations: ArrayLike | None = None,
        shares: ArrayLike | None = None,
        *,
        state_names: Sequence[str] | None = None,
    ):
        self.transmat = check_fractions(transmat, "transmat", 2)
        n_states, n_columns = self.transmat.shape
        if n_states != n_columns:
            raise ValueError(f"transmat must be square, got shape {self.transmat.shape}.")
        if not np.allclose(self.transmat.sum(axis=1), 1.0, rtol=0, atol=1e-4):
            raise ValueError("transmat must have rows that sum to 1.")
        self.startprob = None
        if startprob is not None:
            self.startprob = check_shares(startprob, "startprob", n_states)
        self.locations = None if locations is None else _check_locations(locations, n_states)
        self._least = 0.0
        if shares is None:
            # The mean shares of time of a long chain, for any classes and periods of states.
            uniform = np.full(n_states, 1.0 / n_states)
            start = uniform if self.startprob is None else self.startprob
            going_on = np.eye(n_states) - _LASTING * self.transmat.T
            times = np.maximum(np.linalg.solve(going_on, start), 0.0)
            self.shares = np.asarray(times / times.sum())
            self._least = _FLOOR  # few shares are 0
        else:
            self.shares = check_shares(shares, "shares", n_states)
        self.state_names = check_names(state_names, "state_names", n_states)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "matrix",
        states: ArrayLike | None = None,
        state_names: Sequence[str] | None = None,
        scale: str = "log",
        include_values: bool | None = None,
        min_probability: float = 0.1,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot the transitions of a fitted model.

        Parameters
        ----------
        estimator : fitted hidden Markov model
            With attributes ``transmat_`` and ``startprob_``; ``state_shares_`` and ``locations_``
            are used if it has them. With `merge_overlapping`, the transitions are those of states:
            means over their components, by their shares.
        kind, states
        state_names : list of n_states str, default=None
        scale, include_values, min_probability, cmap, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a hidden Markov model.
        ValueError, ImportError
            If its states have no locations but `kind` is "space", or an argument is invalid, or
            matplotlib is not installed.
        """
        cls._check_model(estimator, "a hidden Markov model", "transmat_", "startprob_")
        transmat, startprob, shares = _merge_components(estimator)
        locations = getattr(estimator, "locations_", None)
        return cls._show(locals())

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "matrix",
        states: ArrayLike | None = None,
        scale: str = "log",
        include_values: bool | None = None,
        min_probability: float = 0.1,
        cmap: Any = None,
    ) -> Self:
        """Draw the transitions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for labels.
        kind : {"matrix", "space"}, default="matrix"
            A matrix of probabilities; or the states at their locations (with more than two
            dimensions, at the first two principal components). The area of a dot is proportional to
            its share of time, its color is the probability of staying. The width of an arc is the
            probability of the transition once the state is left; arcs lead counterclockwise from
            dot to dot.
        states : array-like of int, default=None
            States to draw, in this order. None: the active ones, the largest share first; a state
            is active if its share is above 0, or above 0.001 if `shares` were computed.
        scale : {"log", "linear"}, default="log"
            Scale of the colors of a matrix: logarithms, from 0.001 on, or probabilities.
        include_values : bool, default=None
            Whether to write the numbers in the cells of a matrix. None: with up to 12 states.
        min_probability : float, default=0.1
            Transitions with a smaller probability than this, once the state is left, have no arc;
            in [0, 1].
        cmap : matplotlib colormap or its name, default=None
            None: from yellow to blue, with dark colors for high probabilities.

        Raises
        ------
        ValueError, ImportError
            If an argument is invalid, or `kind` is "space" and there are no locations, or
            matplotlib is not installed.
        """
        check_choice(kind, "kind", "matrix", "space")
        check_choice(scale, "scale", "log", "linear")
        if not (is_number(min_probability) and 0.0 <= min_probability <= 1.0):
            raise ValueError(f"min_probability must be in [0, 1], got {min_probability!r}.")
        if kind == "space" and self.locations is None:
            raise ValueError(
                "kind='space' needs states with locations, such as those of a GaussianSimilarity."
            )
        self.states_ = choose_states(states, self.shares, len(self.transmat), self._least)
        cmap = self._find_cmap(cmap, "YlGnBu")
        self.image_ = self.texts_ = self.points_ = self.arcs_ = self.positions_ = None
        if kind == "matrix":
            self._draw_matrix(ax, scale, include_values, cmap)
        else:
            self._draw_space(ax, float(min_probability), cmap)
        return self

    def _draw_matrix(self, ax: Any, scale: str, include_values: bool | None, cmap: Any) -> None:
        from matplotlib.colors import LogNorm, Normalize

        values = self.transmat[np.ix_(self.states_, self.states_)]
        columns = [self.state_names[j] for j in self.states_]
        rows = columns
        if self.startprob is not None:
            values = np.vstack([self.startprob[self.states_], values])
            rows = ["start", *columns]
        include_values = decide_values(include_values, len(columns))
        size = size_matrix(rows, columns, with_values=include_values)
        ax = self._open(ax, size)
        norm = Normalize(0.0, 1.0)
        if scale == "log":
            norm = LogNorm(_FLOOR, 1.0, clip=True)  # smaller values have the palest color
        self.image_ = ax.imshow(values, cmap=cmap, norm=norm, aspect="auto")
        if include_values:
            self.texts_ = write_values(ax, self.image_, values, _SHOWN)
        if self.startprob is not None:
            ax.axhline(0.5, color="white", linewidth=4.0)
        self._add_colorbar(self.image_, "probability")
        label_matrix(ax, rows, columns)
        ax.set(xlabel="to state", ylabel="from state")

    def _draw_space(self, ax: Any, min_probability: float, cmap: Any) -> None:
        assert self.locations is not None
        self.positions_, labels = _project(self.locations[self.states_])
        ax = self._open(ax, _SPACE)
        shares = self.shares[self.states_]
        largest = max(float(shares.max()), np.finfo(float).tiny)
        areas = np.maximum(_AREA * shares / largest, _LEAST_AREA)
        stay = np.diag(self.transmat)[self.states_]
        self.points_ = ax.scatter(
            *self.positions_.T,
            s=areas,
            c=stay,
            cmap=cmap,
            vmin=0.0,
            vmax=1.0,
            edgecolor="black",
            linewidth=0.8,
            zorder=3,
        )
        self._add_colorbar(self.points_, "probability of staying")
        self.arcs_ = self._draw_arcs(self.positions_, np.sqrt(areas) / 2.0, min_probability)
        for (x, y), j, value in zip(self.positions_, self.states_, stay, strict=True):
            ax.annotate(
                write_name(self.state_names[j]),
                (x, y),
                color=text_color(self.points_.cmap(value)),
                ha="center",
                va="center",
                fontsize="x-small",
                zorder=4,
                **LITERAL,
            )
        ax.set(**labels)
        ax.margins(0.12)
        ax.set_aspect("equal", adjustable="datalim")

    def _draw_arcs(self, positions: Floats, radii: Floats, min_probability: float) -> list[Any]:
        """Draw and return the arcs between dots of these radii, in points."""
        from matplotlib.patches import FancyArrowPatch

        leave = self.transmat - np.diag(np.diag(self.transmat))
        totals = leave.sum(axis=1, keepdims=True)
        jumps = np.divide(leave, totals, out=np.zeros_like(leave), where=totals > 0.0)
        jumps = jumps[np.ix_(self.states_, self.states_)]
        arcs = []
        for a, b in np.argwhere((jumps > 0.0) & (jumps >= min_probability)):
            arc = FancyArrowPatch(
                positions[a],
                positions[b],
                connectionstyle="arc3,rad=0.2",
                arrowstyle="-|>",
                mutation_scale=7.0 + _ARC * jumps[a, b],
                shrinkA=radii[a],
                shrinkB=radii[b] + 1.0,
                linewidth=0.3 + _ARC * jumps[a, b],
                color="#555555",
                alpha=0.3 + 0.6 * jumps[a, b],
                zorder=2,
            )
            arcs.append(self.ax_.add_patch(arc))
        return arcs


def _merge_components(estimator: Any) -> tuple[Any, Any, Any]:
    """Return transitions, first states and shares of states, which may have several components."""
    transmat, startprob = estimator.transmat_, estimator.startprob_
    shares = getattr(estimator, "state_shares_", None)
    labels = getattr(estimator, "component_labels_", None)
    if shares is None or labels is None or len(np.unique(labels)) == len(labels):
        return transmat, startprob, shares
    weights = (labels[:, np.newaxis] == labels) * (shares + 1e-12)
    weights /= weights.sum(axis=1, keepdims=True)
    startprob, shares = sum_states(startprob, labels), sum_states(shares, labels)
    return sum_states(weights @ transmat, labels), startprob, shares


def _check_locations(locations: ArrayLike, n_states: int) -> Floats:
    array = as_array(locations, "locations")
    numbers = array.dtype.kind in "biuf" and np.all(np.isfinite(array))
    if array.ndim != 2 or len(array) != n_states or array.shape[1] == 0 or not numbers:
        raise ValueError(
            f"locations must have shape ({n_states}, n_dims) and be finite numbers, got shape "
            f"{array.shape} and type {array.dtype}."
        )
    return array.astype(np.float64)


def _project(locations: Floats) -> tuple[Floats, dict[str, Any]]:
    """Return positions (n, 2) in a plane, and the labels of its axes."""
    n_dims = locations.shape[1]
    if n_dims == 1:
        flat = np.column_stack([locations[:, 0], np.zeros(len(locations))])
        return flat, {"xlabel": "location", "yticks": []}
    if n_dims == 2:
        return locations, {"xlabel": "first dimension", "ylabel": "second dimension"}
    centered = locations - locations.mean(axis=0)
    _, lengths, axes = np.linalg.svd(centered, full_matrices=False)
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    axes = axes * signs[:, None]  # else signs depend on the machine
    places = np.zeros((len(locations), 2))
    n_axes = min(2, len(axes))
    places[:, :n_axes] = centered @ axes[:n_axes].T
    total = max(float(np.sum(lengths**2)), np.finfo(float).tiny)
    shares = [float(length**2) / total for length in [*lengths, 0.0][:2]]
    first, second = (
        f"{name} principal component ({100 * share:.0f} %)"
        for name, share in zip(("first", "second"), shares, strict=True)
    )
    return places, {"xlabel": first, "ylabel": second}


# Binary factors of states.


_GAP_INCHES, _BAR_INCHES, _TEXT_INCHES = 0.12, 0.8, 0.45
"""Gap between the matrix and the bars, length of the longest bar, room of the number at its end."""


class FactorDisplay(Display):
    """Matrix of the binary factors of states, with the share of time in each state as a bar.

    Create it with `from_estimator`, or with the constructor and `plot`. Each row is a state, the
    largest shares on top; a dark cell is a factor that is on in the state. States that differ in
    only one factor are neighbors under a `skdp.sequence.LaplacianSimilarity`.

    Parameters
    ----------
    factors : array-like of shape (n_states, n_factors)
        0 or 1, or probabilities of 1.
    shares : array-like of shape (n_states,), default=None
        Shares of time in the states; they sum to 1.
    factor_names : list of n_factors str, default=None
        Labels of the factors. None: "0", "1", ...

    Attributes
    ----------
    factors, shares, factor_names
        As passed, as arrays and a list.
    ax_, figure_ : matplotlib Axes and Figure
    states_ : ndarray of int
        The states that are drawn, from top to bottom.
    image_ : matplotlib AxesImage
    bars_ : matplotlib BarContainer or None
        A bar for each of `states_`, whose length is proportional to its share. None without
        `shares`.

    See Also
    --------
    StateSequenceDisplay : Plots states, or their factors, along a sequence.
    TransitionDisplay : Plots the transitions between states.

    Examples
    --------
    >>> from skdp.inspection import FactorDisplay
    >>> display = FactorDisplay([[0, 0], [0, 1], [1, 1]], shares=[0.25, 0.75, 0.0]).plot()
    >>> display.states_
    array([1, 0])
    >>> display.image_.get_array().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        factors: ArrayLike,
        shares: ArrayLike | None = None,
        *,
        factor_names: Sequence[str] | None = None,
    ):
        self.factors = check_fractions(factors, "factors", 2)
        n_states, n_factors = self.factors.shape
        self.shares = None if shares is None else check_shares(shares, "shares", n_states)
        self.factor_names = check_names(factor_names, "factor_names", n_factors)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        states: ArrayLike | None = None,
        factor_names: Sequence[str] | None = None,
        cmap: Any = "Blues",
        ax: Any = None,
    ) -> Self:
        """Plot the factors of the states of a fitted model.

        Parameters
        ----------
        estimator : fitted hidden Markov model
            With attributes ``factors_`` and ``state_shares_``.
        states : array-like of int, default=None
        factor_names : list of n_factors str, default=None
        cmap, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a model with states.
        ValueError, ImportError
            If the states of the estimator have no factors, or an argument is invalid, or matplotlib
            is not installed.
        """
        cls._check_matplotlib()
        check_is_fitted(estimator)
        if not hasattr(estimator, "factors_"):
            check_model(estimator, "a hidden Markov model with factors", "state_shares_")
            raise ValueError(
                f"The states of {type(estimator).__name__} have no factors (no attribute "
                "factors_): its emission is not a BinaryFactorEmission."
            )
        shares = getattr(estimator, "state_shares_", None)
        return cls._show(locals(), factors=estimator.factors_)

    def plot(self, ax: Any = None, *, states: ArrayLike | None = None, cmap: Any = "Blues") -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for labels.
        states : array-like of int, default=None
            States to draw, from top to bottom. None: states with a share above 0, the largest
            first; if no shares are known, all states in order.
        cmap : matplotlib colormap or its name, default="Blues"
            Colors from 0 to 1.

        Raises
        ------
        ValueError, ImportError
            If `states` are not valid states, or matplotlib is not installed.
        """
        self.states_ = choose_states(states, self.shares, len(self.factors))
        cmap = self._find_cmap(cmap)
        names = [str(j) for j in self.states_]
        width, height = size_matrix(names, self.factor_names, with_values=False)
        shown = self.factors[self.states_]
        n_rows, n_columns = shown.shape
        margin = 0.0 if self.shares is None else _GAP_INCHES + _BAR_INCHES + _TEXT_INCHES
        ax = self._open(ax, (width - 0.9 + margin, height))
        self.image_ = ax.imshow(shown, cmap=cmap, vmin=0.0, vmax=1.0, aspect="auto")
        label_matrix(ax, names, self.factor_names)
        ax.set(xlabel="factor", ylabel="state")
        # Pale lines around cells, since rows with few dark cells are hard to follow.
        style = {"color": GREY, "linewidth": 0.5 if max(n_rows, n_columns) <= 60 else 0.0}
        ax.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, **style)
        ax.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, **style)
        frame = {"color": "black", "linewidth": 0.8, "clip_on": False}
        ax.hlines([-0.5, n_rows - 0.5], -0.5, n_columns - 0.5, **frame)
        ax.vlines([-0.5, n_columns - 0.5], -0.5, n_rows - 0.5, **frame)
        ax.spines[:].set_visible(False)
        self.bars_ = None
        if self.shares is not None:
            self._draw_bars(self.shares[self.states_], n_columns)
        return self

    def _draw_bars(self, shares: Floats, n_columns: int) -> None:
        """Draw bars to the right of the matrix, in its axes, to keep them aligned with rows."""
        ax = self.ax_
        room = ax.get_window_extent().width / ax.figure.dpi - _GAP_INCHES
        inch = n_columns / max(room - _BAR_INCHES - _TEXT_INCHES, 0.3 * room)  # in columns
        left = n_columns - 0.5 + _GAP_INCHES * inch
        widths = _BAR_INCHES * inch * shares / max(float(shares.max()), np.finfo(float).tiny)
        rows = np.arange(len(shares))
        self.bars_ = ax.barh(rows, widths, height=0.75, left=left, color=PALETTE[0])
        for row, width, share in zip(rows, widths, shares, strict=True):
            text = f" {100 * share:.1f} %"
            ax.text(left + width, row, text, ha="left", va="center", fontsize="small")
        ax.text(left, -0.6, "share of time", ha="left", va="bottom", fontsize="small")
        right = left + (_BAR_INCHES + _TEXT_INCHES) * inch
        ax.set_xlim(-0.5, right)
        ax.xaxis.label.set_x(0.5 * n_columns / (right + 0.5))
