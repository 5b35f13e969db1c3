"""Kernels for one sentence: sums in numbers of unlimited range, the best tree, sampled trees."""

# mypy: ignore-errors

import math
from typing import NamedTuple

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
# | name | symbol | size | meaning |
# |---|---|---|---|
# | sentence | x | | words, (n,) int32, and the limits of spans: see `SpanLimits` |
# | sizes | P, S - C, S | | numbers of symbols that emit, that never branch, and of all |
# | inside | | n n S | from (s n + e - 1) S on: words s, ..., e - 1 |
# | outside | | n n S | as `inside` |
# | splits | M_ij | S S | sum over split points: sum_k inside(s, k, i) inside(k, e, j) |
# | needs | G_ij | S S | sum_z outside(s, e, z) B_zij |
# | total, total_exponent | | scalars | weight of the sentence, not zero |
# | root_counts, ... | | as weights | expected uses of rules, times `multiplicity`; added to |
# | symbol_counts | | (S,) | expected nodes of each symbol, without the multiplicity; added to |
#
# A number is a mantissa (float64) times two to the power of an exponent (int64). Zero is the
# mantissa 0 with the exponent `ZERO`, so far below all others that a sum never uses it. A sum first
# finds the largest exponent, then adds mantissas shifted to it.


ZERO = -(1 << 40)
_LOW = 2 * ZERO  # at most one of the two factors of a term is zero if the other is positive


class Numbers(NamedTuple):
    """Numbers of unlimited range."""

    mantissas: np.ndarray
    exponents: np.ndarray


class ExtendedWeights(NamedTuple):
    """Weights of rules."""

    root: Numbers  # (S,)
    emission: Numbers  # (P, V)
    binary: Numbers  # (C S S,), B_zij: parent, left, right


@njit_forceinline
def power_of_two(d):
    """Return 2^d for d <= 1023; 0 if it would be subnormal."""
    return double_of_bits((max(d, -1023) + 1023) << 52)


@njit_forceinline
def exponent_of(x):
    """Return e with 2^e <= x < 2^(e+1), x > 0 and not subnormal."""
    return (bits_of_double(x) >> 52) - 1023


@njit_forceinline
def normalize(numbers, begin, end):
    """Normalize mantissas to [1, 2)."""
    for i in range(begin, end):
        x = numbers.mantissas[i]
        if x > 0.0:
            e = exponent_of(x)
            numbers.mantissas[i] = x * power_of_two(-e)
            numbers.exponents[i] += e
        else:
            numbers.exponents[i] = ZERO


@njit_forceinline
def sum_products(x, i, step, y, j, n):
    """Return the sum of n products of numbers, from i on by steps and from j on."""
    top = _LOW + ZERO
    for k in range(n):
        top = max(top, x.exponents[i + k * step] + y.exponents[j + k])
    total = 0.0
    for k in range(n):
        d = x.exponents[i + k * step] + y.exponents[j + k] - top
        total += x.mantissas[i + k * step] * y.mantissas[j + k] * power_of_two(d)
    return total, top


@njit_forceinline
def sizes_of(weights):
    """Return the sizes of a grammar."""
    n_emitting, n_symbols = weights.emission.mantissas.shape[0], weights.root.mantissas.shape[0]
    n_branching = weights.binary.mantissas.shape[0] // (n_symbols * n_symbols)
    return n_emitting, n_symbols - n_branching, n_symbols


@njit_forceinline
def bounds(length, sizes):
    """Return the first symbol that a span of a given length may have, and the end of the range."""
    n_emitting, first_branching, n_symbols = sizes
    if length == 1:
        return 0, n_emitting
    return first_branching, n_symbols


@njit_forceinline
def split_at(n, s, m, e, sizes):
    """Return where a chart has the two children of a span, and the bounds of their symbols."""
    i0, i1 = bounds(m - s, sizes)
    j0, j1 = bounds(e - m, sizes)
    return (s * n + m - 1) * sizes[2], (m * n + e - 1) * sizes[2], i0, i1, j0, j1


@njit_loop
def sum_splits(inside, n, s, e, sizes, splits):
    """Write M of the words s, ..., e - 1 (not normalized)."""
    n_symbols = sizes[2]
    for pair in range(n_symbols * n_symbols):
        splits.mantissas[pair] = 0.0
        splits.exponents[pair] = _LOW
    for m in range(s + 1, e):
        left, right, i0, i1, j0, j1 = split_at(n, s, m, e, sizes)
        shifts = inside.exponents[right : right + n_symbols]
        for i in range(i0, i1):
            shift = inside.exponents[left + i]
            tops = splits.exponents[i * n_symbols : (i + 1) * n_symbols]
            for j in range(j0, j1):
                tops[j] = max(tops[j], shift + shifts[j])
    for m in range(s + 1, e):
        left, right, i0, i1, j0, j1 = split_at(n, s, m, e, sizes)
        shifts = inside.exponents[right : right + n_symbols]
        rights = inside.mantissas[right : right + n_symbols]
        for i in range(i0, i1):
            x, shift = inside.mantissas[left + i], inside.exponents[left + i]
            tops = splits.exponents[i * n_symbols : (i + 1) * n_symbols]
            row = splits.mantissas[i * n_symbols : (i + 1) * n_symbols]
            for j in range(j0, j1):
                row[j] += x * rights[j] * power_of_two(shift + shifts[j] - tops[j])


