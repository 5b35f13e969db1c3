"""Classes of words by their spelling, for words too rare for their own statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

_MIN_STEM = 3
"""Letters that an affix must leave."""


class UnknownWords:
    """Classes of unknown words, learned from the rare words of the training data and their counts.

    A class is a list of features: case, digit, hyphen, suffix, prefix. Below `min_count` tokens it
    loses the last; () always exists. A word has the longest class that its own list begins with.
    """

    def __init__(
        self,
        words: Iterable[tuple[str, int]],
        prefixes: Sequence[str],
        suffixes: Sequence[str],
        min_count: int,
    ):
        self._prefixes = sorted(prefixes, key=len, reverse=True)
        self._suffixes = sorted(suffixes, key=len, reverse=True)
        counts: Counter[tuple[str, ...]] = Counter()
        for word, count in words:
            counts[self._features(word)] += count
        for size in range(max(map(len, counts), default=0), 0, -1):
            small = [f for f, n in counts.items() if len(f) == size and n < min_count]
            for features in small:
                counts[features[:-1]] += counts.pop(features)
        self._classes = {(), *counts}

    def _features(self, word: str) -> tuple[str, ...]:
        features = []
        if len(word) > 1 and word.isupper():
            features.append("capitals")
        elif word[:1].isupper():
            features.append("initial")
        if any(map(str.isdigit, word)):
            features.append("digit")
        if "-" in word.strip("-"):
            features.append("hyphen")
        stem = word.lower()
        for suffix in self._suffixes:
            if stem.endswith(suffix) and len(stem) >= len(suffix) + _MIN_STEM:
                features.append("-" + suffix)
                stem = stem.removesuffix(suffix)
                break
        for prefix in self._prefixes:
            if stem.startswith(prefix) and len(stem) >= len(prefix) + _MIN_STEM:
                features.append(prefix + "-")
                break
        return tuple(features)

    @property
    def names(self) -> list[str]:
        """Names of all classes."""
        return [_name(features) for features in self._classes]

    def classify(self, word: str) -> str:
        """Return the name of a word's class."""
        features = self._features(word)
        while features not in self._classes:
            features = features[:-1]
        return _name(features)


def _name(features: tuple[str, ...]) -> str:
    return ":".join(("UNK", *features))
