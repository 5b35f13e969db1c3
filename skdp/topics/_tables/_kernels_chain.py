"""Sweeps of models whose segments follow each other: SequentialLDA and AdaptiveTopicModel.

Symbols as in ``_kernels.py``; besides, level i is segment j = first + i of the current document:

| name | symbol | shape | meaning |
|---|---|---|---|
| customers | N_jk | (levels, K') int32 | words and tables of the level below: n_jk + t_{j+1,k} |
| level_customers | Nd_j | (levels,) int64 | their sum |
| inverse | 1 / (b + Nd_j) | (levels,) | |
| via_document | (b + a Td_j) fS_j | (levels,) | weight of opening a table, its dish from mu |
| via_previous | (b + a Td_j) fT_j | (levels,) | the same, its dish from the level above |
| share | | (levels, K') float32 | weight of sharing a table |
| opening | | (levels, K') float32 | weight of opening one, but for (b + a Td_j) |
| fixed_part, mu_part | P, Q | (levels, K') float32 | weight of a topic / inverse: P + Q mu_k |
| base | alpha_k + c_k | (K',) float32 | weight of a topic at the document's node |
| total | A + c. | (1,) | of a sweep that stopped and is to go on |
| mu | (alpha_k + c_k) / (A + c.) | | E[mu_k] given the tables |

A customer of level i, a word or a table of the level below, chooses topic k with weight

    up_i(k) = {share_i(k) + opening_i(k) (b + a Td_i) base_i(k)} / (b + Nd_i)
    base_i(k) = fS_i mu_k + fT_i up_{i-1}(k),

fS_i and fT_i being the predictive weights of the two parents. All three samplers have this form
and differ in share and opening. Since up_i is linear in mu, whose every change touches every level,
levels keep the two parts of it. Words of the current segment are drawn from

    factor = reciprocal x {share + opening (b + a Td_j) base},

which changes at one topic when a word comes or goes; it is made anew for all topics, with the
levels that a path went through, only after tables were opened or closed.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numba import njit_inner, njit_section, njit_step
from skdp._random import next_double
from skdp._simd import draw_product, natural, prefetch
from skdp.topics._shared._kernels import AHEAD, LESS, MORE
from skdp.topics._tables._kernels import count_word, weigh_parents
from skdp.topics._tables._kernels_samplers import BTIGS, CMGS, SSA, weigh_node
from skdp.topics._tables._kernels_seats import (
    DOCUMENT,
    PREVIOUS,
    leave_seat,
    open_seat,
    seats_for,
    take_seat,
)
from skdp.topics._tables._kernels_table_counts import resample_tables

TINY = np.float32(1e-28)
"""Added to P and Q, which else fall below the normal numbers along a chain, where all is slow."""


class Levels(NamedTuple):
    """The segments of the current document up to the present one."""

    customers: np.ndarray
    level_customers: np.ndarray
    via_document: np.ndarray
    via_previous: np.ndarray
    inverse: np.ndarray
    share: np.ndarray
    opening: np.ndarray
    fixed_part: np.ndarray
    mu_part: np.ndarray
    base: np.ndarray
    total: np.ndarray


# Levels


@njit_section
def weigh_level(i, first, assignments, prior, levels):
    """Set the weights of the parents of level `i`, which all topics share."""
    s, t = assignments.segment_tables[first + i], assignments.segment_to_previous[first + i]
    f_document, f_previous = weigh_parents(i == 0, s, t, prior.to_document, prior.to_previous)
    new = prior.concentration[first + i] + prior.discount * (s + t)
    levels.via_document[i] = new * f_document
    levels.via_previous[i] = new * f_previous


@njit_section
def scale_level(i, first, prior, levels):
    """Set 1 / (b + Nd) of level `i`."""
    levels.inverse[i] = 1.0 / (prior.concentration[first + i] + levels.level_customers[i])


@njit_step
def rebuild_level(i, share, opening, fixed_part, mu_part, via_document, via_previous, inverse):
    """Set P and Q of all topics at level `i` from their own weights and from the level above."""
    from_document = np.float32(via_document[i])
    if i == 0:
        for k in range(share.shape[1]):
            fixed_part[0, k] = share[0, k] + TINY
            mu_part[0, k] = opening[0, k] * from_document + TINY
        return
    through = np.float32(via_previous[i] * inverse[i - 1])
    for k in range(share.shape[1]):
        from_above = through * opening[i, k]
        fixed_part[i, k] = share[i, k] + from_above * fixed_part[i - 1, k] + TINY
        mu_part[i, k] = opening[i, k] * from_document + from_above * mu_part[i - 1, k] + TINY


@njit_section
def patch_level(i, k, share, opening, fixed_part, mu_part, via_document, via_previous, inverse):
    """Set P and Q of topic `k` alone."""
    from_document, from_fixed, from_mu = np.float32(via_document[i]), TINY, TINY
    if i > 0:
        through = np.float32(via_previous[i] * inverse[i - 1])
        from_fixed, from_mu = through * fixed_part[i - 1, k], through * mu_part[i - 1, k]
    fixed_part[i, k] = share[i, k] + opening[i, k] * from_fixed + TINY
    mu_part[i, k] = opening[i, k] * (from_document + from_mu) + TINY


@njit_step
def refresh_levels(begin, end, first, assignments, prior, levels):
    """Bring all of levels `begin` to `end` - 1 up to date with their tables and customers."""
    for i in range(begin, end):
        weigh_level(i, first, assignments, prior, levels)
        scale_level(i, first, prior, levels)
        rebuild_level(
            i, levels.share, levels.opening, levels.fixed_part, levels.mu_part,
            levels.via_document, levels.via_previous, levels.inverse,
        )  # fmt: skip


@njit_step
def count_level(i, first, end, has_next, corpus, assignments, customers, level_customers):
    """Count the customers of level `i`: its words before word `end`, tables of the level below.

    Parameters
    ----------
    has_next : bool
        Whether there is a level below.
    customers : (levels, K or K') int32, output
    level_customers : (levels,) int64, output
    """
    j = first + i
    level_customers[i] = assignments.segment_to_previous[j + 1] if has_next else 0
    for k in range(assignments.tables.shape[1]):
        customers[i, k] = assignments.to_previous[j + 1, k] if has_next else 0
    for x in range(corpus.segment_ptr[j], end):
        if assignments.topics[x] >= 0:
            customers[i, assignments.topics[x]] += 1
            level_customers[i] += 1


@njit_section
def enter_level(sampler, i, first, has_next, corpus, assignments, prior, weights, levels):
    """Count the customers of level `i`, and set the weights of sharing and opening."""
    j = first + i
    customers, share, opening = levels.customers, levels.share, levels.opening
    tables, previous = assignments.tables, assignments.to_previous
    count_level(
        i, first, corpus.segment_ptr[j + 1], has_next, corpus, assignments, customers,
        levels.level_customers,
    )  # fmt: skip
    for k in range(tables.shape[1]):
        share[i, k], opening[i, k] = 0.0, 1.0
        n, t = np.int64(customers[i, k]), np.int64(tables[j, k] + previous[j, k])
        if n > 0:
            share[i, k], opening[i, k] = weigh_node(sampler, n, t, weights, prior.discount)


# Words of one topic


@njit_section
def weigh_above(i, k, mu, levels):
    """Return what topic `k` weighs at the level above level `i`, which is not the first."""
    at_above = levels.fixed_part[i - 1, k] + levels.mu_part[i - 1, k] * mu
    return at_above * levels.inverse[i - 1]


@njit_step
def rebuild_factor(
    i, inverse_total, base, reciprocal, share, opening, fixed_part, mu_part, via_document,
    via_previous, inverse, out,
):  # fmt: skip
    """Set the weights of all topics for the words of level `i`."""
    from_document = np.float32(via_document[i] * inverse_total)
    if i == 0:
        for k in range(share.shape[1]):
            out[k] = reciprocal[k] * (share[0, k] + opening[0, k] * (from_document * base[k]))
        return
    from_previous = np.float32(via_previous[i] * inverse[i - 1])
    through = np.float32(via_previous[i] * inverse[i - 1] * inverse_total)
    for k in range(share.shape[1]):
        at_base = from_previous * fixed_part[i - 1, k]
        at_base += base[k] * (from_document + through * mu_part[i - 1, k])
        out[k] = reciprocal[k] * (share[i, k] + opening[i, k] * at_base)


@njit_section
def patch_factor(i, k, inverse_total, levels, reciprocal, factor):
    """Set the weight of topic `k` alone."""
    mu = levels.base[k] * inverse_total
    at_base = levels.via_document[i] * mu
    if i > 0:
        at_base += levels.via_previous[i] * weigh_above(i, k, mu, levels)
    factor[k] = reciprocal[k] * (levels.share[i, k] + levels.opening[i, k] * at_base)


# Customers


@njit_step
def leave_node(sampler, n, s, t, rng):
    """Draw which table leaves with a customer: 0, none; DOCUMENT, one of `s`; PREVIOUS, of `t`.

    Probabilities are those of the counts before the customer leaves. BTIGS: the law of table
    indicators, but the last table that others use stays. CMGS: one leaves only if it must.
    """
    if sampler == BTIGS:
        if s + t == 1 and n > 1:
            return 0
        head = next_double(rng) * n
    else:
        if s + t < n:
            return 0
        head = next_double(rng) * n
    if head < s:
        return DOCUMENT
    return PREVIOUS if head < s + t else 0


@njit_section
def change_node(
    sampler, i, k, change, kind, n, s, t, first, served, assignments, prior, weights, levels
):
    """Add a customer, and a table if `kind` is not 0, to `n`, `s` and `t`; or take them away.

    Parameters
    ----------
    change : int
        `MORE` or `LESS`.
    kind : int
        Where the table's dish is ordered.
    served : (K,) int32
        The document's tables by topic.

    Returns
    -------
    in_document : int
        The change of A + c.
    """
    in_document, n_tables = 0, s + t
    levels.customers[i, k] = n + change
    levels.level_customers[i] += change
    if kind == DOCUMENT:
        assignments.tables[first + i, k] = s + change
        assignments.segment_tables[first + i] += change
        served[k] += change
        levels.base[k] = prior.alpha[k] + served[k]
        in_document = change
    elif kind == PREVIOUS:
        assignments.to_previous[first + i, k] = t + change
        assignments.segment_to_previous[first + i] += change
    if kind > 0:
        n_tables += change
    levels.share[i, k], levels.opening[i, k] = weigh_node(
        sampler, n + change, n_tables, weights, prior.discount
    )
    return in_document


@njit_section
def remove_customer(sampler, i, k, first, served, assignments, prior, weights, levels, rng):
    """Take a customer of topic `k` from level `i`, and up the chain one for each table that goes.

    Returns
    -------
    level : int
        Where the path ends.
    kind : int
        DOCUMENT if a table of the document goes there, 0 if none goes.
    in_document : int
        The change of A + c.
    """
    level = i
    while True:
        level = natural(level)
        j, n = first + level, np.int64(levels.customers[level, k])
        s, t = assignments.tables[j, k], assignments.to_previous[j, k]
        if sampler == SSA:
            target = next_double(rng) * n
            kind = leave_seat(
                j, k, target, assignments.seat_heads, assignments.seat_links,
                assignments.seat_sizes, assignments.seat_kinds, assignments.seat_free,
            )  # fmt: skip
        else:
            kind = leave_node(sampler, n, s, t, rng)
        in_document = change_node(
            sampler, level, k, LESS, kind, n, s, t, first, served, assignments, prior, weights,
            levels,
        )  # fmt: skip
        if kind != PREVIOUS:
            break
        level -= 1
    return level, kind, in_document


@njit_section
def add_customer(
    sampler, i, k, inverse_total, first, served, assignments, prior, weights, levels, rng
):
    """Seat a customer of topic `k` at level `i`, and up the chain one for each table that it opens.

    Returns
    -------
    level, kind, in_document : int
        As `remove_customer` returns them, of a table that comes.
    """
    a, mu = prior.discount, levels.base[k] * inverse_total
    share, opening = levels.share, levels.opening
    level = i
    while True:
        level = natural(level)
        j, n = first + level, np.int64(levels.customers[level, k])
        s, t = assignments.tables[j, k], assignments.to_previous[j, k]
        to_node = opening[level, k] * levels.via_document[level] * mu
        to_above = 0.0
        if level > 0:
            to_above = opening[level, k] * levels.via_previous[level]
            to_above *= weigh_above(level, k, mu, levels)
        via = to_node + to_above
        target = next_double(rng) * (share[level, k] + via) - share[level, k]
        kind = 0
        if n == 0 or (via > 0.0 and target >= 0.0):
            kind = DOCUMENT if target < to_node or to_above == 0.0 else PREVIOUS
        if sampler == SSA:
            heads, links = assignments.seat_heads, assignments.seat_links
            sizes, kinds, free = (
                assignments.seat_sizes, assignments.seat_kinds, assignments.seat_free,
            )  # fmt: skip
            if kind > 0:
                open_seat(j, k, kind, heads, links, sizes, kinds, free)
            else:
                target = next_double(rng) * (n - a * (s + t))
                take_seat(j, k, target, a, heads, links, sizes)
        in_document = change_node(
            sampler, level, k, MORE, kind, n, s, t, first, served, assignments, prior, weights,
            levels,
        )  # fmt: skip
        if kind != PREVIOUS:
            break
        level -= 1
    return level, kind, in_document


@njit_section
def patch_end(level, i, k, kind, lowest, first, prior, levels):
    """Patch the level where a path from level `i` ends; return the lowest that is not up to date.

    `lowest` is the one before. Levels between, and those that tables came to or went from, have to
    be rebuilt.
    """
    if level < i:
        lowest = min(lowest, level if kind > 0 else level + 1)
        scale_level(level, first, prior, levels)
        patch_level(
            level, k, levels.share, levels.opening, levels.fixed_part, levels.mu_part,
            levels.via_document, levels.via_previous, levels.inverse,
        )  # fmt: skip
    return lowest


@njit_section
def resample_level(i, first, total, served, assignments, prior, weights, levels, rng):
    """Draw the tables of all topics at level `i` (CMGS); return A + c."""
    tables, previous, customers = assignments.tables, assignments.to_previous, levels.customers
    for k in range(tables.shape[1]):
        if customers[i, k] > 0:
            total += resample_tables(
                i, k, first, total, served, assignments, prior, weights, customers,
                levels.level_customers, rng,
            )  # fmt: skip
            levels.base[k] = prior.alpha[k] + served[k]
            for level in range(max(i - 1, 0), i + 1):
                n, j = np.int64(customers[level, k]), first + level
                t = np.int64(tables[j, k] + previous[j, k])
                levels.share[level, k], levels.opening[level, k] = weigh_node(
                    CMGS, n, t, weights, prior.discount
                )
    return total


# Segments


@njit_section
def sweep_segment(
    sampler, d, j, total, corpus, assignments, words, prior, weights, scratch, levels, rng
):
    """Draw topic and tables of every word of segment `j`; words not seated get a seat.

    Parameters
    ----------
    total : float
        A + c. of the document.

    Returns
    -------
    total : float
    """
    gamma, shift = np.float32(prior.gamma), prior.gamma * words.counts.shape[0]
    tokens, topics = corpus.tokens, assignments.topics
    counts, totals, fixed = words.counts, words.totals, words.fixed
    reciprocal, factor, sums = scratch.reciprocal, scratch.factor, scratch.sums
    served = assignments.document_tables[natural(d)]
    j, first = natural(j), natural(corpus.doc_ptr[d])
    i = natural(j - first)
    has_next = j + 1 < corpus.doc_ptr[d + 1]
    enter_level(sampler, i, first, has_next, corpus, assignments, prior, weights, levels)
    lowest = i  # of the levels that changed; those above the current one need P and Q anew
    tables_changed, inverse_total = True, 1.0 / total
    for x in range(natural(corpus.segment_ptr[j]), corpus.segment_ptr[j + 1]):
        if x + AHEAD < tokens.shape[0]:
            prefetch(counts, tokens[x + AHEAD])
        w = natural(tokens[x])

        # Remove the word, and up the chain each table that goes along.
        k = np.int64(topics[x])
        if k >= 0:
            level, kind, in_document = remove_customer(
                sampler, i, k, first, served, assignments, prior, weights, levels, rng
            )
            total += in_document
            tables_changed = tables_changed or level < i or kind > 0
            lowest = patch_end(level, i, k, kind, lowest, first, prior, levels)
            count_word(w, k, LESS, fixed, counts, totals, shift, reciprocal)

        # Weigh: all topics if tables have changed, else the one that the word has left.
        if tables_changed:
            refresh_levels(lowest, i, first, assignments, prior, levels)
            weigh_level(i, first, assignments, prior, levels)
            lowest, tables_changed, inverse_total = i, False, 1.0 / total
            rebuild_factor(
                i, inverse_total, levels.base, reciprocal, levels.share, levels.opening,
                levels.fixed_part, levels.mu_part, levels.via_document, levels.via_previous,
                levels.inverse, factor,
            )  # fmt: skip
        elif k >= 0:
            patch_factor(i, k, inverse_total, levels, reciprocal, factor)

        # Draw the topic.
        k = draw_product(counts, w, gamma, factor, sums, rng)
        topics[x] = k
        count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal)

        # Add the word, and up the chain a customer for each table that it opens.
        level, kind, in_document = add_customer(
            sampler, i, k, inverse_total, first, served, assignments, prior, weights, levels, rng
        )
        total += in_document
        tables_changed = tables_changed or level < i or kind > 0
        lowest = patch_end(level, i, k, kind, lowest, first, prior, levels)
        if not tables_changed:
            patch_factor(i, k, inverse_total, levels, reciprocal, factor)

    # CMGS: draw the tables of the segment. Then leave it ready for the one that follows.
    if sampler == CMGS:
        total = resample_level(i, first, total, served, assignments, prior, weights, levels, rng)
        lowest = min(lowest, max(i - 1, 0))
    if has_next:
        refresh_levels(lowest, i + 1, first, assignments, prior, levels)
    return total


def _make_sweep_segments(sampler):
    """Return `sweep_segments` of one sampler, with nothing in it that others need."""

    @njit_inner
    def sweep_segments(
        d, begin, end, total, corpus, assignments, words, prior, weights, scratch, levels, rng
    ):
        """Sweep segments `begin` to `end` - 1 of document `d` in order; return A + c."""
        for j in range(begin, end):
            total = sweep_segment(
                sampler, d, j, total, corpus, assignments, words, prior, weights, scratch, levels,
                rng,
            )  # fmt: skip
        return total

    return sweep_segments


sweep_segments_btigs = _make_sweep_segments(BTIGS)
_sweep_segments_cmgs = _make_sweep_segments(CMGS)
_sweep_segments_ssa = _make_sweep_segments(SSA)


@njit_section
def sweep_document(
    sampler, d, begin, corpus, assignments, words, prior, weights, scratch, levels, rng
):
    """Sweep the segments of document `d` in order, from `begin` on.

    Returns
    -------
    end : int
        The segment to go on from with more seats; the document's end if there were enough.
    """
    total = levels.total[0]
    if begin == corpus.doc_ptr[d]:
        total = 0.0
        for k in range(prior.alpha.shape[0]):
            levels.base[k] = prior.alpha[k] + assignments.document_tables[d, k]
            total += prior.alpha[k] + assignments.document_tables[d, k]
    last = corpus.doc_ptr[d + 1]
    while begin < last:
        end = last
        if sampler == SSA:
            if assignments.seat_free[1] < seats_for(d, begin, corpus, prior):
                break
            end = begin + 1
        if sampler == BTIGS:
            total = sweep_segments_btigs(
                d, begin, end, total, corpus, assignments, words, prior, weights, scratch, levels,
                rng,
            )  # fmt: skip
        elif sampler == CMGS:
            total = _sweep_segments_cmgs(
                d, begin, end, total, corpus, assignments, words, prior, weights, scratch, levels,
                rng,
            )  # fmt: skip
        else:
            total = _sweep_segments_ssa(
                d, begin, end, total, corpus, assignments, words, prior, weights, scratch, levels,
                rng,
            )  # fmt: skip
        begin = end
    levels.total[0] = total
    return begin
