"""The k most probable trees of a sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp.grammar._chart._kernels_trees import fill_best
from skdp.grammar._chart._limits import NO_LIMITS
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._k_best import TOP, BestTrees


class BestChartTrees(BestTrees):
    """The most probable trees of a sentence, with ties in the order of the edges, as in `viterbi`.

    Words s to e - 1 below symbol z are item (s n + e - 1) S + z. Its edge with children i and j,
    and words from m on below j, is (i S + j) n + m; the edge of a word is 0. The edges of `TOP` are
    the roots' symbols.
    """

    def __init__(self, words: Ints, weights: RuleWeights, k: int):
        super().__init__()
        self._words, self._weights, self._k = words, weights, k
        n, n_symbols = len(words), weights.n_symbols
        self._chart, by_end = np.full((2, n * n, n_symbols), -np.inf)
        fill_best(
            words, *NO_LIMITS, *weights[:3], self._chart, by_end,
            np.empty((n_symbols, n_symbols)), np.empty(n_symbols),
        )  # fmt: skip

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
