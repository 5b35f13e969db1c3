"""Arrays of kernels: from a corpus, from given topics, or empty."""

from __future__ import annotations

from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._simd import aligned_zeros, padded
from skdp._numeric._typing import Ints, Places
from skdp.data import SegmentedCorpus
from skdp.topics._shared._kernels import Corpus, WordCounts

MAX_COUNT = 2**24
"""Counts of a word in a topic are single-precision integers, which are exact up to here."""

MAX_TOTAL = 2.0**53
"""Larger totals are those of fixed topics, whose columns hold no counts."""


def check_counts(words: WordCounts) -> None:
    """Raise if a word may have occurred in a topic more often than its count can represent."""
    if words.totals.sum() < MAX_COUNT:  # no sum of counts is rounded
        return
    # A saturated count does not increase, while totals do; so they differ once a word was lost.
    sums = words.counts.sum(axis=0, dtype=np.float64)
    largest = words.counts.max(axis=0)
    overflows = (sums != words.totals) | (largest >= MAX_COUNT)
    overflows &= words.totals <= MAX_TOTAL
    if overflows.any():
        k = int(np.argmax(np.where(overflows, largest, -1.0)))
        refuse_count(int(words.counts[:, k].argmax()), k)


def refuse_count(word: int, topic: int) -> NoReturn:
    """Raise because the count of a word in a topic is too large."""
    raise ValueError(
        f"The word {word} occurs {MAX_COUNT} times or more in topic {topic}, which is more than "
        "counts can hold. Use more topics, or leave so common a word out."
    )


def flat(corpus: SegmentedCorpus) -> Corpus:
    """Return the arrays of a corpus in the form that kernels take."""
    part_ptr = corpus.doc_ptr if corpus.part_ptr is None else corpus.part_ptr
    part_begin = as_readonly(np.repeat(part_ptr[:-1], np.diff(part_ptr)))
    return Corpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr, part_begin)


def sort_words(corpus: SegmentedCorpus) -> SegmentedCorpus:
    """Return a corpus with the words of each segment sorted by id."""
    segments = np.repeat(np.arange(len(corpus.segment_ptr) - 1), np.diff(corpus.segment_ptr))
    first_keys = segments * corpus.n_features
    tokens = np.sort(first_keys + corpus.tokens) - first_keys
    return corpus._like(tokens.astype(np.int32), (corpus.doc_ptr, corpus.segment_ptr))


def split_documents(corpus: SegmentedCorpus, n_shards: int) -> list[tuple[int, int]]:
    """Return ranges of documents with about equal numbers of tokens; some may be empty."""
    ends = corpus.segment_ptr[corpus.doc_ptr[1:]]
    targets = np.arange(1, n_shards) * (len(corpus.tokens) / n_shards)
    bounds = np.searchsorted(ends, targets, side="left") + (n_shards > 1)
    bounds = np.concatenate([[0], np.minimum(bounds, len(corpus)), [len(corpus)]])
    return [(int(begin), int(end)) for begin, end in pairwise(bounds)]


def empty_counts(n_words: int, n_topics: int) -> WordCounts:
    """Return zero counts."""
    width = padded(n_topics)
    return WordCounts(
        aligned_zeros((n_words, width), dtype=np.float32), aligned_zeros(width), False
    )


SMALLEST = np.float32(1e-25)
"""Smallest probability of a word in fixed topics, so that unknown words are uninformative."""


def close_gaps(words: WordCounts) -> tuple[Places, Places, Ints]:
    """Move the last topics with words into gaps; return used columns, the gaps, and new numbers.

    Topics with seed words or given words have totals, so they keep their numbers.
    """
    counts, totals, _ = words
    used = np.flatnonzero(totals)
    gaps = np.flatnonzero(totals[: len(used)] == 0.0)
    names = np.arange(len(totals), dtype=np.int32)
    if len(gaps):
        late = used[used >= len(used)]
        names[late] = gaps
        counts[:, gaps], totals[gaps] = counts[:, late], totals[late]
        counts[:, late], totals[late] = 0.0, 0.0
    return used, gaps, names


def fixed_words(components: NDArray[np.floating]) -> WordCounts:
    """Return given topics (K, W) in the form of counts."""
    n_topics, n_words = components.shape
    phi = aligned_zeros((n_words, padded(n_topics)), dtype=np.float32)
    phi[:, :n_topics] = np.maximum(components.T, SMALLEST)
    return WordCounts(phi, aligned_zeros(phi.shape[1]), True)
