"""Observations with far values pulled in, so that default priors are not driven by outliers.

In each column, m is the median and R the width of the middle four fifths of the values that differ
from it: repeated medians, such as the zeros of a column that is mostly zero, have no spread. A
value x at a distance of more than c = 10 R counts as m + c^2 / (x - m), so that its weight falls
with its distance. A single value, or a few percent of the values, then cannot stretch a variance or
move a mean, however large they are, whereas values up to the distance c are unchanged: small
clusters may be far away. R and m are equivariant to shifts and scalings of a column, and they are
order statistics, which do not depend on how the observations are divided into parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Places
from skdp.emissions._gaussian._sums import Ranges, find_column_ranges
from skdp.emissions._whole import Observations

ROUNDING = 1e-12
"""Relative variation below which a column counts as constant."""

SMALLEST = 1e-150
"""Smallest range of a column: squares of smaller ranges lose digits or underflow to 0."""

_TAIL, _REACH = 0.1, 10.0

_SIGN = np.uint64(1 << 63)
_DIGIT_BITS = 8


class PulledIn:
    """Observations, possibly in parts, with far values pulled in."""

    def __init__(self, data: Observations):
        self.n_features = data.n_features
        self._data: Any = data
        (ranges,) = data.sum(find_column_ranges)
        _check_ranges(ranges)
        self.bounds = _find_bounds(data, ranges.numbers)  # m and c, (D,) each

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, *args)``."""
        result: tuple[Any, ...] = self._data.sum(_apply, self.bounds, f, args)
        return result

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over parts of tuples ``f(values, ptr, *args)``."""
        result: tuple[Any, ...] = self._data.sum_sequences(
            _apply_to_sequences, self.bounds, f, args
        )
        return result


def _apply(values: Floats, bounds: Any, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return f(pull_in(values, *bounds), *args)


def _apply_to_sequences(
    values: Floats, ptr: Places, bounds: Any, f: Callable[..., Any], args: tuple[Any, ...]
) -> Any:
    return f(pull_in(values, *bounds), ptr, *args)


def pull_in(values: Floats, medians: Floats, cuts: Floats) -> Floats:
    """Return values, with x beyond the cut c around the median m pulled in to m + c^2 / (x - m)."""
    away = values - medians
    far = np.abs(away) > cuts
    if not far.any():
        return values
    columns = np.nonzero(far)[1]
    pulled = values.copy()
    pulled[far] = medians[columns] + cuts[columns] * (cuts[columns] / away[far])
    return pulled


def _check_ranges(ranges: Ranges) -> None:
    """Raise a ValueError if squares of a column's variation would underflow."""
    seen = ranges.numbers > 0
    lows, highs = (np.where(seen, ends[:, 0], 0.0) for ends in (ranges.lows, ranges.highs))
    widths = highs - lows
    sizes = np.maximum(np.abs(lows), np.abs(highs))
    small = (widths < SMALLEST) & (widths > ROUNDING * sizes)
    if small.any():
        d = int(np.argmax(small))
        raise ValueError(
            f"X must hold columns that are constant or range over {SMALLEST:g} or more, because "
            f"squares of smaller numbers underflow; column {d} goes from {lows[d]:g} to "
            f"{highs[d]:g}: scale the columns of X."
        )


def _find_bounds(data: Observations, numbers: Places) -> tuple[Floats, Floats]:
    """Return the medians of all columns, and the distances beyond which values are pulled in."""
    (medians,) = find_order_statistics(data, ((numbers - 1) // 2)[np.newaxis])
    below, equal = data.sum(_count_about, medians)
    n_others = numbers - equal
    first = np.floor(_TAIL * n_others + 0.5).astype(np.int64)
    ranks = np.array([first, n_others - 1 - first])
    ranks = np.where(ranks < below, ranks, ranks + equal)
    lows, highs = find_order_statistics(data, np.clip(ranks, 0, np.maximum(numbers - 1, 0)))
    widths = np.maximum(highs, medians) - np.minimum(lows, medians)
    known = (n_others > 0) & (widths >= SMALLEST)
    return medians, np.where(known, _REACH * widths, np.inf)


def _count_about(values: Floats, medians: Floats) -> tuple[Places, Places]:
    """Return the number of values below the median and equal to it, for each column."""
    return (values < medians).sum(axis=0), (values == medians).sum(axis=0)


def find_order_statistics(data: Observations, ranks: Places) -> Floats:
    """Return the values of given ranks (from 0) in each column, (R, D), ignoring NaN."""
    # The bits of a float define a 64-bit integer with the same order. Its digits are found one by
    # one, from the number of values with each digit.
    heads = np.zeros(ranks.shape, dtype=np.uint64)
    for shift in range(64 - _DIGIT_BITS, -1, -_DIGIT_BITS):
        (counts,) = data.sum(_count_digits, heads, shift)
        running = counts.cumsum(axis=2)
        digits = (running[:, :, :-1] <= ranks[:, :, np.newaxis]).sum(axis=2)[:, :, np.newaxis]
        ranks = ranks - np.take_along_axis(running - counts, digits, axis=2)[:, :, 0]
        heads = (heads << np.uint64(_DIGIT_BITS)) | digits[:, :, 0].astype(np.uint64)
    bits = np.where(heads & _SIGN, heads ^ _SIGN, ~heads)
    return bits.view(np.float64)


def _count_digits(values: Floats, heads: NDArray[np.uint64], shift: int) -> tuple[Places]:
    """Return the counts of the next digit, (R, D, 256), among values with given leading digits."""
    counts = np.empty((*heads.shape, 1 << _DIGIT_BITS), dtype=np.int64)
    for d, column in enumerate(values.T):
        bits = (column[~np.isnan(column)] + 0.0).view(np.uint64)  # 0.0 and -0.0 are the same
        keys = np.where(bits & _SIGN, ~bits, bits | _SIGN) >> np.uint64(shift)
        for r, head in enumerate(heads[:, d]):
            own = keys[keys >> np.uint64(_DIGIT_BITS) == head].astype(np.int64)
            counts[r, d] = np.bincount(own & 255, minlength=256)
    return (counts,)
