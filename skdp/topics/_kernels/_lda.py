"""Collapsed Gibbs sampling of latent Dirichlet allocation: sweeps, estimates, power laws.

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
factor[k]``. There is a dense and a sparse sweep, both exact.

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

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_forceinline,
    njit_internal,
    njit_internal_nogc,
    njit_loop,
)
from skdp._numeric._random import next_double, stream_of_segments
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
from skdp.processes._concentration import draw_seating_evidence, draw_table_evidence
from skdp.processes._kernels_stirling import log_stirling, open_ratio
from skdp.topics._kernels._counts import (
    AHEAD,
    LESS,
    MORE,
    P_MOVE,
    add_burst_estimates,
    draw_seats,
    draw_sum,
    enter_node_with_bursts,
    find_seat,
    leave_seat,
    log_mean_exp,
    log_rising,
    move_tables,
    next_stop,
    open_table,
    resample,
    take_seat,
    weigh_seats,
    with_seats,
)

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


class WordNodes(NamedTuple):
    """Words of documents and of nodes: document d has nodes nodes_of[d] to nodes_of[d + 1] - 1."""

    tokens: np.ndarray
    segment_ptr: np.ndarray
    doc_ptr: np.ndarray
    node_ptr: np.ndarray
    nodes_of: np.ndarray


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
def sweep_nodes(first, last, node_ptr, tokens, topics, words, alpha, gamma, scratch, bursts, rng):
    """Draw the topic of every word of nodes `first` to `last` - 1 once, of unseated words too.

    `gamma` must be 0 if topics are fixed. Every word must have a topic of positive weight. With
    bursts the words' tables are drawn, too.
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
        if bursts is None:
            enter_node(begin, end, alpha, topics, base, reciprocal, factor)
        else:
            enter_node_with_bursts(begin, end, end, topics, alpha, scratch, bursts)

        # Remove and weigh the first word.
        coming, k = tokens[begin], np.int64(topics[begin])
        if bursts is None:
            if k >= 0:
                move_word(coming, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor)
        elif k >= 0:
            leave_seat(begin, begin, tokens, topics, words, alpha, shift, scratch, bursts)
        total = sum_product(counts, coming, offset, factor, sums, begin & 1)
        gained = np.float32(0.0)  # gain of topic k for the next word since its sums were computed
        for i in range(begin, end):
            if i + AHEAD < n_tokens:
                prefetch(counts, tokens[i + AHEAD])
            w, weight, gainer = coming, total + gained, k
            if bursts is not None:
                place = bursts.firsts[i] - begin
                own = weigh_seats(place, bursts)
                target = next_double(rng) * (own + weight)
                joins = target < own
                seat = find_seat(target, place, bursts) if joins else place

            # Remove and weigh the next word.
            if i + 1 < end:
                coming, k = tokens[i + 1], np.int64(topics[i + 1])
                if bursts is None:
                    if k >= 0:
                        move_word(
                            coming, k, LESS, fixed, counts, totals, shift, base, reciprocal, factor
                        )
                elif k >= 0:
                    leave_seat(i + 1, begin, tokens, topics, words, alpha, shift, scratch, bursts)
                total = sum_product(counts, coming, offset, factor, sums, (i + 1) & 1)

            # Draw the current topic, or that of a new table, from sums without the last one's gain.
            if bursts is None:
                target = np.float32(next_double(rng)) * weight - gained
                found = min(find_sum(sums, i & 1, width, target), n_topics - 1)
                k = gainer if target < 0.0 else found
                topics[i] = k
            elif joins:
                k = np.int64(bursts.served[seat])
            else:
                seat, k = open_table(
                    w, place, i & 1, np.float32(target - own) - gained, gainer, words, n_topics,
                    offset, scratch, bursts,
                )  # fmt: skip

            # Add the word; the gain of its topic for the next word is not in the sums.
            gained = (counts[coming, k] + offset) * factor[k]
            if bursts is None:
                move_word(w, k, MORE, fixed, counts, totals, shift, base, reciprocal, factor)
            else:
                take_seat(i, seat, k, begin, w, topics, words, alpha, shift, scratch, bursts)
            gained = (counts[coming, k] + offset) * factor[k] - gained
            if gained < 0.0:
                total = sum_product(counts, coming, offset, factor, sums, (i + 1) & 1)
                gained = np.float32(0.0)
        if bursts is not None and next_double(rng) < P_MOVE:
            move_tables(
                begin, end, tokens, topics, words, alpha, gamma, shift, scratch, bursts, rng
            )


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


