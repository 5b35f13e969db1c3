"""Means over the kept sweeps of a chain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.inference import align_labels


class TopicAverages:
    """Means over the kept sweeps of one chain, labels following the chain.

    Topics of a chain may trade places, so before a sample is added the means so far are put into
    its order (Hungarian method on the topics' word probabilities).
    """

    def __init__(self) -> None:
        self.n = 0

    def add(self, sampler: Any) -> None:
        """Take the current state into the means."""
        components = sampler.components()
        if self.n == 0:
            n_segments, n_topics = sampler.assignments.tables.shape
            self.components = np.zeros_like(components)
            self.doc_topic = np.zeros((len(sampler.assignments.document_tables), n_topics))
            self.segment_topic = np.zeros((n_segments, n_topics))
            self.doc_topic_prior = np.zeros(n_topics)
            self.topic_word_prior = 0.0
            self.concentration = 0.0
        else:
            self._relabel(align_labels(self.components, components))
        self.components += components
        self.doc_topic_prior += sampler.doc_topic_prior
        self.topic_word_prior += sampler.topic_word_prior
        self.concentration += sampler.concentration
        sampler.add_estimates(self.doc_topic, self.segment_topic)
        self.n += 1

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means; in place, which ends the averaging, without copies."""

        def mean(total: Any) -> Any:
            if in_place and isinstance(total, np.ndarray):
                total /= self.n
                return total
            return total / self.n

        names = (
            "components doc_topic segment_topic doc_topic_prior topic_word_prior concentration"
        ).split()
        return {f"{name}_": mean(getattr(self, name)) for name in names}

    def _relabel(self, order: NDArray[np.intp]) -> None:
        """Let topic k be what so far was topic ``order[k]``."""
        if np.array_equal(order, np.arange(len(order))):
            return
        self.components = self.components[order]
        self.doc_topic_prior = self.doc_topic_prior[order]
        self.doc_topic = self.doc_topic[:, order]
        self.segment_topic = self.segment_topic[:, order]
