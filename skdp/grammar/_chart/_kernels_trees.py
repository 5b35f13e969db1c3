"""The most probable tree of a sentence, and trees drawn given the sentence.

| name | symbol | shape | meaning |
|---|---|---|---|
| words | x | (n,) int32 | a sentence |
| firsts, lasts | | (n,) int32, or (0,) | limits of spans, see `SpanLimits` |
| log_root, log_emission, log_binary | | (S,), (P, V), (C, S, S) | logs of the rules' weights |
| best | | (n n, S) | log weight of the best subtree; row s n + e - 1: words s, ..., e - 1 |
| best_right | | (n n, S) | the same, in row (e - 1) n + s: right children are contiguous |
| splits | M_ij | (S, S) | best, or sum, over the split points of a span |
| symbols | | (2n - 1,) int32 | symbols of the nodes of a tree in pre-order |
| lengths | | (2n - 1,) int32 | words below each of these nodes |
| stack | | (2n - 1, 3) int64 | waiting nodes: first word, word after the last, symbol |
| inside, exponents | | (n n, S) | filled chart, as in `_kernels_extended_range` |
| weights, weight_exponents | | (max(S S, n),) | scratch |
| rng | | (4,) uint64 | stream, advanced in place |

The left child of a node is the next node in pre-order; its right child follows the subtree of the
left child.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline, njit_loop
from skdp._numeric._random import next_double
from skdp.grammar._chart._kernels_extended_range import bounds, power_of_two, sum_splits
from skdp.grammar._chart._kernels_spans import STRIP, is_closed

# The most probable tree


@njit_loop
def find_splits(best, best_right, n, s, e, n_emitting, first_branching, splits):
    """Write the best split's weight for every pair of child symbols."""
    n_symbols = splits.shape[0]
    for i in range(n_symbols):
        for j in range(n_symbols):
            splits[i, j] = -math.inf
    for m in range(s + 1, e):
        left, right = s * n + m - 1, (e - 1) * n + m
        i0, i1 = bounds(m - s, n_emitting, first_branching, n_symbols)
        j0, j1 = bounds(e - m, n_emitting, first_branching, n_symbols)
        for i in range(i0, i1):
            x = best[left, i]
            for j in range(j0, j1):
                y = x + best_right[right, j]
                splits[i, j] = y if y > splits[i, j] else splits[i, j]


@njit_forceinline
def find_best_rule(log_binary, z, splits, row_best):
    """Return the maximum of log B_zij + M_ij, from vectorized maxima of columns."""
    n_symbols = splits.shape[0]
    for j in range(n_symbols):
        row_best[j] = -math.inf
    for i in range(n_symbols):
        for j in range(n_symbols):
            x = log_binary[z, i, j] + splits[i, j]
            row_best[j] = x if x > row_best[j] else row_best[j]
    top = -math.inf
    for j in range(n_symbols):
        top = max(top, row_best[j])
    return top


@njit_loop
def fill_best(
    words, firsts, lasts, log_root, log_emission, log_binary, best, best_right, splits, row_best
):
    """Fill the charts of best subtrees; return the root's symbol and the log weight of the tree."""
    n, n_symbols = words.shape[0], log_root.shape[0]
    n_emitting = log_emission.shape[0]
    first_branching = n_symbols - log_binary.shape[0]
    for s in range(n):
        for z in range(n_emitting):
            best[s * n + s, z] = best_right[s * n + s, z] = log_emission[z, words[s]]
    # The order of the spans is as in `_kernels_long`.
    for begin in range(2, n + 1, STRIP):
        end = min(begin + STRIP - 1, n)
        for s in range(end - 2, -1, -1):
            for e in range(max(begin, s + 2), end + 1):
                if is_closed(firsts, lasts, s, e):
                    best[s * n + e - 1] = best_right[(e - 1) * n + s] = -math.inf
                    continue
                find_splits(best, best_right, n, s, e, n_emitting, first_branching, splits)
                for z in range(log_binary.shape[0]):
                    top = find_best_rule(log_binary, z, splits, row_best)
                    best[s * n + e - 1, first_branching + z] = top
                    best_right[(e - 1) * n + s, first_branching + z] = top
    first, last = bounds(n, n_emitting, first_branching, n_symbols)
    root, top = -1, -math.inf
    for z in range(first, last):
        x = log_root[z] + best[n - 1, z]
        if x > top:  # the first of equally good symbols wins
            root, top = z, x
    return root, top


@njit_loop
def find_children(best, best_right, log_binary, n, s, e, z, n_emitting, first_branching, splits):
    """Return the split point and symbols of a node's children in the best tree; ties: `viterbi`."""
    n_symbols = splits.shape[0]
    find_splits(best, best_right, n, s, e, n_emitting, first_branching, splits)
    top, left_symbol, right_symbol = -math.inf, 0, 0
    for i in range(n_symbols):
        for j in range(n_symbols):
            x = log_binary[z - first_branching, i, j] + splits[i, j]
            if x > top:
                top, left_symbol, right_symbol = x, i, j
    top, split = -math.inf, s + 1
    for m in range(s + 1, e):
        i0, i1 = bounds(m - s, n_emitting, first_branching, n_symbols)
        j0, j1 = bounds(e - m, n_emitting, first_branching, n_symbols)
        if i0 <= left_symbol < i1 and j0 <= right_symbol < j1:
            x = best[s * n + m - 1, left_symbol] + best[m * n + e - 1, right_symbol]
            if x > top:
                top, split = x, m
    return split, left_symbol, right_symbol


