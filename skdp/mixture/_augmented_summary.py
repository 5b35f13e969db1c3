"""Evidence of unions of clusters of Gaussian rows with weights, for trees of clusters."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.special import gammaln

from skdp._numeric._typing import Floats, Places
from skdp.emissions._clusters import AugmentedRows, GaussianClusterPrior


class AugmentedSummary(NamedTuple):
    """Sizes, masses, means and scatters of Gaussian clusters of rows with precision weights."""

    sizes: Floats  # (K,)
    masses: Floats  # (K, B), sums of weights
    means: Floats  # (K, B, W)
    scatters: Floats  # (K, B, W, W), weighted sums of squares and products around the means
    prior: GaussianClusterPrior

    @classmethod
    def of_rows(cls, rows: AugmentedRows, labels: Places, prior: GaussianClusterPrior) -> Self:
        """Summarize the clusters of rows, with their present missing values and weights."""
        n_blocks, width = prior.mean.shape
        sizes = np.bincount(labels).astype(np.float64)
        masses, means = np.empty((len(sizes), n_blocks)), np.empty((len(sizes), n_blocks, width))
        scatters = np.empty((len(sizes), n_blocks, width, width))
        for k in range(len(sizes)):
            values = rows.values[labels == k].reshape(-1, n_blocks, width)
            weights = rows.weights[labels == k][:, :, np.newaxis]
            masses[k] = weights.sum(axis=(0, 2))
            means[k] = (weights * values).sum(axis=0) / masses[k][:, np.newaxis]
            apart = (np.sqrt(weights) * (values - means[k])).transpose(1, 2, 0)
            scatters[k] = apart @ apart.transpose(0, 2, 1)
        return cls(sizes, masses, means, scatters, prior)

    @property
    def arrays(self) -> list[Floats]:
        """The arrays, whose first axis is that of clusters."""
        return list(self[:-1])

    def joined(self, a: int, others: Places) -> Self:
        """Return the unions of cluster `a` and each of the others."""
        masses = self.masses[a] + self.masses[others]
        share = self.masses[others] / masses
        apart = self.means[others] - self.means[a]
        scatters = self.scatters[a] + self.scatters[others]
        weight = (self.masses[a] * share)[:, :, np.newaxis, np.newaxis]
        scatters += weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]
        means = self.means[a] + share[:, :, np.newaxis] * apart
        sizes = self.sizes[a] + self.sizes[others]
        return self._replace(sizes=sizes, masses=masses, means=means, scatters=scatters)

    def log_evidence(self) -> Floats:
        """Return the log evidence of each cluster, (K,), without factors of single rows."""
        prior, n = self.prior, self.sizes
        n_blocks, width = prior.mean.shape
        precisions, dof = prior.precision + self.masses, prior.dof + n
        apart = self.means - prior.mean
        weight = (prior.precision * self.masses / precisions)[:, :, np.newaxis, np.newaxis]
        scales = prior.scale + self.scatters
        scales = scales + weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]
        halves = 0.5 * np.arange(width)
        result = gammaln(0.5 * dof[:, np.newaxis] - halves).sum(axis=1)
        result -= gammaln(0.5 * prior.dof - halves).sum() + 0.5 * width * n * np.log(np.pi)
        result = n_blocks * result + 0.5 * width * np.log(prior.precision / precisions).sum(axis=1)
        log_dets = np.linalg.slogdet(scales)[1].sum(axis=1)
        return np.asarray(result + 0.5 * prior.dof * prior.log_det - 0.5 * dof * log_dets)
