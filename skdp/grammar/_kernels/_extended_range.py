"""Kernels for one sentence: sums in numbers of unlimited range, the best tree, sampled trees."""

# mypy: ignore-errors

import math

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_loop
from skdp._numeric._random import next_double
from skdp._numeric._simd import bits_of_double, double_of_bits

# Spans and scales for all kernels of sums over trees.
#
# The first P symbols emit and the last C branch; if all do both (S = P = C), the first branching
# symbol is 0.
# The splits of a span of more than two words are in three blocks, in this order: with a word on the
# left, with a word on the right, and without words.
#
# A span is closed if it crosses a bracket of its sentence: it has weight zero, and the exponent
# `NEVER`. The brackets are given by two numbers a word (`SpanLimits`).


LOG_TWO = math.log(2.0)
NEVER = -(1 << 60)
"""An exponent below all others."""

STRIP = 4
"""Number of words at whose ends spans are processed together."""


@njit_forceinline
def unit(n):
    """Return 1 as a typed integer: a literal has another type, with an additional compilation."""
    return n - n + 1


@njit_forceinline
def is_closed(firsts, lasts, s, e):
    """Return whether words s, ..., e - 1 cross a bracket; empty arrays: there are no brackets."""
    return firsts.shape[0] > 0 and (s < firsts[e - 1] or lasts[s] < e)


@njit_forceinline
def count_blocks(first_branching, n_splits):
    """Return the number of blocks of pairs of child symbols."""
    return 1 if n_splits == 1 or first_branching == 0 else 3


@njit_forceinline
def block_of(p, c, first_branching, n_splits, b):
    """Return the splits of block b: the first, their number, symbols on the left and right."""
    if n_splits == 1:
        return 0, 1, p, p
    if first_branching == 0:
        return 0, n_splits, c, c
    if b == 0:
        return 0, 1, p, c
    if b == 1:
        return n_splits - 1, 1, c, p
    return 1, n_splits - 2, c, c


# Inside and outside sums in numbers of unlimited range: slow, but correct for any weights.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | words | x | (n,) int32 | a sentence |
# | firsts, lasts | | (n,) int32, or (0,) | limits of spans, see `SpanLimits` |
# | root, root_exponents | | (S,) | weights of the root's symbol |
# | emission, ... | | (P, V) | weights of words |
# | binary, ... | B_zij | (C, S, S) | weights of children: parent, left, right |
# | inside, ... | | (n n, S) | row s n + e - 1: words s, ..., e - 1 |
# | outside, ... | | (n n, S) | as `inside` |
# | splits, ... | M_ij | (S, S) | sum over split points: sum_k inside(s, k, i) inside(k, e, j) |
# | needs, ... | G_ij | (S, S) | sum_z outside(s, e, z) B_zij |
# | total, ... | | scalars | weight of the sentence, not zero |
# | root_counts, ... | | as weights | expected uses of rules, times `multiplicity`; added to |
# | symbol_counts | | (S,) | expected nodes of each symbol, without the multiplicity; added to |
#
# A number is a mantissa (float64) times two to the power of an exponent (int64). Zero is the
# mantissa 0 with the exponent `ZERO`, so far below all others that a sum never uses it. A sum first
# finds the largest exponent, then adds mantissas shifted to it.


ZERO = -(1 << 40)
_LOW = 2 * ZERO  # at most one of the two factors of a term is zero if the other is positive


@njit_forceinline
def power_of_two(d):
    """Return 2^d for d <= 1023; 0 if it would be subnormal."""
    return double_of_bits((max(d, -1023) + 1023) << 52)


@njit_forceinline
def exponent_of(x):
    """Return e with 2^e <= x < 2^(e+1), x > 0 and not subnormal."""
    return (bits_of_double(x) >> 52) - 1023


