"""Forward filters over all segmentations of a string into words, and draws from them.

Seats are held fixed. If words depend on one preceding word, a word that was never seen after v has
its probability without context times a factor of v. So a single sum covers all preceding words, and
only observed pairs need one term each.

| name | symbol | shape | meaning |
|---|---|---|---|
| letter_p | | (n, order) | probability of a letter after r < order (or more) letters |
| end_p | | (n, order) | probability that a word of that many letters ends after a letter |
| alone | p(w) | (n + 1, L) | probability, without context, of a word ending at t, by length - 1 |
| tempered | p(w)^(1/T) | (n + 1, L) | its power |
| alpha | | (n + 1, L) | weight of all paths to a word that ends at t, by length - 1 |
| beta | | (n + 1, L) | weight of all continuations from there |
| reach | B | (n + 1,) | sum of alpha times the words' back-off factors |
| shown | | (n + 1, L) | lengths of the words that end at t and are contexts; -1 after the last |
| scale_log | | (n + 1,) | log of the divisor of alpha and reach at t |
| power | 1 / T | scalar | |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.language._kernels._words import (
    SMALLEST_BASE,
    context_node,
    context_of,
    event_probability,
    two_word_node,
)
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS, NODE, find_cell, split_share

LIFTED = 1e-150
"""Probability to which improbable stretches without a cut are raised."""

SMALL = 1e-60
"""Sums of weights below this value are rescaled."""


class FilterScratch(NamedTuple):
    """Buffers for the longest string, as listed in the table above, and for its `words`."""

    letter_p: NDArray[np.float64]
    end_p: NDArray[np.float64]
    alone: NDArray[np.float64]
    tempered: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    reach: NDArray[np.float64]
    shown: NDArray[np.int32]
    scale_log: NDArray[np.float64]
    words: NDArray[np.int32]
    new_words: NDArray[np.int32]


def empty_scratch(longest: int, max_length: int, character_order: int) -> FilterScratch:
    """Return buffers for strings of at most `longest` letters."""
    n = longest + 1
    return FilterScratch(
        np.zeros((n, character_order)),
        np.zeros((n, character_order)),
        np.zeros((n, max_length)),
        np.zeros((n, max_length)),
        np.zeros((n, max_length)),
        np.zeros((n, max_length)),
        np.zeros(n),
        np.zeros((n, max_length), dtype=np.int32),
        np.zeros(n),
        np.zeros(n + 1, dtype=np.int32),
        np.zeros(n + 1, dtype=np.int32),
    )


@njit_internal_nogc
def _follow_contexts(f, cells, n_letters, order, uniform, out):
    """Write the probabilities of one symbol after each context."""
    # The parent of a context that begins with the word is the context without that beginning, which
    # is on the path to the longer contexts, so 2 * order - 1 restaurants are used.
    probability = uniform
    for m in range(min(n_letters, order - 1) + 1):
        cell = np.int64(cells[m])
        own, back = split_share(f, cell, np.int64(f.cells[cell, NODE]), m)
        probability = own + back * probability
        if m == order - 1:
            out[m] = probability
        elif cells[order + m] >= 0:
            cell = np.int64(cells[order + m])
            own, back = split_share(f, cell, np.int64(f.cells[cell, NODE]), m + 1)
            out[m] = own + back * probability


@njit_internal_nogc
def _lift_stretches(text, prices, start, n, s):
    """Find stretches without a cut whose letters are too improbable for a float."""
    # Every segmentation has one word that contains such a stretch, so these words may have a common
    # factor. Its log goes to `scale_log[i]` (or 0), the first letter to `reach[i]`; i is the last.
    last = text.character_order - 1
    first = 0
    for i in range(n):
        s.scale_log[i] = 0.0
        if i < n - 1 and text.known[start + i] == 0:
            continue
        k = i - first + 1
        total, product = 0.0, 1.0
        for r in range(k):
            product *= s.letter_p[first + r, min(r, last)]
            if product < LIFTED:
                total += math.log(product)
                product = 1.0
        if total < 0.0:
            total += math.log(prices[k] * s.end_p[i, min(k, last)]) + math.log(product)
            s.scale_log[i] = max(math.log(LIFTED) - total, 0.0)
            s.reach[i] = first
        first = i + 1


@njit_internal_nogc
def weigh_words(f, text, prices, string, power, s):
    """Write the probabilities of all words of a string, without context."""
    # Words that contain a very improbable stretch have the factor of `_lift_stretches`.
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    order, longest = text.character_order, text.span_ids.shape[1]
    last = order - 1
    for i in range(n):
        _follow_contexts(f, text.letter_cells[start + i], i, order, text.uniform, s.letter_p[i])
        _follow_contexts(f, text.end_cells[start + i], i + 1, order, text.uniform, s.end_p[i])
    _lift_stretches(text, prices, start, n, s)
    level = np.int64(order)
    root = np.int64(text.root_node)
    _, unseen = split_share(f, np.int64(-1), root, level)
    for b in range(n):
        product = 1.0
        shift = lift = 0.0
        for k in range(1, min(longest, n - b) + 1):
            i = b + k - 1
            product *= s.letter_p[i, min(k - 1, last)]
            if product < LIFTED:
                shift += math.log(product)
                product = 1.0
            if s.scale_log[i] > 0.0 and s.reach[i] >= b:
                lift += s.scale_log[i]
            own, back = 0.0, unseen
            if is_shared(text, start + b, k):
                w = np.int64(text.span_ids[start + b, k - 1])
                own, back = split_share(f, np.int64(text.root_cell) + w, root, level)
            base = prices[k] * product * s.end_p[i, min(k, last)]
            if lift > 0.0:
                base = max(math.exp(math.log(base) + (shift + lift)), SMALLEST_BASE)
            elif shift < 0.0:
                base = math.exp(math.log(base) + shift)
            alone = own + back * base
            s.alone[b + k, k - 1] = alone
            s.tempered[b + k, k - 1] = alone if power == 1.0 else alone**power


@njit_inlined
def is_shared(text, at, k):
    """Return whether the span of k letters from a place may have customers of other strings."""
    return k <= text.shared[at]


@njit_inlined
def span_word(text, start, t, k):
    """Return the word of k letters that ends at t."""
    return np.int64(text.span_ids[start + t - k, k - 1])


@njit_inlined
def context_word(text, start, t, k):
    """Return the word of k letters that ends at t, or the start."""
    return span_word(text, start, t, k) if t > 0 else np.int64(text.n_spans)


@njit_inlined
def raise_power(x, power):
    return x if power == 1.0 else x**power


@njit_internal_nogc
def extra_weight(f, text, node, depth, w, p, power):
    """Return the weight of an observed word in a context in excess of its back-off share."""
    cell = find_cell(f, node, w)
    if cell < 0 or f.cells[cell, CUSTOMERS] == 0:
        return 0.0
    own, back = split_share(f, cell, node, np.int64(text.character_order) + depth)
    if power == 1.0:
        return own
    return (own + back * p) ** power - (back * p) ** power


@njit_inlined
def _back_off_in(f, text, node, depth, power):
    """Return the back-off factor of words that were never seen in a context."""
    _, back = split_share(f, np.int64(-1), node, np.int64(text.character_order) + depth)
    return raise_power(back, power)


@njit_inlined
def back_off(f, text, v, power):
    """Return the back-off factor of words that were never seen after v."""
    if text.word_order == 1:
        return 1.0
    return _back_off_in(f, text, context_node(text, v), 1, power)


@njit_inlined
def may_end(text, start, t, n):
    """Return whether a word may end at t."""
    return t == n or text.known[start + t - 1] != 0


@njit_inlined
def must_end(text, start, t):
    """Return whether a word must end at t."""
    return t > 0 and text.known[start + t - 1] == 1


@njit_inlined
def end_probability(f, text, prices, v):
    """Return the probability of the end of a sentence after v."""
    return event_probability(
        f, text, np.int64(text.n_spans), v, np.int64(-1), min(text.word_order - 1, 1), prices[0]
    )


@njit_inlined
def following_probability(f, text, v, w, alone):
    """Return the probability of a word after v."""
    if text.word_order == 1:
        return alone
    node = context_node(text, v)
    own, back = split_share(f, find_cell(f, node, w), node, np.int64(text.character_order) + 1)
    return own + back * alone


@njit_internal_nogc
def probability_after(f, text, pair, w, p):
    """Return the probability of a word after a pair, given p after the pair's second word."""
    node = two_word_node(text, pair)
    own, back = split_share(f, find_cell(f, node, w), node, np.int64(text.character_order) + 2)
    return own + back * p


