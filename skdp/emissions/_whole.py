"""Observations that are all in one place, for what is written for parts of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from skdp._typing import Floats


class Observations(Protocol):
    """Observations, in one part or in several."""

    @property
    def n_features(self) -> int:
        """Number D of columns."""

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, *args)``, place by place."""


class Whole:
    """Observations in one part.

    Parameters
    ----------
    values : (N, D) array
    """

    def __init__(self, values: Floats):
        self._values = values

    @property
    def n_features(self) -> int:
        """Number D of columns."""
        return int(self._values.shape[1])

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return ``f(values, *args)``."""
        result: tuple[Any, ...] = f(self._values, *args)
        return result
