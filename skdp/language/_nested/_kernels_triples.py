"""Forward filter for words that depend on the two preceding words, and draws from it.

As in `_kernels_filter`, but segmentations of a string merge only if they have two words in common.
A pair of words that was never seen is equivalent to its second word. So among all paths to a word
that ends at t, a single sum covers the unobserved pairs, and each observed pair has its own weight.

| name | symbol | shape | meaning |
|---|---|---|---|
| cells | | (n + 1, L, L) | observed pairs (v, w), w ending at t, by its length; -1: end of list |
| lengths | | (n + 1, L, L + 1) | lengths of their v; last: length of the best v of other pairs |
| weights | | (n + 1, L, L) | alpha of each |
| rest | | (n + 1, L) | sum of alpha over all other pairs |
| reach | R | (n + 1, L) | sum of alpha times the back-off factors of pairs |
| shares | | (n + 1, L, L) | posteriors of the pairs |
| rest_shares | | (n + 1, L) | posterior of all other pairs together |
| reach_shares | | (n + 1, L) | part of the posterior by back-off from all pairs |
| origins | | (n + 1, L, L + 1) | pair that ends in v on the best path, -1: an unobserved pair |
| p | p(w after v) | scalar | probability of a word after one word |
| before | | scalar | length of the preceding word, 1 for the start |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc
from skdp.language._nested._kernels_filter import (
    SMALL,
    back_off,
    context_word,
    end_probability,
    following_probability,
    may_end,
    must_end,
    pick_place,
    probability_after,
    raise_power,
    span_word,
)
from skdp.language._nested._kernels_words import context_node, two_word_node
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS, find_cell, split_share


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
def _extra_after(f, text, pair, w, p, power):
    """Return the weight of an observed word after a pair in excess of its back-off share."""
    node = two_word_node(text, pair)
    cell = find_cell(f, node, w)
    if cell < 0 or f.cells[cell, CUSTOMERS] == 0:
        return 0.0
    own, back = split_share(f, cell, node, np.int64(text.character_order) + 2)
    if power == 1.0:
        return own
    return (own + back * p) ** power - (back * p) ** power


@njit_inlined
def _back_off_after(f, text, pair, power):
    """Return the back-off factor of words that were never seen after a pair."""
    node = two_word_node(text, pair)
    _, back = split_share(f, np.int64(-1), node, np.int64(text.character_order) + 2)
    return raise_power(back, power)


@njit_internal_nogc
def _extra_of_pairs(f, text, b, before, w, p, power, pairs):
    """Return the weight of a word that begins at b in excess of the back-off of all pairs."""
    extra = 0.0
    for i in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[b, before - 1, i])
        if pair < 0:
            break
        extra += pairs.weights[b, before - 1, i] * _extra_after(f, text, pair, w, p, power)
    return extra


@njit_internal_nogc
def _weigh_pairs(f, text, start, t, k, power, s, pairs):
    """Write the weights of all paths to a word of k letters that ends at t; return their sum."""
    longest = text.span_ids.shape[1]
    b = t - k
    w = span_word(text, start, t, k)
    level = np.int64(text.character_order) + 1
    rest = s.tempered[t, k - 1] * s.reach[b]
    weight, reach = rest, 0.0
    n = 0
    if f.cells[text.root_cell + w, CUSTOMERS] > 0:
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
            reach += (shared + extra) * _back_off_after(f, text, pair, power)
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
def _scale_up(t, total, log_scale, s, pairs):
    """Rescale everything that words after t refer to, since only ratios matter."""
    longest = pairs.rest.shape[1]
    factor = 1.0 / total
    for b in range(max(0, t - longest + 1), t + 1):
        s.reach[b] *= factor
        s.scale_log[b] = log_scale
        for k in range(max(min(longest, b), 1)):
            pairs.rest[b, k] *= factor
            pairs.reach[b, k] *= factor
            for q in range(longest):
                if pairs.cells[b, k, q] < 0:
                    break
                pairs.weights[b, k, q] *= factor


@njit_internal_nogc
def filter_triples(f, text, string, power, s, pairs):
    """Write the weights of all paths to each word of a string, after `weigh_words`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    s.reach[0] = back_off(f, text, np.int64(text.n_spans), power)
    s.shown[0, 0] = 1
    if longest > 1:
        s.shown[0, 1] = -1
    s.scale_log[0] = 0.0
    # Nothing precedes the start, so it is not in a pair.
    pairs.cells[0, 0, 0] = -1
    pairs.rest[0, 0] = pairs.reach[0, 0] = 1.0
    log_scale = 0.0
    for t in range(1, n + 1):
        n_shown = 0
        reach = total = 0.0
        is_open = may_end(text, start, t, n)
        for k in range(1, min(longest, t) + 1):
            if not is_open:
                pairs.cells[t, k - 1, 0] = -1
                pairs.rest[t, k - 1] = pairs.reach[t, k - 1] = 0.0
                continue
            weight = _weigh_pairs(f, text, start, t, k, power, s, pairs)
            total += weight
            if weight > 0.0:
                w = span_word(text, start, t, k)
                reach += pairs.reach[t, k - 1] * back_off(f, text, w, power)
                if f.nodes[context_node(text, w), 0] > 0:
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
def _weigh_ends(f, text, prices, start, n, k, power, pairs):
    """Return the weight of all paths to a last word of k letters and the end after it."""
    w = context_word(text, start, n, k)
    p = end_probability(f, text, prices, w)
    total = pairs.rest[n, k - 1] * raise_power(p, power)
    for q in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[n, k - 1, q])
        if pair < 0:
            break
        after = probability_after(f, text, pair, np.int64(text.n_spans), p)
        total += pairs.weights[n, k - 1, q] * raise_power(after, power)
    return total


