"""Forward filter over all segmentations of a string into words, and draws from it.

Seats are held fixed. A word that was never seen after v has its probability without context times a
factor of v, so a single sum covers all preceding words, and only observed pairs need one term each.

| name | symbol | shape | meaning |
|---|---|---|---|
| letter_p | | (n, order) | probability of a letter after r < order letters (or more) of its word |
| end_p | | (n, order) | probability that a word of that many letters ends after a letter |
| alone | p(w) | (n + 1, L) | probability without context of a word that ends at t, by length - 1 |
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
from skdp.language._nested._kernels_words import (
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
    """Find stretches without a cut whose letters are too improbable for a float.

    Every segmentation has one word that contains such a stretch, so these words may have a common
    factor. Its log goes to `scale_log[i]` (or 0), the first letter to `reach[i]`; i is the last.
    """
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
    """Write the probabilities of all words of a string, without context.

    Words that contain a very improbable stretch have the factor of `_lift_stretches`.
    """
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
def extra_weight(f, text, v, w, alone, power):
    """Return the weight of an observed word after v in excess of its back-off share."""
    node = context_node(text, v)
    cell = find_cell(f, node, w)
    if cell < 0 or f.cells[cell, CUSTOMERS] == 0:
        return 0.0
    own, back = split_share(f, cell, node, np.int64(text.character_order) + 1)
    if power == 1.0:
        return own
    return (own + back * alone) ** power - (back * alone) ** power


@njit_inlined
def back_off(f, text, v, power):
    """Return the back-off factor of words that were never seen after v."""
    if text.word_order == 1:
        return 1.0
    nobody = np.int64(-1)
    _, back = split_share(f, nobody, context_node(text, v), np.int64(text.character_order) + 1)
    return raise_power(back, power)


@njit_inlined
def may_end(text, start, t, n):
    """Return whether a word may end at t."""
    return t == n or text.known[start + t - 1] != 0


@njit_inlined
def must_end(text, start, t):
    """Return whether a word must end at t."""
    return t > 0 and text.known[start + t - 1] == 1


@njit_internal_nogc
def filter_forward(f, text, string, power, s):
    """Write `alpha`, `reach` and `shown` of a string, after `weigh_words`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    has_contexts = text.word_order > 1
    v_start = np.int64(text.n_spans)
    # The start acts as a word, the only one that ends at 0.
    s.alpha[0, :] = 0.0
    s.alpha[0, 0] = 1.0
    s.reach[0] = back_off(f, text, v_start, power)
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
                s.alpha[t, k - 1] = 0.0
                continue
            b = t - k
            weight = s.tempered[t, k - 1] * s.reach[b]
            has_customers = is_shared(text, start + b, k)
            w = span_word(text, start, t, k) if has_customers else np.int64(-1)
            if has_customers and has_contexts and f.cells[text.root_cell + w, CUSTOMERS] > 0:
                alone = s.alone[t, k - 1]
                for q in range(longest):
                    j = np.int64(s.shown[b, q])
                    if j < 0:
                        break
                    v = context_word(text, start, b, j)
                    extra = extra_weight(f, text, v, w, alone, power)
                    if extra > 0.0:
                        weight += s.alpha[b, j - 1] * extra
            s.alpha[t, k - 1] = weight
            total += weight
            if weight > 0.0:
                reach += weight * (back_off(f, text, w, power) if has_customers else 1.0)
                if has_customers and has_contexts and f.nodes[context_node(text, w), 0] > 0:
                    s.shown[t, n_shown] = k
                    n_shown += 1
            is_open = not must_end(text, start, b)
        if n_shown < longest:
            s.shown[t, n_shown] = -1
        s.reach[t] = reach
        s.scale_log[t] = log_scale
        if 0.0 < total < SMALL:
            # Everything that later words refer to gets the same scale, since only ratios matter.
            factor = 1.0 / total
            log_scale += math.log(total)
            for b in range(max(0, t - longest + 1), t + 1):
                s.reach[b] *= factor
                s.scale_log[b] = log_scale
                for k in range(longest):
                    s.alpha[b, k] *= factor


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


@njit_inlined_source
def log_total(f, text, prices, string, power, s):
    """Return the log of the summed weight of all segmentations of a string."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    total = 0.0
    for k in range(1, max(min(text.span_ids.shape[1], n), 1) + 1):  # for no letters, only the start
        if s.alpha[n, k - 1] > 0.0:
            end = end_probability(f, text, prices, context_word(text, start, n, k))
            total += s.alpha[n, k - 1] * raise_power(end, power)
    return math.log(total) + s.scale_log[n]


@njit_inlined_source
def draw_words(f, text, prices, string, power, s, rng):
    """Draw a segmentation to `s.new_words`, the last word first; return its length with the end."""
    start = text.ptr[string]
    t = n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    k = 0
    free = s.new_words.shape[0] - 1
    s.new_words[free] = text.n_spans
    while t > 0:
        # Weights of the words that end at t, given the following word.
        weights = s.beta[t]
        total = 0.0
        for j in range(1, longest + 1):
            weight = s.alpha[t, j - 1] if j <= t else 0.0
            if weight > 0.0:
                v = span_word(text, start, t, j)
                if t == n:
                    probability = end_probability(f, text, prices, v)
                elif not is_shared(text, start + t - j, j):
                    probability = s.alone[t + k, k - 1]
                else:
                    w = span_word(text, start, t + k, k)
                    probability = following_probability(f, text, v, w, s.alone[t + k, k - 1])
                weight *= raise_power(probability, power)
            weights[j - 1] = weight
            total += weight
        k = pick_place(weights, total, rng) + 1
        free -= 1
        s.new_words[free] = span_word(text, start, t, k)
        t -= k
    n_words = s.new_words.shape[0] - free
    for e in range(n_words):
        s.new_words[e] = s.new_words[free + e]
    return n_words


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
