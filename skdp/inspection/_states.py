"""Common parts of the displays of hidden states: checks of arguments, observations and times."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from skdp._checks import as_array, shorten
from skdp._numeric import Floats, Places
from skdp.data import check_panel
from skdp.emissions._table import code_categories
from skdp.inspection._axes import (
    as_names,
    check_fractions,
    check_index,
    check_inner,
    check_shape,
    label_handles,
    write_names,
)


def check_shares(shares: ArrayLike, name: str, n_states: int) -> Floats:
    """Return shares (n_states,) that sum to 1."""
    array = as_array(shares, name)
    if array.shape != (n_states,) or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold {n_states} numbers, one per state, got shape {array.shape} and type "
            f"{array.dtype}."
        )
    if not (np.all(array >= 0.0) and np.isclose(array.sum(), 1.0, rtol=0, atol=1e-4)):
        raise ValueError(f"{name} must be non-negative, with a sum of 1.")
    return array.astype(np.float64)


def choose_states(
    states: ArrayLike | None, shares: Floats | None, n_states: int, least: float = 0.0
) -> Places:
    """Return given states, or those of shares above `least`, largest first; without shares, all."""
    if states is None:
        if shares is None:
            return np.arange(n_states)
        order = np.argsort(-shares, kind="stable")
        return order[shares[order] > least]
    chosen = as_array(states, "states")
    if (
        chosen.ndim != 1
        or len(chosen) == 0
        or chosen.dtype.kind not in "iu"
        or np.any((chosen < 0) | (chosen >= n_states))
        or len(np.unique(chosen)) < len(chosen)
    ):
        raise ValueError(
            f"states must hold different integers from 0 to {n_states - 1}, got {shorten(states)}."
        )
    return chosen.astype(np.int64)


# Paths of states: checks, predictions and matching.


def check_predicted(predicted: Any, factors: Any) -> NDArray[Any]:
    """Return the predictions: states (n_steps,), or factors (n_steps, n_factors)."""
    array = as_array(predicted, "predicted")
    if array.ndim == 2:
        if factors is not None:
            raise ValueError("factors are the factors of states: predicted must be 1-D, got 2-D.")
        return check_fractions(array, "predicted", 2)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu" or np.any(array < 0):
        raise ValueError(
            f"predicted must hold states, integers >= 0 (1-D), or factors (2-D), got shape "
            f"{array.shape} and type {array.dtype}."
        )
    if factors is None:
        return array
    matrix = check_fractions(factors, "factors", 2)
    if array.max() >= len(matrix):
        raise ValueError(
            f"predicted must hold states below {len(matrix)}, the rows of factors, got "
            f"{array.max()}."
        )
    return matrix[array]


def check_true(true: Any, predicted: NDArray[Any]) -> NDArray[Any]:
    """Return the truth, in the shape of the predictions."""
    array = check_fractions(true, "true", 2) if predicted.ndim == 2 else as_array(true, "true")
    check_shape(array, "true", predicted.shape, "like predicted")
    return array


def check_boundaries(boundaries: Any, n_steps: int) -> Places:
    """Return the first steps of all sequences except the first."""
    if boundaries is None or as_array(boundaries, "boundaries").size == 0:
        return np.empty(0, dtype=np.int64)
    return check_inner(boundaries, "boundaries", n_steps, "steps")[1:-1]


def check_state_names(names: Any, predicted: NDArray[Any]) -> list[str]:
    """Return the names of states by number, at least one for each drawn state."""
    found = as_names(names, "state_names", len(names) if hasattr(names, "__len__") else 0)
    if len(found) <= predicted.max():
        raise ValueError(
            f"state_names must hold a name for every state up to {predicted.max()}: at least "
            f"{predicted.max() + 1} names, got {len(found)}."
        )
    return found


def predict_states(
    estimator: Any, X: Any, sequence: int | None
) -> tuple[NDArray[Any], Places | None, Floats]:
    """Return the states of one or all sequences of X end to end, their boundaries, and X."""
    emission = getattr(estimator, "emission", None)
    values = code_categories(estimator, emission, X, reset=False, allow_missing=True)
    panel, is_single = check_panel(
        estimator, values, reset=False, ensure_all_finite="allow-nan", accept_tokens=True
    )
    if sequence is not None:
        sequence = check_index(sequence, "sequence", len(panel), "sequences")
    if is_single:
        return np.asarray(estimator.predict(X)), None, panel.values
    if sequence is None:
        return np.concatenate(estimator.predict(X)), panel.ptr[1:-1], panel.values
    # Predict from X itself: data frames have names of columns to check.
    states = np.asarray(estimator.predict(X[sequence : sequence + 1])[0])
    return states, None, panel[sequence]


def find_factors(estimator: Any, predicted: NDArray[Any]) -> NDArray[Any] | None:
    """Return the factors of the predicted states, or None if the predictions are factors."""
    if predicted.ndim == 2:
        return None
    factors = getattr(estimator, "factors_", None)
    if factors is None:
        raise ValueError(
            f"kind='factors' needs states that have factors: {type(estimator).__name__} has none "
            f"(no attribute factors_)."
        )
    return factors


def match_states(predicted: NDArray[Any], true: NDArray[Any]) -> dict[int, Any]:
    """Return the true labels of states, matched one to one, for pairs with a common step."""
    states, rows = np.unique(predicted, return_inverse=True)
    labels, columns = np.unique(true, return_inverse=True)
    overlap = np.zeros((len(states), len(labels)), dtype=np.int64)
    np.add.at(overlap, (rows, columns), 1)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    known = labels.tolist()
    # In the order of the labels.
    pairs = sorted(zip(columns.tolist(), rows.tolist(), strict=True))
    return {int(states[i]): known[k] for k, i in pairs if overlap[i, k]}


def f1_score(predicted: Floats, true: Floats) -> float:
    """Return the F1 score of factors, which count as on with probability 1/2 or more."""
    on, should = predicted >= 0.5, true >= 0.5
    total = int(on.sum() + should.sum())
    return 2.0 * float(np.sum(on & should)) / total if total else float("nan")


# Observations over time, and labels of times on an axis of steps.


_MOST_NAMES = 8
"""Number of columns beyond which there is no room for their names."""
_UNITS = ("Y", "M", "D", "m", "s", "ms", "us")
_N_TICKS = 6
"""Number of ticks, small because dates are wide."""


def check_observations(observations: Any, n_steps: int) -> Floats:
    """Return observations (n_steps, D), or raise an error that names the argument."""
    array = as_array(observations, "observations")
    is_table = array.dtype.kind in "biuf" and array.ndim in (1, 2) and array.size > 0
    if not is_table or len(array) != n_steps:
        raise ValueError(
            f"observations must hold real numbers, a row for each of the {n_steps} steps, got "
            f"shape {array.shape} and type {array.dtype}."
        )
    return array.reshape(n_steps, -1).astype(np.float64)


def check_times(times: Any, n_steps: int) -> NDArray[Any]:
    """Return times (n_steps,), dates as datetime64, or raise an error that names the argument."""
    array = as_array(times, "times")
    check_shape(array, "times", (n_steps,), "a time for each step")
    if array.dtype == object and all(isinstance(value, date) for value in array):
        # Use the local time of each time zone; NaT is a date that does not equal itself.
        clocks = [t.replace(tzinfo=None) if hasattr(t, "tzinfo") else t for t in array]
        clocks = [t if t == t else np.datetime64("NaT") for t in clocks]
        array = np.array(clocks, dtype="M8[us]")
    return array


def write_times(times: NDArray[Any]) -> list[str]:
    """Return the labels of times: dates in the shortest common format, NaT as an empty label."""
    if times.dtype.kind != "M":
        return write_names(map(str, times.tolist()))
    known = times[~np.isnat(times)]
    for unit in _UNITS:
        if np.all(known == known.astype(f"M8[{unit}]")):
            times = times.astype(f"M8[{unit}]")
            break
    return ["" if np.isnat(time) else str(time).replace("T", " ") for time in times]


def find_times(X: Any, sequence: int | None) -> Any:
    """Return the dates in the index of X, one or all data frames in a list; None without dates."""
    frames = [X]
    if isinstance(X, list | tuple):
        frames = list(X if sequence is None else X[sequence : sequence + 1])
    for frame in frames:
        index = getattr(frame, "index", None)
        if getattr(getattr(index, "dtype", None), "kind", "") != "M":
            return None
    return np.concatenate([np.asarray(frame.index, dtype=object) for frame in frames])


def draw_times(panel: Any, times: NDArray[Any]) -> None:
    """Label an axis of steps with times: round dates if they ascend, else times of some steps."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if times.dtype.kind == "M" and len(times) > 1 and not np.isnat(times).any():
        numbers = times.astype("M8[us]").astype(np.int64)
        if np.all(np.diff(numbers) > 0):
            _draw_dates(panel, times)
            return
    labels = write_times(times)

    def write(x: float, _: Any = None) -> str:
        step = round(x)
        return labels[step] if 0 <= step < len(labels) else ""

    panel.xaxis.set_major_locator(MaxNLocator(nbins=_N_TICKS, integer=True))
    panel.xaxis.set_major_formatter(FuncFormatter(write))


