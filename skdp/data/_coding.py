"""Encoding of columns of text and other categories as codes, for models of categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp.data._categories import Column
from skdp.data._columns import as_objects, columns_of, is_frame, is_missing, labels_of, names_of

Categories = list[NDArray[Any] | None]
"""The categories of each column in the order of their codes; None for a column of numbers."""


def with_codes(
    X: Any,
    find_columns: Callable[[int, list[str] | None], Sequence[int]],
    known: Categories | None,
    *,
    reset: bool,
    allow_missing: bool = False,
    reads_types: bool = False,
) -> tuple[Any, Categories | None]:
    """Encode the columns of categories that are not numbers; return X with codes, and categories.

    With `reset` (in ``fit``) categories are those of X, not the `known` ones. With `reads_types`,
    numbers of a categorical type are labels, and all labels of the type are categories.
    """
    tables, remake = _as_tables(X)
    if not tables:
        return X, known
    width = len(tables[0])
    if any(len(table) != width for table in tables):
        return X, known  # later checks raise an error that names the table
    names = _text_names(X if is_frame(X) else X[0])
    categories: Categories = [None] * width if reset or known is None else list(known)
    codes: dict[int, list[NDArray[Any]]] = {}
    declared = _declared(X, width) if reads_types and reset else [None] * width
    for d in find_columns(width, names):
        parts = [table[d] for table in tables]
        if d >= len(categories):
            continue
        is_coded = categories[d] is not None or declared[d] is not None
        if not (is_coded or _holds_categories(parts)):
            continue
        call = f"column {d}" if names is None else f"column {names[d]!r}"
        joined = as_objects(value for part in parts for value in part.tolist())
        missing = np.zeros(len(joined), dtype=bool)
        if allow_missing:
            missing[:] = [is_missing(value) for value in joined]
        seen = joined[~missing]
        if reset:
            column = Column.of(as_objects([*(declared[d] or ()), *seen]), call)[0]
        else:
            column = _recall(categories[d], call)
        found: NDArray[Any] = np.zeros(0) if missing.all() else column.find(seen)
        if (found < 0).any():
            value = seen[int(np.argmin(found))]
            raise ValueError(
                f"X, {call}, holds {shorten(value)}, which is not one of the categories of fit, "
                f"{shorten(column.values.tolist())}."
            )
        if missing.any():
            known_codes, found = found, np.full(len(joined), np.nan)
            found[~missing] = known_codes
        categories[d] = column.values
        codes[d] = np.split(found, np.cumsum([len(part) for part in parts])[:-1])
    has_any = any(known is not None for known in categories)
    return (remake(codes) if codes else X), (categories if has_any else None)


def _recall(values: NDArray[Any] | None, name: str) -> Column:
    if values is None:
        raise TypeError(
            f"X, {name}, holds text or other objects, but in fit it held numbers, the codes of "
            "categories."
        )
    return Column(name, values)


def _declared(X: Any, width: int) -> list[list[Any] | None]:
    """Return for each column the categories that types declare; None: no type of categories."""
    found: list[list[Any] | None] = [None] * width
    for table in [X] if is_frame(X) or not isinstance(X, list | tuple) else X:
        if not (is_frame(table) or hasattr(table, "iloc")):
            continue
        for d, labels in enumerate(labels_of(table)):
            if labels is not None:
                found[d] = [*(found[d] or ()), *labels]
    return found


def _holds_categories(parts: list[NDArray[Any]]) -> bool:
    """Return whether a column holds any text."""
    return any(
        part.dtype.kind in "USTO" and any(isinstance(value, str | bytes) for value in part.tolist())
        for part in parts
    )


def _text_names(table: Any) -> list[str] | None:
    """Return the names of the columns of a data frame, if they are text."""
    names = names_of(table) if is_frame(table) else None
    return names if names and all(isinstance(name, str) for name in names) else None


def _as_tables(X: Any) -> tuple[list[list[NDArray[Any]]], Callable[[dict[int, Any]], Any]]:
    """Return the columns of each table in X, and a function that replaces columns of X."""
    if is_frame(X) or _may_hold_text(X):
        return [_columns_of(X)], lambda codes: _replaced(X, {d: c[0] for d, c in codes.items()})
    if not isinstance(X, list | tuple) or len(X) == 0:
        return [], dict
    if all(isinstance(row, list | tuple) for row in X):
        is_flat = not any(isinstance(value, list | tuple) for row in X for value in row)
        if is_flat and len({len(row) for row in X}) == 1 and len(X[0]):  # a table
            rows = np.empty((len(X), len(X[0])), dtype=object)
            for i, row in enumerate(X):
                rows[i] = row
            return _as_tables(rows)
        X = [_as_rows(row) for row in X]
    if not all(is_frame(part) or _may_hold_text(part) for part in X):
        return [], dict

    def remake(codes: dict[int, Any]) -> list[Any]:
        return [_replaced(part, {d: c[i] for d, c in codes.items()}) for i, part in enumerate(X)]

    return [_columns_of(part) for part in X], remake


def _as_rows(sequence: Any) -> Any:
    """Return a list of values or rows with text as an array of objects, other values unchanged."""
    widths = {len(row) if isinstance(row, list | tuple) else 0 for row in sequence}
    if len(widths) != 1 or not any(_has_text(row) for row in sequence):
        return sequence
    if widths == {0}:
        return as_objects(sequence)
    rows = np.empty((len(sequence), *widths), dtype=object)
    for i, row in enumerate(sequence):
        rows[i] = row
    return rows


def _has_text(value: Any) -> bool:
    parts = value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(part, str) for part in parts)


def _may_hold_text(values: Any) -> bool:
    """Return whether values are a numpy array or a pandas column that may hold text."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    n_dims = getattr(values, "ndim", 0)
    is_series = hasattr(values, "iloc") and n_dims == 1
    return is_series or (isinstance(values, np.ndarray) and kind in "USTO" and n_dims in (1, 2))


def _columns_of(table: Any) -> list[NDArray[Any]]:
    if is_frame(table):
        columns = columns_of(table)
        if hasattr(table, "iloc"):  # with gaps, integers would become floats
            for d, labels in enumerate(labels_of(table)):
                if labels is not None:
                    columns[d] = table.iloc[:, d].astype(object).to_numpy()
        return columns
    values = np.asarray(table)
    return [values] if values.ndim == 1 else list(values.T)


def _replaced(table: Any, columns: dict[int, NDArray[Any]]) -> Any:
    """Return a table with some columns replaced."""
    if not is_frame(table):
        values = np.asarray(table).astype(object)
        for d, column in columns.items():
            values[... if values.ndim == 1 else (slice(None), d)] = column
        return values
    if hasattr(table, "iloc"):
        table = table.copy(deep=False)
        for d, column in columns.items():
            table.isetitem(d, column)
        return table
    for d, column in columns.items():
        name = names_of(table)[d]
        if hasattr(table, "set_column"):  # Arrow
            table = table.set_column(d, name, [column.tolist()])
        else:
            table = table.with_columns(type(table[name])(name, column))
    return table
