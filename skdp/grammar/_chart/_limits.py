"""Limits of the spans that trees may have, from brackets that must be constituents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.data import TokenSequences


class SpanLimits(NamedTuple):
    """The spans that cross no bracket: words s, ..., e - 1 with firsts[e - 1] <= s, e <= lasts[s].

    In a binary tree of such spans every bracket is a constituent. The smallest span that contains
    it would otherwise be split within the bracket, and one of its children would cross it.
    """

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
