"""The dominant periods of sequences."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import maximum_filter1d

from skdp.preprocessing._windows._columns import find_varying

SHORTEST = 10
"""Shortest period in steps that is considered."""

_LAG = 5
"""Differences between successive steps would hide long periods in noise."""

_NEARLY_HIGHEST = 0.7
"""The period is at the first peak of the autocorrelation that reaches this share of the highest
one: later peaks are often multiples of the period."""


_ROUGH = -1.0 / 3.0
"""Autocorrelation of the differences of independent values is -1/2, that of a random walk 0."""

_CLEAR = 5.0
"""Standard errors by which the means of `SHORTEST` steps before and after a jump differ."""

_EXPLAINED = 0.8
"""Share of the variance that levels explain at least."""

_FLAT = 1.5
"""Largest median of the absolute means of `SHORTEST` steps around levels, in standard errors. It is
.67 for independent values; halves of waves are not flat."""


_SPARSE = 0.2
"""Share of missing values from which a column is judged by its observed values alone."""


def has_waves(
    values: NDArray[np.float64],
    ptr: NDArray[np.int64],
    is_missing: NDArray[np.bool_] | None = None,
) -> bool:
    """Return whether windows of these sequences show more than their values.

    That is so if at least half of the columns that vary have a period, or if in most of them the
    differences of successive values are less rough than those of independent values.
    """
    columns = find_varying(values)
    if columns is not None:
        values = values[:, columns]
        is_missing = None if is_missing is None else is_missing[:, columns]
    is_observed = np.ones(values.shape, dtype=bool) if is_missing is None else ~is_missing
    is_sparse = is_observed.mean(axis=0) < 1.0 - _SPARSE
    found = []
    if not is_sparse.all():
        found.append(_find_waves(values[:, ~is_sparse], ptr))
    # Many values are missing: those observed follow each other directly, since interpolated values
    # are smooth whatever the column shows, and only a period counts: gaps show little else.
    for column, own in zip(values.T[is_sparse], is_observed.T[is_sparse], strict=True):
        own_ptr = np.concatenate([[0], np.cumsum(own)])[ptr]
        has_period, dependence = _find_waves(column[own, np.newaxis], own_ptr)
        found.append((has_period, np.minimum(dependence, 0.0)))
    have_period, dependence = map(np.concatenate, zip(*found, strict=True))
    return bool(2 * np.count_nonzero(have_period) >= len(have_period) or np.median(dependence) > 0)


def _find_waves(
    values: NDArray[np.float64], ptr: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return whether columns have a period, (D,), and how successive values depend, (D,)."""
    # Jumps between levels do not count: an alternation of long levels has a period, but is no wave.
    values = remove_levels(limit(values), ptr)
    have_period = find_periods(values, ptr) > 0
    values = limit(values)
    products, squares = np.zeros((2, values.shape[1]))
    for first, last in itertools.pairwise(ptr):
        changes = np.diff(values[first:last], axis=0)
        products += (changes[1:] * changes[:-1]).sum(axis=0)
        squares += (changes**2).sum(axis=0)
    # Positive if differences are less rough than those of independent values.
    return have_period, products - _ROUGH * squares


