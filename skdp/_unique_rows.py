"""The distinct rows of an array, found without code that a signal handler could break."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def unique_rows(
    rows: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct rows, in lexicographic order, which one each row is, and their counts.

    ``np.unique(rows, axis=0)`` finds the same by comparing structured values, for which numpy runs
    Python code. If a signal handler raises there, numpy replaces its exception by "Cannot compare
    structured arrays", so that a Ctrl-C would become a TypeError.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
        Without missing values.

    Returns
    -------
    distinct : array of shape (n_distinct, n_columns)
    places : array of shape (n_rows,)
        ``distinct[places]`` are the rows.
    counts : array of shape (n_distinct,)
    """
    n_rows, n_columns = rows.shape
    order = np.lexsort(rows.T[::-1]) if n_columns else np.arange(n_rows)
    ordered = rows[order]
    is_new = np.ones(n_rows, dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(n_rows, dtype=np.intp)
    places[order] = np.cumsum(is_new) - 1
    return ordered[is_new], places, np.bincount(places, minlength=int(is_new.sum()))
