"""Latent Dirichlet allocation whose topics are Pitman-Yor processes: words come in bursts.

Every topic is a Chinese restaurant: its words are customers, a table serves one word, and the word
of a new table is drawn from the base H, which is uniform or has a Dirichlet prior and is shared by
the topics. Base and topics are integrated out. The state holds the topics and the numbers of
tables:

    p(w, T | z) = p(T) prod_k (b|a)_{T_k} / (b)_{M_k} prod_w S^{M_kw}_{T_kw, a}

with p(T) = W^-T for a uniform base and Beta_W(gamma + T_w) / Beta_W(gamma) for a shared one.

| name | symbol | shape | meaning |
|---|---|---|---|
| counts, totals | M_kw, M_k | (W, K') float32, (K,) or more | words by topic |
| tables | T_kw | (W, K') int32 | tables of each topic that serve each word |
| topic_tables | T_k | (K,) int64 | tables of each topic |
| word_tables | T_w | (W,) int64 | tables of all topics that serve each word |
| a, b | a, b | scalars | discount and concentration of the topics |
| gamma | | scalar | Dirichlet prior of a shared base; 0: the base is uniform |
| values, row_ptr | U, V | | ratios of Stirling numbers, see `_kernels_stirling` |
| node | alpha_k + n_dk | (K,) | weight of a topic in the current node |
| factor | node / (b + M_k) | (K,) | weight of a topic without its word factor |
| opening | b + a T_k | (K,) | weight of a new table in a topic |
| sums | | (K,) | running sums of a word's weights |
| sets, set_of | | (n_sets, K) bool, (nodes,) | allowed topics: see `_kernels_labels` |

One update draws a seating of the words given their numbers of tables, moves one word, and forgets
the seating. Words are exchangeable, so the word sits alone with the probability that the last
customer opened a table, S^{M-1}_{T-1} / S^M_T. Without the word, topic k has the weight ``(M_kw - a
T_kw + (b + a T_k) H_w) factor[k]``, which needs no Stirling numbers; the last term opens a table.
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit, njit_forceinline, njit_loop
from skdp._numeric._random import next_double
from skdp.processes._discount import draw_seating_evidence, draw_table_evidence
from skdp.processes._kernels_stirling import log_stirling, open_ratio
from skdp.topics._shared._kernels import log_rising


@njit_forceinline
def probability_in_base(w, word_tables, n_tables, gamma):
    """Return the probability that a new table serves word `w`."""
    if gamma == 0.0:
        return 1.0 / word_tables.shape[0]
    return (gamma + word_tables[w]) / (gamma * word_tables.shape[0] + n_tables)


@njit_loop
def sweep_bursts(
    node_ptr,
    tokens,
    topics,
    counts,
    totals,
    tables,
    topic_tables,
    word_tables,
    alpha,
    a,
    b,
    gamma,
    sets,
    set_of,
    values,
    row_ptr,
    node,
    factor,
    opening,
    sums,
    rng,
):
    """Draw the topic of every word once, and whether it opens a table."""
    n_topics = alpha.shape[0]
    n_tables = 0
    for k in range(n_topics):
        n_tables += topic_tables[k]
        opening[k] = b + a * topic_tables[k]
    for d in range(set_of.shape[0]):
        begin, end = node_ptr[d], node_ptr[d + 1]
        if begin == end:
            continue
        allowed = set_of[d]
        for k in range(n_topics):
            node[k] = alpha[k] if sets[allowed, k] else 0.0
        for i in range(begin, end):
            node[topics[i]] += 1.0
        for k in range(n_topics):
            factor[k] = node[k] / (b + totals[k])
        for i in range(begin, end):
            w, k = tokens[i], topics[i]

            # Remove the word, and its table if it sits alone.
            t = tables[w, k]
            n = np.int64(counts[w, k]) - 1
            is_alone = n == 0
            if n > 0 and t > 1:
                is_alone = next_double(rng) * open_ratio(values, row_ptr, n, t - 1, a) < 1.0
            if is_alone:
                tables[w, k] -= 1
                topic_tables[k] -= 1
                word_tables[w] -= 1
                n_tables -= 1
                opening[k] = b + a * topic_tables[k]
            counts[w, k] -= np.float32(1.0)
            totals[k] -= 1.0
            node[k] -= 1.0
            factor[k] = node[k] / (b + totals[k])

            # Draw its topic.
            base = probability_in_base(w, word_tables, n_tables, gamma)
            total = 0.0
            for k in range(n_topics):
                total += (counts[w, k] - a * tables[w, k] + opening[k] * base) * factor[k]
                sums[k] = total
            target = next_double(rng) * total
            k = 0
            while k < n_topics - 1 and target >= sums[k]:
                k += 1
            while factor[k] == 0.0:  # rounding may lead beyond the last allowed topic
                k -= 1
            topics[i] = k

            # Add it to a table or open one.
            share, new = counts[w, k] - a * tables[w, k], opening[k] * base
            if next_double(rng) * (share + new) >= share:
                tables[w, k] += 1
                topic_tables[k] += 1
                word_tables[w] += 1
                n_tables += 1
                opening[k] = b + a * topic_tables[k]
            counts[w, k] += np.float32(1.0)
            totals[k] += 1.0
            node[k] += 1.0
            factor[k] = node[k] / (b + totals[k])


@njit
def gather_evidence(counts, tables, topic_tables, a, b, values, row_ptr, rng):
    """Return the powers of a and of 1 - a that the tables contribute: see `draw_discount`."""
    of_tables, of_seatings = 0.0, 0.0
    for k in range(topic_tables.shape[0]):
        of_tables += draw_table_evidence(topic_tables[k], b, a, rng)
        for w in range(counts.shape[0]):
            if counts[w, k] > 1:
                of_seatings += draw_seating_evidence(
                    np.int64(counts[w, k]), np.int64(tables[w, k]), a, values, row_ptr, rng
                )
    return of_tables, of_seatings


@njit
def log_probability_of_bursts(
    counts, totals, tables, topic_tables, word_tables, a, b, gamma, values, row_ptr
):
    """Return log p(w, T | z)."""
    n_words = counts.shape[0]
    result, n_tables = 0.0, 0
    for k in range(topic_tables.shape[0]):
        n_tables += topic_tables[k]
        result -= log_rising(b, np.int64(totals[k]))
        for m in range(topic_tables[k]):
            result += math.log(b + a * m)
        for w in range(n_words):
            if counts[w, k] > 1:
                n, t = np.int64(counts[w, k]), np.int64(tables[w, k])
                result += log_stirling(values, row_ptr, n, t, a)
    if gamma == 0.0:
        return result - n_tables * math.log(n_words)
    for w in range(n_words):
        result += log_rising(gamma, word_tables[w])
    return result - log_rising(gamma * n_words, n_tables)
