"""Exact Gibbs sampling of topics whose number is not fixed, by direct assignment.

Symbols as in ``topics/_lda/_kernels_sweeps.py``, and those of the top level. There are C columns
for topics, some of which are free.

| name | symbol | shape | meaning |
|---|---|---|---|
| alpha, gamma | | scalars | concentrations of nodes and of the top level |
| eta | | scalar | Dirichlet prior of topics |
| weights | beta_k | (C,) | weight of a topic; 0 in free columns |
| rest | beta_u | (1,) | weight of all topics without words |
| prior | alpha beta_k | (C,) | the spare column has alpha beta_u, free ones have 0 |
| free | | (C,) int64 | stack of free columns |
| columns | | (3,) int64 | spare column, number of free ones, of topics that may still open |

A word w of node d gets topic k with weight ``(n_dk + alpha beta_k) (M_kw + eta) / (M_k + W eta)``
and a new one with weight ``alpha beta_u / W``, which is the weight of the spare column: an empty
column whose prior is alpha beta_u. So the dense sweep of latent Dirichlet allocation can be used,
except for two rare events. A word may take the spare column, which then becomes a topic with a part
of beta_u. A topic may lose its last word; its weight then returns to beta_u. If no further topic
may open, the spare column has weight 0.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double
from skdp._numeric._simd import find_sum, prefetch, sum_product
from skdp.processes._kernels_top_level import break_weight
from skdp.topics._lda._kernels_sweeps import enter_node, move_word
from skdp.topics._shared._kernels import AHEAD, LESS, MORE

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
