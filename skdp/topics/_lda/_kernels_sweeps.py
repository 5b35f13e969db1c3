"""Collapsed Gibbs sampling of latent Dirichlet allocation: a dense and a sparse sweep, both exact.

Symbols and shapes: K topics, W words in the vocabulary, n tokens; a node is a range of tokens with
its own topic distribution: a document, or a segment. K' is K padded to whole vectors.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, node_ptr | w | (n,) int32, (nodes + 1,) | the words; node d begins at node_ptr[d] |
| topics | z | (n,) int32 | topic of each word, -1 before it is seated |
| counts, totals | M_kw, M_k | (W, K') float32, (K,) or more | words by topic; fixed: phi and 0 |
| alpha, gamma | | (K,), scalar | Dirichlet priors of nodes and of topics |
| base | alpha_k + n_dk | (K,) | weight of a topic in the current node |
| reciprocal | 1 / (W gamma + M_k) | (K,) | denominator of the word factor; 1 if topics are fixed |
| factor | base x reciprocal | (K',) float32 | weight of a topic without (M_kw + gamma) |
| sums | | (rows, LANES + K') float32 | running sums of a word's weights: see `sum_product` |

A word w, which is not counted itself, gets topic k with weight ``(counts[w, k] + gamma) *
factor[k]``.

The dense sweep iterates over all topics for every word. The result of a draw is known late, and
code that waits for it would leave the processor idle: so the sums for the next word are computed
before the current one is drawn, from the state without both. The draw increases the weight of only
one topic for the next word. This increase is placed before all sums: a draw that falls there takes
the topic, and any other draw uses the sums unchanged. In the rare case that the weight of the topic
decreases (a node that holds nearly all words of a topic), the sums are recomputed.

The sparse sweep splits the weight into ``counts[w, k] * factor[k]``, nonzero for few topics of most
words, and ``gamma * factor[k]``, whose sum over all topics is updated from word to word. It reads
the counts from `WordLists` and takes time in proportion to the topics of a word, not to K.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit, njit_forceinline, njit_loop
from skdp._numeric._random import next_double
from skdp._numeric._simd import (
    LANES,
    aligned_zeros,
    find_sum,
    locate,
    padded,
    prefetch,
    prefetch_entry,
    sum_listed,
    sum_product,
)
from skdp.topics._shared._kernels import AHEAD, LESS, MORE

SPARSE_FROM = 400
"""Number of topics from which on the sparse sweep is faster on text."""

_GROUP_BITS = 5  # groups of 32 topics: both sums of a two-level search are short up to K = 1e4


class DenseScratch(NamedTuple):
    """Scratch vectors of the dense sweep."""

    base: np.ndarray
    reciprocal: np.ndarray
    factor: np.ndarray
    sums: np.ndarray


class SparseScratch(NamedTuple):
    """Scratch vectors of the sparse sweep; `group_sums` sum `factor` over groups of topics."""

    base: np.ndarray
    reciprocal: np.ndarray
    factor: np.ndarray
    group_sums: np.ndarray
    sums: np.ndarray


class WordLists(NamedTuple):
    """Words by topic as lists; word w has entries row_ptr[w] to row_ptr[w] + lengths[w] - 1."""

    ids: np.ndarray  # topics; free entries have topic K, which has no weight
    values: np.ndarray  # counts; free entries have 0
    row_ptr: np.ndarray  # rows have room for all topics that a word can have, in whole vectors
    lengths: np.ndarray


def empty_dense_scratch(n_topics: int) -> DenseScratch:
    """Return scratch vectors for `sweep_nodes`."""
    width = padded(n_topics)
    return DenseScratch(
        aligned_zeros(n_topics),
        aligned_zeros(n_topics),
        aligned_zeros(width, np.float32),
        aligned_zeros((2, LANES + width), np.float32),
    )


def empty_sparse_scratch(n_topics: int) -> SparseScratch:
    """Return scratch vectors for `sweep_nodes_sparse`."""
    return SparseScratch(
        aligned_zeros(n_topics),
        aligned_zeros(n_topics),
        aligned_zeros(padded(n_topics + 1), np.float32),
        aligned_zeros(((n_topics - 1) >> _GROUP_BITS) + 1),
        aligned_zeros((1, LANES + padded(n_topics)), np.float32),
    )


def list_words(tokens: np.ndarray, topics: np.ndarray, n_words: int, n_topics: int) -> WordLists:
    """Return the counts of the seated words as lists with room for all words."""
    lists = _empty_lists(np.bincount(tokens, minlength=n_words), n_topics)
    seated = topics >= 0
    numbers = np.bincount(tokens[seated], minlength=n_words)
    begins = np.zeros(n_words + 1, np.int64)
    np.cumsum(numbers, out=begins[1:])
    _fill_lists(tokens, topics, begins, np.zeros(n_topics, np.int32), *lists)
    return lists


def lists_of_counts(counts: np.ndarray, n_topics: int) -> WordLists:
    """Return counts (W, K or more) as the lists that `list_words` would make."""
    lists = _empty_lists(counts.sum(axis=1, dtype=np.float64).astype(np.int64), n_topics)
    words, topics = np.nonzero(counts)
    lists.lengths[:] = np.bincount(words, minlength=len(counts))
    at = _places(lists, words)
    lists.ids[at], lists.values[at] = topics, counts[words, topics]
    return lists


def _empty_lists(frequencies: np.ndarray, n_topics: int) -> WordLists:
    """Return lists with room for words of these frequencies, with all entries free."""
    room = np.minimum(frequencies, n_topics)
    row_ptr = np.zeros(len(frequencies) + 1, np.int64)
    np.cumsum(-(-room // LANES) * LANES, out=row_ptr[1:])
    return WordLists(
        np.full(row_ptr[-1], n_topics, np.int32),
        np.zeros(row_ptr[-1], np.float32),
        row_ptr,
        np.zeros(len(frequencies), np.int64),
    )


def _places(lists: WordLists, words: np.ndarray) -> np.ndarray:
    """Return the indices of list entries, given the word of each, in increasing order."""
    before = np.cumsum(lists.lengths) - lists.lengths
    return lists.row_ptr[words] + np.arange(len(words)) - before[words]


@njit
def _fill_lists(tokens, topics, begins, times, ids, values, row_ptr, lengths):
    """Write the topics of seated words, in increasing order, and their counts to empty lists."""
    grouped = np.empty(begins[-1], np.int32)  # the topics of the first word, of the second, ...
    ends = begins[:-1].copy()
    for i in range(tokens.shape[0]):
        if topics[i] >= 0:
            grouped[ends[tokens[i]]] = topics[i]
            ends[tokens[i]] += 1
    for w in range(lengths.shape[0]):
        row, length = row_ptr[w], 0
        for i in range(begins[w], ends[w]):
            k = grouped[i]
            if times[k] == 0:
                ids[row + length] = k
                length += 1
            times[k] += 1
        ids[row : row + length].sort()
        for i in range(row, row + length):
            values[i] = times[ids[i]]
            times[ids[i]] = 0
        lengths[w] = length


def counts_of_lists(lists: WordLists, out: np.ndarray) -> None:
    """Write the counts that `lists` hold to `out` (W, K or more)."""
    out[...] = 0.0
    words = np.repeat(np.arange(len(lists.lengths)), lists.lengths)
    at = _places(lists, words)
    out[words, lists.ids[at]] = lists.values[at]


@njit_forceinline
def enter_node(begin, end, alpha, topics, base, reciprocal, factor):
    """Set `base` and `factor` for a node."""
    for k in range(alpha.shape[0]):
        base[k] = alpha[k]
    for i in range(begin, end):
        k = topics[i]
        if k >= 0:
            base[k] += 1.0
    for k in range(alpha.shape[0]):
        factor[k] = base[k] * reciprocal[k]


@njit_forceinline
def move_word(w, k, change, fixed, counts, totals, shift, base, reciprocal, factor):
    """Add `change` (`MORE`, `LESS`) to the count of word `w` in topic `k` and to derived arrays."""
    base[k] += change
    if not fixed:
        counts[w, k] += np.float32(change)
        totals[k] += change
        reciprocal[k] = 1.0 / (shift + totals[k])
    factor[k] = base[k] * reciprocal[k]


@njit_loop
def sweep_nodes(first, last, node_ptr, tokens, topics, words, alpha, gamma, scratch, rng):
    """Draw the topic of every word of nodes `first` to `last` - 1 once, of unseated words too.

    `gamma` must be 0 if topics are fixed. Every word must have a topic of positive weight.
    """
    counts, totals, fixed = words.counts, words.totals, words.fixed
    base, reciprocal = scratch.base, scratch.reciprocal
    factor, sums = scratch.factor, scratch.sums
    n_topics, n_tokens, width = alpha.shape[0], tokens.shape[0], factor.shape[0]
    shift, offset = gamma * counts.shape[0], np.float32(gamma)
    for k in range(n_topics):
        reciprocal[k] = 1.0 if fixed else 1.0 / (shift + totals[k])
    for d in range(first, last):
        begin, end = node_ptr[d], node_ptr[d + 1]
        if begin == end:
            continue
        enter_node(begin, end, alpha, topics, base, reciprocal, factor)

        # Remove and weigh the first word.
        coming, k = tokens[begin], np.int64(topics[begin])
        if k >= 0:
            move_word(coming, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor)
        total = sum_product(counts, coming, offset, factor, sums, begin & 1)
        gained = np.float32(0.0)  # gain of topic k for the next word since its sums were computed
        for i in range(begin, end):
            if i + AHEAD < n_tokens:
                prefetch(counts, tokens[i + AHEAD])
            w, weight, gainer = coming, total + gained, k

            # Remove and weigh the next word.
            if i + 1 < end:
                coming, k = tokens[i + 1], np.int64(topics[i + 1])
                if k >= 0:
                    move_word(
                        coming, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor
                    )
                total = sum_product(counts, coming, offset, factor, sums, (i + 1) & 1)

            # Draw the current topic from sums without the gain of the last topic.
            target = np.float32(next_double(rng)) * weight - gained
            found = min(find_sum(sums, i & 1, width, target), n_topics - 1)
            k = gainer if target < 0.0 else found
            topics[i] = k

            # Add the word; the gain of its topic for the next word is not in the sums.
            gained = (counts[coming, k] + offset) * factor[k]
            move_word(w, k, MORE, fixed, counts, totals, shift, base, reciprocal, factor)
            gained = (counts[coming, k] + offset) * factor[k] - gained
            if gained < 0.0:
                total = sum_product(counts, coming, offset, factor, sums, (i + 1) & 1)
                gained = np.float32(0.0)


@njit_forceinline
def move_topic(k, change, totals, shift, base, reciprocal, factor, group_sums):
    """Add `change` to the counts of topic `k`; return the gain of its `factor`."""
    base[k] += change
    totals[k] += change
    reciprocal[k] = 1.0 / (shift + totals[k])
    return weigh_topic(k, base, reciprocal, factor, group_sums)


@njit_forceinline
def weigh_topic(k, base, reciprocal, factor, group_sums):
    """Update `factor` of topic `k`; return its gain."""
    old = factor[k]
    factor[k] = base[k] * reciprocal[k]
    gained = np.float64(factor[k]) - np.float64(old)
    group_sums[k >> _GROUP_BITS] += gained
    return gained


@njit_forceinline
def find_factor(target, n_topics, factor, group_sums):
    """Return the topic at which the running sum of `factor` exceeds `target`."""
    group = 0
    while group < group_sums.shape[0] - 1 and target >= group_sums[group]:
        target -= group_sums[group]
        group += 1
    k = group << _GROUP_BITS
    last = min(k + (1 << _GROUP_BITS), n_topics) - 1
    while k < last and target >= factor[k]:
        target -= factor[k]
        k += 1
    return k


@njit_forceinline
def in_vectors(n):
    """Return `n` rounded up to a multiple of LANES."""
    return (n + LANES - 1) & -LANES


@njit_forceinline
def drop_word(k, row, length, ids, values, free):
    """Decrement the count of topic `k` in a list; return the list's new length."""
    at = locate(ids, row, in_vectors(length), k)
    values[at] -= np.float32(1.0)
    if values[at] == 0.0:
        length -= 1
        last = row + length
        ids[at], values[at] = ids[last], values[last]
        ids[last], values[last] = free, 0.0
    return length


