"""Rows of categories: checked, and numbered column by column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from skdp._checks import check_unmasked
from skdp._typing import Ints
from skdp.data._ragged import Ragged


def check_categories(estimator: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Return X as an (n_samples, n_features) array of any kind of categories.

    Parameters
    ----------
    estimator : estimator
    X : (n_samples, n_features) array-like or data frame
        Numbers, strings or other objects that can be compared by equality.
    reset : bool
        True (in ``fit``): set `n_features_in_`, and `feature_names_in_` for a data frame with
        names. False: X must have the same.

    Raises
    ------
    ValueError, TypeError
        If X is no such array, or has missing or infinite values.
    """
    if hasattr(X, "__next__"):
        raise TypeError(
            f"X must not be a {type(X).__name__}, which can be read only once: pass list(X)."
        )
    if isinstance(X, Ragged):
        raise TypeError(f"X must be an (n_samples, n_features) array, got a {type(X).__name__}.")
    check_unmasked(X, "X")
    values = _as_objects(X)
    is_object = getattr(getattr(values, "dtype", None), "kind", "") == "O"
    checked = check_array(
        values,
        dtype=None,
        ensure_all_finite=not is_object,
        estimator=estimator,
        input_name="X",
    )
    if checked.dtype.kind == "O":
        _check_objects(checked)
    elif checked.dtype.kind in "mM" and np.isnat(checked).any():
        raise ValueError("Input X contains NaN: missing dates or times.")
    source = X if hasattr(X, "columns") else checked
    validate_data(estimator, X=source, reset=reset, skip_check_array=True)
    return np.asarray(checked)


def _as_objects(X: Any) -> Any:
    """Return data frames and lists of rows as objects: an array would make all of one type."""
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return X.astype(object).to_numpy()
    is_row = [isinstance(row, (list, tuple)) for row in X] if isinstance(X, (list, tuple)) else []
    if not is_row or not all(is_row) or len({len(row) for row in X}) != 1:
        return X
    rows = np.empty((len(X), len(X[0])), dtype=object)
    for row, values in zip(rows, X, strict=True):
        for d, value in enumerate(values):
            row[d] = value
    return rows


def _check_objects(values: NDArray[Any]) -> None:
    """Raise for missing, infinite and incomparable values, and say where."""
    for d, column in enumerate(values.T):
        for i, value in enumerate(column):
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"X: an argument must be hashable, such as a string or a number, to be a "
                    f"category; got {value!r:.60} in row {i}, column {d}."
                ) from None
            where = f"row {i}, column {d}"
            if type(value).__name__ == "NAType" or value != value:  # NaN, NaT
                raise ValueError(f"Input X contains NaN: {where}. Give missing values a name.")
            if isinstance(value, (float, np.floating)) and math.isinf(value):
                raise ValueError(f"Input X contains infinity: {where}.")


class CategoryNumbers:
    """Numbers the categories of each column.

    Parameters
    ----------
    values : (n, D) array
        Rows that have all of them.
    """

    def __init__(self, values: NDArray[Any]):
        self._numbers: list[dict[Any, int]] = []
        for column in values.T:
            known: dict[Any, int] = {}
            for value in column.tolist():
                known.setdefault(value, len(known))
            self._numbers.append(known)

    def encode(self, values: NDArray[Any]) -> Ints:
        """Return the numbers of categories, (m, D); -1: unknown."""
        columns = [
            [known.get(value, -1) for value in column.tolist()]
            for known, column in zip(self._numbers, values.T, strict=True)
        ]
        return np.ascontiguousarray(np.array(columns, dtype=np.int32).T)
