"""Forward filter over all segmentations into collocations of words, and draws from it.

Seats are held fixed. The words of a collocation without tables come from a filter over words alone,
one for each first letter. Sums over words are divided by the sums of a path from the start of the
string, so that they stay near 1; the outer sums are logarithms.

| name | symbol | shape | meaning |
|---|---|---|---|
| s | | | probabilities of words: `weigh_words` of `_nested._kernels_filter` |
| r | | | `CollocationWorkspace` |
| path | log U | (n + 1,) | log of the sum over segmentations of the first t letters into words |
| steps | p U / U | (n + 1, K) | share of U of the word that ends at t, by length - 1 |
| inner | A | (n, L) | sum over segmentations of a span into words, by length - 1, times U / U |
| log_spans | | (n, L) | log probability of the collocations of a span, by length - 1 |
| forward | log F | (n + 1,) | log of the sum over all segmentations of the first t letters |
| weights | | (L,) | scratch |
| lengths, masks | | (n,) | collocations of a string |
| power | 1 / T | scalar | |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_inlined, njit_inlined_source, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.language._collocations._kernels_seats import (
    find_collocation,
    first_cell,
    is_cut,
    log_links,
    log_share,
    probability_of_end,
    share_of,
)
from skdp.language._nested._kernels_filter import may_end, must_end, pick_place
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS


class CollocationWorkspace(NamedTuple):
    """Buffers for the longest string, as listed in the table above."""

    path: NDArray[np.float64]
    steps: NDArray[np.float64]
    inner: NDArray[np.float64]
    log_spans: NDArray[np.float64]
    forward: NDArray[np.float64]
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
        total = 0.0
        for k in range(longest):
            weight = math.exp(r.weights[k] - top) if top > -math.inf else 0.0
            r.steps[t, k] = weight
            total += weight
        if total > 0.0:
            for k in range(longest):
                r.steps[t, k] /= total
            r.path[t] = top + math.log(total)
        else:
            r.path[t] = -math.inf


@njit_inlined
def inner_before(r, b, length):
    """Return the sum over segmentations of a span that begins at b; 1 if it has no letters."""
    return r.inner[b, length - 1] if length > 0 else 1.0


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
        total = 0.0
        if top > -math.inf:
            for m in range(min(longest, t)):
                total += math.exp(r.weights[m] - top)
        r.forward[t] = top + math.log(total) if total > 0.0 else -math.inf


@njit_inlined_source
def log_string(f, text, c, string, power, r):
    """Return the log of the summed weight of all segmentations of a string."""
    n = text.ptr[string + 1] - text.ptr[string]
    return r.forward[n] + power * math.log(probability_of_end(f, text, c))


@njit_internal_nogc
def _draw_inner_cuts(r, b, m, rng):
    """Draw the words of a new table of a span and return its inner cuts."""
    mask, e = np.int64(0), m
    while True:
        most = min(r.steps.shape[1], e)
        total = 0.0
        for k in range(1, most + 1):
            r.weights[k - 1] = inner_before(r, b, e - k) * r.steps[b + e, k - 1]
            total += r.weights[k - 1]
        e -= pick_place(r.weights[:most], total, rng) + 1
        if e == 0:
            return mask
        mask |= np.int64(1) << np.int64(e - 1)


@njit_internal_nogc
def _known_inside(text, start, b, m):
    """Return the required and the allowed inner cuts of a span."""
    must, may = np.int64(0), np.int64(0)
    for i in range(m - 1):
        known = text.known[start + b + i]
        if known != 0:
            may |= np.int64(1) << np.int64(i)
        if known == 1:
            must |= np.int64(1) << np.int64(i)
    return must, may


@njit_internal_nogc
def _draw_collocation(f, text, c, string, b, m, power, s, r, rng):
    """Draw the words of a span that is a collocation and return its inner cuts."""
    start = text.ptr[string]
    must, may = _known_inside(text, start, b, m)
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
    return _draw_inner_cuts(r, b, m, rng)


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
    n = r.new_lengths.shape[0] - free
    for i in range(n):
        r.new_lengths[i] = r.new_lengths[free + i]
        r.new_masks[i] = r.new_masks[free + i]
    return n


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