@njit_loop
def sum_inside(sentence, weights, inside, splits):
    """Fill the chart of inside sums of a sentence; return mantissa and exponent of its weight."""
    words, firsts, lasts = sentence
    n, sizes = words.shape[0], sizes_of(weights)
    n_emitting, first_branching, n_symbols = sizes
    n_pairs = n_symbols * n_symbols
    for s in range(n):
        begin = (s * n + s) * n_symbols
        for z in range(n_emitting):
            inside.mantissas[begin + z] = weights.emission.mantissas[z, words[s]]
            inside.exponents[begin + z] = weights.emission.exponents[z, words[s]]
    for length in range(2, n + 1):
        for s in range(n - length + 1):
            e = s + length
            begin = (s * n + e - 1) * n_symbols
            end = begin + n_symbols
            if is_closed(firsts, lasts, s, e):
                inside.mantissas[begin:end] = 0.0
                inside.exponents[begin:end] = ZERO
                continue
            sum_splits(inside, n, s, e, sizes, splits)
            for z in range(n_symbols - first_branching):
                x, top = sum_products(weights.binary, z * n_pairs, 1, splits, 0, n_pairs)
                inside.mantissas[begin + first_branching + z] = x
                inside.exponents[begin + first_branching + z] = top
            normalize(inside, begin + first_branching, end)
    first, last = bounds(n, sizes)
    return sum_products(weights.root, first, 1, inside, (n - 1) * n_symbols + first, last - first)


@njit_forceinline
def add_number(numbers, i, x, e):
    """Add x 2^e to a number."""
    if x > 0.0:
        d = e - numbers.exponents[i]
        if d > 0:
            numbers.mantissas[i] = numbers.mantissas[i] * power_of_two(-d) + x
            numbers.exponents[i] = e
        else:
            numbers.mantissas[i] += x * power_of_two(d)


@njit_loop
def sum_needs(binary, outside, begin, end, needs):
    """Write G of a span (not normalized), whose branching symbols have places from begin on."""
    n_pairs = needs.mantissas.shape[0]
    for pair in range(n_pairs):
        needs.mantissas[pair] = 0.0
        needs.exponents[pair] = _LOW
    for z in range(end - begin):
        shift = outside.exponents[begin + z]
        for pair in range(n_pairs):
            d = shift + binary.exponents[z * n_pairs + pair]
            needs.exponents[pair] = max(needs.exponents[pair], d)
    for z in range(end - begin):
        x, shift = outside.mantissas[begin + z], outside.exponents[begin + z]
        for pair in range(n_pairs):
            d = shift + binary.exponents[z * n_pairs + pair] - needs.exponents[pair]
            needs.mantissas[pair] += x * binary.mantissas[z * n_pairs + pair] * power_of_two(d)


@njit_loop
def push_outside(inside, outside, n, s, m, e, sizes, needs):
    """Add to the outside sums of the two children of a span that is split at m."""
    n_symbols = sizes[2]
    left, right, i0, i1, j0, j1 = split_at(n, s, m, e, sizes)
    for i in range(i0, i1):
        x, top = sum_products(needs, i * n_symbols + j0, 1, inside, right + j0, j1 - j0)
        add_number(outside, left + i, x, top)
    for j in range(j0, j1):
        x, top = sum_products(needs, i0 * n_symbols + j, n_symbols, inside, left + i0, i1 - i0)
        add_number(outside, right + j, x, top)


@njit_loop
def add_rule_counts(binary, outside, begin, end, splits, scale, scale_exponent, counts):
    """Add the expected rules of a span, whose branching symbols have places from begin on."""
    n_pairs = splits.mantissas.shape[0]
    for z in range(end - begin):
        x = outside.mantissas[begin + z] * scale
        shift = outside.exponents[begin + z] - scale_exponent
        if x > 0.0:
            for pair in range(n_pairs):
                rule = z * n_pairs + pair
                d = min(shift + binary.exponents[rule] + splits.exponents[pair], 1023)
                y = x * binary.mantissas[rule] * splits.mantissas[pair]
                counts[rule] += y * power_of_two(d)


