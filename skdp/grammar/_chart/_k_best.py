"""The k most probable trees of a sentence, and trees that are drawn with their sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints
from skdp.data import TokenSequences
from skdp.grammar._chart._engine import TreeArrays, join_trees
from skdp.grammar._chart._paths import NO_LIMITS, RuleWeights
from skdp.grammar._kernels._extended_range import BestSpace, fill_best

# The k best derivations of a chart.


Steps = list[tuple[int, int]]
"""A tree as items and the edges that derive them, in pre-order."""

TOP = -1
"""The item above the roots."""


class Derivation(NamedTuple):
    """A derivation of an item, ordered by cost, then by edge, then by ranks."""

    cost: float
    edge: int
    ranks: tuple[int, ...]
    """Ranks of the derivations of the items below; 0 is the best."""


class BestTrees(ABC):
    """The k best trees of a chart, found as needed (Huang and Chiang 2005, algorithm 3)."""

    # Items and edges are numbers >= 0. An edge derives an item from others, and has its own score;
    # the score of a tree is the sum. The additional item `TOP` has an edge for each root.

    def __init__(self) -> None:
        self._found: dict[int, list[Derivation]] = {}
        self._waiting: dict[int, list[Derivation]] = {}
        self._seen: dict[int, set[tuple[int, tuple[int, ...]]]] = {}
        self._n_followed: dict[int, int] = {}  # derivations whose successors are waiting
        self._all_found: set[int] = set()

    @abstractmethod
    def _edges(self, item: int) -> list[tuple[int, float]]:
        """Return the relevant edges of an item, with the score of the best derivation by each."""

    @abstractmethod
    def _below(self, item: int, edge: int) -> list[int]:
        """Return the items below an edge."""

    @abstractmethod
    def _score(self, item: int, edge: int) -> float:
        """Return the score of an edge."""

    @abstractmethod
    def _best(self, item: int) -> float:
        """Return the score of the best derivation of an item."""

    def first(self, k: int) -> list[Steps]:
        """Return the first k trees, or all if there are fewer."""
        trees = []
        for rank in range(k):
            self._find(TOP, rank)
            if len(self._found[TOP]) <= rank:
                break
            trees.append(self._steps(rank))
        return trees

    def _find(self, item: int, rank: int) -> None:
        """Find the derivations of an item up to this rank, or all if there are fewer."""
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

    def _open(self, item: int) -> list[Derivation]:
        """Return the best derivation by each edge."""
        ways = [
            Derivation(-score, edge, (0,) * len(self._below(item, edge)))
            for edge, score in self._edges(item)
            if score > -np.inf
        ]
        heapify(ways)
        return ways

    def _missing_below(self, item: int) -> tuple[int, int] | None:
        """Return an item below and its rank that are needed for the next derivations, or None."""
        way = self._found[item][-1]
        for child, rank in zip(self._below(item, way.edge), way.ranks, strict=True):
            n_found = len(self._found.get(child, ()))
            if n_found <= rank + 1 and child not in self._all_found:
                return child, rank + 1
        return None

    def _follow(self, item: int) -> None:
        """Add the successors of the last derivation to the waiting derivations."""
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
                cost += self._found[each][rank].cost if rank else -self._best(each)
            heappush(self._waiting[item], Derivation(cost, edge, ranks))

    def _steps(self, rank: int) -> Steps:
        """Return the tree of a rank."""
        steps: Steps = []
        stack = [(TOP, rank)]
        while stack:
            item, rank = stack.pop()
            self._find(item, rank)
            way = self._found[item][rank]
            if item != TOP:
                steps.append((item, way.edge))
            stack += zip(self._below(item, way.edge)[::-1], way.ranks[::-1], strict=True)
        return steps


# The k best trees of a sentence.


class BestChartTrees(BestTrees):
    """The most probable trees of a sentence; ties are in the order of the edges: see `viterbi`."""

    # Words s to e - 1 below symbol z are item (s n + e - 1) S + z. Its edge with children i and j,
    # and words from m on below j, is (i S + j) n + m; the edge of a word is 0. The edges of `TOP`
    # are the roots' symbols.

    def __init__(self, words: Ints, weights: RuleWeights, k: int):
        super().__init__()
        self._words, self._weights, self._k = words, weights, k
        space = BestSpace.of(len(words), weights.n_symbols)
        fill_best((words, *NO_LIMITS), weights[:3], space)
        self._chart = space.best

    def _parts(self, item: int) -> tuple[int, int, int]:
        """Return first word, word after the last, and symbol."""
        span, symbol = divmod(item, self._weights.n_symbols)
        start, last = divmod(span, len(self._words))
        return start, last + 1, symbol

    def _item(self, start: int, end: int, symbol: int) -> int:
        return (start * len(self._words) + end - 1) * self._weights.n_symbols + symbol

    def _edges(self, item: int) -> list[tuple[int, float]]:
        n, weights = len(self._words), self._weights
        if item == TOP:
            scores = weights.log_root + self._chart[n - 1]
            return list(enumerate(scores.tolist()))
        start, end, symbol = self._parts(item)
        if end - start == 1:
            return [(0, self._score(item, 0))]
        middles = np.arange(start + 1, end)
        left, right = self._chart[start * n + middles - 1], self._chart[middles * n + end - 1]
        pairs = left.T[:, None] + right.T[None]  # by the children's symbols and the split point
        scores = weights.log_binary[symbol - weights.first_branching][:, :, None] + pairs
        return [
            (place // len(middles) * n + int(middles[place % len(middles)]), score)
            for place, score in _highest(scores.ravel(), self._k)  # k trees need no more
        ]

    def _below(self, item: int, edge: int) -> list[int]:
        n = len(self._words)
        if item == TOP:
            return [self._item(0, n, edge)]
        start, end, _ = self._parts(item)
        if end - start == 1:
            return []
        pair, middle = divmod(edge, n)
        i, j = divmod(pair, self._weights.n_symbols)
        return [self._item(start, middle, i), self._item(middle, end, j)]

    def _score(self, item: int, edge: int) -> float:
        weights = self._weights
        if item == TOP:
            return float(weights.log_root[edge])
        start, end, symbol = self._parts(item)
        if end - start == 1:
            return float(weights.log_emission[symbol, self._words[start]])
        i, j = divmod(edge // len(self._words), weights.n_symbols)
        return float(weights.log_binary[symbol - weights.first_branching, i, j])

    def _best(self, item: int) -> float:
        return float(self._chart.flat[item])

    def trees(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return symbols, and numbers of words below them, in pre-order, of the first k trees."""
        found = []
        for steps in self.first(self._k):
            starts, ends, symbols = np.array([self._parts(item) for item, _ in steps]).T
            found.append((symbols, ends - starts))
        return found


