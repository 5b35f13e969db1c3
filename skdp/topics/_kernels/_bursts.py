"""Bursts: in every node each topic has its own version of its words, drawn around the topic.

The words of a node d with topic k are drawn from psi_dk ~ PYP(a, b, phi_k), which is integrated
out: they are the customers of a Chinese restaurant. A table serves one word, drawn from phi_k, and
its customers are occurrences of that word. So topics count tables, and all words but the first one
at each table repeat a word of their node:

    p(w, seats | z, phi) = prod_dk (b|a)_{T_dk} / (b)_{n_dk} prod_tables (1 - a)_{m - 1} phi_kw

| name | symbol | shape | meaning |
|---|---|---|---|
| seats | | (n,) int32 | table of each word: one of the places of its word in its node |
| firsts | | (n,) int32 | first place of each word: the places of a node are sorted by word |
| sizes, served | m, k | (longest node,) int32 | words and topic of each table of the current node |
| in_use | | (longest node,) int32 | at the first place of a word: places up to its last table |
| inverse | 1 / (b + n) | (longest node + 1,) | for numbers of customers |
| opened | T_dk | (K,) | tables of each topic in the current node |
| share | (alpha_k + n_dk) / (b + n_dk) | (K,) | weight of a customer in a topic |
| counts, totals | M_kw, M_k | | tables by topic; fixed: phi and 0 |

A word joins a table of its word with the weight ``(m - a) share[k]``, and opens one in topic k with
``(b + a T_dk) share[k] (M_kw + gamma) / (M_k + W gamma)``. Other symbols are as in `_kernels/_lda`.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_forceinline, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double
from skdp._numeric._simd import find_sum, prefetch, sum_product
from skdp.processes._concentration import add_evidence, draw_table_evidence
from skdp.topics._kernels._counts import AHEAD, log_rising

P_MOVE = 0.25
"""Probability that a sweep moves the tables of a node, too."""


class Seats(NamedTuple):
    """The tables of the words of some nodes, and the parameters of bursts."""

    concentration: float
    discount: float
    firsts: np.ndarray
    seats: np.ndarray
    sizes: np.ndarray
    served: np.ndarray
    in_use: np.ndarray
    inverse: np.ndarray
    opened: np.ndarray
    share: np.ndarray
    weights: np.ndarray


@njit
def with_seats(bursts, firsts, seats):
    """Return tables of other words, with the same scratch."""
    return Seats(
        bursts.concentration, bursts.discount, firsts, seats, bursts.sizes, bursts.served,
        bursts.in_use, bursts.inverse, bursts.opened, bursts.share, bursts.weights,
    )  # fmt: skip


@njit_forceinline
def enter_tables(begin, end, last, topics, bursts, base):
    """List the tables of a node's words `begin` to `end` - 1; the node ends before `last`."""
    for x in range(last - begin):
        bursts.sizes[x] = 0
        bursts.in_use[x] = 0
    for k in range(base.shape[0]):
        bursts.opened[k] = 0.0
    for i in range(begin, end):
        k = topics[i]
        if k >= 0:
            seat, first = bursts.seats[i] - begin, bursts.firsts[i] - begin
            if bursts.sizes[seat] == 0:
                bursts.opened[k] += 1.0
            bursts.sizes[seat] += 1
            bursts.served[seat] = k
            bursts.in_use[first] = max(bursts.in_use[first], seat - first + 1)
            base[k] += 1.0


@njit_forceinline
def weigh(k, alpha, bursts, base, reciprocal, factor):
    """Update the weights of topic `k`: of a customer, and of a new table without its word."""
    a, b = bursts.discount, bursts.concentration
    bursts.share[k] = base[k] * bursts.inverse[int(base[k] - alpha[k] + 0.5)]
    factor[k] = bursts.share[k] * (b + a * bursts.opened[k]) * reciprocal[k]


@njit_forceinline
def count_table(w, k, change, words, shift, bursts, reciprocal):
    """Add `change` to the tables of topic `k` in the node, and to those that serve word `w`."""
    bursts.opened[k] += change
    if not words.fixed:
        words.counts[w, k] += np.float32(change)
        words.totals[k] += change
        reciprocal[k] = 1.0 / (shift + words.totals[k])


@njit_forceinline
def leave_seat(i, begin, tokens, topics, words, alpha, shift, scratch, bursts):
    """Remove word `i` of the node that starts at `begin` from its table and topic."""
    k, seat, place = np.int64(topics[i]), bursts.seats[i] - begin, bursts.firsts[i] - begin
    scratch.base[k] -= 1.0
    bursts.sizes[seat] -= 1
    if bursts.sizes[seat] == 0:
        count_table(tokens[i], k, -1.0, words, shift, bursts, scratch.reciprocal)
        last = bursts.in_use[place]
        while last > 0 and bursts.sizes[place + last - 1] == 0:
            last -= 1
        bursts.in_use[place] = last
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)


