"""Kernels that the samplers of table models share: state, estimates, joint, and top level.

Symbols follow the source (Du, 2012, chapters 3, 5, 6 and 7). K topics, W words in the vocabulary,
n tokens, J segments, D documents; K' is K padded to whole vectors. A table of a segment orders its
dish from the document's node (s tables) or from the previous segment (t tables).

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, segment_ptr, doc_ptr | w | (n,), (J + 1,), (D + 1,) | the flat corpus |
| part_begin | | (J,) int64 | first segment of the part of the document to which j belongs |
| topics | z | (n,) int32 | topic of each word, -1 before it is seated |
| tables | s_jk | (J, K) int32 | tables of a segment that order a topic from the document |
| segment_tables | S_j | (J,) int64 | total of s_jk over topics |
| to_previous | t_jk | (J, K) int32 | tables that order from the previous segment; STM: (0, K) |
| segment_to_previous | T_j | (J,) int64 | total of t_jk over topics; STM: (0,) |
| document_tables | c_k | (D, K) int32 | sum of s_jk over a document's segments |
| seat_heads | | (J, K) int32 | SSA: first table of a topic in a segment, -1 for none |
| seat_links, seat_sizes, seat_kinds | | (capacity,) | SSA: next table, customers, parent |
| seat_free | | (2,) int64 | SSA: head of the list of free places, and its length |
| seats | | (n,) int32 | with bursts: table of each word, see `_kernels/_counts` |
| counts, totals | M_kw, M_k | (W, K') float32, (K',) | words by topic; fixed topics: phi and 0 |
| alpha, gamma, a | | (K,), scalars | Dirichlet priors, discount |
| concentration | b_j | (J,) | concentration of each segment |
| to_document, to_previous | lambda_S, lambda_T | scalars | prior of the two parents' weights |
| n_k | n_jk | (K,) | words of the current segment by topic |
| n, t | N_jk, T_jk | scalars | customers and tables (s_jk + t_jk) of one topic in a segment |
| base | alpha_k + c_k | (K,) | weight of a topic at the document's node |
| ratio | (A + c.) / (b + a T_j) | scalar | between the weights of sharing and of opening a table |
| reciprocal | 1 / (W gamma + M_k) | (K,) | denominator of the word factor; 1 if topics are fixed |
| opening, sharing | | (K,) | for present topics: reciprocal x weight of opening, of sharing |
| factor | opening + sharing x ratio | (K',) float32 | weight of a topic without (M_kw + gamma) |
| sums | | (1, LANES + K') float32 | running sums of a word's weights |
| may_open | | (1,) int64 | number of topics without words that words may still take |

A word w of segment j gets topic k with weight ``(counts[w, k] + gamma) * factor[k]``. For a topic
that is absent from the segment, ``factor = base * reciprocal`` regardless of the segment's tables,
because the common factor (b + a T_j) / (A + c.) is left out everywhere. So one dense pass serves
every word, a move changes `factor` at two topics, and only a change of the number of tables affects
the other topics that are present in the segment (typically three to eight).
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_forceinline, njit_internal, njit_loop
from skdp.processes._kernels_stirling import log_stirling
from skdp.processes._kernels_table_counts import break_weight, draw_table_count
from skdp.topics._kernels._counts import LESS, log_rising


class Assignments(NamedTuple):
    """State of a chain: topics and tables."""

    topics: np.ndarray
    tables: np.ndarray
    segment_tables: np.ndarray
    to_previous: np.ndarray
    segment_to_previous: np.ndarray
    document_tables: np.ndarray
    seat_heads: np.ndarray
    seat_links: np.ndarray
    seat_sizes: np.ndarray
    seat_kinds: np.ndarray
    seat_free: np.ndarray
    seats: np.ndarray


class Prior(NamedTuple):
    """Parameters of the model; models differ only in zeros of `to_document` and `to_previous`.

    A zero excludes that parent, but a part's first segment always has the document as its parent.
    """

    alpha: np.ndarray
    gamma: float
    discount: float
    concentration: np.ndarray
    to_document: float
    to_previous: float


class Ratios(NamedTuple):
    """Weights by (n, t), as concatenated rows of a triangle: see the samplers."""

    values: np.ndarray
    row_ptr: np.ndarray


class TableScratch(NamedTuple):
    """Scratch vectors of the sweep; between two documents `n_k` is zero."""

    n_k: np.ndarray
    base: np.ndarray
    reciprocal: np.ndarray
    opening: np.ndarray
    sharing: np.ndarray
    factor: np.ndarray
    sums: np.ndarray
    present: np.ndarray
    position: np.ndarray
    may_open: np.ndarray


BTIGS, CMGS, SSA = 0, 1, 2
"""The samplers."""

UNBOUNDED = np.int64(2**62)
"""Value of `may_open` if the number of topics has no bound."""


@njit_forceinline
def enter_document(alpha, customers, base, reciprocal, factor):
    """Set `base` and `factor` for a segment without words; return A + c (`customers` are c)."""
    total = 0.0
    for k in range(alpha.shape[0]):
        base[k] = alpha[k] + customers[k]
        total += base[k]
        factor[k] = base[k] * reciprocal[k]
    return total


@njit_forceinline
def enter_segment(begin, end, topics, n_k, present, position):
    """Count the seated words of a segment in `n_k` and list its topics; return their number."""
    n_present = np.int64(0)
    for i in range(begin, end):
        k = np.int64(topics[i])
        if k >= 0:
            if n_k[k] == 0:
                n_present = list_topic(k, n_present, present, position)
            n_k[k] += 1
    return n_present


@njit_forceinline
def leave_segment(n_present, n_k, present, base, reciprocal, factor):
    """Clear `n_k` and reset `factor` to that of a segment without words."""
    for q in range(n_present):
        k = present[q]
        n_k[k] = 0
        factor[k] = base[k] * reciprocal[k]


@njit_forceinline
def list_topic(k, n_present, present, position):
    """Add topic `k` to the list of the segment's topics; return the list's new length."""
    present[n_present] = k
    position[k] = n_present
    return n_present + 1


@njit_forceinline
def unlist_topic(k, n_present, present, position):
    """Remove topic `k` from the list of the segment's topics; return the list's new length."""
    last = present[n_present - 1]
    present[position[k]] = last
    position[last] = position[k]
    return n_present - 1


@njit_forceinline
def count_word(w, k, change, fixed, counts, totals, shift, reciprocal, may_open):
    """Add `change` (`MORE`, `LESS`) to the count of word `w` in topic `k`, unless it is fixed."""
    if not fixed:
        counts[w, k] += np.float32(change)
        totals[k] += change
        reciprocal[k] = 1.0 / (shift + totals[k])
        if change == LESS:
            may_open[0] += totals[k] == 0.0
        else:
            may_open[0] -= totals[k] == 1.0


@njit_forceinline
def is_open(k, totals, may_open):
    """Return whether a word may take topic `k`: it has words, or the bound is not reached."""
    return totals[k] > 0.0 or may_open[0] > 0


@njit_forceinline
def change_tables(k, change, tables, customers, base):
    """Add `change` to a segment's tables for topic `k`, and to all counts derived from them."""
    tables[k] += change
    customers[k] += change
    base[k] += change