def _draw_dates(panel: Any, times: NDArray[Any]) -> None:
    """Label round dates at their positions between steps, with their common part at the end."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num, num2date
    from matplotlib.ticker import Formatter, Locator

    dates = date2num(times)
    steps = np.arange(len(dates), dtype=np.float64)
    names = write_times(times)
    inner = AutoDateLocator(minticks=3, maxticks=_N_TICKS)
    concise = ConciseDateFormatter(inner)
    found: dict[float, float] = {}

    class Dates(Locator):
        """Locator of the round dates in view."""

        def __call__(self) -> Any:
            return self.tick_values(*panel.xaxis.get_view_interval())

        def tick_values(self, vmin: float, vmax: float) -> Any:
            view = np.interp(sorted((vmin, vmax)), steps, dates)
            ticks = np.asarray(inner.tick_values(*num2date(view)))
            ticks = ticks[(ticks >= view[0]) & (ticks <= view[1])]
            places = np.interp(ticks, dates, steps)
            found.clear()
            # Rounding errors of a round trip would move a midnight to the previous day.
            found.update(zip(places.tolist(), ticks.tolist(), strict=True))
            return places

    class Short(Formatter):
        """Formatter of dates without their common part."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            step = round(x)
            return names[step] if 0 <= step < len(names) else ""

        def format_ticks(self, values: Any) -> list[str]:
            exact = np.interp(values, steps, dates)
            return list(
                concise.format_ticks([found.get(v, d) for v, d in zip(values, exact, strict=True)])
            )

        def get_offset(self) -> str:
            return str(concise.get_offset())

    panel.xaxis.set_major_locator(Dates())
    panel.xaxis.set_major_formatter(Short())


