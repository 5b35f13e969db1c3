"""Displays of sequences: states compared with the truth, changes, and forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, as_floats, check_choice, check_count, is_number, shorten
from skdp.inspection._axes import (
    GREY,
    LITERAL,
    PALETTE,
    Display,
    check_fractions,
    check_index,
    check_names,
    check_shape,
    draw_boundaries,
    make_panels,
    write_name,
    write_names,
    write_title,
)
from skdp.inspection._states import (
    check_boundaries,
    check_observations,
    check_predicted,
    check_state_names,
    check_times,
    check_true,
    draw_observations,
    draw_times,
    f1_score,
    find_factors,
    find_times,
    match_states,
    predict_states,
)
from skdp.sequence._base import list_names
from skdp.sequence._hmm._messages import observed_steps

_WIDTH = 8.0
"""Width of the axes, in inches."""
_STRIP, _DIFFERENCE = 1.0, 0.3
_STRIPS = (_STRIP, _STRIP, _DIFFERENCE)
"""Heights of the predicted and true strips and of the differences, in half inches."""
_GAP = 0.12
_OBSERVED = 3.0
"""Height of the observations above strips of states, in half inches."""
_ROW = 0.15
"""Height of a row of factors, in inches."""
_LINES = (3.2, 1.0)
"""Widths of the lines between sequences, with and without their rim."""
_MAX_ROWS = 24
"""Number of factors beyond which some have no label."""


class StateSequenceDisplay(Display):
    """States of a sequence over time, above the true states if these are known.

    Create it with `from_estimator` or `from_predictions`. Numbered states are strips of color;
    states that are vectors of binary factors are images with one row per factor ([1]_, figure 2).

    The numbers of states are arbitrary: states are matched with the true states, one to one, so
    that as many steps as possible agree, and matches have the same colors. States without a match
    have other colors. Factors are not matched: row d is factor d in both.

    Parameters
    ----------
    predicted : array-like of shape (n_steps,) or (n_steps, n_factors)
        The state at every step: a number, an integer >= 0; or its factors, 0 or 1, or the
        probabilities that they are 1.
    true : array-like of shape (n_steps,) or (n_steps, n_factors), default=None
        The truth: labels of any kind (numbers or strings), or factors as in `predicted`.
    factors : array-like of shape (n_states, n_factors), default=None
        Factors of the states in `predicted`, which then contains state numbers.
    factor_names : list of n_factors str, default=None
        Labels of the factors. None: "0", "1", ...
    boundaries : array-like of int, default=None
        Boundaries between sequences that are drawn end to end: the first steps, counted from 0, of
        all sequences except the first, such as ``panel.ptr[1:-1]``. They are marked by lines.
    observations : array-like of shape (n_steps,) or (n_steps, n_columns), default=None
        Numbers to draw as lines above the states, broken where values are missing (NaN).
    column_names : list of n_columns str, default=None
        Names of the columns of `observations`, shown for up to eight. None: no names.
    times : array-like of shape (n_steps,), default=None
        Times of the steps: dates (datetime64, datetime, a pandas index), numbers or strings, as
        labels of the axis of steps. Steps are equidistant regardless of their times. For ascending
        dates, round dates are shown at their positions between the steps.
    state_names : list of str, default=None
        Names of numbered states for the legend, with the name of state j at position j. None:
        "state 0", "state 1", ...

    Attributes
    ----------
    predicted, true
        As passed, as arrays; `predicted` contains factors instead of states if there are any.
    factor_names : list of str or None
        None for numbered states.
    boundaries : ndarray of int
        As passed; of length 0 if None was passed.
    observations : ndarray of shape (n_steps, n_columns) or None
    column_names, state_names : list of str or None
    times : ndarray of shape (n_steps,) or None
        As passed, as arrays.
    matches : dict
        The true label of every state that has a match. Empty for factors, or without the truth.
    agreement : float or None
        Share of steps whose state is matched with the true state; for factors, the F1 score of the
        entries with probability 1/2 or more (nan if neither side has such entries). None without
        the truth.
    ax_ : matplotlib Axes
        The axes given to `plot` or made by it; for factors, the invisible frame of the panels.
    axes_ : ndarray of matplotlib Axes
        For factors, the panels of the predicted and, if known, of the true factors. Otherwise
        `ax_`.
    figure_ : matplotlib Figure
    observations_ax_ : matplotlib Axes or None
        The panel of the observations.
    lines_ : list of matplotlib Line2D
        Lines of the observations, one per column.
    images_ : list of matplotlib AxesImage
        Images of the prediction; if known, of the truth; and, for numbered states, of the steps
        where the two differ.
    labels_ : list of str
        Labels of the legend: true labels with their matched states, and other states.
    legend_ : matplotlib Legend or None
        None for factors.

    See Also
    --------
    TransitionDisplay : Plots the transitions between states.
    FactorDisplay : Plots the factors of states.

    References
    ----------
    .. [1] C. R. Dawson, C. Huang and C. T. Morrison, "An infinite hidden Markov model with
       similarity-biased transitions", ICML 2017.

    Examples
    --------
    >>> from skdp.inspection import StateSequenceDisplay
    >>> display = StateSequenceDisplay.from_predictions([2, 2, 0, 0, 1], ["a", "a", "b", "b", "b"])
    >>> display.matches, display.agreement
    ({2: 'a', 0: 'b'}, 0.8)
    >>> display.labels_
    ['b (state 0)', 'a (state 2)', 'state 1']
    """

    factor_names: list[str] | None
    labels_: list[str]
    observations_ax_: Any

    def __init__(
        self,
        predicted: ArrayLike,
        true: ArrayLike | None = None,
        *,
        factors: ArrayLike | None = None,
        factor_names: Sequence[str] | None = None,
        boundaries: ArrayLike | None = None,
        observations: ArrayLike | None = None,
        column_names: Sequence[str] | None = None,
        times: ArrayLike | None = None,
        state_names: Sequence[str] | None = None,
    ):
        self.predicted = check_predicted(predicted, factors)
        n_steps = len(self.predicted)
        self.true = None if true is None else check_true(true, self.predicted)
        self.boundaries = check_boundaries(boundaries, n_steps)
        self.times = None if times is None else check_times(times, n_steps)
        self.observations, self.column_names = None, None
        # Without observations a state is a guess: such steps do not count for its color.
        self._is_observed = np.ones(n_steps, dtype=bool)
        if observations is not None:
            self.observations = check_observations(observations, n_steps)
            self._is_observed = observed_steps(self.observations)
        if column_names is not None:
            if self.observations is None:
                raise ValueError("column_names are the names of observations, which are not given.")
            self.column_names = check_names(
                column_names, "column_names", self.observations.shape[1]
            )
        self.matches: dict[int, Any] = {}
        self.agreement: float | None = None
        self.state_names = None
        if state_names is not None:
            if self.predicted.ndim == 2:
                raise ValueError("state_names are the names of states, but factors are drawn.")
            self.state_names = check_state_names(state_names, self.predicted)
        if self.predicted.ndim == 2:
            n_factors = self.predicted.shape[1]
            self.factor_names = check_names(factor_names, "factor_names", n_factors)
            if self.true is not None:
                self.agreement = f1_score(self.predicted, self.true)
            return
        if factor_names is not None:
            raise ValueError("factor_names are the names of factors, but predicted holds states.")
        self.factor_names = None
        if self.true is not None:
            self.matches = match_states(self.predicted, self.true)
            hits = [
                self.matches.get(j) == k
                for j, k in zip(self.predicted.tolist(), self.true.tolist(), strict=True)
            ]
            self.agreement = float(np.mean(hits))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        true: ArrayLike | None = None,
        *,
        sequence: int | None = 0,
        kind: str | None = None,
        factor_names: Sequence[str] | None = None,
        show_observations: bool = True,
        times: ArrayLike | None = None,
        state_names: Sequence[str] | None = None,
        n_states: int = 12,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot the states that a fitted model finds in a sequence.

        Parameters
        ----------
        estimator : fitted hidden Markov model
            With ``predict`` and, for factors of states, an attribute ``factors_``. Or one that
            predicts factors: `skdp.sequence.FactorialHMM`.
        X : SequencePanel, list of sequences, or (n_steps, n_features) array
            As for ``predict``. An array is one sequence.
        true : array-like of shape (n_steps,) or (n_steps, n_factors), default=None
            The truth, see the class; for all sequences end to end if `sequence` is None.
        sequence : int or None, default=0
            Index of the sequence in X. None: all sequences end to end, with lines where they meet.
            States are then matched with the true states once for all sequences.
        kind : {"states", "factors"}, default=None
            Whether to draw the numbers of states or their factors. None: the kind of `true`;
            without the truth, the kind that the estimator predicts.
        factor_names : list of n_factors str, default=None
        show_observations : bool, default=True
            Whether to draw the observations above the states, with the names of columns if the
            estimator has them (`feature_names_in_`).
        times : array-like of shape (n_steps,), default=None
            See the class. None: the dates in the index of X, if X is a data frame (or a list of
            data frames) with dates.
        state_names : list of str, default=None
        n_states, cmap, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a model that predicts states or factors.
        ValueError, ImportError
            If `sequence` is out of range, the estimator does not have what `kind` requires, or X or
            another argument is invalid, or matplotlib is not installed.
        """
        cls._check_model(estimator, "a model that predicts states or factors", "predict")
        if kind is not None:
            check_choice(kind, "kind", "states", "factors")
        states, boundaries, values = predict_states(estimator, X, sequence)
        true = None if true is None else as_array(true, "true")
        if kind is None and (states.ndim == 2 or (true is not None and true.ndim == 2)):
            kind = "factors"
        factors = find_factors(estimator, states) if kind == "factors" else None
        if kind == "states" and states.ndim == 2:
            raise ValueError(
                f"kind='states' needs states: {type(estimator).__name__} predicts factors."
            )
        names = getattr(estimator, "feature_names_in_", None)
        display = cls(
            states,
            true,
            factors=factors,
            factor_names=factor_names,
            boundaries=boundaries,
            observations=values if show_observations else None,
            column_names=names if show_observations else None,
            times=find_times(X, sequence) if times is None else times,
            state_names=state_names,
        )
        is_observed = observed_steps(values, getattr(estimator, "emission_", None))
        display._is_observed = is_observed  # even if the observations are not shown
        return display.plot(ax, n_states=n_states, cmap=cmap)

    @classmethod
    def from_predictions(
        cls,
        predicted: ArrayLike,
        true: ArrayLike | None = None,
        *,
        factors: ArrayLike | None = None,
        factor_names: Sequence[str] | None = None,
        boundaries: ArrayLike | None = None,
        observations: ArrayLike | None = None,
        column_names: Sequence[str] | None = None,
        times: ArrayLike | None = None,
        state_names: Sequence[str] | None = None,
        n_states: int = 12,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot given states.

        Parameters
        ----------
        predicted, true
        factors : array-like of shape (n_states, n_factors), default=None
            Factors of the states in `predicted`, such as the attribute ``factors_``.
        factor_names, boundaries, observations, column_names, times, state_names
        n_states, cmap, ax

        Raises
        ------
        ValueError, ImportError
            If an argument is invalid, or shapes do not fit, or matplotlib is not installed.
        """
        return cls._show(locals())

    def plot(self, ax: Any = None, *, n_states: int = 12, cmap: Any = None) -> Self:
        """Draw the states.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for labels and for the legend on the right.
        n_states : int, default=12
            Number of states with a color, >= 1: those with the most steps, including true states.
            The others are gray. Steps without observations, according to `observations` or X, do
            not count. Not used for factors.
        cmap : matplotlib colormap or its name, default=None
            For factors: colors from 0 to 1. None: from white to blue. For numbered states: colors
            of the states in the order of the legend, from one end to the other. None: distinct
            colors; without the truth and with states below 20, each state has a fixed color, so
            sequences can be compared.

        Raises
        ------
        ValueError, ImportError
            If `n_states` is invalid, or matplotlib is not installed.
        """
        n_states = check_count(n_states, "n_states", at_least=1)
        self._check_matplotlib("plot")
        self.observations_ax_, self.lines_ = None, []
        lowest = 0.0
        if self.predicted.ndim == 2:
            self._draw_factors(ax, self._find_cmap(cmap))
        else:
            height = self._draw_states(ax, n_states, cmap)
            if len(self.images_) == 3:  # not over the marks of differences, which look similar
                lowest = (_DIFFERENCE + _GAP / 2) / height
        ends = self.boundaries - 0.5
        for panel in self.axes_ if len(ends) else ():
            draw_boundaries(panel, ends, _LINES, lowest)
        if self.observations is not None:
            panel = self.observations_ax_
            self.lines_ = draw_observations(
                panel, self.observations, self.boundaries, self.column_names
            )
            panel.tick_params(labelbottom=False)
            if len(ends):
                draw_boundaries(panel, ends, _LINES)
        if self.times is not None:
            draw_times(self.axes_[0], self.times)
            self.ax_.set_xlabel("time")
        return self

    def _draw_factors(self, ax: Any, cmap: Any) -> None:
        """Draw images of factors, one per panel."""
        shown = {"predicted": self.predicted}
        if self.true is not None:
            shown["true"] = self.true
        n_factors = self.predicted.shape[1]
        height = np.clip(_ROW * n_factors, 0.8, 4.5) + 0.3
        n_panels = len(shown) + (self.observations is not None)
        ax = self._open(ax, (_WIDTH, 0.6 + height * n_panels))
        self.axes_ = make_panels(ax, n_panels, 1, list(range(n_panels)))
        if self.observations is not None:
            self.observations_ax_, self.axes_ = self.axes_[0], self.axes_[1:]
            write_title(self.observations_ax_, "observed")
        ax.set(xlabel="time step", ylabel="factor")
        # Names longer than numbers push the label of the frame outward.
        names = write_names(self.factor_names or [])
        ax.yaxis.labelpad += 4.5 * max(0, max(map(len, names), default=0) - 3)
        self.images_ = []
        step = -(-n_factors // _MAX_ROWS)
        for panel, (name, values) in zip(self.axes_, shown.items(), strict=True):
            heights = (n_factors - 0.5, -0.5)
            self.images_.append(_show(panel, values.T, heights, cmap=cmap, vmin=0.0, vmax=1.0))
            write_title(panel, name)
            panel.spines[["top", "right"]].set_visible(True)
            rows = np.arange(0, n_factors, step)
            panel.set_yticks(rows, names[::step], fontsize="x-small", **LITERAL)
            panel.tick_params(axis="y", length=0)
        if self.agreement is not None:
            self.axes_[0].set_title(f"F1 = {self.agreement:.2f}", loc="right", fontsize="small")
        self.labels_, self.legend_ = [], None

    def _draw_states(self, ax: Any, n_states: int, cmap: Any) -> float:
        """Draw strips of color and their differences, and return the total height."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        rows, keys = self._encode()
        observed = np.concatenate([codes[self._is_observed] for codes in rows.values()])
        counts = np.bincount(observed, minlength=len(keys))
        order = np.argsort(-counts, kind="stable")
        rank = np.argsort(order)
        self.labels_ = [keys[i] for i in order[:n_states]]
        colors = self._colors(order[:n_states], cmap)
        if len(keys) > n_states:
            self.labels_.append("other")
            colors.append(GREY)
        strips = _STRIPS[: len(rows) + (self.true is not None)]
        height = sum(strips) + _GAP * (len(strips) - 1)
        tops = [height - sum(strips[:i]) - _GAP * i for i in range(len(strips))]
        if self.observations is not None:
            below = height + 2 * _GAP
            height = below + _OBSERVED
        ax = self._open(ax, (_WIDTH, 0.55 + 0.5 * height), self.labels_)
        self.axes_ = np.array([ax], dtype=object)
        style = {"cmap": ListedColormap(colors), "vmin": -0.5, "vmax": len(colors) - 0.5}
        self.images_ = []
        shown = [np.minimum(rank[codes], len(colors) - 1) for codes in rows.values()]
        for top, codes in zip(tops, shown, strict=False):
            self.images_.append(_show(ax, codes[None], (top - _STRIP, top), **style))
        if self.true is not None:
            differ = rows["predicted"] != rows["true"]
            style = {"cmap": ListedColormap(["white", "black"]), "vmin": 0.0, "vmax": 1.0}
            heights = (tops[2] - _DIFFERENCE, tops[2])
            self.images_.append(_show(ax, differ[None].astype(float), heights, **style))
            rows["differ"] = differ
            write_title(ax, f"same state at {100 * (self.agreement or 0.0):.1f} % of steps")
        centers = [top - h / 2 for top, h in zip(tops, strips, strict=True)]
        ax.set_yticks(centers, list(rows), fontsize="small")
        ax.tick_params(axis="y", length=0)
        ax.set(ylim=(0, height), xlabel="time step")
        ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
        if self.observations is not None:
            # Use shares of the axes, so that the panel stays in place when zooming.
            place = (0.0, below / height, 1.0, _OBSERVED / height)
            self.observations_ax_ = ax.inset_axes(place, sharex=ax)
        handles = [Patch(facecolor=color) for color in colors]
        self._add_legend(handles, self.labels_)
        return height

    def _encode(self) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
        """Return codes (n_steps,) of the predictions and the truth, and their meanings."""
        states, predicted = np.unique(self.predicted, return_inverse=True)
        if self.true is None:
            return {"predicted": predicted}, [self._name(j) for j in states.tolist()]
        labels, true = np.unique(self.true, return_inverse=True)
        code_of = {label: i for i, label in enumerate(labels.tolist())}
        keys = [str(label) for label in labels]
        codes = np.empty(len(states), dtype=np.int64)
        for i, j in enumerate(states.tolist()):
            if j in self.matches:
                codes[i] = code_of[self.matches[j]]
                keys[codes[i]] += f" ({self._name(j)})"
            else:
                codes[i] = len(keys)
                keys.append(self._name(j))
        return {"predicted": codes[predicted], "true": true}, keys

    def _name(self, state: int) -> str:
        return f"state {state}" if self.state_names is None else self.state_names[state]

    def _colors(self, order: NDArray[np.intp], cmap: Any) -> list[Any]:
        """Return the colors of the codes shown."""
        if cmap is not None:
            cmap = self._find_cmap(cmap)
            return [cmap(i / max(len(order) - 1, 1)) for i in range(len(order))]
        keys = np.arange(len(order))
        if self.true is None and self.predicted.max() < len(PALETTE):
            keys = np.unique(self.predicted)[order]
        return [PALETTE[key % len(PALETTE)] for key in keys]


def _show(ax: Any, values: NDArray[Any], heights: tuple[float, float], **style: Any) -> Any:
    """Return an image of rows over time steps, with its first row at the top, heights[1]."""
    from matplotlib.ticker import MaxNLocator

    n_steps = values.shape[1]
    extent = (-0.5, n_steps - 0.5, *heights)
    image = ax.imshow(values, extent=extent, aspect="auto", interpolation="nearest", **style)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return image


# Changes of a series.


class ChangePointDisplay(Display):
    """A series, the means of its parts, and its changes with their intervals and probabilities.

    Create it with `from_estimator`, or with the constructor and `plot`. A vertical line is a
    change, the first step of a new part; the band around it is its 90 % interval, and the number
    above it the probability that there is a change in the interval. Below is the probability of a
    change at each step.

    Parameters
    ----------
    probabilities : (n_steps,) array-like
        Probability of a change at each step.
    changes : ChangeTable, default=()
        The changes, as in `change_points_` of a `ChangePointDetector`.
    observations : (n_steps, n_columns) or (n_steps,) array-like, default=None
        What was observed; NaN is missing.
    means : (n_steps, n) or (n_steps,) array-like, default=None
        The mean at each step.
    times : (n_steps,) array-like, default=None
        Times of the steps, dates or numbers. None: 0, 1, ...
    names : list of n_columns str, default=None
        Names of the observed columns.

    Attributes
    ----------
    probabilities, observations, means, times : ndarray
        The last three may be None.
    changes : list of ChangePoint
    names : list of str or None
    ax_, figure_ : matplotlib Axes and Figure
    panels_ : list of matplotlib Axes
        The series, if there are observations or means, and the probabilities.
    lines_ : list of matplotlib Line2D
        Observations and means.
    bands_ : list of matplotlib Polygon or Rectangle
        The intervals.

    Raises
    ------
    ValueError
        If there is no step, a probability is outside [0, 1], or shapes do not fit.

    See Also
    --------
    skdp.sequence.ChangePointDetector, skdp.sequence.StateDetector : Find the changes.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.inspection import ChangePointDisplay
    >>> from skdp.sequence import ChangePointDetector
    >>> x = np.repeat([0.0, 6.0, 1.0], 40) + np.random.default_rng(0).normal(size=120)
    >>> detector = ChangePointDetector().fit(x.reshape(-1, 1))
    >>> probabilities = detector.predict_proba(x.reshape(-1, 1))
    >>> display = ChangePointDisplay(probabilities, detector.change_points_, observations=x)
    >>> [change.position for change in display.changes]
    [40, 80]
    """

    def __init__(
        self,
        probabilities: ArrayLike,
        changes: Sequence[Any] = (),
        *,
        observations: ArrayLike | None = None,
        means: ArrayLike | None = None,
        times: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ):
        self.probabilities = check_fractions(probabilities, "probabilities", 1, 1e-9)
        self.changes, n_steps = list(changes), len(self.probabilities)
        if not all(0 < each.position < n_steps for each in self.changes):
            raise ValueError(f"changes must be after step 0 and before step {n_steps}.")
        self.observations = None if observations is None else check_observations(
            observations, n_steps
        )  # fmt: skip
        self.means = None if means is None else check_observations(means, n_steps)
        self.times = None if times is None else check_times(times, n_steps)
        self.names = None
        if names is not None:
            n_columns = 0 if self.observations is None else self.observations.shape[1]
            self.names = check_names(names, "names", n_columns)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        sequence: int = 0,
        column: int | str | None = None,
        known: Any = None,
        ax: Any = None,
    ) -> Self:
        """Find the changes of a series and plot them.

        Parameters
        ----------
        estimator : fitted ChangePointDetector or StateDetector
        X : as in the estimator's `fit`
            Dates in the index of a data frame are the times. Observations are drawn if they are on
            the scale of the means: not symbols, nor counts of several columns ("multinomial").
        sequence : int, default=0
            Index of the series, if X holds several.
        column : int or str, default=None
            The column of `transform`, or for states of X, by number or name. None: all.
        known : as in `predict`
            Known changes, of a ChangePointDetector.
        ax : matplotlib Axes, default=None

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or finds no changes, or takes no known ones.
        ValueError, ImportError
            If X or another argument is invalid, or matplotlib is not installed.
        """
        cls._check_model(estimator, "a ChangePointDetector or StateDetector", "change_points_")
        panel, is_single = estimator._check_panel(X, reset=False)
        sequence = check_index(sequence, "sequence", len(panel), "sequences")
        if not is_single:
            X = X[sequence : sequence + 1]
            known = None if known is None else known[sequence : sequence + 1]
        if has_states := hasattr(estimator, "predict_change_proba"):
            methods = [estimator.predict_change_proba, estimator.change_intervals]
        else:
            methods = [estimator.predict_proba, estimator.tabulate, estimator.transform]
        given = {} if known is None else {"known": known}
        found = [method(X, **given) for method in methods]
        probabilities, table, *means = found if is_single else [each[0] for each in found]
        names = list_names(estimator) if has_states else list(estimator.get_feature_names_out())
        if isinstance(column, str) and column in names:
            column = names.index(column)
        chosen: Any = slice(None)
        if column is not None:
            chosen = [check_index(column, "column", len(names), "columns")]
        has_values = has_states or estimator.emission not in ("categorical", "multinomial")
        return cls(
            probabilities,
            table,
            observations=panel[sequence][:, chosen] if has_values else None,
            means=np.asarray(means[0])[:, chosen] if means else None,
            times=find_times(X, None),
            names=np.array(names)[chosen].tolist() if has_values else None,
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the series, its changes and their probabilities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.
        """
        has_series = self.observations is not None or self.means is not None
        ax = self._open(ax, (_WIDTH, 3.6 if has_series else 1.6))
        ax.set(xticks=[], yticks=[], frame_on=False)
        low = ax.inset_axes((0.0, 0.0, 1.0, 0.22 if has_series else 1.0))
        self.panels_ = [low]
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        n_steps = len(self.probabilities)
        low.vlines(np.arange(n_steps) - 0.5, 0.0, self.probabilities, color=PALETTE[0])
        low.set(xlim=(-0.5, n_steps - 0.5), ylim=(0.0, 1.0), ylabel="P(change)")
        low.spines[["top", "right"]].set_visible(False)
        if has_series:
            self._draw_series(ax.inset_axes((0.0, 0.3, 1.0, 0.65), sharex=low))
        self._draw_changes(self.panels_[0])
        if self.times is None:
            low.set_xlabel("step")
        else:
            draw_times(low, self.times)
        return self

    def _draw_series(self, panel: Any) -> None:
        """Draw what was observed, and the means, which break at changes."""
        self.panels_.insert(0, panel)
        panel.tick_params(labelbottom=False)
        if self.observations is not None:
            nowhere = np.empty(0, dtype=np.int64)
            names = self.names if self.observations.shape[1] > 1 else None
            self.lines_ += draw_observations(panel, self.observations, nowhere, names)
            if self.names is not None and names is None:
                panel.set_ylabel(write_name(self.names[0]), **LITERAL)
        panel.spines[["top", "right"]].set_visible(False)
        if self.means is not None:
            places = np.array([change.position for change in self.changes], dtype=np.int64)
            x = np.insert(np.arange(len(self.means), dtype=np.float64), places, places - 0.5)
            for k, column in enumerate(np.insert(self.means, places, np.nan, axis=0).T):
                color = PALETTE[k % len(PALETTE)]
                self.lines_ += panel.plot(x, column, color=color, linewidth=2.0, zorder=3.0)

    def _draw_changes(self, panel: Any) -> None:
        """Draw lines and intervals, and the probabilities of changes with room between them."""
        free = -np.inf
        for change in self.changes:
            place, (first, last) = change.position - 0.5, change.interval
            panel.axvline(place, color=PALETTE[5], linewidth=1.0)
            band = panel.axvspan(
                first - 0.5, last - 0.5, color=PALETTE[5], alpha=0.25, linewidth=0.0
            )
            self.bands_.append(band)
            if place >= free:
                label = {"ha": "center", "va": "bottom", "fontsize": "x-small"}
                where = panel.get_xaxis_transform()
                panel.text(place, 1.01, f"{change.probability:.2f}", transform=where, **label)
                free = place + 0.06 * len(self.probabilities)


# Forecasts, and the observations before them.


class ForecastDisplay(Display):
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
    ax_, figure_ : matplotlib Axes and Figure
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
        check_shape(self.times, "times", (n_past + n_steps,), "a time for each step")
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
        cls._check_model(estimator, "an HDPHMMLT, or a model with its forecasts", "forecast")
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
        """
        ax = self._open(ax, (7.0, 3.2))
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
