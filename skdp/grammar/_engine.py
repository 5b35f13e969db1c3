"""Inside and outside sums, best trees and drawn trees of sentences under given weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from skdp.data import TokenSequences
from skdp.grammar import _kernels_trees as trees
from skdp.grammar import _kernels_wide as wide
from skdp.grammar._weights import RuleWeights

Floats = NDArray[np.float64]

_LOG_TWO = math.log(2.0)
_BATCH = 64  # sentences


class ExpectedCounts(NamedTuple):
    """Expected uses of every rule, summed over sentences; those without a parse add nothing.

    Attributes
    ----------
    log_prob : (n,) float64
        Log of the summed weight of all trees of each sentence, -inf if it has none.
    root : (S,) float64
    emission : (P, V) float64
    binary : (C, S, S) float64
    """

    log_prob: Floats
    root: Floats
    emission: Floats
    binary: Floats


class TreeArrays(NamedTuple):
    """Trees of sentences, one after another, each in pre-order.

    The left child of a node of length > 1 is the next node; its right child follows the left
    one's subtree, which has 2 (its length) - 1 nodes. A sentence without a parse has no nodes.

    Attributes
    ----------
    symbols : (N,) int32
        Of every node.
    lengths : (N,) int32
        Number of words below every node.
    node_ptr : (n + 1,) int64
        Sentence s has the nodes ``node_ptr[s]`` to ``node_ptr[s + 1] - 1``.
    """

    symbols: NDArray[np.int32]
    lengths: NDArray[np.int32]
    node_ptr: NDArray[np.int64]


def expected_counts(
    sentences: TokenSequences,
    weights: RuleWeights,
    *,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> ExpectedCounts:
    """Return log probabilities and the expected uses of rules.

    Parameters
    ----------
    sentences : TokenSequences
        Of one word or more.
    weights : RuleWeights
    dtype : float64 or float32, default=float64
        Of the sums.
    n_jobs : int or None, default=None
        Threads. It does not change the result.
    """
    numbers = _WideWeights.of(weights)

    def count(batch: NDArray[np.int64]) -> tuple[Any, ...]:
        counts = [np.zeros(part.shape) for part in weights[:3]]
        log_prob = np.empty(len(batch))
        symbols = np.zeros(weights.n_symbols)
        space = _WideSpace(weights, _longest(sentences, batch))
        for b, sentence in enumerate(batch):
            log_prob[b] = space.count(sentences[sentence], numbers, 1.0, counts, symbols)
        return log_prob, *counts

    log_prob = np.empty(len(sentences))
    totals = [np.zeros(part.shape) for part in weights[:3]]
    for batch, (part, *counts) in _map(count, sentences, n_jobs):
        log_prob[batch] = part
        for total, count_part in zip(totals, counts, strict=True):
            total += count_part
    return ExpectedCounts(log_prob, *totals)


def inside(
    sentences: TokenSequences,
    weights: RuleWeights,
    *,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> Floats:
    """Return the log of the summed weight of all trees of each sentence, (n,)."""
    numbers = _WideWeights.of(weights)

    def sum_up(batch: NDArray[np.int64]) -> Floats:
        space = _WideSpace(weights, _longest(sentences, batch))
        return np.array([space.sum_inside(sentences[s], numbers)[2] for s in batch])

    log_prob = np.empty(len(sentences))
    for batch, part in _map(sum_up, sentences, n_jobs):
        log_prob[batch] = part
    return log_prob


def expected_symbols(
    sentences: TokenSequences,
    weights: RuleWeights,
    *,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> Floats:
    """Return the expected number of nodes of each symbol in each sentence, (n, S).

    Rows sum to 2 (number of words) - 1, or to 0 if the sentence has no parse.
    """
    numbers = _WideWeights.of(weights)

    def count(batch: NDArray[np.int64]) -> Floats:
        counts = [np.zeros(part.shape) for part in weights[:3]]
        symbols = np.zeros((len(batch), weights.n_symbols))
        space = _WideSpace(weights, _longest(sentences, batch))
        for b, sentence in enumerate(batch):
            space.count(sentences[sentence], numbers, 0.0, counts, symbols[b])
        return symbols

    result = np.empty((len(sentences), weights.n_symbols))
    for batch, part in _map(count, sentences, n_jobs):
        result[batch] = part
    return result


def viterbi(
    sentences: TokenSequences, weights: RuleWeights, *, n_jobs: int | None = None
) -> tuple[Floats, TreeArrays]:
    """Return the log weight of the likeliest tree of each sentence, (n,), and the trees.

    Of equally likely ones always the same: the root's symbol is the first that is best, then the
    pair of its children's symbols, then the leftmost split point, and so on downwards.
    """
    logs = tuple(np.ascontiguousarray(part) for part in weights[:3])

    def find(batch: NDArray[np.int64]) -> list[tuple[float, Any, Any]]:
        longest = _longest(sentences, batch)
        best = np.empty((longest**2, weights.n_symbols))
        splits = np.empty((weights.n_symbols, weights.n_symbols))
        stack = np.empty((2 * longest, 3), dtype=np.int64)
        found = []
        for sentence in batch:
            words = sentences[sentence]
            symbols, lengths = np.empty((2, 2 * len(words) - 1), dtype=np.int32)
            log_weight = trees.find_best_tree(words, *logs, best, splits, stack, symbols, lengths)
            n_nodes = len(symbols) if log_weight > -np.inf else 0
            found.append((log_weight, symbols[:n_nodes], lengths[:n_nodes]))
        return found

    log_prob = np.empty(len(sentences))
    parts: list[Any] = [None] * len(sentences)
    for batch, found in _map(find, sentences, n_jobs):
        for sentence, (log_weight, *tree) in zip(batch, found, strict=True):
            log_prob[sentence] = log_weight
            parts[sentence] = tree
    return log_prob, _join_trees(parts)


def sample_trees(
    sentences: TokenSequences,
    weights: RuleWeights,
    streams: NDArray[np.uint64],
    *,
    n_jobs: int | None = None,
) -> TreeArrays:
    """Draw a tree of each sentence given its words.

    Parameters
    ----------
    sentences : TokenSequences
    weights : RuleWeights
    streams : (n, 4) uint64
        A random stream for each sentence, advanced in place.
    n_jobs : int or None, default=None
    """
    numbers = _WideWeights.of(weights)

    def draw(batch: NDArray[np.int64]) -> list[Any]:
        space = _WideSpace(weights, _longest(sentences, batch))
        return [space.draw(sentences[s], numbers, streams[s]) for s in batch]

    parts: list[Any] = [None] * len(sentences)
    for batch, found in _map(draw, sentences, n_jobs):
        for sentence, tree in zip(batch, found, strict=True):
            parts[sentence] = tree
    return _join_trees(parts)


class _WideWeights(NamedTuple):
    """Weights as numbers of unlimited range."""

    root: Floats
    root_exponents: NDArray[np.int64]
    emission: Floats
    emission_exponents: NDArray[np.int64]
    binary: Floats
    binary_exponents: NDArray[np.int64]

    @classmethod
    def of(cls, weights: RuleWeights) -> _WideWeights:
        return cls(*(array for part in weights[:3] for array in wide.to_wide(part)))


class _WideSpace:
    """Work space for sums over one sentence after another in numbers of unlimited range."""

    def __init__(self, weights: RuleWeights, longest: int):
        n_symbols = weights.n_symbols
        chart, matrix = (longest**2, n_symbols), (n_symbols, n_symbols)
        self.inside = np.empty(chart), np.empty(chart, dtype=np.int64)
        self.outside = np.empty(chart), np.empty(chart, dtype=np.int64)
        self.splits = np.empty(matrix), np.empty(matrix, dtype=np.int64)
        self.needs = np.empty(matrix), np.empty(matrix, dtype=np.int64)
        n_weights = max(n_symbols**2, longest)
        self.choices = np.empty(n_weights), np.empty(n_weights, dtype=np.int64)
        self.stack = np.empty((2 * longest, 3), dtype=np.int64)
        self.n_emitting = weights.n_emitting

    def sum_inside(self, words: NDArray[np.int32], numbers: _WideWeights) -> tuple[Any, Any, float]:
        """Fill the chart; return mantissa, exponent and logarithm of the sentence's weight."""
        total, exponent = wide.sum_inside(words, *numbers, *self.inside, *self.splits)
        log_prob = math.log(total) + exponent * _LOG_TWO if total > 0.0 else -math.inf
        return total, exponent, log_prob

    def count(
        self,
        words: NDArray[np.int32],
        numbers: _WideWeights,
        multiplicity: float,
        counts: list[Floats],
        symbols: Floats,
    ) -> float:
        """Add the expected counts of a sentence; return its log probability."""
        total, exponent, log_prob = self.sum_inside(words, numbers)
        if log_prob > -math.inf:
            wide.sum_outside(
                words, multiplicity, total, exponent, *numbers, *self.inside, *self.outside,
                *self.splits, *self.needs, *counts, symbols,
            )  # fmt: skip
        return log_prob

    def draw(self, words: NDArray[np.int32], numbers: _WideWeights, rng: Any) -> Any:
        """Return symbols and lengths of a tree drawn, or no nodes."""
        n_nodes = 2 * len(words) - 1
        if self.sum_inside(words, numbers)[2] == -math.inf:
            n_nodes = 0
        symbols, lengths = np.empty((2, n_nodes), dtype=np.int32)
        if n_nodes:
            trees.draw_tree(
                *self.inside, len(words), numbers.root, numbers.root_exponents,
                numbers.binary, numbers.binary_exponents, self.n_emitting,
                *self.splits, *self.choices, self.stack, symbols, lengths, rng,
            )  # fmt: skip
        return symbols, lengths


def _longest(sentences: TokenSequences, batch: NDArray[np.int64]) -> int:
    return int((sentences.ptr[batch + 1] - sentences.ptr[batch]).max())


def _map(work: Callable[[Any], Any], sentences: TokenSequences, n_jobs: int | None) -> Any:
    """Yield batches of sentences of about equal length and what `work` returns for them.

    Batches and their order do not depend on the number of threads.
    """
    lengths = np.diff(sentences.ptr)
    order = np.argsort(-lengths, kind="stable")
    batches = [order[begin : begin + _BATCH] for begin in range(0, len(order), _BATCH)]
    found = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(work)(batch) for batch in batches)
    return zip(batches, found, strict=True)


def _join_trees(parts: list[tuple[NDArray[np.int32], NDArray[np.int32]]]) -> TreeArrays:
    node_ptr = np.zeros(len(parts) + 1, dtype=np.int64)
    node_ptr[1:] = np.cumsum([len(symbols) for symbols, _ in parts])
    empty = [(np.empty(0, dtype=np.int32),) * 2]
    symbols, lengths = (np.concatenate(arrays) for arrays in zip(*(parts or empty), strict=True))
    return TreeArrays(symbols, lengths, node_ptr)