# Sweeps in which the words of a node may have some topics only.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | sets | | (n_sets, K) bool | whether a topic is in a set of allowed topics |
# | set_of | | (nodes,) int64 | the set of each node |
# | own_alpha | | (K,) | alpha of the allowed topics, 0 for others |
#
# The posterior is that of the model without labels, given that no word has a topic outside the set
# of its node. So the weights of the allowed topics are unchanged, and others have none: alpha_k =
# 0, and no word of the node has topic k. Other symbols are as above.


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
    node_ptr, tokens, topics, words, alpha, gamma, scratch, sets, set_of, own_alpha, bursts, rng
):
    """Draw the topic of every word once, from the topics that its node may use."""
    first, n_nodes = 0, set_of.shape[0]
    while first < n_nodes:
        last, allowed = first + 1, sets[set_of[first]]
        while last < n_nodes and set_of[last] == set_of[first]:
            last += 1
        for k in range(alpha.shape[0]):
            own_alpha[k] = alpha[k] if allowed[k] else 0.0
        sweep_nodes(
            first, last, node_ptr, tokens, topics, words, own_alpha, gamma, scratch, bursts, rng
        )
        if bursts is None:
            return_strays(node_ptr[first], node_ptr[last], tokens, topics, words, allowed)
        first = last


# Counts, estimates, fold-in, and the joint probability.
#
# Symbols as above and in `_kernels/_counts`.


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
    nodes, topics, words, first_alpha, alpha, scratch, bursts, n_sweeps, burn_in, work, place, key,
    out, opening, own, rng,
):  # fmt: skip
    """Add E[theta] of every node to `out`, with topics fixed; see `_shared/_fold_in`.

    With bursts, add the estimates of `add_burst_estimates` to `opening` and `own`, too.
    """
    tokens, segment_ptr, doc_ptr, node_ptr, nodes_of = nodes
    while place[0] < doc_ptr.shape[0] - 1 and work > 0:
        d = place[0]
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        content = tokens[segment_ptr[begin] : segment_ptr[end]]
        if place[1] == 0:
            stream_of_segments(key, content, segment_ptr[begin : end + 1], rng)
        first, last = nodes_of[d], nodes_of[d + 1]
        while place[1] < n_sweeps and work > 0:
            prior = first_alpha if place[1] == 0 else alpha
            sweep_nodes(
                first, last, node_ptr, tokens, topics, words, prior, 0.0, scratch, bursts, rng
            )
            if place[1] >= burn_in:
                add_node_estimates(first, last, node_ptr, topics, alpha, out)
                if bursts is not None:
                    add_burst_estimates(
                        first, last, node_ptr, topics, alpha, scratch, bursts, opening, own
                    )
            place[1] += 1
            work -= content.shape[0] + (last - first) + 1
        if place[1] == n_sweeps:
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


@njit_internal_nogc
def extend_node_with_bursts(begin, end, tokens, topics, words, alpha, scratch, bursts, rng):
    """Redraw the first words of a node, then extend it; return the log of the weight."""
    total, n_tokens = alpha.sum(), tokens.shape[0]
    enter_node_with_bursts(0, begin, n_tokens, topics, alpha, scratch, bursts)
    draw_seats(
        0, 0, begin, tokens, topics, words, alpha, np.float32(0.0), 0.0, scratch, bursts, False, rng
    )
    log_weight = draw_seats(
        0, begin, end, tokens, topics, words, alpha, np.float32(0.0), 0.0, scratch, bursts, True,
        rng,
    )  # fmt: skip
    for i in range(begin, end):
        log_weight -= math.log(total + i)
    return log_weight


@njit_internal
def estimate_node(tokens, topics, words, alpha, scratch, bursts, seats, base, sums, rng):
    """Return the log of an estimate of p(words) of a node; `topics`, `seats` (R, n) are scratch."""
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
            if bursts is None:
                sweep_nodes(
                    0, 1, node_ptr, tokens[:begin], topics[r], words, alpha, 0.0, scratch, None, rng
                )
                log_weights[r] += extend_node(
                    begin, end, tokens, topics[r], words, alpha, base, sums, rng
                )
            else:
                own = with_seats(bursts, bursts.firsts, seats[r])
                log_weights[r] += extend_node_with_bursts(
                    begin, end, tokens, topics[r], words, alpha, scratch, own, rng
                )
        begin = end
        result += resample(log_weights, ancestors, rng)
        for r in range(n_particles):
            if ancestors[r] != r:
                topics[r, :end] = topics[ancestors[r], :end]
                if bursts is not None:
                    seats[r, :end] = seats[ancestors[r], :end]
    return result + log_mean_exp(log_weights)


