"""Assignment of columns to the levels of contexts."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_unmasked, is_list_like, shorten
from skdp.context._columns import describe_column

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
    found = tuple(
        tuple(
            _find_column(column, n_features, names, parameter)
            for column in _group(group, parameter)
        )
        for group in levels
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


def _group(group: Any, parameter: str) -> list[Any]:
    """Return the columns of a group, which may be a single column."""
    if isinstance(group, str | Integral):
        return [group]
    if not is_list_like(group) or len(group) == 0:
        raise ValueError(
            f"{parameter} must hold groups of at least one column, got {shorten(group)}."
        )
    return list(group)


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
