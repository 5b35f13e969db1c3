"""Segmentations of strings into collocations of words: forward filter, predictions, sweeps.

The filter holds seats fixed. The words of a collocation without tables come from a filter over
words alone, one for each first letter. Sums over words are divided by the sums of a path from the
start of the string, so that they stay near 1; the outer sums are logarithms.

| name | symbol | shape | meaning |
|---|---|---|---|
| s | | | probabilities of words: `weigh_words` of `_kernels/_filter` |
| r | | | `CollocationWorkspace` |
| path | log U | (n + 1,) | log of the sum over segmentations of the first t letters into words |
| steps | p U / U | (n + 1, K) | share of U of the word that ends at t, by length - 1 |
| inner | A | (n, L) | sum over segmentations of a span into words, by length - 1, times U / U |
| log_spans | | (n, L) | log probability of the collocations of a span, by length - 1 |
| forward | log F | (n + 1,) | log of the sum over all segmentations of the first t letters |
| backward | | (n + 1,) | log of the sum over all continuations after the first t letters |
| weights | | (L,) | scratch |
| lengths, masks | | (n,) | collocations of a string |
| power | 1 / T | scalar | |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, next_open_double
from skdp.language._kernels._collocation_seats import (
    add_collocations,
    close_empty_cells,
    draw_inner_cuts,
    end_path,
    find_collocation,
    first_cell,
    inner_before,
    is_cut,
    known_inside,
    list_collocations,
    log_links,
    log_share,
    probability_of_end,
    remove_collocations,
    share_of,
)
from skdp.language._kernels._filter import (
    may_end,
    move_to_front,
    must_end,
    pick_place,
    weigh_words,
)
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS, N_CHANGES, undo_changes


class CollocationWorkspace(NamedTuple):
    """Buffers for the longest string, as listed in the table above."""

    path: NDArray[np.float64]
    steps: NDArray[np.float64]
    inner: NDArray[np.float64]
    log_spans: NDArray[np.float64]
    forward: NDArray[np.float64]
    backward: NDArray[np.float64]
    weights: NDArray[np.float64]
    lengths: NDArray[np.int64]
    masks: NDArray[np.int64]
    new_lengths: NDArray[np.int64]
    new_masks: NDArray[np.int64]


def empty_room(longest: int, max_word: int, max_collocation: int) -> CollocationWorkspace:
    """Return buffers for strings of at most `longest` letters."""
    n = longest + 1
    return CollocationWorkspace(
        np.zeros(n),
        np.zeros((n, max_word)),
        np.zeros((n, max_collocation)),
        np.zeros((n, max_collocation)),
        np.zeros(n),
        np.zeros(n),
        np.zeros(max(max_word, max_collocation) + 1),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )


@njit_internal_nogc
def follow_path(text, c, string, power, s, r):
    """Write `path` and `steps`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = r.steps.shape[1]
    link = power * math.log(c.shares[2])
    r.path[0] = 0.0
    for t in range(1, n + 1):
        top = -math.inf
        is_open = may_end(text, start, t, n)
        for k in range(1, longest + 1):
            log_weight = -math.inf
            if k <= t and is_open:
                p = s.tempered[t, k - 1]
                if p > 0.0:
                    log_weight = math.log(p) + r.path[t - k] + link
                is_open = not must_end(text, start, t - k)
            r.weights[k - 1] = log_weight
            top = max(top, log_weight)
        total = end_path(r, t, top)
        if total > 0.0:
            for k in range(longest):
                r.steps[t, k] /= total


@njit_internal_nogc
def log_known(s, c, b, m, mask):
    """Return the log base probability of a collocation from the word probabilities in `s`."""
    total, n_words, begin = 0.0, 0, 0
    for i in range(m):
        if i == m - 1 or is_cut(mask, i):
            total += math.log(s.alone[b + i + 1, i - begin])
            n_words += 1
            begin = i + 1
    return total + log_links(c, n_words)


