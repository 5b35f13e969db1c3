"""Argument checks that the generators share."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from skdp._checks import as_array, check_count, check_integers, shorten


def check_number(
    value: Any, name: str, *, at_least: float = -np.inf, above: float = -np.inf
) -> float:
    """Return one finite number as a float."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (at_least <= number < np.inf and number > above):
        bound = f">= {at_least:g}" if at_least > -np.inf else f"> {above:g}"
        raise ValueError(f"{name} must be a finite number {bound}, got {shorten(value)}.")
    return number


def is_option(value: Any, options: Iterable[str]) -> bool:
    """Return whether a value is one of the options, which an array never is."""
    return isinstance(value, str) and value in tuple(options)


def check_sizes(
    sizes: Any, name: str, n_samples: int, samples: str, *, at_least: int = 0
) -> tuple[Any, Any]:
    """Return the least and the largest size, of all samples or, from an array, of each."""
    if isinstance(sizes, tuple):
        if len(sizes) != 2:
            raise ValueError(f"{name} as a tuple must be (low, high), got {shorten(sizes)}.")
        low = check_count(sizes[0], name, at_least=at_least)
        return low, check_count(sizes[1], name, at_least=low)
    if as_array(sizes, name).ndim == 0 and not isinstance(sizes, list):
        number = check_count(sizes, name, at_least=at_least)
        return number, number
    numbers = check_integers(sizes, name)
    if numbers.shape != (n_samples,):
        raise ValueError(
            f"{name} must hold {samples}={n_samples} integers, got shape {numbers.shape}."
        )
    if np.any(numbers < at_least):
        raise ValueError(f"{name} must hold integers >= {at_least}, got {shorten(sizes)}.")
    return numbers, numbers
