"""Windows of sequences: their layout, features, columns that vary, and dominant periods."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import maximum_filter1d

from skdp._checks import shorten
from skdp._numeric._numba import as_readonly
from skdp.preprocessing._kernels import convolve, mark_usable, measure_shares

# Where windows lie in sequences.


@dataclass(frozen=True, eq=False)
class WindowLayout:
    """Overlapping windows of the sequences of a panel."""

    starts: NDArray[np.int64]  # (W,), window i holds the steps starts[i] to ends[i] - 1
    ends: NDArray[np.int64]  # (W,)
    ptr: NDArray[np.int64]  # (n + 1,), windows of the sequences
    step_ptr: NDArray[np.int64]  # (n + 1,), steps of the sequences

    @classmethod
    def of(cls, step_ptr: NDArray[np.int64], width: int, hop: int) -> Self:
        """Return windows of `width` steps, every `hop` steps; a shorter sequence is one window."""
        lengths = np.diff(step_ptr)
        n_windows = 1 + np.maximum(lengths - width, 0) // hop
        ptr = np.concatenate([[0], np.cumsum(n_windows)])
        number = np.arange(ptr[-1]) - np.repeat(ptr[:-1], n_windows)
        starts = np.repeat(step_ptr[:-1], n_windows) + number * hop
        ends = np.minimum(starts + width, np.repeat(step_ptr[1:], n_windows))
        return cls(starts, ends, ptr, step_ptr)

    def nearest_inner(self, is_observed: NDArray[np.bool_], reach: int) -> NDArray[np.int64]:
        """Return the nearest window of its sequence amid `reach` observed steps, else itself."""
        n_windows, number = np.diff(self.ptr), np.arange(self.ptr[-1])
        begin, end = self.starts - reach, self.ends + reach
        is_inner = begin >= np.repeat(self.step_ptr[:-1], n_windows)
        is_inner &= end <= np.repeat(self.step_ptr[1:], n_windows)
        n_missing = np.concatenate([[0], np.cumsum(~is_observed)])
        end = np.minimum(end, len(is_observed))
        is_inner &= n_missing[end] == n_missing[np.maximum(begin, 0)]
        before = np.maximum.accumulate(np.where(is_inner, number, -1))
        after = np.minimum.accumulate(np.where(is_inner, number, self.ptr[-1])[::-1])[::-1]
        first, last = np.repeat(self.ptr[:-1], n_windows), np.repeat(self.ptr[1:], n_windows)
        return np.where(before >= first, before, np.where(after < last, after, number))

    @property
    def first_steps(self) -> NDArray[np.int64]:
        """The first of the steps that are nearest to the center of each window, (W,)."""
        middle = self.starts + self.ends
        first = np.empty(len(middle), dtype=np.int64)
        first[1:] = (middle[1:] + middle[:-1] + 2) // 4
        first[self.ptr[:-1]] = self.step_ptr[:-1]
        return first

    def spread(self, rows: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the row of its window for each step."""
        lengths = np.diff(np.append(self.first_steps, self.step_ptr[-1]))
        return np.repeat(rows, lengths, axis=0)

    def thin(self, step: int) -> NDArray[np.int64]:
        """Return the numbers of every `step`-th window of each sequence."""
        parts = [np.arange(first, last, step) for first, last in pairwise(self.ptr)]
        return np.concatenate(parts)


# Features of windows: random convolutions, spectra, and functions of users.


_N_TAPS = 9
"""Length of the filters, as in ROCKET."""

_LEAST_TAPS = 7
"""Number of values of a filter that must be observed; the others are interpolated."""

_COMPLETE = 0.9
"""Least share of the steps of a window that must be usable, relative to that of most windows: part
of a wave at the edge of a gap must not resemble another wave."""

_CENTERED = 0.8
"""Share of the filters whose weights sum to zero. The others react to the level of a series."""


_LARGEST = 1e100
"""Largest number of a user's function: squares of larger ones overflow."""


@dataclass(frozen=True)
class Steps:
    """The steps of sequences, with missing values filled in."""

    values: NDArray[np.float64]  # (N, D), without NaN, each column contiguous
    observed: NDArray[np.bool_]  # (N, D)
    ptr: NDArray[np.int64]  # (n + 1,)

    @classmethod
    def of(cls, values: NDArray[np.float64], ptr: NDArray[np.int64]) -> Self:
        """Return the steps, with gaps interpolated linearly within each sequence."""
        observed = ~np.isnan(values)
        filled = np.asfortranarray(values)
        if not observed.all():
            filled = filled.copy(order="F")
            for first, last in itertools.pairwise(ptr):
                for d in range(values.shape[1]):
                    _interpolate(filled[first:last, d], observed[first:last, d])
        return cls(filled, np.asfortranarray(observed), ptr)


def _interpolate(column: NDArray[np.float64], observed: NDArray[np.bool_]) -> None:
    """Replace missing values in place; 0 if there are no others."""
    places = np.flatnonzero(observed)
    gaps = np.flatnonzero(~observed)
    column[gaps] = np.interp(gaps, places, column[places]) if len(places) else 0.0


