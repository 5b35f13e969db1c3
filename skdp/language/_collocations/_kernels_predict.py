"""Predictions from a sample: probabilities of strings and words, and best segmentations.

Names are as in `_kernels_filter`.

| name | shape | meaning |
|---|---|---|
| spans | (N, K) | posterior of the word that begins at a letter, by length - 1 |
| backward | (n + 1,) | log of the sum over all continuations after the first t letters |
| adjoint | (L + 1,) | posterior within new collocations over the sum up to there |
| log_p | (n_strings,) | log probability of a string |
| cuts | (N,) | whether a word ends after a letter |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp.language._collocations._kernels_filter import (
    filter_collocations,
    follow_path,
    inner_before,
    log_extra,
    log_fresh,
    log_known,
    log_string,
)
from skdp.language._collocations._kernels_seats import (
    first_cell,
    is_cut,
    log_share,
    probability_of_end,
    share_of,
)
from skdp.language._nested._kernels_filter import weigh_words
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS


@njit_loop
def score_collocations(f, text, prices, c, first, end, s, r, log_p):
    """Write the log probabilities of strings."""
    for string in range(first, end):
        weigh_words(f, text, prices, string, 1.0, s)
        filter_collocations(f, text, c, string, 1.0, s, r)
        log_p[string] = log_string(f, text, c, string, 1.0, r)


@njit_internal_nogc
def _look_back(f, text, c, string, r, backward):
    """Write `backward`, after `filter_collocations`."""
    n = text.ptr[string + 1] - text.ptr[string]
    longest = r.inner.shape[1]
    backward[n] = math.log(probability_of_end(f, text, c))
    for t in range(n - 1, -1, -1):
        most = min(longest, n - t)
        top = -math.inf
        for m in range(1, most + 1):
            r.weights[m - 1] = r.log_spans[t, m - 1] + backward[t + m]
            top = max(top, r.weights[m - 1])
        total = 0.0
        if top > -math.inf:
            for m in range(most):
                total += math.exp(r.weights[m] - top)
        backward[t] = top + math.log(total) if total > 0.0 else -math.inf


@njit_inlined_source
def _add_posteriors(f, text, c, string, s, r, backward, spans):
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
            log_others = r.forward[b] + backward[b + m] - backward[0]
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
def find_posteriors_of_words(f, text, prices, c, first, end, s, r, backward, spans):
    """Write the posteriors of the words of strings to `spans`, which must be zero."""
    for string in range(first, end):
        weigh_words(f, text, prices, string, 1.0, s)
        filter_collocations(f, text, c, string, 1.0, s, r)
        _look_back(f, text, c, string, r, backward)
        _add_posteriors(f, text, c, string, s, r, backward, spans)


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
    """Write the most probable words of a string, after `weigh_words`.

    `inner` then has the best segmentation of a span into words instead of the sum, `log_spans` its
    log probability, and `forward` that of the best segmentation up to a letter.
    """
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
def find_best_words(f, text, prices, c, first, end, s, r, cuts):
    """Write the most probable words of strings."""
    for string in range(first, end):
        weigh_words(f, text, prices, string, 1.0, s)
        _find_best(f, text, c, string, s, r, cuts)
