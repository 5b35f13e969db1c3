"""Reading of data frames: their index of times, columns, missing values, sequences, and texts."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Hashable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_unmasked, shorten
from skdp.data._ragged import Offsets, offsets

# The index of a data frame as times of steps: its order, its gaps, and its next entries.


_WIDE = 1.5
"""Steps that are longer than this times the usual one have left something out."""

_HOLIDAYS = 3
"""Working days between two entries, at most, that may be holidays."""

_FEW = 20
"""In fewer rows, integers may rise in every row by chance."""

_UNEVEN = 0.5
"""Times in fractions of seconds differ in their steps by at most this share of the mean step."""

_DATE = re.compile(r"\d{4}[-/]\d\d?[-/]\d\d?.*|\d\d?[./]\d\d?[./]\d{4}.*")

_IN_ORDER = re.compile(r"\d{4}-\d\d(-\d\d)?([T ]\d\d.*)?|\d\d:\d\d(:\d\d)?|\d+")
"""Texts of equal length that the alphabet sorts by time: dates of ISO 8601, clocks, numbers."""


def find_fault(index: Any) -> str | None:
    """Describe the fault of a pandas index of steps as the end of a sentence; None: no fault."""
    levels, index = index, _as_times(index)
    if len(index) > 1 and isinstance(index[0], str) and _DATE.fullmatch(index[0]):
        return _find_fault_of_texts(index)
    is_time = hasattr(index, "asi8")
    if len(index) < 2 or not (is_time or index.dtype.kind in "iuf"):
        return None
    if index.hasnans:
        row, unknown = int(np.argmax(index.isna())), "NaT" if is_time else "NaN"
        return f"has {unknown} in row {row}, of unknown time: a row is a step after the one above"
    n_levels, numbers = levels.nlevels, np.asarray(index.asi8 if is_time else index)
    if n_levels > 1 and all(kind.kind in "iu" for kind in levels.dtypes):  # years and months
        index, numbers = levels, np.argsort(levels.argsort())
    back = np.flatnonzero(numbers[1:] < numbers[:-1])
    if len(back) and n_levels > 1 and is_time:
        return (
            f"goes back in row {back[0] + 1}, as if another sequence began, but the rows are read "
            "as one sequence: SequencePanel.from_frame(X, by=...) makes a sequence of each key"
        )
    if len(back) == len(numbers) - 1:
        return "descends, with the newest row first: sort it, X.sort_index()"
    if len(back) and (is_time or index.is_unique):
        first = str(index[[back[0] + 1]].tolist()[0]).strip("()")
        rows = f"row {back[0] + 1} ({first}) is before row {back[0]}"
        return f"is not in order, {rows}: sort it, X.sort_index()"
    if not is_time:
        return None
    if np.any(np.diff(numbers) == 0):
        row = int(np.argmax(np.diff(numbers) == 0))
        return f"has a time twice, {index[row]} in rows {row} and {row + 1}"
    return _find_gap(index, numbers)


def _as_times(index: Any) -> Any:
    """Return the last level of an index, as times or numbers if its entries stand for them."""
    import pandas as pd

    index = index.get_level_values(-1)
    is_plain = isinstance(index.dtype, np.dtype) and index.dtype != object
    if not (is_plain or hasattr(index, "asi8")):
        index = pd.Index(index.to_numpy()).infer_objects()
    return pd.to_datetime(index) if index.inferred_type == "date" else index


def _find_fault_of_texts(index: Any) -> str | None:
    """Describe the fault of an index of dates that are texts, which sort by the alphabet."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas asks for a format
        dates = pd.to_datetime(index, errors="coerce", dayfirst="." in index[0])
        if dates.hasnans:
            dates = pd.to_datetime(index, errors="coerce", dayfirst=True)
    fault = None if dates.hasnans else find_fault(dates)
    return fault and f"holds dates as texts (pandas.to_datetime makes dates of them). It {fault}"


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
        step = _find_constant_step(index.asi8)
        return None if step is None else step * index.freq.base
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex):
        if index.freq is not None or len(index) < 3 or index.hasnans:
            return index.freq
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas will return offsets in place of texts
            return pd.infer_freq(index)
    return _find_constant_step(index.to_numpy()) if index.dtype.kind in "iu" else None


