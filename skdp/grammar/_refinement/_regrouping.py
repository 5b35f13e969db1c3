"""Splits, merges and smoothing of the subsymbols of refined grammars."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp.grammar._refinement import _kernels_merges as kernels
from skdp.grammar._refinement._messages import (
    RefinedTables,
    ScaledWeights,
    count_nodes,
    expect,
    symbols_of_nodes,
)
from skdp.grammar._refinement._treebank import CoarseRules, Treebank


class SubsymbolRegrouping(NamedTuple):
    """New subsymbols derived from old subsymbols."""

    sizes: NDArray[np.int64]  # (S,), new numbers of subsymbols; those from there on are never used
    as_child: Floats  # (S, K, K'), share of an old subsymbol's weight that a new one gets
    as_parent: Floats  # (S, K, K')
    partner: Ints  # (S, K'), the other half of a split subsymbol, -1: none

    def apply(self, logs: RefinedTables, rules: CoarseRules) -> RefinedTables:
        """Return the logarithms of the new weights."""
        root, emission, unary, binary = (np.exp(part) for part in logs)
        child, parent = self.as_child, self.as_parent
        root = _map(root, 1, child[rules.roots])
        emission = _map(emission, 1, parent[rules.emission[:, 0]])
        unary = _map(unary, 1, child[rules.unary[:, 1]])
        unary = _map(unary, 2, parent[rules.unary[:, 0]])
        binary = _map(binary, 1, child[rules.binary[:, 1]])
        binary = _map(binary, 2, child[rules.binary[:, 2]])
        binary = _map(binary, 3, parent[rules.binary[:, 0]])
        with np.errstate(divide="ignore"):
            return RefinedTables(*(np.log(part) for part in (root, emission, unary, binary)))


def _map(table: Floats, axis: int, maps: Floats) -> Floats:
    """Return a table after mapping one of its axes by a matrix for each rule."""
    rows = np.moveaxis(table, axis, -1)
    maps = maps.reshape(len(maps), *[1] * (rows.ndim - 3), *maps.shape[1:])
    made = rows[:, None] @ maps if rows.ndim == 2 else rows @ maps
    if rows.ndim == 2:
        made = made[:, 0]
    return np.ascontiguousarray(np.moveaxis(made, -1, axis))


def split_in_two(sizes: NDArray[np.int64], nodes: Floats, n_components: int) -> SubsymbolRegrouping:
    """Return splits of all subsymbols, or of the most frequent, up to `n_components` per symbol."""
    made = np.minimum(2 * sizes, n_components)
    shape = (len(sizes), nodes.shape[1], int(made.max()))
    as_child, as_parent = np.zeros(shape), np.zeros(shape)
    partner = np.full((shape[0], shape[2]), -1, dtype=np.int32)
    for s, (size, new) in enumerate(zip(sizes, made, strict=True)):
        is_split = np.zeros(size, dtype=np.int64)
        is_split[np.argsort(-nodes[s, :size], kind="stable")[: new - size]] = 1
        origin = np.repeat(np.arange(size), 1 + is_split)
        places = np.arange(new)
        as_parent[s, origin, places] = 1.0
        as_child[s, origin, places] = 1.0 / (1 + is_split[origin])
        first = np.flatnonzero(origin[1:] == origin[:-1])
        partner[s, first], partner[s, first + 1] = first + 1, first
    return SubsymbolRegrouping(made, as_child, as_parent, partner)


def merge_pairs(
    sizes: NDArray[np.int64], partner: Ints, is_merged: NDArray[np.bool_], share: Floats
) -> SubsymbolRegrouping:
    """Return merges of pairs of neighbors, marked by `is_merged` at the first of the two.

    As a parent, a merged subsymbol is their average, weighted by their shares of the nodes.
    """
    n_symbols, n = partner.shape
    used = np.arange(n) < sizes[:, None]
    dropped = np.zeros_like(is_merged)
    dropped[:, 1:] = is_merged[:, :-1]
    place = np.cumsum(used & ~dropped, axis=1) - 1
    made = place.max(axis=1) + 1
    as_child = np.zeros((n_symbols, n, int(made.max())))
    s, z = np.nonzero(used)
    as_child[s, z, place[s, z]] = 1.0
    weight = np.where(is_merged | dropped, share, 1.0)
    return SubsymbolRegrouping(
        made, as_child, as_child * weight[:, :, None], np.full((n_symbols, n), -1, dtype=np.int32)
    )


def shares_of_pairs(partner: Ints, nodes: Floats) -> Floats:
    """Return the share of each of two halves in their nodes, (S, K)."""
    others = np.take_along_axis(nodes, np.maximum(partner, 0), axis=1)
    total = nodes + others
    return np.divide(nodes, total, out=np.full_like(nodes, 0.5), where=total > 0.0)


def find_losses(trees: Treebank, logs: RefinedTables, partner: Ints, share: Floats) -> Floats:
    """Return the loss of log likelihood of every merge, (S, K), at the first of the two.

    Each node is considered separately, with the rest of the tree unchanged (Petrov et al. 2006):
    this is exact if no tree has two nodes of the symbol.
    """
    scaled = ScaledWeights.of(logs)
    n = logs.n_components
    messages = np.empty((2, trees.largest, n))
    scratch = [np.zeros(part.shape) for part in (logs.unary, logs.binary)]
    losses = np.zeros(partner.shape)
    kernels.sum_losses(
        *trees[1:], *scaled.weights, symbols_of_nodes(trees), partner, share, *messages,
        np.empty((n, n)), *scratch, losses,
    )  # fmt: skip
    return losses


def choose_merges(
    trees: Treebank, logs: RefinedTables, partner: Ints, merge_share: float
) -> tuple[NDArray[np.bool_], Floats]:
    """Return a mask of the pairs to merge, which lose least, and the halves' shares of nodes."""
    share = shares_of_pairs(partner, count_nodes(trees.rules, expect(trees, logs)[1]))
    losses = find_losses(trees, logs, partner, share)
    is_first = partner > np.arange(partner.shape[1])
    pairs = np.flatnonzero(is_first)
    cheapest = pairs[np.argsort(losses.reshape(-1)[pairs], kind="stable")]
    chosen = np.zeros(partner.size, dtype=bool)
    chosen[cheapest[: round(merge_share * len(pairs))]] = True
    return chosen.reshape(partner.shape), share


