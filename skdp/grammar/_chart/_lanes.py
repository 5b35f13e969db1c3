"""The fast path with sentences side by side, on a linear scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._simd import aligned_zeros
from skdp._numeric._simd_lanes import MIX_ROWS, ROW_BYTES
from skdp._numeric._typing import Floats
from skdp.grammar._chart import _kernels_extended_range as extended
from skdp.grammar._chart import _kernels_lanes as kernels
from skdp.grammar._chart._weights import RuleWeights

_FLOOR = {8: 2.0**-900, 4: 2.0**-100}
_LIMIT = {8: 2.0**840, 4: 2.0**60}


class LaneRules:
    """Weights of rules on a linear scale, as float64 or float32, packed for the kernels."""

    def __init__(self, weights: RuleWeights, dtype: Any):
        self.dtype = np.dtype(dtype)
        self.n_lanes = ROW_BYTES // self.dtype.itemsize
        self.n_emitting = weights.n_emitting
        self.n_branching = len(weights.log_binary)
        self.n_symbols = weights.n_symbols
        root, root_exponent = _to_common(weights.log_root)
        self.binary, binary_exponent = _to_common(weights.log_binary)
        emission, emission_exponents = extended.to_extended_range(weights.log_emission.T)
        largest = emission_exponents.max(axis=1, initial=extended.ZERO)
        shift = np.maximum(emission_exponents - largest[:, np.newaxis], -3000)
        words, rest = self.split(self.binary)
        floor = _FLOOR[self.dtype.itemsize]
        self.numbers = kernels.LaneRuleArrays(
            root.astype(self.dtype),
            np.maximum(np.ldexp(emission, shift.astype(np.int32)), floor).astype(self.dtype, "C"),
            largest,
            _pack(words, self.dtype),
            _pack(rest, self.dtype),
            _pack(words.T, self.dtype),
            _pack(rest.T, self.dtype),
            self.n_symbols - self.n_branching,
            self.n_branching,
            float(self.binary.sum(axis=(0, 2)).max()),
            float(self.binary.sum(axis=(0, 1)).max()),
            root_exponent,
            binary_exponent,
            floor,
            _LIMIT[self.dtype.itemsize],
        )

    def split(self, binary: Floats) -> tuple[Floats, Floats]:
        """Return a (C, S, S) array as two matrices, for pairs of words and for the other pairs."""
        n_parents, p = self.n_branching, self.n_emitting
        if self.n_symbols == p:
            both = binary.reshape(n_parents, -1)
            return both, both
        blocks = (binary[:, :p, p:], binary[:, p:, :p], binary[:, p:, p:])
        rest = np.concatenate([block.reshape(n_parents, -1) for block in blocks], axis=1)
        return binary[:, :p, :p].reshape(n_parents, -1), rest

    def join(self, words: Floats, rest: Floats) -> Floats:
        """Return the (C, S, S) array that `split` separates into two matrices."""
        n_parents, p, c = self.n_branching, self.n_emitting, self.n_branching
        if self.n_symbols == p:
            return (words + rest).reshape(self.binary.shape)
        result = np.empty(self.binary.shape)
        result[:, :p, :p] = words.reshape(n_parents, p, p)
        first, second = p * c, 2 * p * c
        result[:, :p, p:] = rest[:, :first].reshape(n_parents, p, c)
        result[:, p:, :p] = rest[:, first:second].reshape(n_parents, c, p)
        result[:, p:, p:] = rest[:, second:].reshape(n_parents, c, c)
        return result

    @property
    def n_pairs(self) -> tuple[int, int]:
        """Numbers of pairs of child symbols, with words and without."""
        n_words = self.n_emitting**2
        if self.n_symbols == self.n_emitting:
            return n_words, n_words
        return n_words, (2 * self.n_emitting + self.n_branching) * self.n_branching

    def make_space(self, n: int) -> kernels.LaneSpace:
        """Return work space for sentences of up to n words."""
        w, z = self.n_lanes, max(self.n_emitting, self.n_branching)
        n_pairs = _padded(max(self.n_pairs), w // 2)  # whole vectors of half a row each

        def rows(n_rows: int) -> NDArray[Any]:
            return aligned_zeros((n_rows, w), self.dtype)

        return kernels.LaneSpace(
            rows(n * n * z), rows(n * n * z),
            np.empty((n * n, w), dtype=np.int64), np.empty((n * n, w), dtype=np.int64),
            rows(n), rows(n * z), rows(n_pairs), rows(n_pairs), rows(z),
            aligned_zeros((w, n_pairs), self.dtype), rows(3), rows(self.n_symbols),
            np.empty((n, w), dtype=np.int32), np.empty((n, w), dtype=np.int32),
            np.empty((n, w), dtype=np.int32), np.empty(w, dtype=np.int64),
            np.empty(w), np.empty(w), np.empty(w), np.empty((n * n, w)),
            aligned_zeros((self.n_branching, n_pairs), self.dtype),
            aligned_zeros((self.n_branching, n_pairs), self.dtype),
        )  # fmt: skip


def _to_common(logs: Floats) -> tuple[Floats, int]:
    """Return numbers with given logs, the largest in [1, 2), and the exponent of two taken out."""
    mantissas, exponents = extended.to_extended_range(logs)
    largest = int(exponents.max())
    shift = np.maximum(exponents - largest, -3000).astype(np.int32)  # too small: 0
    return np.ldexp(mantissas, shift), largest


def _pack(matrix: Floats, dtype: Any) -> NDArray[Any]:
    """Return a matrix in the format of `mix`: column-major blocks of rows, the largest first."""
    blocks, begin = [], 0
    while begin < len(matrix):
        size = next(size for size in MIX_ROWS if size <= len(matrix) - begin)
        blocks.append(matrix[begin : begin + size].T.ravel())
        begin += size
    return np.concatenate(blocks).astype(dtype)


def _padded(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
