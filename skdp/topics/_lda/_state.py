"""Read-only view of a latent Dirichlet allocation chain's state after a sweep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp.topics._shared._state import TopicState, read_only


class LDAState(TopicState):
    """The state of a chain of latent Dirichlet allocation."""

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Document-topic prior alpha, (K,)."""
        return read_only(self._sampler.doc_topic_prior)
