"""Columns of categories and their integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from skdp._checks import check_unmasked
from skdp._numeric._typing import Ints
from skdp.data._categories import Column, Values
from skdp.data._columns import columns_of, is_frame
from skdp.data._ragged import Ragged

_LARGEST_EXACT = 2**53
"""Largest magnitude up to which all integers are exact in double precision."""


def describe_column(column: int, names: NDArray[Any] | None) -> str:
    """Return the description of a column for messages."""
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def read_columns(estimator: Any, X: Any, *, reset: bool) -> list[Values]:
    """Return the columns of X; `reset` (in ``fit``) records their number and names."""
    if hasattr(X, "__next__"):
        raise TypeError(
            f"X must not be a {type(X).__name__}, which can be read only once: pass list(X)."
        )
    if isinstance(X, Ragged):
        raise TypeError(f"X must be an (n_samples, n_features) array, got a {type(X).__name__}.")
    check_unmasked(X, "X")
    if is_frame(X):  # each column has its own type
        _check_size(estimator, X.shape)
        columns = [_as_column(column) for column in columns_of(X)]
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return columns
    is_listed = isinstance(X, list | tuple)
    array = check_array(
        _listed_as_array(X) if is_listed else X,
        dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X",
    )  # fmt: skip
    validate_data(estimator, array if is_listed else X, reset=reset, skip_check_array=True)
    return [_as_column(array[:, j]) for j in range(array.shape[1])]


def find_codes(columns: Sequence[Column], values: Sequence[Values]) -> Ints:
    """Return the codes of rows, given column by column, (n, D); -1: no category of the column."""
    codes = [column.find(those) for column, those in zip(columns, values, strict=True)]
    return np.column_stack(codes).astype(np.int32)


def as_rows(values: Sequence[Values]) -> Values:
    """Return columns as an (n, D) array: numeric if no value is rounded, else of objects."""
    if all(column.dtype.kind in "biuf" for column in values):
        rows = np.column_stack(values)
        if rows.dtype.kind != "f" or not any(map(_may_round, values)):
            return rows
    rows = np.empty((len(values[0]), len(values)), dtype=object)
    for d, column in enumerate(values):
        rows[:, d] = column
    return rows


def _may_round(column: Values) -> bool:
    """Return whether a column has integers that are not exact in double precision."""
    if column.dtype.kind not in "iu":
        return False
    return bool(np.any((column > _LARGEST_EXACT) | (column < -_LARGEST_EXACT)))


def _listed_as_array(rows: Sequence[Any]) -> Values:
    """Return a list of rows as an array that keeps every value unchanged."""
    # NumPy converts numbers next to strings to strings, integers next to fractions to floats (which
    # merges ids above 2**53), and tuples to dimensions.
    try:
        array = np.asarray(rows)
        if array.ndim < 2 or (array.ndim == 2 and array.dtype.kind in "biucO"):
            return array
        if array.ndim == 2 and array.dtype.kind == "f" and np.all(np.abs(array) < _LARGEST_EXACT):
            return array
    except ValueError:  # rows, or their values, differ in length
        pass
    is_row = all(hasattr(row, "__len__") and not isinstance(row, str | dict) for row in rows)
    if not is_row or len({len(row) for row in rows}) != 1:
        raise ValueError(
            "X must be a 2-D array, a data frame or a list of rows of equal length; got rows that "
            "differ."
        )
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            array[i, j] = value
    return array


def _as_column(values: Any) -> Values:
    """Return the values of a column, with text as objects, which are hashed and not sorted."""
    return values.astype(object) if values.dtype.kind in "US" else values


def _check_size(estimator: Any, shape: tuple[int, int]) -> None:
    """Raise scikit-learn's error if a data frame has no rows or no columns."""
    for number, what in zip(shape, ("sample", "feature"), strict=True):
        if number == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required by "
                f"{type(estimator).__name__}."
            )
