"""The slow paths, sentence by sentence: extended range, best trees and sampled trees."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats
from skdp.grammar._chart import _kernels_extended_range as kernels
from skdp.grammar._chart import _kernels_trees as trees
from skdp.grammar._chart._weights import RuleWeights

_LOG_TWO = math.log(2.0)


class ExtendedWeights(NamedTuple):
    """Weights of rules as numbers of unlimited range: mantissas, and exponents of two."""

    root: Floats
    root_exponents: NDArray[np.int64]
    emission: Floats
    emission_exponents: NDArray[np.int64]
    binary: Floats
    binary_exponents: NDArray[np.int64]

    @classmethod
    def of(cls, weights: RuleWeights) -> ExtendedWeights:
        """Return the weights with given logs."""
        return cls(*(array for part in weights[:3] for array in kernels.to_extended_range(part)))


class ExtendedSpace:
    """Work space for sums in numbers of unlimited range, one sentence after another."""

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

    def sum_inside(
        self, sentence: tuple[NDArray[np.int32], ...], numbers: ExtendedWeights
    ) -> tuple[Any, Any, float]:
        """Fill the chart; return mantissa, exponent and logarithm of the sentence's weight."""
        total, exponent = kernels.sum_inside(*sentence, *numbers, *self.inside, *self.splits)
        log_prob = math.log(total) + exponent * _LOG_TWO if total > 0.0 else -math.inf
        return total, exponent, log_prob

    def count(
        self,
        sentence: tuple[NDArray[np.int32], ...],
        numbers: ExtendedWeights,
        multiplicity: float,
        counts: list[Floats],
        symbols: Floats,
    ) -> float:
        """Add the expected counts of a sentence; return its log probability."""
        total, exponent, log_prob = self.sum_inside(sentence, numbers)
        if log_prob > -math.inf:
            kernels.sum_outside(
                *sentence, multiplicity, total, exponent, *numbers, *self.inside, *self.outside,
                *self.splits, *self.needs, *counts, symbols,
            )  # fmt: skip
        return log_prob

    def draw(
        self, n_words: int, numbers: ExtendedWeights, rng: NDArray[np.uint64], is_parsed: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return symbols and lengths of a tree drawn from the filled chart, or no nodes."""
        symbols, lengths = np.empty((2, 2 * n_words - 1 if is_parsed else 0), dtype=np.int32)
        if is_parsed:
            trees.draw_tree(
                *self.inside, n_words, numbers.root, numbers.root_exponents,
                numbers.binary, numbers.binary_exponents, self.n_emitting,
                *self.splits, *self.choices, self.stack, symbols, lengths, rng,
            )  # fmt: skip
        return symbols, lengths


def find_best_trees(
    sentences: list[tuple[NDArray[np.int32], ...]], weights: RuleWeights
) -> list[tuple[float, NDArray[np.int32], NDArray[np.int32]]]:
    """Return log weight, symbols and lengths of each sentence's best tree, or no nodes."""
    logs = tuple(np.ascontiguousarray(part) for part in weights[:3])
    longest = max(len(words) for words, *_ in sentences)
    best, best_right = np.empty((2, longest**2, weights.n_symbols))
    splits = np.empty((weights.n_symbols, weights.n_symbols))
    row_best = np.empty(weights.n_symbols)
    stack = np.empty((2 * longest, 3), dtype=np.int64)
    found = []
    for sentence in sentences:
        symbols, lengths = np.empty((2, 2 * len(sentence[0]) - 1), dtype=np.int32)
        log_weight = trees.find_best_tree(
            *sentence, *logs, best, best_right, splits, row_best, stack, symbols, lengths
        )
        n_nodes = len(symbols) if log_weight > -np.inf else 0
        found.append((log_weight, symbols[:n_nodes], lengths[:n_nodes]))
    return found
