"""Columns, labels of outcomes and levels of back-off models, and the tree of observed contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from skdp._checks import as_array, check_unmasked, is_list_like, shorten
from skdp._numeric import Ints, Places
from skdp.data._coding import Column, Values
from skdp.data._frames import as_objects, check_unique_columns, columns_of, is_frame, is_missing
from skdp.data._ragged import Ragged
from skdp.processes._franchise import ContextIndex, FranchiseLayout, count_up, pack

# Columns of categories and their integer codes.


_LARGEST_EXACT = 2**53
"""Largest magnitude up to which all integers are exact in double precision."""


def describe_column(column: int, names: NDArray[Any] | None) -> str:
    """Return the description of a column for messages."""
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def label_columns(columns: Sequence[int], names: NDArray[Any] | None) -> list[Any]:
    """Return columns by their names if they have any, else by their indices."""
    return list(columns) if names is None else [str(names[j]) for j in columns]


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
        check_unique_columns(X, "X")
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


# Labels of outcomes: y and the possible classes.


def check_labels(y: Any) -> NDArray[Any]:
    """Return labels as an array, (n_samples,)."""
    check_unmasked(y, "y")
    values = as_array(y, "y")
    if values.ndim == 0 and not issparse(y):  # check_array reports sparse input
        raise ValueError(f"y must be a list or an array of labels, got {type(y).__name__}.")
    for value in values.flat if values.dtype.kind in "OMm" else ():
        if is_missing(value):  # scikit-learn misses some of these, or reports them without details
            raise ValueError("Input y contains NaN, None or another missing value.")
        if hasattr(value, "shape") and not isinstance(value, np.generic):
            raise ValueError(f"y must hold strings or numbers, got {type(value).__name__}.")
    labels = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    labels = column_or_1d(labels, warn=True)
    if len({isinstance(label, str) for label in labels} if labels.dtype == object else ()) > 1:
        raise ValueError("y must hold strings or numbers, got both.")
    check_classification_targets(labels)
    return labels


def are_numbers(labels: NDArray[Any]) -> bool:
    """Return whether labels, which are of one kind, are numbers."""
    kind = labels.dtype.kind
    return kind in "biuf" or (kind == "O" and not any(isinstance(each, str) for each in labels))


def check_classes(labels: NDArray[Any], classes: Any) -> NDArray[Any]:
    """Return the sorted classes, either the distinct labels or the given classes."""
    seen = _unique(labels, "y")
    if classes is None:
        return seen
    given = as_array(classes, "classes")
    if not is_list_like(classes) or given.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got {shorten(classes)}.")
    if any(map(is_missing, classes)):
        raise ValueError(
            "classes must hold labels that can be sorted, strings or numbers; it contains NaN, "
            f"None or another missing value: {shorten(classes)}."
        )
    if len(given) and are_numbers(given) != are_numbers(seen):
        raise ValueError(
            f"classes must hold labels of the kind of y's, {shorten(seen[:3].tolist())}, got "
            f"{shorten(given[:3].tolist())}."
        )
    found = _unique(given, "classes")
    if len(found) < len(given):
        raise ValueError(f"classes must hold each label once, got {shorten(classes)}.")
    return found


def _unique(labels: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError:
        types = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"{name} must hold labels that can be sorted, strings or numbers, got "
            f"{' and '.join(types)}."
        ) from None


# Columns of categories in which a missing value is a category.


@dataclass(frozen=True)
class GapColumn(Column):
    """The categories of a column, and then None, if there are missing values."""

    present: Column | None  # without None; None: all values are missing

    @classmethod
    def of(cls, values: Values, name: str) -> tuple[GapColumn, Places]:
        """Return the column with the categories of `values`, and the codes of `values`."""
        is_gap = find_missing(values)
        if not is_gap.any():
            column, codes = Column.of(values, name)
            return cls(name, column.values, column), codes
        codes = np.empty(len(values), np.int64)
        present, known = None, []
        if not is_gap.all():
            present, codes[~is_gap] = Column.of(values[~is_gap], name)
            known = present.values.tolist()
        codes[is_gap] = len(known)
        return cls(name, as_objects([*known, None]), present), codes

    def find(self, values: Values) -> Places:
        """Return the codes of values, -1 for a value that is not a category."""
        is_gap = find_missing(values)
        codes = np.full(len(values), -1, np.int64)
        if self.present is not None and not is_gap.all():
            codes[~is_gap] = self.present.find(values[~is_gap])
        if self.present is None or len(self.values) > len(self.present.values):
            codes[is_gap] = len(self.values) - 1
        return codes


def find_missing(values: Values) -> NDArray[np.bool_]:
    """Return whether each value is missing."""
    if values.dtype.kind in "biufcMm":
        return np.asarray(values != values)
    # A tuple with missing parts is no category at all, which others say.
    return np.array([is_missing(x) and not isinstance(x, tuple) for x in values.tolist()], bool)


# Assignment of columns to the levels of contexts.


Levels = tuple[tuple[int, ...], ...]


def check_levels(
    levels: Any, n_features: int, names: NDArray[Any] | None, parameter: str = "levels"
) -> Levels:
    """Return the columns of each level, the most important first; None: each column is a level."""
    if levels is None:
        return tuple((j,) for j in range(n_features))
    check_unmasked(levels, parameter)
    if not is_list_like(levels):
        raise ValueError(f"{parameter} must be a list of groups of columns, got {shorten(levels)}.")
    groups = [[group] if isinstance(group, str | Integral) else group for group in levels]
    for group in groups:
        if not is_list_like(group) or len(group) == 0:
            raise ValueError(
                f"{parameter} must hold groups of at least one column, got {shorten(group)}."
            )
    found = tuple(
        tuple(_find_column(column, n_features, names, parameter) for column in group)
        for group in groups
    )
    if not found:
        raise ValueError(f"{parameter} must hold at least one group of columns, got none.")
    flat = [column for group in found for column in group]
    for column in flat:
        if flat.count(column) > 1:
            raise ValueError(
                f"{parameter} must have each column once, got {describe_column(column, names)} "
                f"twice in {shorten(levels)}."
            )
    return found


def _find_column(column: Any, n_features: int, names: NDArray[Any] | None, parameter: str) -> int:
    """Return the index of a column, given its name or index."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{parameter} has the name {shorten(column)}, but X has no names of columns: pass "
                "a data frame whose columns have names, or give their numbers."
            )
        places = np.flatnonzero(names == column)
        if len(places) == 0:
            raise ValueError(
                f"{parameter}: X has no column {shorten(column)}; it has {shorten(names.tolist())}."
            )
        return int(places[0])
    if not isinstance(column, Integral) or isinstance(column, bool):
        raise ValueError(
            f"{parameter} must hold names or numbers of columns, got {shorten(column)}."
        )
    place = int(column)
    if not 0 <= place < n_features:
        raise ValueError(
            f"{parameter}: X has {n_features} columns, from 0 to {n_features - 1}; got "
            f"{shorten(place)}."
        )
    return place


