"""Which trees of a forest are the best, given the posterior probabilities of its edges."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._typing import Floats, Ints
from skdp.grammar._refinement import _kernels_forest as forest
from skdp.grammar._refinement._kernels_coarse import COPY


class Lexical(NamedTuple):
    """By what the words of a sentence may be emitted.

    Attributes
    ----------
    emission : (m, 2) int32
        Symbol, and place in this table.
    ptr : (n + 1,) int64
        Places of every word.
    rows : (m,) int32
        Of the grammar's emissions.
    log_weights : (m,) array
        Under the coarse grammar.
    log_factor : (m,) array
        What weights of the grammar are multiplied by.
    """

    emission: Ints
    ptr: NDArray[np.int64]
    rows: Ints
    log_weights: Floats
    log_factor: Floats

    def find(self, word: int, symbol: int) -> int | None:
        """Return the place of a word's emission by a symbol, None if it has none."""
        start, stop = self.ptr[word : word + 2]
        places = np.flatnonzero(self.emission[start:stop, 0] == symbol)
        return int(start + places[0]) if len(places) else None


class Forest(NamedTuple):
    """What is left of a sentence's chart: items, and edges by which they are made.

    Attributes
    ----------
    symbols : (n_items,) int32
    edge_ptr : (n_items + 1,) int64
    edges : (n_edges, 4) int32
        See `_kernels_coarse`.
    root_items : (R,) int32
        Items of whole sentences with the roots' symbols, -1: none.
    words : Lexical
        Rules of edges that emit words are places in it.
    """

    symbols: Ints
    edge_ptr: NDArray[np.int64]
    edges: Ints
    root_items: Ints
    words: Lexical


Steps = list[tuple[int, int]]
"""A tree: items and the edges that make them, in pre-order."""


class ScoredForest(NamedTuple):
    """A forest with a score of every edge; that of a tree is their sum, and its root's.

    Attributes
    ----------
    trees : Forest
    scores : (n_edges,) array
        -inf: the edge is in no tree.
    root_scores : (n_items,) array
    best : (n_items,) array
        The highest sum of scores of an item's subtrees.
    choice : (n_items,) int64
        The first edge of that subtree.
    root : int
        The best tree's.
    """

    trees: Forest
    scores: Floats
    root_scores: Floats
    best: Floats
    choice: NDArray[np.int64]
    root: int


def score_rules(trees: Forest, shares: Floats, decoding: str) -> ScoredForest:
    """Return the scores that a way of decoding gives the edges.

    Parameters
    ----------
    trees : Forest
    shares : (n_edges,) array
        Posterior probabilities of the edges.
    decoding : {"max-rule", "projection"}
        "max-rule": the posterior probabilities of all rules of a tree are multiplied. "projection":
        an item chooses among its edges with their posterior probabilities over that of the item,
        independent of all else, and the root with that of the item.
    """
    n_items = len(trees.symbols)
    scores = np.full(len(shares), -np.inf)
    np.log(shares, out=scores, where=shares > 0.0)
    root_scores = np.zeros(n_items)
    if decoding == "max-rule":
        scores[(trees.edges[:, 0] == COPY) & (shares > 0.0)] = 0.0
    else:
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


class _Way(NamedTuple):
    """One way to make an item: the more so the lower the cost, then the edge, then the ranks."""

    cost: float
    edge: int
    ranks: tuple[int, ...]
    """Of the ways to make the items below: 0 is the best."""


