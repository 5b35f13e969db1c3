"""Which columns make up each level of contexts."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_unmasked
from skdp.context._columns import describe_column

Levels = tuple[tuple[int, ...], ...]


def check_levels(levels: Any, n_features: int, names: NDArray[Any] | None) -> Levels:
    """Return the columns of each level, the most important first.

    Parameters
    ----------
    levels : list of columns or of groups of columns, or None
        None: every column is a level.
    n_features : int
    names : (n_features,) array of str or None
        None: columns have no names.
    """
    if levels is None:
        return tuple((j,) for j in range(n_features))
    check_unmasked(levels, "levels")
    if isinstance(levels, str) or not hasattr(levels, "__len__"):
        raise ValueError(f"levels must be a list of groups of columns, got {levels!r:.80}.")
    found = tuple(
        tuple(_find_column(column, n_features, names) for column in _group(group))
        for group in levels
    )
    if not found:
        raise ValueError("levels must hold at least one group of columns, got none.")
    flat = [column for group in found for column in group]
    for column in flat:
        if flat.count(column) > 1:
            raise ValueError(
                f"levels must have each column once, got {describe_column(column, names)} twice in "
                f"{levels!r:.200}."
            )
    return found


def _group(group: Any) -> list[Any]:
    """Return the columns of a group, which may be a single one."""
    if isinstance(group, str | Integral):
        return [group]
    if not hasattr(group, "__len__") or len(group) == 0:
        raise ValueError(f"levels must hold groups of at least one column, got {group!r:.80}.")
    return list(group)


def _find_column(column: Any, n_features: int, names: NDArray[Any] | None) -> int:
    """Return the place of a column that is given by its name or its place."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"levels has the name {column!r}, but X has no names of columns: pass a data frame "
                "whose columns have names, or give their numbers."
            )
        places = np.flatnonzero(names == column)
        if len(places) == 0:
            raise ValueError(f"levels: X has no column {column!r}; it has {names.tolist()!r:.200}.")
        return int(places[0])
    if not isinstance(column, Integral) or isinstance(column, bool):
        raise ValueError(f"levels must hold names or numbers of columns, got {column!r:.80}.")
    place = int(column)
    if not 0 <= place < n_features:
        raise ValueError(
            f"levels: X has {n_features} columns, from 0 to {n_features - 1}; got {place}."
        )
    return place


def check_classes(labels: NDArray[Any], classes: Any) -> NDArray[Any]:
    """Return the sorted classes: those of the labels, or the given ones."""
    seen = _unique(labels, "y")
    if classes is None:
        return seen
    given = as_array(classes, "classes")
    if given.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got {classes!r:.80}.")
    if len(given) and (given.dtype.kind in "biuf") != (seen.dtype.kind in "biuf"):
        raise ValueError(
            f"classes must hold labels of the kind of y's, {seen[:3].tolist()!r:.80}, got "
            f"{given[:3].tolist()!r:.80}."
        )
    found = _unique(given, "classes")
    if len(found) < len(given):
        raise ValueError(f"classes must hold each label once, got {classes!r:.80}.")
    missing = seen[~np.isin(seen, found)]
    if len(missing):
        raise ValueError(f"classes must hold all labels of y; it lacks {missing.tolist()!r:.80}.")
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