@njit_inlined
def pick_place(weights, total, rng):
    """Return an index drawn by weight, never one of weight 0."""
    left = next_double(rng) * total
    last = 0
    for k in range(weights.shape[0]):
        if weights[k] > 0.0:
            last = k
            left -= weights[k]
            if left < 0.0:
                break
    return last


@njit_inlined
def move_to_front(array, first):
    """Move the entries from `first` on to the front; return their number."""
    n = array.shape[0] - first
    for i in range(n):
        array[i] = array[first + i]
    return n


@njit_internal_nogc
def log_path(f, text, prices, words, n_words, s):
    """Return the log probability of words given the seats used in weighing them."""
    total, t = 0.0, np.int64(0)
    for e in range(n_words):
        w = np.int64(words[e])
        v, pair, depth = context_of(f, text, words, e)
        if e < n_words - 1:
            k = np.int64(text.span_lengths[w])
            t += k
            probability = following_probability(f, text, v, w, s.alone[t, k - 1])
        else:
            probability = end_probability(f, text, prices, v)
        if depth == 2 and pair >= 0:
            probability = probability_after(f, text, pair, w, probability)
        total += math.log(probability)
    return total


# Words that depend on the two preceding words.
#
# Segmentations of a string merge only if they have two words in common. A pair of words that was
# never seen is equivalent to its second word. So among all paths to a word that ends at t, a single
# sum covers the unobserved pairs, and each observed pair has its own weight.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | cells | | (n + 1, L, L) | observed pairs (v, w), w ending at t, by its length; -1: end of list |
# | lengths | | (n + 1, L, L + 1) | lengths of their v; last: length of the best v of other pairs |
# | weights | | (n + 1, L, L) | alpha of each |
# | rest | | (n + 1, L) | sum of alpha over all other pairs |
# | reach | R | (n + 1, L) | sum of alpha times the back-off factors of pairs |
# | shares | | (n + 1, L, L) | posteriors of the pairs |
# | rest_shares | | (n + 1, L) | posterior of all other pairs together |
# | reach_shares | | (n + 1, L) | part of the posterior by back-off from all pairs |
# | origins | | (n + 1, L, L + 1) | pair that ends in v on the best path, -1: an unobserved pair |
# | p | p(w after v) | scalar | probability of a word after one word |
# | before | | scalar | length of the preceding word, 1 for the start |


