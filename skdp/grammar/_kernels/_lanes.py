r"""Inside and outside sums of many sentences side by side, the fast path.

| name | symbol | shape | meaning |
|---|---|---|---|
| W | | | sentences in a batch: entry w of every row belongs to sentence w |
| n | | | number of words of the longest sentence of the batch |
| inside | I | (n n Z, W) | row (s n + e - 1) Z + z: words s, ..., e - 1 under the z-th symbol |
| outside | O | (n n Z, W) | as `inside` |
| exponents | | (n n, W) int64 | exponents of the powers of two that scale `inside` |
| rises | d | (n n, W) int64 | exponent of a span's largest sum over children on a common scale |
| factors | f | (n, W) | factors that bring the splits of a span to a common scale |
| splits | M_ij | (pairs, W) | sum_k f_k inside(s, k, i) inside(k, e, j) |
| needs | G_ij | (pairs, W) | sum_z own_z B_zij |
| own | | (Z, W) | outside sums of a span times 2^-d |
| counts | | (C, pairs) | sum over spans and sentences of own_z M_ij |
| worst | | (W,) | largest entry of `own` so far |
| tokens, ptr | | (N,), (n + 1,) | words of all sentences, and their offsets |
| firsts, lasts | | (N,), or (0,) | limits of spans, see `SpanLimits` |
| order | | (m,) | sentences to process, long ones first, in batches of n_per_batch <= W |
| multiplicity, log_prob | | (m,) | of these sentences |
| in_doubt | | (m,) bool | whole batches whose safety only `count_batches` can determine |
| unsafe | | (m,) bool | to be processed in another way; their other results are meaningless |
| root_counts, emission_counts | | (S,), (V, P) | expected uses of rules, added to |
| symbol_counts | | (m, S), or (0, S) | expected nodes of each symbol, times the multiplicity |

Z is the largest number of symbols of a span, the larger of P and C: the first P symbols emit and
the last C branch, or all do both if P = C = S. `pairs` are the pairs of child symbols, row by row,
of the blocks that a span can have: both of one word; or a word on the left, a word on the right,
and no word, in this order. Matrices of rules are packed in blocks of the largest fitting sizes
among `MIX_ROWS`.

**Scale.** The inside sums of each span are scaled by a power of two, sentence by sentence, so that
the largest is in [1, 2); outside sums are divided by the sentence's weight and by the scale of the
inside sums, so that inside times outside is a probability without further scaling.

**Error.** Before scaling, an inside sum below `floor` is raised to it, relative to the value 1 of
the largest children and the largest rule. So an inside sum is too small only by rounding (terms
below the range of the numbers are far below `floor`), and an outside sum is also an upper bound.
The amount added to a sum has a probability of at most floor 2^-d O. It is negligible if no entry of
`own` exceeds `limit`: floor x limit is 2^-60 in double precision. Otherwise the sentence is unsafe,
and is repeated in numbers with a wider exponent. This only occurs if required rules have weights
e^-580 below others.
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
from skdp._numeric._simd_lanes import (
    COUNT_VECTORS,
    add_products,
    count_block,
    count_size,
    mix_block,
    mix_size,
    product_block,
    product_size,
    raise_rows,
    scale_rows,
    transpose_block,
)
from skdp.grammar._kernels._extended_range import (
    LOG_TWO,
    NEVER,
    block_of,
    count_blocks,
    draw_tree,
    exponent_of,
    power_of_two,
    unit,
)


class LaneRuleArrays(NamedTuple):
    """Weights on a linear scale, in the format of the kernels."""

    root: np.ndarray  # (S,), the largest in [1, 2)
    emission: np.ndarray  # (V, P), each word's largest in [1, 2)
    emission_exponents: np.ndarray  # (V,) int64
    up_words: np.ndarray  # (C pairs,), packed by parent: children of one word each
    up: np.ndarray  # (C pairs,)
    down_words: np.ndarray  # (C pairs,), packed by pair
    down: np.ndarray
    first_branching: int  # S - C
    n_branching: int  # C
    most_left: float  # the largest sum of the weights of all rules with one left child
    most_right: float
    root_exponent: int
    binary_exponent: int
    floor: float
    limit: float


class LaneSpace(NamedTuple):
    """Work space for a batch."""

    inside: np.ndarray
    outside: np.ndarray
    exponents: np.ndarray
    rises: np.ndarray
    factors: np.ndarray
    scaled: np.ndarray  # (n Z, W): left children's inside sums times factors
    splits: np.ndarray
    needs: np.ndarray
    own: np.ndarray
    turned: np.ndarray  # (W, pairs): `splits` transposed
    tops: np.ndarray  # (3, W): largest entries, scales
    symbols: np.ndarray  # (S, W): expected number of nodes
    words: np.ndarray  # (n, W) int32
    firsts: np.ndarray  # (n, W) int32: see `SpanLimits`
    lasts: np.ndarray
    lengths: np.ndarray  # (W,) int64
    shares: np.ndarray  # (W,): 0 for a sentence that is not counted
    totals: np.ndarray  # (W,): weights of the sentences, scaled
    worst: np.ndarray
    bounds: np.ndarray  # (n n, W), upper bounds of outside sums
    count_words: np.ndarray  # counts of pairs of words
    count: np.ndarray


# Products


@njit_internal_nogc
def mix(matrix, n_rows, rows, n_terms, result, out):
    """Write ``matrix @ rows``, with a packed matrix, to rows of `result` from `out` on."""
    t = 0
    while t < n_rows:
        m = mix_size(n_rows - t)
        mix_block(matrix, t * n_terms, rows, 0, n_terms, result, out + t, m, 0)
        t += m


@njit_internal_nogc
def multiply_splits(scaled, left, step, inside, right, stride, n_splits, n_i, n_j, splits, out):
    """Write sum_k scaled(k, i) inside(k, j): rows left + k step + i and right + k stride + j."""
    i = 0
    while i < n_i:
        a = product_size(n_i - i)
        j = 0
        while j < n_j:
            b = product_size(n_j - j)
            product_block(
                scaled, left + i, 1, step, inside, right + j, 1, stride,
                splits, out + i * n_j + j, n_j, 1, a, b, n_splits, scaled, 0, 0,
            )  # fmt: skip
            j += b
        i += a


@njit_internal_nogc
def push_rows(
    inside, sibling, step, needs, pair, pair_step, sum_step, outside, out, out_step,
    n_splits, n_rows, n_terms, f, k0,
):  # fmt: skip
    """Add f_k sum_j needs(i, j) inside(k, j) to outside(k, i), with the siblings' sums `inside`."""
    i = 0
    while i < n_rows:
        b = product_size(n_rows - i)
        k = 0
        while k < n_splits:
            a = product_size(n_splits - k)
            product_block(
                inside, sibling + k * step, step, 1, needs, pair + i * pair_step,
                pair_step, sum_step, outside, out + k * out_step + i, out_step, 1,
                a, b, n_terms, f, k0 + k, 1,
            )  # fmt: skip
            k += a
        i += b


