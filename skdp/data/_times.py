"""The index of a data frame as times of steps: its order, its gaps, and its next entries."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDE = 1.5
"""Steps that are longer than this times the usual one have left something out."""

_HOLIDAYS = 3
"""Working days between two entries, at most, that may be holidays."""

_FEW = 20
"""In fewer rows, integers may rise in every row by chance."""

_IN_ORDER = re.compile(r"\d{4}-\d\d(-\d\d)?([T ]\d\d.*)?|\d\d:\d\d(:\d\d)?|\d+")
"""Texts of equal length that the alphabet sorts by time: dates of ISO 8601, clocks, numbers."""


def find_fault(index: Any) -> str | None:
    """Describe the fault of a pandas index of steps as the end of a sentence; None: no fault."""
    is_time = type(index).__name__ in ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")
    if len(index) < 2 or not (is_time or index.dtype.kind in "iu"):
        return None
    if is_time and index.hasnans:
        row = int(np.argmax(index.isna()))
        return f"has NaT in row {row}, whose time is unknown: a row is a step after the one above"
    numbers = np.asarray(index.asi8 if is_time else index.to_numpy(np.int64))
    back = np.flatnonzero(np.diff(numbers) < 0)
    if len(back) == len(numbers) - 1:
        return "descends, with the newest row first: sort it, X.sort_index()"
    if len(back) and (is_time or index.is_unique):
        rows = f"row {back[0] + 1} ({index[back[0] + 1]}) is before row {back[0]}"
        return f"is not in order, {rows}: sort it, X.sort_index()"
    if not is_time:
        return None
    if np.any(np.diff(numbers) == 0):
        row = int(np.argmax(np.diff(numbers) == 0))
        return f"has a time twice, {index[row]} in rows {row} and {row + 1}"
    return _find_gap(index, numbers)


def _find_gap(index: Any, numbers: NDArray[np.int64]) -> str | None:
    """Return which steps are left out of ascending times, if any."""
    if find_step(index) is not None:
        return None
    widths, usual = np.diff(numbers), np.median(np.diff(numbers))
    is_date = type(index).__name__ == "DatetimeIndex"
    if is_date and not np.any(index.day_of_week > 4) and np.all(index == index.normalize()):
        days = index.to_numpy().astype("M8[D]")
        wide = np.busday_count(days[:-1], days[1:]) > _HOLIDAYS
    else:
        wide = widths > _WIDE * usual
    if not wide.any():
        return None
    first = int(np.argmax(wide))
    return (
        f"has {int(wide.sum())} step(s) that are longer than the others, the first after "
        f"{index[first]}; each row counts as one step. Missing steps can be marked as missing "
        "values, X.asfreq(...)"
    )


def find_fault_of_frames(X: Any) -> str | None:
    """Return a sentence about the first data frame of X, or in X, whose index has a fault."""
    frames = X if isinstance(X, list | tuple) else [X]
    for i, frame in enumerate(frames):
        if hasattr(frame, "iloc") and hasattr(frame, "columns"):
            fault = find_fault(frame.index)
            if fault is not None:
                return f"The index of {'X' if frames is not X else f'X[{i}]'} {fault}."
    return None


def find_step(index: Any) -> Any:
    """Return the constant step of an index: an offset of pandas, a number, or None."""
    import pandas as pd

    if isinstance(index, pd.PeriodIndex):
        steps = np.diff(index.asi8)
        step = int(steps[0]) if len(steps) else 1
        return step * index.freq.base if step != 0 and np.all(steps == step) else None
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex):
        if index.freq is not None or len(index) < 3 or index.hasnans:
            return index.freq
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas will return offsets in place of texts
            return pd.infer_freq(index)
    if index.dtype.kind in "iu":
        steps = np.diff(index.to_numpy().astype(np.int64))
        step = int(steps[0]) if len(steps) else 1
        return step if step != 0 and np.all(steps == step) else None
    return None


def continue_index(index: Any, n_steps: int) -> Any:
    """Return the next entries of a pandas index, or 1, 2, ... if it has no regular steps."""
    import pandas as pd

    step, last = find_step(index), index[-1]
    if step is None:
        return pd.RangeIndex(1, n_steps + 1, name="step")
    if isinstance(index, pd.PeriodIndex):
        entries = [last + (i + 1) * step for i in range(n_steps)]
        return pd.PeriodIndex(entries, freq=index.freq, name=index.name)
    if isinstance(index, pd.DatetimeIndex):
        return pd.date_range(last, periods=n_steps + 1, freq=step, name=index.name)[1:]
    if isinstance(index, pd.TimedeltaIndex):
        return pd.timedelta_range(last, periods=n_steps + 1, freq=step, name=index.name)[1:]
    last = int(last)
    return pd.RangeIndex(last + step, last + step * (n_steps + 1), step, name=index.name)


def check_sortable(column: Any, name: Any) -> None:
    """Raise ValueError if sorting a column of times would sort it by the alphabet, not by time."""
    if type(column.dtype).__name__ == "CategoricalDtype":
        if not column.dtype.ordered:
            raise ValueError(
                f"time: column {name!r} holds categories without an order: convert it to dates "
                "(pandas.to_datetime) or numbers, or give its categories an order."
            )
        return
    if column.dtype.kind not in "OTU":
        return
    texts = [value for value in column.to_numpy() if isinstance(value, str)]
    is_sorted_by_time = len({*map(len, texts)}) <= 1 and all(map(_IN_ORDER.fullmatch, texts))
    if not is_sorted_by_time:
        raise ValueError(
            f"time: column {name!r} holds text, which the alphabet would sort, such as "
            f"{texts[0]!r}: convert it to dates (pandas.to_datetime) or numbers first."
        )


def find_counter(values: NDArray[np.float64], ptr: NDArray[np.int64]) -> int | None:
    """Return a column that only numbers rows (row number, identifier or time), or None."""
    n_rows, n_columns = values.shape
    if n_columns < 2 or n_rows < _FEW:
        return None
    steps = np.diff(values, axis=0)
    steps[ptr[1:-1] - 1] = np.nan  # from one sequence to the next
    for d in range(n_columns):
        column = values[:, d]
        if not np.isfinite(column).all() or np.any(column != np.floor(column)):
            continue
        inner = steps[~np.isnan(steps[:, d]), d]
        is_monotone = len(inner) >= _FEW and (np.all(inner > 0) or np.all(inner < 0))
        is_range = column.max() - column.min() == n_rows - 1 and len(np.unique(column)) == n_rows
        if is_monotone or is_range:
            return d
    return None
