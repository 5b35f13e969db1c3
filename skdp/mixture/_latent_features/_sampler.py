"""Sampler of latent features."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._typing import Floats
from skdp._numeric._unique_rows import unique_rows
from skdp._part import Part
from skdp.mixture._latent_features._hyper import FeaturePrior, VarianceEvidence
from skdp.mixture._latent_features._kernels_posterior import (
    Posterior,
    build,
    make_posterior,
)
from skdp.mixture._latent_features._kernels_rows import sweep_rows
from skdp.mixture._latent_features._kernels_split_merge import split_and_merge
from skdp.mixture._latent_features._model import LatentFeatureModel
from skdp.mixture._latent_features._state import LatentFeatureState
from skdp.processes._indian_buffet import draw_mass, expected_features

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


class LatentFeatureSampler(Part):
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
