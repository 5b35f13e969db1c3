"""Columns that are constant in the data of a fit, which no state is inferred from.

With scatter 0 but a prior scale, the evidence of a constant column would favor few states: it
contains log Gamma((nu + n_j) / 2) of each state j, which is superadditive. So samplers do not see
these columns. In a model, they have the same distribution in all states: see `ConstantColumns`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import stdtrit

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.emissions._far_values import ROUNDING
from skdp.emissions._gaussian._sums import find_column_ranges
from skdp.emissions._marginals import StudentMarginals
from skdp.emissions._whole import Observations

FREEDOM = 3.0
"""Degrees of freedom of the distribution of a constant column.

Far values in new data then have log densities of a moderate size. Densities of a Gaussian
distribution would be so small that in the sum over columns the digits by which states differ would
be lost.
"""

SCALE_RATIO = (FREEDOM - 2.0) / FREEDOM
"""Squared scale of this distribution, whose variance is 1."""


class ConstantColumns(NamedTuple):
    """Columns that are constant in the data of a fit, and the others.
    New values are Student t about the constant (see `FREEDOM`), Gaussian if parameters are known.
    """

    varying: Places  # (V,), their indices
    constant: Places  # (C,)
    values: Floats  # (C,)

    @classmethod
    def of(cls, data: Observations) -> Self | None:
        """Return the constant columns with values, or None if there are none, or no others."""
        (ranges,) = data.sum(find_column_ranges)
        seen = ranges.numbers > 0
        lows, highs = (np.where(seen, ends[:, 0], 0.0) for ends in (ranges.lows, ranges.highs))
        sizes = np.maximum(np.abs(lows), np.abs(highs))
        is_constant = seen & (highs - lows <= ROUNDING * sizes)
        if not is_constant.any() or not (seen & ~is_constant).any():
            return None
        constant = np.flatnonzero(is_constant)
        return cls(np.flatnonzero(~is_constant), constant, lows[constant])

    @property
    def n_features(self) -> int:
        """Number D of all columns."""
        return len(self.varying) + len(self.constant)

    def leave_out(self, values: Floats) -> Floats:
        """Return the columns that vary, (N, V)."""
        own: Floats = as_readonly(np.ascontiguousarray(values[:, self.varying]))
        return own

    def insert(self, array: Floats, fill: Any) -> Floats:
        """Return an array (..., V) with `fill` in the constant columns, (..., D)."""
        out = np.empty((*array.shape[:-1], self.n_features))
        out[..., self.varying], out[..., self.constant] = array, fill
        return out

    def insert_square(self, matrices: Floats, diagonal: float) -> Floats:
        """Return matrices (..., V, V) with uncorrelated constant columns, (..., D, D)."""
        out = np.zeros((*matrices.shape[:-2], self.n_features, self.n_features))
        out[..., self.varying[:, np.newaxis], self.varying] = matrices
        out[..., self.constant, self.constant] = diagonal
        return out

    def distribution(self, *, known: bool = False) -> StudentMarginals:
        """Return the distribution of the constant columns, for one state, (1, C)."""
        locations = self.values[np.newaxis]
        if known:
            return StudentMarginals(locations, np.ones(locations.shape))
        scales = np.full(locations.shape, np.sqrt(SCALE_RATIO))
        return StudentMarginals(locations, scales, np.full(locations.shape, FREEDOM))

    def log_density(self, values: Floats, *, known: bool = False) -> Floats:
        """Return the log density of the observed values of the constant columns, (N, 1)."""
        distribution, out = self.distribution(known=known), np.zeros((len(values), 1))
        for i, d in enumerate(self.constant):
            logs = distribution.log_density(values[:, d], i)
            out += np.where(np.isnan(values[:, [d]]), 0.0, logs)
        return out

    def quantiles(self, levels: Floats) -> Floats:
        """Return the quantiles of the next values, (Q, C)."""
        quantiles: Floats = np.sqrt(SCALE_RATIO) * stdtrit(FREEDOM, levels)
        return self.values + quantiles[:, np.newaxis]

    def sample(self, n: int, rng: np.random.Generator, *, known: bool = False) -> Floats:
        """Return draws of the constant columns, (n, C)."""
        shape = n, len(self.constant)
        noise = rng.standard_normal(shape) if known else rng.standard_t(FREEDOM, shape)
        scales: Floats = self.distribution(known=known).scales
        return self.values + scales * noise


class VaryingColumns:
    """Observations, possibly in parts, without their constant columns."""

    def __init__(self, data: Observations, constants: ConstantColumns):
        self.n_features = len(constants.varying)
        self._data: Any = data
        self._constants = constants

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, *args)``."""
        result: tuple[Any, ...] = self._data.sum(_apply, self._constants, f, args)
        return result

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, ptr, *args)``."""
        result: tuple[Any, ...] = self._data.sum_sequences(
            _apply_to_sequences, self._constants, f, args
        )
        return result


def _apply(
    values: Floats, constants: ConstantColumns, f: Callable[..., Any], args: tuple[Any, ...]
) -> Any:
    return f(constants.leave_out(values), *args)


def _apply_to_sequences(
    values: Floats,
    ptr: Places,
    constants: ConstantColumns,
    f: Callable[..., Any],
    args: tuple[Any, ...],
) -> Any:
    return f(constants.leave_out(values), ptr, *args)
