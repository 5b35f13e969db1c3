"""Parameters with a value for each depth: for contexts of 0, 1, 2, ... words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skdp._checks import as_array, check_concentration, check_discount, is_number
from skdp._typing import Floats


def check_discounts(value: Any, order: int) -> Floats | None:
    """Return a discount for each depth, in [0, 1); None if they are to be drawn."""
    return _check(value, "discount", order, check_discount)


def check_depth_concentrations(value: Any, order: int) -> Floats | None:
    """Return a concentration for each depth, > 0; None if they are to be drawn."""
    return _check(value, "concentration", order, check_concentration)


def _check(value: Any, name: str, order: int, check: Callable[[Any], float]) -> Floats | None:
    if isinstance(value, str) and value == "auto":
        return None
    if is_number(value):
        return np.full(order, check(value))
    array = as_array(value, name)
    if array.shape != (order,) or array.dtype.kind not in "iuf":
        raise ValueError(
            f'{name} must be "auto", a number, or {order} numbers, one for each number of words in '
            f"a context from 0 to {order - 1}; got {value!r:.80}."
        )
    return np.array([check(float(each)) for each in array])
