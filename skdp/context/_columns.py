"""Columns of categories: what they hold as codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from skdp._checks import check_unmasked
from skdp._typing import Ints, Places
from skdp.data._columns import as_objects, columns_of, is_frame, is_missing
from skdp.data._ragged import Ragged

Values = NDArray[Any]

_LARGEST_EXACT = 2**53
"""Up to here integers are exact in double precision."""


@dataclass(frozen=True)
class Column:
    """The categories of one column.

    Attributes
    ----------
    name : str
        What messages call the column.
    values : (n,) array
        The categories, in an order that the order of rows does not change: sorted, or where that
        cannot be (objects), by type and then sorted, or else as they first came.
    """

    name: str
    values: Values

    @classmethod
    def of(cls, values: Values, name: str) -> tuple[Column, Places]:
        """Return the column that holds values, and their codes."""
        if values.dtype.kind in "biuf":
            _check_finite(values, name)
            found, codes = np.unique(values, return_inverse=True)
            return cls(name, found), codes.astype(np.int64)
        listed = list(values)
        distinct = _distinct(listed, name)
        order = {value: code for code, value in enumerate(_arrange(distinct))}
        return cls(name, as_objects(order)), _look_up(listed, order)

    def find(self, values: Values) -> Places:
        """Return the codes of values, -1 for one that is no category.

        Raises
        ------
        TypeError
            If none is of the kind of the categories: numbers, say, where these are strings.
        """
        if values.dtype.kind in "biuf":
            _check_finite(values, self.name)
        if values.dtype.kind in "iuf" and values.dtype.kind == self.values.dtype.kind:
            places = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
            return np.where(self.values[places] == values, places, -1).astype(np.int64)
        listed = values.tolist() if values.dtype.kind in "biuf" else list(values)
        kinds, known = _kinds(_distinct(listed, self.name)), _kinds(self.values.tolist())
        if not kinds & known:
            raise TypeError(
                f"X, {self.name}, holds {_describe(kinds)}, but in fit it held {_describe(known)}."
            )
        return _look_up(listed, {value: i for i, value in enumerate(self.values.tolist())})

    def take(self, codes: Places) -> Values:
        """Return the categories that codes stand for."""
        return self.values[codes]


def describe_column(column: int, names: NDArray[Any] | None) -> str:
    """Return what messages call a column."""
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def read_columns(estimator: Any, X: Any, *, reset: bool) -> list[Values]:
    """Return the columns of X, checked against or recorded on the estimator.

    Parameters
    ----------
    estimator : estimator
    X : (n_samples, n_features) array-like or data frame
    reset : bool
        True (in ``fit``): set `n_features_in_`, and `feature_names_in_` for a data frame with
        names.

    Raises
    ------
    ValueError, TypeError
        If X is no such array.
    """
    if hasattr(X, "__next__"):
        raise TypeError(
            f"X must not be a {type(X).__name__}, which can be read only once: pass list(X)."
        )
    if isinstance(X, Ragged):
        raise TypeError(f"X must be an (n_samples, n_features) array, got a {type(X).__name__}.")
    check_unmasked(X, "X")
    if is_frame(X):  # each column has a type of its own
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
    """Return columns as an (n, D) array: of numbers if that rounds none, else of objects."""
    if all(column.dtype.kind in "biuf" for column in values):
        rows = np.column_stack(values)
        if rows.dtype.kind != "f" or not any(map(_may_round, values)):
            return rows
    rows = np.empty((len(values[0]), len(values)), dtype=object)
    for d, column in enumerate(values):
        rows[:, d] = column
    return rows


def _may_round(column: Values) -> bool:
    """Tell whether a column has integers that are not exact in double precision."""
    if column.dtype.kind not in "iu":
        return False
    return bool(np.any((column > _LARGEST_EXACT) | (column < -_LARGEST_EXACT)))


def _listed_as_array(rows: Sequence[Any]) -> Values:
    """Return a list of rows as an array in which each value is what it was.

    Numpy would turn numbers next to strings into strings, integers next to fractions into floats,
    which merges ids above 2**53, and tuples into dimensions.
    """
    try:
        array = np.asarray(rows)
        if array.ndim < 2 or (array.ndim == 2 and array.dtype.kind in "biucO"):
            return array
        if array.ndim == 2 and array.dtype.kind == "f" and np.all(np.abs(array) < _LARGEST_EXACT):
            return array
    except ValueError:  # rows, or what they hold, differ in length
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
    """Return the values of a column; text as objects, since it is looked up and not sorted."""
    return values.astype(object) if values.dtype.kind in "US" else values


def _check_size(estimator: Any, shape: tuple[int, int]) -> None:
    """Raise if a data frame has no rows or no columns, in scikit-learn's words."""
    for number, what in zip(shape, ("sample", "feature"), strict=True):
        if number == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required by "
                f"{type(estimator).__name__}."
            )


def _check_finite(values: Values, name: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        _raise_not_finite(values[~np.isfinite(values)][0], name)


def _raise_not_finite(value: Any, name: str) -> None:
    what = "infinity" if _is_infinite(value) else "NaN, None or another missing value"
    raise ValueError(
        f"X, {name}, contains {what}. Categories are compared by equality: give what is missing a "
        "category of its own, such as the string 'missing'."
    )


def _distinct(values: Iterable[Any], name: str) -> list[Any]:
    """Return the distinct values, in the order in which they came."""
    try:
        found = list(dict.fromkeys(values))
    except TypeError:
        wrong = next(value for value in values if not _is_hashable(value))
        raise TypeError(
            f"X, {name}: an argument must be a string, a number or another hashable object to be a "
            f"category, got {wrong!r:.80} ({type(wrong).__name__})."
        ) from None
    for value in found:
        if is_missing(value) or _is_infinite(value):
            _raise_not_finite(value, name)
    return found


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float | np.floating) and math.isinf(value)


def _arrange(values: list[Any]) -> list[Any]:
    """Return values in an order that depends on nothing else, where that is possible."""
    try:
        return sorted(values)
    except TypeError:
        pass
    by_type: dict[str, list[Any]] = {}
    for value in values:
        by_type.setdefault(_kind(value) + type(value).__qualname__, []).append(value)
    arranged = []
    for _, part in sorted(by_type.items()):
        try:
            arranged += sorted(part)
        except TypeError:
            arranged += part
    return arranged


def _look_up(values: Iterable[Any], codes: dict[Any, int]) -> Places:
    """Return the codes of values, -1 for one that has none."""
    return np.array([codes.get(value, -1) for value in values], dtype=np.int64)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    return "numbers" if isinstance(value, Number) else "objects"


def _kinds(values: Iterable[Any]) -> set[str]:
    return {_kind(value) for value in values}


def _describe(kinds: set[str]) -> str:
    return " and ".join(sorted(kinds))