class PairWorkspace(NamedTuple):
    """Buffers for the longest string, as listed in the table above."""

    cells: NDArray[np.int32]
    lengths: NDArray[np.int32]
    weights: NDArray[np.float64]
    rest: NDArray[np.float64]
    reach: NDArray[np.float64]
    shares: NDArray[np.float64]
    rest_shares: NDArray[np.float64]
    reach_shares: NDArray[np.float64]
    origins: NDArray[np.int32]


def empty_pairs(
    word_order: int, longest: int, max_length: int, *, for_reading: bool
) -> PairWorkspace | None:
    """Return buffers for strings of up to `longest` letters, or None if pairs are not contexts."""
    if word_order < 3:
        return None
    n, m = longest + 1, max_length
    n_read = n if for_reading else 0  # for posteriors and the best words
    return PairWorkspace(
        np.zeros((n, m, m), dtype=np.int32),
        np.zeros((n, m, m + 1), dtype=np.int32),
        np.zeros((n, m, m)),
        np.zeros((n, m)),
        np.zeros((n, m)),
        np.zeros((n_read, m, m)),
        np.zeros((n_read, m)),
        np.zeros((n_read, m)),
        np.zeros((n_read, m, m + 1), dtype=np.int32),
    )


@njit_inlined
def find_pair(f, text, v, w):
    """Return the cell of w after v, or -1 if it has no customers."""
    cell = find_cell(f, context_node(text, v), w)
    return cell if cell >= 0 and f.cells[cell, CUSTOMERS] > 0 else np.int64(-1)


