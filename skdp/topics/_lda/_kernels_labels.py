"""Sweeps of latent Dirichlet allocation in which words of nodes may have some topics only.

| name | symbol | shape | meaning |
|---|---|---|---|
| sets | | (n_sets, K) bool | whether a topic is in a set of allowed topics |
| set_of | | (nodes,) int64 | the set of each node |
| own_alpha | | (K,) | alpha of the allowed topics, 0 for others |

The posterior is that of the model without labels, given that no word has a topic outside the set of
its node. So the weights of the allowed topics are unchanged, and others have none: alpha_k = 0, and
no word of the node has topic k. Other symbols as in ``_kernels_sweeps.py``.
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit, njit_internal, njit_loop
from skdp._numeric._random import next_double
from skdp.topics._lda._kernels_sweeps import sweep_nodes


@njit
def move_into_sets(node_ptr, topics, sets, set_of, rng):
    """Give every word without a topic, or with one that is not allowed, a random allowed topic."""
    for d in range(set_of.shape[0]):
        allowed = sets[set_of[d]]
        n_allowed = 0
        for k in range(allowed.shape[0]):
            n_allowed += allowed[k]
        for i in range(node_ptr[d], node_ptr[d + 1]):
            if topics[i] < 0 or not allowed[topics[i]]:
                rank, k = int(next_double(rng) * n_allowed), 0
                while rank > 0 or not allowed[k]:
                    rank -= allowed[k]
                    k += 1
                topics[i] = k


@njit_internal
def return_strays(begin, end, tokens, topics, words, allowed):
    """Move words that rounding has put beyond the last allowed topic back to it."""
    last = allowed.shape[0] - 1
    while not allowed[last]:
        last -= 1
    for i in range(begin, end):
        k = topics[i]
        if not allowed[k]:  # a single-precision draw reached the sum of weights: once in 2^25 draws
            topics[i] = last
            if not words.fixed:
                words.counts[tokens[i], k] -= 1.0
                words.totals[k] -= 1.0
                words.counts[tokens[i], last] += 1.0
                words.totals[last] += 1.0


@njit_loop
def sweep_labeled_nodes(
    node_ptr, tokens, topics, words, alpha, gamma, scratch, sets, set_of, own_alpha, rng
):
    """Draw the topic of every word once, from the topics that its node may use."""
    first, n_nodes = 0, set_of.shape[0]
    while first < n_nodes:
        last, allowed = first + 1, sets[set_of[first]]
        while last < n_nodes and set_of[last] == set_of[first]:
            last += 1
        for k in range(alpha.shape[0]):
            own_alpha[k] = alpha[k] if allowed[k] else 0.0
        sweep_nodes(first, last, node_ptr, tokens, topics, words, own_alpha, gamma, scratch, rng)
        return_strays(node_ptr[first], node_ptr[last], tokens, topics, words, allowed)
        first = last
