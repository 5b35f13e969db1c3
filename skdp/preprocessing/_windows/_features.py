"""Features of windows: random convolutions, spectra, and functions of users."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft

from skdp._checks import shorten
from skdp._numeric._numba import as_readonly
from skdp.preprocessing._windows._kernels_convolutions import (
    convolve,
    mark_usable,
    measure_shares,
)
from skdp.preprocessing._windows._layout import WindowLayout

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
