"""Expected and most probable subsymbols of observed trees under given weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.grammar._refinement import _kernels_messages as kernels
from skdp.grammar._refinement._treebank import CoarseRules, Treebank


class RefinedTables(NamedTuple):
    """A number for every refined rule: a weight, its logarithm, or a count."""

    root: Floats  # (R, K), by the root's subsymbol
    emission: Floats  # (E, K), by the symbol's subsymbol
    unary: Floats  # (U, K, K), by the subsymbols of child and parent
    binary: Floats  # (B, K, K, K), by the subsymbols of left child, right child and parent

    @classmethod
    def zeros(cls, rules: CoarseRules, n_components: int) -> RefinedTables:
        """Return tables of zeros."""
        sizes = (len(rules.roots), len(rules.emission), len(rules.unary), len(rules.binary))
        return cls(
            *(np.zeros((n, *[n_components] * d)) for n, d in zip(sizes, (1, 1, 2, 3), strict=True))
        )

    @property
    def n_components(self) -> int:
        """Number of subsymbols."""
        return self.root.shape[1]


class ScaledWeights(NamedTuple):
    """Weights divided by the largest of their coarse rule, and its logarithm."""

    weights: RefinedTables
    log_scale: tuple[Floats, Floats, Floats, Floats]

    @classmethod
    def of(cls, logs: RefinedTables) -> ScaledWeights:
        """Return scaled weights from their logarithms; unscaled they may exceed a float's range."""
        scales = [part.max(axis=tuple(range(1, part.ndim)), initial=-np.inf) for part in logs]
        scales = [np.where(np.isneginf(scale), 0.0, scale) for scale in scales]
        weights = [
            np.exp(part - scale.reshape(-1, *[1] * (part.ndim - 1)))
            for part, scale in zip(logs, scales, strict=True)
        ]
        return cls(RefinedTables(*weights), tuple(scales))


def expect(trees: Treebank, logs: RefinedTables) -> tuple[float, RefinedTables]:
    """Return the log of the summed weights of all labelings, and the expected uses of rules."""
    scaled = ScaledWeights.of(logs)
    counts = RefinedTables(*(np.zeros(part.shape) for part in logs))
    n = logs.n_components
    messages = np.empty((2, trees.largest, n))
    log_sum = np.empty(trees.n_trees)
    kernels.expect_labels(
        *trees[1:], *scaled.weights, *messages, np.empty((n, n)), *counts, log_sum
    )
    for count, weight in zip(counts, scaled.weights, strict=True):
        count *= weight
    return float(log_sum.sum()) + _log_scale(trees, scaled), counts


def expect_best(trees: Treebank, logs: RefinedTables) -> tuple[float, RefinedTables]:
    """Return the log weight of the best labelings, and the uses of rules in them."""
    scaled = ScaledWeights.of(logs)
    labels = np.empty(len(trees.rule), dtype=np.int32)
    log_best = np.empty(trees.n_trees)
    inside = np.empty((trees.largest, logs.n_components))
    kernels.find_labels(*trees[1:], *scaled.weights, inside, labels, log_best)
    return float(log_best.sum()) + _log_scale(trees, scaled), _count(trees, labels, logs)


def _log_scale(trees: Treebank, scaled: ScaledWeights) -> float:
    """Return the logarithm of the scale of the weights of all trees' rules."""
    root, *others = scaled.log_scale
    total = root[trees.root_rule].sum()
    for nodes, scale in zip(_nodes_by_kind(trees), others, strict=True):
        total += scale[trees.rule[nodes]].sum()
    return float(total)


def _nodes_by_kind(trees: Treebank) -> list[NDArray[np.int64]]:
    """Return the nodes that emit, nodes with one child, and nodes with two children."""
    kinds = (trees.left >= 0).astype(np.int64) + (trees.right >= 0)
    return [np.flatnonzero(kinds == kind) for kind in range(3)]


def symbols_of_nodes(trees: Treebank) -> NDArray[np.int32]:
    """Return the symbol of every node."""
    symbols = np.empty(len(trees.rule), dtype=np.int32)
    tables = (trees.rules.emission, trees.rules.unary, trees.rules.binary)
    for nodes, table in zip(_nodes_by_kind(trees), tables, strict=True):
        symbols[nodes] = table[trees.rule[nodes], 0]
    return symbols


def count_nodes(rules: CoarseRules, counts: RefinedTables) -> NDArray[np.float64]:
    """Return sums over the rules of each subsymbol, (S, K): nodes, if counts are uses."""
    nodes = np.zeros((rules.n_symbols, counts.n_components))
    np.add.at(nodes, rules.emission[:, 0], counts.emission)
    np.add.at(nodes, rules.unary[:, 0], counts.unary.sum(axis=1))
    np.add.at(nodes, rules.binary[:, 0], counts.binary.sum(axis=(1, 2)))
    return nodes


def _count(trees: Treebank, labels: NDArray[np.int32], like: RefinedTables) -> RefinedTables:
    counts = RefinedTables(*(np.zeros(part.shape) for part in like))
    starts = np.repeat(trees.tree_ptr[:-1], np.diff(trees.tree_ptr))
    emitting, lone, double = _nodes_by_kind(trees)

    def child(table: NDArray[np.int32], nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        return labels[starts[nodes] + table[nodes]]

    np.add.at(counts.root, (trees.root_rule, labels[trees.tree_ptr[1:] - 1]), 1.0)
    np.add.at(counts.emission, (trees.rule[emitting], labels[emitting]), 1.0)
    np.add.at(counts.unary, (trees.rule[lone], child(trees.left, lone), labels[lone]), 1.0)
    np.add.at(
        counts.binary,
        (trees.rule[double], child(trees.left, double), child(trees.right, double),
         labels[double]),
        1.0,
    )  # fmt: skip
    return counts
