"""Read-only view of the state of a latent Dirichlet co-clustering chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.topics._shared._state import TopicState


class CoClusterState(TopicState):
    """The state of a chain of latent Dirichlet co-clustering."""

    @property
    def segment_clusters(self) -> NDArray[np.int32]:
        """Document-topic y of every segment, (n_segments,)."""
        return as_readonly(self._sampler.clusters)

    @property
    def document_topic_prior(self) -> NDArray[np.float64]:
        """Prior delta of a document's shares of document-topics, (Y,)."""
        return as_readonly(self._sampler.document_topic_prior)

    @property
    def segment_topic_prior(self) -> NDArray[np.float64]:
        """Priors alpha_y of the shares of a segment, (Y, K)."""
        return as_readonly(self._sampler.segment_topic_prior)