@njit_internal_nogc
def add_counts(own, n_rows, splits, n_pairs, turned, counts):
    """Add sum_w own_z M_ij to the counts."""
    width = counts.shape[1]
    lanes = turned.shape[0] // 2  # of a vector
    for column in range(0, n_pairs, lanes):
        transpose_block(splits, column, turned, column, turned.shape[1])
    n_vectors = (n_pairs + lanes - 1) // lanes
    z = 0
    while z < n_rows:
        m = count_size(n_rows - z)
        v = 0
        while v < n_vectors:
            some = min(COUNT_VECTORS, n_vectors - v)
            count_block(own, z, m, turned, v * lanes, width, counts, z, some)
            v += some
        z += m


# A span


@njit_inlined_source
def find_top(exponents, n, s, e, row):
    """Write the largest exponent of the splits of a span."""
    top = exponents[row]
    for w in range(top.shape[0]):
        top[w] = NEVER
    for m in range(s + 1, e):
        left, right = exponents[s * n + m - 1], exponents[m * n + e - 1]
        for w in range(top.shape[0]):
            top[w] = max(top[w], left[w] + right[w])


@njit_internal_nogc
def find_factors(exponents, rises, factors, n, s, e):
    """Write the factors that bring the splits of a span to the scale of its outside sums."""
    # In the inside pass, when rises are 0, that is the scale of the largest split.
    top, rise = exponents[s * n + e - 1], rises[s * n + e - 1]
    for m in range(s + 1, e):
        left, right = exponents[s * n + m - 1], exponents[m * n + e - 1]
        for w in range(factors.shape[1]):
            factors[m - s - 1, w] = power_of_two(left[w] + right[w] - top[w] + rise[w])