@njit_loop
def find_best_tree(
    words, firsts, lasts, log_root, log_emission, log_binary, best, best_right, splits, row_best,
    stack, symbols, lengths,
):  # fmt: skip
    """Write the best tree of a sentence; return its log weight, or -inf without a tree."""
    n, n_symbols = words.shape[0], log_root.shape[0]
    n_emitting = log_emission.shape[0]
    first_branching = n_symbols - log_binary.shape[0]
    root, log_weight = fill_best(
        words, firsts, lasts, log_root, log_emission, log_binary, best, best_right, splits, row_best
    )
    if root < 0:
        return log_weight
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, root
    n_waiting, node = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        s, e, z = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        symbols[node], lengths[node] = z, e - s
        node += 1
        if e - s > 1:
            m, i, j = find_children(
                best, best_right, log_binary, n, s, e, z, n_emitting, first_branching, splits
            )
            n_waiting = push_children(stack, n_waiting, s, m, e, i, j)
    return log_weight


@njit_forceinline
def push_children(stack, n_waiting, s, m, e, i, j):
    """Push two children on the stack, the left child on top; return the number of waiting nodes."""
    stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2] = m, e, j
    n_waiting += 1
    stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2] = s, m, i
    return n_waiting + 1


# Sampled trees


@njit_loop
def draw_index(mantissas, exponents, n, rng):
    """Draw an index below n with probability proportional to numbers, not all zero."""
    top = exponents[0]
    for i in range(n):
        if mantissas[i] > 0.0:
            top = max(top, exponents[i])
    total = 0.0
    for i in range(n):
        total += mantissas[i] * power_of_two(min(exponents[i] - top, 0))
    target = next_double(rng) * total
    last = 0
    for i in range(n):
        x = mantissas[i] * power_of_two(min(exponents[i] - top, 0))
        if x > 0.0:
            last = i  # rounding may leave a remainder after the last one
            target -= x
            if target < 0.0:
                break
    return last


@njit_loop
def draw_children(
    inside, exponents, binary, binary_exponents, n, s, e, z, n_emitting, first_branching,
    splits, split_exponents, weights, weight_exponents, rng,
):  # fmt: skip
    """Draw symbols of the children of a node, then the split point."""
    n_symbols = splits.shape[0]
    sum_splits(inside, exponents, n, s, e, n_emitting, first_branching, splits, split_exponents)
    for i in range(n_symbols):
        for j in range(n_symbols):
            pair = i * n_symbols + j
            weights[pair] = binary[z - first_branching, i, j] * splits[i, j]
            weight_exponents[pair] = (
                binary_exponents[z - first_branching, i, j] + split_exponents[i, j]
            )
    pair = draw_index(weights, weight_exponents, n_symbols * n_symbols, rng)
    i, j = pair // n_symbols, pair % n_symbols
    for m in range(s + 1, e):
        i0, i1 = bounds(m - s, n_emitting, first_branching, n_symbols)
        j0, j1 = bounds(e - m, n_emitting, first_branching, n_symbols)
        left, right = s * n + m - 1, m * n + e - 1
        if i0 <= i < i1 and j0 <= j < j1:
            weights[m - s - 1] = inside[left, i] * inside[right, j]
            weight_exponents[m - s - 1] = exponents[left, i] + exponents[right, j]
        else:
            weights[m - s - 1] = 0.0
            weight_exponents[m - s - 1] = 0
    m = s + 1 + draw_index(weights, weight_exponents, e - s - 1, rng)
    return m, i, j


@njit_loop
def draw_tree(
    inside, exponents, n, root, root_exponents, binary, binary_exponents, n_emitting,
    splits, split_exponents, weights, weight_exponents, stack, symbols, lengths, rng,
):  # fmt: skip
    """Draw a tree of a sentence that has a parse, given its words."""
    n_symbols = root.shape[0]
    first_branching = n_symbols - binary.shape[0]
    first, last = bounds(n, n_emitting, first_branching, n_symbols)
    for z in range(first, last):
        weights[z - first] = root[z] * inside[n - 1, z]
        weight_exponents[z - first] = root_exponents[z] + exponents[n - 1, z]
    stack[0, 0], stack[0, 1] = 0, n
    stack[0, 2] = first + draw_index(weights, weight_exponents, last - first, rng)
    n_waiting, node = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        s, e, z = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        symbols[node], lengths[node] = z, e - s
        node += 1
        if e - s > 1:
            m, i, j = draw_children(
                inside, exponents, binary, binary_exponents, n, s, e, z, n_emitting,
                first_branching, splits, split_exponents, weights, weight_exponents, rng,
            )  # fmt: skip
            n_waiting = push_children(stack, n_waiting, s, m, e, i, j)
