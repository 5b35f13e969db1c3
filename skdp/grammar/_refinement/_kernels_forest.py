"""Sums over the trees of a forest with subsymbols, and the choice of a tree.

| name | symbol | shape | meaning |
|---|---|---|---|
| edge_ptr, edges | | (n_items + 1,), (n_edges, 4) | of `_kernels_coarse` |
| emission | | (E', K) | weights of words, as in `_kernels_messages` |
| unary, binary | | (U, K, K), (B, K, K, K) | weights of rules, as there |
| scale_... | | (E',), (U,), (B,) | logarithms of the scales of the weights |
| inside | I | (n_items, K) | rows sum to 1 |
| log_in | | (n_items,) | logarithms of the scales of the rows |
| outside | O | (n_items, K) | scaled such that sum of I O is the item's posterior probability |
| pairs | | (K, K) | scratch |
| shares | | (n_edges,) | posterior probabilities of edges |
| scores, root_scores | | (n_edges,), (n_items,) | of edges, -inf: impossible; of items as roots |
| best | | (n_items,) | the highest sum of scores of an item's subtrees |
| choice | | (n_items,) int64 | the best edge of an item, the first of equals; -1: none possible |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline, njit_loop
from skdp.grammar._refinement._kernels_coarse import BINARY, UNARY, WORD

LEAST = 1e-150
"""Least sum over subsymbols, and least sum relative to its scale: smaller sums count as 0, so that
reciprocals and products of these stay within a float's range."""


@njit_forceinline
def log_scale_of(edge, edges, log_in, scale_emission, scale_unary, scale_binary):
    """Return the logarithm of the scale of an edge's weight."""
    kind, at = edges[edge, 0], edges[edge, 1]
    if kind == WORD:
        return scale_emission[at]
    x = log_in[edges[edge, 2]]
    if kind == UNARY:
        x += scale_unary[at]
    elif kind == BINARY:
        x += scale_binary[at] + log_in[edges[edge, 3]]
    return x


@njit_loop
def sum_inside(
    edge_ptr, edges, emission, unary, binary, scale_emission, scale_unary, scale_binary,
    inside, log_in, pairs,
):  # fmt: skip
    """Fill the inside weights of all items."""
    n = inside.shape[1]
    for item in range(edge_ptr.shape[0] - 1):
        top = -math.inf
        for edge in range(edge_ptr[item], edge_ptr[item + 1]):
            top = max(
                top,
                log_scale_of(edge, edges, log_in, scale_emission, scale_unary, scale_binary),
            )
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
            factor = math.exp(
                log_scale_of(edge, edges, log_in, scale_emission, scale_unary, scale_binary) - top
            )
            if kind == WORD:
                for z in range(n):
                    inside[item, z] += factor * emission[at, z]
            elif kind == UNARY:
                for i in range(n):
                    x = factor * inside[first, i]
                    for z in range(n):
                        inside[item, z] += x * unary[at, i, z]
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
                            inside[item, z] += x * binary[at, i, j, z]
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
def log_root(r, root_items, root, scale_root, inside, log_in):
    """Return the log of the summed weight of the trees with a root, or -inf if there are none."""
    item, total = root_items[r], 0.0
    if item < 0:
        return -math.inf
    for z in range(inside.shape[1]):
        total += root[r, z] * inside[item, z]
    return log_in[item] + scale_root[r] + math.log(total) if total > LEAST else -math.inf


@njit_forceinline
def enter_roots(root_items, root, scale_root, inside, log_in, outside):
    """Write the outside weights of roots; return the log of the summed weight of all trees."""
    log_sum = -math.inf
    for r in range(root_items.shape[0]):
        x = log_root(r, root_items, root, scale_root, inside, log_in)
        if x > -math.inf:
            top, low = max(log_sum, x), min(log_sum, x)
            log_sum = top + math.log1p(math.exp(low - top))
    for r in range(root_items.shape[0]):
        if log_root(r, root_items, root, scale_root, inside, log_in) > -math.inf:
            item = root_items[r]
            factor = math.exp(log_in[item] + scale_root[r] - log_sum)
            for z in range(inside.shape[1]):
                outside[item, z] = factor * root[r, z]
    return log_sum


@njit_loop
def sum_outside(
    edge_ptr, edges, root_items, root, emission, unary, binary, scale_root, scale_emission,
    scale_unary, scale_binary, inside, log_in, outside, pairs, shares,
):  # fmt: skip
    """Fill `outside` and `shares`; return the log of the summed weight of all trees."""
    n, n_items = inside.shape[1], edge_ptr.shape[0] - 1
    outside[:n_items] = 0.0
    log_sum = enter_roots(root_items, root, scale_root, inside, log_in, outside)
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
            scale = log_scale_of(edge, edges, log_in, scale_emission, scale_unary, scale_binary)
            share = 0.0
            shares[edge] = 0.0
            if not scale > -math.inf:
                continue
            factor = math.exp(scale - log_in[item])
            if kind == WORD:
                for z in range(n):
                    share += factor * emission[at, z] * outside[item, z]
            elif kind == UNARY:
                for i in range(n):
                    x = 0.0
                    for z in range(n):
                        x += unary[at, i, z] * outside[item, z]
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
                                x += binary[at, i, j, z] * outside[item, z]
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
