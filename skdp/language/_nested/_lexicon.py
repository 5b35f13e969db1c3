"""Words in stored samples, and strings segmented into words."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints, Places
from skdp.language._nested._model import NestedModel


class Lexicon(NamedTuple):
    """Words by expected tokens, the most frequent first."""

    letters: Ints  # concatenated letters of the words
    ptr: Places  # their offsets
    counts: Floats  # (n_words,), tokens of each word, as means over samples

    @classmethod
    def of(cls, models: list[NestedModel]) -> Lexicon:
        """Return the words of samples; equally frequent words are in the order of their letters."""
        counts: dict[tuple[int, ...], float] = {}
        for model in models:
            for word, n in zip(model.words(), model.tokens.tolist(), strict=True):
                key = tuple(word.tolist())
                counts[key] = counts.get(key, 0.0) + n
        words = sorted(counts, key=lambda word: (-counts[word], word))
        lengths = [len(word) for word in words]
        return cls(
            np.array([letter for word in words for letter in word], dtype=np.int32),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array([counts[word] / len(models) for word in words]),
        )

    def words(self) -> list[Ints]:
        """Return the words as arrays of letters."""
        return np.split(self.letters, self.ptr[1:-1]) if len(self.counts) else []

    def look_up(
        self, tokens: Ints, ptr: Places, cuts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the words of strings, n_words for unknown words, and offsets."""
        number = {tuple(word.tolist()): i for i, word in enumerate(self.words())}
        ends = np.flatnonzero(cuts) + 1
        starts = np.concatenate([[0], ends[:-1]])
        ids = [
            number.get(tuple(tokens[a:b].tolist()), len(number))
            for a, b in zip(starts, ends, strict=True)
        ]
        word_ptr = np.concatenate([[0], np.cumsum(cuts)])[ptr].astype(np.int64)
        return np.array(ids, dtype=np.int32), word_ptr


def split_texts(
    cuts: NDArray[np.bool_], tokens: Ints, ptr: Places, texts: list[str] | None
) -> list[list[Any]]:
    """Return the words of strings, as arrays of letters if texts is None."""
    out: list[list[Any]] = []
    for i, (start, end) in enumerate(pairwise(ptr)):
        ends = np.flatnonzero(cuts[start:end]) + 1
        whole: Any = tokens[start:end] if texts is None else texts[i]
        out.append([whole[a:b] for a, b in pairwise([0, *ends])])
    return out
