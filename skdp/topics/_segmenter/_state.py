"""Read-only view of the state of a chain of topics and cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.topics._shared._state import TopicState


class SegmenterState(TopicState):
    """The state of a chain of topics and cuts."""

    @property
    def starts(self) -> NDArray[np.int8]:
        """Whether a part begins at each unit, (n_units,); 1 at the first of a document."""
        return as_readonly(self._sampler.shards[0].starts)

    @property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic shares mu of the documents, (n_documents, K)."""
        return as_readonly(self._sampler.shards[0].shares)

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Prior alpha of the topic shares of documents, (K,)."""
        return as_readonly(self._sampler.doc_topic_prior)

    @property
    def concentration(self) -> float:
        """Concentration b of parts."""
        return float(self._sampler.concentration)

    @property
    def cut_probability(self) -> float:
        """Probability rho of a cut in a gap."""
        return float(self._sampler.cut_probability)
