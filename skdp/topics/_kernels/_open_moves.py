"""Exact moves that split a topic in two or merge two topics of a table model.

Words of one table have one topic, so moves divide tables, with all their customers. For a move the
words of one or two topics are seated: a draw given their topics and numbers of tables. In a chain
the customers of a table may be tables of the next segment; the words that are seated, directly or
not, at a table that orders from the document form a block. Giving a block another topic changes
neither the number of customers or tables of a segment, nor their sizes or parents. So blocks are to
the document what words are in `_kernels/_hdp`: the move is the same, except that blocks have
several words. Then the seats are discarded.

Symbols as in `_kernels/_tables` and in the moves of words, whose members are the blocks here.

| name | shape | meaning |
|---|---|---|
| topic, segment, kind, size | (tables,) | attributes of each table |
| parent | (tables,) | the table of the previous segment at which it is a customer, or -1 |
| position, table | (words,) int64 | each word's index in the corpus, and its table |
| below | (tables,) int64 | tables that are customers of the previous segment |
| opens | (words,) bool | whether a customer was the first of a table |
| block_ptr, tokens | (blocks + 1,), (words,) | the words of each block |
| node_of | (blocks,) int64 | document of each block |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_log_beta, next_double
from skdp.processes._kernels_stirling import open_ratio
from skdp.topics._kernels._hdp import (
    N_LAUNCH_SWEEPS,
    draw_first_shares,
    draw_side_tables,
    end_of_node,
    log_ratio_of_nodes,
    log_ratio_of_words,
    share_prior,
)
from skdp.topics._kernels._ssa import DOCUMENT, PREVIOUS, open_seat
from skdp.topics._kernels._tables import tables_below


class TopicSeats(NamedTuple):
    """Words and tables of one or two topics."""

    topic: np.ndarray
    segment: np.ndarray
    kind: np.ndarray
    parent: np.ndarray
    size: np.ndarray
    position: np.ndarray
    table: np.ndarray
    below: np.ndarray
    opens: np.ndarray


class Blocks(NamedTuple):
    """Words of each table that orders from the document."""

    block_ptr: np.ndarray
    tokens: np.ndarray
    node_of: np.ndarray


def empty_seats(n_words: int, n_tables: int) -> TopicSeats:
    """Return empty seats for `n_words` words and `n_tables` tables."""
    tables = [np.zeros(n_tables, dtype=np.int64) for _ in range(6)]
    words = [np.zeros(n_words, dtype=np.int64) for _ in range(2)]
    return TopicSeats(*tables[:5], *words, tables[5], np.zeros(n_words + n_tables, dtype=np.bool_))


@njit_internal_nogc
def seat_customers(n, n_tables, a, seats, values, row_ptr, rng):
    """Draw which of `n` customers open the `n_tables` tables; the first customer always does."""
    # Backwards: the last customer is alone with probability S^{n-1}_{t-1} / S^n_t.
    for i in range(n, 0, -1):
        opens = n_tables == i
        if not opens and n_tables > 1:
            ratio = open_ratio(values, row_ptr, i - 1, n_tables - 1, a)
            opens = next_double(rng) * ratio < 1.0
        seats.opens[i - 1] = opens
        n_tables -= opens


@njit_internal_nogc
def seat_segment(j, k, n_below, first_word, n_words, first_table, t, a, seats, rng):
    """Seat the customers of topic `k` in segment `j`; return the end of its tables, and `n_below`.

    The first `n_below` customers are tables of the next segment. `t` tables, chosen at random,
    order from the previous segment.
    """
    n_tables = first_table
    for c in range(n_below + n_words - first_word):
        seat = first_table
        if seats.opens[c]:
            seat = n_tables
            seats.size[seat] = 0
            n_tables += 1
        else:
            target = next_double(rng) * (c - a * (n_tables - first_table))
            target -= seats.size[seat] - a
            while target >= 0.0 and seat + 1 < n_tables:
                seat += 1
                target -= seats.size[seat] - a
        seats.size[seat] += 1
        if c < n_below:
            seats.parent[seats.below[c]] = seat
        else:
            seats.table[first_word + c - n_below] = seat
    n_below = 0
    for seat in range(first_table, n_tables):
        seats.topic[seat], seats.segment[seat] = k, j
        seats.parent[seat], seats.kind[seat] = -1, DOCUMENT
        if next_double(rng) * (n_tables - seat) < t - n_below:
            seats.kind[seat] = PREVIOUS
            seats.below[n_below] = seat
            n_below += 1
    return n_tables, n_below


@njit_loop
def seat_topics(topics, corpus, assignments, prior, ratios, seats, rng):
    """Draw the seats of all words of `topics` (1,) or (2,) int64, document by document."""
    n_tables, n_words = 0, 0
    for d in range(corpus.doc_ptr.shape[0] - 1):
        for k in topics:
            if assignments.document_tables[d, k] == 0:
                continue
            n_below = 0
            for j in range(corpus.doc_ptr[d + 1] - 1, corpus.doc_ptr[d] - 1, -1):
                first_word = n_words
                for i in range(corpus.segment_ptr[j], corpus.segment_ptr[j + 1]):
                    if assignments.topics[i] == k:
                        seats.position[n_words] = i
                        n_words += 1
                n = n_words - first_word + tables_below(j, k, d, corpus, assignments, prior)
                s, t = np.int64(assignments.tables[j, k]), np.int64(0)
                if prior.to_previous > 0.0:
                    t = np.int64(assignments.to_previous[j, k])
                seat_customers(n, s + t, prior.discount, seats, ratios.values, ratios.row_ptr, rng)
                n_tables, n_below = seat_segment(
                    j, k, n_below, first_word, n_words, n_tables, t, prior.discount, seats, rng
                )


@njit_loop
def find_roots(parent, roots):
    """Write the root of each table, its last ancestor, to `roots`; parents have higher indices."""
    for seat in range(parent.shape[0] - 1, -1, -1):
        roots[seat] = seat if parent[seat] < 0 else roots[parent[seat]]


@njit_loop
def install_seats(topics, seats, assignments):
    """Replace the stored individual tables of `topics` by new ones (SSA)."""
    heads, links = assignments.seat_heads, assignments.seat_links
    sizes, kinds, free = assignments.seat_sizes, assignments.seat_kinds, assignments.seat_free
    for j in range(heads.shape[0]):
        for k in topics:
            while heads[j, k] >= 0:
                seat = heads[j, k]
                heads[j, k] = links[seat]
                links[seat] = free[0]
                free[0] = seat
                free[1] += 1
    for seat in range(seats.topic.shape[0]):
        j, k = seats.segment[seat], seats.topic[seat]
        open_seat(j, k, seats.kind[seat], heads, links, sizes, kinds, free)
        sizes[heads[j, k]] = seats.size[seat]


@njit_forceinline
def count_block(x, side, change, blocks, division):
    """Add the words of block `x` to a side, or remove them."""
    for i in range(blocks.block_ptr[x], blocks.block_ptr[x + 1]):
        division.side_counts[side, blocks.tokens[i]] += change
    division.side_totals[side] += change * (blocks.block_ptr[x + 1] - blocks.block_ptr[x])


@njit_forceinline
def weigh_words(x, eta, blocks, division):
    """Return the log ratio of the probabilities of block `x` on the two sides; it has no side."""
    counts, totals = division.side_counts, division.side_totals
    shift, begin, end = eta * counts.shape[1], blocks.block_ptr[x], blocks.block_ptr[x + 1]
    result = 0.0
    for i in range(begin, end):
        w, n = blocks.tokens[i], i - begin  # each word given the words before it
        result += math.log(
            (counts[0, w] + eta) * (totals[1] + n + shift)
            / ((counts[1, w] + eta) * (totals[0] + n + shift))
        )  # fmt: skip
        counts[0, w] += 1.0
        counts[1, w] += 1.0
    for i in range(begin, end):
        counts[0, blocks.tokens[i]] -= 1.0
        counts[1, blocks.tokens[i]] -= 1.0
    return result


@njit_internal_nogc
def seat_anchors(n_blocks, pair, blocks, division):
    """Remove the sides of all blocks except the pair's."""
    for x in range(n_blocks):
        division.sides[x] = -1
    for side in range(2):
        division.sides[pair[side]] = side
        count_block(pair[side], side, 1.0, blocks, division)