@njit_forceinline
def weigh_present(n_present, ratio, present, opening, sharing, factor):
    """Update `factor` of all present topics for a new `ratio`."""
    for q in range(n_present):
        k = present[q]
        factor[k] = opening[k] + sharing[k] * ratio


@njit_forceinline
def weigh_parents(first, n_document, n_previous, to_document, to_previous):
    """Return the predictive weights fS of the document and fT of the previous segment."""
    if first:
        return 1.0, 0.0
    weight = 1.0 / (n_document + n_previous + to_document + to_previous)
    return (n_document + to_document) * weight, (n_previous + to_previous) * weight


@njit_forceinline
def parents_of(j, corpus, assignments, prior):
    """Return fS and fT of segment `j`, and its tables Td_j."""
    s = assignments.segment_tables[j]
    if prior.to_previous == 0.0:
        return 1.0, 0.0, s
    t = assignments.segment_to_previous[j]
    f_document, f_previous = weigh_parents(
        j == corpus.part_begin[j], s, t, prior.to_document, prior.to_previous
    )
    return f_document, f_previous, s + t


@njit_forceinline
def tables_below(j, k, d, corpus, assignments, prior):
    """Return t_{j+1,k}, the customers of segment `j` besides its words; 0 if a part ends."""
    if prior.to_previous == 0.0 or j + 1 == corpus.doc_ptr[d + 1]:
        return 0
    return assignments.to_previous[j + 1, k]


