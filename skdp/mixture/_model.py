"""Predictive distribution of new rows given a stored sample of a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from skdp._numeric._typing import Floats

_BLOCK = 10_000
"""Number of rows per block, which limits the memory for densities."""


def log_shares(sizes: NDArray[Any], discount: float, concentration: float) -> Floats:
    """Return log probabilities that the next row joins each cluster, or, last, a new one."""
    weights = np.append(sizes - discount, concentration + discount * len(sizes))
    with np.errstate(divide="ignore"):  # if concentration and discount are both 0
        return np.asarray(np.log(weights / (sizes.sum() + concentration)))


class SampledPrior(NamedTuple):
    """Hyperparameters of a stored sample."""

    discount: float
    concentration: float
    clusters: Any  # prior of the parameters of clusters, as of `ClusterTerms`


@dataclass(frozen=True, eq=False)
class MixtureModel:
    """A partition of the training rows, and the distribution of the next row given it."""

    labels: NDArray[np.int32]  # (N,), of the training rows
    log_weights: Floats  # (K + 1,), that the next row joins each cluster or, last, a new one
    emission: Any  # distributions of the next row in each cluster and, last, a new one
    hyper: SampledPrior | None = None  # `LeftOutDensities` needs it

    @property
    def weights(self) -> Floats:
        """Probabilities that the next row joins each cluster, or, last, a new one, (K + 1,)."""
        return np.asarray(np.exp(self.log_weights))

    def log_joint_with(self, values: Floats) -> Floats:
        """Return log p(x, cluster) of rows, (N, K + 1)."""
        return np.asarray(self.log_weights + self.emission.log_obs(values))

    def log_densities(self, values: Floats) -> Floats:
        """Return log p(x) of rows, (N,)."""
        blocks = range(0, len(values), _BLOCK)
        parts = [logsumexp(self.log_joint_with(values[i : i + _BLOCK]), axis=1) for i in blocks]
        return np.concatenate(parts)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Return independent draws of the next row, (n, D)."""
        weights = self.weights
        clusters = rng.choice(len(weights), n, p=weights / weights.sum())
        return np.asarray(self.emission.sample(clusters, rng))
