"""Messages along observed trees whose symbols have subsymbols, and losses from merges.

| name | symbol | shape | meaning |
|---|---|---|---|
| left, right | | (n_nodes,) int32 | children (-1: none), numbered in their tree, before parents |
| rule | | (n_nodes,) int32 | id of a node's coarse rule among the rules of its kind |
| weights.root | | (R, K) | weights of the root's subsymbol |
| weights.emission | s -> x | (E, K) | weights of the refined rules, for subsymbol z of s |
| weights.unary | s -> s' | (U, K, K) | z' of s', z of s |
| weights.binary | s -> s' s'' | (B, K, K, K) | z' of s', z'' of s'', z of s |
| inside | I | (n_nodes, K) | scaled: rows sum to 1 |
| outside | O | (n_nodes, K) | scaled: sum of I O is 1 |
| pairs | | (K, K) | scratch |
| counts | | as the weights | expected uses divided by the weight of the rule |
| labels | z | (n_nodes,) int32 | subsymbols |
| tree_ptr | | (n_trees + 1,) | offsets of nodes; the last node of a tree is its root |
| log_sum, log_best | | (n_trees,) | log weight of a tree's labelings, and of its best labeling |

A node without children emits a word, and a node with only a left child is a unary rule. Subsymbols
of the parent are on the last axis: all inner loops except those of the outside pass run along it.
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_forceinline, njit_loop

# Sums over subsymbols


@njit_forceinline
def collect(node, left, right, rule, weights, inside):
    """Write a node's normalized inside weights and return their sum before normalization."""
    n = inside.shape[1]
    at, below, second = rule[node], left[node], right[node]
    if below < 0:
        for z in range(n):
            inside[node, z] = weights.emission[at, z]
    else:
        for z in range(n):
            inside[node, z] = 0.0
        if second < 0:
            for i in range(n):
                x = inside[below, i]
                for z in range(n):
                    inside[node, z] += x * weights.unary[at, i, z]
        else:
            for i in range(n):
                for j in range(n):
                    x = inside[below, i] * inside[second, j]
                    for z in range(n):
                        inside[node, z] += x * weights.binary[at, i, j, z]
    total = 0.0
    for z in range(n):
        total += inside[node, z]
    if total > 0.0:
        for z in range(n):
            inside[node, z] /= total
    return total


@njit_forceinline
def pass_unary(node, child, at, weights, inside, outside, counts):
    """Write an only child's outside weights and add the uses of the rule."""
    n = inside.shape[1]
    total = 0.0
    for i in range(n):
        x = 0.0
        for z in range(n):
            x += weights.unary[at, i, z] * outside[node, z]
        outside[child, i] = x
        total += x * inside[child, i]
    for i in range(n):
        outside[child, i] /= total
        x = inside[child, i] / total
        for z in range(n):
            counts.unary[at, i, z] += x * outside[node, z]


@njit_forceinline
def pass_binary(node, first, second, at, weights, inside, outside, pairs, counts):
    """Write two children's outside weights and add the uses of the rule."""
    n = inside.shape[1]
    for i in range(n):
        outside[first, i] = 0.0
        outside[second, i] = 0.0
    total = 0.0
    for i in range(n):
        for j in range(n):
            x = 0.0
            for z in range(n):
                x += weights.binary[at, i, j, z] * outside[node, z]
            pairs[i, j] = x
        x = 0.0
        for j in range(n):
            x += pairs[i, j] * inside[second, j]
        outside[first, i] = x
        total += x * inside[first, i]
    for i in range(n):
        x = inside[first, i]
        for j in range(n):
            outside[second, j] += pairs[i, j] * x
    for i in range(n):
        outside[first, i] /= total
        outside[second, i] /= total
    for i in range(n):
        for j in range(n):
            x = inside[first, i] * inside[second, j] / total
            for z in range(n):
                counts.binary[at, i, j, z] += x * outside[node, z]


# Losses of log likelihood from merging two subsymbols of a symbol.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | symbol | s | (N,) int32 | symbols of nodes |
# | partner | | (S, K) int32 | the subsymbol that a subsymbol may be merged with, -1: none |
# | share | p | (S, K) | share of the expected nodes of the two |
# | losses | | (S, K) | losses of log likelihood; entry z < z' belongs to the pair |
#
# After a merge, the two halves z, z' at a node have I = p I_z + p' I_z' and O = O_z + O_z'. With
# everything else unchanged, the probability of the tree changes by the factor 1 - I_z O_z - I_z'
# O_z' + (p I_z + p' I_z') (O_z + O_z').


