"""Moves that split a topic in two or merge two topics, exact (Jain and Neal, 2004).

Two words i and j are picked, whatever their topics. If they share one, its words are to be divided
between i and j; otherwise the words of both topics are to be joined. How likely a division is
proposed must be known also where two topics are to be merged: it depends on a launch, a division of
the same words that is drawn anew from i and j by sweeps, and not on how the words are divided now.
From the launch one more sweep leads to the division that is proposed.

| name | symbol | shape | meaning |
|---|---|---|---|
| members | | (n,) int64 | the words of one or two topics, in order; `n_members` of them |
| sides | | (n,) int8 | side of each member, 0 or 1: that of i or of j; -1 before it has one |
| found | | (n,) int8 | side that each member has now, where the topics are two |
| log_shares | log v, log(1 - v) | (2,) | shares of the sides in their weight, beta_a + beta_b |
| priors | alpha beta | (3,) | of both sides, and of the topic of all if they are joined |
| side_counts, side_totals | | (2, W), (2,) float64 | words of the sides; zero between moves |
| node_of | d | (n,) int32 | node of each word of the corpus |

The shares are drawn with the tables of the launch, m_a and m_b, from Beta(m_a, m_b). In the
coordinates (beta_a + beta_b, v) the density of the top level has gamma / (v (1 - v)) for two topics
in the place of 1 for one.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numba import njit_inner, njit_loop, njit_step
from skdp._random import draw_log_beta, next_double, next_open_double
from skdp.processes._kernels_top_level import draw_table_count
from skdp.topics._shared._kernels import log_rising

N_LAUNCH_SWEEPS = 4
"""Sweeps from the first division to the launch."""

_SMALL = 1e-200


class Division(NamedTuple):
    """Scratch of a move."""

    members: np.ndarray
    sides: np.ndarray
    found: np.ndarray
    priors: np.ndarray
    log_shares: np.ndarray
    side_counts: np.ndarray
    side_totals: np.ndarray


def empty_division(n_tokens: int, n_words: int) -> Division:
    """Return scratch for moves."""
    return Division(
        np.zeros(n_tokens, np.int64),
        np.zeros(n_tokens, np.int8),
        np.zeros(n_tokens, np.int8),
        np.zeros(3),
        np.zeros(2),
        np.zeros((2, n_words)),
        np.zeros(2),
    )


@njit_loop
def pick_pair(node_ptr, node_of, pair, rng):
    """Draw two words, the second from the node of the first or, as often, from all; and a coin."""
    n = node_of.shape[0]
    i = int(next_double(rng) * n)
    first, last = 0, n
    if next_double(rng) < 0.5 and node_ptr[node_of[i] + 1] - node_ptr[node_of[i]] > 1:
        first, last = node_ptr[node_of[i]], node_ptr[node_of[i] + 1]
    pair[0] = i
    j = first + int(next_double(rng) * (last - first - 1))
    pair[1] = j + (j >= i)
    return next_double(rng) < 0.5


@njit_loop
def list_members(topics, a, b, division):
    """List the words of topics `a` and `b`; return how many there are."""
    n = 0
    for i in range(topics.shape[0]):
        if topics[i] == a or topics[i] == b:
            division.members[n] = i
            division.found[n] = topics[i] != a
            n += 1
    return n


@njit_inner
def end_of_node(x, n_members, members, node_of):
    """Return the member after the last one of the node of member `x`."""
    d = node_of[members[x]]
    while x < n_members and node_of[members[x]] == d:
        x += 1
    return x


@njit_inner
def seat_anchors(n_members, pair, tokens, division):
    """Leave all members without a side but i and j."""
    for x in range(n_members):
        i = division.members[x]
        division.sides[x] = -1
        if i == pair[0] or i == pair[1]:
            side = int(i == pair[1])
            division.sides[x] = side
            division.side_counts[side, tokens[i]] += 1.0
            division.side_totals[side] += 1.0


@njit_step
def forget_side(x, tokens, division):
    """Take the side of member `x`, if it has one."""
    side = division.sides[x]
    if side >= 0:
        division.side_counts[side, tokens[division.members[x]]] -= 1.0
        division.side_totals[side] -= 1.0
        division.sides[x] = -1


@njit_inner
def sweep_sides(n_members, anew, replays, pair, tokens, node_of, eta, division, rng):
    """Draw the side of every member but i and j; return the log probability of what is drawn.

    Parameters
    ----------
    anew : bool
        Whether the members of a node lose their sides together, and get them one by one: a node may
        change sides as a whole. Otherwise each is drawn given all others: a better guess where a
        node has many members of both sides.
    replays : bool
        Whether every member gets its side in `found` instead.
    """
    members, sides, found = division.members, division.sides, division.found
    counts, totals = division.side_counts, division.side_totals
    shift = eta * counts.shape[1]
    result, product = 0.0, 1.0
    x = 0
    while x < n_members:
        end = end_of_node(x, n_members, members, node_of)
        base_a, base_b = division.priors[0], division.priors[1]
        for y in range(x, end):
            if anew and members[y] != pair[0] and members[y] != pair[1]:
                forget_side(y, tokens, division)
            base_a += sides[y] == 0
            base_b += sides[y] == 1
        while x < end:
            i, side = members[x], sides[x]
            if i != pair[0] and i != pair[1]:
                w = tokens[i]
                base_a -= side == 0
                base_b -= side == 1
                forget_side(x, tokens, division)
                a = base_a * (counts[0, w] + eta) * (totals[1] + shift)
                b = base_b * (counts[1, w] + eta) * (totals[0] + shift)
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
                base_a += side == 0
                base_b += side == 1
            x += 1
    return result + math.log(product)


@njit_inner
def draw_side_tables(n_members, node_of, division, rng):
    """Return draws of the tables of both sides."""
    members, sides = division.members, division.sides
    tables_a, tables_b = 0, 0
    x = 0
    while x < n_members:
        end = end_of_node(x, n_members, members, node_of)
        n_b = 0
        for y in range(x, end):
            n_b += sides[y]
        tables_a += draw_table_count(end - x - n_b, division.priors[0], rng)
        tables_b += draw_table_count(n_b, division.priors[1], rng)
        x = end
    return float(tables_a), float(tables_b)


@njit_step
def share_prior(division):
    """Give both sides their shares of the prior of the joined topic."""
    for side in range(2):
        division.priors[side] = division.priors[2] * math.exp(division.log_shares[side])


@njit_inner
def launch(n_members, anew, pair, tokens, node_of, eta, division, rng):
    """Divide the members, from i and j alone; return the tables of both sides."""
    division.log_shares[0] = division.log_shares[1] = math.log(0.5)
    share_prior(division)
    seat_anchors(n_members, pair, tokens, division)
    sweep_sides(n_members, True, False, pair, tokens, node_of, eta, division, rng)
    for _ in range(N_LAUNCH_SWEEPS):
        m_a, m_b = draw_side_tables(n_members, node_of, division, rng)
        division.log_shares[0], division.log_shares[1] = draw_log_beta(m_a, m_b, rng)
        share_prior(division)
        sweep_sides(n_members, anew, False, pair, tokens, node_of, eta, division, rng)
    return draw_side_tables(n_members, node_of, division, rng)


@njit_inner
def log_ratio_of_nodes(n_members, node_of, division):
    """Return the log of p(z | beta) of the divided members over that of the joined ones."""
    members, sides, priors = division.members, division.sides, division.priors
    result = 0.0
    x = 0
    while x < n_members:
        end = end_of_node(x, n_members, members, node_of)
        n_b = 0
        for y in range(x, end):
            n_b += sides[y]
        result += log_rising(priors[0], end - x - n_b) + log_rising(priors[1], n_b)
        result -= log_rising(priors[2], end - x)
        x = end
    return result


@njit_inner
def log_ratio_of_words(n_members, tokens, eta, division):
    """Return the log of p(w | z) of the divided members over that of the joined ones.

    The words of the sides are forgotten.
    """
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


@njit_loop
def log_acceptance(
    n_members, anew, joins, log_share, log_other, pair, tokens, node_of, prior, eta, gamma,
    division, rng,
):  # fmt: skip
    """Return the log of the ratio by which a move is accepted, and leave what it proposes.

    Parameters
    ----------
    n_members : int
        All words of the topics.
    anew : bool
        See `sweep_sides`.
    joins : bool
        Whether the members are of two topics, with shares `log_share` and `log_other` of their
        weight, and are to be one. Otherwise they are of one topic, and `sides` and `log_shares` are
        where they are to go.
    prior : float
        alpha (beta_a + beta_b).
    """
    shares = division.log_shares
    division.priors[2] = prior
    m_a, m_b = launch(n_members, anew, pair, tokens, node_of, eta, division, rng)
    shares[0], shares[1] = draw_log_beta(m_a, m_b, rng)
    if joins:
        shares[0], shares[1] = log_share, log_other
    share_prior(division)
    log_proposed = math.lgamma(m_a + m_b) - math.lgamma(m_a) - math.lgamma(m_b)
    log_proposed += (m_a - 1.0) * shares[0] + (m_b - 1.0) * shares[1]
    log_proposed += sweep_sides(n_members, anew, joins, pair, tokens, node_of, eta, division, rng)
    log_ratio = math.log(gamma) - shares[0] - shares[1] - log_proposed
    log_ratio += log_ratio_of_nodes(n_members, node_of, division)
    log_ratio += log_ratio_of_words(n_members, tokens, eta, division)
    return -log_ratio if joins else log_ratio


@njit_loop
def is_accepted(log_ratio, rng):
    """Draw whether a move is made."""
    return math.log(next_open_double(rng)) < log_ratio


@njit_loop
def rename_members(n_members, joins, a, b, tokens, topics, counts, totals, division):
    """Move the members of the second side from topic a to b or, to join, all of b to a."""
    for x in range(n_members):
        i = division.members[x]
        old, new = (b, a) if joins else (a, b)
        if (joins and topics[i] == b) or (not joins and division.sides[x] == 1):
            topics[i] = new
            counts[tokens[i], old] -= np.float32(1.0)
            counts[tokens[i], new] += np.float32(1.0)
            totals[old] -= 1.0
            totals[new] += 1.0
