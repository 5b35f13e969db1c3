"""Sampling of trees and their sentences from a grammar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import TokenSequences
from skdp.grammar._chart._engine import TreeArrays
from skdp.grammar._chart._weights import RuleWeights

_MOST_REJECTED = 1000
"""Largest number of successive trees that may be too long."""


def draw_sentences(
    weights: RuleWeights, n_sentences: int, max_length: int, rng: np.random.Generator
) -> tuple[TokenSequences, TreeArrays]:
    """Draw trees from a proper grammar given at most `max_length` words; raise if that is rare."""
    rules = _Rules(weights)
    sentences: list[Any] = []
    symbols: list[Any] = []
    lengths: list[Any] = []
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
        sentences.append(drawn[0])
        symbols.append(drawn[1])
        lengths.append(_count_leaves(drawn[1], drawn[2]))
    node_ptr = np.cumsum([0, *map(len, symbols)])
    return (
        TokenSequences.from_sequences(sentences, weights.log_emission.shape[1]),
        TreeArrays(
            np.concatenate(symbols).astype(np.int32),
            np.concatenate(lengths).astype(np.int32),
            node_ptr,
        ),
    )


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
