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
        return _read_only(self._sampler.topics)

    @property
    def topic_word_prior(self) -> float:
        """Topic-word prior gamma."""
        return float(self._sampler.topic_word_prior)

    def log_joint(self) -> float:
        """Return log p(words, state | parameters), every constant included."""
        return self._sampler.log_joint()

    def copy(self) -> TopicState:
        """Return a state that later sweeps do not change."""
        return type(self)(self._sampler.copy())


class LDAState(TopicState):
    """The state of a chain of latent Dirichlet allocation."""

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Document-topic prior alpha, (K,)."""
        return _read_only(self._sampler.doc_topic_prior)


class TableState(LDAState):
    """The state of a table model's chain; its joint is in the multiplicity form."""

    @property
    def tables_to_document(self) -> NDArray[np.int32]:
        """Tables by segment and topic whose dish was ordered from the document's node, (J, K)."""
        return _read_only(self._sampler.assignments.tables)

    @property
    def tables_to_previous(self) -> NDArray[np.int32]:
        """Tables whose dish was ordered from the segment before, (J, K); STM: all zero."""
        to_document = self._sampler.assignments.tables
        to_previous = self._sampler.assignments.to_previous
        if to_previous.shape != to_document.shape:
            return np.broadcast_to(np.int32(0), to_document.shape)
        return _read_only(to_previous)

    @property
    def concentration(self) -> Any:
        """Concentration b: a float, or one for each document or segment as an array."""
        concentration = self._sampler.concentration
        if self._sampler.hyper.concentration_scope == "corpus":
            return float(concentration[0])
        return _read_only(concentration)

    @property
    def discount(self) -> float:
        """Discount a."""
        return float(self._sampler.discount)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
