"""Resolution of column selections, and checks that each column of X belongs to one part."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from skdp._checks import shorten
from skdp._numeric._typing import Places


def find_columns(columns: Any, n_columns: int, names: list[str] | None, where: str) -> Places:
    """Return the indices of the selected columns, or raise an error that begins with `where`.
    Selections are those of scikit-learn's ``ColumnTransformer``: a slice of names includes its end.
    """
    if isinstance(columns, slice):
        ends: list[Any] = [columns.start, columns.stop]
        ends = [None if end is None else _place(end, names, where) for end in ends]
        if isinstance(columns.stop, str):
            ends[1] += 1
        found = np.arange(n_columns)[ends[0] : ends[1] : columns.step]
    elif isinstance(columns, str | Integral) and not isinstance(columns, bool):
        found = np.array([_place(columns, names, where)], dtype=object)  # of any length
    else:
        found = _find_listed(columns, n_columns, names, where)
    if len(found) == 0:
        raise ValueError(f"{where} has no columns.")
    if found.min() < -n_columns or found.max() >= n_columns:
        wrong = found.max() if found.max() >= n_columns else found.min()
        raise ValueError(
            f"{where}: there is no column {shorten(wrong)}, X has {n_columns} columns."
        )
    found = (found % n_columns).astype(np.int64)
    if len(np.unique(found)) < len(found):
        raise ValueError(f"{where} names a column twice: {shorten(columns)}.")
    return found


def _find_listed(columns: Any, n_columns: int, names: list[str] | None, where: str) -> Any:
    array = np.asarray(None if callable(columns) else columns)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "biuUOT"):
        raise TypeError(
            f"{where}: columns must be an int, a name, a slice, or a list of ints, names or bools; "
            f"got {shorten(columns)}."
        )
    if array.dtype.kind == "b":
        if len(array) != n_columns:
            raise ValueError(
                f"{where}: a mask must have an entry for each of the {n_columns} columns of X, got "
                f"{len(array)}."
            )
        return np.flatnonzero(array)
    return np.array([_place(column, names, where) for column in array.tolist()], dtype=object)


def _place(column: Any, names: list[str] | None, where: str) -> int:
    """Return the index of a column."""
    if not isinstance(column, str):
        if isinstance(column, Integral) and not isinstance(column, bool):
            return int(column)
        raise TypeError(f"{where}: columns must be ints, names or bools, got {shorten(column)}.")
    if names is None:
        raise ValueError(
            f"{where}: column {shorten(column)} is given by its name, but X has none: fit to data "
            "frames, or give the numbers of columns."
        )
    if column not in names:
        raise ValueError(
            f"{where}: there is no column {shorten(column)}, X has {', '.join(names)}."
        )
    return names.index(column)


def check_shared_out(
    parts: dict[str, Places], n_columns: int, names: list[str] | None, where: str
) -> None:
    """Raise a ValueError unless each column belongs to one of the parts."""

    def call(column: int) -> str:
        return f"{column}" if names is None else f"{column} ({names[column]!r})"

    owners: dict[int, str] = {}
    for name, columns in parts.items():
        for column in columns.tolist():
            if column in owners:
                raise ValueError(
                    f"{where}: column {call(column)} is given to both {owners[column]!r} and "
                    f"{name!r}."
                )
            owners[column] = name
    rest = [call(column) for column in range(n_columns) if column not in owners]
    if rest:
        raise ValueError(
            f"{where}: {'columns' if len(rest) > 1 else 'column'} {', '.join(rest)} of X belong"
            f"{'' if len(rest) > 1 else 's'} to no emission: add one, or leave them out of X."
        )
