"""Trees of topics: which are merged, from all of them to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_count
from skdp.topics._shared._kernels_merges import merge_topics


class TopicTree:
    """Successive merges of two topics, those that lose the least likelihood first.

    Parameters
    ----------
    merges : (n_topics - 1, 2) int array
        The two clusters of each merge. Topics are clusters 0 to n_topics - 1; merge i makes cluster
        n_topics + i.
    losses : (n_topics - 1,) array
        Loss of each merge, in nats per word of the training corpus.
    tokens : (n_topics,) array
        Expected numbers of training tokens of the topics.
    """

    def __init__(
        self, merges: NDArray[np.int64], losses: NDArray[np.float64], tokens: NDArray[np.float64]
    ):
        self.merges, self.losses, self.tokens = merges, losses, tokens

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.tokens)

    @property
    def linkage(self) -> NDArray[np.float64]:
        """Linkage matrix (n_topics - 1, 4) for `scipy.cluster.hierarchy`.

        The height of a merge is the sum of the losses so far.
        """
        sizes = np.ones(2 * self.n_topics - 1)
        for i, (a, b) in enumerate(self.merges):
            sizes[self.n_topics + i] = sizes[a] + sizes[b]
        heights = np.cumsum(self.losses)
        return np.column_stack([self.merges, heights, sizes[self.n_topics :]])

    def labels(self, n_topics: int) -> NDArray[np.int64]:
        """Return the coarse topic of every topic, (self.n_topics,).

        Parameters
        ----------
        n_topics : int
            Number of coarse topics, from 1 to the number of topics. They are numbered by
            decreasing numbers of tokens.

        Raises
        ------
        ValueError
            If `n_topics` is out of range.
        """
        n_topics = check_count(n_topics, "n_topics", at_least=1)
        if n_topics > self.n_topics:
            raise ValueError(
                f"n_topics must be at most the number of topics, {self.n_topics}, got {n_topics}."
            )
        cluster_of = np.arange(self.n_topics)
        for i, pair in enumerate(self.merges[: self.n_topics - n_topics]):
            cluster_of[np.isin(cluster_of, pair)] = self.n_topics + i
        _, labels = np.unique(cluster_of, return_inverse=True)
        sizes = np.bincount(labels, weights=self.tokens)
        ranks = np.empty(n_topics, dtype=np.int64)
        ranks[np.argsort(-sizes, kind="stable")] = np.arange(n_topics)
        return ranks[labels]


def make_topic_tree(components: NDArray[np.float64], tokens: NDArray[np.float64]) -> TopicTree:
    """Return the tree of greedy merges.

    The smallest probability of a topic is that of a word that it does not have: it comes from the
    prior, and is subtracted before probabilities are turned into counts of words.

    Parameters
    ----------
    components : (K, W) array
        Word probabilities.
    tokens : (K,) array
        Numbers of tokens.
    """
    counts = components - components.min(axis=1, keepdims=True)
    sums = counts.sum(axis=1)
    is_flat = sums <= 1e-12  # all words have the same probability
    counts[is_flat], sums[is_flat] = 1.0, components.shape[1]
    counts *= (tokens / sums)[:, np.newaxis]
    n_topics = len(components)
    merges, losses = np.empty((n_topics - 1, 2), dtype=np.int64), np.empty(n_topics - 1)
    merge_topics(counts, counts.sum(axis=1), merges, losses)
    return TopicTree(merges, losses / max(tokens.sum(), 1.0), tokens)
