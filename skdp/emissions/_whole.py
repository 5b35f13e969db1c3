"""Observations that are all in one place, for what is written for parts of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from skdp._typing import Floats, Places


class Observations(Protocol):
    """Observations, in one part or in several."""

    @property
    def n_features(self) -> int:
        """Number D of columns."""

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, *args)``, place by place."""


class ObservedSequences(Observations, Protocol):
    """Observations that know where sequences begin."""

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, ptr, *args)``, place by place."""


class Whole:
    """Observations in one part.

    Parameters
    ----------
    values : (N, D) array
    ptr : (n + 1,) array or None, default=None
        Sequence s is ``values[ptr[s]:ptr[s + 1]]``; None: nobody asks for sequences.
    """

    def __init__(self, values: Floats, ptr: Places | None = None):
        self._values, self._ptr = values, ptr

    @property
    def n_features(self) -> int:
        """Number D of columns."""
        return int(self._values.shape[1])

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return ``f(values, *args)``."""
        result: tuple[Any, ...] = f(self._values, *args)
        return result

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return ``f(values, ptr, *args)``."""
        return self.sum(f, self._ptr, *args)


class Made:
    """Rows that are made of observations, where these are.

    Parameters
    ----------
    data : ObservedSequences
    n_features : int
    make : callable
        ``make(values, ptr, *args)`` returns an array of so many columns.
    *args
    """

    def __init__(
        self, data: ObservedSequences, n_features: int, make: Callable[..., Floats], *args: Any
    ):
        self.n_features = n_features
        self._data, self._make, self._args = data, make, args

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(rows, *args)``."""
        return self.sum_sequences(without_ptr, f, args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(rows, ptr, *args)``."""
        return self._data.sum_sequences(apply_to_made, self._make, self._args, f, args)


def apply_to_made(
    values: Floats,
    ptr: Places,
    make: Callable[..., Floats],
    of: tuple[Any, ...],
    f: Callable[..., Any],
    args: tuple[Any, ...],
) -> Any:
    """Return what `f` makes of what `make` makes of observations."""
    return f(make(values, ptr, *of), ptr, *args)


def without_ptr(rows: Floats, ptr: Places, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return what `f`, which needs no offsets, makes of rows."""
    return f(rows, *args)