def _find_constant_step(entries: NDArray[np.integer]) -> int | None:
    """Return the difference of successive integers if it is always the same, and not 0."""
    steps = np.diff(entries.astype(np.int64))
    step = int(steps[0]) if len(steps) else 1
    return step if step != 0 and np.all(steps == step) else None


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
        if not np.isfinite(column).all():
            continue
        is_whole = np.all(column == np.floor(column))
        inner = steps[~np.isnan(steps[:, d]), d]
        is_monotone = len(inner) >= _FEW and (np.all(inner > 0) or np.all(inner < 0))
        is_regular = is_whole or (is_monotone and np.ptp(inner) <= _UNEVEN * abs(inner.mean()))
        is_range = column.max() - column.min() == n_rows - 1 and len(np.unique(column)) == n_rows
        if (is_monotone and is_regular) or (is_whole and is_range):
            return d
    return None


# Columns and missing values of pandas and polars data frames and Arrow tables.


def is_frame(X: Any) -> bool:
    """Return whether X is a pandas or polars data frame, or an Arrow table."""
    kinds = ("iloc", "__dataframe__", "__arrow_c_stream__")
    is_table = len(getattr(X, "shape", ())) == 2 and (
        hasattr(X, "columns") or hasattr(X, "column_names")
    )
    return is_table and any(hasattr(X, kind) for kind in kinds)


def check_unique_columns(frame: Any, name: str) -> None:
    """Raise ValueError if columns of a pandas data frame have the same name."""
    if hasattr(frame, "iloc") and frame.ndim == 2 and not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"{name} must have columns of different names, got {twice!r} twice.")


def columns_of(frame: Any) -> list[NDArray[Any]]:
    """Return the columns of a data frame, each as an (n,) array of its own type."""
    if hasattr(frame, "iloc"):  # pandas, in which names may occur twice
        return [frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])]
    return [_as_column(frame[name]) for name in names_of(frame)]


def labels_of(table: Any) -> list[list[Any] | None]:
    """Return for each column the categories of its type, [] if not listed; None: another type."""
    return [_labels_of_type(kind) for kind in types_of(table)]


def types_of(table: Any) -> list[Any]:
    """Return the types of the columns of a table, or a pandas column, as its library has them."""
    if hasattr(table, "iloc"):
        return list(table.dtypes) if table.ndim == 2 else [table.dtype]
    if hasattr(table, "set_column"):  # Arrow
        return list(table.schema.types)
    return list(getattr(table, "dtypes", []))


def _labels_of_type(kind: Any) -> list[Any] | None:
    own = type(kind).__name__
    if own == "CategoricalDtype" or (own == "Enum" and not isinstance(kind, type)):
        return list(kind.categories)
    kind = getattr(kind, "pyarrow_dtype", kind)
    return [] if str(kind) == "Categorical" or hasattr(kind, "index_type") else None


def names_of(frame: Any) -> list[Any]:
    """Return the names of the columns of a data frame."""
    return list(getattr(frame, "column_names", frame.columns))


def _as_column(series: Any) -> NDArray[Any]:
    """Return a polars or Arrow column; structured values and very long integers become objects."""
    if hasattr(getattr(series, "type", None), "index_type") and series.null_count:
        # An Arrow dictionary, in which numpy takes a null for the last category.
        return as_objects(series.to_pylist())
    try:
        column = np.asarray(series)
        if column.ndim == 1:
            return column
    except Exception:  # types that numpy lacks, for which each library raises its own errors
        pass
    return as_objects(series.to_list() if hasattr(series, "to_list") else series.to_pylist())


def as_objects(values: Iterable[Any]) -> NDArray[Any]:
    """Return values, which may be tuples, as the elements of an array of objects."""
    return np.fromiter(values, dtype=object)


def is_missing(value: Any) -> bool:
    """Return whether a value, or a part of a tuple, is None or unequal to itself (NaN, NaT, NA)."""
    if isinstance(value, tuple):
        return any(map(is_missing, value))
    if value is None or getattr(value, "ndim", 0) > 0:
        return value is None
    try:
        return not bool(value == value)
    except TypeError:  # pandas' NA has no truth value
        return True