def remove_levels(values: NDArray[np.float64], ptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return values whose columns with levels are replaced by the differences from the levels.

    A level changes where means of `SHORTEST` steps before and after differ most, by far more than
    noise. Levels explain most variance, last 2 `SHORTEST` on average, and leave no slower changes.
    """
    is_start = np.zeros(values.shape, dtype=bool)
    parts = [np.diff(values[first:last], axis=0) for first, last in itertools.pairwise(ptr)]
    changes = np.abs(np.concatenate(parts))
    if not len(changes):
        return values
    # The median absolute difference of two normal values is .954 standard deviations.
    noise = np.median(changes, axis=0) / 0.954
    rounding = 1e-9 * (values.max(axis=0) - values.min(axis=0))
    least = np.maximum(_CLEAR * noise * np.sqrt(2.0 / SHORTEST), rounding)
    for first, last in itertools.pairwise(ptr):
        if last - first >= 2 * SHORTEST:
            sums = np.cumsum(values[first:last] - values[first], axis=0)
            sums = np.concatenate([np.zeros((1, values.shape[1])), sums])
            middle = sums[SHORTEST:-SHORTEST]
            gaps = np.abs(sums[2 * SHORTEST :] - 2.0 * middle + sums[: -2 * SHORTEST]) / SHORTEST
            highest = maximum_filter1d(gaps, 2 * SHORTEST - 1, axis=0, mode="constant")
            inner = is_start[first + SHORTEST : last - SHORTEST + 1]
            inner[:] = (gaps == highest) & (gaps > least)
    values = values.copy(order="F")
    for d, starts in enumerate(is_start.T):
        if not 0 < 2 * SHORTEST * np.count_nonzero(starts) <= len(values):
            continue
        column = values[:, d]
        begins = np.union1d(np.flatnonzero(starts), ptr[:-1])
        lengths = np.diff(begins, append=len(column))
        away = ~maximum_filter1d(starts, _LAG)  # a jump may take some steps
        counts = np.maximum(np.add.reduceat(away.astype(np.int64), begins), 1)
        levels = np.add.reduceat(away * column, begins) / counts
        rest = away * (column - np.repeat(levels, lengths))
        rest[np.abs(rest) <= rounding[d]] = 0.0
        means = np.convolve(rest, np.full(SHORTEST, 1.0 / SHORTEST), mode="valid")
        is_flat = np.median(np.abs(means)) <= _FLAT * noise[d] / np.sqrt(SHORTEST) + rounding[d]
        if is_flat and rest @ rest <= (1.0 - _EXPLAINED) * len(column) * column.var():
            column[:] = rest
    return values


def limit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values clipped at three ranges of the middle 98 % of a column below and above it."""
    low, high = np.quantile(values, (0.01, 0.99), axis=0)
    reach = np.where(high > low, 3.0 * (high - low), np.inf)
    return np.clip(values, low - reach, high + reach)


def find_periods(values: NDArray[np.float64], ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the dominant period of each column in steps, from the autocorrelation; 0: none."""
    values = limit(values)
    longest = max(int(np.diff(ptr).max()) // 5, SHORTEST)
    n_fast = next_fast_len(int(np.diff(ptr).max()) + longest, real=True)
    total = np.zeros((longest + 1, values.shape[1]))
    for first, last in itertools.pairwise(ptr):
        if last - first > _LAG:
            # differences have no trend
            changes = values[first + _LAG : last] - values[first : last - _LAG]
            changes -= changes.mean(axis=0)
            power = np.abs(rfft(changes, n_fast, axis=0)) ** 2
            total += irfft(power, n_fast, axis=0)[: longest + 1]
    # Differences of white noise have peaks of about this height: their autocorrelations at other
    # lags have the variance (1 + 2 / 4) / N, and the largest of L has sqrt(2 log L) deviations.
    noise = (np.sqrt(2.0 * np.log(longest)) + 1.0) * np.sqrt(1.5 / len(values))
    return np.array([_find_first_peak(column, noise) for column in total.T])


def _find_first_peak(covariances: NDArray[np.float64], least: float) -> int:
    """Return the lag of the first high peak of the autocovariances of one column, or 0."""
    inner = covariances[1:-1]
    is_peak = (inner > covariances[:-2]) & (inner >= covariances[2:])
    valleys = np.full(len(inner), np.inf)
    valleys[_LAG:] = np.minimum.accumulate(inner[_LAG:])  # the differences are a dip at `_LAG`
    # A ripple on the slope of a wide peak is none: before a peak, values fall to half its height.
    lags = np.flatnonzero(is_peak & (inner > 0.0) & (valleys <= 0.5 * inner)) + 1
    lags = lags[lags >= SHORTEST]
    heights = covariances[lags]
    if heights.max(initial=0.0) <= least * covariances[0]:
        return 0
    return int(lags[np.argmax(heights >= _NEARLY_HIGHEST * heights.max())])
