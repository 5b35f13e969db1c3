"""Lagged values as columns, and checks of sequences for autoregressive emissions."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp._checks import shorten
from skdp._numeric._typing import Floats, Places
from skdp.emissions._gaussian._model import check_numbers


def check_lags(values: Floats, ptr: Places, n_lags: int) -> None:
    """Raise a ValueError if a value is missing, or a sequence is not longer than `n_lags`.

    Parameters
    ----------
    values : (N, D) array
    ptr : (n + 1,) array
        Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.
    n_lags : int
    """
    missing = np.isnan(values).any(axis=1)
    if missing.any():
        t = int(np.argmax(missing))
        s = int(np.searchsorted(ptr, t, side="right")) - 1
        raise ValueError(
            f"X contains NaN, at step {t - ptr[s]} of sequence {s}: an autoregressive emission "
            "needs every value, since the next ones depend on it. Impute missing values first, or "
            "use GaussianEmission, which allows them."
        )
    lengths = np.diff(ptr)
    short = lengths <= n_lags
    if short.any():
        s = int(np.argmax(short))
        raise ValueError(
            f"Sequence {s} has {lengths[s]} step(s), which must be more than "
            f"n_lags={shorten(n_lags)}: the "
            "first n_lags steps count as given, and nothing would be left."
        )
    check_numbers(values)


def stack_lags(values: Floats, ptr: Places, n_lags: int) -> tuple[Floats, Any]:
    """Return the lagged values of each step, lag 1 first, and whether the step has all lags.

    Parameters
    ----------
    values, ptr, n_lags : as in `check_lags`

    Returns
    -------
    lags : (N, L D) array
        Zeros for lags before the first step.
    has_lags : (N,) array of bool
    """
    n_steps, n_dims = values.shape
    places = np.arange(n_steps) - np.repeat(ptr[:-1], np.diff(ptr))
    lags = np.zeros((n_steps, n_lags, n_dims))
    for lag in range(1, n_lags + 1):
        known = np.flatnonzero(places >= lag)
        lags[known, lag - 1] = values[known - lag]
    return lags.reshape(n_steps, -1), places >= n_lags
