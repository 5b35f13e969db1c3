"""What the samplers of the segmented topic model share: state, words, estimates, log joint.

Symbols, with those of the source (Du, 2012, chapters 3 and 5) and shapes. K topics, W words in the
vocabulary, n tokens, J segments, D documents; K' is K padded to whole vectors.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, segment_ptr, doc_ptr | w | (n,), (J + 1,), (D + 1,) | the corpus, flat |
| topics | z | (n,) int32 | topic of each word, -1 before it is seated |
| tables | t_jk | (J, K) int32 | tables of a segment that serve a topic |
| segment_tables | T_j | (J,) int64 | all tables of a segment |
| document_tables | c_k | (D, K) int32 | tables of a document's segments that serve a topic |
| seat_topics, seat_sizes | | (n,) int32 | SSA: tables one by one, from segment_ptr[j] on |
| counts, totals | M_kw, M_k | (W, K') float32, (K',) | words by topic; topics fixed: phi, 0 |
| alpha, gamma, a, b | | (K,), scalars | Dirichlet priors, discount and concentration |
| n_k | n_jk | (K,) | words of the current segment by topic |
| n, t | n_jk, t_jk | scalars | the same of one topic |
| base | alpha_k + c_k | (K,) | weight of a topic at the document's node |
| ratio | (A + c.) / (b + a T_j) | scalar | between the weights of sharing and of opening a table |
| reciprocal | 1 / (W gamma + M_k) | (K,) | denominator of the word factor; 1 with topics fixed |
| opening, sharing | | (K,) | of a present topic: reciprocal x weight of opening, of sharing |
| factor | opening + sharing x ratio | (K',) float32 | weight of a topic but for (M_kw + gamma) |

A word w of segment j gets topic k with weight ``(counts[w, k] + gamma) * factor[k]``. For a topic
absent from the segment ``factor = base * reciprocal`` whatever the segment's tables, since the
common factor (b + a T_j) / (A + c.) is left out everywhere. So one dense pass serves every word, a
move changes `factor` at two topics, and only a change of the number of tables touches the others
that are present in the segment (three to eight as a rule).
"""

import math
from typing import NamedTuple

import numpy as np

from skdp._numba import njit, njit_step
from skdp.processes._kernels_stirling import log_stirling


class Corpus(NamedTuple):
    """The words."""

    tokens: np.ndarray
    segment_ptr: np.ndarray
    doc_ptr: np.ndarray


class Assignments(NamedTuple):
    """The chain's state: topics and tables."""

    topics: np.ndarray
    tables: np.ndarray
    segment_tables: np.ndarray
    document_tables: np.ndarray
    seat_topics: np.ndarray
    seat_sizes: np.ndarray


class WordCounts(NamedTuple):
    """Words by topic; with `fixed` topics, their word probabilities, never changed."""

    counts: np.ndarray
    totals: np.ndarray
    fixed: bool


class Prior(NamedTuple):
    """Parameters of the model."""

    alpha: np.ndarray
    gamma: float
    discount: float
    concentration: float


class Ratios(NamedTuple):
    """Weights by (n, t), rows of a triangle end to end: see the samplers."""

    values: np.ndarray
    row_ptr: np.ndarray


class Scratch(NamedTuple):
    """Vectors of the sweep; between two documents `n_k` is zero."""

    n_k: np.ndarray
    base: np.ndarray
    reciprocal: np.ndarray
    opening: np.ndarray
    sharing: np.ndarray
    factor: np.ndarray
    sums: np.ndarray
    present: np.ndarray
    position: np.ndarray


@njit
def enter_corpus(words, prior, scratch):
    """Set `reciprocal` for the sweep that begins: the totals or gamma may have changed."""
    shift = prior.gamma * words.counts.shape[0]
    for k in range(scratch.reciprocal.shape[0]):
        scratch.reciprocal[k] = 1.0 if words.fixed else 1.0 / (shift + words.totals[k])


@njit_step
def enter_document(alpha, customers, base, reciprocal, factor):
    """Set `base` and `factor` to those of a segment without words; return A + c.

    `customers` (K,) are the document's tables by topic, its row of `document_tables`.
    """
    total = 0.0
    for k in range(alpha.shape[0]):
        base[k] = alpha[k] + customers[k]
        total += base[k]
        factor[k] = base[k] * reciprocal[k]
    return total


@njit_step
def enter_segment(begin, end, topics, n_k, present, position):
    """Count the seated words of a segment in `n_k` and list its topics; return their number."""
    n_present = 0
    for i in range(begin, end):
        k = topics[i]
        if k >= 0:
            if n_k[k] == 0:
                n_present = list_topic(k, n_present, present, position)
            n_k[k] += 1
    return n_present


@njit_step
def leave_segment(n_present, n_k, present, base, reciprocal, factor):
    """Clear `n_k` and make `factor` that of a segment without words again."""
    for q in range(n_present):
        k = present[q]
        n_k[k] = 0
        factor[k] = base[k] * reciprocal[k]