@njit_forceinline
def count_pairs(p, c, first_branching, n_splits):
    """Return the number of pairs of children's symbols."""
    if n_splits == 1:
        return p * p
    return c * c if first_branching == 0 else (2 * p + c) * c


@njit_inlined_source
def sum_splits(rules, space, n, s, e):
    """Write M of the words s, ..., e - 1."""
    inside, scaled, splits = space.inside, space.scaled, space.splits
    p, c, z = rules.emission.shape[1], rules.n_branching, space.own.shape[0]
    n_splits, pair = e - s - 1, unit(n) - 1
    for k in range(n_splits):
        n_i = p if k == 0 else c
        scale_rows(inside, (s * n + s + k) * z, n_i, space.factors, k, scaled, k * z)
    for b in range(count_blocks(rules.first_branching, n_splits)):
        k, n_k, n_i, n_j = block_of(p, c, rules.first_branching, n_splits, b)
        right = ((s + 1 + k) * n + e - 1) * z
        multiply_splits(scaled, k * z, z, inside, right, n * z, n_k, n_i, n_j, splits, pair)
        pair += n_i * n_j


@njit_inlined_source
def push(rules, space, n, s, e):
    """Add to the outside sums of the children of a span, for all split points."""
    inside, outside, needs, f = space.inside, space.outside, space.needs, space.factors
    p, c, z = rules.emission.shape[1], rules.n_branching, space.own.shape[0]
    n_splits, right_step, one, pair = e - s - 1, n * z, unit(n), unit(n) - 1
    for b in range(count_blocks(rules.first_branching, n_splits)):
        k, n_k, n_i, n_j = block_of(p, c, rules.first_branching, n_splits, b)
        left = (s * n + s + k) * z
        right = ((s + 1 + k) * n + e - 1) * z
        # f_k sum_j needs(i, j) inside(k, j) to the i-th symbols of left children
        push_rows(
            inside, right, right_step, needs, pair, n_j, one, outside, left, z,
            n_k, n_i, n_j, f, k,
        )  # fmt: skip
        # f_k sum_i needs(i, j) inside(k, i) to the j-th symbols of right children
        push_rows(
            inside, left, z, needs, pair, one, n_j, outside, right, right_step,
            n_k, n_j, n_i, f, k,
        )  # fmt: skip
        pair += n_i * n_j


@njit_internal_nogc
def close_span(space, n, s, e):
    """Set the exponent and scale of a span in the sentences in which it crosses a bracket."""
    firsts, lasts, row = space.firsts[e - 1], space.lasts[s], s * n + e - 1
    for w in range(firsts.shape[0]):
        if s < firsts[w] or lasts[w] < e:
            space.exponents[row, w] = NEVER
            space.rises[row, w] = 0
            space.tops[1, w] = 0.0


@njit_internal_nogc
def close_splits(space, n, s, e):
    """Set the factors of a span to zero in the sentences in which it crosses a bracket."""
    exponents = space.exponents[s * n + e - 1]
    for w in range(exponents.shape[0]):
        if exponents[w] == NEVER:
            space.factors[: e - s - 1, w] = 0.0


# A batch


