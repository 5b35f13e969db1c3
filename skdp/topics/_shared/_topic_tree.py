"""Trees of topics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._merge_tree import MergeTree
from skdp.topics._shared._kernels_merges import merge_topics


def make_topic_tree(components: NDArray[np.float64], tokens: NDArray[np.float64]) -> MergeTree:
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
    return MergeTree(merges, losses / max(tokens.sum(), 1.0), tokens)
