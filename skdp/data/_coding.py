"""Encoding of text and other categories as codes, and the formats of tables that hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp._numeric import Floats, Places
from skdp.data._frames import (
    as_objects,
    columns_of,
    is_frame,
    is_missing,
    labels_of,
    names_of,
    types_of,
)

# The categories of one column, and the codes that represent them.


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


# The categories of all columns of a table or panel.

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
    """Return X with codes in its columns of categories that are not numbers, and categories."""
    # With `reset` (in ``fit``) categories are those of X, not the `known` ones. With `reads_types`,
    # numbers of a categorical type are labels, and all labels of the type are categories.
    tables, remake = _as_tables(X)
    if not tables:
        return X, known
    width = len(tables[0])
    if any(len(table) != width for table in tables):
        return X, known  # later checks raise an error that names the table
    first = X if is_frame(X) else X[0]
    names = names_of(first) if is_frame(first) else None
    if names and not all(isinstance(name, str) for name in names):
        names = None
    categories: Categories = [None] * width if reset or known is None else list(known)
    codes: dict[int, list[NDArray[Any]]] = {}
    declared = _declared(X, width) if reads_types and reset else [None] * width
    for d in find_columns(width, names):
        parts = [table[d] for table in tables]
        if d >= len(categories):
            continue
        own = categories[d]
        is_coded = own is not None or declared[d] is not None
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
        elif own is None:
            raise TypeError(
                f"X, {call}, holds text or other objects, but in fit it held numbers, the codes of "
                "categories."
            )
        else:
            column = Column(call, own)
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


def _as_tables(X: Any) -> tuple[list[list[NDArray[Any]]], Callable[[dict[int, Any]], Any]]:
    """Return the columns of each table in X, and a function that replaces columns of X."""
    if is_frame(X) or _may_hold_text(X):
        return [_columns_of(X)], lambda codes: _replaced(X, {d: c[0] for d, c in codes.items()})
    if not isinstance(X, list | tuple) or len(X) == 0:
        return [], dict
    if all(isinstance(row, list | tuple) for row in X):
        is_flat = not any(isinstance(value, list | tuple) for row in X for value in row)
        if is_flat and len({len(row) for row in X}) == 1 and len(X[0]):  # a table
            return _as_tables(_as_object_rows(X, len(X[0])))
        X = [_as_rows(row) for row in X]
    if not all(is_frame(part) or _may_hold_text(part) for part in X):
        return [], dict

    def remake(codes: dict[int, Any]) -> list[Any]:
        return [_replaced(part, {d: c[i] for d, c in codes.items()}) for i, part in enumerate(X)]

    return [_columns_of(part) for part in X], remake


def _as_rows(sequence: Any) -> Any:
    """Return a list of values or rows with text as an array of objects, other values unchanged."""
    widths = {len(row) if isinstance(row, list | tuple) else 0 for row in sequence}
    parts = (row if isinstance(row, list | tuple) else (row,) for row in sequence)
    if len(widths) != 1 or not any(isinstance(part, str) for row in parts for part in row):
        return sequence
    if widths == {0}:
        return as_objects(sequence)
    return _as_object_rows(sequence, widths.pop())


def _as_object_rows(table: Sequence[Any], width: int) -> NDArray[Any]:
    """Return lists of equal length as the rows of an array of objects."""
    rows = np.empty((len(table), width), dtype=object)
    for i, row in enumerate(table):
        rows[i] = row
    return rows


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


# The format of a table, in which rows of numbers and codes are returned.


_ELEMENTS = {"b": bool, "i": int, "u": int}
"""Types of the values of numpy's kinds of bools and integers."""


