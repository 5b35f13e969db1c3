"""BTIGS, the exact blocked table-indicator Gibbs sampler (Du, 2012, section 3.4, corrected).

Sweeps of documents by CMGS and SSA, whose tables are in `_kernels/_cmgs` and `_kernels/_ssa`, are
here, too: they differ in few lines.

Symbols as in `_kernels/_tables`. A word leaves the state by the distribution of table indicators:
with probability t / n it was the head of a table of its topic, which is then removed with it; but
the last table of a topic that other words still use stays. A word enters by

    sharing a table   g U[n][t]                            g = 1 if t = 1 else (n + 1 - t) / (n + 1)
    opening one       (b + a T) (alpha_k + c_k) / (A + c.) V[n][t] (t + 1) / (n + 1)

(U, V: ratios of generalized Stirling numbers), which leaves the posterior invariant: the weight of
a state is its probability times the probability that removing the word reduces it to the remaining
state. The correction g = 1 at t = 1 accounts for the table that must stay. `Ratios` hold both
weights by (n, t) without the factors that depend on the counts of other topics.

Usually few topics are present in a segment, and words move among them. Their weights depend on all
of the segment's tables, while the weights of absent topics do not. So the two are kept apart, and
`factor` is zero for the present topics:

    present topics    (M_kw + gamma) (opening + sharing x ratio)   for every word, one by one
    absent topics     (M_kw + gamma) factor                        in a dense pass of vectors

A draw of a present topic does not change the absent ones. So their total for the next word is
computed before the current one is drawn, and the processor need not wait for the draw. It is
recomputed after a draw of an absent topic; and if a word was the last of its topic, that topic
alone is added to it. A segment that has more than `MOST_LISTED` topics when it is entered gets one
dense pass over all topics instead, as in the other samplers.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double
from skdp._numeric._simd import assume_nonnegative, draw_product, prefetch, total_product
from skdp.processes._kernels_stirling import open_ratio, share_ratio
from skdp.topics._kernels._cmgs import draw_to_document
from skdp.topics._kernels._counts import AHEAD, LESS, MORE
from skdp.topics._kernels._ssa import DOCUMENT, leave_seat, open_seat, take_seat
from skdp.topics._kernels._tables import (
    BTIGS,
    CMGS,
    SSA,
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

MOST_LISTED = 12
"""Number of topics of a segment up to which single sums are faster than a dense pass over all."""


@njit_forceinline
def weigh_table(n, t, ratio_share, ratio_open):
    """Return the weights of sharing and of opening a table from the Stirling ratios U and V."""
    share = ratio_share if t == 1 else ratio_share * (n + 1 - t) / (n + 1)
    return share, ratio_open * (t + 1) / (n + 1)


@njit_loop
def weigh_tables(values, row_ptr, out):
    """Write the weights of `weigh_table` for every (n, t) of the ratio table `values` to `out`."""
    for n in range(row_ptr.shape[0] - 1):
        for i in range(row_ptr[n], row_ptr[n + 1]):
            t = i - row_ptr[n]
            out[i, 0], out[i, 1] = weigh_table(n, t, values[i, 0], values[i, 1])
    for i in range(row_ptr[row_ptr.shape[0] - 1], values.shape[0]):  # patches hold ratios here, too
        out[i, 0], out[i, 1] = values[i, 0], values[i, 1]


@njit_forceinline
def look_up_weights(n, t, values, row_ptr, a):
    """Return the weights of sharing and of opening for a topic with `n` customers, `t` tables."""
    if n < row_ptr.shape[0] - 1 and row_ptr[n] + t < row_ptr[n + 1]:
        i = assume_nonnegative(row_ptr[n] + t)
        return values[i, 0], values[i, 1]
    return weigh_table(
        n, t, share_ratio(values, row_ptr, n, t, a), open_ratio(values, row_ptr, n, t, a)
    )


@njit_forceinline
def weigh_sharing(total, n_tables, a, b):
    """Return `ratio` of a segment with `n_tables` tables; `total` is A + c."""
    return total / (b + a * n_tables)


@njit_forceinline
def weigh_node(sampler, n, t, values, row_ptr, a):
    """Return the weights of sharing and of opening for a topic with `n` customers, `t` tables."""
    if sampler == BTIGS:
        return look_up_weights(n, t, values, row_ptr, a)
    if sampler == CMGS:
        return share_ratio(values, row_ptr, n, t, a), 1.0 if t == n else 0.0
    return n - a * t, 1.0


@njit_forceinline
def weigh_topic(
    sampler, k, n, t, ratio, listed, values, row_ptr, a, base, reciprocal, opening, sharing, factor
):
    """Set `opening` and `sharing` of a present topic, and `factor` unless the topic is listed."""
    share, new = weigh_node(sampler, n, np.int64(t), values, row_ptr, a)
    sharing[k] = share * reciprocal[k]
    opening[k] = new * base[k] * reciprocal[k]
    if not listed:
        factor[k] = opening[k] + sharing[k] * ratio


@njit_forceinline
def sum_present(w, n_present, ratio, present, opening, sharing, counts, gamma, sums):
    """Write the running sums of present topics' weights for word `w`; return their total."""
    total = 0.0
    for q in range(n_present):
        k = assume_nonnegative(present[q])
        total += (counts[w, k] + gamma) * (opening[k] + sharing[k] * ratio)
        sums[0, q] = total
    return total


@njit_forceinline
def find_present(target, n_present, present, sums):
    """Return the present topic whose running sum exceeds `target`."""
    q = 0
    for p in range(n_present - 1):  # without a branch that depends on the draw
        q += sums[0, p] <= target
    return present[q]


