"""Collapsed Gibbs sampling of latent Dirichlet co-clustering (Du, 2012, section 5.5.2).

Symbols and shapes: K word-topics, Y document-topics, W words in the vocabulary, n tokens,
J segments, D documents; K' is K padded to whole vectors.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, segment_ptr, doc_ptr | w | (n,), (J + 1,), (D + 1,) | the flat corpus |
| topics | z | (n,) int32 | word-topic of each word, -1 before it is seated |
| clusters | y | (J,) int32 | document-topic of each segment, or -1 |
| counts, totals | M_kw, M_k | (W, K') float32, (K',) | words by topic; fixed topics: phi and 0 |
| delta | delta_y | (Y,) | Dirichlet prior of a document's weights of document-topics |
| alpha | alpha_yk | (Y, K) | Dirichlet prior of the shares of a segment of document-topic y |
| gamma | | scalar | Dirichlet prior of topics |
| c_y | c_iy | (Y,) int64 | segments of the current document by document-topic |
| n_k | n_sk | (K,) int64 | words of the current segment by topic |
| base | alpha_yk + n_sk | (K,) | weight of a topic in the current segment |
| reciprocal | 1 / (W gamma + M_k) | (K,) | denominator of the word factor; 1 if topics are fixed |
| factor | base x reciprocal | (K',) float32 | weight of a topic without (M_kw + gamma) |
| sums | | (1, LANES + K') float32 | running sums of a word's weights: see `sum_product` |
| before | | (longest segment,) int32 | topics of a segment's words before it is moved |
| by_topic | log (alpha_yk)_m | (K, m, Y) | logs of rising factorials, for small counts m |
| by_length | log (A_y)_n | (n, Y) | logs for A_y = sum_k alpha_yk, for short segments |
| doc_topic | theta_iy | (D, Y) | sums of E[theta_iy] = (delta_y + c_iy) / (delta. + c_i.) |
| segment_topic | pi_sk | (J, K) | sums of E[pi_sk] = (alpha_yk + n_sk) / (A_y + n_s) |

Given y, a segment is a document of latent Dirichlet allocation with prior alpha_y: a word w, which
is not counted itself, gets topic k with weight ``(counts[w, k] + gamma) * factor[k]``. Given z,
segment s, which is not counted in c, gets document-topic y with weight

    (delta_y + c_iy) B_K(alpha_y + n_s) / B_K(alpha_y),

where the ratio of Beta functions is prod_k (alpha_yk)_{n_sk} / (A_y)_{n_s}, over the topics of the
segment. Then y and z of the segment may move together: see `move_segment`. A segment without words
has a document-topic like any other, but does not affect the estimates, where it is integrated out.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_forceinline,
    njit_inlined_source,
    njit_internal,
    njit_internal_nogc,
    njit_loop,
)
from skdp._numeric._random import draw_categorical, next_double, stream_of_segments
from skdp._numeric._simd import LANES, padded, prefetch
from skdp.topics._kernels._counts import LESS, MORE, log_rising
from skdp.topics._kernels._lda import enter_node, find_sum, move_word, sum_product

LARGEST_COUNT = 32
LONGEST_SEGMENT = 512
"""Bounds up to which logs of rising factorials are tabulated; they do not affect the values."""


class Clustering(NamedTuple):
    """State of a chain."""

    topics: np.ndarray
    clusters: np.ndarray


class ClusterPrior(NamedTuple):
    """Dirichlet priors of documents and of segments."""

    delta: np.ndarray
    alpha: np.ndarray


class Rising(NamedTuple):
    """Logs of rising factorials of `alpha` and of its sums."""

    by_topic: np.ndarray
    by_length: np.ndarray


class ClusterScratch(NamedTuple):
    """Scratch vectors of the sweep; between two segments `n_k` is zero."""

    n_k: np.ndarray
    base: np.ndarray
    reciprocal: np.ndarray
    factor: np.ndarray
    sums: np.ndarray
    c_y: np.ndarray
    weights: np.ndarray
    before: np.ndarray


def empty_cluster_scratch(n_topics: int, n_clusters: int, longest: int) -> ClusterScratch:
    """Return scratch vectors for `sweep_documents`."""
    width = padded(n_topics)
    return ClusterScratch(
        np.zeros(n_topics, np.int64),
        np.zeros(n_topics),
        np.zeros(n_topics),
        np.zeros(width, np.float32),
        np.zeros((1, LANES + width), np.float32),
        np.zeros(n_clusters, np.int64),
        np.zeros(n_clusters),
        np.zeros(longest, np.int32),
    )


def tabulate_rising(alpha: np.ndarray, longest: int) -> Rising:
    """Return logs of rising factorials for segments of up to `longest` words."""
    n_clusters, n_topics = alpha.shape
    by_topic = np.zeros((n_topics, min(longest, LARGEST_COUNT) + 1, n_clusters))
    by_length = np.zeros((min(longest, LONGEST_SEGMENT) + 1, n_clusters))
    _tabulate(alpha, by_topic, by_length)
    return Rising(by_topic, by_length)


# numba's np.zeros and np.sum would take longer to compile than the code around them here.


@njit_inlined_source
def sum_of(values):
    """Return the sum of a vector."""
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i]
    return total


@njit
def _tabulate(alpha, by_topic, by_length):
    n_clusters, n_topics = alpha.shape
    for k in range(n_topics):
        for m in range(1, by_topic.shape[1]):
            for y in range(n_clusters):
                by_topic[k, m, y] = by_topic[k, m - 1, y] + math.log(alpha[y, k] + (m - 1))
    for y in range(n_clusters):
        total = sum_of(alpha[y])
        for n in range(1, by_length.shape[0]):
            by_length[n, y] = by_length[n - 1, y] + math.log(total + (n - 1))


@njit_internal
def weigh_length(n, alpha, by_length, weights):
    """Set `weights` to -log (A_y)_n."""
    if n < by_length.shape[0]:
        for y in range(weights.shape[0]):
            weights[y] = -by_length[n, y]
        return
    for y in range(weights.shape[0]):
        weights[y] = -log_rising(sum_of(alpha[y]), n)


@njit_internal
def weigh_topic(k, m, alpha, by_topic, weights):
    """Add log (alpha_yk)_m to `weights`."""
    if m < by_topic.shape[1]:
        for y in range(weights.shape[0]):
            weights[y] += by_topic[k, m, y]
        return
    for y in range(weights.shape[0]):
        weights[y] += log_rising(alpha[y, k], m)


@njit_forceinline
def count_clusters(first, last, clusters, c_y):
    """Write the numbers of segments `first` to `last` - 1 by document-topic to `c_y`."""
    for y in range(c_y.shape[0]):
        c_y[y] = 0
    for s in range(first, last):
        if clusters[s] >= 0:
            c_y[clusters[s]] += 1


@njit_forceinline
def draw_cluster(begin, end, topics, delta, alpha, by_topic, by_length, n_k, c_y, weights, rng):
    """Draw the document-topic of the uncounted segment of words `begin` to `end` - 1."""
    weigh_length(end - begin, alpha, by_length, weights)
    for i in range(begin, end):
        n_k[topics[i]] += 1
    for i in range(begin, end):
        k = topics[i]
        if n_k[k] > 0:
            weigh_topic(k, n_k[k], alpha, by_topic, weights)
            n_k[k] = 0
    largest = weights[0]
    for y in range(1, weights.shape[0]):
        largest = max(largest, weights[y])
    total = 0.0
    for y in range(weights.shape[0]):
        weights[y] = (delta[y] + c_y[y]) * math.exp(weights[y] - largest)
        total += weights[y]
    return draw_categorical(weights, total, rng)


@njit_forceinline
def draw_prior_cluster(delta, c_y, weights, rng):
    """Draw the document-topic of a segment from the prior; the segment is not counted itself."""
    total = 0.0
    for y in range(weights.shape[0]):
        weights[y] = delta[y] + c_y[y]
        total += weights[y]
    return draw_categorical(weights, total, rng)


@njit_forceinline
def draw_topic(total, n_topics, sums, rng):
    """Draw a topic from the running sums of `sum_product`, whose last one is `total`."""
    target = np.float32(next_double(rng)) * total
    return min(find_sum(sums, 0, sums.shape[1] - LANES, target), n_topics - 1)


@njit_internal_nogc
def seat_words(
    begin, end, tokens, topics, draws, row, counts, totals, fixed, gamma, base, reciprocal, factor,
    sums, rng,
):  # fmt: skip
    """Seat the words of a segment in turn; return an estimate of log p of the segment.

    It is that of the topics in `topics` or, if `draws`, of those that are drawn in the process.
    """
    n_topics, shift, offset = row.shape[0], gamma * counts.shape[0], np.float32(gamma)
    enter_node(begin, begin, row, topics, base, reciprocal, factor)
    size = sum_of(row)
    log_weight = 0.0
    for i in range(begin, end):
        w = tokens[i]
        total = sum_product(counts, w, offset, factor, sums, 0)
        log_weight += math.log(total / (size + (i - begin)))
        if draws:
            topics[i] = draw_topic(total, n_topics, sums, rng)
        k = np.int64(topics[i])
        move_word(w, k, MORE, fixed, counts, totals, shift, base, reciprocal, factor)
    return log_weight


@njit_internal_nogc
def unseat_words(
    begin, end, tokens, topics, counts, totals, fixed, gamma, base, reciprocal, factor
):  # fmt: skip
    """Remove the words of a segment from all counts."""
    shift = gamma * counts.shape[0]
    for i in range(begin, end):
        w, k = tokens[i], np.int64(topics[i])
        move_word(w, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor)


@njit_internal_nogc
def move_segment(
    begin, end, y, tokens, topics, words, delta, alpha, gamma, c_y, weights, base, reciprocal,
    factor, sums, before, rng,
):  # fmt: skip
    """Propose another document-topic for a segment, with other topics of its words; return it.

    If rows of alpha are sparse, y and z hold each other in place, and can only move together. The
    acceptance of this independence sampler depends only on the sums of weights along the way. The
    segment is not counted in `c_y`; its words are seated.
    """
    counts, totals, fixed = words.counts, words.totals, words.fixed
    proposed = draw_prior_cluster(delta, c_y, weights, rng)
    if proposed == y:
        return y
    for i in range(begin, end):
        before[i - begin] = topics[i]
    unseat_words(begin, end, tokens, topics, counts, totals, fixed, gamma, base, reciprocal, factor)
    log_before = seat_words(
        begin, end, tokens, topics, False, alpha[y], counts, totals, fixed, gamma, base,
        reciprocal, factor, sums, rng,
    )  # fmt: skip
    unseat_words(begin, end, tokens, topics, counts, totals, fixed, gamma, base, reciprocal, factor)
    log_proposed = seat_words(
        begin, end, tokens, topics, True, alpha[proposed], counts, totals, fixed, gamma, base,
        reciprocal, factor, sums, rng,
    )  # fmt: skip
    if math.log(1.0 - next_double(rng)) < log_proposed - log_before:
        return proposed
    shift = gamma * counts.shape[0]
    for i in range(begin, end):
        w, k = tokens[i], np.int64(topics[i])
        move_word(w, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor)
        k = np.int64(before[i - begin])
        move_word(w, k, MORE, fixed, counts, totals, shift, base, reciprocal, factor)
        topics[i] = k
    return y


@njit_loop
def sweep_documents(first, last, corpus, clustering, words, prior, gamma, rising, scratch, rng):
    """Draw the topics of the words, and the document-topic, of every segment of documents once.

    Values of -1 are only drawn, a segment's before its words. If topics are fixed, `gamma` is 0.
    """
    tokens, segment_ptr, doc_ptr = corpus.tokens, corpus.segment_ptr, corpus.doc_ptr
    topics, clusters = clustering.topics, clustering.clusters
    counts, totals, fixed = words.counts, words.totals, words.fixed
    delta, alpha = prior.delta, prior.alpha
    by_topic, by_length = rising.by_topic, rising.by_length
    n_k, base, reciprocal = scratch.n_k, scratch.base, scratch.reciprocal
    factor, sums, c_y, weights = scratch.factor, scratch.sums, scratch.c_y, scratch.weights
    before = scratch.before
    n_tokens, shift, offset = tokens.shape[0], gamma * counts.shape[0], np.float32(gamma)
    n_topics = alpha.shape[1]
    for k in range(n_topics):
        reciprocal[k] = 1.0 if fixed else 1.0 / (shift + totals[k])
    for d in range(first, last):
        count_clusters(doc_ptr[d], doc_ptr[d + 1], clusters, c_y)
        for s in range(doc_ptr[d], doc_ptr[d + 1]):
            begin, end = segment_ptr[s], segment_ptr[s + 1]
            y = clusters[s]
            if y < 0:
                y = draw_prior_cluster(delta, c_y, weights, rng)
                c_y[y] += 1
            enter_node(begin, end, alpha[y], topics, base, reciprocal, factor)
            for i in range(begin, end):
                if i + 2 < n_tokens:
                    prefetch(counts, tokens[i + 2])
                w = tokens[i]

                # Remove the word.
                k = np.int64(topics[i])
                if k >= 0:
                    move_word(w, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor)

                # Weigh all topics, draw one of them, add the word.
                total = sum_product(counts, w, offset, factor, sums, 0)
                k = draw_topic(total, n_topics, sums, rng)
                topics[i] = k
                move_word(w, k, MORE, fixed, counts, totals, shift, base, reciprocal, factor)

            # Remove the segment; draw its document-topic, alone and with its words; add it.
            c_y[y] -= 1
            y = draw_cluster(
                begin, end, topics, delta, alpha, by_topic, by_length, n_k, c_y, weights, rng
            )
            y = move_segment(
                begin, end, y, tokens, topics, words, delta, alpha, gamma, c_y, weights, base,
                reciprocal, factor, sums, before, rng,
            )  # fmt: skip
            clusters[s] = y
            c_y[y] += 1


@njit_inlined_source
def count_clusters_with_words(first, last, segment_ptr, clusters, c_y):
    """Write the numbers of segments with words by document-topic to `c_y`; return their total."""
    n = 0
    for y in range(c_y.shape[0]):
        c_y[y] = 0
    for s in range(first, last):
        if segment_ptr[s + 1] > segment_ptr[s]:
            c_y[clusters[s]] += 1
            n += 1
    return n


@njit
def count_documents(corpus, clusters, out):
    """Write the number of segments with words by document and document-topic to `out` (D, Y)."""
    for d in range(out.shape[0]):
        first, last = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        count_clusters_with_words(first, last, corpus.segment_ptr, clusters, out[d])


@njit
def add_cluster_estimates(
    first, last, corpus, clustering, prior, scratch, doc_topic, segment_topic
):
    """Add E[theta] and E[pi] of documents `first` to `last` - 1 given the state to running sums."""
    delta, alpha = prior.delta, prior.alpha
    n_clusters, n_topics = alpha.shape
    c_y, theta, delta_sum = scratch.c_y, scratch.weights, sum_of(delta)
    for d in range(first, last):
        begin, end = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        n_segments = count_clusters_with_words(
            begin, end, corpus.segment_ptr, clustering.clusters, c_y
        )
        total = delta_sum + n_segments
        for y in range(n_clusters):
            theta[y] = (delta[y] + c_y[y]) / total
            doc_topic[d, y] += theta[y]
        for s in range(begin, end):
            n = corpus.segment_ptr[s + 1] - corpus.segment_ptr[s]
            if n == 0:  # sum_y E[theta_iy] alpha_yk / A_y
                for y in range(n_clusters):
                    alpha_sum = sum_of(alpha[y])
                    for k in range(n_topics):
                        segment_topic[s, k] += theta[y] * alpha[y, k] / alpha_sum
                continue
            y = clustering.clusters[s]
            scale = 1.0 / (sum_of(alpha[y]) + n)
            for k in range(n_topics):
                segment_topic[s, k] += alpha[y, k] * scale
            for i in range(corpus.segment_ptr[s], corpus.segment_ptr[s + 1]):
                segment_topic[s, clustering.topics[i]] += scale


@njit
def log_prior_of_clusters(corpus, clustering, prior, scratch):
    """Return log p(y, z): the joint without the word factor."""
    delta, alpha = prior.delta, prior.alpha
    c_y, n_k, delta_sum = scratch.c_y, scratch.n_k, sum_of(delta)
    result = 0.0
    for d in range(corpus.doc_ptr.shape[0] - 1):
        first, last = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        count_clusters(first, last, clustering.clusters, c_y)
        result -= log_rising(delta_sum, last - first)
        for y in range(c_y.shape[0]):
            result += log_rising(delta[y], c_y[y])
        for s in range(first, last):
            y = clustering.clusters[s]
            begin, end = corpus.segment_ptr[s], corpus.segment_ptr[s + 1]
            result -= log_rising(sum_of(alpha[y]), end - begin)
            for i in range(begin, end):
                n_k[clustering.topics[i]] += 1
            for i in range(begin, end):
                k = clustering.topics[i]
                result += log_rising(alpha[y, k], n_k[k])
                n_k[k] = 0
    return result


@njit
def fold_in_clusters(
    corpus, clustering, words, prior, rising, scratch, n_sweeps, burn_in, work, place, key,
    doc_topic, segment_topic, rng,
):  # fmt: skip
    """Add E[theta] and E[pi] over the sweeps of every document; see `_shared/_fold_in`."""
    while place[0] < corpus.doc_ptr.shape[0] - 1 and work > 0:
        d = place[0]
        begin, end = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        content = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        if place[1] == 0:
            stream_of_segments(key, content, corpus.segment_ptr[begin : end + 1], rng)
        while place[1] < n_sweeps and work > 0:
            sweep_documents(d, d + 1, corpus, clustering, words, prior, 0.0, rising, scratch, rng)
            if place[1] >= burn_in:
                add_cluster_estimates(
                    d, d + 1, corpus, clustering, prior, scratch, doc_topic, segment_topic
                )
            place[1] += 1
            work -= content.shape[0] + (end - begin) + 1
        if place[1] == n_sweeps:
            place[0], place[1] = d + 1, 0
