"""The fast path for long sentences, one at a time, with symbols side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._simd import aligned_zeros
from skdp._numeric._typing import Floats
from skdp.grammar._chart import _kernels_long as kernels
from skdp.grammar._chart._lanes import LaneRules

LEAST_WORDS = 48
"""Least length for processing sentences one at a time: batches of shorter sentences are faster if
there are a few, and a single one is fast enough."""

MOST_WORDS = 200
"""Length from which sentences are always processed one at a time: charts of batches are too
large."""

_VECTOR_BYTES = 64


def are_long(lengths: NDArray[np.int64], n_lanes: int) -> NDArray[np.bool_]:
    """Return which lengths, in descending order, to process alone: a batch would be half idle."""
    result = np.zeros(len(lengths), dtype=bool)
    cubes = lengths.astype(np.float64) ** 3
    begin = 0
    while begin < len(lengths) and lengths[begin] >= LEAST_WORDS:
        end = begin + n_lanes
        # A batch takes the time of its longest sentence for every lane.
        is_idle = cubes[begin:end].sum() <= 0.5 * n_lanes * cubes[begin]
        if is_idle or lengths[begin] >= MOST_WORDS:
            result[begin] = True
            begin += 1
        else:
            begin = end
    return result


class LongRules:
    """Weights of rules on a linear scale, in the layout for one sentence at a time."""

    def __init__(self, rules: LaneRules):
        self.dtype, self.n_symbols = rules.dtype, rules.n_symbols
        self.n_emitting, self.n_branching = rules.n_emitting, rules.n_branching
        lanes = _VECTOR_BYTES // self.dtype.itemsize
        self.width = -(-max(self.n_emitting, self.n_branching) // lanes) * lanes
        words, rest = (matrix.ravel() for matrix in self._split(rules.binary))
        same = rules.numbers
        self.numbers = kernels.LongRuleArrays(
            same.root, same.emission, same.emission_exponents,
            self._aligned(words), self._aligned(rest),
            same.first_branching, same.n_branching, same.most_left, same.most_right,
            same.root_exponent, same.binary_exponent, same.floor, same.limit,
        )  # fmt: skip

    def _aligned(self, values: Floats) -> NDArray[Any]:
        array = aligned_zeros(values.shape, self.dtype)
        array[:] = values
        return array

    @property
    def is_partitioned(self) -> bool:
        """Whether preterminals are separate symbols."""
        return self.n_symbols > self.n_emitting

    def _split(self, binary: Floats) -> tuple[Floats, Floats]:
        """Return a (C, S, S) array as (C, rows, Z) arrays, of pairs of words and other pairs."""
        p = self.n_emitting
        if not self.is_partitioned:
            both = self._pad(binary)
            return both, both
        blocks = (binary[:, :p, p:], binary[:, p:, :p], binary[:, p:, p:])
        return self._pad(binary[:, :p, :p]), np.concatenate([*map(self._pad, blocks)], axis=1)

    def _pad(self, block: Floats) -> Floats:
        return np.pad(block, ((0, 0), (0, 0), (0, self.width - block.shape[2])))

    def join(self, words: Floats, rest: Floats) -> Floats:
        """Return the (C, S, S) array for flat counts of pairs of words and of the other pairs."""
        p, c = self.n_emitting, self.n_branching
        words, rest = (part.reshape(c, -1, self.width) for part in (words, rest))
        if not self.is_partitioned:
            return (words + rest)[:, :, :c]
        result = np.empty((c, self.n_symbols, self.n_symbols))
        result[:, :p, :p] = words[:, :, :p]
        result[:, :p, p:] = rest[:, :p, :c]
        result[:, p:, :p] = rest[:, p : p + c, :p]
        result[:, p:, p:] = rest[:, p + c :, :c]
        return result

    @property
    def n_pairs(self) -> tuple[int, int]:
        """Padded numbers of pairs of child symbols, of words and others."""
        p, c = self.n_emitting, self.n_branching
        return p * self.width, (p + 2 * c if self.is_partitioned else c) * self.width

    def make_space(self, n: int) -> kernels.LongSpace:
        """Return work space for sentences of up to n words."""
        z, held = self.width, kernels._HELD
        pairs = max(self.n_pairs)

        def zeros(size: int) -> NDArray[Any]:
            return aligned_zeros(size, self.dtype)

        def integers() -> NDArray[np.int64]:
            return np.zeros(n * n, dtype=np.int64)

        return kernels.LongSpace(
            zeros(n * n * z), zeros(n * n * z), zeros(n * n * z), zeros(n * n * z),
            integers(), integers(), integers(), np.zeros(n * n), np.zeros(n * n),
            zeros(n), zeros(n * z), zeros(n * z), zeros(pairs), zeros(pairs), zeros(pairs),
            zeros(z), zeros(held * z), zeros(held * pairs), np.zeros(self.n_symbols),
            zeros(len(self.numbers.rules_words)), zeros(len(self.numbers.rules)),
        )  # fmt: skip
