"""Losses of log likelihood of observed trees from merging two subsymbols of a symbol.

| name | symbol | shape | meaning |
|---|---|---|---|
| left, right, rule, tree_ptr, root_rule | | | as in `_kernels_messages` |
| symbol | s | (N,) int32 | symbols of nodes |
| partner | | (S, K) int32 | the subsymbol that a subsymbol may be merged with, -1: none |
| share | p | (S, K) | share of the expected nodes of the two |
| inside, outside | I, O | (n_nodes, K) | scaled: sum of I O is 1 |
| losses | | (S, K) | losses of log likelihood; entry z < z' belongs to the pair |

After a merge, the two halves z, z' at a node have I = p I_z + p' I_z' and O = O_z + O_z'. With
everything else unchanged, the probability of the tree changes by the factor 1 - I_z O_z - I_z'
O_z' + (p I_z + p' I_z') (O_z + O_z').
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline, njit_loop
from skdp.grammar._refinement._kernels_messages import collect, pass_binary, pass_unary


@njit_forceinline
def lose(node, s, partner, share, inside, outside, losses):
    """Add the losses of a tree from the merges at one of its nodes."""
    for z in range(inside.shape[1]):
        y = partner[s, z]
        if y > z:
            apart = inside[node, z] * outside[node, z] + inside[node, y] * outside[node, y]
            within = share[s, z] * inside[node, z] + share[s, y] * inside[node, y]
            joined = within * (outside[node, z] + outside[node, y])
            losses[s, z] -= math.log(max(1.0 - apart, 0.0) + joined)


@njit_loop
def sum_losses(
    left, right, rule, tree_ptr, root_rule, root, emission, unary, binary, symbol, partner, share,
    inside, outside, pairs, counts_unary, counts_binary, losses,
):  # fmt: skip
    """Add the losses of all pairs, with each node considered separately; no tree has weight 0."""
    n = inside.shape[1]
    for t in range(root_rule.shape[0]):
        start, stop = tree_ptr[t], tree_ptr[t + 1]
        lefts, rights, rules = left[start:stop], right[start:stop], rule[start:stop]
        for node in range(stop - start):
            collect(node, lefts, rights, rules, emission, unary, binary, inside)
        top, total = stop - start - 1, 0.0
        for z in range(n):
            total += root[root_rule[t], z] * inside[top, z]
        for z in range(n):
            outside[top, z] = root[root_rule[t], z] / total
        for node in range(top, -1, -1):
            lose(node, symbol[start + node], partner, share, inside, outside, losses)
            at = rules[node]
            if rights[node] >= 0:
                pass_binary(
                    node, lefts[node], rights[node], at, binary, inside, outside, pairs,
                    counts_binary,
                )  # fmt: skip
            elif lefts[node] >= 0:
                pass_unary(node, lefts[node], at, unary, inside, outside, counts_unary)