@njit_internal_nogc
def _extra_of_pairs(f, text, b, before, w, p, power, pairs):
    """Return the weight of a word that begins at b in excess of the back-off of all pairs."""
    extra = 0.0
    for i in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[b, before - 1, i])
        if pair < 0:
            break
        after = extra_weight(f, text, two_word_node(text, pair), 2, w, p, power)
        extra += pairs.weights[b, before - 1, i] * after
    return extra


@njit_internal_nogc
def _weigh_pairs(f, text, start, t, k, w, power, s, pairs):
    """Write the weights of all paths to a word of k letters that ends at t; return their sum."""
    longest = text.span_ids.shape[1]
    b = t - k
    level = np.int64(text.character_order) + 1
    rest = s.tempered[t, k - 1] * s.reach[b]
    weight, reach = rest, 0.0
    n = 0
    if w >= 0 and f.cells[text.root_cell + w, CUSTOMERS] > 0:
        alone = s.alone[t, k - 1]
        for q in range(longest):
            before = np.int64(s.shown[b, q])
            if before < 0:
                break
            v = context_word(text, start, b, before)
            pair = find_pair(f, text, v, w)
            if pair < 0:
                continue
            own, back = split_share(f, pair, context_node(text, v), level)
            p = own + back * alone
            shared = pairs.reach[b, before - 1] * raise_power(back * alone, power)
            extra = pairs.reach[b, before - 1] * raise_power(p, power) - shared
            if power == 1.0:
                extra = pairs.reach[b, before - 1] * own
            extra += _extra_of_pairs(f, text, b, before, w, p, power, pairs)
            rest -= shared
            weight += extra
            back = _back_off_in(f, text, two_word_node(text, pair), 2, power)
            reach += (shared + extra) * back
            pairs.cells[t, k - 1, n] = pair
            pairs.lengths[t, k - 1, n] = before
            pairs.weights[t, k - 1, n] = shared + extra
            n += 1
    if n < longest:
        pairs.cells[t, k - 1, n] = -1
    pairs.rest[t, k - 1] = max(rest, 0.0)
    pairs.reach[t, k - 1] = reach + pairs.rest[t, k - 1]
    return weight


@njit_internal_nogc
def _weigh_word(f, text, start, t, k, w, power, s):
    """Write the weight of all paths to a word of k letters that ends at t; return it."""
    b = t - k
    weight = s.tempered[t, k - 1] * s.reach[b]
    if w >= 0 and text.word_order > 1 and f.cells[text.root_cell + w, CUSTOMERS] > 0:
        alone = s.alone[t, k - 1]
        for q in range(s.shown.shape[1]):
            j = np.int64(s.shown[b, q])
            if j < 0:
                break
            node = context_node(text, context_word(text, start, b, j))
            extra = extra_weight(f, text, node, 1, w, alone, power)
            if extra > 0.0:
                weight += s.alpha[b, j - 1] * extra
    s.alpha[t, k - 1] = weight
    return weight


@njit_internal_nogc
def _scale_up(t, total, log_scale, s, pairs):
    """Rescale everything that words after t refer to, since only ratios matter."""
    longest = s.alpha.shape[1]
    factor = 1.0 / total
    for b in range(max(0, t - longest + 1), t + 1):
        s.reach[b] *= factor
        s.scale_log[b] = log_scale
        for k in range(max(min(longest, b), 1)):
            if pairs is None:
                s.alpha[b, k] *= factor
                continue
            pairs.rest[b, k] *= factor
            pairs.reach[b, k] *= factor
            for q in range(longest):
                if pairs.cells[b, k, q] < 0:
                    break
                pairs.weights[b, k, q] *= factor


