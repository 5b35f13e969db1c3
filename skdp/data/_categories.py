"""The categories of a column, and the codes that represent them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp._numeric._typing import Places
from skdp.data._columns import as_objects, is_missing

Values = NDArray[Any]


@dataclass(frozen=True)
class Column:
    """The categories of one column."""

    name: str  # of the column in messages
    values: Values  # (n,), in an order that does not depend on that of the rows, see `_arrange`

    @classmethod
    def of(cls, values: Values, name: str) -> tuple[Column, Places]:
        """Return the column with the categories of `values`, and the codes of `values`."""
        if values.dtype.kind in "biuf":
            _check_finite(values, name)
            found, codes = np.unique(values, return_inverse=True)
            return cls(name, found), codes.astype(np.int64)
        listed = list(values)
        distinct = _distinct(listed, name)
        order = {value: code for code, value in enumerate(_arrange(distinct))}
        return cls(name, as_objects(order)), _look_up(listed, order)

    def find(self, values: Values) -> Places:
        """Return the codes of values, -1 if unknown; TypeError if none has the categories' kind."""
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
        """Return the categories with the given codes."""
        return self.values[codes]


def _check_finite(values: Values, name: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        _raise_not_finite(values[~np.isfinite(values)][0], name)


def _raise_not_finite(value: Any, name: str) -> None:
    what = "infinity" if _is_infinite(value) else "NaN, None or another missing value"
    raise ValueError(
        f"X, {name}, contains {what}. Categories are compared by equality: give missing values a "
        "category of their own, such as the string 'missing'."
    )


def _distinct(values: Iterable[Any], name: str) -> list[Any]:
    """Return the distinct values in the order of their first occurrence."""
    try:
        found = list(dict.fromkeys(values))
    except TypeError:
        wrong = next(value for value in values if not _is_hashable(value))
        raise TypeError(
            f"X, {name}: an argument must be a string, a number or another hashable object to be a "
            f"category, got {shorten(wrong)} ({type(wrong).__name__})."
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
    """Return values in an order that depends only on the values, if that is possible."""
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
        except TypeError:  # objects without an order stay in that of their first occurrence
            arranged += part
    return arranged


def _look_up(values: Iterable[Any], codes: dict[Any, int]) -> Places:
    """Return the codes of values, -1 for a value without a code."""
    return np.array([codes.get(value, -1) for value in values], dtype=np.int64)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    return "numbers" if isinstance(value, Number) else "objects"


def _kinds(values: Iterable[Any]) -> set[str]:
    return {_kind(value) for value in values}


def _describe(kinds: set[str]) -> str:
    return " and ".join(sorted(kinds))
