"""The pruned forest of a sentence under a coarse grammar, and sums over its refined trees.

| name | shape | meaning |
|---|---|---|
| words | (n,) int32 | a sentence |
| best_in, best_out | (n (n + 1) / 2, L + 2, S) | log weights of best insides and outsides |
| items | as best_in, int32 | number of an item in the forest, -1: pruned |
| emission | (E', 2) int32 | symbol, and row of the refined weights |
| word_ptr | (V + 1,) int64 | rows of `emission` of a word |
| log_emission, log_unary, log_binary, log_root | (E',), (U,), (B,), (R,) | coarse weights |
| unary, binary, roots | (U, 2), (B, 3), (R,) int32 | symbols of rules, ordered by the parent |
| unary_ptr, rule_ptr | (S + 1,) int64 | unary and binary rules of a symbol |
| by_left, log_by_left, left_ptr | (B, 3), (B,), (S + 1,) | binary rules ordered by the left child |
| possible, n_possible | (spans, S), (spans,) int32 | symbols at the last level of a span |
| ends, n_ends | (n, S, n), (n, S) int32 | ends of such symbols that begin at a word, in order |
| cut | | items and edges whose best tree has a lower log weight are pruned |
| edge_ptr | (n_items + 1,) int64 | edges into an item |
| edges | (n_edges, 4) int32 | kind, rule, items below (-1: none) |

An item is a symbol over a span at a level: 0, derived by a word or a binary rule; l, by a unary
rule from level l - 1, up to the longest chain L; or the last, L + 1, a copy of any of these, which
binary rules and the root use. So chains of unary rules are exact, and no item derives itself.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline, njit_loop

WORD, UNARY, BINARY, COPY = 0, 1, 2, 3


@njit_forceinline
def span_of(s, e):
    """Return the number of the span of words s, ..., e - 1; shorter spans to e come first."""
    return (e - 1) * e // 2 + s


@njit_loop
def climb(chart, span, unary, log_unary):
    """Write levels 1 and above of a span."""
    n_levels, n_symbols = chart.shape[1], chart.shape[2]
    last = n_levels - 1
    for s in range(n_symbols):
        chart[span, last, s] = chart[span, 0, s]
    for level in range(1, last):
        for s in range(n_symbols):
            chart[span, level, s] = -math.inf
        for u in range(unary.shape[0]):
            s = unary[u, 0]
            x = log_unary[u] + chart[span, level - 1, unary[u, 1]]
            chart[span, level, s] = max(chart[span, level, s], x)
            chart[span, last, s] = max(chart[span, last, s], x)


@njit_loop
def fill_inside(
    words, emission, word_ptr, log_emission, unary, log_unary, by_left, left_ptr, log_by_left,
    best_in, possible, n_possible, ends, n_ends,
):  # fmt: skip
    """Fill the chart of best subtrees, and record the possible symbols and their ends."""
    n, last, n_symbols = words.shape[0], best_in.shape[1] - 1, best_in.shape[2]
    n_ends[:n] = 0
    for e in range(1, n + 1):
        for s in range(e - 1, -1, -1):
            span = span_of(s, e)
            for a in range(n_symbols):
                best_in[span, 0, a] = -math.inf
            if e == s + 1:
                for i in range(word_ptr[words[s]], word_ptr[words[s] + 1]):
                    a = emission[i, 0]
                    best_in[span, 0, a] = max(best_in[span, 0, a], log_emission[i])
            for m in range(s + 1, e):
                first, second = span_of(s, m), span_of(m, e)
                if n_possible[second] == 0:
                    continue
                for k in range(n_possible[first]):
                    left = possible[first, k]
                    inner = best_in[first, last, left]
                    for b in range(left_ptr[left], left_ptr[left + 1]):
                        x = log_by_left[b] + inner + best_in[second, last, by_left[b, 2]]
                        a = by_left[b, 0]
                        if x > best_in[span, 0, a]:
                            best_in[span, 0, a] = x
            climb(best_in, span, unary, log_unary)
            n_possible[span] = 0
            for a in range(n_symbols):
                if best_in[span, last, a] > -math.inf:
                    possible[span, n_possible[span]] = a
                    n_possible[span] += 1
                    ends[s, a, n_ends[s, a]] = e
                    n_ends[s, a] += 1


@njit_loop
def fill_outside(
    n, roots, log_root, unary, log_unary, binary, rule_ptr, log_binary, best_in, ends, n_ends,
    width, best_out,
):  # fmt: skip
    """Fill the chart of best contexts; return the cut, or -inf if there is no tree."""
    last, n_symbols = best_in.shape[1] - 1, best_in.shape[2]
    best_out[: span_of(n - 1, n) + 1] = -math.inf
    top, best = span_of(0, n), -math.inf
    for r in range(roots.shape[0]):
        best_out[top, last, roots[r]] = log_root[r]
        best = max(best, log_root[r] + best_in[top, last, roots[r]])
    if not best > -math.inf:
        return -math.inf
    cut = best - width
    for e in range(n, 0, -1):
        for s in range(e):
            span = span_of(s, e)
            for level in range(last - 1, -1, -1):
                for a in range(n_symbols):
                    best_out[span, level, a] = best_out[span, last, a]
                if level < last - 1:
                    for u in range(unary.shape[0]):
                        x = log_unary[u] + best_out[span, level + 1, unary[u, 0]]
                        a = unary[u, 1]
                        best_out[span, level, a] = max(best_out[span, level, a], x)
            for a in range(n_symbols):
                outer = best_out[span, 0, a]
                if outer + best_in[span, 0, a] < cut:
                    continue  # contexts of items that will be pruned are left incomplete
                for b in range(rule_ptr[a], rule_ptr[a + 1]):
                    left, right = binary[b, 1], binary[b, 2]
                    x = outer + log_binary[b]
                    for k in range(n_ends[s, left]):
                        m = ends[s, left, k]
                        if m >= e:
                            break
                        first, second = span_of(s, m), span_of(m, e)
                        inner_left = best_in[first, last, left]
                        inner_right = best_in[second, last, right]
                        if x + inner_left + inner_right >= cut:
                            y = x + inner_right
                            best_out[first, last, left] = max(best_out[first, last, left], y)
                            y = x + inner_left
                            best_out[second, last, right] = max(best_out[second, last, right], y)
    return cut


@njit_loop
def number_items(n, best_in, best_out, cut, items):
    """Assign numbers to the kept items, descendants first, and return their number."""
    n_items = 0
    for e in range(1, n + 1):
        for s in range(e - 1, -1, -1):
            span = span_of(s, e)
            for level in range(items.shape[1]):
                for a in range(items.shape[2]):
                    items[span, level, a] = -1
                    if best_in[span, level, a] + best_out[span, level, a] >= cut:
                        items[span, level, a] = n_items
                        n_items += 1
    return n_items


@njit_forceinline
def put_edge(edges, n, kind, rule, first, second):
    """Write an edge unless edges are only counted; return their new number."""
    if edges.shape[0] > 0:
        edges[n, 0], edges[n, 1], edges[n, 2], edges[n, 3] = kind, rule, first, second
    return n + 1


@njit_loop
def link_items(
    words, emission, word_ptr, unary, unary_ptr, log_unary, binary, rule_ptr, log_binary, best_in,
    best_out, cut, items, ends, n_ends, edge_ptr, edges,
):  # fmt: skip
    """Write the edges of the forest, and return their number; if `edges` is empty, only count."""
    # Binary edges of an item are ordered by rule. Only the `ends` of items are kept.
    n, last = words.shape[0], best_in.shape[1] - 1
    n_edges = 0
    n_ends[:n] = 0
    for e in range(1, n + 1):
        for s in range(e - 1, -1, -1):
            span = span_of(s, e)
            for level in range(last + 1):
                for a in range(items.shape[2]):
                    item = items[span, level, a]
                    if item < 0:
                        continue
                    edge_ptr[item] = n_edges
                    outer = best_out[span, level, a]
                    if level == last:
                        for below in range(last):
                            if items[span, below, a] >= 0:
                                child = items[span, below, a]
                                n_edges = put_edge(edges, n_edges, COPY, -1, child, -1)
                        ends[s, a, n_ends[s, a]] = e
                        n_ends[s, a] += 1
                    elif level > 0:
                        for u in range(unary_ptr[a], unary_ptr[a + 1]):
                            child = items[span, level - 1, unary[u, 1]]
                            x = outer + log_unary[u] + best_in[span, level - 1, unary[u, 1]]
                            if child >= 0 and x >= cut:
                                n_edges = put_edge(edges, n_edges, UNARY, u, child, -1)
                    elif e == s + 1:
                        for i in range(word_ptr[words[s]], word_ptr[words[s] + 1]):
                            if emission[i, 0] == a:
                                row = emission[i, 1]
                                n_edges = put_edge(edges, n_edges, WORD, row, -1, -1)
                    else:
                        for b in range(rule_ptr[a], rule_ptr[a + 1]):
                            x = outer + log_binary[b]
                            for k in range(n_ends[s, binary[b, 1]]):
                                m = ends[s, binary[b, 1], k]
                                first, second = span_of(s, m), span_of(m, e)
                                left = items[first, last, binary[b, 1]]
                                right = items[second, last, binary[b, 2]]
                                y = best_in[first, last, binary[b, 1]]
                                y += best_in[second, last, binary[b, 2]]
                                if right >= 0 and x + y >= cut:
                                    n_edges = put_edge(edges, n_edges, BINARY, b, left, right)
    edge_ptr[edge_ptr.shape[0] - 1] = n_edges
    return n_edges


# Sums over the trees of a forest with subsymbols, and the choice of a tree.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | edge_ptr, edges | | (n_items + 1,), (n_edges, 4) | as above |
# | weights | | (R, K), (E', K), (U, K, K), (B, K, K, K) | as in `_kernels/_subsymbols` |
# | scale | | (R,), (E',), (U,), (B,) | logarithms of the scales of the weights |
# | inside | I | (n_items, K) | rows sum to 1 |
# | log_in | | (n_items,) | logarithms of the scales of the rows |
# | outside | O | (n_items, K) | scaled such that sum of I O is the item's posterior probability |
# | pairs | | (K, K) | scratch |
# | shares | | (n_edges,) | posterior probabilities of edges |
# | scores, root_scores | | (n_edges,), (n_items,) | of edges, -inf: impossible; of items as roots |
# | best | | (n_items,) | the highest sum of scores of an item's subtrees |
# | choice | | (n_items,) int64 | the best edge of an item, the first of equals; -1: none possible |


LEAST = 1e-150
"""Least sum over subsymbols, and least sum relative to its scale: smaller sums count as 0, so that
reciprocals and products of these stay within a float's range."""