@njit_forceinline
def normalize(mantissas, exponents, row, first, last):
    """Normalize the mantissas ``[row, first:last]`` to [1, 2)."""
    for z in range(first, last):
        x = mantissas[row, z]
        if x > 0.0:
            e = exponent_of(x)
            mantissas[row, z] = x * power_of_two(-e)
            exponents[row, z] += e
        else:
            exponents[row, z] = ZERO


@njit_forceinline
def bounds(length, n_emitting, first_branching, n_symbols):
    """Return the first symbol that a span of a given length may have, and the end of the range."""
    if length == 1:
        return 0, n_emitting
    return first_branching, n_symbols


@njit_loop
def sum_splits(inside, exponents, n, s, e, n_emitting, first_branching, splits, split_exponents):
    """Write M of the words s, ..., e - 1 (not normalized)."""
    n_symbols = inside.shape[1]
    for i in range(n_symbols):
        for j in range(n_symbols):
            splits[i, j] = 0.0
            split_exponents[i, j] = _LOW
    for m in range(s + 1, e):
        left, right = s * n + m - 1, m * n + e - 1
        i0, i1 = bounds(m - s, n_emitting, first_branching, n_symbols)
        j0, j1 = bounds(e - m, n_emitting, first_branching, n_symbols)
        for i in range(i0, i1):
            shift = exponents[left, i]
            for j in range(j0, j1):
                split_exponents[i, j] = max(split_exponents[i, j], shift + exponents[right, j])
    for m in range(s + 1, e):
        left, right = s * n + m - 1, m * n + e - 1
        i0, i1 = bounds(m - s, n_emitting, first_branching, n_symbols)
        j0, j1 = bounds(e - m, n_emitting, first_branching, n_symbols)
        for i in range(i0, i1):
            x, shift = inside[left, i], exponents[left, i]
            for j in range(j0, j1):
                d = shift + exponents[right, j] - split_exponents[i, j]
                splits[i, j] += x * inside[right, j] * power_of_two(d)


@njit_loop
def sum_rules(binary, binary_exponents, z, splits, split_exponents):
    """Return sum_ij B_zij M_ij."""
    n_symbols = splits.shape[0]
    top = _LOW + ZERO
    for i in range(n_symbols):
        for j in range(n_symbols):
            top = max(top, binary_exponents[z, i, j] + split_exponents[i, j])
    total = 0.0
    for i in range(n_symbols):
        for j in range(n_symbols):
            d = binary_exponents[z, i, j] + split_exponents[i, j] - top
            total += binary[z, i, j] * splits[i, j] * power_of_two(d)
    return total, top


@njit_loop
def sum_inside(
    words, firsts, lasts,
    root, root_exponents, emission, emission_exponents, binary, binary_exponents,
    inside, exponents, splits, split_exponents,
):  # fmt: skip
    """Fill the chart of inside sums of a sentence; return mantissa and exponent of its weight."""
    n, n_symbols = words.shape[0], root.shape[0]
    n_emitting = emission.shape[0]
    first_branching = n_symbols - binary.shape[0]
    for s in range(n):
        row = s * n + s
        for z in range(n_emitting):
            inside[row, z] = emission[z, words[s]]
            exponents[row, z] = emission_exponents[z, words[s]]
    for length in range(2, n + 1):
        for s in range(n - length + 1):
            e = s + length
            row = s * n + e - 1
            if is_closed(firsts, lasts, s, e):
                inside[row] = 0.0
                exponents[row] = ZERO
                continue
            sum_splits(
                inside, exponents, n, s, e, n_emitting, first_branching, splits, split_exponents
            )
            for z in range(binary.shape[0]):
                x, top = sum_rules(binary, binary_exponents, z, splits, split_exponents)
                inside[row, first_branching + z] = x
                exponents[row, first_branching + z] = top
            normalize(inside, exponents, row, first_branching, n_symbols)
    first, last = bounds(n, n_emitting, first_branching, n_symbols)
    top = _LOW
    for z in range(first, last):
        top = max(top, root_exponents[z] + exponents[n - 1, z])
    total = 0.0
    for z in range(first, last):
        d = root_exponents[z] + exponents[n - 1, z] - top
        total += root[z] * inside[n - 1, z] * power_of_two(d)
    return total, top


