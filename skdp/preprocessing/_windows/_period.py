"""The dominant periods of sequences."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

SHORTEST = 10
"""Shortest period in steps that is considered."""

_LAG = 5
"""Differences between successive steps would hide long periods in noise."""

_NEARLY_HIGHEST = 0.7
"""The period is at the first peak of the autocorrelation that reaches this share of the highest
one: later peaks are often multiples of the period."""


_ROUGH = -1.0 / 3.0
"""Autocorrelation of the differences of independent values is -1/2, that of a random walk 0."""


def has_waves(values: NDArray[np.float64], ptr: NDArray[np.int64]) -> bool:
    """Return whether windows of these sequences show more than their values.

    That is so if at least half of the columns have a period, or if successive values depend on each
    other in most columns, so that their differences are less rough than those of independent values
    around a level. Values as in `find_periods`.
    """
    if 2 * np.count_nonzero(find_periods(values, ptr)) >= values.shape[1]:
        return True
    values = limit(values)
    products, squares = np.zeros((2, values.shape[1]))
    for first, last in itertools.pairwise(ptr):
        changes = np.diff(values[first:last], axis=0)
        products += (changes[1:] * changes[:-1]).sum(axis=0)
        squares += (changes**2).sum(axis=0)
    return bool(np.median(products - _ROUGH * squares) > 0.0)


def limit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values whose outliers are moved towards the others, column by column.

    The limits are three ranges of the middle 98 % of a column below and above it.
    """
    low, high = np.quantile(values, (0.01, 0.99), axis=0)
    reach = np.where(high > low, 3.0 * (high - low), np.inf)
    return np.clip(values, low - reach, high + reach)


def find_periods(values: NDArray[np.float64], ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the dominant period of each column, from the autocorrelation.

    The autocorrelation is that of differences between steps `_LAG` apart, which have no trend.

    Parameters
    ----------
    values : (N, D) array
        Without NaN.
    ptr : (n + 1,) array of int64

    Returns
    -------
    (D,) array of int64
        In steps, from `SHORTEST` to a fifth of the longest sequence; 0 for a column without period.
    """
    values = limit(values)
    longest = max(int(np.diff(ptr).max()) // 5, SHORTEST)
    n_fast = next_fast_len(int(np.diff(ptr).max()) + longest, real=True)
    total = np.zeros((longest + 1, values.shape[1]))
    for first, last in itertools.pairwise(ptr):
        if last - first > _LAG:
            changes = values[first + _LAG : last] - values[first : last - _LAG]
            changes -= changes.mean(axis=0)
            power = np.abs(rfft(changes, n_fast, axis=0)) ** 2
            total += irfft(power, n_fast, axis=0)[: longest + 1]
    # Differences of white noise have peaks of about this height: their autocorrelations at other
    # lags have the variance (1 + 2 / 4) / N, and the largest of L has sqrt(2 log L) deviations.
    noise = (np.sqrt(2.0 * np.log(longest)) + 1.0) * np.sqrt(1.5 / len(values))
    return np.array([_find_first_peak(column, noise) for column in total.T])


def _find_first_peak(covariances: NDArray[np.float64], least: float) -> int:
    """Return the lag of the first high peak of the autocovariances of one column, or 0.

    It is 0 if the highest peak is lower than `least` times the variance. A ripple on the slope of a
    wide peak is none: before a peak, the autocovariance falls to half its height.
    """
    inner = covariances[1:-1]
    is_peak = (inner > covariances[:-2]) & (inner >= covariances[2:])
    valleys = np.full(len(inner), np.inf)
    valleys[_LAG:] = np.minimum.accumulate(inner[_LAG:])  # the differences are a dip at `_LAG`
    lags = np.flatnonzero(is_peak & (inner > 0.0) & (valleys <= 0.5 * inner)) + 1
    lags = lags[lags >= SHORTEST]
    heights = covariances[lags]
    if heights.max(initial=0.0) <= least * covariances[0]:
        return 0
    return int(lags[np.argmax(heights >= _NEARLY_HIGHEST * heights.max())])
