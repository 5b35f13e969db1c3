"""Missing values of autoregressive sequences: where they are, first values, draws."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.emissions._autoregressive import _kernels_gaps as kernels
from skdp.emissions._autoregressive._lags import LagDesign, stack_regressors
from skdp.emissions._autoregressive._model import StartingLags

_PER_COEFFICIENT = 5
"""Complete steps for each coefficient with which default priors leave incomplete steps out."""


class Gaps(NamedTuple):
    """Missing values of a panel and its sequences: see `_kernels_gaps`."""

    values: Floats  # (N, D), with NaN
    ptr: Places
    steps: Places
    columns: Places
    gap_ptr: Places
    places: Places
    width: int  # most missing values in successive steps that depend on each other

    @classmethod
    def of(cls, values: Floats, ptr: Places, n_lags: int) -> Self | None:
        """Return the missing values of a panel, or None if it is complete."""
        is_missing = np.isnan(values)
        if not is_missing.any():
            return None
        steps, columns = map(np.ascontiguousarray, np.nonzero(is_missing))
        places = np.full(values.shape, -1, dtype=np.int64)
        places[steps, columns] = np.arange(len(steps))
        gap_ptr = np.searchsorted(steps, ptr)
        # Within a sequence, a value is in equations with those of the next n_lags steps.
        ends = np.repeat(ptr[1:], np.diff(gap_ptr))
        last = np.searchsorted(steps, np.minimum(steps + n_lags + 1, ends))
        width = int((last - np.arange(len(steps))).max())
        longest = int(np.diff(gap_ptr).max())
        check_memory(8.0 * longest * width, f"{longest} missing values of a sequence")
        return cls(values, ptr, steps, columns, gap_ptr, places, width)

    def write(self, drawn: Floats) -> Floats:
        """Return the observations with values in place of NaN."""
        values = self.values.copy()
        values[self.steps, self.columns] = drawn
        return values

    def draw(
        self,
        states: Places,
        design: LagDesign,
        whitening: Floats,
        start: StartingLags,
        key: NDArray[np.uint64],
        first: int = 0,
    ) -> Floats:
        """Return a joint draw of the missing values given states and parameters, (M,)."""
        values = np.array(self.values)
        longest = int(np.diff(self.gap_ptr).max())
        inverse = np.linalg.inv(start.root)
        scratch = np.empty((longest, self.width)), np.empty(longest), np.empty(self.width)
        known = self.ptr, np.ascontiguousarray(states, dtype=np.int64)
        places = self.steps, self.columns, self.gap_ptr, self.places, np.array(design.lags)
        kernels.draw_missing(
            values, *map(as_readonly, known), *map(as_readonly, places), design.has_trend,
            np.ascontiguousarray(whitening), np.ascontiguousarray(start.mean),
            np.ascontiguousarray(inverse), first, key, *scratch, np.empty_like(key),
        )  # fmt: skip
        drawn: Floats = values[self.steps, self.columns]
        return drawn


def fill_for_priors(values: Floats, ptr: Places, design: LagDesign) -> Floats:
    """Return values for default priors: interpolated if few steps are observed with all lags."""
    regressors, has_lags = stack_regressors(values, ptr, design)
    is_complete = has_lags & ~np.isnan(np.hstack([regressors, values])).any(axis=1)
    n_needed = _PER_COEFFICIENT * (design.width(values.shape[1]) + values.shape[1] + 1)
    if np.count_nonzero(is_complete) >= n_needed:
        return values  # other steps do not count
    return interpolate(values, ptr)


def interpolate(values: Floats, ptr: Places) -> Floats:
    """Return values with NaN interpolated linearly in time, within sequences."""
    filled = values.copy()
    means = np.nanmean(values, axis=0)
    for begin, end in pairwise(ptr):
        for d, mean in enumerate(means):
            column = filled[begin:end, d]
            seen = np.flatnonzero(~np.isnan(column))
            if len(seen) == 0:
                column[:] = mean
            elif len(seen) < len(column):
                column[:] = np.interp(np.arange(len(column)), seen, column[seen])
    return filled