@njit_forceinline
def lose(node, place, merges, inside, outside):
    """Add the losses of a tree from the merges at one of its nodes, given the arrays above."""
    symbol, partner, share, losses = merges
    s = symbol[place]
    for z in range(inside.shape[1]):
        y = partner[s, z]
        if y > z:
            apart = inside[node, z] * outside[node, z] + inside[node, y] * outside[node, y]
            within = share[s, z] * inside[node, z] + share[s, y] * inside[node, y]
            joined = within * (outside[node, z] + outside[node, y])
            losses[s, z] -= math.log(max(1.0 - apart, 0.0) + joined)


@njit_loop
def expect_labels(
    left, right, rule, tree_ptr, root_rule, weights, inside, outside, pairs, counts, log_sum, merges
):
    """Add the expected uses of rules over their weights, and losses from `merges`, unless None."""
    n = inside.shape[1]
    for t in range(root_rule.shape[0]):
        start, stop = tree_ptr[t], tree_ptr[t + 1]
        lefts, rights, rules = left[start:stop], right[start:stop], rule[start:stop]
        logs = 0.0
        for node in range(stop - start):
            logs += math.log(collect(node, lefts, rights, rules, weights, inside))
        top, total = stop - start - 1, 0.0
        for z in range(n):
            total += weights.root[root_rule[t], z] * inside[top, z]
        log_sum[t] = logs + math.log(total)
        if not log_sum[t] > -math.inf:
            log_sum[t] = -math.inf
            continue  # nothing is added for a tree of weight 0
        for z in range(n):
            outside[top, z] = weights.root[root_rule[t], z] / total
            counts.root[root_rule[t], z] += inside[top, z] / total
        for node in range(top, -1, -1):
            if merges is not None:
                lose(node, start + node, merges, inside, outside)
            at = rules[node]
            if lefts[node] < 0:
                total = 0.0
                for z in range(n):
                    total += weights.emission[at, z] * outside[node, z]
                for z in range(n):
                    counts.emission[at, z] += outside[node, z] / total
            elif rights[node] < 0:
                pass_unary(node, lefts[node], at, weights, inside, outside, counts)
            else:
                pass_binary(
                    node, lefts[node], rights[node], at, weights, inside, outside, pairs, counts
                )


# The most probable subsymbols


@njit_forceinline
def collect_best(node, left, right, rule, weights, inside):
    """Write the weights of a node's best labelings over the largest, which is returned."""
    n = inside.shape[1]
    at, below, second = rule[node], left[node], right[node]
    for z in range(n):
        if below < 0:
            best = weights.emission[at, z]
        elif second < 0:
            best = 0.0
            for i in range(n):
                best = max(best, inside[below, i] * weights.unary[at, i, z])
        else:
            best = 0.0
            for i in range(n):
                for j in range(n):
                    x = inside[below, i] * inside[second, j] * weights.binary[at, i, j, z]
                    best = max(best, x)
        inside[node, z] = best
    largest = 0.0
    for z in range(n):
        largest = max(largest, inside[node, z])
    if largest > 0.0:
        for z in range(n):
            inside[node, z] /= largest
    return largest


@njit_forceinline
def choose_children(node, left, right, rule, weights, inside, labels):
    """Write the subsymbols of a node's children in the best labeling, the first of equals."""
    n = inside.shape[1]
    at, below, second, z = rule[node], left[node], right[node], labels[node]
    best = -1.0
    for i in range(n):
        if second < 0:
            x = inside[below, i] * weights.unary[at, i, z]
            if x > best:
                best = x
                labels[below] = i
        else:
            for j in range(n):
                x = inside[below, i] * inside[second, j] * weights.binary[at, i, j, z]
                if x > best:
                    best = x
                    labels[below] = i
                    labels[second] = j


@njit_loop
def find_labels(left, right, rule, tree_ptr, root_rule, weights, inside, labels, log_best):
    """Write the most probable subsymbols of all nodes."""
    n = inside.shape[1]
    for t in range(root_rule.shape[0]):
        start, stop = tree_ptr[t], tree_ptr[t + 1]
        lefts, rights, rules = left[start:stop], right[start:stop], rule[start:stop]
        found = labels[start:stop]
        logs = 0.0
        for node in range(stop - start):
            logs += math.log(collect_best(node, lefts, rights, rules, weights, inside))
        top, best = stop - start - 1, -1.0
        for z in range(n):
            x = weights.root[root_rule[t], z] * inside[top, z]
            if x > best:
                best = x
                found[top] = z
        log_best[t] = logs + math.log(best)
        for node in range(top, -1, -1):
            if lefts[node] >= 0:
                choose_children(node, lefts, rights, rules, weights, inside, found)
