"""Latent features of rows: variances, predictions of stored samples, and the Markov chain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric import Floats
from skdp._numeric._arrays import find_noise_rates, find_spreads, unique_rows
from skdp._numeric._random import draw_gamma, draw_slice
from skdp._part import ChainComponent
from skdp.mixture._kernels._features import (
    NextRow,
    Posterior,
    build,
    make_posterior,
    predict_rows,
    split_and_merge,
    sweep_rows,
    weigh,
    write_products,
)
from skdp.processes._partitions import draw_mass, expected_features


class LatentFeatureState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def features(self) -> NDArray[np.bool_]:
        """Indicators of the features of each row, (n_samples, K); features have no order."""
        view: NDArray[np.bool_] = self._sampler.features.view(np.bool_)
        view.flags.writeable = False
        return view

    @property
    def concentration(self) -> float:
        """Concentration alpha."""
        return float(self._sampler.concentration)

    @property
    def noise_variance(self) -> float | NDArray[np.float64]:
        """Variance of the noise; (n_features,) if each column has its own."""
        if self._sampler.prior.columns is None:
            return float(self._sampler.noise)
        return np.asarray(self._sampler.noise * self._sampler.scales**2)

    @property
    def weights_variance(self) -> float:
        """Variance of the weights of the features, or its ratio to the variance of the noise."""
        return float(self._sampler.weights)

    def log_joint(self) -> float:
        """Return log p(X, features) given concentration and variances (weights integrated out)."""
        return float(self._sampler.log_joint())

    def copy(self) -> LatentFeatureState:
        """Return a state that later sweeps do not change."""
        return LatentFeatureState(self._sampler.copy())


# Variances of noise and weights: priors and draws given the features.


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


# Stored samples, and predictions for new rows.


N_EXACT = 16
"""Largest number of features for which all of their combinations are summed over."""

_BLOCK = 16
"""Number of rows per block; Ctrl-C is handled between blocks."""


@dataclass(frozen=True, eq=False)
class LatentFeatureModel:
    """Summary of the training rows' features, and the distribution of the next row given it."""

    n_rows: int  # N
    counts: Floats  # (K,), rows that have each feature, in decreasing order
    means: Floats  # (K, D), E[A]
    covariance: Floats  # (K, K), M: the weights of a column have covariance v M
    noise: float  # variance v in columns that are divided by their scales
    weights: float  # variance u in these columns
    scales: Floats  # (D,)
    concentration: float
    most: int  # bound on the number of features
    log_joint: float

    def probabilities(self) -> Floats:
        """Return the probabilities that the next row has each feature, (K,)."""
        return self.counts / (self.n_rows + 1.0)

    def _posterior(self) -> Posterior:
        n_features, n_columns = self.means.shape
        room = make_posterior(n_features, 0, n_columns)
        return room._replace(covariance=self.covariance, means=self.means / self.scales)

    def _next_row(self, rate: float) -> NextRow:
        n_features = len(self.counts)
        probabilities = self.probabilities()
        n_free = min(n_features, N_EXACT)
        return NextRow(
            self._posterior(),
            np.log(probabilities / (1.0 - probabilities)),
            float(np.log1p(-probabilities).sum()),
            self.noise,
            self.noise / self.weights,
            rate,
            max(self.most - n_features, 0),
            np.zeros(n_features, dtype=np.int8),
            np.zeros(n_features, dtype=np.int64),
            np.zeros(n_free),
            np.zeros((n_free, n_free)),
            np.zeros(n_features),
        )

    def predict(
        self, rows: Floats, key: NDArray[np.uint64], n_sweeps: int, *, new: bool, density: bool
    ) -> tuple[Floats, Floats]:
        """Return the probabilities of features, (n, K), and log p(x), (n,), of centered rows.

        With `new`, rows may have features that no training row has. Without `density`, log p(x) is
        not estimated if it cannot be computed exactly.
        """
        n_features, n_columns = self.means.shape
        model = self._next_row(self.concentration / (self.n_rows + 1.0) if new else 0.0)
        missing = np.isnan(rows)
        filled = np.where(missing, 0.0, rows) + 0.0  # no -0
        contents = np.column_stack([np.where(missing, np.nan, filled), np.full(len(rows), 1.0)])
        contents = np.ascontiguousarray(contents).view(np.uint64)
        contents[:, n_columns] = n_columns
        scaled, seen = filled / self.scales, 1.0 - missing
        shares = np.empty((len(rows), n_features))
        densities = np.full(len(rows), np.nan if density else 0.0)
        for begin in range(0, len(rows), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            predict_rows(
                scaled[block], seen[block], contents[block], key, n_features <= N_EXACT,
                n_sweeps, model, np.empty(n_features), shares[block], densities[block],
                np.empty(4, dtype=np.uint64),
            )  # fmt: skip
        return shares, densities - seen @ np.log(self.scales)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Return independent draws of the next row, centered, (n, D)."""
        features = (rng.random((n, len(self.counts))) < self.probabilities()).astype(np.float64)
        n_new = rng.poisson(self.concentration / (self.n_rows + 1.0), n)
        spread = 1.0 + ((features @ self.covariance) * features).sum(axis=1)
        variance = self.noise * spread + self.weights * n_new
        noise = rng.standard_normal((n, self.means.shape[1]))
        spreads = np.sqrt(variance)[:, np.newaxis] * self.scales
        return np.asarray(features @ self.means + spreads * noise)


# The Markov chain.


N_TRIES = 5
"""Number of splits or merges that a sweep tries."""

_SPARE = 16
_FRESH = 1000
"""Number of row updates after which the posterior of the weights is recomputed from the data."""

_LEAST_BOUND, _MOST_PER_ROW, _LARGEST_SHARE = 100, 2, 1000
"""Constants of the bound on the number of features."""

_IMPOSSIBLE = (
    "The weights of the features cannot be told apart to rounding: scale the columns of X, or give "
    "a larger noise_variance."
)


class LatentFeatureSampler(ChainComponent):
    """Markov chain over features, concentration and variances; the weights are integrated out.

    `center` is subtracted from rows, and columns are divided by `scales`, the standard deviations
    of their noise if these are drawn, otherwise 1.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows", "_seen", "_missing")

    def __init__(
        self,
        values: Floats,
        center: Floats,
        prior: FeaturePrior,
        concentration: float,
        noise: float,
        weights: float,
        scales: Floats,
        stream: NDArray[np.uint64],
        *,
        split_merge: bool = True,
    ):
        self.center = center
        self.split_merge = split_merge
        self.prior = prior
        self.concentration, self.noise, self.weights = concentration, noise, weights
        self.scales = scales
        # Without a bound, a row that is many standard deviations of the given weights away would be
        # fitted by feature after feature. The prior is the buffet conditioned on this bound.
        self.most = bound_features(len(values), concentration)
        self.stream = stream
        self.features = np.zeros((len(values), 0), dtype=np.int8)  # (N, K)
        self.attach(values)
        self.imputed = np.zeros(np.count_nonzero(self._missing))

    def attach(self, values: Floats) -> None:
        """Attach the observations."""
        self._missing = np.isnan(values)
        self._seen = np.where(self._missing, 0.0, 1.0)
        self._rows = np.where(self._missing, 0.0, values - self.center)

    def _scaled_rows(self) -> Floats:
        """Return the rows with drawn values of missing entries; columns are divided by scales."""
        rows = self._rows / self.scales
        rows[self._missing] = self.imputed / self._scales_of_missing()
        return rows

    def _scales_of_missing(self) -> Floats:
        return np.asarray(self.scales[np.nonzero(self._missing)[1]])

    def sweep(self) -> None:
        """Draw the features of all rows, then concentration and variances."""
        rows = self._scaled_rows()
        self._draw_features(rows)
        self.imputed = rows[self._missing] * self._scales_of_missing()
        if self.split_merge and len(rows) > 1:
            self._split_and_merge(rows)
        self._draw_hyper(rows)

    def _draw_features(self, rows: Floats) -> None:
        n_rows, n_features = self.features.shape
        features, posterior = _make_room(self.features, n_features + _SPARE, rows.shape[1])
        ratio, rate = self.noise / self.weights, self.concentration / n_rows
        for begin in range(0, n_rows, _FRESH):
            place, end, n_pending = begin, min(begin + _FRESH, n_rows), -1
            possible = build(features, rows, n_features, ratio, posterior)
            while possible and place < end:
                place, n_features, n_pending = sweep_rows(
                    place, end, n_pending, self.most, rows, self._seen, features, n_features,
                    posterior, self.noise, ratio, rate, self.stream,
                )  # fmt: skip
                possible = place >= 0
                if possible and place < end:
                    features, posterior = _grow(features, posterior, n_features + n_pending)
            if not possible:
                raise ValueError(_IMPOSSIBLE)
        self.features = features[:, :n_features].copy()

    def _split_and_merge(self, rows: Floats) -> None:
        """Try to split features and to merge them."""
        n_rows, n_features = self.features.shape
        room = max(min(n_features + N_TRIES, self.most), n_features)
        features, posterior = _make_room(self.features, room, rows.shape[1])
        n_features = split_and_merge(
            N_TRIES, rows, features, n_features, posterior, np.empty(n_rows, dtype=np.int64),
            np.empty(n_rows, dtype=np.int8), self.noise, self.noise / self.weights,
            math.log(self.concentration), self.stream,
        )  # fmt: skip
        self.features = features[:, :n_features].copy()

    def _draw_hyper(self, rows: Floats) -> None:
        n_rows, n_features = self.features.shape
        if self.prior.concentration is not None:
            shape, rate = self.prior.concentration
            expected = expected_features(n_rows, 1.0)
            self.concentration = draw_mass(n_features, expected, shape, rate, self.stream)
        prior = self.prior
        if any(each is not None for each in (prior.noise, prior.weights, prior.columns)):
            evidence = VarianceEvidence(rows, self.features)
            self.noise, self.weights = prior.draw_variances(
                evidence, self.noise, self.weights, self.stream
            )
            self.scales = prior.draw_scales(
                evidence, self.noise / self.weights, self.scales, self.stream
            )

    def log_joint(self) -> float:
        """Return log p(observed entries, unordered features) given concentration and variances."""
        result = log_buffet(self.features, self.concentration)
        patterns, columns, *_ = unique_rows(self._missing.T)
        for p, pattern in enumerate(patterns):
            own, seen = columns == p, ~pattern
            rows = self._rows[seen][:, own] / self.scales[own]
            evidence = VarianceEvidence(rows, self.features[seen])
            result += evidence.log_density(self.noise, self.weights)
        return result - float(self._seen.sum(axis=0) @ np.log(self.scales))

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.features.shape[1]),
            "concentration": self.concentration,
            "noise_variance": self.noise * float(np.mean(self.scales**2)),
            "weights_variance": self.weights,
        }

    def model(self) -> LatentFeatureModel:
        """Return the current sample."""
        order = self.by_size()
        features = np.ascontiguousarray(self.features[:, order])
        n_rows, n_features = features.shape
        posterior = make_posterior(n_features, *self._rows.shape)
        rows, ratio = self._scaled_rows(), self.noise / self.weights
        if not build(features, rows, n_features, ratio, posterior):
            raise ValueError(_IMPOSSIBLE)
        return LatentFeatureModel(
            n_rows,
            posterior.counts.astype(np.float64),
            posterior.means * self.scales,
            posterior.covariance,
            self.noise,
            self.weights,
            self.scales,
            self.concentration,
            self.most,
            self.log_joint(),
        )

    def by_size(self) -> NDArray[np.int64]:
        """Return the features in decreasing order of the number of rows that have them."""
        return np.argsort(-self.features.sum(axis=0), kind="stable")

    def state(self) -> LatentFeatureState:
        """Return a live view of the state."""
        return LatentFeatureState(self)