@njit_inlined
def log_fresh(c, r, b, m, back, power):
    """Return the log of the summed weights of all new tables of a span."""
    total = r.inner[b, m - 1]
    if total <= 0.0:
        return -math.inf
    # Every word has a link factor in `steps`, but one word of a collocation has none.
    outer = power * (math.log(back) + math.log(c.shares[1]) - math.log(c.shares[2]))
    return outer + math.log(total) + r.path[b + m] - r.path[b]


@njit_internal_nogc
def log_extra(f, text, c, s, cell, b, m, back, power):
    """Return the log of the additional weight of a collocation that has tables."""
    own, _ = share_of(f, text, cell)
    if own <= 0.0:
        return -math.inf
    if power == 1.0:
        return math.log(own)
    log_base = math.log(back) + log_known(s, c, b, m, c.masks[cell - first_cell(text)])
    return math.log((own + math.exp(log_base)) ** power - math.exp(power * log_base))


@njit_inlined
def fits(mask, must, may):
    """Return whether inner cuts include all known cuts and are among the allowed cuts."""
    return mask & must == must and mask & ~may == 0


@njit_inlined
def add_logs(a, b):
    """Return log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


@njit_inlined
def _log_sum(weights, n, top):
    """Return the log of the sum of n numbers, given their logs and the largest of these."""
    total = 0.0
    if top > -math.inf:
        for m in range(n):
            total += math.exp(weights[m] - top)
    return top + math.log(total) if total > 0.0 else -math.inf


@njit_internal_nogc
def _weigh_spans(f, text, c, string, power, s, r):
    """Write `inner` and `log_spans`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest_word, longest = r.steps.shape[1], r.inner.shape[1]
    _, back = share_of(f, text, np.int64(-1))
    for b in range(n):
        may_begin = r.path[b] > -math.inf
        must, may = np.int64(0), np.int64(0)
        for m in range(1, min(longest, n - b) + 1):
            e = b + m
            total = 0.0
            if may_begin and may_end(text, start, e, n):
                for k in range(1, min(longest_word, m) + 1):
                    total += inner_before(r, b, m - k) * r.steps[e, k - 1]
            r.inner[b, m - 1] = total
            log_weight = -math.inf
            if total > 0.0:
                log_weight = log_fresh(c, r, b, m, back, power)
            if may_begin and may_end(text, start, e, n):
                cell = np.int64(c.heads[c.spans[start + b, m - 1]])
                while cell >= 0:
                    i = cell - first_cell(text)
                    if f.cells[cell, CUSTOMERS] > 0 and fits(c.masks[i], must, may):
                        extra = log_extra(f, text, c, s, cell, b, m, back, power)
                        log_weight = add_logs(log_weight, extra)
                    cell = np.int64(c.following[i])
            r.log_spans[b, m - 1] = log_weight
            if e < n:  # from here on, letter m - 1 has a bit
                bit = np.int64(1) << np.int64(m - 1)
                known = text.known[start + e - 1]
                if known != 0:
                    may |= bit
                if known == 1:
                    must |= bit


@njit_inlined_source
def filter_collocations(f, text, c, string, power, s, r):
    """Write all buffers in `r` for a string, after `weigh_words`."""
    follow_path(text, c, string, power, s, r)
    _weigh_spans(f, text, c, string, power, s, r)
    n = text.ptr[string + 1] - text.ptr[string]
    longest = r.inner.shape[1]
    r.forward[0] = 0.0
    for t in range(1, n + 1):
        top = -math.inf
        for m in range(1, min(longest, t) + 1):
            r.weights[m - 1] = r.forward[t - m] + r.log_spans[t - m, m - 1]
            top = max(top, r.weights[m - 1])
        r.forward[t] = _log_sum(r.weights, min(longest, t), top)


@njit_inlined_source
def log_string(f, text, c, string, power, r):
    """Return the log of the summed weight of all segmentations of a string."""
    n = text.ptr[string + 1] - text.ptr[string]
    return r.forward[n] + power * math.log(probability_of_end(f, text, c))


