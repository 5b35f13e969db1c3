"""Packing of arrays that are sent between processes: integers in few bytes.

Only pickles are packed; threads run none of this code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._simd import aligned_zeros
from skdp.topics._shared._arrays import MAX_TOTAL
from skdp.topics._shared._kernels import Corpus, WordCounts
from skdp.topics._shared._kernels_changes import (
    LONGEST,
    count_changes,
    decode_change,
    encode_change,
)


class Sparse(NamedTuple):
    """A matrix that is `fill` everywhere except for an encoded change."""

    code: NDArray[np.uint8]
    shape: tuple[int, ...]
    dtype: str
    fill: int


class Narrow(NamedTuple):
    """A vector in the smallest dtype that can represent it."""

    values: NDArray[Any]
    dtype: str


def encode(old: NDArray[Any], new: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the encoded change from `old` to `new`, which are arrays of integers."""
    old, new = old.reshape(-1), new.reshape(-1)
    out = np.empty(LONGEST * count_changes(old, new), dtype=np.uint8)
    return out[: encode_change(old, new, out)].copy()


def decode(code: NDArray[np.uint8], counts: NDArray[Any]) -> None:
    """Add a change to `counts`, which must be contiguous."""
    decode_change(code, counts.reshape(-1))


def pack(array: NDArray[Any]) -> Any:
    """Return an array in a form that takes less space in a pickle."""
    if array.dtype.kind not in "iu" or not array.size:
        return array
    low, high = array.min(), array.max()
    if array.ndim == 1:
        dtype = np.result_type(np.min_scalar_type(low), np.min_scalar_type(high))
        return Narrow(array.astype(dtype), array.dtype.str)
    fill = int(min(low, 0))
    empty = np.full(array.shape, fill, dtype=array.dtype)
    code = encode(empty, np.ascontiguousarray(array))
    return Sparse(code, array.shape, array.dtype.str, fill)


def unpack(packed: Any) -> NDArray[Any]:
    """Return the array that was packed; it is writable."""
    if isinstance(packed, Narrow):
        return packed.values.astype(packed.dtype)
    if isinstance(packed, Sparse):
        array = np.full(packed.shape, packed.fill, dtype=packed.dtype)
        decode(packed.code, array)
        return array
    return packed


def pack_corpus(corpus: Corpus) -> list[Any]:
    """Return the words of a shard in a form that takes less space in a pickle."""
    in_part = np.arange(len(corpus.part_begin)) - corpus.part_begin
    lengths = np.diff(corpus.segment_ptr), np.diff(corpus.doc_ptr)
    return [pack(each) for each in (corpus.tokens, in_part, *lengths)]


def unpack_corpus(packed: list[Any]) -> Corpus:
    """Return the words of a shard, with the same numba type as before."""
    tokens, in_part, *lengths = (unpack(each) for each in packed)
    offsets = [np.concatenate([[0], np.cumsum(each)]).astype(np.int64) for each in lengths]
    part_begin = np.arange(len(in_part)) - in_part
    return Corpus(*(as_readonly(array) for array in (tokens, *offsets, part_begin)))


def pack_words(words: WordCounts) -> Any:
    """Return words by topic in a form that takes less space in a pickle."""
    if words.fixed:
        return words
    counts, fixed = words.counts, np.flatnonzero(words.totals > MAX_TOTAL)
    columns = counts[:, fixed]
    if len(fixed):
        counts = counts.copy()
        counts[:, fixed] = 0.0
    code = encode(np.zeros_like(counts), counts)
    return code, counts.shape, words.totals, fixed, columns


def unpack_words(packed: Any) -> WordCounts:
    """Return the words by topic that were packed."""
    if isinstance(packed, WordCounts):
        return packed
    code, shape, totals, fixed, columns = packed
    counts = aligned_zeros(shape, dtype=np.float32)
    decode(code, counts)
    counts[:, fixed] = columns
    return WordCounts(counts, totals, False)
