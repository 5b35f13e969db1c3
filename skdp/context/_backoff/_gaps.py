"""Columns of categories in which a missing value is a category."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Places
from skdp.data._categories import Column, Values
from skdp.data._columns import as_objects, is_missing


@dataclass(frozen=True)
class GapColumn:
    """The categories of a column; the last code is that of missing values."""

    column: Column  # all categories, then None for missing values
    present: Column | None  # without None; None: all values are missing
    has_missing: bool

    @classmethod
    def of(cls, values: Values, name: str) -> tuple[GapColumn, Places]:
        """Return the column with the categories of `values`, and the codes of `values`."""
        is_gap = find_missing(values)
        codes = np.empty(len(values), np.int64)
        present, n = None, 0
        if not is_gap.all():
            present, codes[~is_gap] = Column.of(values[~is_gap], name)
            n = len(present.values)
        codes[is_gap] = n
        known = [] if present is None else present.values.tolist()
        column = Column(name, as_objects([*known, None]))
        return cls(column, present, bool(is_gap.any())), codes

    def find(self, values: Values) -> Places:
        """Return the codes of values, -1 for a value that is not a category."""
        is_gap = find_missing(values)
        codes = np.full(len(values), -1, np.int64)
        if self.present is not None and not is_gap.all():
            codes[~is_gap] = self.present.find(values[~is_gap])
        if self.has_missing:
            codes[is_gap] = len(self.column.values) - 1
        return codes


def find_missing(values: Values) -> NDArray[np.bool_]:
    """Return whether each value is missing."""
    if values.dtype.kind in "biu":
        return np.zeros(len(values), bool)
    if values.dtype.kind in "fcMm":
        return np.asarray(values != values)
    return np.array([is_missing(value) for value in values], dtype=bool)