@njit_internal_nogc
def filter_words(f, text, string, power, s, pairs):
    """Write the weights of all paths to each word of a string, after `weigh_words`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    # The start acts as a word, the only one that ends at 0. Nothing precedes it: it is in no pair.
    if pairs is None:
        s.alpha[0, 0] = 1.0
    else:
        pairs.cells[0, 0, 0] = -1
        pairs.rest[0, 0] = pairs.reach[0, 0] = 1.0
    s.reach[0] = back_off(f, text, np.int64(text.n_spans), power)
    s.shown[0, 0] = 1
    if longest > 1:
        s.shown[0, 1] = -1
    s.scale_log[0] = 0.0
    log_scale = 0.0
    for t in range(1, n + 1):
        n_shown = 0
        reach = total = 0.0
        is_open = may_end(text, start, t, n)
        for k in range(1, min(longest, t) + 1):
            if not is_open:
                if pairs is None:
                    s.alpha[t, k - 1] = 0.0
                else:
                    pairs.cells[t, k - 1, 0] = -1
                    pairs.rest[t, k - 1] = pairs.reach[t, k - 1] = 0.0
                continue
            has_customers = is_shared(text, start + t - k, k)
            w = span_word(text, start, t, k) if has_customers else np.int64(-1)
            if pairs is None:
                weight = all_paths = _weigh_word(f, text, start, t, k, w, power, s)
            else:
                weight = _weigh_pairs(f, text, start, t, k, w, power, s, pairs)
                all_paths = pairs.reach[t, k - 1]
            total += weight
            if weight > 0.0:
                reach += all_paths * (back_off(f, text, w, power) if has_customers else 1.0)
                is_context = has_customers and text.word_order > 1
                if is_context and f.nodes[context_node(text, w), 0] > 0:
                    s.shown[t, n_shown] = k
                    n_shown += 1
            is_open = not must_end(text, start, t - k)
        if n_shown < longest:
            s.shown[t, n_shown] = -1
        s.reach[t] = reach
        s.scale_log[t] = log_scale
        if 0.0 < total < SMALL:
            log_scale += math.log(total)
            _scale_up(t, total, log_scale, s, pairs)


@njit_internal_nogc
def weigh_end(f, text, prices, start, n, k, power, s, pairs):
    """Return the weight of all paths to a last word of k letters and the end after it."""
    rest = s.alpha[n, k - 1] if pairs is None else pairs.rest[n, k - 1]
    p = end_probability(f, text, prices, context_word(text, start, n, k))
    total = rest * raise_power(p, power)
    if pairs is not None:
        for q in range(pairs.cells.shape[2]):
            pair = np.int64(pairs.cells[n, k - 1, q])
            if pair < 0:
                break
            after = probability_after(f, text, pair, np.int64(text.n_spans), p)
            total += pairs.weights[n, k - 1, q] * raise_power(after, power)
    return total


@njit_internal_nogc
def log_total(f, text, prices, string, power, s, pairs):
    """Return the log of the summed weight of all segmentations of a string."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    total = 0.0
    for k in range(1, max(min(text.span_ids.shape[1], n), 1) + 1):  # for no letters, only the start
        total += weigh_end(f, text, prices, start, n, k, power, s, pairs)
    return math.log(total) + s.scale_log[n]


@njit_inlined_source
def draw_words(f, text, prices, string, power, s, pairs, rng):
    """Draw a segmentation to `s.new_words`, the last word first; return its length with the end."""
    start = text.ptr[string]
    t = n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    free = s.new_words.shape[0] - 1
    s.new_words[free] = text.n_spans
    # The word that follows the word that ends at t, and its probability after that word.
    following, p = np.int64(text.n_spans), 0.0
    k = 0
    if n > 0:
        weights, total = s.beta[n], 0.0
        for j in range(1, longest + 1):
            weights[j - 1] = 0.0
            if j <= n:
                weights[j - 1] = weigh_end(f, text, prices, start, n, j, power, s, pairs)
            total += weights[j - 1]
        k = pick_place(weights, total, rng) + 1
        if pairs is not None:
            p = end_probability(f, text, prices, span_word(text, start, n, k))
    while t > 0:
        w = span_word(text, start, t, k)
        free -= 1
        s.new_words[free] = w
        b = t - k
        if b == 0:
            break
        # Weights of the preceding words, given the following words.
        weights, total = s.beta[b], 0.0
        alone = s.alone[t, k - 1]
        paths = s.alpha[b] if pairs is None else pairs.reach[b]
        for j in range(1, longest + 1):
            weight = paths[j - 1] if j <= b else 0.0
            if weight > 0.0:
                v, after = span_word(text, start, b, j), alone
                if is_shared(text, start + b - j, j):
                    after = following_probability(f, text, v, w, alone)
                weight *= raise_power(after, power)
                if pairs is not None:
                    weight += _extra_of_pairs(f, text, b, j, w, after, power, pairs)
                    pair = find_pair(f, text, v, w)
                    q = p if pair < 0 else probability_after(f, text, pair, following, p)
                    weight *= raise_power(q, power)
            weights[j - 1] = weight
            total += weight
        j = pick_place(weights, total, rng) + 1
        if pairs is not None:
            p = following_probability(f, text, span_word(text, start, b, j), w, alone)
        following = w
        t, k = b, j
    return move_to_front(s.new_words, free)