class Features(Protocol):
    """Functions of windows that are learned from the training sequences, and then fixed."""

    def measure(self, steps: Steps, layout: WindowLayout) -> NDArray[np.float64]:
        """Return the features of each window, (W, F); NaN if too little of it was observed."""


@dataclass(frozen=True)
class Convolutions:
    """Shares of a window in which random dilated convolutions exceed thresholds (ROCKET)."""

    weights: NDArray[np.float64]  # (F, 9); each filter reads one column, in turn
    dilations: NDArray[np.int64]  # (F,)
    thresholds: NDArray[np.float64]  # (F,)
    least: NDArray[np.float64]  # (F,), share of the steps of a window that must be usable

    @classmethod
    def draw(
        cls, steps: Steps, layout: WindowLayout, n_kernels: int, rng: np.random.Generator
    ) -> Self:
        """Draw filters that span at most half a window, with quantiles of X as thresholds."""
        width = int((layout.ends - layout.starts).max())
        weights = rng.standard_normal((n_kernels, _N_TAPS))
        is_centered = rng.random(n_kernels) < _CENTERED
        weights[is_centered] -= weights[is_centered].mean(axis=1, keepdims=True)
        longest = max(width / 2 / (_N_TAPS - 1), 1.0)
        dilations = np.floor(longest ** rng.random(n_kernels)).astype(np.int64)
        levels = rng.random(n_kernels)
        bank = cls(weights, dilations, np.empty(n_kernels), np.empty(n_kernels))
        for k in range(n_kernels):
            signal, usable = bank._convolve(k, steps)
            bank.thresholds[k] = _find_threshold(signal[usable], levels[k])
            bank.least[k] = _COMPLETE * _find_typical_share(usable, layout)
        return bank

    def _convolve(self, k: int, steps: Steps) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the output of filter k, (N,), and at which steps it is usable, (N,)."""
        d, dilation = k % steps.values.shape[1], int(self.dilations[k])
        ptr, weights = as_readonly(steps.ptr), as_readonly(self.weights[k])
        signal, usable = np.empty(len(steps.values)), steps.observed[:, d]
        convolve(as_readonly(steps.values[:, d]), ptr, weights, dilation, signal)
        if not usable.all():
            usable = np.empty(len(signal), dtype=bool)
            observed = as_readonly(steps.observed[:, d])
            mark_usable(observed, ptr, _N_TAPS, dilation, _LEAST_TAPS, usable)
        return signal, usable

    def measure(self, steps: Steps, layout: WindowLayout) -> NDArray[np.float64]:
        """Return the features of each window, (W, F)."""
        counts = np.empty((2, len(steps.values) + 1), dtype=np.int64)
        starts, ends = as_readonly(layout.starts), as_readonly(layout.ends)
        out = np.empty((len(self.weights), len(starts)))
        limits = zip(self.thresholds.tolist(), self.least.tolist(), strict=True)
        for k, (threshold, least) in enumerate(limits):
            signal, usable = self._convolve(k, steps)
            measure_shares(
                signal, as_readonly(usable), threshold, least, starts, ends, *counts, out[k]
            )
        return out.T

    @property
    def reach(self) -> int:
        """Number of steps before and after its own that the longest filter reads."""
        return _N_TAPS // 2 * int(self.dilations.max())


def _find_typical_share(usable: NDArray[np.bool_], layout: WindowLayout) -> float:
    """Return the median share of usable steps of the windows that have any."""
    counts = np.concatenate([[0], np.cumsum(usable)])
    shares = (counts[layout.ends] - counts[layout.starts]) / (layout.ends - layout.starts)
    return float(np.median(shares[shares > 0.0])) if shares.any() else 0.0


def _find_threshold(signal: NDArray[np.float64], level: float) -> float:
    """Return a quantile, raised so that rounding errors do not decide what exceeds it."""
    if len(signal) == 0:
        return 0.0
    return float(np.quantile(signal, level) + 1e-7 * signal.std())


@dataclass(frozen=True)
class Spectrum:
    """Mean, log standard deviation and shares of power in bands of frequencies."""

    n_bands: int  # of a column, each twice as wide as the one below
    scales: NDArray[np.float64]  # (D,), deviations; a window below a millionth is constant

    @classmethod
    def learn(cls, steps: Steps, width: int) -> Self:
        """Return the features for windows of `width` steps."""
        scales = steps.values.std(axis=0)
        return cls(max(int(np.log2(width)) - 1, 1), np.where(scales > 0.0, scales, 1.0))

    def measure(self, steps: Steps, layout: WindowLayout) -> NDArray[np.float64]:
        """Return the features of each window, (W, (2 + n_bands) D)."""
        return measure_each(self._measure_one, steps, layout)

    def _measure_one(self, window: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = window.mean(axis=0)
        spread = np.maximum(window.std(axis=0) / self.scales, 1e-6)
        scaled = (window - mean) / (self.scales * spread)
        tapered = scaled * np.hanning(len(window) + 2)[1:-1, np.newaxis]
        power = np.abs(rfft(tapered, axis=0)[1:]) ** 2
        edges = len(power) / 2.0 ** np.arange(self.n_bands, -1, -1)
        edges[0] = 0.0
        sums = np.concatenate([np.zeros((1, window.shape[1])), np.cumsum(power, axis=0)])
        bands = np.diff(sums[np.round(edges).astype(int)], axis=0)
        bands /= np.maximum(bands.sum(axis=0), np.finfo(float).tiny)
        return np.concatenate([mean / self.scales, np.log(spread), np.sqrt(bands).ravel()])


@dataclass(frozen=True)
class Function:
    """Features that a user's function returns for the values of a window, (T, D)."""

    function: Callable[[NDArray[np.float64]], Any]

    def measure(self, steps: Steps, layout: WindowLayout) -> NDArray[np.float64]:
        """Return the features of each window, (W, F)."""
        return measure_each(self._measure_one, steps, layout)

    def _measure_one(self, window: NDArray[np.float64]) -> NDArray[np.float64]:
        returned = self.function(window)
        try:
            result = np.atleast_1d(np.asarray(returned, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(
                "features must return a number, or a one-dimensional array of finite numbers, for "
                f"each window; got {shorten(returned)}."
            ) from None
        if result.ndim != 1 or result.size == 0:
            raise ValueError(
                "features must return a number, or a one-dimensional array of finite numbers, for "
                f"each window; got shape {result.shape} for a window of shape {window.shape}."
            )
        if not np.isfinite(result).all():
            raise ValueError("features returned NaN or infinity for a window of finite numbers.")
        if np.abs(result).max() > _LARGEST:
            raise ValueError(
                f"features must return numbers from {-_LARGEST:g} to {_LARGEST:g}, got "
                f"{result[np.abs(result).argmax()]:g}."
            )
        return result


def measure_each(
    measure: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    steps: Steps,
    layout: WindowLayout,
) -> NDArray[np.float64]:
    """Return a function of each window; NaN if less than 80 % of its values were observed."""
    rows: list[Any] = []
    for first, last in zip(layout.starts, layout.ends, strict=True):
        is_empty = steps.observed[first:last].mean() < 0.8
        rows.append(None if is_empty else measure(steps.values[first:last].copy(order="C")))
    lengths = {len(row) for row in rows if row is not None}
    if len(lengths) > 1:
        raise ValueError(
            f"features must return equally many numbers for each window, got {sorted(lengths)}."
        )
    n_features = lengths.pop() if lengths else 1
    missing = np.full(n_features, np.nan)
    return np.array([missing if row is None else row for row in rows])


# Columns of sequences that vary.


def find_varying(values: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the numbers of the columns that vary, or None for all columns, also if none varies."""
    # A column that never changes has neither states nor waves.
    varies = np.fmax.reduce(values, axis=0) > np.fmin.reduce(values, axis=0)
    if varies.all() or not varies.any():
        return None
    return np.flatnonzero(varies)


# Features that are known in enough windows to learn principal components.


_FEW = 0.1
"""Components learned from a smaller share of the windows do not stand for them."""


class TooFewValuesError(ValueError):
    """In no window are enough values observed."""


def find_observed(steps: Steps, layout: WindowLayout) -> NDArray[np.bool_]:
    """Return which windows are observed as usual, (W,): at least half as much as the median one."""
    counts = np.concatenate([[0], np.cumsum(steps.observed.sum(axis=1))])
    shares = (counts[layout.ends] - counts[layout.starts]) / (layout.ends - layout.starts)
    # Windows in long gaps, where nothing is observed, do not count.
    usual = np.median(shares[shares > 0.0]) if shares.any() else 0.0
    return np.asarray(shares >= 0.5 * usual)


def choose_features(
    raw: NDArray[np.float64], is_observed: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return the numbers of the features to keep, or None for all of them."""
    # If under a tenth of the windows are complete, features with the most NaN are left out until
    # half are: filters of odd dilation see too few values of a sensor at half the rate of the
    # others.
    missing = np.isnan(raw[is_observed])
    if np.count_nonzero(~missing.any(axis=1)) >= _FEW * len(missing):
        return None
    order = np.argsort(missing.sum(axis=0), kind="stable")
    missing = missing[:, order]
    # The number of features, the fullest first, that each window has without a gap.
    numbers = np.where(missing.any(axis=1), missing.argmax(axis=1), len(order))
    n_kept = np.sort(numbers)[len(numbers) // 2]
    return np.sort(order[:n_kept]) if n_kept else None


# Dominant periods, waves and levels of sequences.


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
    values: NDArray[np.float64], ptr: NDArray[np.int64], is_missing: NDArray[np.bool_] | None = None
) -> bool:
    """Return whether windows of these sequences show more than their values."""
    # That is so if at least half of the columns that vary have a period, or if in most of them the
    # differences of successive values are less rough than those of independent values.
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
    """Return values whose columns with levels are replaced by the differences from the levels."""
    # A level changes where means of `SHORTEST` steps before and after differ most, by far more than
    # noise. Levels explain most variance, last 2 `SHORTEST` on average, and leave no slower
    # changes.
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
