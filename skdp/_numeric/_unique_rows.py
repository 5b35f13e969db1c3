"""The distinct rows of an array, computed without code that a signal handler could break."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class UniqueRows(NamedTuple):
    """The distinct rows of an array, in lexicographic order."""

    distinct: NDArray[Any]
    places: NDArray[np.intp]  # ``distinct[places]`` equals the rows
    counts: NDArray[np.intp]
    firsts: NDArray[np.intp]  # of occurrences: ``rows[firsts]`` equals `distinct`


def unique_rows(rows: NDArray[Any]) -> UniqueRows:
    """Return the distinct rows of an array without missing values."""
    # ``np.unique(rows, axis=0)`` runs Python code to compare rows. If a signal handler raises
    # there, numpy replaces its exception, so that a Ctrl-C would become a TypeError.
    n_rows, n_columns = rows.shape
    order = np.lexsort(rows.T[::-1]) if n_columns else np.arange(n_rows)
    ordered = rows[order]
    is_new = np.ones(n_rows, dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(n_rows, dtype=np.intp)
    places[order] = np.cumsum(is_new) - 1
    counts = np.bincount(places, minlength=int(is_new.sum()))
    return UniqueRows(ordered[is_new], places, counts, order[is_new])
