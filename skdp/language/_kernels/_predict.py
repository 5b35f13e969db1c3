"""Predictions from a sample: probabilities of strings and words, and best segmentations.

Names are as in `_kernels/_filter`.

| name | shape | meaning |
|---|---|---|
| spans | (N, L) | posterior of the word that begins at a letter, by length - 1 |
| log_p | (n_strings,) | log probability of a string |
| best | (n + 1, L) | log probability of the best path to a word that ends at t |
| price | scalar | price of each word |
| cuts | (N,) | whether a word ends after a letter |
| pairs | | as in `_kernels/_sweeps` |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_loop
from skdp.language._kernels._filter import (
    back_off,
    extra_weight,
    filter_words,
    find_best_words,
    log_total,
    smooth_triples,
    span_word,
    weigh_end,
    weigh_words,
)
from skdp.language._kernels._words import context_node
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS


@njit_inlined_source
def _smooth_backward(f, text, prices, string, s, spans):
    """Write the posterior of all words of a string, after `filter_words`, from the end."""
    # That of unobserved pairs is collected in `beta[t, 0]` for the predecessors that end at t.
    start = text.ptr[string]
    n = text.ptr[string + 1] - start
    longest = text.span_ids.shape[1]
    has_contexts = text.word_order > 1
    for b in range(start, start + n):
        for k in range(longest):
            spans[b, k] = 0.0
    for t in range(n + 1):
        s.beta[t, 0] = 0.0
    total = 0.0
    for j in range(1, min(longest, n) + 1):
        weight = weigh_end(f, text, prices, start, n, j, 1.0, s, None)
        spans[start + n - j, j - 1] = weight
        total += weight
    for j in range(1, min(longest, n) + 1):
        spans[start + n - j, j - 1] /= total
    for t in range(n, 0, -1):
        for k in range(1, min(longest, t) + 1):
            b = t - k
            if t < n and s.alpha[t, k - 1] > 0.0:
                v = span_word(text, start, t, k)
                spans[start + b, k - 1] += (
                    s.beta[t, 0] * s.alpha[t, k - 1] * back_off(f, text, v, 1.0)
                )
            posterior = spans[start + b, k - 1]
            if posterior <= 0.0 or b == 0:
                continue
            w = span_word(text, start, t, k)
            alone = s.alone[t, k - 1]
            is_seen = has_contexts and f.cells[text.root_cell + w, CUSTOMERS] > 0
            weight = alone * s.reach[b]
            if is_seen:
                for q in range(longest):
                    j = np.int64(s.shown[b, q])
                    if j < 0:
                        break
                    node = context_node(text, span_word(text, start, b, j))
                    weight += s.alpha[b, j - 1] * extra_weight(f, text, node, 1, w, alone, 1.0)
            share = posterior / weight
            s.beta[b, 0] += share * alone
            if is_seen:
                for q in range(longest):
                    j = np.int64(s.shown[b, q])
                    if j < 0:
                        break
                    node = context_node(text, span_word(text, start, b, j))
                    extra = extra_weight(f, text, node, 1, w, alone, 1.0)
                    spans[start + b - j, j - 1] += share * s.alpha[b, j - 1] * extra


@njit_loop
def score_strings(f, text, prices, s, pairs, log_p):
    """Write the log probabilities of strings."""
    for string in range(text.ptr.shape[0] - 1):
        weigh_words(f, text, prices, string, 1.0, s)
        filter_words(f, text, string, 1.0, s, pairs)
        log_p[string] = log_total(f, text, prices, string, 1.0, s, pairs)


@njit_loop
def find_posteriors(f, text, prices, s, pairs, spans):
    """Write the posteriors of the words of strings."""
    for string in range(text.ptr.shape[0] - 1):
        if text.ptr[string + 1] == text.ptr[string]:
            continue
        weigh_words(f, text, prices, string, 1.0, s)
        filter_words(f, text, string, 1.0, s, pairs)
        if pairs is None:
            _smooth_backward(f, text, prices, string, s, spans)
        else:
            smooth_triples(f, text, prices, string, s, pairs, spans)


@njit_loop
def find_best_cuts(f, text, prices, s, pairs, cuts):
    """Write the most probable cuts of strings."""
    for string in range(text.ptr.shape[0] - 1):
        weigh_words(f, text, prices, string, 1.0, s)
        find_best_words(f, text, prices, string, s, pairs, cuts)


@njit_loop
def choose_cuts(ptr, spans, price, best, cuts):
    """Write the cuts whose words have the largest sum of posteriors minus prices."""
    longest = spans.shape[1]
    for string in range(ptr.shape[0] - 1):
        start = ptr[string]
        n = ptr[string + 1] - start
        best[0, 0] = 0.0
        for t in range(1, n + 1):
            best[t, 0] = -math.inf
            for k in range(1, min(longest, t) + 1):
                value = best[t - k, 0] + spans[start + t - k, k - 1] - price
                if value >= best[t, 0]:  # ties go to longer last words
                    best[t, 0], best[t, 1] = value, k
        for i in range(start, start + n):
            cuts[i] = False
        t = n
        while t > 0:
            cuts[start + t - 1] = True
            t -= int(best[t, 1])


@njit_loop
def sum_cuts(ptr, spans, out):
    """Write the posterior of a cut after each letter, a sum over the words that end there."""
    longest = spans.shape[1]
    for string in range(ptr.shape[0] - 1):
        for i in range(ptr[string], ptr[string + 1]):
            out[i] = 0.0
            for k in range(1, min(longest, i + 1 - ptr[string]) + 1):
                out[i] += spans[i + 1 - k, k - 1]
