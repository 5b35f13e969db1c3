"""Validation of parameters with a value for each depth of a franchise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skdp._checks import as_array, is_number, shorten
from skdp._numeric._typing import Floats


def check_by_depth(
    value: Any, name: str, n: int, check: Callable[[Any], float], what: str
) -> Floats | None:
    """Return a checked value for each of n depths, called `what`; None if they are to be drawn."""
    if isinstance(value, str) and value == "auto":
        return None
    if is_number(value):
        return np.full(n, check(value))
    array = as_array(value, name)
    if array.shape != (n,) or array.dtype.kind not in "iuf":
        raise ValueError(
            f'{name} must be "auto", a number, or {n} numbers, one for each {what}; got '
            f"{shorten(value)}."
        )
    return np.array([check(float(each)) for each in array])