@njit
def count_customers(begin, end, corpus, assignments, prior, customers, tables):
    """Write Nd_j and Td_j of the segments of documents `begin` to `end` to vectors (J,)."""
    for d in range(begin, end):
        last = corpus.doc_ptr[d + 1]
        for j in range(corpus.doc_ptr[d], last):
            customers[j] = corpus.segment_ptr[j + 1] - corpus.segment_ptr[j]
            tables[j] = parents_of(j, corpus, assignments, prior)[2]
            if prior.to_previous > 0.0 and j + 1 < last:
                customers[j] += assignments.segment_to_previous[j + 1]


@njit_internal
def add_estimates(d, corpus, assignments, prior, scratch, mu, nu):
    """Add E[mu] (K,) and E[nu] (J, K) of document `d` given the state to sums (5.5, 5.6)."""
    n_k, before = scratch.n_k, scratch.base  # E[nu] of the previous segment
    n_topics = prior.alpha.shape[0]
    a = prior.discount
    total = 0.0
    for k in range(n_topics):
        total += prior.alpha[k] + assignments.document_tables[d, k]
        before[k] = 0.0
    for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
        begin, end = corpus.segment_ptr[j], corpus.segment_ptr[j + 1]
        for i in range(begin, end):
            n_k[assignments.topics[i]] += 1
        b = prior.concentration[j]
        f_document, f_previous, n_tables = parents_of(j, corpus, assignments, prior)
        n_customers = end - begin
        for k in range(n_topics):
            n_customers += tables_below(j, k, d, corpus, assignments, prior)
        scale = 1.0 / (b + n_customers)
        rest = (b + a * n_tables) * scale
        for k in range(n_topics):
            n = n_k[k] + tables_below(j, k, d, corpus, assignments, prior)
            t = assignments.tables[j, k]
            if prior.to_previous > 0.0:
                t += assignments.to_previous[j, k]
            node = (prior.alpha[k] + assignments.document_tables[d, k]) / total
            base = f_document * node + f_previous * before[k]
            before[k] = (n - a * t) * scale + rest * base
            nu[j, k] += before[k]
        for i in range(begin, end):
            n_k[assignments.topics[i]] = 0
    for k in range(n_topics):
        mu[k] += (prior.alpha[k] + assignments.document_tables[d, k]) / total


@njit
def add_corpus_estimates(corpus, assignments, prior, scratch, doc_topic, segment_topic, mixing):
    """Add E[mu] (D, K), E[nu] (J, K) and E[rho] (J,) given the state to running sums."""
    for d in range(corpus.doc_ptr.shape[0] - 1):
        add_estimates(d, corpus, assignments, prior, scratch, doc_topic[d], segment_topic)
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            mixing[j] += parents_of(j, corpus, assignments, prior)[0]


