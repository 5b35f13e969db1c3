"""Public state of the sampler after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats


class LinkState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def links(self) -> NDArray[np.int64]:
        """Observation that each observation links to, (n,); itself: none."""
        return as_readonly(self._sampler.links)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Component of every observation, (n,), from 0 to the number of components minus 1."""
        return as_readonly(self._sampler.labels)

    @property
    def decay(self) -> Floats | None:
        """Decays lambda, (n_features,), of the product similarity; None for other similarities."""
        return self._parameter("decay")

    @property
    def weights(self) -> Floats | None:
        """Weights of the columns, (n_features,), of the overlap; None for other similarities."""
        return self._parameter("weight")

    def _parameter(self, name: str) -> Floats | None:
        similarity = self._sampler.similarity
        return as_readonly(similarity.parameter) if similarity.name == name else None

    @property
    def concentration(self) -> float:
        """Concentration alpha."""
        return float(self._sampler.concentration)

    @property
    def outcome_prior(self) -> float:
        """Parameter gamma of the prior on distributions of outcomes."""
        return float(self._sampler.outcome_prior)

    def log_joint(self) -> float:
        """Return log p(links, outcomes) given the parameters."""
        return float(self._sampler.log_joint())

    def copy(self) -> LinkState:
        """Return a state that later sweeps do not change."""
        return LinkState(self._sampler.copy())
