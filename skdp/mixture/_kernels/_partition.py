"""Kernels that minimize the mean loss of a partition against sampled ones.

The loss defines g: see `_rows/_partition`.

| name | symbol | shape | meaning |
|---|---|---|---|
| samples | | (S, N) int32 | sampled partitions, labels from 0 |
| labels | | (N,) int64 | a partition, labels below C |
| begin, end | | int | the rows to move |
| has_label | | (C,) bool | whether a cluster has rows of a known label |
| is_vi | | bool | whether g(x) is x log x, not x^2 / 2 |
| sizes | n_k | (C,) int64 | scratch |
| tables | n_lk | (S, M, C) int64 | scratch |
| changes | | (C,) float64 | scratch |
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_internal_nogc, njit_loop


@njit_internal_nogc
def growth(x, is_vi):
    """Return g(x)."""
    if is_vi:
        return x * math.log(x) if x > 0 else 0.0
    return 0.5 * x * x


@njit_internal_nogc
def step(x, is_vi):
    """Return g(x + 1) - g(x)."""
    if is_vi:
        return growth(x + 1, is_vi) - growth(x, is_vi)
    return x + 0.5


@njit_loop
def tabulate(labels, samples, sizes, tables):
    """Write cluster sizes and the numbers of rows shared with the clusters of each sample."""
    for k in range(sizes.shape[0]):
        sizes[k] = 0
        for s in range(tables.shape[0]):
            for m in range(tables.shape[1]):
                tables[s, m, k] = 0
    for i in range(labels.shape[0]):
        sizes[labels[i]] += 1
        for s in range(samples.shape[0]):
            tables[s, samples[s, i], labels[i]] += 1


@njit_loop
def improve(begin, end, labels, samples, is_vi, sizes, tables, changes):
    """Move some rows of a tabulated partition to the cluster of least loss; return their number."""
    n_samples, n_moved = samples.shape[0], 0
    apart = n_samples * step(np.int64(0), is_vi)
    for i in range(begin, end):
        own = labels[i]
        sizes[own] -= 1
        for k in range(sizes.shape[0]):
            changes[k] = 0.0
        for s in range(n_samples):
            shared = tables[s, samples[s, i]]
            shared[own] -= 1
            for k in range(sizes.shape[0]):
                changes[k] += step(shared[k], is_vi)
        best, least, stay = own, math.inf, math.inf
        for k in range(sizes.shape[0]):
            # An index k of size 0 is a new cluster. Without room for one, the loss may be least in
            # a cluster with which the row shares no sampled cluster: the row never joins it.
            change = step(sizes[k], is_vi) - 2.0 * changes[k] / n_samples
            if k == own:
                stay = change
            if change < least and (k == own or sizes[k] == 0 or changes[k] > apart):
                best, least = k, change
        if not least < stay - 1e-9 * max(1.0, abs(stay)):  # otherwise rounding can cycle
            best = own
        n_moved += best != own
        labels[i] = best
        sizes[best] += 1
        for s in range(n_samples):
            tables[s, samples[s, i], best] += 1
    return n_moved


@njit_loop
def merge(k, labels, has_label, is_vi, sizes, tables, changes):
    """Merge cluster k with the one that minimizes the loss; return False if none is better."""
    n_samples, n = tables.shape[0], sizes.shape[0]
    for other in range(n):
        changes[other] = 0.0
    for s in range(n_samples):
        for m in range(tables.shape[1]):
            shared = tables[s, m]
            if shared[k] > 0:
                alone = growth(shared[k], is_vi)
                for other in range(n):
                    if shared[other] > 0:
                        both = growth(shared[k] + shared[other], is_vi)
                        changes[other] += both - alone - growth(shared[other], is_vi)
    best, least = k, 0.0
    for other in range(n):
        if other != k and sizes[other] > 0 and not (has_label[k] and has_label[other]):
            both = growth(sizes[k] + sizes[other], is_vi)
            change = both - growth(sizes[k], is_vi) - growth(sizes[other], is_vi)
            change -= 2.0 * changes[other] / n_samples
            if change < least - 1e-9 * both:
                best, least = other, change
    if best == k:
        return False
    for i in range(labels.shape[0]):
        if labels[i] == k:
            labels[i] = best
    sizes[best] += sizes[k]
    sizes[k] = 0
    for s in range(n_samples):
        for m in range(tables.shape[1]):
            tables[s, m, best] += tables[s, m, k]
            tables[s, m, k] = 0
    return True