@njit_forceinline
def draw_seat(i, begin, tokens, topics, words, alpha, offset, shift, scratch, bursts, rng):
    """Draw the topic and the table of word `i`, which has none; return the sum of the weights."""
    w, place, factor = tokens[i], bursts.firsts[i] - begin, scratch.factor
    sizes, served, a = bursts.sizes, bursts.served, bursts.discount
    new = np.float64(sum_product(words.counts, w, offset, factor, scratch.sums, 0))
    own, last = 0.0, place + bursts.in_use[place]
    for x in range(place, last):
        if sizes[x] > 0:
            own += (sizes[x] - a) * bursts.share[served[x]]
    target = next_double(rng) * (own + new)
    seat = place
    if target < own:
        for x in range(place, last):
            if sizes[x] > 0:
                seat = x
                target -= (sizes[x] - a) * bursts.share[served[x]]
                if target < 0.0:
                    break
        k = np.int64(served[seat])
    else:
        found = find_sum(scratch.sums, 0, factor.shape[0], np.float32(target - own))
        k = min(found, alpha.shape[0] - 1)
        while k > 0 and (words.counts[w, k] + offset) * factor[k] == 0.0:
            k -= 1  # rounding has led beyond the last topic of a positive weight
        while sizes[seat] > 0:
            seat += 1
        served[seat] = k
        bursts.in_use[place] = max(bursts.in_use[place], seat - place + 1)
        count_table(w, k, 1.0, words, shift, bursts, scratch.reciprocal)
    topics[i] = k
    bursts.seats[i] = begin + seat
    sizes[seat] += 1
    scratch.base[k] += 1.0
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, factor)
    return own + new


@njit_internal_nogc
def draw_seats(
    begin, first, end, tokens, topics, words, alpha, offset, shift, scratch, bursts, weighs, rng
):
    """Draw topics and tables of a node's words `first` to `end` - 1; return their log weight.

    The weight of a word is its probability given the seated words, times A + their number; it is 1
    without `weighs`.
    """
    log_weight = 0.0
    for i in range(first, end):
        if i + AHEAD < tokens.shape[0]:
            prefetch(words.counts, tokens[i + AHEAD])
        if topics[i] >= 0:
            leave_seat(i, begin, tokens, topics, words, alpha, shift, scratch, bursts)
        weight = draw_seat(
            i, begin, tokens, topics, words, alpha, offset, shift, scratch, bursts, rng
        )
        if weighs:
            log_weight += math.log(weight)
    return log_weight


@njit_internal_nogc
def weigh_table(m, w, alpha, gamma, words, scratch, bursts):
    """Write the weights of the topics for a table of `m` words that has none; return their sum."""
    base, weights, n_topics = scratch.base, bursts.weights, alpha.shape[0]
    for k in range(n_topics):
        weights[k] = scratch.factor[k] * (np.float64(words.counts[w, k]) + gamma)
    for j in range(1, m):
        for k in range(n_topics):
            weights[k] *= (base[k] + j) / (bursts.concentration + (base[k] - alpha[k]) + j)
        if j % 16 == 0 or j == m - 1:  # before a product of many small numbers vanishes
            largest = 0.0
            for k in range(n_topics):
                largest = max(largest, weights[k])
            for k in range(n_topics):
                weights[k] /= largest
    total = 0.0
    for k in range(n_topics):
        total += weights[k]
    return total


@njit_internal_nogc
def lift_table(seat, w, words, alpha, shift, scratch, bursts):
    """Take a table of word `w` from its topic, and mark it; return the topic."""
    k, m = np.int64(bursts.served[seat]), bursts.sizes[seat]
    scratch.base[k] -= m
    bursts.sizes[seat] = -m
    count_table(w, k, -1.0, words, shift, bursts, scratch.reciprocal)
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)
    return k


@njit_internal_nogc
def put_table(seat, w, words, alpha, gamma, shift, scratch, bursts, rng):
    """Draw the topic of a table that has none; return it."""
    weights, m = bursts.weights, -bursts.sizes[seat]
    target = next_double(rng) * weigh_table(m, w, alpha, gamma, words, scratch, bursts)
    k = np.int64(0)
    while k < alpha.shape[0] - 1 and target >= weights[k]:
        target -= weights[k]
        k += 1
    while k > 0 and weights[k] == 0.0:  # rounding has led too far
        k -= 1
    bursts.served[seat] = k
    scratch.base[k] += m
    count_table(w, k, 1.0, words, shift, bursts, scratch.reciprocal)
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)
    return k


@njit_internal_nogc
def move_tables(begin, end, tokens, topics, words, alpha, gamma, shift, scratch, bursts, rng):
    """Draw the topics of the tables of several words, which the tables keep.

    Words that repeat each other hardly ever change their topic one by one.
    """
    for i in range(begin, end):
        seat, w = bursts.seats[i] - begin, tokens[i]
        if bursts.sizes[seat] > 1:
            lift_table(seat, w, words, alpha, shift, scratch, bursts)
            put_table(seat, w, words, alpha, gamma, shift, scratch, bursts, rng)
        topics[i] = bursts.served[seat]