@njit_internal_nogc
def log_total_triples(f, text, prices, string, power, s, pairs):
    """Return the log of the summed weight of all segmentations of a string."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    total = 0.0
    for k in range(1, max(min(text.span_ids.shape[1], n), 1) + 1):  # for no letters, only the start
        total += _weigh_ends(f, text, prices, start, n, k, power, pairs)
    return math.log(total) + s.scale_log[n]


@njit_inlined_source
def draw_triples(f, text, prices, string, power, s, pairs, rng):
    """Draw a segmentation of a string, the last word first, like `draw_words`."""
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
                weights[j - 1] = _weigh_ends(f, text, prices, start, n, j, power, pairs)
            total += weights[j - 1]
        k = pick_place(weights, total, rng) + 1
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
        for j in range(1, longest + 1):
            weight = 0.0
            if j <= b and pairs.reach[b, j - 1] > 0.0:
                v = span_word(text, start, b, j)
                after = following_probability(f, text, v, w, s.alone[t, k - 1])
                weight = pairs.reach[b, j - 1] * raise_power(after, power)
                weight += _extra_of_pairs(f, text, b, j, w, after, power, pairs)
                pair = find_pair(f, text, v, w)
                q = p if pair < 0 else probability_after(f, text, pair, following, p)
                weight *= raise_power(q, power)
            weights[j - 1] = weight
            total += weight
        j = pick_place(weights, total, rng) + 1
        p = following_probability(f, text, span_word(text, start, b, j), w, s.alone[t, k - 1])
        following = w
        t, k = b, j
    n_words = s.new_words.shape[0] - free
    for e in range(n_words):
        s.new_words[e] = s.new_words[free + e]
    return n_words


# Predictions from a sample


@njit_internal_nogc
def _share_out(f, text, b, before, w, p, share, pairs):
    """Distribute a posterior over the paths to a word that ends at b, by parts of a sum."""
    pairs.reach_shares[b, before - 1] += share * pairs.reach[b, before - 1] * p
    for i in range(pairs.cells.shape[2]):
        pair = np.int64(pairs.cells[b, before - 1, i])
        if pair < 0:
            break
        extra = _extra_after(f, text, pair, w, p, 1.0)
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
        weight = pairs.weights[t, k - 1, q] * _back_off_after(f, text, pair, 1.0)
        pairs.shares[t, k - 1, q] += share * weight
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
    """Write the posterior of all words of a string, from the end, after `filter_triples`."""
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
        total += _weigh_ends(f, text, prices, start, n, k, 1.0, pairs)
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
def _best_before(f, text, b, before, w, p, pairs):
    """Return the log probability of the best path to w through a given word, and its pair."""
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
def find_best_triples(f, text, prices, string, s, pairs, cuts):
    """Write the most probable cuts of a string, after `weigh_words`.

    `weights` has the best log probability up to each observed pair, `rest` that of any other pair.
    """
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    pairs.rest[0, 0] = 0.0
    pairs.cells[0, 0, 0] = -1
    last, last_k, last_q = -math.inf, 0, -1
    for t in range(1, n + 1):
        for k in range(1, min(longest, t) + 1):
            b = t - k
            w = span_word(text, start, t, k)
            n_seen = 0
            pairs.rest[t, k - 1] = -math.inf
            for before in range(1, max(min(longest, b), 1) + 1):
                v = context_word(text, start, b, before)
                p = following_probability(f, text, v, w, s.alone[t, k - 1])
                value, origin = _best_before(f, text, b, before, w, p, pairs)
                pair = find_pair(f, text, v, w)
                q = longest
                if pair >= 0:
                    q = n_seen
                    pairs.cells[t, k - 1, q] = pair
                    pairs.weights[t, k - 1, q] = value
                    n_seen += 1
                elif value <= pairs.rest[t, k - 1]:
                    continue
                else:
                    pairs.rest[t, k - 1] = value
                pairs.lengths[t, k - 1, q] = before
                pairs.origins[t, k - 1, q] = origin
            if n_seen < longest:
                pairs.cells[t, k - 1, n_seen] = -1
            if t == n:
                p = end_probability(f, text, prices, w)
                value, q = _best_before(f, text, n, k, np.int64(text.n_spans), p, pairs)
                if value > last:
                    last, last_k, last_q = value, k, q
    for i in range(start, start + n):
        cuts[i] = False
    t, k, q = n, last_k, last_q
    while t > 0:
        cuts[start + t - 1] = True
        place = q if q >= 0 else longest
        q = np.int64(pairs.origins[t, k - 1, place])
        t, k = t - k, np.int64(pairs.lengths[t, k - 1, place])
