"""Weights and work spaces for sums over charts, limits of spans, and batches of sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from skdp._executors import call_all
from skdp._numeric import Floats, Places
from skdp._numeric._arrays import unique_rows
from skdp._numeric._numba import as_readonly
from skdp._numeric._simd import aligned_zeros
from skdp._numeric._simd_lanes import MIX_ROWS, ROW_BYTES
from skdp.data import TokenSequences
from skdp.grammar._kernels import _extended_range as extended
from skdp.grammar._kernels import _lanes as kernels
from skdp.grammar._kernels import _long as long_kernels

# The weights of the rules of a grammar.


class RuleWeights(NamedTuple):
    """Natural logs of the weights of whole rules, including the choice of their type."""

    # Weights need not sum to 1, and differ by factors as large as e^10000 in variational inference.

    log_root: NDArray[np.float64]  # (S,), preterminals come first, S = P + C
    log_emission: NDArray[np.float64]  # (P, V)
    log_binary: NDArray[np.float64]  # (C, S, S), parent, left child, right child
    n_preterminals: int | None  # P: the first P symbols emit, others branch; None: all do both

    @property
    def n_symbols(self) -> int:
        """Number S of symbols."""
        return len(self.log_root)

    @property
    def n_emitting(self) -> int:
        """Number P of emitting symbols, which come first."""
        return len(self.log_emission)

    @property
    def first_branching(self) -> int:
        """The first of the C branching symbols, which come last."""
        return len(self.log_root) - len(self.log_binary)


# The fast path with sentences side by side, on a linear scale.

_FLOOR = {8: 2.0**-900, 4: 2.0**-100}
_LIMIT = {8: 2.0**840, 4: 2.0**60}


class RuleBlocks:
    """Matrices of binary rules in blocks, by which of the two children are words."""

    n_symbols: int
    n_emitting: int
    n_branching: int
    width = 0
    """Right children to which the rows of a block are padded with zeros; 0: no padding."""

    @property
    def _blocks(self) -> list[tuple[slice, slice]]:
        """Places of left and right children: pairs of words, then the other pairs."""
        words, others = slice(0, self.n_emitting), slice(self.n_emitting, self.n_symbols)
        if self.n_symbols == self.n_emitting:
            return [(words, words)] * 2
        return [(words, words), (words, others), (others, words), (others, others)]

    def split(self, binary: Floats) -> tuple[Floats, Floats]:
        """Return a (C, S, S) array as two matrices, for pairs of words and for the other pairs."""
        flat = []
        for left, right in self._blocks:
            block = binary[:, left, right]
            missing = max(self.width - block.shape[2], 0)
            flat.append(np.pad(block, ((0, 0), (0, 0), (0, missing))).reshape(len(block), -1))
        return flat[0], np.concatenate(flat[1:], axis=1)

    def join(self, words: Floats, rest: Floats) -> Floats:
        """Return the (C, S, S) array that `split` separates into two matrices."""
        result = np.zeros((self.n_branching, self.n_symbols, self.n_symbols))
        both, begin = np.hstack([words, rest]), 0
        for left, right in self._blocks:  # without preterminals both are for all pairs
            block = result[:, left, right]
            n, n_left, n_right = block.shape
            end = begin + n_left * max(self.width, n_right)
            block += both[:, begin:end].reshape(n, n_left, -1)[:, :, :n_right]
            begin = end
        return result

    @property
    def n_pairs(self) -> tuple[int, int]:
        """Numbers of pairs of child symbols, with padding: of words, and the others."""
        first, *others = (
            (left.stop - left.start) * max(self.width, right.stop - right.start)
            for left, right in self._blocks
        )
        return first, sum(others)


class LaneRules(RuleBlocks):
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

    def sum_inside(
        self, batches: SentenceBatches, places: Places, times: Floats, *out: Any
    ) -> None:
        """Write log probabilities, and which are in doubt, with the space and the arrays `out`."""
        which = batches.distinct[places]
        kernels.sum_inside(*batches.arrays, which, self.n_lanes, times, self.numbers, *out)

    def count(self, batches: Any, places: Places, times: Floats, *out: Any) -> None:
        """Write log probabilities, and which are unsafe, and add counts, `times` a sentence."""
        which = batches.distinct[places]
        kernels.count_batches(*batches.arrays, which, self.n_lanes, times, self.numbers, *out)

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


# The fast path for long sentences, one at a time, with symbols side by side.


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


class LongRules(RuleBlocks):
    """Weights of rules on a linear scale, in the layout for one sentence at a time."""

    n_lanes = 1

    def __init__(self, rules: LaneRules):
        self.dtype, self.n_symbols = rules.dtype, rules.n_symbols
        self.n_emitting, self.n_branching = rules.n_emitting, rules.n_branching
        lanes = _VECTOR_BYTES // self.dtype.itemsize
        self.width = _padded(max(self.n_emitting, self.n_branching), lanes)
        words, rest = (self._aligned(matrix) for matrix in self.split(rules.binary))
        self.numbers = rules.numbers._replace(up_words=words, up=rest)

    def _aligned(self, matrix: Floats) -> NDArray[Any]:
        array = aligned_zeros(matrix.size, self.dtype)
        array[:] = matrix.ravel()
        return array

    def sum_inside(
        self, batches: SentenceBatches, places: Places, times: Floats, *out: Any
    ) -> None:
        """Write log probabilities, and which are in doubt, with the space and the arrays `out`."""
        long_kernels.sum_long(*batches.arrays, batches.distinct[places], self.numbers, *out)

    def count(self, batches: Any, places: Places, times: Floats, *out: Any) -> None:
        """Write log probabilities, and which are unsafe, and add counts, `times` a sentence."""
        *first, words, rest, symbols = out
        long_kernels.count_long(
            *batches.arrays, batches.distinct[places], times, self.numbers,
            *first, words.ravel(), rest.ravel(), symbols,
        )  # fmt: skip

    def make_space(self, n: int) -> long_kernels.LongSpace:
        """Return work space for sentences of up to n words."""
        z, held = self.width, long_kernels._HELD
        pairs = max(self.n_pairs)

        def zeros(size: int) -> NDArray[Any]:
            return aligned_zeros(size, self.dtype)

        def integers() -> NDArray[np.int64]:
            return np.zeros(n * n, dtype=np.int64)

        return long_kernels.LongSpace(
            zeros(n * n * z), zeros(n * n * z), zeros(n * n * z), zeros(n * n * z),
            integers(), integers(), integers(), np.zeros(n * n), np.zeros(n * n),
            zeros(n), zeros(n * z), zeros(n * z), zeros(pairs), zeros(pairs), zeros(pairs),
            zeros(z), zeros(held * z), zeros(held * pairs), np.zeros(self.n_symbols),
            zeros(len(self.numbers.up_words)), zeros(len(self.numbers.up)),
        )  # fmt: skip


# The slow paths, sentence by sentence: extended range, best trees and sampled trees.

Sentence = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""Words and limits of spans, as the kernels take them."""


