"""Statistics of Gaussian observations as exact sums over parts of a panel: see the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.emissions._gaussian import _kernels_sums as kernels
from skdp.emissions._gaussian._model import check_numbers
from skdp.emissions._whole import Observations

Sums = tuple[Places, Places]
"""Sums of deviations from the midpoints of ranges, and sums of their products."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """Numbers and ranges of the observations of each component; the ranges of parts add up."""

    numbers: Places  # (K,)
    lows: Floats  # (K, W)
    highs: Floats  # (K, W)

    @classmethod
    def of(cls, values: Floats, states: Places, n_components: int, width: int) -> Ranges:
        """Return the ranges of observations; those with state -1 do not count."""
        numbers = np.empty(n_components, dtype=np.int64)
        lows, highs = np.empty((2, n_components, width))
        kernels.find_ranges(values, states, numbers, lows, highs)
        return cls(numbers, lows, highs)

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(
            self.numbers + other.numbers,
            np.minimum(self.lows, other.lows),
            np.maximum(self.highs, other.highs),
        )

    @cached_property
    def _units(self) -> tuple[Floats, Floats, Floats]:
        """Midpoints and scales of the components' ranges, and the units of their sums."""
        middles, scales = np.empty((2, *self.lows.shape))
        units = np.empty(len(self.numbers))
        kernels.choose_units(self.numbers, self.lows, self.highs, middles, scales, units)
        return middles, scales, units

    def add_up(self, values: Floats, states: Places) -> Sums:
        """Return the sums over observations, which may be a part of those with these ranges."""
        n_components, width = self.lows.shape
        firsts = np.empty((n_components, width), dtype=np.int64)
        seconds = np.empty((n_components, width, width), dtype=np.int64)
        kernels.add_up(values, states, *self._units, firsts, seconds, np.empty(width))
        return firsts, seconds

    def settle(self, sums: Sums, counts: Floats, centers: Floats, scatter: Floats) -> None:
        """Write counts, centers and scatter given the sums over all observations."""
        kernels.settle(self.numbers, *self._units, *sums, counts, centers, scatter)


def find_moments(data: Observations) -> tuple[Ranges, Floats, Floats]:
    """Return ranges and means of columns, and sums of products of deviations, 0 where missing."""
    (ranges,) = data.sum(find_column_ranges)
    sums = data.sum(add_up_columns, ranges)
    n_dims = data.n_features
    centers = np.empty((n_dims, 1))
    ranges.settle(sums, np.empty(n_dims), centers, np.empty((n_dims, 1, 1)))
    mean = np.where(ranges.numbers > 0, centers[:, 0], 0.0)
    scales = np.empty(n_dims)
    unit = kernels.choose_units_about(mean, ranges.numbers, ranges.lows, ranges.highs, scales)
    (products,) = data.sum(multiply_columns, mean, scales, float(unit))
    lower = np.tril(products) / unit / np.multiply.outer(scales, scales)
    return ranges, mean, lower + np.tril(lower, -1).T


def _rows(values: Floats) -> Floats:
    """Return values of one type, for which kernels are compiled once."""
    rows: Floats = as_readonly(np.ascontiguousarray(values))
    return rows


def find_column_ranges(values: Floats) -> tuple[Ranges]:
    """Return the range of each column."""
    check_numbers(values)
    nothing = np.zeros(len(values), dtype=np.int64)
    return (Ranges.of(_rows(values), nothing, values.shape[1], 1),)


def add_up_columns(values: Floats, ranges: Ranges) -> Sums:
    """Return the sums of each column."""
    return ranges.add_up(_rows(values), np.zeros(len(values), dtype=np.int64))


def multiply_columns(values: Floats, mean: Floats, scales: Floats, unit: float) -> tuple[Places]:
    """Return sums of products of deviations from a mean, as integer multiples of the unit."""
    out = np.empty((len(mean), len(mean)), dtype=np.int64)
    kernels.multiply(_rows(values), mean, scales, unit, out, np.empty(len(mean)))
    return (out,)


def sum_powered(
    values: Floats, states: Places, powers: Floats, n_states: int
) -> tuple[Floats, Floats, Floats]:
    """Return numbers, means and scatters of observed values weighted by powers, (J, D) each."""
    shape = n_states, values.shape[1]
    counts, centers, scatter = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for d, column in enumerate(values.T):
        seen = ~np.isnan(column) & (states >= 0)
        x, z, w = column[seen], states[seen], powers[seen]
        counts[:, d] = np.bincount(z, w, n_states)
        sums = np.bincount(z, w * x, n_states)
        centers[:, d] = sums / np.where(counts[:, d] > 0.0, counts[:, d], 1.0)
        scatter[:, d] = np.bincount(z, w * (x - centers[z, d]) ** 2, n_states)
    return counts, centers, scatter
