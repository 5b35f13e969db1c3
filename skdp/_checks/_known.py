"""Partly known values: labels of rows, states of steps."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks._arguments import as_array, is_list_like, shorten

_CURE = "If y is for a later step or a metric, set use_y=False."


def is_unknown(value: Any) -> bool:
    """Return whether a value marks an unknown value: None, NaN, pandas.NA, or -1."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA is not comparable
        return True
    return isinstance(value, Real) and (value == -1 or value != value)


def check_entries(y: Any, name: str = "y") -> None:
    """Raise unless a value is None or has entries in an order, as lists, arrays and columns do."""
    is_array = hasattr(y, "__array__") and getattr(y, "ndim", 1) > 0
    if y is None or is_array or is_list_like(y) or hasattr(y, "tocsr"):
        return
    kind = type(y).__name__
    if getattr(y, "ndim", 1) == 0:
        kind = f"{kind} without dimensions"
    raise TypeError(
        f"{name} must be a list, an array or a column, with an entry for each sample or step of X; "
        f"got {kind}."
    )


def check_known(
    y: Any, n: int, name: str, *, what: str, place: str, largest: int
) -> NDArray[np.int64]:
    """Return known integers from 0 to `largest`, or -1 if unknown, (n,); raise if y has others.
    `what` and `place` name a number and its owner, such as "label" and "row of X".
    """
    array = as_array(y.to_numpy() if hasattr(y, "to_numpy") else y, name)
    if array.shape == (n, 1):
        array = array[:, 0]
    if array.shape != (n,):
        raise ValueError(
            f"{name} must have shape ({n},), a {what} per {place}, -1 if it is unknown; got shape "
            f"{array.shape}. {_CURE}"
        )
    if array.dtype.kind == "O":
        array = np.array([_as_number(x, f"{name}[{i}]", what) for i, x in enumerate(array)])
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} must hold integers, -1 if a {what} is unknown; got values of type "
            f"{array.dtype}. Encode other {what}s with a LabelEncoder. {_CURE}"
        )
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1.0, array)
    wrong = np.flatnonzero((array < -1) | (array != np.floor(array)) | (array > largest))
    if len(wrong):
        i = int(wrong[0])
        raise ValueError(
            f"{name} must hold integers from 0 to {largest}, or -1 if a {what} is unknown; got "
            f"{name}[{i}]={shorten(array[i].item())}. {_CURE}"
        )
    return np.asarray(array.astype(np.int64))


def _as_number(value: Any, name: str, what: str) -> float:
    """Return a number as a float, NaN if it is unknown."""
    if is_unknown(value):
        return np.nan
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral | Real):
        raise TypeError(
            f"y must hold integers, -1 or None if a {what} is unknown; got "
            f"{name}={shorten(value)}. Encode other {what}s with a LabelEncoder. {_CURE}"
        )
    return float(value)