@njit_internal_nogc
def _draw_collocation(f, text, c, string, b, m, power, s, r, rng):
    """Draw the words of a span that is a collocation and return its inner cuts."""
    start = text.ptr[string]
    must, may = known_inside(text, start + b, m)
    _, back = share_of(f, text, np.int64(-1))
    total = r.log_spans[b, m - 1]
    left = next_double(rng)
    cell = np.int64(c.heads[c.spans[start + b, m - 1]])
    last = np.int64(-1)
    while cell >= 0:
        i = cell - first_cell(text)
        if f.cells[cell, CUSTOMERS] > 0 and fits(c.masks[i], must, may):
            extra = log_extra(f, text, c, s, cell, b, m, back, power)
            if extra > -math.inf:
                last = cell
                left -= math.exp(extra - total)
                if left < 0.0:
                    break
        cell = np.int64(c.following[i])
    if left < 0.0 or r.inner[b, m - 1] <= 0.0:
        return c.masks[last - first_cell(text)]
    return draw_inner_cuts(r, b, m, rng)


@njit_inlined_source
def draw_collocations(f, text, c, string, power, s, r, rng):
    """Draw a segmentation to `r.new_lengths` and `r.new_masks`; return how many collocations."""
    t = text.ptr[string + 1] - text.ptr[string]
    free = r.new_lengths.shape[0]
    while t > 0:
        most = min(r.inner.shape[1], t)
        total = 0.0
        for m in range(1, most + 1):
            weight = r.forward[t - m] + r.log_spans[t - m, m - 1] - r.forward[t]
            r.weights[m - 1] = math.exp(weight)
            total += r.weights[m - 1]
        m = pick_place(r.weights[:most], total, rng) + 1
        t -= m
        free -= 1
        r.new_lengths[free] = m
        r.new_masks[free] = _draw_collocation(f, text, c, string, t, m, power, s, r, rng)
    move_to_front(r.new_masks, free)
    return move_to_front(r.new_lengths, free)


@njit_internal_nogc
def log_way(f, text, c, string, n, lengths, masks, s):
    """Return the log probability of collocations given the seats used in weighing the words."""
    start = text.ptr[string]
    total, b = math.log(probability_of_end(f, text, c)), np.int64(0)
    for i in range(n):
        m = lengths[i]
        span = np.int64(c.spans[start + b, m - 1])
        own, back = share_of(f, text, find_collocation(text, c, span, masks[i]))
        total += log_share(own, back, log_known(s, c, b, m, masks[i]))
        b += m
    return total


# Predictions from a sample: probabilities of strings and words, and best segmentations.
#
# Names are as above.
#
# | name | shape | meaning |
# |---|---|---|
# | spans | (N, K) | posterior of the word that begins at a letter, by length - 1 |
# | adjoint | (L + 1,) | posterior within new collocations over the sum up to there |
# | log_p | (n_strings,) | log probability of a string |
# | cuts | (N,) | whether a word ends after a letter |


@njit_loop
def score_collocations(f, text, prices, c, s, r, log_p):
    """Write the log probabilities of strings."""
    for string in range(text.ptr.shape[0] - 1):
        weigh_words(f, text, prices, string, 1.0, s)
        filter_collocations(f, text, c, string, 1.0, s, r)
        log_p[string] = log_string(f, text, c, string, 1.0, r)


@njit_internal_nogc
def _look_back(f, text, c, string, r):
    """Write `backward`, after `filter_collocations`."""
    n = text.ptr[string + 1] - text.ptr[string]
    longest = r.inner.shape[1]
    r.backward[n] = math.log(probability_of_end(f, text, c))
    for t in range(n - 1, -1, -1):
        most = min(longest, n - t)
        top = -math.inf
        for m in range(1, most + 1):
            r.weights[m - 1] = r.log_spans[t, m - 1] + r.backward[t + m]
            top = max(top, r.weights[m - 1])
        r.backward[t] = _log_sum(r.weights, most, top)