class ExtendedSpace:
    """Work space for sums in numbers of unlimited range, one sentence after another."""

    def __init__(self, weights: RuleWeights, longest: int):
        n_symbols = weights.n_symbols
        root, emission, binary = weights[:3]
        self.weights = extended.ExtendedWeights(
            *map(extended.to_extended_range, (root, emission, np.ravel(binary)))
        )
        self.inside, self.outside, self.splits, self.needs, self.choices = (
            extended.Numbers(np.empty(size), np.empty(size, dtype=np.int64))
            for size in (
                *[longest**2 * n_symbols] * 2, *[n_symbols**2] * 2, max(n_symbols**2, longest)
            )
        )  # fmt: skip
        self.stack = np.empty((2 * longest, 3), dtype=np.int64)

    def sum_inside(self, sentence: Sentence) -> tuple[Any, Any, float]:
        """Fill the chart; return mantissa, exponent and logarithm of the sentence's weight."""
        total, exponent = extended.sum_inside(sentence, self.weights, self.inside, self.splits)
        log_prob = math.log(total) + exponent * extended.LOG_TWO if total > 0.0 else -math.inf
        return total, exponent, log_prob

    def count(
        self, sentence: Sentence, multiplicity: float, counts: list[Floats], symbols: Floats
    ) -> float:
        """Add the expected counts of a sentence; return its log probability."""
        total, exponent, log_prob = self.sum_inside(sentence)
        if log_prob > -math.inf:
            root, emission, binary = counts
            extended.sum_outside(
                sentence, multiplicity, total, exponent, self.weights, self.inside, self.outside,
                self.splits, self.needs, root, emission, binary.reshape(-1), symbols,
            )  # fmt: skip
        return log_prob

    @property
    def for_draws(self) -> tuple[Any, ...]:
        """Weights, chart and scratch, as draws of trees take them."""
        return self.weights, self.inside, self.splits, self.choices, self.stack