# Sweeps of documents whose segments form no chain, by each of the samplers.


def _make_sweep_document(sampler):
    """Return `sweep_document` of one sampler."""

    @njit_internal_nogc
    def sweep_document(d, corpus, assignments, words, prior, ratios, scratch, rng):
        """Draw topic and tables of every word of document `d` once; unseated words are seated."""
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
        heads, links = assignments.seat_heads, assignments.seat_links
        sizes, kinds, free = assignments.seat_sizes, assignments.seat_kinds, assignments.seat_free
        segment_tables = assignments.segment_tables
        customers = assignments.document_tables[d]
        total = enter_document(prior.alpha, customers, base, reciprocal, factor)
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            begin, end = assume_nonnegative(corpus.segment_ptr[j]), corpus.segment_ptr[j + 1]
            if begin == end:
                continue
            b = prior.concentration[j]
            tables = assignments.tables[j]
            n_tables = segment_tables[j]
            ratio = weigh_sharing(total, n_tables, a, b)
            n_present = enter_segment(begin, end, topics, n_k, present, position)
            listed = sampler == BTIGS and n_present <= MOST_LISTED
            for q in range(n_present):
                k = assume_nonnegative(present[q])
                factor[k] = 0.0
                weigh_topic(
                    sampler, k, n_k[k], tables[k], ratio, listed, values, row_ptr, a, base,
                    reciprocal, opening, sharing, factor,
                )  # fmt: skip
            tables_changed = False
            absent_of_next = np.float32(0.0)
            if listed:
                absent_of_next = total_product(counts, tokens[begin], gamma, factor)
            for x in range(begin, end):
                i = assume_nonnegative(x)
                if i + AHEAD < tokens.shape[0]:
                    prefetch(counts, tokens[i + AHEAD])
                w, absent = assume_nonnegative(tokens[i]), np.float64(absent_of_next)

                # Remove the word, and its table if it leaves too; reweigh its topic.
                k = np.int64(topics[i])
                if k >= 0:
                    n, t = n_k[k], tables[k]
                    if sampler == SSA:
                        target = next_double(rng) * n
                        leaves = leave_seat(j, k, target, heads, links, sizes, kinds, free) > 0
                    else:
                        leaves = t == n or (sampler == BTIGS and t > 1 and next_double(rng) * n < t)
                    if leaves:
                        change_tables(k, LESS, tables, customers, base)
                        n_tables -= 1
                        total -= 1.0
                        ratio = weigh_sharing(total, n_tables, a, b)
                        tables_changed = True
                    n_k[k] = n - 1
                    count_word(w, k, LESS, fixed, counts, totals, shift, reciprocal, may_open)
                    if n == 1:
                        n_present = unlist_topic(k, n_present, present, position)
                        factor[k] = base[k] * reciprocal[k]
                        absent += (counts[w, k] + gamma) * factor[k]
                    else:
                        weigh_topic(
                            sampler, k, n - 1, tables[k], ratio, listed, values, row_ptr, a, base,
                            reciprocal, opening, sharing, factor,
                        )  # fmt: skip

                # Draw the topic: first whether it is one of the present topics.
                if listed:
                    if i + 1 < end:  # before the draw, so that this does not wait for it
                        absent_of_next = total_product(counts, tokens[i + 1], gamma, factor)
                    while True:
                        in_present = sum_present(
                            w, n_present, ratio, present, opening, sharing, counts, gamma, sums
                        )
                        target = next_double(rng) * (in_present + absent)
                        if target < in_present:
                            k = find_present(target, n_present, present, sums)
                            break
                        k = draw_product(counts, w, gamma, factor, sums, rng)
                        if is_open(k, totals, may_open):
                            factor[k] = 0.0  # present from now on
                            if i + 1 < end:
                                absent_of_next = total_product(counts, tokens[i + 1], gamma, factor)
                            break
                else:
                    if tables_changed:
                        weigh_present(n_present, ratio, present, opening, sharing, factor)
                        tables_changed = False
                    k = draw_product(counts, w, gamma, factor, sums, rng)
                    while not is_open(k, totals, may_open):
                        k = draw_product(counts, w, gamma, factor, sums, rng)
                k = assume_nonnegative(k)
                topics[i] = k

                # Add the word to a table, or to a new one; reweigh its topic.
                n = n_k[k]
                if n == 0:
                    n_present = list_topic(k, n_present, present, position)
                share = sharing[k] * ratio
                if n == 0 or next_double(rng) * (share + opening[k]) >= share:
                    if sampler == SSA:
                        open_seat(j, k, DOCUMENT, heads, links, sizes, kinds, free)
                    change_tables(k, MORE, tables, customers, base)
                    n_tables += 1
                    total += 1.0
                    ratio = weigh_sharing(total, n_tables, a, b)
                    tables_changed = True
                elif sampler == SSA:
                    target = next_double(rng) * (n - a * tables[k])
                    take_seat(j, k, target, a, heads, links, sizes)
                n_k[k] = n + 1
                count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal, may_open)
                weigh_topic(
                    sampler, k, n + 1, tables[k], ratio, listed, values, row_ptr, a, base,
                    reciprocal, opening, sharing, factor,
                )  # fmt: skip
            if sampler == CMGS:
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

    return sweep_document


SWEEPS_OF_DOCUMENTS = {sampler: _make_sweep_document(sampler) for sampler in (BTIGS, CMGS, SSA)}
"""`sweep_document` by sampler."""

sweep_document = SWEEPS_OF_DOCUMENTS[BTIGS]
