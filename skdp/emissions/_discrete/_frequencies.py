"""Frequencies of the symbols in a column, of which some may not occur."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def weigh_symbols(totals: NDArray[Any]) -> tuple[NDArray[np.float64], int]:
    """Return weights of the symbols, (V,), and their sum; those that do not occur share 1."""
    n_symbols, n_observed = len(totals), int(np.count_nonzero(totals))
    if n_observed == n_symbols:
        return np.ones(n_symbols), n_symbols
    return np.where(totals > 0, 1.0, 1.0 / (n_symbols - n_observed)), n_observed + 1


def find_common(totals: NDArray[Any]) -> NDArray[np.float64]:
    """Return the distribution, (V,), of a column with these totals that is alike in all states."""
    weights, n_weights = weigh_symbols(totals)
    common: NDArray[np.float64] = (totals + weights) / (totals.sum() + n_weights)
    return common