@njit_forceinline
def add_number(mantissas, exponents, row, z, x, e):
    """Add x 2^e to a number."""
    if x > 0.0:
        d = e - exponents[row, z]
        if d > 0:
            mantissas[row, z] = mantissas[row, z] * power_of_two(-d) + x
            exponents[row, z] = e
        else:
            mantissas[row, z] += x * power_of_two(d)


@njit_loop
def sum_needs(
    binary, binary_exponents, outside, out_exponents, row, first_branching, needs, need_exponents
):
    """Write G of a span (not normalized)."""
    n_symbols = needs.shape[0]
    for i in range(n_symbols):
        for j in range(n_symbols):
            needs[i, j] = 0.0
            need_exponents[i, j] = _LOW
    for z in range(binary.shape[0]):
        shift = out_exponents[row, first_branching + z]
        for i in range(n_symbols):
            for j in range(n_symbols):
                need_exponents[i, j] = max(need_exponents[i, j], shift + binary_exponents[z, i, j])
    for z in range(binary.shape[0]):
        x, shift = outside[row, first_branching + z], out_exponents[row, first_branching + z]
        for i in range(n_symbols):
            for j in range(n_symbols):
                d = shift + binary_exponents[z, i, j] - need_exponents[i, j]
                needs[i, j] += x * binary[z, i, j] * power_of_two(d)


@njit_loop
def push_outside(
    inside, exponents, outside, out_exponents, n, s, m, e, n_emitting, first_branching,
    needs, need_exponents,
):  # fmt: skip
    """Add to the outside sums of the two children of a span that is split at m."""
    n_symbols = needs.shape[0]
    left, right = s * n + m - 1, m * n + e - 1
    i0, i1 = bounds(m - s, n_emitting, first_branching, n_symbols)
    j0, j1 = bounds(e - m, n_emitting, first_branching, n_symbols)
    for i in range(i0, i1):
        top = _LOW + ZERO
        for j in range(j0, j1):
            top = max(top, need_exponents[i, j] + exponents[right, j])
        total = 0.0
        for j in range(j0, j1):
            d = need_exponents[i, j] + exponents[right, j] - top
            total += needs[i, j] * inside[right, j] * power_of_two(d)
        add_number(outside, out_exponents, left, i, total, top)
    for j in range(j0, j1):
        top = _LOW + ZERO
        for i in range(i0, i1):
            top = max(top, need_exponents[i, j] + exponents[left, i])
        total = 0.0
        for i in range(i0, i1):
            d = need_exponents[i, j] + exponents[left, i] - top
            total += needs[i, j] * inside[left, i] * power_of_two(d)
        add_number(outside, out_exponents, right, j, total, top)


@njit_loop
def add_rule_counts(
    binary, binary_exponents, outside, out_exponents, row, first_branching,
    splits, split_exponents, scale, scale_exponent, counts,
):  # fmt: skip
    """Add the expected rules of a span."""
    n_symbols = splits.shape[0]
    for z in range(binary.shape[0]):
        x = outside[row, first_branching + z] * scale
        shift = out_exponents[row, first_branching + z] - scale_exponent
        if x > 0.0:
            for i in range(n_symbols):
                for j in range(n_symbols):
                    d = min(shift + binary_exponents[z, i, j] + split_exponents[i, j], 1023)
                    counts[z, i, j] += x * binary[z, i, j] * splits[i, j] * power_of_two(d)