@njit_inlined_source
def fill_inside(rules, space, n, has_limits):
    """Fill the chart of inside sums."""
    z, n_lanes = space.own.shape
    p, c = rules.emission.shape[1], rules.n_branching
    exponents, tops = space.exponents, space.tops
    for s in range(n):
        row = s * n + s
        for w in range(n_lanes):
            word = space.words[s, w]
            exponents[row, w] = rules.emission_exponents[word]
            space.rises[row, w] = 0
            for i in range(p):
                space.inside[row * z + i, w] = rules.emission[word, i]
    for length in range(2, n + 1):
        for s in range(n - length + 1):
            e = s + length
            row = s * n + e - 1
            # Weigh: pairs of children first, then the rules that produce them.
            find_top(exponents, n, s, e, row)
            space.rises[row] = 0
            find_factors(exponents, space.rises, space.factors, n, s, e)
            sum_splits(rules, space, n, s, e)
            n_pairs = count_pairs(p, c, rules.first_branching, length - 1)
            up = rules.up_words if length == 2 else rules.up
            mix(up, c, space.splits, n_pairs, space.inside, row * z)
            # Scale: raise small sums to the floor, and bring the largest to [1, 2).
            raise_rows(space.inside, row * z, c, rules.floor, tops, 0)
            for w in range(n_lanes):
                d = exponent_of(float(tops[0, w]))
                space.rises[row, w] = d
                exponents[row, w] += d
                tops[1, w] = power_of_two(-d)
            if has_limits:
                close_span(space, n, s, e)
            scale_rows(space.inside, row * z, c, tops, 1, space.inside, row * z)


@njit_inlined_source
def finish_inside(rules, space, log_prob):
    """Write scaled weights and log probabilities of the sentences of a batch."""
    z = space.own.shape[0]
    p, c = rules.emission.shape[1], rules.n_branching
    for w in range(log_prob.shape[0]):
        length = space.lengths[w]
        first = rules.first_branching if length > 1 else 0
        total = 0.0
        for i in range(c if length > 1 else p):
            total += rules.root[first + i] * space.inside[(length - 1) * z + i, w]
        exponent = space.exponents[length - 1, w] + rules.root_exponent
        exponent += (length - 1) * rules.binary_exponent
        space.totals[w] = total
        log_prob[w] = math.log(total) + exponent * LOG_TWO


@njit_inlined_source
def fill_outside(rules, space, n, has_limits):
    """Fill the chart of outside sums, and add counts of binary rules."""
    z, n_lanes = space.own.shape
    p, c = rules.emission.shape[1], rules.n_branching
    outside, tops, worst, own = space.outside, space.tops, space.worst, space.own
    first_row = n - n  # an integer of the common type: see `unit`
    # Initialize: only the roots have outside sums.
    for s in range(n):
        begin = (s * n + s) * z
        outside[begin : begin + (n - s) * z] = 0.0
    for w in range(n_lanes):
        worst[w] = 0.0
        length = space.lengths[w]
        first = rules.first_branching if length > 1 else 0
        if space.shares[w] > 0.0:
            scale = space.shares[w] / space.totals[w]
            for i in range(c if length > 1 else p):
                outside[(length - 1) * z + i, w] = rules.root[first + i] * scale
    space.symbols[:] = 0.0
    for length in range(n, 1, -1):
        down = rules.down_words if length == 2 else rules.down
        counts = space.count_words if length == 2 else space.count
        n_pairs = count_pairs(p, c, rules.first_branching, length - 1)
        for s in range(n - length + 1):
            e = s + length
            row = s * n + e - 1
            # Find the span's own sums, and their size.
            for w in range(n_lanes):
                tops[1, w] = power_of_two(-space.rises[row, w])
            scale_rows(outside, row * z, c, tops, 1, own, 0)
            note_worst(own, c, tops, worst)
            add_products(
                outside, row * z, space.inside, row * z, c, space.symbols, rules.first_branching
            )
            # Count: own sums times the sums of pairs of children.
            find_factors(space.exponents, space.rises, space.factors, n, s, e)
            if has_limits:
                close_splits(space, n, s, e)
            sum_splits(rules, space, n, s, e)
            add_counts(own, c, space.splits, n_pairs, space.turned, counts)
            # Push: rules first, then the children's part of each pair.
            mix(down, n_pairs, own, c, space.needs, first_row)
            push(rules, space, n, s, e)
    for s in range(n):
        row = s * n + s
        for w in range(n_lanes):
            tops[1, w] = 1.0
        scale_rows(outside, row * z, p, tops, 1, own, 0)
        note_worst(own, p, tops, worst)
        add_products(outside, row * z, space.inside, row * z, p, space.symbols, 0)