@njit_loop
def sum_outside(
    sentence, multiplicity, total, total_exponent, weights, inside, outside, splits, needs,
    root_counts, emission_counts, binary_counts, symbol_counts,
):  # fmt: skip
    """Fill the chart of outside sums of a sentence, and add its expected counts."""
    words, firsts, lasts = sentence
    n, sizes = words.shape[0], sizes_of(weights)
    n_symbols = sizes[2]
    scale = multiplicity / total
    for i in range(n * n * n_symbols):
        outside.mantissas[i] = 0.0
        outside.exponents[i] = ZERO
    first, last = bounds(n, sizes)
    for z in range(first, last):
        top = (n - 1) * n_symbols + z
        x, exponent = weights.root.mantissas[z], weights.root.exponents[z]
        outside.mantissas[top] = x
        outside.exponents[top] = exponent
        d = exponent + inside.exponents[top] - total_exponent
        root_counts[z] += x * inside.mantissas[top] * scale * power_of_two(min(d, 1023))
    for length in range(n, 0, -1):
        first, last = bounds(length, sizes)
        for s in range(n - length + 1):
            e = s + length
            row = (s * n + e - 1) * n_symbols
            if is_closed(firsts, lasts, s, e):
                continue
            begin, end = row + first, row + last
            normalize(outside, begin, end)
            for z in range(first, last):
                d = outside.exponents[row + z] + inside.exponents[row + z] - total_exponent
                share = outside.mantissas[row + z] * inside.mantissas[row + z] / total
                share *= power_of_two(min(d, 1023))
                symbol_counts[z] += share
                if length == 1:
                    # The chart entry of the symbol includes the emission weight.
                    emission_counts[z, words[s]] += multiplicity * share
            if length == 1:
                continue
            sum_splits(inside, n, s, e, sizes, splits)
            add_rule_counts(
                weights.binary, outside, begin, end, splits, scale, total_exponent, binary_counts
            )
            sum_needs(weights.binary, outside, begin, end, needs)
            for m in range(s + 1, e):
                push_outside(inside, outside, n, s, m, e, sizes, needs)


def to_extended_range(logs):
    """Return numbers with given natural logs."""
    logs = np.asarray(logs, dtype=np.float64)
    possible = logs > -np.inf
    finite = np.where(possible, logs, 0.0)
    exponents = np.floor(finite * 1.4426950408889634)
    # log 2 in two parts, the first with few enough digits for exact products.
    rest = (
        finite - exponents * 6.93147180369123816490e-01
    ) - exponents * 1.90821492927058770002e-10
    mantissas = np.where(possible, np.exp(rest), 0.0)
    return Numbers(mantissas, np.where(possible, exponents, ZERO).astype(np.int64))


# The most probable tree of a sentence, and trees drawn given the sentence.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | sentence | x | | as above |
# | logs | | (S,), (P, V), (C, S, S) | logs of the weights of roots, words and children |
# | best | | (n n, S) | log weight of the best subtree; row s n + e - 1: words s, ..., e - 1 |
# | best_right | | (n n, S) | the same, in row (e - 1) n + s: right children are contiguous |
# | splits | M_ij | (S, S) | best, or sum, over the split points of a span |
# | symbols | | (2n - 1,) int32 | symbols of the nodes of a tree in pre-order |
# | lengths | | (2n - 1,) int32 | words below each of these nodes |
# | stack | | (2n - 1, 3) int64 | waiting nodes: first word, word after the last, symbol |
# | inside, weights | | | as above, filled |
# | choices | | (max(S S, n),) | scratch |
# | rng | | (4,) uint64 | stream, advanced in place |
#
# The left child of a node is the next node in pre-order; its right child follows the subtree of the
# left child.


# The most probable tree


class BestSpace(NamedTuple):
    """Work space for best trees."""

    best: np.ndarray
    best_right: np.ndarray
    splits: np.ndarray
    row_best: np.ndarray  # (S,), scratch

    @classmethod
    def of(cls, longest, n_symbols):
        """Return work space for sentences of up to `longest` words."""
        charts = np.full((2, longest * longest, n_symbols), -np.inf)
        return cls(*charts, np.empty((n_symbols, n_symbols)), np.empty(n_symbols))


@njit_forceinline
def sizes_of_logs(logs):
    """Return the sizes of a grammar, as above."""
    log_root, log_emission, log_binary = logs
    n_symbols = log_root.shape[0]
    return log_emission.shape[0], n_symbols - log_binary.shape[0], n_symbols