def smooth(
    logs: RefinedTables, rules: CoarseRules, rule_share: float, word_share: float
) -> RefinedTables:
    """Return a grammar of rules mixed with their means over the subsymbols of the left side."""
    tables = [np.exp(part) for part in (logs.emission, logs.unary, logs.binary)]
    owners = [table[:, 0] for table in (rules.emission, rules.unary, rules.binary)]

    def sums() -> Floats:
        return count_nodes(rules, RefinedTables(logs.root, *tables))

    is_used = sums() > 0.0  # unused subsymbols have no weights
    for place, share in enumerate((word_share, rule_share, rule_share)):
        shape = tables[place].shape
        axes = (shape[0], *[1] * (len(shape) - 2), shape[-1])
        used = is_used[owners[place]].reshape(axes)
        mean = tables[place].sum(axis=-1, keepdims=True) / used.sum(axis=-1, keepdims=True)
        tables[place] = np.where(used, (1.0 - share) * tables[place] + share * mean, 0.0)
    # A symbol with both words and children may not sum to 1 with two different shares.
    totals = np.where(is_used, sums(), 1.0)
    for table, owner in zip(tables, owners, strict=True):
        shape = table.shape
        table /= totals[owner].reshape(shape[0], *[1] * (len(shape) - 2), shape[-1])
    with np.errstate(divide="ignore"):
        return RefinedTables(logs.root, *(np.log(table) for table in tables))