@njit_internal_nogc
def sweep_sides(n_blocks, forgets, replays, pair, blocks, eta, division, rng):
    """Draw the sides of blocks except the pair's, as for words; return the log probability."""
    sides, node_of = division.sides, blocks.node_of
    result = 0.0
    x = 0
    while x < n_blocks:
        end = end_of_node(x, n_blocks, division.members, node_of)
        base_a, base_b = division.priors[0], division.priors[1]
        for y in range(x, end):
            if forgets and y != pair[0] and y != pair[1] and sides[y] >= 0:
                count_block(y, sides[y], -1.0, blocks, division)
                sides[y] = -1
            base_a += sides[y] == 0
            base_b += sides[y] == 1
        while x < end:
            if x != pair[0] and x != pair[1]:
                if sides[x] >= 0:
                    base_a -= sides[x] == 0
                    base_b -= sides[x] == 1
                    count_block(x, sides[x], -1.0, blocks, division)
                log_odds = math.log(base_a / base_b) + weigh_words(x, eta, blocks, division)
                log_odds = min(max(log_odds, -700.0), 700.0)
                side = int(next_double(rng) * (1.0 + math.exp(-log_odds)) >= 1.0)
                if replays:
                    side = division.found[x]
                result -= math.log1p(math.exp(log_odds if side == 1 else -log_odds))
                sides[x] = side
                count_block(x, side, 1.0, blocks, division)
                base_a += side == 0
                base_b += side == 1
            x += 1
    return result


