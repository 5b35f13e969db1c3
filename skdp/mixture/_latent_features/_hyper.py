"""Variances of noise and weights: priors and draws given the features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_gamma, draw_slice
from skdp._numeric._spreads import find_noise_rates, find_spreads
from skdp._numeric._typing import Floats
from skdp.mixture._latent_features._kernels_posterior import weigh, write_products

_FIRST_NOISE = 0.2
"""Share of the variance of X: features appear too early with less noise, and blur with more."""

_LOGS = math.log(1e-250), math.log(1e250)
"""Range of the logarithm of a drawn variance."""


class DataScale(NamedTuple):
    """Scales of the observations, from which default priors and initial values are computed."""

    variance: float  # robust, averaged over columns
    noise_rate: float  # of the Gamma prior of the noise precision
    noise_rates: Floats  # (D,), the same by column
    first_noise: float  # initial noise variance
    first_noises: Floats  # (D,)
    mean_square: float  # not robust: with initial weights as wide, few features explain any row
    mean_squares: Floats  # (D,)


def find_scale(values: Floats, *, center: bool) -> DataScale:
    """Return the scales of rows, (N, D); those of constant columns are 0 if centered."""
    spreads = find_spreads(values)
    varies = spreads.reaches > 0.0
    variances = np.where(varies, spreads.variances, 0.0 if center else spreads.middles**2)
    variance = float(variances.mean()) or 1.0
    variances = np.where(variances > 0.0, variances, variance)
    squares = np.nanmean((values - spreads.middles) ** 2, axis=0)
    squares = np.where(varies, squares, variances)
    resolutions, largest = spreads.resolutions, spreads.resolutions.max(keepdims=True)
    total = spreads.counts.sum(keepdims=True)
    return DataScale(
        variance,
        float(find_noise_rates(np.array([variance]), largest, total)[0]),
        find_noise_rates(variances, resolutions, spreads.counts),
        max(_FIRST_NOISE * variance, float(largest[0]) ** 2),
        np.maximum(_FIRST_NOISE * variances, resolutions**2),
        float(squares.mean()),
        squares,
    )


class VarianceEvidence:
    """The density of rows given their features, as a function of the variances."""

    def __init__(self, rows: Floats, features: NDArray[np.int8]):
        self._shape = rows.shape
        n_rows, n_columns = rows.shape
        self._n_features = k = features.shape[1]
        self._gram, self._cross = np.empty((k, k)), np.empty((k, n_columns))
        counted = np.ones(n_rows, dtype=np.int8)
        active = np.empty(k, dtype=np.int64)
        write_products(features, rows, counted, k, active, self._gram, self._cross)
        self._factor, self._solved = np.empty_like(self._gram), np.empty_like(self._cross)
        self._squares = np.sum(rows * rows, axis=0)
        self._total = float(np.sum(rows * rows))

    @property
    def n_rows(self) -> int:
        """Number of rows N."""
        return self._shape[0]

    def log_density(self, noise: float, weights: float) -> float:
        """Return log p(X | Z) given the variances, or -inf if it is singular to rounding."""
        (n_rows, n_columns), k = self._shape, self._n_features
        log_det, trace = weigh(
            self._gram, self._cross, k, noise / weights, self._factor, self._solved
        )
        result = -n_rows * math.log(2.0 * math.pi * noise) + k * math.log(noise / weights) - log_det
        result = 0.5 * (n_columns * result - (self._total - trace) / noise)
        return -math.inf if math.isnan(result) else result

    def residual_squares(self, ratio: float) -> Floats:
        """Return x^T (I + Z Z^T / r)^-1 x of the columns, (D,), for r = noise / weights."""
        k = self._n_features
        weigh(self._gram, self._cross, k, ratio, self._factor, self._solved)
        return np.asarray(self._squares - np.sum(self._solved[:k] ** 2, axis=0))


def log_prior(log_variance: float, prior: tuple[float, float]) -> float:
    """Return the log density of log v, up to a constant, if 1 / v is Gamma(shape, rate)."""
    shape, rate = prior
    return -shape * log_variance - rate * math.exp(-log_variance)


@dataclass(frozen=True)
class FeaturePrior:
    """Gamma priors of the concentration and of reciprocal variances; None: the value is fixed.

    With `columns`, the noise has variance 1 in columns divided by their standard deviations.
    """

    concentration: tuple[float, float] | None  # (shape, rate)
    noise: tuple[float, float] | None
    weights: tuple[float, float] | None
    columns: tuple[float, float | Floats] | None = None  # (shape, rate or (D,) rates)

    def draw_scales(
        self, evidence: VarianceEvidence, ratio: float, scales: Floats, rng: NDArray[np.uint64]
    ) -> Floats:
        """Draw the standard deviations of the noise of columns given the features."""
        if self.columns is None:
            return scales
        shape, rate = self.columns
        # Given the features, a column is normal with covariance v (I + Z Z^T / r), so that 1 / v
        # has a Gamma posterior. In `evidence` columns are divided by `scales`.
        squares = evidence.residual_squares(ratio) * scales**2
        if not np.isfinite(squares).all():  # the posterior is singular to rounding
            return scales
        total = shape + 0.5 * evidence.n_rows
        draws = np.array([draw_gamma(total, rng) for _ in squares])
        return np.asarray(np.sqrt((rate + 0.5 * np.maximum(squares, 0.0)) / draws))

    def draw_variances(
        self, evidence: VarianceEvidence, noise: float, weights: float, rng: NDArray[np.uint64]
    ) -> tuple[float, float]:
        """Draw the variances of noise and weights given the features."""
        if self.noise is not None:
            prior = self.noise

            def log_density_of_noise(log_v: float) -> float:
                if not _LOGS[0] <= log_v <= _LOGS[1]:
                    return -math.inf
                return evidence.log_density(math.exp(log_v), weights) + log_prior(log_v, prior)

            noise = math.exp(draw_slice(log_density_of_noise, math.log(noise), rng, width=0.3))
        if self.weights is not None:
            other = self.weights

            def log_density_of_weights(log_u: float) -> float:
                if not _LOGS[0] <= log_u <= _LOGS[1]:
                    return -math.inf
                return evidence.log_density(noise, math.exp(log_u)) + log_prior(log_u, other)

            weights = math.exp(draw_slice(log_density_of_weights, math.log(weights), rng))
        return noise, weights
