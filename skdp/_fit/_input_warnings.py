"""Warnings of columns and dates that would ruin an answer in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data._times import find_counter, find_fault_of_frames
from skdp.inference._convergence import warn_user


def warn_of_times(estimator: Any, X: Any) -> None:
    """Warn if the index of a data frame of steps is not in order, or has left out steps."""
    fault = find_fault_of_frames(X)
    if fault is not None:
        warn_user(f"{type(estimator).__name__}: {fault}", UserWarning)


def warn_of_counter(estimator: Any, values: NDArray[Any], ptr: Any = None) -> None:
    """Warn if a column next to others numbers the rows; `ptr` are the offsets of sequences."""
    ptr = np.array([0, len(values)]) if ptr is None else ptr
    column = find_counter(values, ptr)
    if column is not None:
        names = vars(estimator).get("feature_names_in_")
        name = f"column {column}" if names is None else f"column {names[column]!r}"
        warn_user(
            f"{type(estimator).__name__}: {name} of X numbers the rows, as a row number, an "
            "identifier or a time does. Its values would determine the result: leave it out, or "
            "make it the index of the data frame.",
            UserWarning,
        )