def _highest(scores: Floats, k: int) -> list[tuple[int, float]]:
    """Return indices and values of the k highest numbers; the first of equal numbers come first."""
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    places = places[np.argsort(-scores[places], kind="stable")][:k]
    return list(zip(places.tolist(), scores[places].tolist(), strict=True))


# Draws of trees and their sentences from a grammar.


_MOST_REJECTED = 1000
"""Largest number of successive trees that may be too long."""


def draw_sentences(
    weights: RuleWeights, n_sentences: int, max_length: int, rng: np.random.Generator
) -> tuple[TokenSequences, TreeArrays]:
    """Draw trees from a proper grammar given at most `max_length` words; raise if that is rare."""
    rules = _Rules(weights)
    sentences: list[Any] = []
    trees: list[Any] = []
    while len(sentences) < n_sentences:
        for _ in range(_MOST_REJECTED):
            drawn = rules.draw_tree(max_length, rng)
            if drawn is not None:
                break
        else:
            raise ValueError(
                f"The grammar hardly ever ends within max_length={max_length} words; raise "
                "max_length."
            )
        words, symbols, emits = drawn
        sentences.append(words)
        trees.append((np.array(symbols, dtype=np.int32), _count_leaves(symbols, emits)))
    n_words = weights.log_emission.shape[1]
    return TokenSequences.from_sequences(sentences, n_words), join_trees(trees)


class _Rules:
    """Cumulative probabilities of the rules of each symbol."""

    def __init__(self, weights: RuleWeights):
        root, emission, binary = (np.exp(part) for part in weights[:3])
        self.n_words = emission.shape[1]
        self.n_symbols = len(root)
        emits = np.zeros((self.n_symbols, self.n_words))
        emits[: len(emission)] = emission
        branches = np.zeros((self.n_symbols, self.n_symbols**2))
        branches[-len(binary) :] = binary.reshape(len(binary), -1)
        self.root = _cumulate(root[None])[0]
        self.rules = _cumulate(np.hstack([emits, branches]))

    def draw_tree(self, max_length: int, rng: np.random.Generator) -> Any:
        """Return words, symbols in pre-order, and whether each emits; None if it is too long."""
        words: list[int] = []
        symbols: list[int] = []
        emits: list[bool] = []
        pending = [int(np.searchsorted(self.root, rng.random(), side="right"))]
        while pending:
            if len(words) + len(pending) > max_length:
                return None
            symbol = pending.pop()
            rule = int(np.searchsorted(self.rules[symbol], rng.random(), side="right"))
            symbols.append(symbol)
            emits.append(rule < self.n_words)
            if emits[-1]:
                words.append(rule)
            else:
                left, right = divmod(rule - self.n_words, self.n_symbols)
                pending += [right, left]
        return words, symbols, emits


def _cumulate(rows: NDArray[Any]) -> NDArray[Any]:
    """Return cumulative sums of rows; they are exactly 1 from the last possible cell on."""
    cumulative = np.cumsum(rows, axis=1)
    return cumulative / cumulative[:, -1:]


def _count_leaves(symbols: list[int], emits: list[bool]) -> NDArray[np.int32]:
    """Return the number of words below each node of a tree in pre-order."""
    lengths = np.ones(len(symbols), dtype=np.int32)
    stack: list[int] = []
    for node in range(len(symbols) - 1, -1, -1):
        if not emits[node]:
            lengths[node] = stack.pop() + stack.pop()
        stack.append(int(lengths[node]))
    return lengths
