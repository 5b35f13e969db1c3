"""Read-only view of a latent Dirichlet allocation chain's state after a sweep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.topics._shared._state import TopicState


class LDAState(TopicState):
    """The state of a chain of latent Dirichlet allocation."""

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Document-topic prior alpha, (K,)."""
        return as_readonly(self._sampler.doc_topic_prior)


class BurstyLDAState(LDAState):
    """The state of a chain of latent Dirichlet allocation whose words come in bursts."""

    @property
    def topic_word_discount(self) -> float:
        """Discount a of the topics."""
        return float(self._sampler.discount)

    @property
    def topic_word_concentration(self) -> float:
        """Concentration b of the topics."""
        return float(self._sampler.concentration)

    @property
    def word_tables(self) -> NDArray[np.int32]:
        """Numbers of tables by topic and word, (K, W)."""
        sampler = self._sampler
        return as_readonly(sampler.tables[:, : sampler.n_topics].T)
