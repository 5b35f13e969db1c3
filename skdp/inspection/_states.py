"""Shares, choice and order of states for the displays of hidden states."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, shorten


def check_matrix(values: Any, name: str) -> NDArray[np.float64]:
    """Return a 2-D array of numbers in [0, 1]."""
    array = as_array(values, name)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a 2-D array of numbers, got shape {array.shape} and type "
            f"{array.dtype}."
        )
    if not np.all((array >= 0.0) & (array <= 1.0)):
        raise ValueError(f"{name} must hold numbers in [0, 1].")
    return array.astype(np.float64)


def check_shares(shares: ArrayLike, name: str, n_states: int) -> NDArray[np.float64]:
    """Return shares (n_states,) that sum to 1."""
    array = as_array(shares, name)
    if array.shape != (n_states,) or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold {n_states} numbers, one per state, got shape {array.shape} and type "
            f"{array.dtype}."
        )
    if not (np.all(array >= 0.0) and np.isclose(array.sum(), 1.0, rtol=0, atol=1e-4)):
        raise ValueError(f"{name} must be non-negative, with a sum of 1.")
    return array.astype(np.float64)


def choose_states(
    states: ArrayLike | None, shares: NDArray[np.float64] | None, n_states: int, least: float = 0.0
) -> NDArray[np.int64]:
    """Return given states, or those of shares above `least`, largest first; without shares, all."""
    if states is None:
        if shares is None:
            return np.arange(n_states)
        order = np.argsort(-shares, kind="stable")
        return order[shares[order] > least]
    chosen = as_array(states, "states")
    if (
        chosen.ndim != 1
        or len(chosen) == 0
        or chosen.dtype.kind not in "iu"
        or np.any((chosen < 0) | (chosen >= n_states))
        or len(np.unique(chosen)) < len(chosen)
    ):
        raise ValueError(
            f"states must hold different integers from 0 to {n_states - 1}, got {shorten(states)}."
        )
    return chosen.astype(np.int64)
