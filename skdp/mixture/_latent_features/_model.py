"""Predictions for new rows given a stored sample of latent features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.mixture._latent_features._kernels_posterior import Posterior, make_posterior
from skdp.mixture._latent_features._kernels_predict import NextRow, predict_rows

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