@njit_forceinline
def log_scale_of(edge, edges, log_in, scale):
    """Return the logarithm of the scale of an edge's weight."""
    kind, at = edges[edge, 0], edges[edge, 1]
    if kind == WORD:
        return scale.emission[at]
    x = log_in[edges[edge, 2]]
    if kind == UNARY:
        x += scale.unary[at]
    elif kind == BINARY:
        x += scale.binary[at] + log_in[edges[edge, 3]]
    return x


@njit_loop
def sum_inside(edge_ptr, edges, weights, scale, inside, log_in, pairs):
    """Fill the inside weights of all items."""
    n = inside.shape[1]
    for item in range(edge_ptr.shape[0] - 1):
        top = -math.inf
        for edge in range(edge_ptr[item], edge_ptr[item + 1]):
            top = max(top, log_scale_of(edge, edges, log_in, scale))
        for z in range(n):
            inside[item, z] = 0.0
        if not top > -math.inf:
            log_in[item] = -math.inf
            continue
        for i in range(n):
            for j in range(n):
                pairs[i, j] = 0.0
        for edge in range(edge_ptr[item], edge_ptr[item + 1]):
            kind, at, first = edges[edge, 0], edges[edge, 1], edges[edge, 2]
            factor = math.exp(log_scale_of(edge, edges, log_in, scale) - top)
            if kind == WORD:
                for z in range(n):
                    inside[item, z] += factor * weights.emission[at, z]
            elif kind == UNARY:
                for i in range(n):
                    x = factor * inside[first, i]
                    for z in range(n):
                        inside[item, z] += x * weights.unary[at, i, z]
            elif kind == BINARY:
                second = edges[edge, 3]
                for i in range(n):
                    x = factor * inside[first, i]
                    for j in range(n):
                        pairs[i, j] += x * inside[second, j]
                if edge + 1 < edge_ptr[item + 1] and edges[edge + 1, 1] == at:
                    continue  # sum children of edges with the same rule, then apply it once
                for i in range(n):
                    for j in range(n):
                        x = pairs[i, j]
                        pairs[i, j] = 0.0
                        for z in range(n):
                            inside[item, z] += x * weights.binary[at, i, j, z]
            else:
                for z in range(n):
                    inside[item, z] += factor * inside[first, z]
        total = 0.0
        for z in range(n):
            total += inside[item, z]
        for z in range(n):
            inside[item, z] = inside[item, z] / total if inside[item, z] > LEAST * total else 0.0
        log_in[item] = top + math.log(total) if total > LEAST else -math.inf


