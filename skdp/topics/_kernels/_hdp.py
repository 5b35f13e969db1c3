"""Topics whose number is inferred: exact moves that split or merge topics, and exact sweeps.

For a move (Jain and Neal, 2004) two places i and j are picked. If they share a topic, the move
divides its words between i and j; otherwise it joins the words of both topics. The proposal
probability of a division must also be known for a merge: it depends on a launch, a division of the
same words that is drawn by sweeps, starting from i and j only, and not on the current division of
the words. One more sweep leads from the launch to the proposed division. Launches that begin with a
small share can reach divisions into a topic and a small copy of it.

One topic may also be split by word, with half of its vocabulary in either of two topics. No launch
reaches such halves, and Gibbs sweeps never join them. So some divisions have no launch: every word
is assigned a side as a whole, by a coin, or is free.

| name | symbol | shape | meaning |
|---|---|---|---|
| members | | (n,) int64 | the words of one or two topics, in order; their number is `n_members` |
| sides | | (n,) int8 | side of each member: 0 with i, 1 with j, -1 none yet |
| found | | (n,) int8 | current side of each member if there are two topics |
| bound | | (W,) int8 | `FIRST` or `SECOND`: all places of the word have this side; or `FREE` |
| log_shares | log v, log(1 - v) | (2,) | shares of the sides in their weight, beta_a + beta_b |
| priors | alpha beta | (3,) | priors of both sides, and of the joined topic |
| side_counts, side_totals | | (2, W), (2,) float64 | words of the sides; zero between moves |
| node_of | d | (n,) int32 | node of each word of the corpus |

With bursts (`_kernels/_counts`) the members are tables, which keep their customers: a table of m
words moves as a whole.

The shares are drawn with the tables of the launch, m_a and m_b, from Beta(m_a, m_b). In the
coordinates (beta_a + beta_b, v) the density of the top level has gamma / (v (1 - v)) for two topics
instead of 1 for one.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_log_beta, next_double, next_open_double
from skdp._numeric._simd import find_sum, prefetch, sum_product
from skdp.processes._kernels_table_counts import break_weight, draw_table_count
from skdp.topics._kernels._counts import (
    AHEAD,
    LESS,
    MORE,
    P_MOVE,
    draw_seat,
    enter_node_with_bursts,
    leave_seat,
    lift_table,
    log_rising,
    log_seats,
    put_table,
    weigh,
)
from skdp.topics._kernels._lda import enter_node, move_word

EACH, BY_NODE, BY_WORD = range(3)
"""Ways to divide members: each given all others, node by node, or all places of a word at once."""

FREE, FIRST, SECOND = range(3)
"""Sides that a word may have if members are divided by word: both, or one."""

_P_FREE = 0.1
"""Probability that a word is on both sides if members are divided by word."""

N_LAUNCH_SWEEPS = 4
"""Number of sweeps from the first division to the launch."""

_SMALL = 1e-200


class TableSizes(NamedTuple):
    """Bursts in a move, whose members are tables: their words are words of the topic."""

    concentration: float
    discount: float
    sizes: np.ndarray  # customers of each member


class Division(NamedTuple):
    """Scratch arrays of a move."""

    members: np.ndarray
    sides: np.ndarray
    found: np.ndarray
    bound: np.ndarray
    priors: np.ndarray
    log_shares: np.ndarray
    side_counts: np.ndarray
    side_totals: np.ndarray


class Places(NamedTuple):
    """Places of each word: those of word w are ``order[ptr[w]:ptr[w + 1]]``; `rank` is inverse."""

    ptr: np.ndarray
    order: np.ndarray
    rank: np.ndarray


def places_of_words(tokens: np.ndarray, n_words: int) -> Places:
    """Return the places of each word."""
    order = np.argsort(tokens, kind="stable").astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Places(np.searchsorted(tokens[order], np.arange(n_words + 1)), order, rank)


def empty_division(n_tokens: int, n_words: int) -> Division:
    """Return scratch for moves."""
    return Division(
        np.zeros(n_tokens, np.int64),
        np.zeros(n_tokens, np.int8),
        np.zeros(n_tokens, np.int8),
        np.zeros(n_words, np.int8),
        np.zeros(3),
        np.zeros(2),
        np.zeros((2, n_words)),
        np.zeros(2),
    )


@njit_forceinline
def another(first, last, i, rng):
    """Draw a number from `first` to `last` - 1 that is not `i`."""
    j = first + int(next_double(rng) * (last - first - 1))
    return j + (j >= i)


@njit_forceinline
def pick_near(i, node_ptr, node_of, rng):
    """Draw a place other than i: with equal probability any place, or one of the same node."""
    first, last = node_ptr[node_of[i]], node_ptr[node_of[i] + 1]
    if next_double(rng) < 0.5 or last - first == 1:
        first, last = 0, node_of.shape[0]
    return another(first, last, i, rng)


@njit_loop
def pick_pair(node_ptr, node_of, pair, rng):
    """Draw two places, regardless of their topics, and a coin."""
    pair[0] = int(next_double(rng) * node_of.shape[0])
    pair[1] = pick_near(pair[0], node_ptr, node_of, rng)
    return next_double(rng) < 0.5


@njit_loop
def pick_pair_of_topics(
    same_word, first_topic, n_topics, tokens, topics, node_ptr, node_of, places, pair, rng
):  # fmt: skip
    """Draw two places, the first from a random topic: small topics are as likely as large ones."""
    # Every topic from `first_topic` on has words.
    drawn = first_topic + int((n_topics - first_topic) * next_double(rng))
    i = place_in_topic(drawn, topics, rng)
    first, last = places.ptr[tokens[i]], places.ptr[tokens[i] + 1]
    pair[0] = i
    if same_word and last - first > 1:  # likely in two copies of a topic
        pair[1] = places.order[another(first, last, places.rank[i], rng)]
    else:
        pair[1] = pick_near(i, node_ptr, node_of, rng)


@njit_internal_nogc
def place_in_topic(topic, topics, rng):
    """Draw a place of a topic."""
    n = 0
    for i in range(topics.shape[0]):
        n += topics[i] == topic
    rank = int(next_double(rng) * n)
    for i in range(topics.shape[0]):
        rank -= topics[i] == topic
        if rank < 0:
            return i
    return 0


def log_ratio_of_picks(joins: bool, n_topics: int, n_first: int, n_members: int) -> float:
    """Return the log ratio of probabilities of picking a pair by topic, after and before a move."""
    # The topic of the first place has n_first words if there are two topics, n_members if one.
    if joins:
        return math.log(n_topics * n_first / ((n_topics - 1) * n_members))
    return math.log(n_topics * n_members / ((n_topics + 1) * n_first))


@njit_loop
def list_members(topics, a, b, division):
    """List the words of topics `a` and `b`; return their number."""
    n = 0
    for i in range(topics.shape[0]):
        if topics[i] == a or topics[i] == b:
            division.members[n] = i
            division.found[n] = topics[i] != a
            n += 1
    return n


@njit_internal_nogc
def end_of_node(x, n_members, members, node_of):
    """Return the member after the last one of the node of member `x`."""
    d = node_of[members[x]]
    while x < n_members and node_of[members[x]] == d:
        x += 1
    return x


@njit_internal_nogc
def seat_anchors(n_members, pair, tokens, division):
    """Remove the sides of all members except i and j."""
    for x in range(n_members):
        i = division.members[x]
        division.sides[x] = -1
        if i == pair[0] or i == pair[1]:
            side = int(i == pair[1])
            division.sides[x] = side
            division.side_counts[side, tokens[i]] += 1.0
            division.side_totals[side] += 1.0


@njit_forceinline
def is_free(i, pair, tokens, division):
    """Return whether place `i` may have either side."""
    return i != pair[0] and i != pair[1] and division.bound[tokens[i]] == FREE


@njit_forceinline
def forget_side(x, tokens, division):
    """Remove the side of member `x`, if it has one."""
    side = division.sides[x]
    if side >= 0:
        division.side_counts[side, tokens[division.members[x]]] -= 1.0
        division.side_totals[side] -= 1.0
        division.sides[x] = -1


@njit_forceinline
def weigh_side(n, base, prior, n_tables, tables):
    """Return the weight of a side for a table of `n` words of a node, but for its word."""
    a, b = tables.discount, tables.concentration
    result = b + a * n_tables
    for j in range(n):
        result *= (base + j) / (b + (base - prior) + j)
    return result


@njit_internal_nogc
def sweep_sides(n_members, forgets, replays, pair, tokens, node_of, eta, tables, division, rng):
    """Draw the side of every free member, or take it from `found`; return the log probability.

    If the members of a node forget their sides together, it may change sides as a whole; if each is
    drawn given all others, the proposal is better for nodes with many members of both sides.
    """
    members, sides, found = division.members, division.sides, division.found
    counts, totals = division.side_counts, division.side_totals
    shift = eta * counts.shape[1]
    result, product = 0.0, 1.0
    x = 0
    while x < n_members:
        end = end_of_node(x, n_members, members, node_of)
        base_a, base_b = division.priors[0], division.priors[1]
        tables_a, tables_b = 0.0, 0.0
        for y in range(x, end):
            if forgets and is_free(members[y], pair, tokens, division):
                forget_side(y, tokens, division)
            n = 1 if tables is None else tables.sizes[members[y]]
            base_a += n * (sides[y] == 0)
            base_b += n * (sides[y] == 1)
            tables_a += sides[y] == 0
            tables_b += sides[y] == 1
        while x < end:
            i, side = members[x], sides[x]
            if is_free(i, pair, tokens, division):
                w = tokens[i]
                n = 1 if tables is None else tables.sizes[i]
                base_a -= n * (side == 0)
                base_b -= n * (side == 1)
                tables_a -= side == 0
                tables_b -= side == 1
                forget_side(x, tokens, division)
                a, b = base_a, base_b
                if tables is not None:
                    a = weigh_side(n, base_a, division.priors[0], tables_a, tables)
                    b = weigh_side(n, base_b, division.priors[1], tables_b, tables)
                a = a * (counts[0, w] + eta) * (totals[1] + shift)
                b = b * (counts[1, w] + eta) * (totals[0] + shift)
                side = int(next_double(rng) * (a + b) >= a)
                if replays:
                    side = found[x]
                product *= (a if side == 0 else b) / (a + b)
                if product < _SMALL:
                    result += math.log(max(product, 1e-320))
                    product = 1.0
                sides[x] = side
                counts[side, w] += 1.0
                totals[side] += 1.0
                base_a += n * (side == 0)
                base_b += n * (side == 1)
                tables_a += side == 0
                tables_b += side == 1
            x += 1
    return result + math.log(product)


@njit_forceinline
def count_sides(x, end, members, sides, tables):
    """Return the numbers of words of a node on both sides."""
    n_a, n_b = 0, 0
    for y in range(x, end):
        n = 1 if tables is None else np.int64(tables.sizes[members[y]])
        n_a += n * (1 - sides[y])
        n_b += n * sides[y]
    return n_a, n_b


@njit_internal_nogc
def draw_side_tables(n_members, node_of, tables, division, rng):
    """Return draws of the tables of both sides."""
    members, sides = division.members, division.sides
    tables_a, tables_b = 0, 0
    x = 0
    while x < n_members:
        end = end_of_node(x, n_members, members, node_of)
        n_a, n_b = count_sides(x, end, members, sides, tables)
        tables_a += draw_table_count(n_a, division.priors[0], rng)
        tables_b += draw_table_count(n_b, division.priors[1], rng)
        x = end
    return float(tables_a), float(tables_b)


@njit_forceinline
def share_prior(division):
    """Split the prior of the joined topic by the shares of both sides."""
    for side in range(2):
        division.priors[side] = division.priors[2] * math.exp(division.log_shares[side])


@njit_forceinline
def halve_shares(division):
    """Set the share of both sides to one half."""
    division.log_shares[0] = division.log_shares[1] = math.log(0.5)


@njit_forceinline
def draw_first_shares(n_members, division, rng):
    """Draw the initial shares of the sides of a launch: halves or, as likely, one small share.

    No launch from halves reaches a topic and a small copy of it, which could then never be joined.
    """
    halve_shares(division)
    if next_double(rng) < 0.5:
        side = int(next_double(rng) < 0.5)
        log_share = math.log(0.5) - next_double(rng) * math.log(0.5 * n_members)  # 1 / n to 1 / 2
        division.log_shares[side] = log_share
        division.log_shares[1 - side] = math.log1p(-math.exp(log_share))


@njit_internal_nogc
def launch(n_members, forgets, pair, tokens, node_of, eta, tables, division, rng):
    """Divide the members, starting from i and j alone; return the tables of both sides."""
    draw_first_shares(n_members, division, rng)
    share_prior(division)
    seat_anchors(n_members, pair, tokens, division)
    sweep_sides(n_members, True, False, pair, tokens, node_of, eta, tables, division, rng)
    for _ in range(N_LAUNCH_SWEEPS):
        m_a, m_b = draw_side_tables(n_members, node_of, tables, division, rng)
        division.log_shares[0], division.log_shares[1] = draw_log_beta(m_a, m_b, rng)
        share_prior(division)
        sweep_sides(n_members, forgets, False, pair, tokens, node_of, eta, tables, division, rng)
    return draw_side_tables(n_members, node_of, tables, division, rng)


@njit_internal_nogc
def log_ratio_of_nodes(n_members, node_of, tables, division):
    """Return the log ratio of p(z, seats | beta) of the divided members and of the joined ones."""
    members, sides, priors = division.members, division.sides, division.priors
    result = 0.0
    x = 0
    while x < n_members:
        end = end_of_node(x, n_members, members, node_of)
        n_a, n_b = count_sides(x, end, members, sides, tables)
        result += log_rising(priors[0], n_a) + log_rising(priors[1], n_b)
        result -= log_rising(priors[2], n_a + n_b)
        if tables is not None:
            t_b = 0
            for y in range(x, end):
                t_b += sides[y]
            result += log_seats(n_a, end - x - t_b, tables) + log_seats(n_b, t_b, tables)
            result -= log_seats(n_a + n_b, end - x, tables)
        x = end
    return result


@njit_internal_nogc
def log_ratio_of_words(n_members, tokens, eta, division):
    """Return the log ratio of p(w | z), divided to joined; clear the words of the sides."""
    counts, totals = division.side_counts, division.side_totals
    shift, at_zero = eta * counts.shape[1], math.lgamma(eta)
    result = math.lgamma(shift) + math.lgamma(shift + totals[0] + totals[1])
    result -= math.lgamma(shift + totals[0]) + math.lgamma(shift + totals[1])
    for x in range(n_members):
        w = tokens[division.members[x]]
        n_a, n_b = counts[0, w], counts[1, w]
        if n_a > 0.0 and n_b > 0.0:
            result -= math.lgamma(eta + n_a + n_b) + at_zero
            result += math.lgamma(eta + n_a) + math.lgamma(eta + n_b)
        counts[0, w] = counts[1, w] = 0.0
    totals[0] = totals[1] = 0.0
    return result


@njit_internal_nogc
def draw_bounds(n_members, joins, pair, tokens, division, rng):
    """Draw which words are on one side only; return the log probability of the draws."""
    bound, at_i, at_j = division.bound, tokens[pair[0]], tokens[pair[1]]
    seen = division.side_counts[0]  # scratch: bits of the sides of a word, or 1; 0 once drawn
    for x in range(n_members):
        w = tokens[division.members[x]]
        seen[w] = int(seen[w]) | (1 << division.found[x]) if joins else 1.0
    result = 0.0
    for x in range(n_members):
        w = tokens[division.members[x]]
        if seen[w] == 0.0:
            continue
        anchored = w in (at_i, at_j)
        if joins:  # bound to the sides where it is found
            bound[w] = FREE if seen[w] == 3.0 else (FIRST if seen[w] == 1.0 else SECOND)
        elif next_double(rng) < _P_FREE:
            bound[w] = FREE
        elif anchored:
            bound[w] = FIRST if w == at_i else SECOND
        else:
            bound[w] = FIRST if next_double(rng) < 0.5 else SECOND
        if bound[w] == FREE:
            result += math.log(_P_FREE)
        else:
            result += math.log(1.0 - _P_FREE) - (0.0 if anchored else math.log(2.0))
        seen[w] = 0.0
    return result


@njit_internal_nogc
def seat_bound_words(n_members, pair, tokens, division):
    """Assign every place of a bound word to its side."""
    for x in range(n_members):
        i = division.members[x]
        side = division.bound[tokens[i]] - FIRST
        if side >= 0 and i != pair[0] and i != pair[1]:
            division.sides[x] = side
            division.side_counts[side, tokens[i]] += 1.0
            division.side_totals[side] += 1.0


@njit_internal_nogc
def free_words(n_members, tokens, division):
    """Free all words; return whether every free word is on both sides."""
    result, counts = True, division.side_counts
    for x in range(n_members):
        w = tokens[division.members[x]]
        if division.bound[w] == FREE and (counts[0, w] == 0.0 or counts[1, w] == 0.0):
            result = False
    for x in range(n_members):
        division.bound[tokens[division.members[x]]] = FREE
    return result


@njit_loop
def divide_by_word(n_members, joins, pair, tokens, node_of, eta, tables, division, rng):
    """Divide the members, most words as a whole; return the log probability of the draws."""
    if tokens[pair[0]] == tokens[pair[1]]:
        return -math.inf
    result = draw_bounds(n_members, joins, pair, tokens, division, rng)
    seat_anchors(n_members, pair, tokens, division)
    seat_bound_words(n_members, pair, tokens, division)
    result += sweep_sides(
        n_members, False, joins, pair, tokens, node_of, eta, tables, division, rng
    )
    # A free word may not be on one side only, because a bound word would have led to it, too.
    return result if free_words(n_members, tokens, division) else -math.inf


@njit_internal_nogc
def log_density_of_shares(m_a, m_b, log_shares):
    """Return the log density of Beta(m_a, m_b)."""
    result = math.lgamma(m_a + m_b) - math.lgamma(m_a) - math.lgamma(m_b)
    return result + (m_a - 1.0) * log_shares[0] + (m_b - 1.0) * log_shares[1]


@njit_internal_nogc
def forget_sides(n_members, tokens, division):
    """Clear the words of the sides."""
    for x in range(n_members):
        w = tokens[division.members[x]]
        division.side_counts[0, w] = division.side_counts[1, w] = 0.0
    division.side_totals[:] = 0.0


@njit_loop
def log_acceptance(
    n_members, kind, joins, log_share, log_other, pair, tokens, node_of, prior, eta, gamma,
    tables, division, rng,
):  # fmt: skip
    """Return the log acceptance ratio of a move, whose proposal is left in `division`.

    Topics to be joined have the shares `log_share` and `log_other`; `prior` is alpha beta of both.
    """
    shares, log_proposed, forgets = division.log_shares, 0.0, kind == BY_NODE
    division.priors[2] = prior
    if kind == BY_WORD:
        halve_shares(division)
        share_prior(division)
        log_proposed = divide_by_word(
            n_members, joins, pair, tokens, node_of, eta, tables, division, rng
        )
        if log_proposed == -math.inf:
            forget_sides(n_members, tokens, division)
            return -math.inf
        m_a, m_b = draw_side_tables(n_members, node_of, tables, division, rng)
    else:
        m_a, m_b = launch(n_members, forgets, pair, tokens, node_of, eta, tables, division, rng)
    shares[0], shares[1] = draw_log_beta(m_a, m_b, rng)
    if joins:
        shares[0], shares[1] = log_share, log_other
    share_prior(division)
    log_proposed += log_density_of_shares(m_a, m_b, shares)
    if kind != BY_WORD:
        log_proposed += sweep_sides(
            n_members, forgets, joins, pair, tokens, node_of, eta, tables, division, rng
        )
    log_ratio = math.log(gamma) - shares[0] - shares[1] - log_proposed
    log_ratio += log_ratio_of_nodes(n_members, node_of, tables, division)
    log_ratio += log_ratio_of_words(n_members, tokens, eta, division)
    return -log_ratio if joins else log_ratio


@njit_loop
def toss(rng):
    """Toss a fair coin."""
    return next_double(rng) < 0.5


@njit_loop
def draw_number(n, rng):
    """Draw a number from 0 to n - 1."""
    return int(n * next_double(rng))


@njit_loop
def draw_share(gamma, rng):
    """Draw from Beta(1, gamma)."""
    return -math.expm1(math.log(next_open_double(rng)) / gamma)


@njit_loop
def draw_kind(rng):
    """Draw the way in which members are divided."""
    return int(3.0 * next_double(rng))


@njit_loop
def is_accepted(log_ratio, rng):
    """Draw whether a move is accepted."""
    return math.log(next_open_double(rng)) < log_ratio


@njit_loop
def rename_members(n_members, joins, a, b, tokens, topics, counts, totals, division):
    """Move the members of the second side from topic a to b or, for a merge, all of b to a."""
    for x in range(n_members):
        i = division.members[x]
        old, new = (b, a) if joins else (a, b)
        if (joins and topics[i] == b) or (not joins and division.sides[x] == 1):
            topics[i] = new
            counts[tokens[i], old] -= np.float32(1.0)
            counts[tokens[i], new] += np.float32(1.0)
            totals[old] -= 1.0
            totals[new] += 1.0


# Exact Gibbs sampling of topics whose number is not fixed, by direct assignment.
#
# Symbols as in `_kernels/_lda`, and those of the top level
# (`skdp.processes._kernels_table_counts`). There are C columns for topics, some of which are free.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | alpha, gamma | | scalars | concentrations of nodes and of the top level |
# | eta | | scalar | Dirichlet prior of topics |
# | weights | beta_k | (C,) | weight of a topic; 0 in free columns |
# | rest | beta_u | (1,) | weight of all topics without words |
# | prior | alpha beta_k | (C,) | the spare column has alpha beta_u, free ones have 0 |
# | free | | (C,) int64 | stack of free columns |
# | columns | | (3,) int64 | spare column, number of free ones, of topics that may still open |
#
# A word w of node d gets topic k with weight ``(n_dk + alpha beta_k) (M_kw + eta) / (M_k + W eta)``
# and a new one with weight ``alpha beta_u / W``, which is the weight of the spare column: an empty
# column whose prior is alpha beta_u. So the dense sweep of latent Dirichlet allocation can be used,
# except for two rare events. A word may take the spare column, which then becomes a topic with a
# part of beta_u. A topic may lose its last word; its weight then returns to beta_u. If no further
# topic may open, the spare column has weight 0.


NO_COLUMN = np.int64(-1)
"""Value in place of the spare column if no column is free."""


class OpenColumns(NamedTuple):
    """Weights of topics, which may open and close during a sweep."""

    weights: np.ndarray
    rest: np.ndarray
    prior: np.ndarray
    free: np.ndarray
    columns: np.ndarray


def empty_top_level(n_columns: int) -> OpenColumns:
    """Return the top level without topics: all columns are free, and none is spare."""
    return OpenColumns(
        np.zeros(n_columns),
        np.ones(1),
        np.zeros(n_columns),
        np.arange(n_columns)[::-1].copy(),
        np.array([NO_COLUMN, n_columns, n_columns]),
    )


@njit_internal_nogc
def weigh_column(k, weight, alpha, top, scratch):
    """Set the weight of column `k`, which has no words of the node; 0 frees it."""
    top.prior[k] = alpha * weight
    scratch.base[k] = top.prior[k]
    scratch.factor[k] = scratch.base[k] * scratch.reciprocal[k]


@njit_internal_nogc
def weigh_spare(alpha, top, scratch):
    """Set the weight of the spare column."""
    weight = top.rest[0] if top.columns[2] > 0 else 0.0
    weigh_column(top.columns[0], weight, alpha, top, scratch)


@njit_internal_nogc
def take_spare(alpha, top, scratch):
    """Make the next free column the spare one, if there is any."""
    top.columns[0] = NO_COLUMN
    if top.columns[1] > 0:
        top.columns[1] -= 1
        top.columns[0] = top.free[top.columns[1]]
        weigh_spare(alpha, top, scratch)


@njit_internal_nogc
def open_topic(alpha, gamma, top, scratch, rng):
    """Turn the spare column, which has just received its first word, into a topic."""
    k = top.columns[0]
    top.weights[k], top.rest[0] = break_weight(top.rest[0], gamma, rng)
    weigh_column(k, top.weights[k], alpha, top, scratch)
    scratch.base[k] += 1.0
    scratch.factor[k] = scratch.base[k] * scratch.reciprocal[k]
    top.columns[2] -= 1
    take_spare(alpha, top, scratch)


@njit_internal_nogc
def close_topic(k, alpha, top, scratch):
    """Free the column of a topic that has lost its last word."""
    top.rest[0] += top.weights[k]
    top.weights[k] = 0.0
    weigh_column(k, 0.0, alpha, top, scratch)
    top.free[top.columns[1]] = k
    top.columns[1] += 1
    top.columns[2] += 1
    weigh_spare(alpha, top, scratch)


@njit_loop
def sweep_open_nodes(
    start, node_ptr, tokens, topics, words, eta, alpha, gamma, top, scratch, rng
):  # fmt: skip
    """Draw the topic of every word from `start` on once; return the word to continue with, or n.

    All words have a topic, and one column is spare. The sweep is complete if a column is still
    spare; it stops if the last free column has become a topic.
    """
    counts, totals = words.counts, words.totals
    base, reciprocal, factor, sums = scratch.base, scratch.reciprocal, scratch.factor, scratch.sums
    n_tokens, width = tokens.shape[0], factor.shape[0]
    shift, offset = eta * counts.shape[0], np.float32(eta)
    for k in range(width):
        reciprocal[k] = 1.0 / (shift + totals[k])
    for d in range(node_ptr.shape[0] - 1):
        begin, end = max(node_ptr[d], start), node_ptr[d + 1]
        if begin >= end:
            continue
        enter_node(node_ptr[d], end, top.prior, topics, base, reciprocal, factor)

        # Remove and weigh the first word.
        coming, old = tokens[begin], np.int64(topics[begin])
        move_word(coming, old, LESS, False, counts, totals, shift, base, reciprocal, factor)
        if totals[old] == 0.0:
            close_topic(old, alpha, top, scratch)
        total = sum_product(counts, coming, offset, factor, sums, begin & 1)
        gained, gainer = np.float32(0.0), old
        for i in range(begin, end):
            if i + AHEAD < n_tokens:
                prefetch(counts, tokens[i + AHEAD])
            w, weight = coming, total + gained

            # Remove and weigh the next word. If its topic is empty now, the next word cannot take
            # it, but the current word can.
            if i + 1 < end:
                coming, old = tokens[i + 1], np.int64(topics[i + 1])
                move_word(coming, old, LESS, False, counts, totals, shift, base, reciprocal, factor)
                total = sum_product(counts, coming, offset, factor, sums, (i + 1) & 1)

            # Draw the current topic from sums without the gain of the last topic.
            k = NO_COLUMN
            while k == NO_COLUMN:
                target = np.float32(next_double(rng)) * weight - gained
                k = gainer if target < 0.0 else find_sum(sums, i & 1, width, target)
                if top.prior[k] == 0.0:  # rounding has led beyond the last topic
                    k = NO_COLUMN
            topics[i] = k

            # Add the word; the gain of its topic for the next word is not in the sums.
            gained, gainer = (counts[coming, k] + offset) * factor[k], k
            move_word(w, k, MORE, False, counts, totals, shift, base, reciprocal, factor)
            gained = (counts[coming, k] + offset) * factor[k] - gained
            if k == top.columns[0]:
                open_topic(alpha, gamma, top, scratch, rng)
                if top.columns[0] == NO_COLUMN:
                    if i + 1 < end:
                        move_word(
                            coming, old, MORE, False, counts, totals, shift, base, reciprocal,
                            factor,
                        )  # fmt: skip
                    return i + 1
                gained = np.float32(-1.0)  # the sums have to be computed again
            if i + 1 < end:
                if totals[old] == 0.0:
                    close_topic(old, alpha, top, scratch)
                    gained = np.float32(-1.0)
                if gained < 0.0:
                    total = sum_product(counts, coming, offset, factor, sums, (i + 1) & 1)
                    gained = np.float32(0.0)
    return n_tokens


@njit_internal_nogc
def weigh_with_bursts(k, top, scratch, bursts):
    """Update the weights of column `k` and of the spare column after a topic opened or closed."""
    base, reciprocal, factor = scratch.base, scratch.reciprocal, scratch.factor
    weigh(k, top.prior, bursts, base, reciprocal, factor)
    if top.columns[0] != NO_COLUMN:
        weigh(top.columns[0], top.prior, bursts, base, reciprocal, factor)


@njit_loop
def sweep_open_nodes_with_bursts(
    start, node_ptr, tokens, topics, words, eta, alpha, gamma, top, scratch, bursts, rng
):  # fmt: skip
    """Draw the topic and the table of every word from `start` on: see `sweep_open_nodes`."""
    shift, offset = eta * words.counts.shape[0], np.float32(eta)
    for k in range(scratch.factor.shape[0]):
        scratch.reciprocal[k] = 1.0 / (shift + words.totals[k])
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        if max(begin, start) >= end:
            continue
        enter_node_with_bursts(begin, end, end, topics, top.prior, scratch, bursts)
        for i in range(max(begin, start), end):
            if i + AHEAD < tokens.shape[0]:
                prefetch(words.counts, tokens[i + AHEAD])
            old = np.int64(topics[i])
            leave_seat(i, begin, tokens, topics, words, top.prior, shift, scratch, bursts)
            if words.totals[old] == 0.0:
                close_topic(old, alpha, top, scratch)
                weigh_with_bursts(old, top, scratch, bursts)
            draw_seat(
                i, begin, tokens, topics, words, top.prior, offset, shift, scratch, bursts, rng
            )
            k = np.int64(topics[i])
            if k == top.columns[0]:
                open_topic(alpha, gamma, top, scratch, rng)
                weigh_with_bursts(k, top, scratch, bursts)
                if top.columns[0] == NO_COLUMN:
                    return i + 1
    return tokens.shape[0]


@njit_loop
def move_open_tables(
    start, node_ptr, tokens, topics, words, eta, alpha, gamma, top, scratch, bursts, rng
):  # fmt: skip
    """Draw the topics of the tables of some nodes: see `move_tables`, and `sweep_open_nodes`."""
    shift = eta * words.counts.shape[0]
    for k in range(scratch.factor.shape[0]):
        scratch.reciprocal[k] = 1.0 / (shift + words.totals[k])
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        if max(begin, start) >= end or (begin >= start and next_double(rng) >= P_MOVE):
            continue
        enter_node_with_bursts(begin, end, end, topics, top.prior, scratch, bursts)
        for i in range(begin, end):
            seat, w = bursts.seats[i] - begin, tokens[i]
            if i < start:
                bursts.sizes[seat] = -abs(bursts.sizes[seat])  # it has been moved
            elif bursts.sizes[seat] > 1:
                old = lift_table(seat, w, words, top.prior, shift, scratch, bursts)
                if words.totals[old] == 0.0:
                    close_topic(old, alpha, top, scratch)
                    weigh_with_bursts(old, top, scratch, bursts)
                k = put_table(seat, w, words, top.prior, eta, shift, scratch, bursts, rng)
                if k == top.columns[0]:
                    open_topic(alpha, gamma, top, scratch, rng)
                    scratch.base[k] -= bursts.sizes[seat] + 1.0  # it has more than one word
                    weigh_with_bursts(k, top, scratch, bursts)
                    if top.columns[0] == NO_COLUMN:
                        for y in range(i, end):
                            topics[y] = bursts.served[bursts.seats[y] - begin]
                        return i + 1
            topics[i] = bursts.served[seat]
    return tokens.shape[0]