@dataclass(frozen=True, eq=False)
class TableFormat:
    """The kind of a table, and the types of its columns."""

    empty: Any  # data frame or array of objects without rows; None: numbers or a list
    elements: tuple[type | None, ...] = ()  # of columns of bool or int; NoneType: nothing observed

    @classmethod
    def of(cls, X: Any) -> TableFormat:
        """Return the format of a table."""
        if is_frame(X):
            is_pandas = hasattr(X, "iloc")
            empty = X.iloc[:0].copy().reset_index(drop=True) if is_pandas else X.slice(0, 0)
            return cls(empty, tuple(map(_element, columns_of(X), types_of(X))))
        array = _as_objects_array(X)
        if array is None:
            return cls(None)
        return cls(array[:0], tuple(map(_element, np.atleast_2d(array.T))))

    @classmethod
    def joined(cls, tables: Iterable[Any]) -> TableFormat:
        """Return the format of all rows of several tables, of the kind of the first table."""
        listed = list(tables)
        first = cls.of(listed[0])
        if first.empty is None:
            return first
        formats = [first, *map(cls.of, listed[1:])]
        if len({len(each.elements) for each in formats}) > 1:
            return first
        elements = tuple(
            map(_join_elements, zip(*(each.elements for each in formats), strict=True))
        )
        alike = [each.empty for each in formats if type(each.empty) is type(first.empty)]
        return cls(_join_types(alike) if first.is_frame else first.empty, elements)

    def with_defaults(self, other: TableFormat) -> TableFormat:
        """Return this format, with the elements of another where no value was observed."""
        if len(self.elements) != len(other.elements):
            return self
        defaults = [other.element(d) for d in range(len(other.elements))]
        pairs = zip(self.elements, defaults, strict=True)
        return replace(self, elements=tuple(b if a is NoneType else a for a, b in pairs))

    def element(self, d: int) -> type | None:
        """Return bool or int if column d holds such values, None otherwise."""
        number = _number_type(self.empty, d) if self.is_frame else None
        if number is not None:
            return _ELEMENTS.get(number.kind)
        return self.elements[d]

    @property
    def is_frame(self) -> bool:
        """Whether the table is a data frame."""
        return self.empty is not None and is_frame(self.empty)

    @property
    def is_mixed(self) -> bool:
        """Whether the table is a data frame whose columns are not all numbers of one type."""
        if not self.is_frame:
            return False
        kinds = {str(getattr(column, "dtype", "")) for column in columns_of(self.empty)}
        types = {str(kind) for kind in types_of(self.empty)}
        return len(types) > 1 or any(kind in ("object", "bool", "str") for kind in kinds)

    def make(self, values: Floats, categories: Categories | None) -> Any:
        """Return rows of numbers and codes of categories in the format of the table."""
        columns = [
            self.native(values[:, d], d, None if categories is None else categories[d])
            for d in range(values.shape[1])
        ]
        if self.is_frame:
            return _build(self.empty, columns)
        if self.empty is None and categories is None:
            return values
        out = np.empty(values.shape, dtype=object)
        for d, column in enumerate(columns):
            out[:, d] = as_objects(column.tolist())
        return out

    def native(self, values: Floats, d: int, categories: NDArray[Any] | None) -> NDArray[Any]:
        """Return numbers or codes as values of the type of column d."""
        if categories is not None:
            labels = dict(enumerate(categories.tolist()))  # `n_symbols` may allow more: None
            return as_objects(labels.get(code) for code in values.astype(np.int64).tolist())
        kind = self.elements[d] if d < len(self.elements) else None
        number: Any = _number_type(self.empty, d) if self.is_frame else None
        if kind is bool or number == np.dtype(bool):
            return np.asarray(values >= 0.5)
        if number is not None and number.kind in "iu":
            ends = np.iinfo(number)
            return np.clip(np.rint(values), ends.min, ends.max).astype(number)
        if kind is int:
            return as_objects(int(value) for value in np.rint(values))
        if number is not None and number.kind == "f":
            return values.astype(number)
        return values

    def with_cells(
        self, X: Any, hidden: NDArray[np.bool_], values: Floats, categories: Categories | None
    ) -> Any:
        """Return a copy of a table of this format with other numbers or codes in hidden cells."""
        cells = {
            int(d): (
                np.flatnonzero(hidden[:, d]),
                self.native(
                    values[hidden[:, d], d], int(d), None if categories is None else categories[d]
                ),
            )
            for d in np.flatnonzero(hidden.any(axis=0))
        }
        if self.is_frame:
            return _set_in_frame(X, cells)
        array = _as_objects_array(X)
        out = np.array(X if array is None else array)
        if out.dtype.kind in "US":
            out = out.astype(object)
        for d, (rows, column) in cells.items():
            out[rows if out.ndim == 1 else (rows, d)] = column
        return out