def to_numbers(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return objects as numbers, NaN if a value is missing; other and masked values raise."""
    numbers = (_to_number(value, name) for value in values.flat)
    return np.fromiter(numbers, np.float64, values.size).reshape(values.shape)


def complex_error(name: str, kind: Any) -> ValueError:
    """Return the exception for complex numbers of a type; conversion would drop a part of them."""
    return ValueError(f"Complex data not supported: {name} must hold real numbers, got {kind}.")


def _to_number(value: Any, name: str) -> float:
    check_unmasked(value, name)
    if isinstance(value, complex | np.complexfloating):
        raise complex_error(name, type(value).__name__)
    if is_missing(value):
        return np.nan
    got = f"got {shorten(value)} ({type(value).__name__})"
    try:
        if not isinstance(value, np.datetime64 | np.timedelta64) and getattr(value, "ndim", 0) == 0:
            return float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers in double precision, {got}.") from None
    except TypeError:
        pass
    raise TypeError(
        f"{name} must hold numbers: an argument must be a string or a number, {got}."
    ) from None


# Sequences from long data frames, which have one row per step.


def read_frame(
    frame: Any, by: Any, time: Any, columns: Any
) -> tuple[NDArray[np.float64], Offsets, list[Any]]:
    """Return the observations of all sequences, (n, D), their offsets, and the column names."""
    if not is_frame(frame):
        raise TypeError(f"frame must be a data frame, got {type(frame).__name__}.")
    if not hasattr(frame, "iloc"):
        frame = _as_pandas(frame)
    check_unique_columns(frame, "frame")
    is_name = isinstance(by, str | tuple) or not hasattr(by, "__iter__")  # a tuple is a name, too
    if is_name and not isinstance(by, list):
        by = [by]
    elif hasattr(by, "__next__"):
        by = list(by)
    index, frame = frame.index, _with_levels(frame, [*by, time])
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
    order = _order(frame, keys, time, numbers, index)
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
        check_unique_columns(part, f"sequence {i}")
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


def _order(
    frame: Any, keys: list[Any], time: Any, numbers: NDArray[Any], index: Any
) -> NDArray[np.intp]:
    """Return the rows sequence by sequence, sorted by time or else in their original order."""
    if time is None:
        order = np.argsort(numbers, kind="stable")
        times = _as_times(index[order])
        same = numbers[order][1:] == numbers[order][:-1]
        if hasattr(times, "asi8") and np.any(same & (times.asi8[1:] < times.asi8[:-1])):
            warnings.warn(
                "SequencePanel.from_frame: times in the index of frame go back within a sequence, "
                "whose rows are read as they are: sort them, frame.sort_index(), or make the index "
                "a column and name it, time=...",
                stacklevel=4,
            )
        return order
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


# Texts without invisible characters, in one form if they look the same.


_JOINERS = "\u200c\u200d"
"""Parts of words in Persian and Malayalam, between letters or after a mark."""

_JOINER = re.compile(f"(.?)[{_JOINERS}]+(?=(.?))", re.DOTALL)

_VISIBLE = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that are drawn, around or above numbers."""

_RANGES = (range(0x80, 0x10000), range(0x11000, 0x1E000), range(0xE0000, 0xE0080))
"""Ranges that contain all format characters of Unicode."""

_LINE_END = re.compile("\r\n|[\r\x85\u2028]")


@cache
def _invisible() -> re.Pattern[str]:
    found = [chr(code) for codes in _RANGES for code in codes]
    kept = {*_JOINERS, *_VISIBLE}
    format_characters = [c for c in found if unicodedata.category(c) == "Cf" and c not in kept]
    return re.compile(f"[{''.join(format_characters)}]")


def without_invisible(text: str) -> str:
    """Return a text without byte order marks, soft hyphens, and other format characters."""
    if text.isascii():
        return text
    text = _invisible().sub("", text)
    return _JOINER.sub(_keep_if_it_joins, text)


def _keep_if_it_joins(found: re.Match[str]) -> str:
    before, after = (unicodedata.category(c)[0] if c else "" for c in found.groups())
    joins = before == "M" or (before in "LN" and after in "LMN" and before and after)
    return found[0] if joins else found[1]


def normalize_text(text: str) -> str:
    """Return a text in Unicode's form C, without invisible characters, with its line ends as LF."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", without_invisible(text)).replace("\u2029", "\n\n")
    return _LINE_END.sub("\n", text)


def normalize_word(word: str) -> str:
    """Return a word in the form in which equal words are the same text."""
    return word if word.isascii() else normalize_text(word) or word
