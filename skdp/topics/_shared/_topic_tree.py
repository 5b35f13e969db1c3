"""Trees of topics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._merge_tree import MergeTree
from skdp.topics._shared._kernels_merges import merge_topics


def make_topic_tree(
    components: NDArray[np.float64],  # (K, W)
    tokens: NDArray[np.float64],  # (K,)
    pseudo_counts: NDArray[np.float64],  # (K, W), a_kw of the prior; 0 if the words are given
) -> MergeTree:
    """Return the tree of greedy merges of topics."""
    totals = tokens + pseudo_counts.sum(axis=1)
    # One sample's probabilities (n_kw + a_kw) / (n_k + a_k), solved for n_kw: approximate for means
    # of samples, so that words that a topic does not have may have slightly less than 0.
    counts = np.maximum(components * totals[:, np.newaxis] - pseudo_counts, 0.0)
    n_topics = len(components)
    merges, losses = np.empty((n_topics - 1, 2), dtype=np.int64), np.empty(n_topics - 1)
    merge_topics(counts, counts.sum(axis=1), merges, losses)
    return MergeTree(merges, losses / max(tokens.sum(), 1.0), tokens)
