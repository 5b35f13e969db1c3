"""Read-only view of a topic model's state after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly


class TopicState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def topics(self) -> NDArray[np.int32]:
        """Topic z of every token, (n_tokens,)."""
        return as_readonly(self._sampler.topics)

    @property
    def topic_word_prior(self) -> float:
        """Topic-word prior gamma."""
        return float(self._sampler.topic_word_prior)

    def log_joint(self) -> float:
        """Return log p(words, state | parameters), including every constant."""
        return self._sampler.log_joint()

    def copy(self) -> TopicState:
        """Return a state that later sweeps do not change."""
        return type(self)(self._sampler.copy())