def _as_objects_array(X: Any) -> NDArray[Any] | None:
    """Return a table that is or becomes an array of objects or text, or None for numbers."""
    if isinstance(X, list | tuple):
        try:
            array = np.asarray(X)
        except ValueError:
            return None
        if array.dtype.kind not in "USTO" or array.ndim != 2:
            return None
        return _as_object_rows(X, array.shape[1])
    if isinstance(X, np.ndarray) and X.dtype.kind in "USTO" and X.ndim == 2:
        return X.astype(object)
    return None


def _element(column: NDArray[Any], kind: Any = None) -> type | None:
    """Return bool or int if all observed values are of this type, NoneType if there are none."""
    if str(kind).lower() == "null":  # of polars and Arrow
        return NoneType
    if column.dtype != object:
        return _ELEMENTS.get(column.dtype.kind)
    return _join_elements(_type_of(value) for value in column.tolist() if not is_missing(value))


def _type_of(value: Any) -> type:
    if isinstance(value, bool | np.bool_):
        return bool
    return int if isinstance(value, int | np.integer) else object


def _join_elements(kinds: Iterable[type | None]) -> type | None:
    """Return the common type of elements, None unless it is bool or int, or nothing is known."""
    distinct = set(kinds) - {NoneType}
    if not distinct:
        return NoneType
    kind = distinct.pop() if len(distinct) == 1 else None
    return kind if kind in (bool, int) else None


# Data frames of pandas and polars, and Arrow tables.


def _join_types(frames: Sequence[Any]) -> Any:
    """Return the first of several empty data frames of a library with the types of all rows."""
    first = frames[0]
    types = [list(dict.fromkeys(kinds)) for kinds in zip(*map(types_of, frames), strict=True)]
    if all(len(kinds) == 1 for kinds in types):
        return first
    if hasattr(first, "iloc"):
        out = first.copy()
        for d, kinds in enumerate(types):
            out.isetitem(d, first.iloc[:, d].astype(_join_pandas_types(kinds)))
        return out
    if hasattr(first, "set_column"):
        import pyarrow as pa  # installed: the table is its own

        schemas = [frame.schema.remove_metadata() for frame in frames]
        return pa.unify_schemas(schemas, promote_options="permissive").empty_table()
    import polars as pl  # installed: the table is its data frame

    for name, kinds in zip(names_of(first), types, strict=True):
        if len(kinds) > 1:
            first = first.with_columns(pl.Series(name, [], dtype=_join_polars_types(kinds)))
    return first


def _join_pandas_types(kinds: list[Any]) -> Any:
    import pandas as pd  # installed: the types are its own

    if all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
        labels = dict.fromkeys(label for kind in kinds for label in kind.categories)
        return pd.CategoricalDtype(list(labels), all(kind.ordered for kind in kinds))
    if all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds):
        return np.result_type(*kinds)
    return pd.concat([pd.Series([], dtype=kind) for kind in kinds]).dtype


def _join_polars_types(kinds: list[Any]) -> Any:
    import polars as pl  # installed: the types are its own

    kinds = [kind for kind in kinds if kind != pl.Null] or [pl.Null]
    if all(kind == pl.Enum for kind in kinds):
        return pl.Enum(list(dict.fromkeys(label for kind in kinds for label in kind.categories)))
    if all(kind in (pl.Enum, pl.Categorical, pl.String) for kind in kinds):
        return kinds[0] if len(set(kinds)) == 1 else pl.String
    parts = [pl.DataFrame({"x": pl.Series([], dtype=kind)}) for kind in kinds]
    return pl.concat(parts, how="vertical_relaxed").schema["x"]


