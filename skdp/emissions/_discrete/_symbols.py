"""Observations as symbols, and their counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._checks import write_number


def as_symbols(values: NDArray[np.float64], n_symbols: int | None = None) -> NDArray[np.int32]:
    """Return observations as symbols, -1 for missing ones (NaN), or raise a ValueError."""
    column = values[:, 0]
    missing = np.isnan(column)
    end = 2.0**31 if n_symbols is None else n_symbols
    wrong = ~(missing | ((column >= 0.0) & (column < end) & (column == np.floor(column))))
    if wrong.any():
        value = column[np.argmax(wrong)]
        is_bounded = n_symbols is not None or value >= end
        numbers = f"from 0 to {write_number(end - 1)}" if is_bounded else "from 0"
        raise ValueError(f"X must hold symbols, integers {numbers}; got {write_number(value)}.")
    return np.where(missing, -1.0, column).astype(np.int32)


def find_largest(values: NDArray[np.float64]) -> tuple[list[int]]:
    """Return the largest observed symbol, or 0 if there are no observations."""
    return ([int(as_symbols(values).max(initial=0))],)


def count_all(values: NDArray[np.float64], n_symbols: int) -> tuple[NDArray[np.intp]]:
    """Return the number of occurrences of each symbol."""
    symbols = as_symbols(values, n_symbols)
    return (np.bincount(symbols[symbols >= 0], minlength=n_symbols),)
