"""The k best derivations of a chart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

Steps = list[tuple[int, int]]
"""A tree as items and the edges that derive them, in pre-order."""

TOP = -1
"""The item above the roots."""


class _Way(NamedTuple):
    """A derivation of an item, ordered by cost, then by edge, then by ranks."""

    cost: float
    edge: int
    ranks: tuple[int, ...]
    """Ranks of the derivations of the items below; 0 is the best."""


class BestTrees(ABC):
    """The k best trees of a chart, found as needed (Huang and Chiang 2005, algorithm 3).

    Items and edges are numbers >= 0. An edge derives an item from others, and has its own score;
    the score of a tree is the sum. The additional item `TOP` has an edge for each root.
    """

    def __init__(self) -> None:
        self._found: dict[int, list[_Way]] = {}
        self._waiting: dict[int, list[_Way]] = {}
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

    def _open(self, item: int) -> list[_Way]:
        """Return the best derivation by each edge."""
        ways = [
            _Way(-score, edge, (0,) * len(self._below(item, edge)))
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
                cost += self._cost(each, rank)
            heappush(self._waiting[item], _Way(cost, edge, ranks))

    def _cost(self, item: int, rank: int) -> float:
        return self._found[item][rank].cost if rank else -self._best(item)

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
