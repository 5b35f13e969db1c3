"""Kernels shared by the samplers of all topic models: word counts and their probabilities.

K topics, W words in the vocabulary, n tokens, J segments, D documents; K' is K padded to whole
vectors.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, segment_ptr, doc_ptr | w | (n,), (J + 1,), (D + 1,) | the flat corpus |
| part_begin | | (J,) int64 | first segment of the part of the document to which j belongs |
| counts, totals | M_kw, M_k | (W, K') float32, (K',) | words by topic; fixed topics: phi and 0 |
| gamma | | scalar | Dirichlet prior of the topics |
| segment_topic | nu_jk | (J, K) | shares of topics |
| components | phi_kw | (K, W) float32 | word probabilities |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_loop

AHEAD = 3
"""Distance in words from the current word to the word whose counts are prefetched."""

MORE, LESS = np.int64(1), np.int64(-1)
"""Change of a count. They are int64, because numba compiles a separate version for Python ints."""


class Corpus(NamedTuple):
    """A flat corpus of words."""

    tokens: np.ndarray
    segment_ptr: np.ndarray
    doc_ptr: np.ndarray
    part_begin: np.ndarray


class WordCounts(NamedTuple):
    """Words by topic; if topics are `fixed`, their word probabilities, which never change."""

    counts: np.ndarray
    totals: np.ndarray
    fixed: bool


@njit
def log_rising(x, n):
    """Return log of x (x + 1) ... (x + n - 1), accurate even if lgamma would cancel."""
    if n > 64 and x < 1e4:
        return math.lgamma(x + n) - math.lgamma(x)
    result = 0.0
    for i in range(n):
        result += math.log(x + i)
    return result


@njit
def log_likelihood_of_words(counts, totals, n_topics, gamma):
    """Return log p(w | z): the word factor of (5.2)."""
    n_words = counts.shape[0]
    at_zero = math.lgamma(gamma)
    result = n_topics * math.lgamma(n_words * gamma)
    for k in range(n_topics):
        result -= math.lgamma(n_words * gamma + totals[k])
    for w in range(n_words):
        for k in range(n_topics):
            if counts[w, k] > 0:
                result += math.lgamma(gamma + counts[w, k]) - at_zero
    return result


@njit
def score_tokens(scored, segment_of, segment_topic, components, out):
    """Add p(w) = sum_k nu_jk phi_kw of every scored token to `out` (n,)."""
    for i in range(scored.shape[0]):
        p = 0.0
        for k in range(segment_topic.shape[1]):
            p += segment_topic[segment_of[i], k] * components[k, scored[i]]
        out[i] += p


@njit_loop
def rename_topics(topics, names):
    """Relabel the topic of every word."""
    for i in range(topics.shape[0]):
        topics[i] = names[topics[i]]
