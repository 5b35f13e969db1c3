"""Argument checks that the functions of `skdp.processes` share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_discount(discount: float) -> float:
    """Return the discount a as a float in [0, 1)."""
    if not isinstance(discount, Real) or not 0.0 <= discount < 1.0:
        raise ValueError(f"discount must be a number in [0, 1), got {discount!r}.")
    return float(discount)


def check_concentration(concentration: float, above: float = 0.0) -> float:
    """Return the concentration b as a finite float larger than `above`."""
    if not isinstance(concentration, Real) or not above < concentration < np.inf:
        raise ValueError(
            f"concentration must be a finite number > {above:g}, got {concentration!r}."
        )
    return float(concentration)


def check_concentrations(concentrations: float | ArrayLike, size: int) -> NDArray[np.float64]:
    """Return `size` concentrations b, finite and > 0; a number stands for all of them."""
    array = np.asarray(concentrations)
    if (
        array.dtype.kind not in "iuf"
        or array.shape not in ((), (size,))
        or not np.all((array > 0.0) & (array < np.inf))
    ):
        raise ValueError(
            f"concentration must be a finite number > 0, or {size} of them, got {concentrations!r}."
        )
    return np.full(size, array, dtype=np.float64)


def check_gamma_prior(prior: tuple[float, float], name: str) -> tuple[float, float]:
    """Return shape and rate of a Gamma prior, both positive and finite."""
    return _check_positive_pair(prior, name, "(shape, rate)")


def check_beta_prior(prior: tuple[float, float], name: str) -> tuple[float, float]:
    """Return p and q of a Beta(p, q) prior, both positive and finite."""
    return _check_positive_pair(prior, name, "(p, q)")


def _check_positive_pair(pair: tuple[float, float], name: str, meaning: str) -> tuple[float, float]:
    """Return two positive, finite numbers."""
    if (
        not isinstance(pair, Sequence)
        or len(pair) != 2
        or not all(isinstance(value, Real) and 0.0 < value < np.inf for value in pair)
    ):
        raise ValueError(f"{name} must be two positive numbers {meaning}, got {pair!r}.")
    return float(pair[0]), float(pair[1])


def check_integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return `values` as int64, all >= 0."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must hold integers, got {values!r}.")
    if np.any(array < 0) or np.any(array != np.floor(array)):
        raise ValueError(f"{name} must hold integers >= 0, got {values!r}.")
    return array.astype(np.int64)


def check_count(value: int, name: str, at_least: int = 0) -> int:
    """Return one integer >= `at_least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {value!r}.")
    return int(value)