@njit_loop
def find_splits(space, n, s, e, sizes):
    """Write the best split's weight for every pair of child symbols."""
    splits, best, best_right = space.splits, space.best, space.best_right
    n_symbols = splits.shape[0]
    for i in range(n_symbols):
        for j in range(n_symbols):
            splits[i, j] = -math.inf
    for m in range(s + 1, e):
        _, _, i0, i1, j0, j1 = split_at(n, s, m, e, sizes)
        left, right = s * n + m - 1, (e - 1) * n + m
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
def fill_best(sentence, logs, space):
    """Fill the charts of best subtrees; return the root's symbol and the log weight of the tree."""
    words, firsts, lasts = sentence
    log_root, log_emission, log_binary = logs
    best, best_right = space.best, space.best_right
    n, sizes = words.shape[0], sizes_of_logs(logs)
    n_emitting, first_branching, _ = sizes
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
                find_splits(space, n, s, e, sizes)
                for z in range(log_binary.shape[0]):
                    top = find_best_rule(log_binary, z, space.splits, space.row_best)
                    best[s * n + e - 1, first_branching + z] = top
                    best_right[(e - 1) * n + s, first_branching + z] = top
    first, last = bounds(n, sizes)
    root, top = -1, -math.inf
    for z in range(first, last):
        x = log_root[z] + best[n - 1, z]
        if x > top:  # the first of equally good symbols wins
            root, top = z, x
    return root, top


@njit_loop
def find_children(space, log_binary, n, s, e, z, sizes):
    """Return the split point and symbols of a node's children in the best tree; ties: `viterbi`."""
    n_symbols = sizes[2]
    find_splits(space, n, s, e, sizes)
    top, left_symbol, right_symbol = -math.inf, 0, 0
    for i in range(n_symbols):
        for j in range(n_symbols):
            x = log_binary[z - sizes[1], i, j] + space.splits[i, j]
            if x > top:
                top, left_symbol, right_symbol = x, i, j
    top, split = -math.inf, s + 1
    for m in range(s + 1, e):
        _, _, i0, i1, j0, j1 = split_at(n, s, m, e, sizes)
        if i0 <= left_symbol < i1 and j0 <= right_symbol < j1:
            x = space.best[s * n + m - 1, left_symbol] + space.best[m * n + e - 1, right_symbol]
            if x > top:
                top, split = x, m
    return split, left_symbol, right_symbol


@njit_loop
def find_best_tree(sentence, logs, space, stack, symbols, lengths):
    """Write the best tree of a sentence; return its log weight, or -inf without a tree."""
    n, sizes = sentence[0].shape[0], sizes_of_logs(logs)
    root, log_weight = fill_best(sentence, logs, space)
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
            m, i, j = find_children(space, logs[2], n, s, e, z, sizes)
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
def draw_index(choices, n, rng):
    """Draw an index below n with probability proportional to numbers, not all zero."""
    mantissas, exponents = choices
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


@njit_forceinline
def choose(choices, k, x, i, y, j):
    """Make the product of two numbers the weight of choice k."""
    choices.mantissas[k] = x.mantissas[i] * y.mantissas[j]
    choices.exponents[k] = x.exponents[i] + y.exponents[j]


@njit_loop
def draw_children(inside, binary, n, s, e, z, sizes, splits, choices, rng):
    """Draw symbols of the children of a node, then the split point."""
    n_symbols = sizes[2]
    n_pairs = n_symbols * n_symbols
    sum_splits(inside, n, s, e, sizes, splits)
    for pair in range(n_pairs):
        choose(choices, pair, binary, (z - sizes[1]) * n_pairs + pair, splits, pair)
    pair = draw_index(choices, n_pairs, rng)
    i, j = pair // n_symbols, pair % n_symbols
    for m in range(s + 1, e):
        left, right, i0, i1, j0, j1 = split_at(n, s, m, e, sizes)
        if i0 <= i < i1 and j0 <= j < j1:
            choose(choices, m - s - 1, inside, left + i, inside, right + j)
        else:
            choices.mantissas[m - s - 1] = 0.0
            choices.exponents[m - s - 1] = 0
    m = s + 1 + draw_index(choices, e - s - 1, rng)
    return m, i, j


@njit_loop
def draw_tree(n, weights, inside, splits, choices, stack, symbols, lengths, rng):
    """Draw a tree of a sentence that has a parse, given its words."""
    sizes = sizes_of(weights)
    first, last = bounds(n, sizes)
    for z in range(first, last):
        choose(choices, z - first, weights.root, z, inside, (n - 1) * sizes[2] + z)
    stack[0, 0], stack[0, 1] = 0, n
    stack[0, 2] = first + draw_index(choices, last - first, rng)
    n_waiting, node = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        s, e, z = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        symbols[node], lengths[node] = z, e - s
        node += 1
        if e - s > 1:
            m, i, j = draw_children(inside, weights.binary, n, s, e, z, sizes, splits, choices, rng)
            n_waiting = push_children(stack, n_waiting, s, m, e, i, j)
