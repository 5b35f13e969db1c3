"""Trees of topics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._merge_tree import MergeTree
from skdp.topics._shared._kernels_merges import merge_topics


def make_topic_tree(
    components: NDArray[np.float64],
    tokens: NDArray[np.float64],
    pseudo_counts: NDArray[np.float64],
) -> MergeTree:
    """Return the tree of greedy merges.

    With n_kw words and pseudo-counts a_kw, of sum a_k, the word probabilities of one sample are
    (n_kw + a_kw) / (n_k + a_k). This is solved for n_kw. For means of samples the result is
    approximate, and a word that a topic does not have may have slightly less than 0, so the counts
    are at least 0.

    Parameters
    ----------
    components : (K, W) array
        Word probabilities.
    tokens : (K,) array
        Numbers of tokens.
    pseudo_counts : (K, W) array
        The part of the prior; 0 in topics whose words are given.
    """
    totals = tokens + pseudo_counts.sum(axis=1)
    counts = np.maximum(components * totals[:, np.newaxis] - pseudo_counts, 0.0)
    n_topics = len(components)
    merges, losses = np.empty((n_topics - 1, 2), dtype=np.int64), np.empty(n_topics - 1)
    merge_topics(counts, counts.sum(axis=1), merges, losses)
    return MergeTree(merges, losses / max(tokens.sum(), 1.0), tokens)
