"""Best trees of a forest, given the posterior probabilities of its edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp.grammar._k_best import TOP, BestTrees, Steps
from skdp.grammar._refinement import _kernels_forest as forest
from skdp.grammar._refinement._kernels_coarse import COPY


class Lexical(NamedTuple):
    """Possible emissions of the words of a sentence."""

    emission: Ints  # (m, 2), symbol, and row of this table
    ptr: NDArray[np.int64]  # (n + 1,), offsets of the rows of every word
    rows: Ints  # (m,), rows of the grammar's emissions
    log_weights: Floats  # (m,), under the coarse grammar
    log_factor: Floats  # (m,), log factors of the grammar's weights

    def find(self, word: int, symbol: int) -> int | None:
        """Return the row of a word's emission by a symbol, or None if there is none."""
        start, stop = self.ptr[word : word + 2]
        places = np.flatnonzero(self.emission[start:stop, 0] == symbol)
        return int(start + places[0]) if len(places) else None


class Forest(NamedTuple):
    """Items and edges of a sentence's pruned chart."""

    symbols: Ints  # (n_items,)
    edge_ptr: NDArray[np.int64]  # (n_items + 1,)
    edges: Ints  # (n_edges, 4), see `_kernels_coarse`
    root_items: Ints  # (R,), items of whole sentences with the roots' symbols, -1: none
    words: Lexical  # emissions, to which edges refer by row


class ScoredForest(NamedTuple):
    """A forest with scores of edges and roots, whose sum is the score of a tree."""

    trees: Forest
    scores: Floats  # (n_edges,), -inf: the edge is not in a tree
    root_scores: Floats  # (n_items,)
    best: Floats  # (n_items,), the highest sum of scores of an item's subtrees
    choice: NDArray[np.int64]  # (n_items,), the first edge of the best subtree
    root: int  # item of the best tree


def score_rules(trees: Forest, shares: Floats, decoding: str) -> ScoredForest:
    """Return the scores of the edges, given their posterior probabilities."""
    n_items = len(trees.symbols)
    scores = np.full(len(shares), -np.inf)
    np.log(shares, out=scores, where=shares > 0.0)
    root_scores = np.zeros(n_items)
    if decoding == "max-rule":  # posteriors of all rules of a tree are multiplied
        scores[(trees.edges[:, 0] == COPY) & (shares > 0.0)] = 0.0
    else:  # an item chooses independently among its edges, the root by the items' posteriors
        items = np.repeat(np.arange(n_items), np.diff(trees.edge_ptr))
        totals = np.bincount(items, weights=shares, minlength=n_items)
        root_scores = np.full(n_items, -np.inf)
        np.log(totals, out=root_scores, where=totals > 0.0)
        np.subtract(scores, root_scores[items], out=scores, where=shares > 0.0)
    best, choice = np.empty(n_items), np.empty(n_items, dtype=np.int64)
    root = forest.find_best(
        trees.edge_ptr, trees.edges, trees.root_items, scores, root_scores, best, choice
    )
    return ScoredForest(trees, scores, root_scores, best, choice, root)


def best_steps(scored: ScoredForest) -> Steps:
    """Return the best tree."""
    edges, steps, stack = scored.trees.edges, [], [int(scored.root)]
    while stack:
        item = stack.pop()
        edge = int(scored.choice[item])
        steps.append((item, edge))
        stack += _children(edges, edge)[::-1]
    return steps


def _children(edges: Ints, edge: int) -> list[int]:
    """Return the items below an edge."""
    return [item for item in edges[edge, 2:].tolist() if item >= 0]


class BestForestTrees(BestTrees):
    """The best trees of a forest, in which the edges of `TOP` are the indices of the roots."""

    def __init__(self, scored: ScoredForest):
        super().__init__()
        self._scored = scored

    def _edges(self, item: int) -> list[tuple[int, float]]:
        trees = self._scored.trees
        if item == TOP:
            edges = range(len(trees.root_items))
        else:
            edges = range(*trees.edge_ptr[item : item + 2].tolist())
        return [
            (edge, self._score(item, edge) + sum(map(self._best, self._below(item, edge))))
            for edge in edges
        ]

    def _below(self, item: int, edge: int) -> list[int]:
        trees = self._scored.trees
        if item == TOP:
            return [i for i in trees.root_items[edge : edge + 1].tolist() if i >= 0]
        return _children(trees.edges, edge)

    def _score(self, item: int, edge: int) -> float:
        if item != TOP:
            return float(self._scored.scores[edge])
        root = self._scored.trees.root_items[edge]
        return float(self._scored.root_scores[root]) if root >= 0 else -np.inf

    def _best(self, item: int) -> float:
        return float(self._scored.best[item])