@njit_internal_nogc
def launch(n_blocks, forgets, pair, blocks, eta, division, rng):
    """Divide the blocks, starting from the pair alone; return the tables of both sides."""
    draw_first_shares(n_blocks, division, rng)
    share_prior(division)
    seat_anchors(n_blocks, pair, blocks, division)
    sweep_sides(n_blocks, True, False, pair, blocks, eta, division, rng)
    for _ in range(N_LAUNCH_SWEEPS):
        m_a, m_b = draw_side_tables(n_blocks, blocks.node_of, None, division, rng)
        division.log_shares[0], division.log_shares[1] = draw_log_beta(m_a, m_b, rng)
        share_prior(division)
        sweep_sides(n_blocks, forgets, False, pair, blocks, eta, division, rng)
    return draw_side_tables(n_blocks, blocks.node_of, None, division, rng)


@njit_loop
def log_acceptance(
    forgets, joins, log_share, log_other, pair, blocks, prior, eta, gamma, division, words, rng
):  # fmt: skip
    """Return the log acceptance ratio of a move as for words; `division` gets the proposal.

    The blocks of `pair` must be on different sides; `words` is scratch for the words of blocks.
    """
    n_blocks, shares = blocks.node_of.shape[0], division.log_shares
    division.priors[2] = prior
    m_a, m_b = launch(n_blocks, forgets, pair, blocks, eta, division, rng)
    shares[0], shares[1] = draw_log_beta(m_a, m_b, rng)
    if joins:
        shares[0], shares[1] = log_share, log_other
    share_prior(division)
    log_proposed = math.lgamma(m_a + m_b) - math.lgamma(m_a) - math.lgamma(m_b)
    log_proposed += (m_a - 1.0) * shares[0] + (m_b - 1.0) * shares[1]
    log_proposed += sweep_sides(n_blocks, forgets, joins, pair, blocks, eta, division, rng)
    log_ratio = math.log(gamma) - shares[0] - shares[1] - log_proposed
    log_ratio += log_ratio_of_nodes(n_blocks, blocks.node_of, None, division)
    log_ratio += log_ratio_of_words(blocks.tokens.shape[0], blocks.tokens, eta, words)
    return -log_ratio if joins else log_ratio
