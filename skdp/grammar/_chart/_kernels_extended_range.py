"""Inside and outside sums in numbers of unlimited range: slow, but correct for any weights.

| name | symbol | shape | meaning |
|---|---|---|---|
| words | x | (n,) int32 | a sentence |
| firsts, lasts | | (n,) int32, or (0,) | limits of spans, see `SpanLimits` |
| root, root_exponents | | (S,) | weights of the root's symbol |
| emission, ... | | (P, V) | weights of words |
| binary, ... | B_zij | (C, S, S) | weights of children: parent, left, right |
| inside, ... | | (n n, S) | row s n + e - 1: words s, ..., e - 1 |
| outside, ... | | (n n, S) | as `inside` |
| splits, ... | M_ij | (S, S) | sum over split points: sum_k inside(s, k, i) inside(k, e, j) |
| needs, ... | G_ij | (S, S) | sum_z outside(s, e, z) B_zij |
| total, ... | | scalars | weight of the sentence, not zero |
| root_counts, ... | | as weights | expected uses of rules, times `multiplicity`; added to |
| symbol_counts | | (S,) | expected nodes of each symbol, without the multiplicity; added to |

A number is a mantissa (float64) times two to the power of an exponent (int64). Zero is the
mantissa 0 with the exponent `ZERO`, so far below all others that a sum never uses it. A sum first
finds the largest exponent, then adds mantissas shifted to it.

The first P symbols emit, and the last C branch. If P + C > S, all symbols do both (S = P = C).
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_loop
from skdp._numeric._simd import bits_of_double, double_of_bits
from skdp.grammar._chart._kernels_spans import is_closed

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