def find_best_trees(
    batches: SentenceBatches, weights: RuleWeights, part: Places
) -> list[tuple[float, NDArray[np.int32], NDArray[np.int32]]]:
    """Return log weight, symbols and lengths of each sentence's best tree, or no nodes."""
    logs = tuple(np.ascontiguousarray(part) for part in weights[:3])
    longest = batches.longest(part)
    space = extended.BestSpace.of(longest, weights.n_symbols)
    stack = np.empty((2 * longest, 3), dtype=np.int64)
    found = []
    for place in part:
        sentence = batches.sentence(place)
        symbols, lengths = np.empty((2, 2 * len(sentence[0]) - 1), dtype=np.int32)
        log_weight = extended.find_best_tree(sentence, logs, space, stack, symbols, lengths)
        n_nodes = len(symbols) if log_weight > -np.inf else 0
        found.append((log_weight, symbols[:n_nodes], lengths[:n_nodes]))
    return found


# Limits of the spans that trees may have, from brackets that must be constituents.


class SpanLimits(NamedTuple):
    """Spans that cross no bracket: words s, ..., e - 1, firsts[e - 1] <= s and e <= lasts[s]."""

    # In a binary tree of such spans every bracket is a constituent. The smallest span that contains
    # it would otherwise be split within the bracket, and one of its children would cross it.

    firsts: NDArray[np.int32]  # (N,) or (0,), at e - 1: largest i of the brackets with i < e < j
    lasts: NDArray[np.int32]  # at s: smallest j of the brackets with i < s < j

    @classmethod
    def of(cls, firsts: NDArray[Any], lasts: NDArray[Any]) -> Self:
        """Return limits in the format of the kernels."""
        return cls(as_readonly(firsts.astype(np.int32)), as_readonly(lasts.astype(np.int32)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return limits that are read-only again after a copy by pickle."""
        return SpanLimits.of, (np.asarray(self.firsts), np.asarray(self.lasts))

    def of_sentence(self, ptr: NDArray[np.int64], i: int) -> SpanLimits:
        """Return the limits of sentence i, given the offsets of all sentences."""
        words = slice(ptr[i], ptr[i + 1])
        return SpanLimits(self.firsts[words], self.lasts[words])


NO_LIMITS = SpanLimits.of(np.empty(0), np.empty(0))


@dataclass(frozen=True)
class BracketedSentences:
    """Sentences with limits of the spans of their trees: the data of a fit with brackets."""

    sentences: TokenSequences
    limits: SpanLimits

    @property
    def n_features(self) -> int:
        """Size of the vocabulary."""
        return self.sentences.n_features

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Words of all sentences."""
        return self.sentences.tokens

    @property
    def ptr(self) -> NDArray[np.int64]:
        """Offsets of the sentences in `tokens`."""
        return self.sentences.ptr

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, which: NDArray[np.bool_]) -> BracketedSentences:
        """Return the sentences of a mask."""
        words = np.repeat(which, np.diff(self.ptr))
        limits = SpanLimits.of(*(limit[words] for limit in self.limits))
        return BracketedSentences(self.sentences[which], limits)


Sentences = TokenSequences | BracketedSentences


# Batches of sentences that are processed together.


_CHUNK_WORDS = 2000

AnySentences = TypeVar("AnySentences", bound=Sentences)


def without_empty(sentences: AnySentences) -> tuple[AnySentences, NDArray[np.bool_]]:
    """Return the sentences with words, and a mask of these sentences."""
    has_words = np.diff(sentences.ptr) > 0
    kept: Any = sentences if has_words.all() else sentences[has_words]
    return kept, has_words


class SentenceBatches(NamedTuple):
    """Distinct sentences in the order of processing, to create once for repeated sums over them."""

    sentences: TokenSequences
    limits: SpanLimits  # sentences differ if their words or their limits do
    distinct: NDArray[np.int64]  # (m,), first occurrence of each sentence, longer ones first
    inverse: NDArray[np.int64]  # (n,), sentence i equals sentence distinct[inverse[i]]
    multiplicity: NDArray[np.float64]  # (m,), number of occurrences of each distinct sentence

    @classmethod
    def of(cls, sentences: Sentences | SentenceBatches) -> SentenceBatches:
        """Return sentences as batches, batches unchanged; ValueError if one has no words."""
        if isinstance(sentences, SentenceBatches):
            return sentences
        limits, values = NO_LIMITS, [sentences.tokens]
        if isinstance(sentences, BracketedSentences):
            limits = sentences.limits
            values += limits
            sentences = sentences.sentences
        lengths = np.diff(sentences.ptr)
        if not lengths.all():
            raise ValueError(f"Sentence {np.argmin(lengths)} has no words; one is required.")
        distinct, inverse = [], np.empty(len(sentences), dtype=np.int64)
        n_distinct = 0
        for length in np.unique(lengths)[::-1]:
            (members,) = np.nonzero(lengths == length)
            places = sentences.ptr[members, np.newaxis] + np.arange(length)
            unique = unique_rows(np.hstack([each[places] for each in values]))
            distinct.append(members[unique.firsts])
            inverse[members] = n_distinct + unique.places
            n_distinct += len(unique.firsts)
        multiplicity = np.bincount(inverse, minlength=n_distinct).astype(np.float64)
        everything = np.concatenate(distinct) if distinct else np.empty(0, dtype=np.int64)
        return cls(sentences, limits, everything, inverse, multiplicity)

    def lengths(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of words of some of the sentences."""
        return self.sentences.ptr[which + 1] - self.sentences.ptr[which]

    def longest(self, places: Places) -> int:
        """Return the largest number of words of some of the distinct sentences."""
        return int(self.lengths(self.distinct[places]).max())

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Words, offsets of sentences, and limits of spans, in the format of the kernels."""
        return self.sentences.tokens, self.sentences.ptr, *self.limits

    def sentence(self, place: int) -> Sentence:
        """Return words and limits of spans of a distinct sentence."""
        i = self.distinct[place]
        words, (firsts, lasts) = self.sentences[i], self.limits
        if len(firsts):
            firsts, lasts = self.limits.of_sentence(self.sentences.ptr, i)
        return words, firsts, lasts

    def map(
        self,
        work: Callable[[NDArray[np.int64]], Any],
        places: NDArray[np.int64],
        multiple: int,  # of which the sizes of all parts except the last are multiples
        n_jobs: int | None,
    ) -> Iterator[tuple[NDArray[np.int64], Any]]:
        """Yield parts of `places`, in ascending order, and the results of `work` for them."""
        # `work` must be picklable and return its results, since it may run on a copy of its data.
        # The parts do not depend on `n_jobs`, so sums over them do not depend on it either.
        ends = np.cumsum(self.lengths(self.distinct[places]))
        parts = []
        begin = 0
        while begin < len(places):
            words = ends[begin] - self.lengths(self.distinct[places[begin : begin + 1]])[0]
            n = int(np.searchsorted(ends, words + _CHUNK_WORDS)) - begin
            end = begin + max(multiple, n // multiple * multiple)
            parts.append(places[begin:end])
            begin = end
        found = call_all([partial(work, part) for part in parts], n_jobs)
        return zip(parts, found, strict=True)