@njit
def estimate_nodes(n_particles, nodes, words, alpha, scratch, bursts, key, out):
    """Write the log of an estimate of the probability of every document's words to `out` (D,)."""
    tokens, segment_ptr, doc_ptr, node_ptr, nodes_of = nodes
    rng = np.empty(4, np.uint64)
    base, sums = np.empty_like(alpha), np.empty_like(alpha)
    for k in range(alpha.shape[0]):
        scratch.reciprocal[k] = 1.0
    for d in range(doc_ptr.shape[0] - 1):
        begin, end = doc_ptr[d], doc_ptr[d + 1]
        content = tokens[segment_ptr[begin] : segment_ptr[end]]
        stream_of_segments(key, content, segment_ptr[begin : end + 1], rng)
        out[d] = 0.0
        for x in range(nodes_of[d], nodes_of[d + 1]):
            of_node = tokens[node_ptr[x] : node_ptr[x + 1]]
            topics = np.full((n_particles, of_node.shape[0]), -1, np.int32)
            if bursts is None:
                out[d] += estimate_node(
                    of_node, topics, words, alpha, scratch, None, topics, base, sums, rng
                )
            else:
                firsts = bursts.firsts[node_ptr[x] : node_ptr[x + 1]] - np.int32(node_ptr[x])
                own = with_seats(bursts, firsts, bursts.seats)
                out[d] += estimate_node(
                    of_node, topics, words, alpha, scratch, own, topics.copy(), base, sums, rng
                )


# Topics that are Pitman-Yor processes: words follow a power law.
#
# Every topic is a Chinese restaurant: its words are customers, a table serves one word, and the
# word of a new table is drawn from the base H, which is uniform or has a Dirichlet prior and is
# shared by the topics. Base and topics are integrated out. The state holds the topics and the
# numbers of tables:
#
#     p(w, T | z) = p(T) prod_k (b|a)_{T_k} / (b)_{M_k} prod_w S^{M_kw}_{T_kw, a}
#
# with p(T) = W^-T for a uniform base and Beta_W(gamma + T_w) / Beta_W(gamma) for a shared one.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | tables | T_kw | (W, K') int32 | tables of each topic that serve each word |
# | topic_tables | T_k | (K,) int64 | tables of each topic |
# | word_tables | T_w | (W,) int64 | tables of all topics that serve each word |
# | a, b | a, b | scalars | discount and concentration of the topics |
# | gamma | | scalar | Dirichlet prior of a shared base; 0: the base is uniform |
# | values, row_ptr | U, V | | ratios of Stirling numbers, see `skdp.processes._kernels_stirling` |
# | node | alpha_k + n_dk | (K,) | weight of a topic in the current node |
# | factor | node / (b + M_k) | (K,) | weight of a topic without its word factor |
# | opening | b + a T_k | (K,) | weight of a new table in a topic |
# | sums | | (K,) | running sums of a word's weights |
# | sets, set_of | | (n_sets, K) bool, (nodes,) | allowed topics: see above |
#
# One update draws a seating of the words given their numbers of tables, moves one word, and forgets
# the seating. Words are exchangeable, so the word sits alone with the probability that the last
# customer opened a table, S^{M-1}_{T-1} / S^M_T. Without the word, topic k has the weight ``(M_kw -
# a T_kw + (b + a T_k) H_w) factor[k]``, which needs no Stirling numbers; the last term opens a
# table.


@njit_forceinline
def probability_in_base(w, word_tables, n_tables, gamma):
    """Return the probability that a new table serves word `w`."""
    if gamma == 0.0:
        return 1.0 / word_tables.shape[0]
    return (gamma + word_tables[w]) / (gamma * word_tables.shape[0] + n_tables)


class WordTables(NamedTuple):
    """Tables of topics that are Pitman-Yor processes, with their parameters."""

    tables: np.ndarray
    topic_tables: np.ndarray
    word_tables: np.ndarray
    a: float
    b: float
    gamma: float
    values: np.ndarray
    row_ptr: np.ndarray


@njit_loop
def sweep_power_law(node_ptr, tokens, topics, words, law, alpha, sets, set_of, scratch, rng):
    """Draw the topic of every word once, and whether it opens a table; `scratch` is (4, K)."""
    counts, totals = words.counts, words.totals
    tables, topic_tables, word_tables, a, b, gamma, values, row_ptr = law
    node, factor, opening, sums = scratch[0], scratch[1], scratch[2], scratch[3]
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
def gather_evidence(counts, law, rng):
    """Return the powers of a and of 1 - a that the tables contribute: see `draw_discount`."""
    tables, topic_tables, _, a, b, _, values, row_ptr = law
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
def log_probability_of_power_law(counts, totals, law):
    """Return log p(w, T | z)."""
    tables, topic_tables, word_tables, a, b, gamma, values, row_ptr = law
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