@njit_inlined_source
def _add_posteriors(f, text, c, string, s, r, spans):
    """Add the posteriors of a string's words, after `_look_back`."""
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest_word, longest = r.steps.shape[1], r.inner.shape[1]
    adjoint = r.weights
    _, back = share_of(f, text, np.int64(-1))
    for b in range(n):
        if r.forward[b] == -math.inf:
            continue
        most = min(longest, n - b)
        adjoint[: most + 1] = 0.0
        for m in range(1, most + 1):
            log_others = r.forward[b] + r.backward[b + m] - r.backward[0]
            if log_others == -math.inf or r.log_spans[b, m - 1] == -math.inf:
                continue
            if r.inner[b, m - 1] > 0.0:
                fresh = math.exp(log_fresh(c, r, b, m, back, 1.0) + log_others)
                adjoint[m] = fresh / r.inner[b, m - 1]
            cell = np.int64(c.heads[c.spans[start + b, m - 1]])
            while cell >= 0:
                i = cell - first_cell(text)
                if f.cells[cell, CUSTOMERS] > 0:
                    share = math.exp(log_extra(f, text, c, s, cell, b, m, back, 1.0) + log_others)
                    begin = 0
                    for j in range(m):
                        if j == m - 1 or is_cut(c.masks[i], j):
                            spans[start + b + begin, j - begin] += share
                            begin = j + 1
                cell = np.int64(c.following[i])
        for m in range(most, 0, -1):
            if adjoint[m] == 0.0:
                continue
            for k in range(1, min(longest_word, m) + 1):
                share = adjoint[m] * r.steps[b + m, k - 1]
                spans[start + b + m - k, k - 1] += inner_before(r, b, m - k) * share
                adjoint[m - k] += share


@njit_loop
def find_posteriors_of_words(f, text, prices, c, s, r, spans):
    """Write the posteriors of the words of strings to `spans`, which must be zero."""
    for string in range(text.ptr.shape[0] - 1):
        weigh_words(f, text, prices, string, 1.0, s)
        filter_collocations(f, text, c, string, 1.0, s, r)
        _look_back(f, text, c, string, r)
        _add_posteriors(f, text, c, string, s, r, spans)


@njit_internal_nogc
def _find_best_of_span(f, text, c, start, b, m, back, s, r):
    """Return the log probability of the best collocation of a span, and its cell or -1 if new."""
    best, best_cell = -math.inf, np.int64(-1)
    if r.inner[b, m - 1] > 0.0:
        best = log_fresh(c, r, b, m, back, 1.0)
    cell = np.int64(c.heads[c.spans[start + b, m - 1]])
    while cell >= 0:
        i = cell - first_cell(text)
        own, _ = share_of(f, text, cell)
        if own > 0.0:
            value = log_share(own, back, log_known(s, c, b, m, c.masks[i]))
            if value > best:
                best, best_cell = value, cell
        cell = np.int64(c.following[i])
    return best, best_cell


@njit_inlined_source
def _find_best(f, text, c, string, s, r, cuts):
    """Write the most probable words of a string, after `weigh_words`."""
    # `inner` then has the best segmentation of a span into words instead of the sum, `log_spans`
    # its log probability, and `forward` that of the best segmentation up to a letter.
    follow_path(text, c, string, 1.0, s, r)
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest_word, longest = r.steps.shape[1], r.inner.shape[1]
    _, back = share_of(f, text, np.int64(-1))
    for b in range(n):
        for m in range(1, min(longest, n - b) + 1):
            top = 0.0
            for k in range(1, min(longest_word, m) + 1):
                top = max(top, inner_before(r, b, m - k) * r.steps[b + m, k - 1])
            r.inner[b, m - 1] = top
            r.log_spans[b, m - 1], _ = _find_best_of_span(f, text, c, start, b, m, back, s, r)
    r.forward[0] = 0.0
    for t in range(1, n + 1):
        r.forward[t] = -math.inf
        for m in range(1, min(longest, t) + 1):
            value = r.forward[t - m] + r.log_spans[t - m, m - 1]
            if value > r.forward[t]:
                r.forward[t] = value
                r.lengths[t] = m
    for i in range(start, start + n):
        cuts[i] = False
    t = n
    while t > 0:
        m = r.lengths[t]
        b = t - m
        _, cell = _find_best_of_span(f, text, c, start, b, m, back, s, r)
        if cell >= 0:
            for i in range(m - 1):
                cuts[start + b + i] = is_cut(c.masks[cell - first_cell(text)], i)
            cuts[start + t - 1] = True
        else:
            e = m
            while e > 0:
                cuts[start + b + e - 1] = True
                best, best_k = -1.0, 1
                for k in range(1, min(longest_word, e) + 1):
                    value = inner_before(r, b, e - k) * r.steps[b + e, k - 1]
                    if value > best:
                        best, best_k = value, k
                e -= best_k
        t = b