# Posteriors of words if pairs are contexts, and the most probable cuts.


@njit_internal_nogc
def _share_out(f, text, b, before, w, p, share, pairs):
    """Distribute a posterior over the paths to a word that ends at b, by parts of a sum."""
    pairs.reach_shares[b, before - 1] += share * pairs.reach[b, before - 1] * p
    for i in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[b, before - 1, i])
        if pair < 0:
            break
        extra = extra_weight(f, text, two_word_node(text, pair), 2, w, p, 1.0)
        pairs.shares[b, before - 1, i] += share * pairs.weights[b, before - 1, i] * extra


@njit_internal_nogc
def _gather_shares(f, text, t, k, pairs):
    """Return the posterior of a word, after distributing its back-off part over its pairs."""
    share = 0.0
    if pairs.reach[t, k - 1] > 0.0:
        share = pairs.reach_shares[t, k - 1] / pairs.reach[t, k - 1]
    pairs.rest_shares[t, k - 1] += share * pairs.rest[t, k - 1]
    total = pairs.rest_shares[t, k - 1]
    for q in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[t, k - 1, q])
        if pair < 0:
            break
        back = _back_off_in(f, text, two_word_node(text, pair), 2, 1.0)
        pairs.shares[t, k - 1, q] += share * (pairs.weights[t, k - 1, q] * back)
        total += pairs.shares[t, k - 1, q]
    return total


@njit_internal_nogc
def _share_rest(f, text, start, t, k, s, pairs):
    """Distribute the posterior of unobserved pairs over the paths to their first words."""
    b = t - k
    weights, total = s.beta[b], 0.0
    q = 0
    for j in range(1, min(text.span_ids.shape[1], b) + 1):
        # Observed pairs are listed by ascending length.
        is_listed = q < pairs.cells.shape[2] and pairs.cells[t, k - 1, q] >= 0
        weights[j - 1] = 0.0
        if is_listed and pairs.lengths[t, k - 1, q] == j:
            q += 1
        else:
            v = span_word(text, start, b, j)
            weights[j - 1] = pairs.reach[b, j - 1] * back_off(f, text, v, 1.0)
        total += weights[j - 1]
    if total > 0.0:
        share = pairs.rest_shares[t, k - 1] / total
        for j in range(min(text.span_ids.shape[1], b)):
            pairs.reach_shares[b, j] += share * weights[j]


