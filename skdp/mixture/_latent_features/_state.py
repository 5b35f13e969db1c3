"""What the walker of latent features shows of itself after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class LatentFeatureState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, walker: Any):
        self._walker = walker

    @property
    def features(self) -> NDArray[np.bool_]:
        """Which row has which feature, (n_samples, K); features have no order."""
        view: NDArray[np.bool_] = self._walker.features.view(np.bool_)
        view.flags.writeable = False
        return view

    @property
    def concentration(self) -> float:
        """Concentration alpha."""
        return float(self._walker.concentration)

    @property
    def noise_variance(self) -> float | NDArray[np.float64]:
        """Variance of the noise; (n_features,) where each column has its own."""
        if self._walker.prior.columns is None:
            return float(self._walker.noise)
        return np.asarray(self._walker.noise * self._walker.scales**2)

    @property
    def weights_variance(self) -> float:
        """Variance of the weights of the features, or its ratio to that of the noise."""
        return float(self._walker.weights)

    def log_joint(self) -> float:
        """Return log p(X, features) given concentration and variances, weights summed out."""
        return float(self._walker.log_joint())

    def copy(self) -> LatentFeatureState:
        """Return a state that later sweeps do not change."""
        return LatentFeatureState(self._walker.copy())
