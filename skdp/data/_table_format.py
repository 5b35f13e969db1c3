"""The format of a table: its columns' types, and rows of numbers and codes in that format."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.data._coding import Categories
from skdp.data._columns import as_objects, columns_of, is_frame, is_missing, names_of

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
            pairs = zip(columns_of(X), _types(X), strict=True)
            return cls(_without_rows(X), tuple(itertools.starmap(_element, pairs)))
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
        types = {str(kind) for kind in _types(self.empty)}
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
        number: Any = None
        if self.is_frame:
            number = _number_type(self.empty, d)
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
        out = np.empty(array.shape, dtype=object)
        for i, row in enumerate(X):
            out[i] = row
        return out
    if isinstance(X, np.ndarray) and X.dtype.kind in "USTO" and X.ndim == 2:
        return X.astype(object)
    return None


def _element(column: NDArray[Any], kind: Any = None) -> type | None:
    """Return bool or int if all observed values are of this type, NoneType if there are none."""
    if str(kind).lower() == "null":  # of polars and Arrow
        return NoneType
    if column.dtype != object:
        return _ELEMENTS.get(column.dtype.kind)
    kinds = {
        bool
        if isinstance(value, bool | np.bool_)
        else int
        if isinstance(value, int | np.integer)
        else object
        for value in column.tolist()
        if not is_missing(value)
    }
    return _join_elements(kinds)


def _join_elements(kinds: Iterable[type | None]) -> type | None:
    """Return the common type of elements, None unless it is bool or int, or nothing is known."""
    distinct = set(kinds) - {NoneType}
    if not distinct:
        return NoneType
    kind = distinct.pop() if len(distinct) == 1 else None
    return kind if kind in (bool, int) else None


# Data frames of pandas and polars, and Arrow tables


def _without_rows(frame: Any) -> Any:
    if hasattr(frame, "iloc"):
        return frame.iloc[:0].copy().reset_index(drop=True)
    return frame.slice(0, 0)


def _join_types(frames: Sequence[Any]) -> Any:
    """Return the first of several empty data frames of a library with the types of all rows."""
    first = frames[0]
    types = [list(dict.fromkeys(kinds)) for kinds in zip(*map(_types, frames), strict=True)]
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


def _types(frame: Any) -> list[Any]:
    """Return the types of the columns of a data frame, as its library represents them."""
    if hasattr(frame, "iloc"):
        return list(frame.dtypes)
    if hasattr(frame, "set_column"):
        return list(frame.schema.types)
    return list(frame.dtypes)


def _number_type(frame: Any, d: int) -> np.dtype[Any] | None:
    """Return the numpy type of a column of numbers or bools; None: another type."""
    kind = _types(frame)[d]
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
            column = _for_pandas(values, kind)
            if isinstance(kind, pd.CategoricalDtype):
                new = _new_labels(column, kind.categories)
                if new:
                    kind = pd.CategoricalDtype([*kind.categories, *new], kind.ordered)
            parts.append(pd.Series(column).astype(kind))
        frame = pd.concat(parts, axis=1)
        frame.columns = empty.columns
        return frame
    types, names = _types(empty), names_of(empty)
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


def _new_labels(column: NDArray[Any], known: Any) -> list[Any]:
    """Return the labels of a column that are not known; None is no label."""
    return [v for v in dict.fromkeys(column.tolist()) if v is not None and v not in known]


def _for_pandas(column: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Return the values of a column that pandas converts to a type of categories."""
    categories = getattr(kind, "categories", None)
    if categories is None or column.dtype == object:
        return column
    known = np.asarray(categories)  # numbers, which are their own codes
    places = np.abs(known.astype(np.float64)[np.newaxis] - column[:, np.newaxis]).argmin(axis=1)
    return np.asarray(known[places])


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
            if hasattr(series.dtype, "categories"):
                column = _for_pandas(column, series.dtype)
                new = _new_labels(column, series.cat.categories)
                if new:
                    series = series.cat.add_categories(new)
            series.iloc[rows] = column
            out.isetitem(d, series)
        return out
    names, types = names_of(frame), _types(frame)
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
