"""Observations over time, and labels of times on an axis of steps."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array
from skdp.inspection._axes import LITERAL, write_names

_MOST_NAMES = 8
"""Number of columns beyond which there is no room for their names."""
_UNITS = ("Y", "M", "D", "m", "s", "ms", "us")
_N_TICKS = 6
"""Number of ticks, small because dates are wide."""


def check_observations(observations: Any, n_steps: int) -> NDArray[np.float64]:
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
    if array.shape != (n_steps,):
        raise ValueError(
            f"times must hold a time for each of the {n_steps} steps, got shape {array.shape}."
        )
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
    panel: Any,
    observations: NDArray[np.float64],
    boundaries: NDArray[np.int64],
    names: list[str] | None,
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
        legend = panel.legend(
            handles, ["label"] * len(lines), loc="best", fontsize="x-small", frameon=False
        )
        for text, name in zip(legend.get_texts(), write_names(names), strict=True):
            text.set(text=name, **LITERAL)
    return lines
