"""Read-only view of the state of a chain with an inferred number of topics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.topics._shared._state import TopicState


class HDPState(TopicState):
    """The state of a chain whose number of topics is inferred."""

    @property
    def top_weights(self) -> NDArray[np.float64]:
        """Weights beta of the topics that have words, (K,); all others have the rest."""
        return as_readonly(self._sampler.weights)

    @property
    def concentration(self) -> float:
        """Concentration alpha of documents (or segments)."""
        return float(self._sampler.concentration)

    @property
    def top_concentration(self) -> float:
        """Concentration gamma of the topics' weights."""
        return float(self._sampler.top_concentration)
