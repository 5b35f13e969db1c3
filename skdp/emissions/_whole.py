"""Observations in one or several parts, and emissions that accept both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sklearn.base import BaseEstimator

from skdp._numeric._typing import Floats, Places
from skdp._sklearn_compat import EstimatorMixin, validate_parameters


class Observations(Protocol):
    """Observations in one or several parts."""

    @property
    def n_features(self) -> int:
        """Number D of columns."""

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the elementwise sum over parts of tuples ``f(values, *args)``."""


class ObservedSequences(Observations, Protocol):
    """Observations with the offsets of sequences."""

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the elementwise sum over parts of tuples ``f(values, ptr, *args)``."""


class Whole:
    """Observations in one part, perhaps with the offsets of sequences."""

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
    """Rows that ``make(values, ptr, *args)`` derives from observations, part by part."""

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
    """Apply `f` to the rows that `make` returns for observations."""
    return f(make(values, ptr, *of), ptr, *args)


def without_ptr(rows: Floats, ptr: Places, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Apply `f`, which takes no offsets, to rows."""
    return f(rows, *args)


class PartedEmission(EstimatorMixin, BaseEstimator):
    """Base class of emissions that accept observations in parts and do not depend on sequences."""

    def make_sampler(self, values: Floats, n_states: int) -> Any:
        """Return the sampler of this emission's parameters for these observations.

        Parameters
        ----------
        values : (N, D) array
            The observations, from which some priors are computed.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations.
        """
        validate_parameters(self)
        self._check_values(values)
        return self._make_sampler_of(Whole(values), n_states)

    def make_sampler_of(self, data: Observations, n_states: int) -> Any:
        """Return the same sampler as `make_sampler`, for observations that may be in parts.

        Parameters
        ----------
        data : object
            Object with ``n_features`` and ``sum(f, *args)``, which returns the sum over parts of
            tuples ``f(values, *args)``.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations.
        """
        validate_parameters(self)
        return self._make_sampler_of(data, n_states)

    def _check_values(self, values: Floats) -> None:
        """Raise a ValueError for impossible observations."""

    def _make_sampler_of(self, data: Observations, n_states: int) -> Any:
        """Return the sampler; parameters are valid."""
        raise NotImplementedError
