"""Sweeps of models whose segments form a chain: SequentialLDA and AdaptiveTopicModel.

Symbols as in `_kernels/_tables`; also, level i is segment j = first + i of the current part of a
document, whose segments form a separate chain (without breaks the part is the document):

| name | symbol | shape | meaning |
|---|---|---|---|
| customers | N_jk | (levels, K') int32 | words and tables of the level below: n_jk + t_{j+1,k} |
| level_customers | Nd_j | (levels,) int64 | sum of the customers over topics |
| inverse | 1 / (b + Nd_j) | (levels,) | |
| via_document | (b + a Td_j) fS_j | (levels,) | weight of opening a table, its dish from mu |
| via_previous | (b + a Td_j) fT_j | (levels,) | weight of opening, its dish from the level above |
| share | | (levels, K') float32 | weight of sharing a table |
| opening | | (levels, K') float32 | weight of opening a table, without (b + a Td_j) |
| fixed_part, mu_part | P, Q | (levels, K') float32 | weight of a topic / inverse: P + Q mu_k |
| base | alpha_k + c_k | (K',) float32 | weight of a topic at the document's node |
| total | A + c. | (1,) | total of a sweep that stopped and will resume |
| mu | (alpha_k + c_k) / (A + c.) | | E[mu_k] given the tables |

A customer of level i, a word or a table of the level below, chooses topic k with weight

    up_i(k) = {share_i(k) + opening_i(k) (b + a Td_i) base_i(k)} / (b + Nd_i)
    base_i(k) = fS_i mu_k + fT_i up_{i-1}(k),

where fS_i and fT_i are the predictive weights of the two parents. All three samplers have this form
and differ in share and opening. Since up_i is linear in mu, and each change of mu affects every
level, levels store its two parts. Words of the current segment are drawn from

    factor = reciprocal x {share + opening (b + a Td_j) base},

which changes at one topic when a word is added or removed; it is recomputed for all topics, with
the levels that a path went through, only after tables were opened or closed.

With bursts (see `_kernels/_counts`) the words of a group, a document or a segment, that have a
topic sit at tables of their own, and counts are of these. The kernels here serve all models then:

| name | symbol | shape | meaning |
|---|---|---|---|
| group_ptr | | (groups + 1,) int64 | tokens of each group |
| words | n_gk | (K,) | words of the current group by topic |
| customer | | (K',) float32 | share + opening (b + a Td_j) base, of any customer |
| inverse | 1 / (b_w + n_gk) | (K') float32 | |
| rate | inverse (b_w + a_w T_gk) reciprocal | (K') float32 | |
| seats.share | customer x inverse | (K,) | weight of a word; factor is customer x rate |
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp._numeric._simd import (
    assume_nonnegative,
    draw_product,
    find_sum,
    prefetch,
    sum_product,
)
from skdp.topics._kernels._btigs import weigh_node
from skdp.topics._kernels._cmgs import resample_tables
from skdp.topics._kernels._counts import (
    AHEAD,
    LESS,
    MORE,
    BurstSeats,
    enter_tables,
    find_seat,
    take_place,
    vacate_seat,
    weigh_seats,
)
from skdp.topics._kernels._ssa import (
    DOCUMENT,
    PREVIOUS,
    leave_seat,
    open_seat,
    seats_for,
    take_seat,
)
from skdp.topics._kernels._tables import BTIGS, CMGS, SSA, count_word, is_open, weigh_parents

TINY = np.float32(1e-28)
"""Added to P and Q, which otherwise become subnormal along a chain, which is slow."""


class Levels(NamedTuple):
    """The segments of the current part of a document up to the current one."""

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


class GroupBursts(NamedTuple):
    """Bursts of the words of documents or, with `each_segment`, of segments."""

    seats: BurstSeats
    each_segment: bool
    group_ptr: np.ndarray
    words: np.ndarray
    ones: np.ndarray
    customer: np.ndarray
    inverse: np.ndarray
    rate: np.ndarray


@njit_forceinline
def leave_node(sampler, n, s, t, rng):
    """Draw which table leaves with one of `n` customers: none (0), DOCUMENT or PREVIOUS."""
    if sampler == BTIGS:  # by table indicators, but the last table stays if others use it
        if s + t == 1 and n > 1:
            return 0
        head = next_double(rng) * n
    else:  # CMGS: only if it must
        if s + t < n:
            return 0
        head = next_double(rng) * n
    if head < s:
        return DOCUMENT
    return PREVIOUS if head < s + t else 0


@njit_forceinline
def enter_level(j, i, end, has_next, corpus, assignments, levels):
    """Write the customers of segment `j` to row `i`: words before `end`, tables of the next one."""
    customers, level_customers = levels.customers, levels.level_customers
    level_customers[i] = assignments.segment_to_previous[j + 1] if has_next else 0
    for k in range(assignments.tables.shape[1]):
        customers[i, k] = assignments.to_previous[j + 1, k] if has_next else 0
    for x in range(corpus.segment_ptr[j], end):
        k = assignments.topics[x]
        if k >= 0:
            customers[i, k] += 1
            level_customers[i] += 1


@njit_forceinline
def weigh_topic(sampler, i, k, n, t, ratios, a, levels):
    """Set the weights of sharing and opening of a topic with `n` customers, `t` tables."""
    levels.share[i, k], levels.opening[i, k] = weigh_node(
        sampler, n, t, ratios.values, ratios.row_ptr, a
    )


@njit_forceinline
def weigh_topics(sampler, i, j, assignments, ratios, a, levels):
    """Set the weights of sharing and opening of all topics in level `i`, segment `j`."""
    for k in range(assignments.tables.shape[1]):
        levels.share[i, k], levels.opening[i, k] = 0.0, 1.0
        n = np.int64(levels.customers[i, k])
        if n > 0:
            t = np.int64(assignments.tables[j, k] + assignments.to_previous[j, k])
            weigh_topic(sampler, i, k, n, t, ratios, a, levels)


@njit_forceinline
def weigh_level(i, first, assignments, prior, levels):
    """Set the weights of the parents of level `i`, which are common to all topics."""
    s, t = assignments.segment_tables[first + i], assignments.segment_to_previous[first + i]
    f_document, f_previous = weigh_parents(i == 0, s, t, prior.to_document, prior.to_previous)
    new = prior.concentration[first + i] + prior.discount * (s + t)
    levels.via_document[i] = new * f_document
    levels.via_previous[i] = new * f_previous


@njit_forceinline
def weigh_customers(i, first, prior, levels):
    """Set the denominator of the weights of level `i`."""
    levels.inverse[i] = 1.0 / (prior.concentration[first + i] + levels.level_customers[i])


@njit_forceinline
def patch_level(i, k, first, prior, levels):
    """Set P and Q of topic `k` at level `i` from its own weights and from the level above."""
    weigh_customers(i, first, prior, levels)
    share, opening = levels.share, levels.opening
    fixed_part, mu_part = levels.fixed_part, levels.mu_part
    from_document, from_fixed, from_mu = np.float32(levels.via_document[i]), TINY, TINY
    if i > 0:
        through = np.float32(levels.via_previous[i] * levels.inverse[i - 1])
        from_fixed, from_mu = through * fixed_part[i - 1, k], through * mu_part[i - 1, k]
    fixed_part[i, k] = share[i, k] + opening[i, k] * from_fixed + TINY
    mu_part[i, k] = opening[i, k] * (from_document + from_mu) + TINY


@njit_forceinline
def rebuild_level(i, first, assignments, prior, levels):
    """Set the weights of level `i`, and P and Q of all topics: see `patch_level`."""
    weigh_level(i, first, assignments, prior, levels)
    weigh_customers(i, first, prior, levels)
    share, opening = levels.share, levels.opening
    fixed_part, mu_part = levels.fixed_part, levels.mu_part
    from_document = np.float32(levels.via_document[i])
    if i == 0:
        for k in range(share.shape[1]):
            fixed_part[0, k] = share[0, k] + TINY
            mu_part[0, k] = opening[0, k] * from_document + TINY
        return
    through = np.float32(levels.via_previous[i] * levels.inverse[i - 1])
    for k in range(share.shape[1]):
        from_above = through * opening[i, k]
        fixed_part[i, k] = share[i, k] + from_above * fixed_part[i - 1, k] + TINY
        mu_part[i, k] = opening[i, k] * from_document + from_above * mu_part[i - 1, k] + TINY


@njit_forceinline
def rebuild_factor(i, inverse_total, reciprocal, levels, out):
    """Set the weights of all topics for the words of level `i`."""
    base, share, opening = levels.base, levels.share, levels.opening
    fixed_part, mu_part = levels.fixed_part, levels.mu_part
    from_document = np.float32(levels.via_document[i] * inverse_total)
    if i == 0:
        for k in range(share.shape[1]):
            out[k] = reciprocal[k] * (share[0, k] + opening[0, k] * (from_document * base[k]))
        return
    from_previous = np.float32(levels.via_previous[i] * levels.inverse[i - 1])
    through = np.float32(levels.via_previous[i] * levels.inverse[i - 1] * inverse_total)
    for k in range(share.shape[1]):
        at_base = from_previous * fixed_part[i - 1, k]
        at_base += base[k] * (from_document + through * mu_part[i - 1, k])
        out[k] = reciprocal[k] * (share[i, k] + opening[i, k] * at_base)


@njit_forceinline
def weigh_above(i, k, mu, levels):
    """Return the weight of topic `k` for a customer of the level above `i`."""
    up = levels.fixed_part[i - 1, k] + levels.mu_part[i - 1, k] * mu
    return up * levels.inverse[i - 1]


@njit_forceinline
def weigh_customer(i, k, inverse_total, levels):
    """Return the weight of topic `k` for a customer of level `i`."""
    mu = levels.base[k] * inverse_total
    at_base = levels.via_document[i] * mu
    if i > 0:
        at_base += levels.via_previous[i] * weigh_above(i, k, mu, levels)
    return levels.share[i, k] + levels.opening[i, k] * at_base


@njit_forceinline
def change_table(kind, j, k, change, served, alpha, assignments, base):
    """Add `change` to the tables of `kind`, which may be 0 for none; return the change of A + c."""
    if kind == DOCUMENT:
        assignments.tables[j, k] += change
        assignments.segment_tables[j] += change
        served[k] += change
        base[k] = alpha[k] + served[k]
        return np.float64(change)
    if kind == PREVIOUS:
        assignments.to_previous[j, k] += change
        assignments.segment_to_previous[j] += change
    return 0.0


@njit_forceinline
def rate_word(k, bursts, reciprocal):
    """Set `inverse` and `rate` of topic `k` after its words in the group have changed."""
    seats = bursts.seats
    bursts.inverse[k] = seats.inverse[np.int64(bursts.words[k])]
    opening = seats.concentration + seats.discount * seats.opened[k]
    bursts.rate[k] = opening * bursts.inverse[k] * reciprocal[k]


@njit_forceinline
def enter_group(g, topics, bursts, reciprocal):
    """List the words and tables of group `g`."""
    begin, end = bursts.group_ptr[g], bursts.group_ptr[g + 1]
    for k in range(bursts.words.shape[0]):
        bursts.words[k] = 0.0
    enter_tables(begin, end, end, topics, bursts.seats, bursts.words)
    for k in range(bursts.words.shape[0]):
        rate_word(k, bursts, reciprocal)


@njit_forceinline
def weigh_word(k, customer, bursts, reciprocal, factor):
    """Set the weights of words of topic `k`, given that of a customer of the segment."""
    if bursts is None:
        factor[k] = reciprocal[k] * customer
    else:
        bursts.seats.share[k] = customer * bursts.inverse[k]
        factor[k] = customer * bursts.rate[k]


@njit_forceinline
def enter_bursts(d, j, begin, topics, bursts, reciprocal):
    """Enter segment `j` of document `d`; return the first word of its group."""
    if bursts is None:
        return begin
    if not bursts.each_segment:
        return bursts.group_ptr[d]
    enter_group(j, topics, bursts, reciprocal)
    return begin


@njit_forceinline
def remove_word(x, w, k, start, words, shift, bursts, reciprocal, may_open):
    """Remove word `x` from its topic, or from a table of the group that begins at `start`."""
    counts, totals, fixed = words.counts, words.totals, words.fixed
    if bursts is None:
        count_word(w, k, LESS, fixed, counts, totals, shift, reciprocal, may_open)
    else:
        seats = bursts.seats
        bursts.words[k] -= 1.0
        if vacate_seat(seats.seats[x] - start, seats):
            seats.opened[k] -= 1.0
            count_word(w, k, LESS, fixed, counts, totals, shift, reciprocal, may_open)
        rate_word(k, bursts, reciprocal)


@njit_forceinline
def draw_word(
    x, w, start, gamma, words, shift, factor, sums, bursts, reciprocal, may_open, rng
):  # fmt: skip
    """Draw the topic of word `x`, and a table of the group that begins at `start`."""
    counts, totals, fixed, width = words.counts, words.totals, words.fixed, factor.shape[0]
    if bursts is None:
        k = draw_product(counts, w, gamma, factor, sums, rng)
        while not is_open(k, totals, may_open):
            k = draw_product(counts, w, gamma, factor, sums, rng)
        count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal, may_open)
        return k
    seats = bursts.seats
    place = np.int64(seats.firsts[x] - start)
    new = np.float64(sum_product(counts, w, gamma, factor, sums, 0))
    joined = weigh_seats(place, seats)
    while True:
        target = next_double(rng) * (joined + new)
        if target < joined:
            seat = find_seat(target, place, seats)
            k = np.int64(seats.served[seat])
            break
        k = find_sum(sums, 0, width, np.float32(target - joined))
        for _ in range(width):  # as in `draw_product`
            if (counts[w, k] + gamma) * factor[k] > 0.0:
                break
            k = k - 1 if k > 0 else width - 1
        if is_open(k, totals, may_open):
            seat = take_place(k, place, seats)
            seats.opened[k] += 1.0
            count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal, may_open)
            break
    seats.seats[x] = start + seat
    seats.sizes[seat] += 1
    bursts.words[k] += 1.0
    rate_word(k, bursts, reciprocal)
    return k


@njit_inlined_source
def sweep_segment(
    sampler, d, j, total, corpus, assignments, words, prior, ratios, scratch, levels, bursts, rng
):
    """Draw topic and tables of every word of segment `j`, of unseated words too; return A + c."""
    a, alpha, gamma = prior.discount, prior.alpha, np.float32(prior.gamma)
    shift = prior.gamma * words.counts.shape[0]
    tokens, topics, counts = corpus.tokens, assignments.topics, words.counts
    reciprocal, factor = scratch.reciprocal, scratch.factor
    sums, may_open = scratch.sums, scratch.may_open
    tables, previous = assignments.tables, assignments.to_previous
    heads, links = assignments.seat_heads, assignments.seat_links
    sizes, kinds, free = assignments.seat_sizes, assignments.seat_kinds, assignments.seat_free
    base, customers, level_customers = levels.base, levels.customers, levels.level_customers
    served = assignments.document_tables[assume_nonnegative(d)]
    j = assume_nonnegative(j)
    first = assume_nonnegative(corpus.part_begin[j])
    i = assume_nonnegative(j - first)
    begin, end = assume_nonnegative(corpus.segment_ptr[j]), corpus.segment_ptr[j + 1]
    n_topics = tables.shape[1]
    start = enter_bursts(d, j, begin, topics, bursts, reciprocal)
    has_next = j + 1 < corpus.doc_ptr[d + 1]
    enter_level(j, i, end, has_next, corpus, assignments, levels)
    weigh_topics(sampler, i, j, assignments, ratios, a, levels)

    lowest = i  # lowest changed level; levels above the current one need P and Q recomputed
    tables_changed = True
    inverse_total = 1.0 / total
    for x in range(begin, end):
        if x + AHEAD < tokens.shape[0]:
            prefetch(counts, tokens[x + AHEAD])
        w = assume_nonnegative(tokens[x])

        # Remove the word, and up the chain each table that leaves with it.
        k = np.int64(topics[x])
        if k >= 0:
            level = i
            while True:
                level = assume_nonnegative(level)
                row = first + level
                n = np.int64(customers[level, k])
                s, t = tables[row, k], previous[row, k]
                if sampler == SSA:
                    target = next_double(rng) * n
                    kind = leave_seat(row, k, target, heads, links, sizes, kinds, free)
                else:
                    kind = leave_node(sampler, n, s, t, rng)
                customers[level, k] = n - 1
                level_customers[level] -= 1
                total += change_table(kind, row, k, LESS, served, alpha, assignments, base)
                left = s + t - (1 if kind > 0 else 0)
                weigh_topic(sampler, level, k, n - 1, left, ratios, a, levels)
                tables_changed = tables_changed or kind > 0
                if kind != PREVIOUS:
                    break
                level -= 1
            if level < i:
                lowest = min(lowest, level if kind > 0 else level + 1)
                patch_level(level, k, first, prior, levels)
            remove_word(x, w, k, start, words, shift, bursts, reciprocal, may_open)

        # Reweigh all topics if tables have changed, otherwise only the topic that the word left.
        if tables_changed:
            for level in range(lowest, i):
                rebuild_level(level, first, assignments, prior, levels)
            lowest = i
            weigh_level(i, first, assignments, prior, levels)
            inverse_total = 1.0 / total
            if bursts is None:
                rebuild_factor(i, inverse_total, reciprocal, levels, factor)
            else:
                rebuild_factor(i, inverse_total, bursts.ones, levels, bursts.customer)
                for k in range(n_topics):
                    weigh_word(k, bursts.customer[k], bursts, reciprocal, factor)
            tables_changed = False
        elif k >= 0:
            customer = weigh_customer(i, k, inverse_total, levels)
            weigh_word(k, customer, bursts, reciprocal, factor)

        # Draw the topic.
        k = draw_word(
            x, w, start, gamma, words, shift, factor, sums, bursts, reciprocal, may_open, rng
        )
        topics[x] = k

        # Add the word, and up the chain a customer for each table that it opens.
        mu = base[k] * inverse_total
        level = i
        while True:
            level = assume_nonnegative(level)
            row = first + level
            share, opening = levels.share[level, k], levels.opening[level, k]
            to_node = opening * levels.via_document[level] * mu
            to_above = 0.0
            if level > 0:
                to_above = opening * levels.via_previous[level] * weigh_above(level, k, mu, levels)
            n = np.int64(customers[level, k])
            s, t = tables[row, k], previous[row, k]
            via = to_node + to_above
            target = next_double(rng) * (share + via) - share
            kind = 0
            if n == 0 or (via > 0.0 and target >= 0.0):
                kind = DOCUMENT if target < to_node or to_above == 0.0 else PREVIOUS
            if sampler == SSA:
                if kind > 0:
                    open_seat(row, k, kind, heads, links, sizes, kinds, free)
                else:
                    target = next_double(rng) * (n - a * (s + t))
                    take_seat(row, k, target, a, heads, links, sizes)
            customers[level, k] = n + 1
            level_customers[level] += 1
            total += change_table(kind, row, k, MORE, served, alpha, assignments, base)
            left = s + t + (1 if kind > 0 else 0)
            weigh_topic(sampler, level, k, n + 1, left, ratios, a, levels)
            tables_changed = tables_changed or kind > 0
            if kind != PREVIOUS:
                break
            level -= 1
        if level < i:
            lowest = min(lowest, level if kind > 0 else level + 1)
            patch_level(level, k, first, prior, levels)
        if not tables_changed:
            customer = weigh_customer(i, k, inverse_total, levels)
            weigh_word(k, customer, bursts, reciprocal, factor)

    # CMGS: draw the tables of the segment. Then prepare it for the next segment.
    if sampler == CMGS:
        for k in range(n_topics):
            if customers[i, k] > 0:
                total += resample_tables(
                    i, k, first, total, served, assignments, prior, ratios, levels, rng
                )
                base[k] = alpha[k] + served[k]
                for level in range(max(i - 1, 0), i + 1):
                    n = np.int64(customers[level, k])
                    t = tables[first + level, k] + previous[first + level, k]
                    weigh_topic(sampler, level, k, n, t, ratios, a, levels)
        lowest = min(lowest, max(i - 1, 0))
    if has_next:
        for level in range(lowest, i + 1):
            rebuild_level(level, first, assignments, prior, levels)
    return total


def _make_sweep_segments(sampler):
    """Return `sweep_segments` of one sampler, without the code of the others."""

    @njit_internal_nogc
    def sweep_segments(
        d, begin, end, total, corpus, assignments, words, prior, ratios, scratch, levels, bursts,
        rng,
    ):  # fmt: skip
        """Sweep segments `begin` to `end` - 1 of document `d` in order; return A + c."""
        if bursts is not None and not bursts.each_segment:
            enter_group(d, assignments.topics, bursts, scratch.reciprocal)
        for j in range(begin, end):
            total = sweep_segment(
                sampler, d, j, total, corpus, assignments, words, prior, ratios, scratch, levels,
                bursts, rng,
            )  # fmt: skip
        return total

    return sweep_segments


SWEEPS_OF_SEGMENTS = {sampler: _make_sweep_segments(sampler) for sampler in (BTIGS, CMGS, SSA)}
"""`sweep_segments` by sampler."""


def make_sweep_of_chain(sampler):
    """Return `sweep_document` of one sampler for documents whose segments form chains."""
    sweep_segments = SWEEPS_OF_SEGMENTS[sampler]

    @njit_internal_nogc
    def sweep_document(
        d, begin, corpus, assignments, words, prior, ratios, scratch, levels, bursts, rng
    ):
        """Sweep the segments of document `d` from `begin`; return where to resume, or the end."""
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
            total = sweep_segments(
                d, begin, end, total, corpus, assignments, words, prior, ratios, scratch, levels,
                bursts, rng,
            )  # fmt: skip
            begin = end
        levels.total[0] = total
        return begin

    return sweep_document
