"""Checks of the parameters of the nested model, and their conversion to numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import entr

from skdp._checks import as_floats, check_gamma_prior, is_number, shorten
from skdp._numeric._typing import Floats, Ints
from skdp._sklearn_compat import Interval

DISCOUNTS = Interval(Real, 0, 1, closed="left")
CONCENTRATIONS = Interval(Real, 1e-8, 1e8, closed="both")

_SQUARED_BITS, _LONGEST_MEAN = 160.0, 7.0
"""Lambda times the squared entropy of a character, and the largest lambda, as defaults.

The values were fitted to English in letters and in phonemes, Thai, Japanese and Chinese.
"""

_ANNEAL = 1.5, 15
"""First temperature, and the number of annealed sweeps if the burn-in is long enough."""


def check_length_factors(given: Any, longest: int) -> Any:
    """Return the factors of lengths as an array, or the name of the method that finds them."""
    if isinstance(given, str):
        return given
    factors = as_floats(given, "length_correction")
    if factors.shape != (longest,) or not np.all((factors > 0.0) & (factors < np.inf)):
        raise ValueError(
            f"length_correction must hold max_word_length={longest} positive numbers, got "
            f"{shorten(given)}."
        )
    return factors


def uses_word_length(length_correction: Any) -> bool:
    """Return whether the factors of word lengths depend on lambda."""
    return isinstance(length_correction, str) and length_correction == "poisson"


def check_word_length(
    word_length: Any, length_prior: Any, length_correction: Any
) -> tuple[Any, tuple[float, float] | None]:
    """Return lambda and its prior (None: by the characters); ValueError if without effect."""
    prior = None if length_prior is None else check_gamma_prior(length_prior, "length_prior")
    if not uses_word_length(length_correction):
        ways = {"word_length": (word_length, "entropy"), "length_prior": (prior, None)}
        for name, (given, default) in ways.items():
            if given != default:
                raise ValueError(
                    f"{name} has no effect without length_correction='poisson': leave it at its "
                    f"default, {default!r}; got {shorten(given)}."
                )
    return word_length, prior


def expected_word_length(tokens: Ints) -> float:
    """Return lambda for new words of a text, from the entropy of its characters.

    The bits of a character given the preceding characters grow roughly with the square of its
    entropy, and a word carries roughly the same number of bits in all scripts.
    """
    entropy = entr(np.unique(tokens, return_counts=True)[1] / len(tokens)).sum() / np.log(2.0)
    return float(np.clip(_SQUARED_BITS / max(entropy, 1.0) ** 2, 1.0, _LONGEST_MEAN))


def check_anneal(given: Any, burn_in: int) -> tuple[float, int] | None:
    """Return the first temperature, and the number of annealed sweeps of the burn-in."""
    if given is None:
        return None
    if isinstance(given, str):
        temperature, n_sweeps = _ANNEAL
        return temperature, min(n_sweeps, burn_in)
    is_pair = len(given) == 2 and all(map(is_number, given))
    if not is_pair or not 1.0 <= given[0] <= 100.0 or given[1] < 0 or given[1] != int(given[1]):
        raise ValueError(
            f"anneal must be a temperature from 1 to 100 and a number of sweeps, 'auto' or None, "
            f"got {shorten(given)}."
        )
    if given[1] > burn_in:
        raise ValueError(
            f"anneal must not outlast the burn-in: got anneal={shorten(given)} and a burn-in of "
            f"{burn_in} sweeps. Raise max_iter or burn_in, or give anneal='auto' or None."
        )
    return float(given[0]), int(given[1])


def check_levels(
    given: Any, name: str, orders: tuple[int, ...], valid: Interval, wanted: str
) -> Floats:
    """Return a parameter for each level, letters (last in `orders`) first; nan: learned."""
    n = len(orders)
    parts = given if isinstance(given, tuple | list) else (given,) * n
    if len(parts) != n:
        several = "a pair of them" if n == 2 else "three of them"
        raise ValueError(f"{name} must be a number, 'auto' or {several}, got {shorten(given)}.")
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
                f"one for each length of context, got {shorten(given)}."
            )
        levels.append(values.astype(np.float64))
    return np.concatenate(levels)