@njit_loop
def sum_outside(
    words, firsts, lasts, multiplicity, total, total_exponent,
    root, root_exponents, emission, emission_exponents, binary, binary_exponents,
    inside, exponents, outside, out_exponents,
    splits, split_exponents, needs, need_exponents,
    root_counts, emission_counts, binary_counts, symbol_counts,
):  # fmt: skip
    """Fill the chart of outside sums of a sentence, and add its expected counts."""
    n, n_symbols = words.shape[0], root.shape[0]
    n_emitting = emission.shape[0]
    first_branching = n_symbols - binary.shape[0]
    scale = multiplicity / total
    for row in range(n * n):
        for z in range(n_symbols):
            outside[row, z] = 0.0
            out_exponents[row, z] = ZERO
    first, last = bounds(n, n_emitting, first_branching, n_symbols)
    for z in range(first, last):
        outside[n - 1, z] = root[z]
        out_exponents[n - 1, z] = root_exponents[z]
        d = root_exponents[z] + exponents[n - 1, z] - total_exponent
        root_counts[z] += root[z] * inside[n - 1, z] * scale * power_of_two(min(d, 1023))
    for length in range(n, 0, -1):
        first, last = bounds(length, n_emitting, first_branching, n_symbols)
        for s in range(n - length + 1):
            e = s + length
            row = s * n + e - 1
            if is_closed(firsts, lasts, s, e):
                continue
            normalize(outside, out_exponents, row, first, last)
            for z in range(first, last):
                d = out_exponents[row, z] + exponents[row, z] - total_exponent
                share = outside[row, z] * inside[row, z] / total * power_of_two(min(d, 1023))
                symbol_counts[z] += share
                if length == 1:
                    # The chart entry of the symbol includes the emission weight.
                    emission_counts[z, words[s]] += multiplicity * share
            if length == 1:
                continue
            sum_splits(
                inside, exponents, n, s, e, n_emitting, first_branching, splits, split_exponents
            )
            add_rule_counts(
                binary, binary_exponents, outside, out_exponents, row, first_branching,
                splits, split_exponents, scale, total_exponent, binary_counts,
            )  # fmt: skip
            sum_needs(
                binary, binary_exponents, outside, out_exponents, row, first_branching,
                needs, need_exponents,
            )  # fmt: skip
            for m in range(s + 1, e):
                push_outside(
                    inside, exponents, outside, out_exponents, n, s, m, e, n_emitting,
                    first_branching, needs, need_exponents,
                )  # fmt: skip


def to_extended_range(logs):
    """Return mantissas and exponents of numbers with given natural logs."""
    logs = np.asarray(logs, dtype=np.float64)
    possible = logs > -np.inf
    finite = np.where(possible, logs, 0.0)
    exponents = np.floor(finite * 1.4426950408889634)
    # log 2 in two parts, the first with few enough digits for exact products.
    rest = (
        finite - exponents * 6.93147180369123816490e-01
    ) - exponents * 1.90821492927058770002e-10
    mantissas = np.where(possible, np.exp(rest), 0.0)
    return mantissas, np.where(possible, exponents, ZERO).astype(np.int64)


# The most probable tree of a sentence, and trees drawn given the sentence.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | words | x | (n,) int32 | a sentence |
# | firsts, lasts | | (n,) int32, or (0,) | limits of spans, see `SpanLimits` |
# | log_root, log_emission, log_binary | | (S,), (P, V), (C, S, S) | logs of the rules' weights |
# | best | | (n n, S) | log weight of the best subtree; row s n + e - 1: words s, ..., e - 1 |
# | best_right | | (n n, S) | the same, in row (e - 1) n + s: right children are contiguous |
# | splits | M_ij | (S, S) | best, or sum, over the split points of a span |
# | symbols | | (2n - 1,) int32 | symbols of the nodes of a tree in pre-order |
# | lengths | | (2n - 1,) int32 | words below each of these nodes |
# | stack | | (2n - 1, 3) int64 | waiting nodes: first word, word after the last, symbol |
# | inside, exponents | | (n n, S) | filled chart, as above |
# | weights, weight_exponents | | (max(S S, n),) | scratch |
# | rng | | (4,) uint64 | stream, advanced in place |
#
# The left child of a node is the next node in pre-order; its right child follows the subtree of the
# left child.


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
    # The order of the spans is as in `_kernels/_long`.
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