@njit_internal_nogc
def note_worst(own, n_rows, tops, worst):
    """Record the largest entries of `own`."""
    raise_rows(own, 0, n_rows, 0.0, tops, 2)
    for w in range(worst.shape[0]):
        worst[w] = max(worst[w], tops[2, w])


@njit_inlined_source
def load_batch(tokens, ptr, firsts, lasts, batch, multiplicity, space):
    """Load sentences; return the largest length. Unused lanes repeat the last sentence."""
    n_lanes = space.own.shape[1]
    n = 0
    for w in range(n_lanes):
        sentence = batch[min(w, batch.shape[0] - 1)]
        length = ptr[sentence + 1] - ptr[sentence]
        n = max(n, length)
        space.lengths[w] = length
        space.shares[w] = multiplicity[w] if w < batch.shape[0] else 0.0
    for w in range(n_lanes):
        sentence = batch[min(w, batch.shape[0] - 1)]
        begin = ptr[sentence]
        for s in range(n):
            # Beyond its end a sentence may have any word, since its spans do not include it.
            space.words[s, w] = tokens[begin + s] if s < space.lengths[w] else 0
        for s in range(n if firsts.shape[0] else 0):
            space.firsts[s, w] = firsts[begin + s] if s < space.lengths[w] else 0
            space.lasts[s, w] = lasts[begin + s] if s < space.lengths[w] else n
    return n


@njit_inlined_source
def find_unsafe(rules, space, unsafe):
    """Mark sentences whose sums may be inaccurate, and exclude them from the counts."""
    found = False
    for w in range(unsafe.shape[0]):
        is_safe = (space.worst[w] <= rules.limit) & (space.totals[w] * rules.limit >= 1.0)
        if space.shares[w] > 0.0 and not is_safe:
            unsafe[w] = True
            space.shares[w] = 0.0
            found = True
    return found


@njit_inlined_source
def is_surely_safe(rules, space, n):
    """Return whether upper bounds alone show that no sentence of a batch is unsafe."""
    exponents, bounds = space.exponents, space.bounds
    n_lanes = exponents.shape[1]
    for s in range(n):
        for w in range(n_lanes):
            bounds[s * n + s : s * n + n, w] = 0.0
    for w in range(n_lanes):
        if space.shares[w] > 0.0:
            if not space.totals[w] * rules.limit >= 1.0:
                return False
            bounds[space.lengths[w] - 1, w] = 2.0 / space.totals[w]
    for length in range(n, 0, -1):
        for s in range(n - length + 1):
            e = s + length
            row = s * n + e - 1
            top, rise, bound = exponents[row], space.rises[row], bounds[row]
            for w in range(n_lanes):
                bound[w] *= power_of_two(-rise[w])
                if not bound[w] <= rules.limit:
                    return False
            for m in range(s + 1, e):
                left, right = s * n + m - 1, m * n + e - 1
                for w in range(n_lanes):
                    d = exponents[left, w] + exponents[right, w] - top[w] + rise[w]
                    # A child gets at most the sum of the weights of all rules that produce it,
                    # times the largest sums of its parent and its sibling.
                    step = 2.0 * bound[w] * power_of_two(min(d, 1023))  # 0 for a closed span
                    bounds[left, w] += rules.most_left * step
                    bounds[right, w] += rules.most_right * step
    return True


@njit_loop
def sum_inside(
    tokens, ptr, firsts, lasts, order, n_per_batch, multiplicity, rules, space, log_prob, in_doubt
):
    """Write the log probabilities of sentences."""
    for begin in range(0, order.shape[0], n_per_batch):
        end = min(begin + n_per_batch, order.shape[0])
        batch, times = order[begin:end], multiplicity[begin:end]
        n = load_batch(tokens, ptr, firsts, lasts, batch, times, space)
        fill_inside(rules, space, n, firsts.shape[0] > 0)
        finish_inside(rules, space, log_prob[begin:end])
        in_doubt[begin:end] = not is_surely_safe(rules, space, n)