def draw_observations(
    panel: Any, observations: Floats, boundaries: Places, names: list[str] | None
) -> list[Any]:
    """Return lines, one per column, which break where values are missing or sequences meet."""
    from matplotlib.lines import Line2D

    x = np.insert(np.arange(len(observations), dtype=np.float64), boundaries, boundaries - 0.5)
    values = np.insert(observations, boundaries, np.nan, axis=0)
    # Grays, since colors denote states; the first, darkest line is drawn over the others.
    shades = np.linspace(0.15, 0.65, values.shape[1])
    lines = []
    for i, (column, shade) in enumerate(zip(values.T, shades, strict=True)):
        known = np.isfinite(np.concatenate([[np.nan], column, [np.nan]]))
        alone = known[1:-1] & ~known[:-2] & ~known[2:]  # isolated values have no line
        (line,) = panel.plot(
            x, column, color=str(shade), linewidth=0.9, marker=".", markevery=alone.tolist(),
            alpha=0.8 if len(shades) > 1 else None, zorder=2.0 - 0.5 * i / len(shades),
        )  # fmt: skip
        lines.append(line)
    panel.set_xlim(-0.5, len(observations) - 0.5)
    panel.tick_params(axis="y", labelsize="x-small")
    panel.spines[["top", "right"]].set_visible(False)
    if names is not None and len(lines) <= _MOST_NAMES:
        handles = [Line2D([], [], color=line.get_color(), alpha=line.get_alpha()) for line in lines]
        label_handles(panel, handles, names, loc="best", fontsize="x-small")
    return lines
