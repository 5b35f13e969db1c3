"""Representative segments, whose topics are the most similar to the topics of their part."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.metrics import hellinger_distance
from skdp.topics._shared._expected_topics import expect_topics


def choose_representatives(
    corpus: SegmentedCorpus,
    segment_topic: NDArray[np.float64],
    components: NDArray[np.floating],
    n_segments: int,
) -> list[NDArray[np.int64]]:
    """Return up to `n_segments` segments of each document, in reading order."""
    lengths, part_ptr = np.diff(corpus.segment_ptr), corpus._own_parts()
    found = []
    for begin, end in pairwise(corpus.doc_ptr.tolist()):
        first, last = np.searchsorted(part_ptr, (begin, end))
        tokens = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        sums = expect_topics(tokens, lengths[begin:end], segment_topic[begin:end], components)
        ranked = [
            b - begin + _rank(sums[b - begin : e - begin])
            for b, e in pairwise(part_ptr[first : last + 1].tolist())
        ]
        n_words = [int(lengths[begin + segments].sum()) for segments in ranked]
        chosen = _share_out(n_words, [len(segments) for segments in ranked], n_segments)
        kept = [segments[:n] for segments, n in zip(ranked, chosen, strict=True)]
        found.append(np.sort(np.concatenate([np.empty(0, dtype=np.int64), *kept])))
    return found


def _rank(sums: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the segments of a part that have words, the nearest to the whole part first."""
    filled = np.flatnonzero(sums.sum(axis=1))
    if len(filled) == 0:
        return filled
    distances = hellinger_distance(sums[filled], sums.sum(axis=0, keepdims=True))[:, 0]
    return filled[np.argsort(distances, kind="stable")]


def _share_out(n_words: list[int], limits: list[int], n: int) -> list[int]:
    """Return how many segments parts get: one, the largest first, then by words per segment."""
    chosen = [0] * len(n_words)
    for _ in range(min(n, sum(limits))):
        open_parts = [p for p, limit in enumerate(limits) if chosen[p] < limit]
        best = max(open_parts, key=lambda p: (chosen[p] == 0, n_words[p] / (chosen[p] + 1)))
        chosen[best] += 1
    return chosen
