"""Columns and missing values of pandas and polars data frames and Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_unmasked, shorten


def is_frame(X: Any) -> bool:
    """Return whether X is a pandas or polars data frame, or an Arrow table."""
    kinds = ("iloc", "__dataframe__", "__arrow_c_stream__")
    is_table = len(getattr(X, "shape", ())) == 2 and (
        hasattr(X, "columns") or hasattr(X, "column_names")
    )
    return is_table and any(hasattr(X, kind) for kind in kinds)


def columns_of(frame: Any) -> list[NDArray[Any]]:
    """Return the columns of a data frame, each as an (n,) array of its own type."""
    if hasattr(frame, "iloc"):  # pandas, in which names may occur twice
        return [frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])]
    return [_as_column(frame[name]) for name in names_of(frame)]


def labels_of(table: Any) -> list[list[Any] | None]:
    """Return for each column the categories of its type, [] if not listed; None: another type."""
    if hasattr(table, "iloc"):
        kinds = list(table.dtypes) if table.ndim == 2 else [table.dtype]
    elif hasattr(table, "set_column"):
        kinds = list(table.schema.types)
    else:
        kinds = list(getattr(table, "dtypes", []))
    return [_labels_of_type(kind) for kind in kinds]


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
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    for i, value in enumerate(listed):
        array[i] = value
    return array


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
    numbers = np.empty(values.shape)
    flat = numbers.reshape(-1)
    for place, value in enumerate(values.flat):
        flat[place] = _to_number(value, name)
    return numbers


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