@njit_loop
def count_batches(
    tokens, ptr, firsts, lasts, order, n_per_batch, multiplicity, rules, space, log_prob, unsafe,
    root_counts, emission_counts, counts_words, counts, symbol_counts,
):  # fmt: skip
    """Write the log probabilities of sentences, and add expected counts."""
    for begin in range(0, order.shape[0], n_per_batch):
        end = min(begin + n_per_batch, order.shape[0])
        batch, times, has_limits = order[begin:end], multiplicity[begin:end], firsts.shape[0] > 0
        n = load_batch(tokens, ptr, firsts, lasts, batch, times, space)
        fill_inside(rules, space, n, has_limits)
        finish_inside(rules, space, log_prob[begin:end])
        is_done = False
        while not is_done:  # repeat without sentences that turn out to be unsafe
            space.count_words[:] = 0.0
            space.count[:] = 0.0
            fill_outside(rules, space, n, has_limits)
            is_done = not find_unsafe(rules, space, unsafe[begin:end])
        add_matrix(space.count_words, counts_words)
        add_matrix(space.count, counts)
        for w in range(end - begin):
            if space.shares[w] > 0.0:
                add_root_and_words(rules, space, n, w, root_counts, emission_counts)
        if symbol_counts.shape[0]:
            for w in range(end - begin):
                for i in range(symbol_counts.shape[1]):
                    symbol_counts[begin + w, i] = space.symbols[i, w]


@njit_inlined_source
def add_root_and_words(rules, space, n, w, root_counts, emission_counts):
    """Add the expected root and emissions of a sentence."""
    z = space.own.shape[0]
    p, c = rules.emission.shape[1], rules.n_branching
    length = space.lengths[w]
    first = rules.first_branching if length > 1 else 0
    for i in range(c if length > 1 else p):
        share = space.inside[(length - 1) * z + i, w] * (space.shares[w] / space.totals[w])
        root_counts[first + i] += rules.root[first + i] * share
    for s in range(length):
        row = (s * n + s) * z
        word = space.words[s, w]
        for i in range(p):
            share = space.outside[row + i, w] * space.inside[row + i, w]
            emission_counts[word, i] += share


@njit_internal_nogc
def export_inside(rules, space, n, w, inside):
    """Write the inside sums of sentence w in extended range, up to factors common to all trees."""
    z, n_symbols, length = space.own.shape[0], rules.root.shape[0], space.lengths[w]
    for s in range(length):
        for e in range(s + 1, length + 1):
            row, out = s * n + e - 1, (s * length + e - 1) * n_symbols
            first = 0 if e - s == 1 else rules.first_branching
            for i in range(rules.emission.shape[1] if e - s == 1 else rules.n_branching):
                inside.mantissas[out + first + i] = space.inside[row * z + i, w]
                inside.exponents[out + first + i] = space.exponents[row, w]


@njit_loop
def draw_trees(
    lanes, times, is_filled, rules, space, weights, inside, splits, choices, stack, streams,
    symbols, lengths,
):  # fmt: skip
    """Draw trees of sentences, `times` each, after `sum_inside`, or given a filled `inside`."""
    n, tree, node = 0, 0, 0
    for w in range(space.lengths.shape[0]):
        n = max(n, space.lengths[w])  # the width of the charts
    for k in range(lanes.shape[0]):
        length = space.lengths[lanes[k]]
        if not is_filled:
            export_inside(rules, space, n, lanes[k], inside)
        for _ in range(times[k]):
            end = node + 2 * length - 1
            draw_tree(
                length, weights, inside, splits, choices, stack, symbols[node:end],
                lengths[node:end], streams[tree],
            )  # fmt: skip
            node = end
            tree += 1


@njit_forceinline
def add_matrix(part, total):
    """Add a matrix to another matrix that may have fewer columns."""
    for z in range(total.shape[0]):
        for i in range(total.shape[1]):
            total[z, i] += part[z, i]
