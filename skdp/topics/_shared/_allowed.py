"""Documents with the topics that their words may have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus


class AllowedTopics(NamedTuple):
    """Topics that the words of nodes, documents or segments, may have.

    If the number of topics is inferred, the last column of `sets` stands for all topics beyond.
    """

    sets: NDArray[np.bool_]  # (n_sets, K), whether a topic is in a set; no set is empty
    set_of: NDArray[np.int64]  # (nodes,), the set of each

    @classmethod
    def every(cls, n_topics: int, n_nodes: int) -> AllowedTopics:
        """Return all topics for each node."""
        return cls(np.ones((1, n_topics), dtype=np.bool_), np.zeros(n_nodes, dtype=np.int64))

    def of_nodes(self, first: int, last: int) -> AllowedTopics:
        """Return the topics of nodes `first` to `last` - 1."""
        return AllowedTopics(self.sets, self.set_of[first:last])

    def of_segments(self, n_segments: NDArray[np.int64]) -> AllowedTopics:
        """Return the topics of segments; `n_segments` are their numbers by document."""
        return AllowedTopics(self.sets, np.repeat(self.set_of, n_segments))

    def widened(self, n_topics: int) -> AllowedTopics:
        """Return sets of `n_topics` topics, given those whose last column stands for more."""
        n_more = n_topics - self.sets.shape[1] + 1
        more = np.repeat(self.sets[:, -1:], n_more, axis=1)
        return AllowedTopics(np.hstack([self.sets[:, :-1], more]), self.set_of)

    def of_words(self, node_ptr: NDArray[np.int64]) -> AllowedTopics:
        """Return the topics of words; `node_ptr` (nodes + 1,) is the first word of each node."""
        return AllowedTopics(self.sets, np.repeat(self.set_of, np.diff(node_ptr)))

    def restrict(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of nodes (nodes, K) given that another word obeys the sets, too."""
        shares = np.where(self.sets[self.set_of], shares, 0.0)
        return shares / shares.sum(axis=1, keepdims=True)


class LabeledCorpus(NamedTuple):
    """Documents, and the topics that their words may have."""

    corpus: SegmentedCorpus
    allowed: AllowedTopics

    def by_segment(self, n_topics: int) -> LabeledCorpus:
        """Return the documents with the topics of segments, given those of documents."""
        allowed = self.allowed.widened(n_topics).of_segments(np.diff(self.corpus.doc_ptr))
        return LabeledCorpus(self.corpus, allowed)