@njit_internal_nogc
def enter_node_with_bursts(begin, end, last, topics, alpha, scratch, bursts):
    """Set the arrays of a node whose words `begin` to `end` - 1 are seated."""
    for k in range(alpha.shape[0]):
        scratch.base[k] = alpha[k]
    enter_tables(begin, end, last, topics, bursts, scratch.base)
    for k in range(alpha.shape[0]):
        weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)


@njit_loop
def sweep_nodes_with_bursts(
    first, last, node_ptr, tokens, topics, words, alpha, gamma, scratch, bursts, rng
):
    """Draw the topic and the table of every word of nodes once: see `sweep_nodes`."""
    shift, offset = gamma * words.counts.shape[0], np.float32(gamma)
    for k in range(alpha.shape[0]):
        scratch.reciprocal[k] = 1.0 if words.fixed else 1.0 / (shift + words.totals[k])
    for d in range(first, last):
        begin, end = node_ptr[d], node_ptr[d + 1]
        enter_node_with_bursts(begin, end, end, topics, alpha, scratch, bursts)
        draw_seats(
            begin, begin, end, tokens, topics, words, alpha, offset, shift, scratch, bursts, False,
            rng,
        )  # fmt: skip
        if next_double(rng) < P_MOVE:
            move_tables(
                begin, end, tokens, topics, words, alpha, gamma, shift, scratch, bursts, rng
            )


@njit
def gather_burst_evidence(node_ptr, topics, bursts, base, learns_discount, rng):
    """Return the sums that update the concentration, or the powers of a and of 1 - a.

    (1 - a)_{m - 1} is a product of j - a = (j - 1) + (1 - a), each a sum over a coin that shows
    1 - a; see `draw_concentration` and `draw_table_evidence` for the rest.
    """
    a, b = bursts.discount, bursts.concentration
    n_topics = base.shape[0]
    first, second = 0.0, 0.0
    customers, tables = np.empty(n_topics, np.int64), np.empty(n_topics, np.int64)
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        for k in range(n_topics):
            base[k] = 0.0
        enter_tables(begin, end, end, topics, bursts, base)
        for k in range(n_topics):
            customers[k], tables[k] = np.int64(base[k]), np.int64(bursts.opened[k])
        if not learns_discount:
            first, second = add_evidence(customers, tables, a, b, first, second, rng)
            continue
        for k in range(n_topics):
            first += draw_table_evidence(tables[k], b, a, rng)
        for x in range(end - begin):
            for j in range(1, bursts.sizes[x]):
                second += next_double(rng) * (j - a) < 1.0 - a
    return first, second


@njit
def log_probability_of_seats(node_ptr, topics, bursts, base):
    """Return log p(seats | z), without the words of the tables."""
    a, b = bursts.discount, bursts.concentration
    result = 0.0
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        for k in range(base.shape[0]):
            base[k] = 0.0
        enter_tables(begin, end, end, topics, bursts, base)
        for k in range(base.shape[0]):
            result -= log_rising(b, np.int64(base[k]))
            for m in range(int(bursts.opened[k])):
                result += math.log(b + a * m)
        for x in range(end - begin):
            if bursts.sizes[x] > 1:
                result += log_rising(1.0 - a, bursts.sizes[x] - 1)
    return result


@njit_internal_nogc
def add_burst_estimates(first, last, node_ptr, topics, alpha, scratch, bursts, opening, own):
    """Add what predicts another word of each node to `opening` (nodes, K) and `own` (n,).

    It has the probability sum_k opening_k phi_kw, plus `own` at its first place if it is there.
    """
    total = alpha.sum()
    for d in range(first, last):
        begin, end = node_ptr[d], node_ptr[d + 1]
        enter_node_with_bursts(begin, end, end, topics, alpha, scratch, bursts)
        scale = 1.0 / (total + (end - begin))
        for k in range(alpha.shape[0]):
            tables = bursts.concentration + bursts.discount * bursts.opened[k]
            opening[d, k] += scale * bursts.share[k] * tables
        for i in range(begin, end):
            kept = 1.0 - bursts.discount / bursts.sizes[bursts.seats[i] - begin]
            own[bursts.firsts[i]] += scale * kept * bursts.share[topics[i]]


@njit
def estimate_bursts(node_ptr, topics, alpha, scratch, bursts, opening, own):
    """Add the estimates of all nodes; see `add_burst_estimates`."""
    for k in range(alpha.shape[0]):
        scratch.reciprocal[k] = 1.0
    add_burst_estimates(
        0, node_ptr.shape[0] - 1, node_ptr, topics, alpha, scratch, bursts, opening, own
    )