@njit_step
def list_topic(k, n_present, present, position):
    """Put topic `k` on the list of the segment's topics; return the list's new length."""
    present[n_present] = k
    position[k] = n_present
    return n_present + 1


@njit_step
def unlist_topic(k, n_present, present, position):
    """Take topic `k` off the list of the segment's topics; return the list's new length."""
    last = present[n_present - 1]
    present[position[k]] = last
    position[last] = position[k]
    return n_present - 1


@njit_step
def count_word(w, k, change, fixed, counts, totals, shift, reciprocal):
    """Add `change` (1 or -1) to the count of word `w` in topic `k`, unless topics are fixed."""
    if not fixed:
        counts[w, k] += np.float32(change)
        totals[k] += change
        reciprocal[k] = 1.0 / (shift + totals[k])


@njit_step
def change_tables(k, change, tables, customers, base):
    """Add `change` to the tables of a segment that serve topic `k`, and to what follows."""
    tables[k] += change
    customers[k] += change
    base[k] += change


@njit_step
def weigh_present(n_present, ratio, present, opening, sharing, factor):
    """Bring `factor` of all present topics up to date with `ratio`."""
    for q in range(n_present):
        k = present[q]
        factor[k] = opening[k] + sharing[k] * ratio


@njit
def add_estimates(d, corpus, assignments, prior, n_k, mu, nu, first):
    """Add E[mu] and E[nu] of document `d` given the state to running sums (5.5, 5.6).

    Parameters
    ----------
    mu : (K,) float64, output
    nu : (segments, K) float64, output
        Row s - first belongs to segment s.
    first : int
    n_k : (K,) int64, scratch, zero on entry and exit
    """
    n_topics = prior.alpha.shape[0]
    a, b = prior.discount, prior.concentration
    total = 0.0
    for k in range(n_topics):
        total += prior.alpha[k] + assignments.document_tables[d, k]
    for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
        begin, end = corpus.segment_ptr[j], corpus.segment_ptr[j + 1]
        for i in range(begin, end):
            n_k[assignments.topics[i]] += 1
        scale = 1.0 / (b + (end - begin))
        rest = (b + a * assignments.segment_tables[j]) * scale / total
        for k in range(n_topics):
            node = prior.alpha[k] + assignments.document_tables[d, k]
            nu[j - first, k] += (n_k[k] - a * assignments.tables[j, k]) * scale + rest * node
        for i in range(begin, end):
            n_k[assignments.topics[i]] = 0
    for k in range(n_topics):
        mu[k] += (prior.alpha[k] + assignments.document_tables[d, k]) / total


@njit
def add_corpus_estimates(corpus, assignments, prior, n_k, doc_topic, segment_topic):
    """Add E[mu] (D, K) and E[nu] (J, K) of all documents given the state to running sums."""
    for d in range(corpus.doc_ptr.shape[0] - 1):
        add_estimates(d, corpus, assignments, prior, n_k, doc_topic[d], segment_topic, 0)


@njit
def log_rising(x, n):
    """Return log of x (x + 1) ... (x + n - 1), right also where lgamma would cancel."""
    if n > 64 and x < 1e4:
        return math.lgamma(x + n) - math.lgamma(x)
    result = 0.0
    for i in range(n):
        result += math.log(x + i)
    return result


@njit
def log_prior_of_tables(corpus, assignments, prior, ratios, n_k):
    """Return log p(z, t) of the model in multiplicity form: (5.2) without its word factor."""
    a, b = prior.discount, prior.concentration
    n_topics = prior.alpha.shape[0]
    alpha_sum = prior.alpha.sum()
    result = 0.0
    for d in range(corpus.doc_ptr.shape[0] - 1):
        in_document = 0
        for k in range(n_topics):
            c = assignments.document_tables[d, k]
            if c > 0:
                result += log_rising(prior.alpha[k], c)
                in_document += c
        result -= log_rising(alpha_sum, in_document)
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            begin, end = corpus.segment_ptr[j], corpus.segment_ptr[j + 1]
            result -= log_rising(b, end - begin)
            for m in range(assignments.segment_tables[j]):
                result += math.log(b + a * m)
            for i in range(begin, end):
                n_k[assignments.topics[i]] += 1
            for i in range(begin, end):
                k = assignments.topics[i]
                if n_k[k] > 0:
                    t = assignments.tables[j, k]
                    result += log_stirling(ratios.values, ratios.row_ptr, n_k[k], t, a)
                    n_k[k] = 0
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
    """Add p(w) = sum_k nu_jk phi_kw of every scored token to `out` (n,).

    Parameters
    ----------
    scored : (n,) int32
        Word ids.
    segment_of : (n,) int64
        Segment of each.
    segment_topic : (J, K) float64
        E[nu].
    components : (K, W) float32
        phi.
    out : (n,) float64
    """
    for i in range(scored.shape[0]):
        p = 0.0
        for k in range(segment_topic.shape[1]):
            p += segment_topic[segment_of[i], k] * components[k, scored[i]]
        out[i] += p
