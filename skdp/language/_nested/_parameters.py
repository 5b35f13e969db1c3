"""Parameters of the nested model, checked and as numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from skdp._checks import as_floats, is_number
from skdp._sklearn_compat import Interval
from skdp._typing import Floats

DISCOUNTS = Interval(Real, 0, 1, closed="left")
CONCENTRATIONS = Interval(Real, 1e-8, 1e8, closed="both")


def check_length_factors(given: Any, longest: int) -> Any:
    """Return the factors of lengths as an array, or how they are found."""
    if isinstance(given, str):
        return given
    factors = as_floats(given, "length_correction")
    if factors.shape != (longest,) or not np.all((factors > 0.0) & (factors < np.inf)):
        raise ValueError(
            f"length_correction must hold max_word_length={longest} positive numbers, got "
            f"{given!r}."
        )
    return factors


def check_anneal(given: Any) -> tuple[float, int] | None:
    """Return the first temperature, and how many sweeps are annealed."""
    if given is None:
        return None
    is_pair = len(given) == 2 and all(map(is_number, given))
    if not is_pair or not 1.0 <= given[0] <= 100.0 or given[1] < 0 or given[1] != int(given[1]):
        raise ValueError(
            f"anneal must be a temperature from 1 to 100 and a number of sweeps, or None, got "
            f"{given!r}."
        )
    return float(given[0]), int(given[1])


def check_levels(
    given: Any, name: str, orders: tuple[int, ...], valid: Interval, wanted: str
) -> Floats:
    """Return a parameter for each level, letters first; nan: learned.

    Parameters
    ----------
    given : number, "auto", or a pair (words, characters) of these or of arrays
        Where there are collocations, three of them, the collocations' first.
    name : str
    orders : (int, int) or (int, int, int)
        Of words and of characters; or of collocations, words and characters.
    valid : Interval
    wanted : str
        The interval in words.
    """
    n = len(orders)
    parts = given if isinstance(given, tuple | list) else (given,) * n
    if len(parts) != n:
        several = "a pair of them" if n == 2 else "three of them"
        raise ValueError(f"{name} must be a number, 'auto' or {several}, got {given!r}.")
    levels = []
    for order, part in zip(reversed(orders), reversed(parts), strict=True):
        if isinstance(part, str) and part == "auto":
            levels.append(np.full(order, np.nan))
            continue
        values = np.full(order, part) if is_number(part) else as_floats(part, name)
        if values.shape != (order,) or not all(value in valid for value in values):
            whose = "words and for characters" if n == 2 else "collocations, words and characters"
            raise ValueError(
                f"{name} must hold, for {whose}, 'auto', a number {wanted} or "
                f"one for each length of context, got {given!r}."
            )
        levels.append(values.astype(np.float64))
    return np.concatenate(levels)
