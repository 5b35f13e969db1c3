"""Word ids for treebanks, with classes for rare and new words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skdp.data._characters import normalize_word
from skdp.feature_extraction import TokenVectorizer
from skdp.feature_extraction._unknown_words import UnknownWords

_FIRST = "^"
"""Prefix of the names of word classes at the start of a sentence."""


class TreebankLexicon:
    """Known words, which occur at least `min_count` times, and classes of unknown words.

    The class depends on the spelling, as in `TokenVectorizer`. The start of a sentence, where an
    initial capital is uninformative, has separate classes.
    """

    def __init__(self, sentences: Sequence[Sequence[str]], min_count: int):
        sentences = [list(map(normalize_word, sentence)) for sentence in sentences]
        counts = Counter(word for sentence in sentences for word in sentence)
        known = {word for word, count in counts.items() if count >= min_count}
        first: Counter[str] = Counter()
        other: Counter[str] = Counter()
        for sentence in sentences:
            for i, word in enumerate(sentence):
                if word not in known:
                    (other if i else first)[word] += 1
        affixes = TokenVectorizer().get_params()
        self._first, self._other = (
            UnknownWords(rare.items(), affixes["prefixes"], affixes["suffixes"], max(min_count, 1))
            for rare in (first, other)
        )
        names = sorted(known)
        names += [name for name in sorted(self._other.names) if name not in known]
        names += [_FIRST + name for name in sorted(self._first.names) if _FIRST + name not in known]
        self._ids = {name: i for i, name in enumerate(names)}
        self._known = known
        self.names = names
        self.n_known = len(known)

    def count_symbols(self, sentences: Sequence[Sequence[str]], symbols: Sequence[int]) -> None:
        """Store the counts of symbols of rare words, given the `symbols` of all words."""
        rest = iter(symbols)
        self._seen: dict[str, Counter[int]] = {}
        for sentence in sentences:
            for word, symbol in zip(map(normalize_word, sentence), rest, strict=False):
                if word not in self._known:
                    self._seen.setdefault(word, Counter())[symbol] += 1

    def seen(self, sentence: Sequence[str]) -> list[Counter[int] | None]:
        """Return the counts of symbols in the trees for the rare words of a sentence."""
        return [self._seen.get(normalize_word(word)) for word in sentence]

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, sentence: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of the words of a sentence."""
        ids = []
        for i, word in enumerate(map(normalize_word, sentence)):
            if word not in self._known:
                word = self._other.classify(word) if i else _FIRST + self._first.classify(word)
            ids.append(self._ids[word])
        return np.array(ids, dtype=np.int32)
