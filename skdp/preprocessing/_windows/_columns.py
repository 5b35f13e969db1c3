"""Columns of sequences that vary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def find_varying(values: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the numbers of the columns that vary, or None for all columns, also if none varies."""
    # A column that never changes has neither states nor waves.
    varies = np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)
    if varies.all() or not varies.any():
        return None
    return np.flatnonzero(varies)