@njit_inlined_source
def smooth_triples(f, text, prices, string, s, pairs, spans):
    """Write the posterior of all words of a string, from the end, after `filter_words`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    for b in range(n + 1):
        pairs.rest_shares[b, :] = 0.0
        pairs.reach_shares[b, :] = 0.0
        pairs.shares[b, :, :] = 0.0
    for b in range(start, start + n):
        spans[b, :] = 0.0
    end = np.int64(text.n_spans)
    total = 0.0
    for k in range(1, min(longest, n) + 1):
        total += weigh_end(f, text, prices, start, n, k, 1.0, s, pairs)
    for k in range(1, min(longest, n) + 1):
        p = end_probability(f, text, prices, span_word(text, start, n, k))
        pairs.rest_shares[n, k - 1] = pairs.rest[n, k - 1] * p / total
        for q in range(longest):
            pair = np.int64(pairs.cells[n, k - 1, q])
            if pair < 0:
                break
            after = probability_after(f, text, pair, end, p)
            pairs.shares[n, k - 1, q] = pairs.weights[n, k - 1, q] * after / total
    for t in range(n, 0, -1):
        for k in range(1, min(longest, t) + 1):
            b = t - k
            spans[start + b, k - 1] = _gather_shares(f, text, t, k, pairs)
            if b == 0:
                continue
            w = span_word(text, start, t, k)
            for q in range(longest):
                if pairs.cells[t, k - 1, q] < 0:
                    break
                before = np.int64(pairs.lengths[t, k - 1, q])
                v = span_word(text, start, b, before)
                p = following_probability(f, text, v, w, s.alone[t, k - 1])
                # The weight of the pair is not usable, since b and t may differ in scale.
                total = pairs.reach[b, before - 1] * p
                total += _extra_of_pairs(f, text, b, before, w, p, 1.0, pairs)
                _share_out(f, text, b, before, w, p, pairs.shares[t, k - 1, q] / total, pairs)
            _share_rest(f, text, start, t, k, s, pairs)


@njit_internal_nogc
def _best_before(f, text, b, before, w, p, s, pairs):
    """Return the log probability of the best path to w through a given word, and its pair."""
    if pairs is None:
        return s.alpha[b, before - 1] + math.log(p), -1
    best, origin = -math.inf, -1
    if pairs.rest[b, before - 1] > -math.inf:
        best = pairs.rest[b, before - 1] + math.log(p)
    for i in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[b, before - 1, i])
        if pair < 0:
            break
        value = pairs.weights[b, before - 1, i]
        value += math.log(probability_after(f, text, pair, w, p))
        if value > best:
            best, origin = value, i
    return best, origin


@njit_inlined_source
def find_best_words(f, text, prices, string, s, pairs, cuts):
    """Write the most probable cuts of a string, after `weigh_words`."""
    # `alpha` has the best log probability up to a word, and `shown` the length of the preceding
    # word. With pairs, `weights` has it up to each observed pair, and `rest` up to any other pair.
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    rest = s.alpha if pairs is None else pairs.rest
    rest[0, 0] = 0.0
    if pairs is not None:
        pairs.cells[0, 0, 0] = -1
    last, last_k, last_q = -math.inf, 0, -1
    for t in range(1, n + 1):
        for k in range(1, min(longest, t) + 1):
            b = t - k
            w = span_word(text, start, t, k)
            n_seen = 0
            rest[t, k - 1] = -math.inf
            for before in range(1, max(min(longest, b), 1) + 1):
                v = context_word(text, start, b, before)
                p = following_probability(f, text, v, w, s.alone[t, k - 1])
                value, origin = _best_before(f, text, b, before, w, p, s, pairs)
                pair = np.int64(-1) if pairs is None else find_pair(f, text, v, w)
                if pair < 0 and value <= rest[t, k - 1]:
                    continue
                q = longest
                if pair < 0:
                    rest[t, k - 1] = value
                if pairs is None:
                    s.shown[t, k - 1] = before
                    continue
                if pair >= 0:
                    q = n_seen
                    pairs.cells[t, k - 1, q] = pair
                    pairs.weights[t, k - 1, q] = value
                    n_seen += 1
                pairs.lengths[t, k - 1, q] = before
                pairs.origins[t, k - 1, q] = origin
            if pairs is not None and n_seen < longest:
                pairs.cells[t, k - 1, n_seen] = -1
            if t == n:
                p = end_probability(f, text, prices, w)
                value, q = _best_before(f, text, n, k, np.int64(text.n_spans), p, s, pairs)
                if value > last:
                    last, last_k, last_q = value, k, q
    for i in range(start, start + n):
        cuts[i] = False
    t, k, q = n, last_k, last_q
    while t > 0:
        cuts[start + t - 1] = True
        if pairs is None:
            t, k = t - k, np.int64(s.shown[t, k - 1])
        else:
            place = q if q >= 0 else longest
            q = np.int64(pairs.origins[t, k - 1, place])
            t, k = t - k, np.int64(pairs.lengths[t, k - 1, place])
