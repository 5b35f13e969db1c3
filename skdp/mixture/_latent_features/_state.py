"""Read-only view of a latent feature sampler's state after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