@njit_loop
def sweep_nodes_sparse(
    first, last, node_ptr, tokens, topics, lists, totals, alpha, gamma, scratch, rng
):
    """Sweep like `sweep_nodes`, in time that grows with a word's topics, not with K; gamma > 0."""
    ids, values, row_ptr, lengths = lists.ids, lists.values, lists.row_ptr, lists.lengths
    base, reciprocal, factor = scratch.base, scratch.reciprocal, scratch.factor
    group_sums, sums = scratch.group_sums, scratch.sums
    n_topics, n_tokens = alpha.shape[0], tokens.shape[0]
    shift = gamma * lengths.shape[0]
    rest = 0.0  # sum of factor, in double precision so that it adds no error
    group_sums[:] = 0.0
    for k in range(n_topics):
        reciprocal[k] = 1.0 / (shift + totals[k])
        base[k] = alpha[k]
        factor[k] = 0.0
        rest += weigh_topic(k, base, reciprocal, factor, group_sums)
    for d in range(first, last):
        begin, end = node_ptr[d], node_ptr[d + 1]
        for i in range(begin, end):
            k = topics[i]
            if k >= 0:
                base[k] += 1.0
                rest += weigh_topic(k, base, reciprocal, factor, group_sums)
        for i in range(begin, end):
            if i + AHEAD < n_tokens:
                prefetch_list(tokens[i + AHEAD], row_ptr, lengths, ids, values)
            w = tokens[i]
            row, length = row_ptr[w], lengths[w]

            # Remove the word.
            k = np.int64(topics[i])
            if k >= 0:
                length = drop_word(k, row, length, ids, values, n_topics)
                rest += move_topic(k, LESS, totals, shift, base, reciprocal, factor, group_sums)

            # Weigh the topics of the word, and all topics by gamma.
            whole = in_vectors(length)
            listed = sum_listed(ids, values, row, whole, factor, sums, 0)

            # Draw the topic.
            target = next_double(rng) * (listed + gamma * rest)
            if target < listed:
                at = row + min(find_sum(sums, 0, whole, np.float32(target)), length - 1)
                k = ids[at]
            else:
                k = find_factor((target - listed) / gamma, n_topics, factor, group_sums)
                at = locate(ids, row, whole, k)
                if at < 0:
                    at = row + length
                    length += 1
                    ids[at] = k

            # Add the word.
            values[at] += np.float32(1.0)
            lengths[w] = length
            topics[i] = k
            rest += move_topic(k, MORE, totals, shift, base, reciprocal, factor, group_sums)
        for i in range(begin, end):
            k = topics[i]
            base[k] = alpha[k]
            rest += weigh_topic(k, base, reciprocal, factor, group_sums)


@njit_forceinline
def prefetch_list(w, row_ptr, lengths, ids, values):
    """Prefetch the list of word `w`."""
    row = row_ptr[w]
    for i in range(row, row + lengths[w], LANES):
        prefetch_entry(ids, i)
        prefetch_entry(values, i)
