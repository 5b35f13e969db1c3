"""The binary factors of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp.inspection._axes import (
    GREY,
    PALETTE,
    check_cmap,
    check_matplotlib,
    check_names,
    open_axes,
)
from skdp.inspection._estimators import check_model
from skdp.inspection._matrix import label_matrix, size_matrix
from skdp.inspection._states import check_matrix, check_shares, choose_states

_GAP_INCHES, _BAR_INCHES, _TEXT_INCHES = 0.12, 0.8, 0.45
"""Gap between the matrix and the bars, length of the longest bar, room of the number at its end."""


class FactorDisplay:
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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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
        self.factors = check_matrix(factors, "factors")
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
            See `plot`.
        factor_names : list of n_factors str, default=None
            Labels of the factors. None: "0", "1", ...
        cmap : matplotlib colormap or its name, default="Blues"
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        FactorDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not a model with states.
        ValueError
            If the states of the estimator have no factors, or an argument is invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_is_fitted(estimator)
        if not hasattr(estimator, "factors_"):
            check_model(estimator, "a hidden Markov model with factors", "state_shares_")
            raise ValueError(
                f"The states of {type(estimator).__name__} have no factors (no attribute "
                "factors_): its emission is not a BinaryFactorEmission."
            )
        shares = getattr(estimator, "state_shares_", None)
        display = cls(estimator.factors_, shares, factor_names=factor_names)
        return display.plot(ax, states=states, cmap=cmap)

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

        Returns
        -------
        FactorDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `states` are not valid states.
        ImportError
            If matplotlib is not installed.
        """
        self.states_ = choose_states(states, self.shares, len(self.factors))
        check_matplotlib(f"{type(self).__name__}.plot")
        names = [str(j) for j in self.states_]
        width, height = size_matrix(names, self.factor_names, with_values=False)
        shown = self.factors[self.states_]
        n_rows, n_columns = shown.shape
        margin = 0.0 if self.shares is None else _GAP_INCHES + _BAR_INCHES + _TEXT_INCHES
        cmap = check_cmap(cmap)
        self.ax_ = ax = open_axes(ax, (width - 0.9 + margin, height), [])
        self.figure_ = ax.figure
        self.image_ = ax.imshow(shown, cmap=cmap, vmin=0.0, vmax=1.0, aspect="auto")
        label_matrix(ax, names, self.factor_names)
        ax.set(xlabel="factor", ylabel="state")
        _draw_lattice(ax, n_rows, n_columns)
        self.bars_ = None
        if self.shares is not None:
            self._draw_bars(self.shares[self.states_], n_columns)
        return self

    def _draw_bars(self, shares: NDArray[np.float64], n_columns: int) -> None:
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


def _draw_lattice(ax: Any, n_rows: int, n_columns: int) -> None:
    """Draw pale lines around cells, since rows with few dark cells are hard to follow."""
    style = {"color": GREY, "linewidth": 0.5 if max(n_rows, n_columns) <= 60 else 0.0}
    ax.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, **style)
    ax.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, **style)
    frame = {"color": "black", "linewidth": 0.8, "clip_on": False}
    ax.hlines([-0.5, n_rows - 0.5], -0.5, n_columns - 0.5, **frame)
    ax.vlines([-0.5, n_columns - 0.5], -0.5, n_rows - 0.5, **frame)
    ax.spines[:].set_visible(False)
