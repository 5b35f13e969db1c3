"""CMGS and SSA, the samplers whose sweeps pass over all topics for every word.

Symbols as in ``_kernels.py``. The two differ in what the state says of tables, so in how words come
and go. Both leave the posterior invariant.

CMGS, the collapsed multiplicity Gibbs sampler, exact (Du, 2012, algorithm 4, corrected), keeps
their numbers. First every word: it leaves its topic and takes a table with it only if it must
(t = n); it enters by

    sharing a table   U[n][t]                              if t >= 1
    opening one       (b + a T) (alpha_k + c_k) / (A + c.)  if t = n

Opening is open to it whenever t = n, not only when both are zero as (5.3) has it: a state with
t = n is reached from one with t + 1 = n + 1. Then the tables of every topic of the segment, by
(5.4). `weights` hold U and V.

SSA, sampling of seating arrangements (Teh, 2006; Du, 2012, algorithm 1), keeps the seating itself,
as ``_kernels_seats.py`` says. The words of a topic are exchangeable, so who sits where is not kept:
a word that leaves comes from a table of its topic in proportion to the size. A word enters by

    sitting at table l   size_l - a
    opening one          (b + a T) (alpha_k + c_k) / (A + c.)

and the tables of one topic add up to n - a t.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numba import njit_inner, njit_section
from skdp._random import next_double
from skdp._simd import draw_product, natural, prefetch
from skdp.topics._shared._kernels import LESS, MORE
from skdp.topics._tables._kernels import (
    change_tables,
    count_word,
    enter_document,
    enter_segment,
    leave_segment,
    list_topic,
    unlist_topic,
    weigh_present,
)
from skdp.topics._tables._kernels_samplers import CMGS, SSA, weigh_node
from skdp.topics._tables._kernels_seats import DOCUMENT, leave_seat, open_seat, take_seat
from skdp.topics._tables._kernels_table_counts import draw_to_document


@njit_section
def weigh_topic(sampler, k, n, t, ratio, weights, a, scratch):
    """Set `opening`, `sharing` and `factor` of a present topic with `n` words, `t` tables."""
    base, reciprocal = scratch.base, scratch.reciprocal
    share, new = weigh_node(sampler, n, np.int64(t), weights, a)
    scratch.sharing[k] = share * reciprocal[k]
    scratch.opening[k] = new * base[k] * reciprocal[k]
    scratch.factor[k] = scratch.opening[k] + scratch.sharing[k] * ratio


@njit_section
def takes_its_table(sampler, j, k, n, assignments, rng):
    """Take one of `n` words out of its table; tell whether that goes along."""
    if sampler == SSA:
        target = next_double(rng) * n
        kind = leave_seat(
            j, k, target, assignments.seat_heads, assignments.seat_links, assignments.seat_sizes,
            assignments.seat_kinds, assignments.seat_free,
        )  # fmt: skip
        goes = kind > 0
    else:
        goes = assignments.tables[j, k] == n
    return goes


@njit_section
def sit_down(opens, j, k, n, a, assignments, rng):
    """Seat a word beside `n` others, at a table of its own if it opens one (SSA)."""
    heads, links, sizes = assignments.seat_heads, assignments.seat_links, assignments.seat_sizes
    if opens:
        open_seat(
            j, k, DOCUMENT, heads, links, sizes, assignments.seat_kinds, assignments.seat_free
        )
    else:
        target = next_double(rng) * (n - a * assignments.tables[j, k])
        take_seat(j, k, target, a, heads, links, sizes)


@njit_section
def resample_segment(
    n_present, total, n_tables, b, prior, weights, tables, customers, scratch, rng
):
    """Draw the tables of every topic of a segment (CMGS); return A + c. and their number."""
    n_k, base = scratch.n_k, scratch.base
    for q in range(n_present):
        k = scratch.present[q]
        if n_k[k] > 1:
            t = tables[k]
            drawn = draw_to_document(
                n_k[k], 0, 1, base[k] - t, total - t, n_tables - t, 0, b, prior.discount, False,
                1.0, 0.0, weights.values, weights.row_ptr, rng,
            )  # fmt: skip
            change_tables(k, drawn - t, tables, customers, base)
            n_tables += drawn - t
            total += drawn - t
    return total, n_tables


@njit_section
def sweep_segment(
    sampler, j, total, corpus, assignments, words, prior, weights, customers, scratch, rng
):
    """Draw topic and table of every word of segment `j`; words not seated get a seat.

    Parameters
    ----------
    total : float
        A + c. of the document.
    customers : (K,) int32
        The document's tables by topic.

    Returns
    -------
    total : float
    """
    a, b, gamma = prior.discount, prior.concentration[j], np.float32(prior.gamma)
    shift = prior.gamma * words.counts.shape[0]
    tokens, topics = corpus.tokens, assignments.topics
    counts, totals, fixed = words.counts, words.totals, words.fixed
    n_k, base, reciprocal = scratch.n_k, scratch.base, scratch.reciprocal
    opening, sharing, factor = scratch.opening, scratch.sharing, scratch.factor
    present, position = scratch.present, scratch.position
    begin, end = corpus.segment_ptr[j], corpus.segment_ptr[j + 1]
    tables, n_tables = assignments.tables[j], assignments.segment_tables[j]
    n_present = enter_segment(begin, end, topics, n_k, present, position)
    tables_changed, ratio = True, 0.0  # until the tables are known
    for q in range(n_present):
        k = present[q]
        weigh_topic(sampler, k, n_k[k], tables[k], ratio, weights, a, scratch)
    for i in range(begin, end):
        if i + 2 < tokens.shape[0]:
            prefetch(counts, tokens[i + 2])
        w = natural(tokens[i])

        # Remove the word, and its table if that goes along.
        k = np.int64(topics[i])
        if k >= 0:
            n = n_k[k]
            if takes_its_table(sampler, j, k, n, assignments, rng):
                change_tables(k, LESS, tables, customers, base)
                n_tables -= 1
                total -= 1.0
                tables_changed = True
            n_k[k] = n - 1
            count_word(w, k, LESS, fixed, counts, totals, shift, reciprocal)
            if n == 1:
                n_present = unlist_topic(k, n_present, present, position)
                factor[k] = base[k] * reciprocal[k]
            else:
                weigh_topic(sampler, k, n - 1, tables[k], ratio, weights, a, scratch)

        # Weigh the topics present, all of them if the number of tables has changed.
        if tables_changed:
            ratio = total / (b + a * n_tables)
            weigh_present(n_present, ratio, present, opening, sharing, factor)
            tables_changed = False

        # Draw the topic.
        k = draw_product(counts, w, gamma, factor, scratch.sums, rng)
        topics[i] = k

        # Add the word: to a table, or with one of its own.
        n = n_k[k]
        if n == 0:
            n_present = list_topic(k, n_present, present, position)
        share = sharing[k] * ratio
        opens = n == 0 or next_double(rng) * (share + opening[k]) >= share
        if sampler == SSA:
            sit_down(opens, j, k, n, a, assignments, rng)
        if opens:
            change_tables(k, MORE, tables, customers, base)
            n_tables += 1
            total += 1.0
            tables_changed = True
        n_k[k] = n + 1
        count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal)
        weigh_topic(sampler, k, n + 1, tables[k], ratio, weights, a, scratch)

    # CMGS: draw the tables of the segment.
    if sampler == CMGS:
        total, n_tables = resample_segment(
            n_present, total, n_tables, b, prior, weights, tables, customers, scratch, rng
        )
    assignments.segment_tables[j] = n_tables
    leave_segment(n_present, n_k, present, base, reciprocal, factor)
    return total


def _make_sweep_document(sampler):
    """Return `sweep_document` of one sampler, with nothing in it that the other needs."""

    @njit_inner
    def sweep_document(d, corpus, assignments, words, prior, weights, scratch, rng):
        """Sweep the segments of document `d` in order."""
        customers = assignments.document_tables[d]
        total = enter_document(
            prior.alpha, customers, scratch.base, scratch.reciprocal, scratch.factor
        )
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            total = sweep_segment(
                sampler, j, total, corpus, assignments, words, prior, weights, customers, scratch,
                rng,
            )  # fmt: skip

    return sweep_document


sweep_document_cmgs = _make_sweep_document(CMGS)
sweep_document_ssa = _make_sweep_document(SSA)
