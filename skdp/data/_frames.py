"""Sequences from long data frames, which have one row per step."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp.data._columns import columns_of, is_frame, labels_of, names_of, to_numbers
from skdp.data._ragged import Offsets, offsets
from skdp.data._times import check_sortable


def read_frame(
    frame: Any, by: Any, time: Any, columns: Any
) -> tuple[NDArray[np.float64], Offsets, list[Any]]:
    """Return the observations of all sequences, (n, D), their offsets, and the column names."""
    if not is_frame(frame):
        raise TypeError(f"frame must be a data frame, got {type(frame).__name__}.")
    if not hasattr(frame, "iloc"):
        frame = _as_pandas(frame)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"frame must have columns of different names, got {twice!r} twice.")
    if _is_name(frame, by):
        by = [by]
    elif hasattr(by, "__next__"):
        by = list(by)
    frame = _with_levels(frame, [*by, time])
    keys = _check_names(frame, by, "by")
    for name in keys:
        _check_present(frame, name, "by")
    if time is not None:
        _check_names(frame, [time], "time")
        _check_present(frame, time, "time")
    if columns is None:
        columns = [name for name in frame.columns if name not in (*keys, time)]
        hint = f"name the columns of observations, columns={shorten(columns)} without it"
        if not columns:
            raise ValueError("frame has no columns of observations besides those of by and time.")
    else:
        hint = "turn it into numbers first"
        columns = _check_names(frame, columns, "columns")
    found = [_as_numbers(frame[name], name, hint) for name in columns]
    numbers = frame.groupby(keys, sort=False, observed=True).ngroup().to_numpy()
    order = _order(frame, keys, time, numbers)
    return np.column_stack(found)[order], offsets(np.bincount(numbers)), columns


def _as_numbers(column: Any, name: Any, hint: str) -> NDArray[np.float64]:
    """Return a column of numbers or flags, (n_rows,), with NaN where missing, or raise."""
    if getattr(column.dtype, "kind", "O") in "biuf":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = column.to_numpy(dtype=object)
    if any(isinstance(value, bool | np.bool_) for value in values):
        with suppress(TypeError, ValueError):  # flags with nulls, of polars and Arrow, are objects
            return to_numbers(values, str(name))
    raise ValueError(f"frame: column {name!r} must hold numbers, got {column.dtype}: {hint}.")


def _as_pandas(frame: Any) -> Any:
    """Return a data frame of another library as one of pandas, which groups and sorts rows."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "from_frame needs pandas: install it with `pip install skdp[pandas]`."
        ) from error
    found = pd.DataFrame(dict(zip(names_of(frame), columns_of(frame), strict=True)))
    for name, labels in zip(names_of(frame), labels_of(frame), strict=True):
        if labels:  # those of a polars Enum have an order
            found[name] = pd.Categorical(found[name], labels, ordered=True)
    return found


def _with_levels(frame: Any, names: list[Any]) -> Any:
    """Return the frame with the requested levels of its index as columns."""
    levels = list(frame.index.names)
    named = [name for name in names if name is not None and isinstance(name, Hashable)]
    wanted = [name for name in dict.fromkeys(named) if name in levels]
    for name in wanted:
        if name in frame.columns:
            raise ValueError(
                f"frame has both a column and a level of the index with the name {name!r}: rename "
                "one of them."
            )
    if not wanted:
        return frame
    values = {name: frame.index.get_level_values(levels.index(name)) for name in wanted}
    frame = frame.reset_index(drop=True)  # a name of column and level is ambiguous to pandas
    for name, column in values.items():
        frame[name] = column
    return frame


def common_names(parts: Any) -> list[str] | None:
    """Return the column names of data frames, None without names; raise if they differ."""
    first = _column_names(parts[0]) if len(parts) else None
    for i, part in enumerate(parts):
        names = _column_names(part)
        if names != first:
            raise ValueError(
                f"All sequences must have the same columns in the same order: sequence {i} has "
                f"{_describe(names)}, but sequence 0 has {_describe(first)}."
            )
    return first


def _column_names(values: Any) -> list[str] | None:
    """Return the names of the columns of a data frame, None unless all are strings."""
    if not hasattr(values, "columns"):
        return None
    names = list(values.columns)
    return names if all(isinstance(name, str) for name in names) else None


def _describe(names: list[str] | None) -> str:
    return "no names of columns" if names is None else f"{shorten(names)}"


def _is_name(frame: Any, by: Any) -> bool:
    """Return whether `by` is a single name, which may be a tuple."""
    return not isinstance(by, list) and (isinstance(by, str | tuple) or not hasattr(by, "__iter__"))


def _check_names(frame: Any, names: Any, what: str) -> list[Any]:
    """Return names as a list, or raise ValueError unless they are distinct columns of the frame."""
    if isinstance(names, str | bytes | dict) or not hasattr(names, "__iter__"):
        raise ValueError(f"{what} must be a list of column names, got {shorten(names)}.")
    found = list(names)
    if not found:
        raise ValueError(f"{what} must name at least one column, got none.")
    for name in found:
        if name not in frame.columns:
            levels = [level for level in frame.index.names if level is not None]
            index = f", and levels of the index {shorten(levels)}" if levels else ""
            raise ValueError(
                f"{what}: frame has no column {name!r}; it has "
                f"{shorten(list(frame.columns))}{index}."
            )
    if len(set(found)) < len(found):
        raise ValueError(f"{what} must name each column once, got {shorten(found)}.")
    return found


def _check_present(frame: Any, name: Any, what: str) -> None:
    """Raise ValueError if a column, which must be complete, has a missing value."""
    missing = frame[name].isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{what}: column {name!r} has a missing value in row {int(np.argmax(missing))}."
        )


def _order(frame: Any, keys: list[Any], time: Any, numbers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows sequence by sequence, sorted by time or else in their original order."""
    if time is None:
        return np.argsort(numbers, kind="stable")
    check_sortable(frame[time], time)
    try:
        ranks = frame[time].rank(method="dense").to_numpy(dtype=np.float64)
    except TypeError:
        raise ValueError(
            f"time: column {time!r} must hold values that can be ordered, such as numbers or dates."
        ) from None
    order = np.lexsort((ranks, numbers))
    before, after = order[:-1], order[1:]
    again = (numbers[before] == numbers[after]) & (ranks[before] == ranks[after])
    if again.any():
        row = int(after[np.argmax(again)])
        key = ", ".join(f"{name}={frame[name].iloc[row]!s}" for name in keys)
        raise ValueError(
            f"time: the sequence with {key} has two rows with {time}={frame[time].iloc[row]!s}."
        )
    return order
