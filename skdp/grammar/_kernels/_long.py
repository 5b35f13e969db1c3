r"""Inside and outside sums of a long sentence, with symbols side by side.

| name | symbol | size | meaning |
|---|---|---|---|
| Z | | | entries of a cell: the larger of P and C, padded with zeros to whole vectors |
| n | | | number of words of the sentence |
| inside_left | I | n n Z | from (s n + e - 1) Z on: words s, ..., e - 1, as left children |
| inside_right | I | n n Z | from ((e - 1) n + s) Z on: the same, as right children |
| outside_left, ... | O | n n Z | outside sums of a span as a left child, and as a right child |
| exponents_left, ... | | n n | as `inside_left`, `inside_right`: exponents of spans |
| rises | d | n n | exponent of a span's largest sum over children on a common scale |
| factors | f | n | factors that bring the splits of a span to a common scale |
| left, right | | n Z | inside sums of the children of all splits, times factors |
| splits | M_ij | pairs | sum_k f_k inside(s, k, i) inside(k, e, j) |
| needs, turned | G_ij | pairs | sum_z own_z B_zij, and G^T of a block |
| own | | Z | outside sums of a span times 2^-d |
| up, up_words | B_zij | C pairs | weights for longer spans, and for spans of two words |

`pairs` are the rows of the blocks that a span can have, Z entries each: P rows of pairs of words;
or P rows with a word on the left, C rows with a word on the right, and C rows without words, in
this order; or C rows if all symbols do both.

Scale, error, unsafe sentences and arguments are as in `_kernels/_lanes`; the order of the spans
differs. There, batches of 16 sentences are as large as the nearest caches allow; the chart of a
single long sentence is larger, and a loop over the lengths of spans would read all of it for every
length. So the spans that end at one of `STRIP` words are processed together, by descending first
word: among the data that they read, only the row of left children is new, and it serves `STRIP` of
them. Right children are contiguous in a separate chart.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit_forceinline,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
)
from skdp._numeric._simd_lanes import COUNT_VECTORS, count_size, dot_block, dot_size, flat_block
from skdp.grammar._kernels._extended_range import (
    LOG_TWO,
    NEVER,
    STRIP,
    block_of,
    count_blocks,
    exponent_of,
    is_closed,
    power_of_two,
    unit,
)

_HELD = 16  # number of spans whose counts are added together


class LongSpace(NamedTuple):
    """Work space for a sentence, as flat arrays."""

    inside_left: np.ndarray
    inside_right: np.ndarray
    outside_left: np.ndarray
    outside_right: np.ndarray
    exponents_left: np.ndarray
    exponents_right: np.ndarray
    rises: np.ndarray
    bounds_left: np.ndarray
    bounds_right: np.ndarray
    factors: np.ndarray
    left: np.ndarray
    right: np.ndarray
    splits: np.ndarray
    needs: np.ndarray
    turned: np.ndarray
    own: np.ndarray
    held_own: np.ndarray  # (_HELD Z,)
    held_splits: np.ndarray  # (_HELD pairs,)
    symbols: np.ndarray  # (S,)
    count_words: np.ndarray  # as `up_words`
    count: np.ndarray  # as `up`


# Products


@njit_internal_nogc
def multiply(left, left0, left_a, left_c, right, right0, right_c, out, out0, out_a, n_a, n_c, z, f):
    """Write, or add if f is 1, a product with rows of z entries, see `flat_block`."""
    lanes = 64 // right.itemsize
    v = 0
    while v < z:
        some = min(COUNT_VECTORS, (z - v) // lanes)
        a = 0
        while a < n_a:
            m = count_size(n_a - a)
            flat_block(
                left, left0 + a * left_a, left_a, left_c, right, right0 + v, right_c,
                out, out0 + a * out_a + v, out_a, m, some, n_c, f,
            )  # fmt: skip
            a += m
        v += some * lanes


@njit_internal_nogc
def apply(rules, splits, n_pairs, n_rows, out):
    """Write the sums of `splits` weighted by the rules of each parent."""
    n_vectors = n_pairs // (64 // splits.itemsize)
    a = 0
    while a < n_rows:
        m = dot_size(n_rows - a)
        dot_block(splits, 0, rules, a * n_pairs, n_pairs, n_vectors, out, a, m)
        a += m


# A span


@njit_forceinline
def count_rows(p, c, first_branching, n_splits):
    """Return the number of rows of pairs of child symbols."""
    if n_splits == 1:
        return p
    return c if first_branching == 0 else p + 2 * c


@njit_internal_nogc
def find_factors(lefts, rights, factors, n_splits):
    """Write the factors that bring the splits of a span to a common scale; return its exponent."""
    top = NEVER
    for k in range(n_splits):
        top = max(top, lefts[k] + rights[k])
    for k in range(n_splits):
        factors[k] = power_of_two(lefts[k] + rights[k] - top)
    return top


@njit_internal_nogc
def scale_children(chart, begin, n_splits, z, factors, out):
    """Write the inside sums of children, times factors."""
    for k in range(n_splits):
        f, row = factors[k], begin + k * z
        for i in range(z):
            out[k * z + i] = chart[row + i] * f


@njit_inlined_source
def sum_splits(rules, space, n, s, e):
    """Write M of the words s, ..., e - 1, given factors and scaled left children."""
    p, c, z = rules.emission.shape[1], rules.n_branching, space.own.shape[0]
    n_splits, right = e - s - 1, ((e - 1) * n + s + 1) * z
    one, is_added = unit(z), unit(z) - 1
    row = is_added
    for b in range(count_blocks(rules.first_branching, n_splits)):
        k, n_k, n_i, _ = block_of(p, c, rules.first_branching, n_splits, b)
        multiply(
            space.left, k * z, one, z, space.inside_right, right + k * z, z,
            space.splits, row * z, z, n_i, n_k, z, is_added,
        )  # fmt: skip
        row += n_i


@njit_inlined_source
def push(rules, space, n, s, e):
    """Add to the outside sums of the children of a span."""
    p, c, z = rules.emission.shape[1], rules.n_branching, space.own.shape[0]
    n_splits = e - s - 1
    needs, turned = space.needs, space.turned
    one, zero = unit(z), unit(z) - 1
    row = zero
    for b in range(count_blocks(rules.first_branching, n_splits)):
        k, n_k, n_i, n_j = block_of(p, c, rules.first_branching, n_splits, b)
        for j in range(n_j):
            for i in range(n_i):
                turned[j * z + i] = needs[(row + i) * z + j]
            for i in range(n_i, z):
                turned[j * z + i] = 0.0
        multiply(
            space.right, k * z, z, one, turned, zero, z,
            space.outside_left, (s * n + s + k) * z, z, n_k, n_j, z, one,
        )  # fmt: skip
        multiply(
            space.left, k * z, z, one, needs, row * z, z,
            space.outside_right, ((e - 1) * n + s + 1 + k) * z, z, n_k, n_i, z, one,
        )  # fmt: skip
        row += n_i


@njit_inlined_source
def add_held(space, n_frozen, n_rows, n_pairs, counts):
    """Add the counts of the held spans."""
    one, zero = unit(n_pairs), unit(n_pairs) - 1
    multiply(
        space.held_own, zero, one, space.own.shape[0], space.held_splits, zero, n_pairs,
        counts, zero, n_pairs, n_rows, n_frozen, n_pairs, one,
    )  # fmt: skip


# A sentence


@njit_inlined_source
def fill_inside(rules, space, words, firsts, lasts):
    """Fill the chart of inside sums."""
    n, z = words.shape[0], space.own.shape[0]
    p, c = rules.emission.shape[1], rules.n_branching
    own, floor = space.own, rules.floor
    for s in range(n):
        word = words[s]
        space.exponents_left[s * n + s] = rules.emission_exponents[word]
        space.exponents_right[s * n + s] = rules.emission_exponents[word]
        space.rises[s * n + s] = 0
        row = (s * n + s) * z
        for i in range(z):
            x = rules.emission[word, i] if i < p else 0.0
            space.inside_left[row + i] = x
            space.inside_right[row + i] = x
    for first in range(2, n + 1, STRIP):
        last = min(first + STRIP - 1, n)
        for s in range(last - 2, -1, -1):
            for e in range(max(first, s + 2), last + 1):
                row, column = s * n + e - 1, (e - 1) * n + s
                if is_closed(firsts, lasts, s, e):
                    space.exponents_left[row] = space.exponents_right[column] = NEVER
                    space.inside_left[row * z : (row + 1) * z] = 0.0
                    space.inside_right[column * z : (column + 1) * z] = 0.0
                    continue
                # Weigh: pairs of children first, then the rules that produce them.
                n_splits, a, b = e - s - 1, s * n + s, (e - 1) * n + s + 1
                lefts = space.exponents_left[a : a + n_splits]
                rights = space.exponents_right[b : b + n_splits]
                top = find_factors(lefts, rights, space.factors, n_splits)
                scale_children(space.inside_left, a * z, n_splits, z, space.factors, space.left)
                sum_splits(rules, space, n, s, e)
                size = count_rows(p, c, rules.first_branching, n_splits) * z
                matrix = rules.up_words if n_splits == 1 else rules.up
                apply(matrix, space.splits, size, c, own)
                # Scale: raise small sums to the floor, and bring the largest to [1, 2).
                largest = floor
                for i in range(c):
                    x = own[i] if own[i] > floor else floor
                    own[i] = x
                    largest = x if x > largest else largest
                d = exponent_of(float(largest))
                scale = power_of_two(-d)
                space.rises[row] = d
                space.exponents_left[row] = top + d
                space.exponents_right[column] = top + d
                for i in range(z):
                    x = own[i] * scale if i < c else 0.0
                    space.inside_left[row * z + i] = x
                    space.inside_right[column * z + i] = x


@njit_inlined_source
def finish_inside(rules, space, n):
    """Return the scaled weight and the log probability of the sentence."""
    z = space.own.shape[0]
    first = rules.first_branching if n > 1 else 0
    total = 0.0
    for i in range(rules.n_branching if n > 1 else rules.emission.shape[1]):
        total += rules.root[first + i] * space.inside_left[(n - 1) * z + i]
    exponent = space.exponents_left[n - 1] + rules.root_exponent
    exponent += (n - 1) * rules.binary_exponent
    return total, math.log(total) + exponent * LOG_TWO


@njit_inlined_source
def fill_outside(rules, space, words, firsts, lasts, share, total):
    """Fill the chart of outside sums, add counts of binary rules; return the largest own sum."""
    n, z = words.shape[0], space.own.shape[0]
    p, c = rules.emission.shape[1], rules.n_branching
    own, held_own, held_splits = space.own, space.held_own, space.held_splits
    for s in range(n):
        space.outside_left[(s * n + s) * z : (s * n + n) * z] = 0.0
        space.outside_right[s * n * z : (s * n + s + 1) * z] = 0.0
    first_symbol = rules.first_branching if n > 1 else 0
    scale = share / total
    for i in range(c if n > 1 else p):
        space.outside_left[(n - 1) * z + i] = rules.root[first_symbol + i] * scale
    space.symbols[:] = 0.0
    worst, n_frozen = 0.0, unit(n) - 1
    one, zero = unit(n), unit(n) - 1
    n_pairs = count_rows(p, c, rules.first_branching, unit(n) + 1) * z
    for strip in range((n - 2) // STRIP, -1, -1):
        first = 2 + strip * STRIP
        last = min(first + STRIP - 1, n)
        for s in range(last - 1):
            for e in range(last, max(first, s + 2) - 1, -1):
                if is_closed(firsts, lasts, s, e):
                    continue
                row, column, n_splits = s * n + e - 1, (e - 1) * n + s, e - s - 1
                # Find the span's own sums, and their size.
                scale = power_of_two(-space.rises[row])
                for i in range(c):
                    x = space.outside_left[row * z + i] + space.outside_right[column * z + i]
                    own[i] = x * scale
                    worst = max(worst, own[i])
                    share = x * space.inside_left[row * z + i]
                    space.symbols[rules.first_branching + i] += share
                # Push: rules first, then the children's part of each pair.
                a, b = s * n + s, (e - 1) * n + s + 1
                lefts = space.exponents_left[a : a + n_splits]
                rights = space.exponents_right[b : b + n_splits]
                find_factors(lefts, rights, space.factors, n_splits)
                scale_children(space.inside_left, a * z, n_splits, z, space.factors, space.left)
                scale_children(space.inside_right, b * z, n_splits, z, space.factors, space.right)
                size = count_rows(p, c, rules.first_branching, n_splits) * z
                matrix = rules.up_words if n_splits == 1 else rules.up
                multiply(
                    own, zero, one, one, matrix, zero, size,
                    space.needs, zero, size, one, c, size, zero,
                )  # fmt: skip
                push(rules, space, n, s, e)
                # Count: own sums times the sums of pairs of children, for many spans at a time.
                sum_splits(rules, space, n, s, e)
                if n_splits == 1:
                    multiply(
                        own, zero, one, one, space.splits, zero, size,
                        space.count_words, zero, size, c, one, size, one,
                    )  # fmt: skip
                    continue
                for i in range(z):
                    held_own[n_frozen * z + i] = own[i]
                for i in range(size):
                    held_splits[n_frozen * size + i] = space.splits[i]
                n_frozen += 1
                if n_frozen == _HELD:
                    add_held(space, n_frozen, c, size, space.count)
                    n_frozen = zero
    add_held(space, n_frozen, c, n_pairs, space.count)
    for s in range(n):
        row = (s * n + s) * z
        for i in range(p):
            x = space.outside_left[row + i] + space.outside_right[row + i]
            space.outside_left[row + i] = x
            worst = max(worst, x)
            space.symbols[i] += x * space.inside_left[row + i]
    return worst


@njit_inlined_source
def is_surely_safe(rules, space, firsts, lasts, n, total):
    """Return whether upper bounds alone show that the sentence is safe, as in `_kernels/_lanes`."""
    lefts, rights, limit = space.bounds_left, space.bounds_right, rules.limit
    if not total * limit >= 1.0:
        return False
    for s in range(n):
        lefts[s * n + s : s * n + n] = 0.0
        rights[s * n : s * n + s + 1] = 0.0
    lefts[n - 1] = 2.0 / total
    for strip in range((n - 2) // STRIP, -1, -1):
        first = 2 + strip * STRIP
        last = min(first + STRIP - 1, n)
        for s in range(last - 1):
            for e in range(last, max(first, s + 2) - 1, -1):
                if is_closed(firsts, lasts, s, e):
                    continue
                row, column, n_splits = s * n + e - 1, (e - 1) * n + s, e - s - 1
                bound = (lefts[row] + rights[column]) * power_of_two(-space.rises[row])
                if not bound <= limit:
                    return False
                step, a, b = 2.0 * bound, s * n + s, (e - 1) * n + s + 1
                left_exponents = space.exponents_left[a : a + n_splits]
                right_exponents = space.exponents_right[b : b + n_splits]
                find_factors(left_exponents, right_exponents, space.factors, n_splits)
                for k in range(n_splits):
                    lefts[a + k] += rules.most_left * step * space.factors[k]
                    rights[b + k] += rules.most_right * step * space.factors[k]
    worst = 0.0
    for s in range(n):
        worst = max(worst, lefts[s * n + s] + rights[s * n + s])
    return worst <= limit


@njit_loop
def sum_long(tokens, ptr, firsts, lasts, order, rules, space, log_prob, in_doubt):
    """Write the log probabilities of sentences of at least two words."""
    for k in range(order.shape[0]):
        begin, end = ptr[order[k]], ptr[order[k] + 1]
        words, low, high = tokens[begin:end], firsts[begin:end], lasts[begin:end]
        fill_inside(rules, space, words, low, high)
        total, log_prob[k] = finish_inside(rules, space, words.shape[0])
        in_doubt[k] = not is_surely_safe(rules, space, low, high, words.shape[0], total)


@njit_loop
def count_long(
    tokens, ptr, firsts, lasts, order, multiplicity, rules, space, log_prob, unsafe,
    root_counts, emission_counts, counts_words, counts, symbol_counts,
):  # fmt: skip
    """Write the log probabilities of sentences, and add expected counts."""
    p, c = rules.emission.shape[1], rules.n_branching
    z, first = space.own.shape[0], rules.first_branching
    for k in range(order.shape[0]):
        begin, end = ptr[order[k]], ptr[order[k] + 1]
        words, low, high = tokens[begin:end], firsts[begin:end], lasts[begin:end]
        n = words.shape[0]
        fill_inside(rules, space, words, low, high)
        total, log_prob[k] = finish_inside(rules, space, n)
        space.count_words[:] = 0.0
        space.count[:] = 0.0
        share = multiplicity[k]
        worst = fill_outside(rules, space, words, low, high, share, total)
        if not ((worst <= rules.limit) & (total * rules.limit >= 1.0)):
            unsafe[k] = True
            continue
        for i in range(counts_words.shape[0]):
            counts_words[i] += space.count_words[i]
        for i in range(counts.shape[0]):
            counts[i] += space.count[i]
        for i in range(c):
            x = space.inside_left[(n - 1) * z + i] * (share / total)
            root_counts[first + i] += rules.root[first + i] * x
        for s in range(n):
            row = (s * n + s) * z
            for i in range(p):
                x = space.outside_left[row + i] * space.inside_left[row + i]
                emission_counts[words[s], i] += x
        if symbol_counts.shape[0]:
            for i in range(symbol_counts.shape[1]):
                symbol_counts[k, i] = space.symbols[i]
