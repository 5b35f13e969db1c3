"""Posterior distribution of the number of components, topics or features of a model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats, check_count
from skdp.inspection._axes import GREY, PALETTE, check_matplotlib, open_axes
from skdp.sequence._hmm._model import count_active

_SIZE = (4.2, 3.0)
_LEAST = 1e-3
"""Least probability of the smallest and the largest number that are drawn."""
_FEW = 100
"""Bars show counts of sweeps if there are fewer than this."""


class ComponentCountDisplay:
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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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
        valid = np.all(self.probabilities >= 0.0) and abs(self.probabilities.sum() - 1.0) < 1e-6
        if not valid:
            raise ValueError("probabilities must be numbers from 0 to 1 that sum to 1.")
        self.n_components = None
        if n_components is not None:
            self.n_components = check_count(n_components, "n_components", at_least=0)
        self.n_samples = None
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
            See `plot`.

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
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_is_fitted(estimator)
        probabilities, n_components = _find_numbers(estimator)
        n_samples = estimator.trace_["log_joint"].size
        display = cls(probabilities, n_components=n_components, n_samples=n_samples)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the distribution.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.

        Returns
        -------
        ComponentCountDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        from matplotlib.ticker import MaxNLocator

        shown = np.flatnonzero(self.probabilities >= _LEAST)
        numbers = np.arange(shown[0], shown[-1] + 1)
        self.ax_ = ax = open_axes(ax, _SIZE, [])
        self.figure_ = ax.figure
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


def _find_numbers(estimator: Any) -> tuple[Any, int]:
    """Return the posterior of the number of components, and the number in the attributes."""
    if hasattr(estimator, "n_components_distribution_"):
        return estimator.n_components_distribution_, int(estimator.n_components_)
    trace = getattr(estimator, "trace_", {})
    if "n_active_components" in trace and hasattr(estimator, "state_shares_"):
        numbers = np.asarray(trace["n_active_components"]).astype(np.int64).ravel()
        return np.bincount(numbers) / len(numbers), count_active(estimator.state_shares_)
    raise TypeError(
        f"estimator must be a model that learns a number of components, got a fitted "
        f"{type(estimator).__name__}, which has neither n_components_distribution_ nor numbers of "
        "states in use."
    )