def _number_type(frame: Any, d: int) -> np.dtype[Any] | None:
    """Return the numpy type of a column of numbers or bools; None: another type."""
    kind = types_of(frame)[d]
    if hasattr(frame, "iloc"):
        found = getattr(kind, "numpy_dtype", kind)
        return found if isinstance(found, np.dtype) and found.kind in "biuf" else None
    if hasattr(frame, "set_column"):
        try:
            found = np.dtype(kind.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            return None
    else:
        found = frame[names_of(frame)[d]].to_numpy().dtype
        if str(kind) == "Boolean":
            found = np.dtype(bool)
    return found if found.kind in "biuf" else None


def _build(empty: Any, columns: Sequence[NDArray[Any]]) -> Any:
    """Return a data frame with the names and types of another, and other columns."""
    if hasattr(empty, "iloc"):
        import pandas as pd  # installed: the table is its data frame

        parts = []
        for values, kind in zip(columns, empty.dtypes, strict=True):
            column, new = _for_pandas(values, kind)
            if new:
                kind = pd.CategoricalDtype([*kind.categories, *new], kind.ordered)
            parts.append(pd.Series(column).astype(kind))
        frame = pd.concat(parts, axis=1)
        frame.columns = empty.columns
        return frame
    types, names = types_of(empty), names_of(empty)
    if hasattr(empty, "set_column"):
        return type(empty).from_arrays(
            [_arrow_array(c.tolist(), k) for c, k in zip(columns, types, strict=True)],
            schema=empty.schema,
        )
    return type(empty)(
        [
            type(empty[name])(name, column.tolist(), dtype=kind)
            for name, column, kind in zip(names, columns, types, strict=True)
        ]
    )


def _for_pandas(column: NDArray[Any], kind: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return values that pandas converts to a type, and those that are no categories of it yet."""
    known = getattr(kind, "categories", None)
    if known is None:
        return column, []
    if column.dtype != object:  # numbers, which are their own codes
        gaps = np.abs(np.asarray(known, dtype=np.float64)[np.newaxis] - column[:, np.newaxis])
        column = np.asarray(known)[gaps.argmin(axis=1)]
    labels = dict.fromkeys(column.tolist())
    return column, [v for v in labels if v is not None and v not in known]


def _arrow_array(values: list[Any], kind: Any) -> Any:
    import pyarrow as pa  # installed: the table is its own

    if pa.types.is_null(kind):
        return pa.array(values)
    if pa.types.is_dictionary(kind):
        return pa.array(values, type=kind.value_type).dictionary_encode().cast(kind)
    return pa.array(values, type=kind)


def _set_in_frame(frame: Any, cells: dict[int, tuple[NDArray[np.intp], NDArray[Any]]]) -> Any:
    """Return a copy of a data frame with other values in some cells."""
    if hasattr(frame, "iloc"):
        out = frame.copy()
        for d, (rows, column) in cells.items():
            series = frame.iloc[:, d].copy()
            column, new = _for_pandas(column, series.dtype)
            if new:
                series = series.cat.add_categories(new)
            series.iloc[rows] = column
            out.isetitem(d, series)
        return out
    names, types = names_of(frame), types_of(frame)
    for d, (rows, column) in cells.items():
        old = frame[names[d]]
        values = old.to_list() if hasattr(old, "to_list") else old.to_pylist()
        for row, value in zip(rows.tolist(), column.tolist(), strict=True):
            values[row] = value
        if hasattr(frame, "set_column"):
            array = _arrow_array(values, types[d])
            frame = frame.set_column(d, frame.schema.field(d).with_type(array.type), array)
        else:
            kind = None if str(types[d]) == "Null" else types[d]
            frame = frame.with_columns(type(old)(names[d], values, dtype=kind))
    return frame
