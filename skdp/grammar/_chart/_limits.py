"""Limits of the spans that trees may have, from brackets that must be constituents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.data import TokenSequences


class SpanLimits(NamedTuple):
    """The spans that cross no bracket, for all sentences one after another.

    The words s, ..., e - 1 cross a bracket (i, j) if s < i < e < j or i < s < j < e. They cross
    none if ``firsts[e - 1] <= s`` and ``e <= lasts[s]``: the first limit is the largest i of the
    brackets with i < e < j, and the second is the smallest j of the brackets with i < s < j.

    In a binary tree whose spans cross no bracket, every bracket is a constituent. The smallest span
    of the tree that contains a bracket would otherwise be split within the bracket, and one of its
    children would cross it.

    Attributes
    ----------
    firsts, lasts : (N,) int32, read-only
        A number for each word, counted within its sentence. Both are empty without brackets.
    """

    firsts: NDArray[np.int32]
    lasts: NDArray[np.int32]

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
