"""CMGS, the exact collapsed multiplicity Gibbs sampler (Du, 2012, algorithm 4, corrected).

Symbols as in ``_kernels.py``. First every word is drawn: it leaves its topic and removes a table
only if it must (t = n); it enters by

    sharing a table   U[n][t]                              if t >= 1
    opening one       (b + a T) (alpha_k + c_k) / (A + c.)  if t = n

A word may open a table whenever t = n, not only when both are zero as in (5.3): a state with t = n
is reached from one with t + 1 = n + 1. Then the tables of every topic of the segment are drawn, by
(5.4). `Ratios` hold U and V.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp._numeric._simd import assume_nonnegative, draw_product, prefetch
from skdp.processes._kernels_stirling import share_ratio
from skdp.topics._shared._kernels import LESS, MORE
from skdp.topics._tables._kernels import (
    change_tables,
    count_word,
    enter_document,
    enter_segment,
    is_open,
    leave_segment,
    list_topic,
    unlist_topic,
    weigh_present,
)
from skdp.topics._tables._kernels_table_counts import draw_to_document


@njit_forceinline
def weigh_topic(k, n, t, ratio, values, row_ptr, a, base, reciprocal, opening, sharing, factor):
    """Set `opening`, `sharing` and `factor` of a present topic with `n` words, `t` tables."""
    sharing[k] = share_ratio(values, row_ptr, n, np.int64(t), a) * reciprocal[k]
    opening[k] = base[k] * reciprocal[k] if t == n else 0.0
    factor[k] = opening[k] + sharing[k] * ratio


@njit_internal_nogc
def sweep_document(d, corpus, assignments, words, prior, ratios, scratch, rng):
    """Draw the topic of every word of document `d`, then tables; unseated words are seated."""
    a = prior.discount
    gamma = np.float32(prior.gamma)
    shift = prior.gamma * words.counts.shape[0]
    tokens, topics = corpus.tokens, assignments.topics
    counts, totals, fixed = words.counts, words.totals, words.fixed
    n_k, base, reciprocal = scratch.n_k, scratch.base, scratch.reciprocal
    opening, sharing, factor = scratch.opening, scratch.sharing, scratch.factor
    sums, present, position = scratch.sums, scratch.present, scratch.position
    may_open = scratch.may_open
    values, row_ptr = ratios.values, ratios.row_ptr
    segment_tables = assignments.segment_tables
    customers = assignments.document_tables[d]
    total = enter_document(prior.alpha, customers, base, reciprocal, factor)
    for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
        begin, end = corpus.segment_ptr[j], corpus.segment_ptr[j + 1]
        b = prior.concentration[j]
        tables = assignments.tables[j]
        n_tables = segment_tables[j]
        n_present = enter_segment(begin, end, topics, n_k, present, position)
        ratio = 0.0  # until the tables are known
        for q in range(n_present):
            k = present[q]
            weigh_topic(
                k,
                n_k[k],
                tables[k],
                ratio,
                values,
                row_ptr,
                a,
                base,
                reciprocal,
                opening,
                sharing,
                factor,
            )
        tables_changed = True
        for i in range(begin, end):
            if i + 2 < tokens.shape[0]:
                prefetch(counts, tokens[i + 2])
            w = assume_nonnegative(tokens[i])

            # Remove the word, and its table if it leaves too.
            k = np.int64(topics[i])
            if k >= 0:
                n = n_k[k]
                if tables[k] == n:
                    change_tables(k, LESS, tables, customers, base)
                    n_tables -= 1
                    total -= 1.0
                    tables_changed = True
                n_k[k] = n - 1
                count_word(w, k, LESS, fixed, counts, totals, shift, reciprocal, may_open)
                if n == 1:
                    n_present = unlist_topic(k, n_present, present, position)
                    factor[k] = base[k] * reciprocal[k]
                else:
                    weigh_topic(
                        k,
                        n - 1,
                        tables[k],
                        ratio,
                        values,
                        row_ptr,
                        a,
                        base,
                        reciprocal,
                        opening,
                        sharing,
                        factor,
                    )
            # Reweigh all present topics if the number of tables has changed.
            if tables_changed:
                ratio = total / (b + a * n_tables)
                weigh_present(n_present, ratio, present, opening, sharing, factor)
                tables_changed = False

            # Draw the topic.
            k = draw_product(counts, w, gamma, factor, sums, rng)
            while not is_open(k, totals, may_open):
                k = draw_product(counts, w, gamma, factor, sums, rng)
            topics[i] = k
            # Add the word to a table, or to a new one.
            n = n_k[k]
            if n == 0:
                n_present = list_topic(k, n_present, present, position)
            share = sharing[k] * ratio
            if n == 0 or next_double(rng) * (share + opening[k]) >= share:
                change_tables(k, MORE, tables, customers, base)
                n_tables += 1
                total += 1.0
                tables_changed = True
            n_k[k] = n + 1
            count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal, may_open)
            weigh_topic(
                k,
                n + 1,
                tables[k],
                ratio,
                values,
                row_ptr,
                a,
                base,
                reciprocal,
                opening,
                sharing,
                factor,
            )

        for q in range(n_present):
            k = present[q]
            if n_k[k] > 1:
                t = tables[k]
                drawn = draw_to_document(
                    n_k[k], 0, 1, base[k] - t, total - t, n_tables - t, 0, b, a, False,
                    1.0, 0.0, values, row_ptr, rng,
                )  # fmt: skip
                change_tables(k, drawn - t, tables, customers, base)
                n_tables += drawn - t
                total += drawn - t
        segment_tables[j] = n_tables
        leave_segment(n_present, n_k, present, base, reciprocal, factor)
