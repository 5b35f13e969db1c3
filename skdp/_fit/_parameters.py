"""Comparisons of parameters between fits."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from skdp._checks import shorten
from skdp._fit._state import FitState


def is_equal(value: Any, other: Any) -> bool:
    """Return whether two values of a parameter are the same."""
    if isinstance(value, BaseEstimator):
        if type(other) is not type(value):
            return False
        mine, others = (part.get_params(deep=False) for part in (value, other))
        return all(is_equal(mine[name], others[name]) for name in mine)
    if isinstance(value, dict) and isinstance(other, dict) and list(value) != list(other):
        return False  # the order of names may matter
    with suppress(ValueError):  # lists of arrays of different lengths cannot become arrays
        if np.array_equal(np.asarray(value), np.asarray(other)):
            return True
    return joblib.hash(value) == joblib.hash(other)  # objects without their own equality


def fixed_parameters(estimator: Any) -> dict[str, Any]:
    """Return copies of the parameters that must not change before a warm start."""
    return {
        name: copy.deepcopy(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in estimator._free_in_warm_start
    }


def check_same_fit(estimator: Any, state: FitState, data: Any) -> None:
    """Raise ValueError unless a warm start has the parameters and the data of the last fit."""
    for name, value in fixed_parameters(estimator).items():
        before = state.parameters[name]
        if not is_equal(value, before):
            raise ValueError(
                f"With warm_start=True, fit continues where the last fit stopped, which had "
                f"{name}={shorten(before)}; got {name}={shorten(value)}. Use warm_start=False to "
                "start over."
            )
    if state.digest != joblib.hash(data):
        raise ValueError(
            "With warm_start=True, fit continues where the last fit stopped and needs the same X "
            "and y; got others. Use warm_start=False to start over."
        )
