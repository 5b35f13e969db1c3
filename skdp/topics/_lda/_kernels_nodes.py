"""Kernels around the sweeps of latent Dirichlet allocation: counts, estimates, fold-in, joint.

Symbols as in ``_kernels_sweeps.py`` and ``_kernels_particles.py``. Document d has nodes nodes_of[d]
to nodes_of[d + 1] - 1.
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit, njit_internal, njit_internal_nogc
from skdp._numeric._random import next_double, stream_of_content
from skdp.topics._lda._kernels_sweeps import sweep_nodes
from skdp.topics._shared._kernels import log_rising
from skdp.topics._shared._kernels_particles import draw_sum, log_mean_exp, next_stop, resample


@njit
def seat_randomly(topics, n_topics, rng):
    """Give every word a uniformly random topic."""
    for i in range(topics.shape[0]):
        topics[i] = int(next_double(rng) * n_topics)


@njit
def count_nodes(node_ptr, topics, out):
    """Add the words of each node by topic, n_dk, to `out` (nodes, K)."""
    for d in range(node_ptr.shape[0] - 1):
        for i in range(node_ptr[d], node_ptr[d + 1]):
            out[d, topics[i]] += 1


@njit
def add_node_estimates(first, last, node_ptr, topics, alpha, out):
    """Add E[theta_d] = (alpha + n_d) / (A + n_d.) of nodes `first` to `last` - 1 to `out`."""
    total = alpha.sum()
    for d in range(first, last):
        begin, end = node_ptr[d], node_ptr[d + 1]
        scale = 1.0 / (total + (end - begin))
        for k in range(alpha.shape[0]):
            out[d, k] += alpha[k] * scale
        for i in range(begin, end):
            out[d, topics[i]] += scale


@njit
def log_prior_of_topics(node_ptr, topics, alpha, n_k):
    """Return log p(z) = sum_d log B_K(alpha + n_d) / B_K(alpha); `n_k` is zero before and after."""
    total = alpha.sum()
    result = 0.0
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        for i in range(begin, end):
            n_k[topics[i]] += 1
        for i in range(begin, end):
            k = topics[i]
            if n_k[k] > 0:
                result += log_rising(alpha[k], n_k[k])
                n_k[k] = 0
        result -= log_rising(total, end - begin)
    return result


@njit
def fold_in_nodes(
    tokens, segment_ptr, doc_ptr, node_ptr, nodes_of, topics, words, first_alpha, alpha, scratch,
    n_sweeps, burn_in, work, place, key, out, rng,
):  # fmt: skip
    """Write E[theta] of every node to `out`, with topics fixed; arguments as in ``_fold_in.py``."""
    lengths = np.diff(segment_ptr)
    scale = 1.0 / (n_sweeps - burn_in)
    while place[0] < doc_ptr.shape[0] - 1 and work > 0:
        d = place[0]
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        content = tokens[segment_ptr[begin] : segment_ptr[end]]
        if place[1] == 0:
            stream_of_content(key, content, lengths[begin:end], rng)
        first, last = nodes_of[d], nodes_of[d + 1]
        while place[1] < n_sweeps and work > 0:
            prior = first_alpha if place[1] == 0 else alpha
            sweep_nodes(first, last, node_ptr, tokens, topics, words, prior, 0.0, scratch, rng)
            if place[1] >= burn_in:
                add_node_estimates(first, last, node_ptr, topics, alpha, out)
            place[1] += 1
            work -= content.shape[0] + (last - first) + 1
        if place[1] == n_sweeps:
            for x in range(first, last):
                for k in range(alpha.shape[0]):
                    out[x, k] *= scale
            place[0], place[1] = d + 1, 0


@njit_internal_nogc
def extend_node(begin, end, tokens, topics, words, alpha, base, sums, rng):
    """Draw the topics of words `begin` to `end` - 1; return the log of their weight."""
    n_topics = alpha.shape[0]
    counts = words.counts
    total = 0.0
    for k in range(n_topics):
        base[k] = alpha[k]
        total += alpha[k]
    for i in range(begin):
        base[topics[i]] += 1.0
    log_weight = 0.0
    for i in range(begin, end):
        w = tokens[i]
        running = 0.0
        for k in range(n_topics):
            running += base[k] * counts[w, k]
            sums[k] = running
        log_weight += math.log(running / (total + i))
        topics[i] = draw_sum(sums, rng)
        base[topics[i]] += 1.0
    return log_weight


@njit_internal
def estimate_node(tokens, topics, words, alpha, scratch, base, sums, rng):
    """Return the log of an estimate of p(words) of a node; `topics` (R, n) is scratch."""
    n_particles, n_tokens = topics.shape
    log_weights = np.zeros(n_particles)
    ancestors = np.empty(n_particles, np.int64)
    node_ptr = np.zeros(2, np.int64)
    result = 0.0
    begin = 0
    while begin < n_tokens:
        end = next_stop(begin, n_tokens)
        node_ptr[1] = begin
        for r in range(n_particles):
            sweep_nodes(0, 1, node_ptr, tokens[:begin], topics[r], words, alpha, 0.0, scratch, rng)
            log_weights[r] += extend_node(
                begin, end, tokens, topics[r], words, alpha, base, sums, rng
            )
        begin = end
        result += resample(log_weights, ancestors, rng)
        for r in range(n_particles):
            if ancestors[r] != r:
                topics[r, :end] = topics[ancestors[r], :end]
    return result + log_mean_exp(log_weights)


@njit
def estimate_nodes(
    n_particles, tokens, segment_ptr, doc_ptr, node_ptr, nodes_of, words, alpha, scratch, key, out
):
    """Write the log of an estimate of the probability of every document's words to `out` (D,)."""
    rng = np.empty(4, np.uint64)
    lengths = np.diff(segment_ptr)
    base, sums = np.empty_like(alpha), np.empty_like(alpha)
    for d in range(doc_ptr.shape[0] - 1):
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        content = tokens[segment_ptr[begin] : segment_ptr[end]]
        stream_of_content(key, content, lengths[begin:end], rng)
        out[d] = 0.0
        for x in range(nodes_of[d], nodes_of[d + 1]):
            of_node = tokens[node_ptr[x] : node_ptr[x + 1]]
            topics = np.empty((n_particles, of_node.shape[0]), np.int32)
            out[d] += estimate_node(of_node, topics, words, alpha, scratch, base, sums, rng)
