"""Seed words of topics, from the parameters of an estimator to pseudo-counts."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from skdp._checks import is_list_like, shorten
from skdp.inference._convergence import warn_user
from skdp.topics._shared._fixed import WordPrior
from skdp.topics._shared._seeds import Seeds

LARGEST_SEED = 2**20
SHARE_OF_SEED = 0.0075
"""Pseudo-counts of a seed word, relative to the words of a topic of mean size. In the addresses of
presidents, .75 % and 1.5 % help to find further words of the subject; .15 % and 7.5 % do not."""


class SeededTopic(NamedTuple):
    """A topic with seed words; `name` is None if the user has given a number."""

    number: int
    name: str | None
    words: list[Any]


def number_topics(
    seed_words: dict[Any, Any], n_topics: int | None, n_fixed: int = 0
) -> list[SeededTopic]:
    """Return the topics of `seed_words`; names take the lowest numbers that are free."""
    if not seed_words:
        raise ValueError("seed_words must have at least one topic, got an empty dict.")
    given = {*range(n_fixed), *(key for key in seed_words if _is_integer(key))}
    most = len(seed_words) + n_fixed if n_topics is None else n_topics
    free = iter(sorted(set(range(len(seed_words) + len(given))) - given))
    topics = []
    for key, words in seed_words.items():
        if not (isinstance(key, str) or _is_integer(key)):
            raise ValueError(
                f"seed_words must have numbers or names of topics as keys, got {shorten(key)}."
            )
        number = next(free) if isinstance(key, str) else int(key)
        if not 0 <= number < most:
            what = (
                f"n_components={n_topics}"
                if n_topics is not None
                else f"the number of topics with seed words, {most}, because they come first"
            )
            raise ValueError(
                f"seed_words must have numbers of topics from 0 to below {what}; topic "
                f"{key!r} has the number {number}."
            )
        if number < n_fixed:
            raise ValueError(
                f"seed_words must have topics that are not in fixed_components, which holds topics "
                f"0 to {n_fixed - 1}; got topic {key!r}."
            )
        is_set = isinstance(words, set | frozenset)
        if not (is_set or is_list_like(words)) or getattr(words, "ndim", 1) > 1 or len(words) == 0:
            raise ValueError(
                f"seed_words[{key!r}] must be a list of at least one word, got {shorten(words)}."
            )
        listed = list(words)
        for word in listed:
            if not (isinstance(word, str) or (_is_integer(word) and word >= 0)):
                raise ValueError(
                    f"seed_words[{key!r}] must hold words or word ids, got {shorten(word)}."
                )
        topics.append(SeededTopic(number, key if isinstance(key, str) else None, listed))
    return topics


def find_seeds(
    topics: list[SeededTopic], weight: int, n_words: int, names: Sequence[str] | None
) -> tuple[Seeds, list[str]]:
    """Return the seeds, and a message about each topic with some unknown words."""
    ids = {} if names is None else {name: i for i, name in enumerate(names)}
    pairs: set[tuple[int, int]] = set()
    messages = []
    for number, name, words in topics:
        key = number if name is None else name
        if names is None and any(isinstance(word, str) for word in words):
            raise ValueError(
                f"seed_words[{key!r}] has words as text, but X does not name its words. A data "
                "frame of counts does, and so does the corpus of a SegmentVectorizer, unless it "
                "was loaded from a file or is in partitions. Give word ids, such as "
                "vectorizer.vocabulary_[word]."
            )
        found = [ids.get(word, n_words) if isinstance(word, str) else int(word) for word in words]
        missing = [word for word, i in zip(words, found, strict=True) if i >= n_words]
        if missing:
            message = (
                f"seed_words[{key!r}]: not in the vocabulary of {n_words} words: "
                f"{', '.join(map(repr, missing))}"
            )
            if len(missing) == len(words):
                raise ValueError(f"{message}. No seed word of this topic is left.")
            messages.append(f"{message}. The other seed words of this topic are used.")
        pairs.update((number, i) for i in found if i < n_words)
    of_topics, of_words = np.array(sorted(pairs), dtype=np.int64).T
    return Seeds(of_topics.copy(), of_words.copy(), weight, n_words), messages


def names_of_topics(topics: list[SeededTopic], n_topics: int) -> list[str | None] | None:
    """Return the names of all topics, None for those without; None if no topic has a name."""
    names: list[str | None] = [None] * n_topics
    for number, name, _ in topics:
        names[number] = name
    return names if any(name is not None for name in names) else None


class SeedWordsMixin:
    """Mixin of the topic models that take seed words."""

    n_components: Any
    n_features_in_: int
    seed_words: dict[Any, Any] | None
    seed_weight: int | str
    _n_fixed: int

    _seeds: Seeds | None = None
    """Seeds in the vocabulary of X, found by a fit."""

    def _seeded_topics(self) -> list[SeededTopic]:
        """Return the topics that have seed words."""
        if self.seed_words is None:
            return []
        n_topics = self.n_components if self._numbers_topics else None
        return number_topics(self.seed_words, n_topics, self._n_fixed)

    @property
    def _numbers_topics(self) -> bool:
        """Whether the number of topics is given."""
        return True

    def _check_seeds(
        self, n_tokens: int, n_topics: int, names: Sequence[str] | None = None
    ) -> None:
        """Find the seeds in the vocabulary of X, and warn of seed words that are not in it."""
        self._seeds = None
        topics, names = self._seeded_topics(), getattr(self, "feature_names_in_", names)
        if topics:
            weight = self.seed_weight
            if isinstance(weight, str):
                weight = min(max(round(SHARE_OF_SEED * n_tokens / n_topics), 1), LARGEST_SEED)
            self._seeds, messages = find_seeds(topics, int(weight), self.n_features_in_, names)
            for message in messages:
                warn_user(message, UserWarning)

    def _word_prior(self) -> Any:
        """Return the prior of words for samplers, with seeds for X and fixed topics."""
        estimator: Any = self
        gamma = estimator._topic_word_prior()
        fixed = estimator._fixed_topics()
        has_hints = not (self._seeds is None and fixed is None)
        return WordPrior(gamma, self._seeds, fixed) if has_hints else gamma


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