@njit_internal
def log_binomial(n, k):
    """Return the log of the binomial coefficient of n over k."""
    if k == 0 or k == n:
        return 0.0
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@njit_internal
def log_prior_of_segment(j, d, corpus, assignments, prior, ratios, n_k):
    """Return the part of log p(z, s, t) of segment `j` (7.2, corrected); `n_k` stays zero."""
    a, b = prior.discount, prior.concentration[j]
    chained = prior.to_previous > 0.0
    n_customers = corpus.segment_ptr[j + 1] - corpus.segment_ptr[j]
    n_tables = parents_of(j, corpus, assignments, prior)[2]
    if chained and j + 1 < corpus.doc_ptr[d + 1]:
        n_customers += assignments.segment_to_previous[j + 1]
    result = -log_rising(b, n_customers)
    for m in range(n_tables):
        result += math.log(b + a * m)
    if chained and prior.to_document > 0.0 and j > corpus.part_begin[j]:  # R_j
        s, t = assignments.segment_tables[j], assignments.segment_to_previous[j]
        result += log_rising(prior.to_document, s) + log_rising(prior.to_previous, t)
        result -= log_rising(prior.to_document + prior.to_previous, s + t)
    for i in range(corpus.segment_ptr[j], corpus.segment_ptr[j + 1]):
        n_k[assignments.topics[i]] += 1
    for k in range(prior.alpha.shape[0]):
        n = n_k[k] + tables_below(j, k, d, corpus, assignments, prior)
        n_k[k] = 0
        if n > 0:
            s = np.int64(assignments.tables[j, k])
            t = np.int64(assignments.to_previous[j, k]) if chained else 0
            result += log_stirling(ratios.values, ratios.row_ptr, n, s + t, a)
            result += log_binomial(s + t, s)
    return result


@njit
def log_prior_of_tables(corpus, assignments, prior, ratios, n_k):
    """Return log p(z, s, t) in multiplicity form: everything except the word factor."""
    n_topics = prior.alpha.shape[0]
    alpha_sum = 0.0
    for k in range(n_topics):
        alpha_sum += prior.alpha[k]
    result = 0.0
    for d in range(corpus.doc_ptr.shape[0] - 1):
        in_document = 0
        for k in range(n_topics):
            c = np.int64(assignments.document_tables[d, k])
            if c > 0:
                result += log_rising(prior.alpha[k], c)
                in_document += c
        result -= log_rising(alpha_sum, in_document)
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            result += log_prior_of_segment(j, d, corpus, assignments, prior, ratios, n_k)
    return result


# The top level of table models with an inferred number of topics.
#
# Symbols as above and in `skdp.processes._kernels_table_counts`; alpha and gamma are here the
# concentrations of documents and of the topics' weights.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | weights | beta_k | (K,) | weights of topics |
# | rest | beta_u | scalar | weight of all topics without words |
# | served | c_dk | (D, C) int32 | customers of documents, the tables of their segments |
# | tables | m_.k | (K,) int64 | tables of documents by topic |
# | least | delta | scalar | smallest weight of topics that take part in a sweep |
#
# Given their sum beta_u, the weights of the topics without words result from stick breaking: each
# takes a Beta(1, gamma) share of the remainder. Once the remainder is below delta, so are all later
# weights.


@njit_loop
def break_rest(rest, gamma, least, weights, rng):
    """Write the drawn `weights` above `least` of topics without words; return their number."""
    n = 0
    while rest > least:
        weight, rest = break_weight(rest, gamma, rng)
        if weight > least:
            weights[n] = weight
            n += 1
    return n


@njit_loop
def draw_tables_of_documents(served, prior, tables, tables_of_documents, rng):
    """Draw the tables of every document and topic, with prior alpha beta_k; write their sums."""
    for k in range(prior.shape[0]):
        tables[k] = 0
    for d in range(served.shape[0]):
        total = 0
        for k in range(prior.shape[0]):
            if served[d, k] > 0:
                drawn = draw_table_count(served[d, k], prior[k], rng)
                tables[k] += drawn
                total += drawn
        tables_of_documents[d] = total
