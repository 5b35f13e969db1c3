"""Public state of the sampler of a factorial hidden Markov model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class FactorialState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def activities(self) -> NDArray[np.int8]:
        """Activities of the factors at every observation, (N, F); sequences are concatenated."""
        view = self._sampler.emission.factors.view()
        view.flags.writeable = False
        return view

    @property
    def startprob(self) -> NDArray[np.float64]:
        """Probabilities that factors are off and on at the first step, (F, 2)."""
        on = self._sampler.on_probs[:, 0]
        return np.stack([1.0 - on, on], axis=-1)

    @property
    def transmat(self) -> NDArray[np.float64]:
        """Transition probabilities from off, 0, and on, 1, (F, 2, 2)."""
        on = self._sampler.on_probs[:, 1:]
        return np.stack([1.0 - on, on], axis=-1)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights w, (F + 1, D), the background in row 0."""
        return self._sampler.emission.all_weights()

    @property
    def noise_variance(self) -> NDArray[np.float64]:
        """Variances of the noise, (D,), 1 for probit columns."""
        return 1.0 / self._sampler.emission.precisions

    def log_joint(self) -> float:
        """Return log p(observations, activities, weights, noise), with transitions integrated out.

        The densities of weights and noise are included if these are drawn: the density of weights
        in units of their prior scales, and that of noise as a density of log precisions.
        """
        return self._sampler.log_joint()

    def copy(self) -> FactorialState:
        """Return a state that later sweeps do not change."""
        return FactorialState(self._sampler.copy())