# The tree of the observed contexts by level, with the outcomes observed in each context.


@dataclass(frozen=True)
class ContextTree(ContextIndex):
    """All contexts and all cells; a cell is an outcome observed in a context."""

    # A context of level k has the values of the columns of levels 0 to k; all events reach the last
    # level. A *step* lengthens contexts by one column; at the end of a level they are restaurants.

    classes: NDArray[Any]  # (n_outcomes,)
    levels: Levels
    columns: Sequence[Column]  # of all levels, in order
    keys: list[Places]  # sorted keys of the contexts after each step; an index is a context

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        codes: list[Places],
        levels: Levels,
        outcomes: Places,
        counts: Places,
        classes: NDArray[Any],
        *,
        has_root: bool,
    ) -> ContextTree:
        """Return the tree of events, given their codes in the columns of the levels, and counts."""
        n_outcomes = len(classes)
        node = np.zeros(len(outcomes), np.int64)
        keys = []
        for column, code in zip(columns, codes, strict=True):
            found, node = np.unique(node * len(column.values) + code, return_inverse=True)
            keys.append(found)
        cell_key, cell = np.unique(node * n_outcomes + outcomes, return_inverse=True)
        observed = np.bincount(cell, weights=counts, minlength=len(cell_key)).astype(np.int64)
        nodes, dishes = [cell_key // n_outcomes], [cell_key % n_outcomes]
        parents: list[Places] = []
        n_nodes = [len(keys[-1]) if keys else 1]
        for up in _parents(columns, keys, levels, has_root=has_root):  # from the deepest level on
            n_nodes.insert(0, int(up.max(initial=-1)) + 1)
            cell_key, above = np.unique(
                up[nodes[0]] * n_outcomes + dishes[0], return_inverse=True
            )  # fmt: skip
            parents.insert(0, above)
            nodes.insert(0, cell_key // n_outcomes)
            dishes.insert(0, cell_key % n_outcomes)
        node_ptr = np.cumsum([0, *n_nodes])
        cell_ptr = np.cumsum([0, *map(len, nodes)])
        parents = [part + first for part, first in zip(parents, cell_ptr, strict=False)]
        parents.insert(0, np.full(len(nodes[0]), -1))
        flat = np.concatenate([part + m for part, m in zip(nodes, node_ptr, strict=False)])
        n_before = int(cell_ptr[-2])
        layout = FranchiseLayout.of(
            cell_ptr, node_ptr, pack(parents), pack([flat]),
            pack([np.zeros(n_before, np.int64), observed]),
        )  # fmt: skip
        return cls(
            n_outcomes=n_outcomes,
            has_root=has_root,
            cell_ptr=count_up(flat, int(node_ptr[-1]), first=0),
            outcome=pack(dishes),
            layout=layout,
            classes=classes,
            levels=levels,
            columns=columns,
            keys=keys,
        )

    def find(self, values: list[Values]) -> Ints:
        """Return the contexts of rows of X by depth, (n_rows, n_depths); -1 for unseen contexts."""
        places = [place for level in self.levels for place in level]
        codes = [
            column.find(values[place]) for column, place in zip(self.columns, places, strict=True)
        ]
        return self.find_codes(codes, len(values[0]))

    def find_codes(self, codes: list[Places], n_rows: int) -> Ints:
        """Return the contexts of rows like `find`, given the codes in the columns of the levels."""
        contexts = np.full((n_rows, self.layout.n_depths), -1, np.int32)
        contexts[:, 0] = 0  # the root; without one it is overwritten below
        node, step = np.zeros(n_rows, np.int64), 0
        for m, level in enumerate(self.levels, start=int(self.has_root)):
            for _ in level:
                column, keys, code = self.columns[step], self.keys[step], codes[step]
                wanted = node * len(column.values) + code
                found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
                is_seen = (node >= 0) & (code >= 0) & (keys[found] == wanted)
                node = np.where(is_seen, found, -1)
                step += 1
            contexts[:, m] = np.where(node >= 0, node + self.layout.node_ptr[m], -1)
        return contexts

    def contexts_at(self, m: int) -> NDArray[Any]:
        """Return the contexts of depth m, (n, columns so far), as an array of objects."""
        n_steps = sum(map(len, self.levels[: m + 1 - self.has_root]))
        nodes = self.layout.nodes_at(m)
        place = np.arange(nodes.stop - nodes.start)
        contexts = np.empty((len(place), n_steps), dtype=object)
        for step in range(n_steps - 1, -1, -1):
            column = self.columns[step]
            place, code = np.divmod(self.keys[step][place], len(column.values))
            contexts[:, step] = column.values[code]
        return contexts


def _parents(
    columns: Sequence[Column], keys: list[Places], levels: Levels, *, has_root: bool
) -> list[Places]:
    """Return the index of each context's parent in the level above, from the deepest level up."""
    parents = []
    step = len(keys)
    for k in range(len(levels) - 1, -1, -1):
        up = np.arange(len(keys[step - 1]))
        for _ in levels[k]:
            step -= 1
            up = keys[step][up] // len(columns[step].values)
        if k or has_root:
            parents.append(up)
    return parents