class BestTrees:
    """The best trees of a forest, one after another (Huang and Chiang 2005, algorithm 3).

    Of every item the ways to make it are found in order of their scores, no more than are needed.
    One more item, -1, stands above the roots: its edges are their places.

    Parameters
    ----------
    scored : ScoredForest
    """

    def __init__(self, scored: ScoredForest):
        self._scored = scored
        self._found: dict[int, list[_Way]] = {}
        self._waiting: dict[int, list[_Way]] = {}
        self._seen: dict[int, set[tuple[int, tuple[int, ...]]]] = {}
        self._n_followed: dict[int, int] = {}  # ways found whose successors wait
        self._all_found: set[int] = set()

    def first(self, k: int) -> list[Steps]:
        """Return the first k trees, or all if there are fewer."""
        trees = []
        for rank in range(k):
            self._find(-1, rank)
            if len(self._found[-1]) <= rank:
                break
            trees.append(self._steps(rank))
        return trees

    def _edges(self, item: int) -> range:
        if item < 0:
            return range(len(self._scored.trees.root_items))
        return range(*self._scored.trees.edge_ptr[item : item + 2].tolist())

    def _below(self, item: int, edge: int) -> list[int]:
        trees = self._scored.trees
        if item < 0:
            return [i for i in trees.root_items[edge : edge + 1].tolist() if i >= 0]
        return _children(trees.edges, edge)

    def _score(self, item: int, edge: int) -> float:
        """Return the score of an edge itself."""
        if item >= 0:
            return float(self._scored.scores[edge])
        root = self._scored.trees.root_items[edge]
        return float(self._scored.root_scores[root]) if root >= 0 else -np.inf

    def _find(self, item: int, rank: int) -> None:
        """Find the ways to make an item up to this rank; there may be fewer."""
        stack = [(item, rank)]
        while stack:
            item, rank = stack[-1]
            if item not in self._found:
                self._found[item], self._waiting[item] = [], self._open(item)
                self._seen[item], self._n_followed[item] = set(), 0
            found, waiting = self._found[item], self._waiting[item]
            if len(found) > rank or item in self._all_found:
                stack.pop()
                continue
            if len(found) > self._n_followed[item]:
                missing = self._missing_below(item)
                if missing is not None:
                    stack.append(missing)
                    continue
                self._follow(item)
            if waiting:
                found.append(heappop(waiting))
            else:
                self._all_found.add(item)

    def _open(self, item: int) -> list[_Way]:
        """Return the best way along each edge."""
        ways = []
        for edge in self._edges(item):
            below = self._below(item, edge)
            score = self._score(item, edge)
            for child in below:
                score += float(self._scored.best[child])
            if score > -np.inf:
                ways.append(_Way(-score, edge, (0,) * len(below)))
        heapify(ways)
        return ways

    def _missing_below(self, item: int) -> tuple[int, int] | None:
        """Return an item below, and the rank of it, that must be known before the next ways are."""
        way = self._found[item][-1]
        for child, rank in zip(self._below(item, way.edge), way.ranks, strict=True):
            n_found = len(self._found.get(child, ()))
            if n_found <= rank + 1 and child not in self._all_found:
                return child, rank + 1
        return None

    def _follow(self, item: int) -> None:
        """Put the ways that follow the last one found with the others that wait."""
        self._n_followed[item] += 1
        _, edge, old = self._found[item][-1]
        below = self._below(item, edge)
        for place, child in enumerate(below):
            ranks = tuple(rank + (i == place) for i, rank in enumerate(old))
            key = edge, ranks
            if ranks[place] >= len(self._found[child]) or key in self._seen[item]:
                continue
            self._seen[item].add(key)
            cost = -self._score(item, edge)
            for each, rank in zip(below, ranks, strict=True):
                cost += self._cost(each, rank)
            heappush(self._waiting[item], _Way(cost, edge, ranks))

    def _cost(self, item: int, rank: int) -> float:
        return self._found[item][rank].cost if rank else -float(self._scored.best[item])

    def _steps(self, rank: int) -> Steps:
        """Return the tree of a rank."""
        steps, stack = [], [(-1, rank)]
        while stack:
            item, rank = stack.pop()
            self._find(item, rank)
            way = self._found[item][rank]
            if item >= 0:
                steps.append((item, way.edge))
            stack += zip(self._below(item, way.edge)[::-1], way.ranks[::-1], strict=True)
        return steps
