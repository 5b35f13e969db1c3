"""The arrays of kernels: made of a corpus, of given topics, or empty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._simd import padded
from skdp.data import SegmentedCorpus
from skdp.processes import StirlingRatios
from skdp.topics._kernels import Assignments, Corpus, Ratios, Scratch, WordCounts
from skdp.topics._kernels_btigs import weigh_tables

MAX_COUNT = 2**24
"""Counts of a word in a topic are whole numbers in single precision: exact up to here."""


def check_counts(corpus: SegmentedCorpus) -> None:
    """Raise if a word occurs more often than counts can hold."""
    if len(corpus.tokens) > MAX_COUNT:
        frequencies = np.bincount(corpus.tokens)
        if frequencies.max() > MAX_COUNT:
            raise ValueError(
                f"X holds the word {frequencies.argmax()} {frequencies.max()} times; no word may "
                f"occur more than {MAX_COUNT} times."
            )


def flat(corpus: SegmentedCorpus) -> Corpus:
    """Return the arrays of a corpus as kernels take them."""
    return Corpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr)


def empty_assignments(corpus: SegmentedCorpus, n_topics: int, sampler: str) -> Assignments:
    """Return the state in which no word has a topic yet."""
    n_segments = len(corpus.segment_ptr) - 1
    n_seats = len(corpus.tokens) if sampler == "ssa" else 0
    return Assignments(
        topics=np.full(len(corpus.tokens), -1, dtype=np.int32),
        tables=np.zeros((n_segments, n_topics), dtype=np.int32),
        segment_tables=np.zeros(n_segments, dtype=np.int64),
        document_tables=np.zeros((len(corpus), n_topics), dtype=np.int32),
        seat_topics=np.zeros(n_seats, dtype=np.int32),
        seat_sizes=np.zeros(n_seats, dtype=np.int32),
    )


def empty_scratch(n_topics: int) -> Scratch:
    """Return vectors for the kernels."""
    integers = [np.zeros(n_topics, dtype=np.int64) for _ in range(3)]
    reals = [np.ones(n_topics) for _ in range(4)]
    vectors = [np.zeros(padded(n_topics), dtype=np.float32) for _ in range(2)]
    return Scratch(integers[0], *reals, *vectors, *integers[1:])


def stirling_ratios(corpus: SegmentedCorpus, discount: float) -> Ratios:
    """Return the table of Stirling ratios U and V for the segments of a corpus."""
    longest = int(np.diff(corpus.segment_ptr).max(initial=0))
    table = StirlingRatios.for_counts(longest + 1, discount)
    return Ratios(table.values, table.row_ptr)


def sampler_weights(stirling: Ratios, sampler: str) -> Ratios:
    """Return the table that a sampler looks its weights up in."""
    if sampler != "btigs":
        return stirling
    weights = np.empty_like(stirling.values)
    weigh_tables(stirling.values, stirling.row_ptr, weights)
    return Ratios(weights, stirling.row_ptr)


def empty_counts(n_words: int, n_topics: int) -> WordCounts:
    """Return counts of no words."""
    width = padded(n_topics)
    return WordCounts(np.zeros((n_words, width), dtype=np.float32), np.zeros(width), False)


SMALLEST = np.float32(1e-25)
"""Least probability of a word in fixed topics: a word that no topic knows says nothing."""


def fixed_words(components: NDArray[np.floating]) -> WordCounts:
    """Return given topics (K, W) in the place of counts."""
    n_topics, n_words = components.shape
    phi = np.zeros((n_words, padded(n_topics)), dtype=np.float32)
    phi[:, :n_topics] = np.maximum(components.T, SMALLEST)
    return WordCounts(phi, np.zeros(phi.shape[1]), True)