def bound_features(n_rows: int, concentration: float) -> int:
    """Return the largest number of features that rows may have."""
    # Twice the number that is expected a priori, plus two a row up to 1,000, plus 100.
    expected = expected_features(n_rows, 1.0)
    share = min(_MOST_PER_ROW * n_rows, _LARGEST_SHARE)
    return _LEAST_BOUND + share + math.ceil(2.0 * concentration * expected)


def log_buffet(features: NDArray[np.int8], concentration: float) -> float:
    """Return the log probability of a set of features, regardless of their order."""
    # exp(-alpha H) alpha^K / prod_h K_h! prod_k (m_k - 1)! (N - m_k)! / N!, where K_h is the number
    # of features that the same rows have.
    n_rows, n_features = features.shape
    m = features.sum(axis=0)
    repeats = unique_rows(features.T).counts
    result = n_features * math.log(concentration)
    result -= concentration * expected_features(n_rows, 1.0)
    terms = gammaln(m) + gammaln(n_rows - m + 1.0) - math.lgamma(n_rows + 1.0)
    return float(result + terms.sum() - gammaln(repeats + 1.0).sum())


def _make_room(
    features: NDArray[np.int8], capacity: int, n_columns: int
) -> tuple[NDArray[np.int8], Posterior]:
    """Return the features, and arrays for their posterior, with room for `capacity` features."""
    larger = np.zeros((len(features), capacity), dtype=np.int8)
    larger[:, : features.shape[1]] = features
    return larger, make_posterior(capacity, len(features), n_columns)


def _grow(
    features: NDArray[np.int8], posterior: Posterior, n_features: int
) -> tuple[NDArray[np.int8], Posterior]:
    """Return copies of the features and posterior with room for twice as many features."""
    larger, room = _make_room(features, 2 * n_features, posterior.means.shape[1])
    n = features.shape[1]
    room.covariance[:n, :n] = posterior.covariance
    room.means[:n] = posterior.means
    room.counts[:n] = posterior.counts
    return larger, room