@njit_loop
def find_best_words(f, text, prices, c, s, r, cuts):
    """Write the most probable words of strings."""
    for string in range(text.ptr.shape[0] - 1):
        weigh_words(f, text, prices, string, 1.0, s)
        _find_best(f, text, c, string, s, r, cuts)


# Sweeps over strings, each a block whose collocations, words and seats are redrawn.
#
# As in `_kernels/_sweeps`; there is also a cut after the last letter of a collocation.
#
# | name | shape | meaning |
# |---|---|---|
# | cuts, ends | (N,) | whether a word, and whether a collocation, ends after a letter |
# | order | (n_strings,) | strings in the order of the sweep |
# | seated | scalar | whether the strings have seats already |


@njit_internal_nogc
def write_ends(text, string, n, lengths, masks, cuts, ends):
    """Write the ends of the words and collocations of a string."""
    at = text.ptr[string]
    for i in range(n):
        for j in range(lengths[i]):
            is_last = j == lengths[i] - 1
            cuts[at + j] = is_last or is_cut(masks[i], j)
            ends[at + j] = is_last
        at += lengths[i]


@njit_inlined_source
def move_string(f, text, prices, c, string, cuts, ends, power, seated, s, r, rng):
    """Redraw the segmentation of a string; return whether the new seats were accepted."""
    is_exact = seated and power == 1.0
    old = new = 0.0
    n = 0
    if seated:
        n = list_collocations(text, string, cuts, ends, r.lengths, r.masks)
        old = remove_collocations(f, text, prices, c, string, n, r.lengths, r.masks, rng)
    weigh_words(f, text, prices, string, power, s)
    filter_collocations(f, text, c, string, power, s, r)
    n_new = draw_collocations(f, text, c, string, power, s, r, rng)
    if is_exact:
        old -= log_way(f, text, c, string, n, r.lengths, r.masks, s)
        new -= log_way(f, text, c, string, n_new, r.new_lengths, r.new_masks, s)
    new += add_collocations(f, text, prices, c, string, n_new, r.new_lengths, r.new_masks, rng)
    accepted = not is_exact or math.log(next_open_double(rng)) < new - old
    n_changes = f.counters[N_CHANGES]
    if accepted:
        f.counters[N_CHANGES] = 0
        write_ends(text, string, n_new, r.new_lengths, r.new_masks, cuts, ends)
    else:
        undo_changes(f, 0)
    close_empty_cells(f, text, c, n_changes)
    return accepted


@njit_loop
def sweep_collocations(f, text, prices, c, order, cuts, ends, power, seated, s, r, rng):
    """Redraw the segmentations of strings in turn; return the number of accepted proposals."""
    n_accepted = 0
    for i in range(order.shape[0]):
        n_accepted += move_string(
            f, text, prices, c, order[i], cuts, ends, power, seated, s, r, rng
        )
    return n_accepted


@njit_loop
def seat_collocations(f, text, prices, c, order, cuts, ends, r, rng):
    """Seat segmented strings in turn."""
    for i in range(order.shape[0]):
        n = list_collocations(text, order[i], cuts, ends, r.lengths, r.masks)
        add_collocations(f, text, prices, c, order[i], n, r.lengths, r.masks, rng)
        n_changes = f.counters[N_CHANGES]
        f.counters[N_CHANGES] = 0
        close_empty_cells(f, text, c, n_changes)