@njit_forceinline
def log_root(r, root_items, weights, scale, inside, log_in):
    """Return the log of the summed weight of the trees with a root, or -inf if there are none."""
    item, total = root_items[r], 0.0
    if item < 0:
        return -math.inf
    for z in range(inside.shape[1]):
        total += weights.root[r, z] * inside[item, z]
    return log_in[item] + scale.root[r] + math.log(total) if total > LEAST else -math.inf


@njit_forceinline
def enter_roots(root_items, weights, scale, inside, log_in, outside):
    """Write the outside weights of roots; return the log of the summed weight of all trees."""
    log_sum = -math.inf
    for r in range(root_items.shape[0]):
        x = log_root(r, root_items, weights, scale, inside, log_in)
        if x > -math.inf:
            top, low = max(log_sum, x), min(log_sum, x)
            log_sum = top + math.log1p(math.exp(low - top))
    for r in range(root_items.shape[0]):
        if log_root(r, root_items, weights, scale, inside, log_in) > -math.inf:
            item = root_items[r]
            factor = math.exp(log_in[item] + scale.root[r] - log_sum)
            for z in range(inside.shape[1]):
                outside[item, z] = factor * weights.root[r, z]
    return log_sum


@njit_loop
def sum_outside(
    edge_ptr, edges, root_items, weights, scale, inside, log_in, outside, pairs, shares
):
    """Fill `outside` and `shares`; return the log of the summed weight of all trees."""
    n, n_items = inside.shape[1], edge_ptr.shape[0] - 1
    outside[:n_items] = 0.0
    log_sum = enter_roots(root_items, weights, scale, inside, log_in, outside)
    if not log_sum > -math.inf:
        return log_sum  # without filling
    for item in range(n_items - 1, -1, -1):
        applied = -1
        if not log_in[item] > -math.inf:
            shares[edge_ptr[item] : edge_ptr[item + 1]] = 0.0
            continue
        for z in range(n):
            if inside[item, z] == 0.0:  # else without bound
                outside[item, z] = 0.0
        for edge in range(edge_ptr[item], edge_ptr[item + 1]):
            kind, at, first = edges[edge, 0], edges[edge, 1], edges[edge, 2]
            log_scale = log_scale_of(edge, edges, log_in, scale)
            share = 0.0
            shares[edge] = 0.0
            if not log_scale > -math.inf:
                continue
            factor = math.exp(log_scale - log_in[item])
            if kind == WORD:
                for z in range(n):
                    share += factor * weights.emission[at, z] * outside[item, z]
            elif kind == UNARY:
                for i in range(n):
                    x = 0.0
                    for z in range(n):
                        x += weights.unary[at, i, z] * outside[item, z]
                    outside[first, i] += factor * x
                    share += factor * x * inside[first, i]
            elif kind == BINARY:
                second = edges[edge, 3]
                if at != applied:
                    applied = at
                    for i in range(n):
                        for j in range(n):
                            x = 0.0
                            for z in range(n):
                                x += weights.binary[at, i, j, z] * outside[item, z]
                            pairs[i, j] = x
                for i in range(n):
                    x, y = 0.0, factor * inside[first, i]
                    for j in range(n):
                        x += pairs[i, j] * inside[second, j]
                        outside[second, j] += pairs[i, j] * y
                    outside[first, i] += factor * x
                    share += x * y
            else:
                for z in range(n):
                    outside[first, z] += factor * outside[item, z]
                    share += factor * outside[item, z] * inside[first, z]
            shares[edge] = share
    return log_sum


@njit_loop
def find_best(edge_ptr, edges, root_items, scores, root_scores, best, choice):
    """Find the tree with the highest sum of scores; return its root item, or -1 without a tree."""
    for item in range(edge_ptr.shape[0] - 1):
        best[item] = -math.inf
        choice[item] = -1
        for edge in range(edge_ptr[item], edge_ptr[item + 1]):
            x = scores[edge]
            if edges[edge, 0] != WORD:
                x += best[edges[edge, 2]]
            if edges[edge, 0] == BINARY:
                x += best[edges[edge, 3]]
            if x > best[item]:
                best[item] = x
                choice[item] = edge
    root, top = -1, -math.inf
    for r in range(root_items.shape[0]):
        item = root_items[r]
        if item >= 0 and best[item] + root_scores[item] > top:
            root, top = item, best[item] + root_scores[item]
    return root
