"""Read-only view of the state of a chain of sections and paragraphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.topics._shared._state import TopicState


class SectionState(TopicState):
    """The state of a chain; its joint is in the multiplicity form."""

    @property
    def paragraph_tables(self) -> NDArray[np.int32]:
        """Tables of paragraphs by topic, customers of their sections, (n_paragraphs, K)."""
        return as_readonly(self._sampler.shards[0].paragraph_tables)

    @property
    def section_tables(self) -> NDArray[np.int32]:
        """Tables of sections by topic, (n_sections, K)."""
        return as_readonly(self._sampler.shards[0].section_tables)

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Prior alpha of the topic shares of documents, (K,)."""
        return as_readonly(self._sampler.doc_topic_prior)

    @property
    def concentration(self) -> NDArray[np.float64]:
        """Concentrations b of sections and of paragraphs, (2,)."""
        return as_readonly(self._sampler.concentration)

    @property
    def discount(self) -> NDArray[np.float64]:
        """Discounts a of sections and of paragraphs, (2,)."""
        return as_readonly(self._sampler.discount)
