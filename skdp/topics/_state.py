"""What a chain shows of itself after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class TopicState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def topics(self) -> NDArray[np.int32]:
        """Topic z of every token, (n_tokens,)."""
        return _read_only(self._sampler.assignments.topics)

    @property
    def tables_to_document(self) -> NDArray[np.int32]:
        """Tables by segment and topic whose dish was ordered from the document's node."""
        return _read_only(self._sampler.assignments.tables)

    @property
    def tables_to_previous(self) -> NDArray[np.int32]:
        """Tables whose dish was ordered from the segment before: all zero."""
        return np.broadcast_to(np.int32(0), self._sampler.assignments.tables.shape)

    @property
    def concentration(self) -> float:
        """Concentration b."""
        return float(self._sampler.concentration)

    @property
    def discount(self) -> float:
        """Discount a."""
        return float(self._sampler.hyper.discount)

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Document-topic prior alpha, (K,)."""
        return _read_only(self._sampler.doc_topic_prior)

    @property
    def topic_word_prior(self) -> float:
        """Topic-word prior gamma."""
        return float(self._sampler.topic_word_prior)

    def log_joint(self) -> float:
        """Return log p(w, z, t | parameters) in the multiplicity form, every constant included."""
        return self._sampler.log_joint()

    def copy(self) -> TopicState:
        """Return a state that later sweeps do not change."""
        return TopicState(self._sampler.copy())


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
