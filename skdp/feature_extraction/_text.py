"""Common code of the vectorizers of ordered text."""

from __future__ import annotations

import codecs
import re
from abc import abstractmethod
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_unmasked, shorten
from skdp._sklearn_compat import EstimatorMixin
from skdp.data import SegmentedCorpus, TokenSequences
from skdp.data._characters import normalize_text
from skdp.feature_extraction._word_patterns import WordPattern


class WordNumbers:
    """Texts as numbers of their words, in order of appearance, until a vocabulary is chosen."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._tokens = array("q")
        self._ends = array("q", [0])

    def add(self, words: Iterable[str]) -> None:
        """Read a text."""
        self._tokens.extend(map(self._numbers.__getitem__, words))
        self._ends.append(len(self._tokens))

    @property
    def types(self) -> list[str]:
        """The words that were read, each once."""
        return list(self._numbers)

    def count(self) -> NDArray[np.int64]:
        """Return the number of occurrences of each word."""
        return np.bincount(self._tokens, minlength=len(self._numbers))

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of words of each text."""
        return np.diff(self._ends)

    def translate(self, ids: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the texts as word ids end to end, and their offsets; id -1 leaves out a type."""
        tokens = np.asarray(ids, dtype=np.int32)[np.asarray(self._tokens)]
        kept = tokens >= 0
        kept_before = np.concatenate(([0], np.cumsum(kept)))
        return tokens[kept], kept_before[np.asarray(self._ends)]


class TextVectorizer(EstimatorMixin, TransformerMixin, BaseEstimator):
    """Base of the vectorizers: raw text in, a container of word ids out."""

    vocabulary: Any
    vocabulary_: dict[str, int]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # Containers are never wrapped into data frames.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Learn the vocabulary.

        Parameters
        ----------
        X : as in `transform`
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    @abstractmethod
    def fit_transform(self, X: Iterable[Any], y: Any = None) -> Any:
        """Learn the vocabulary and return the container."""

    @abstractmethod
    def _take_vocabulary(self) -> None:
        """Set what `fit` learns to what it would learn of `vocabulary` from no texts."""

    def _check_fitted(self) -> None:
        """Raise if there is no vocabulary, neither from `fit` nor from the parameter."""
        if self.vocabulary is not None and not hasattr(self, "vocabulary_"):
            self._take_vocabulary()
        check_is_fitted(self, "vocabulary_")

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing: the output is always a container.

        So you can set a whole Pipeline to return data frames: its later steps will do so.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None

        Returns
        -------
        self
        """
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the words of the vocabulary in the order of their ids.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        (n_features,) array of str objects
        """
        self._check_fitted()
        return np.array(sorted(self.vocabulary_, key=self.vocabulary_.__getitem__), dtype=object)


def read_bag(bag: Any) -> Iterator[Any]:
    """Yield the texts of a bag, computed one partition at a time."""
    for part in bag.to_delayed():
        yield from part.compute()


def transform_bag(vectorizer: TextVectorizer, bag: Any) -> list[Any]:
    """Return the vectorizer's output for each partition of a bag, as dask.delayed objects."""
    from dask import delayed

    fitted = delayed(copy(vectorizer), traverse=False)  # another fit of it is not ours
    return [delayed(_transform)(fitted, part) for part in bag.to_delayed()]


def _transform(vectorizer: Any, texts: Iterable[Any]) -> Any:
    return vectorizer.transform(list(texts))


def check_raw(X: Any) -> None:
    """Raise for what would be read by the letter (a lone text) or by column name (a frame)."""
    if isinstance(X, (str, bytes)):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if hasattr(X, "columns"):
        raise ValueError("X is a data frame; pass the column that holds the text.")
    if isinstance(X, dict) or not hasattr(X, "__iter__"):
        raise ValueError(f"X must be an iterable of texts, got {type(X).__name__}.")
    check_unmasked(X, "X")


class TextReader(CountVectorizer):
    """Reads and cuts text as a CountVectorizer does, but sees no characters that readers do not."""

    def decode(self, doc: Any) -> Any:
        """Return a text; NaN and other things as they are, since errors name their place."""
        text = doc if isinstance(doc, float) else super().decode(doc)
        return normalize_text(text) if isinstance(text, str) else text

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """Return a function that cuts a text into words."""
        tokenize = super().build_tokenizer()  # it checks the pattern
        return tokenize if self.tokenizer is not None else WordPattern(self.token_pattern)


def check_reading(vectorizer: Any) -> None:
    """Raise if a parameter for reading text is not a pattern or not an encoding."""
    try:
        codecs.lookup(vectorizer.encoding)
    except LookupError:
        raise ValueError(
            f"encoding must be the name of an encoding, got {shorten(vectorizer.encoding)}."
        ) from None
    pattern = vectorizer.token_pattern
    if vectorizer.tokenizer is not None:
        return
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        raise ValueError(
            f"token_pattern must be a regular expression, got {shorten(pattern)}: {error}."
        ) from None


def check_words(words: Iterable[Any], name: str) -> None:
    """Raise if one of the words is no str."""
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"{name} must hold str, got {shorten(word)}.")


def check_vocabulary(vocabulary: Any) -> dict[str, int]:
    """Return the ids of a vocabulary's words, which must be different, as must be their ids."""
    if isinstance(vocabulary, str | bytes):
        raise ValueError(f"vocabulary must be words, got the text {shorten(vocabulary)}.")
    if hasattr(vocabulary, "__next__"):
        raise ValueError("vocabulary must not be a generator, which can be read only once.")
    words = list(vocabulary)
    if not words:
        raise ValueError("vocabulary must hold at least one word, but it is empty.")
    check_words(words, "vocabulary")
    seen = set()
    for word in words:
        if word in seen:
            raise ValueError(f"vocabulary must hold each word once, got {shorten(word)} twice.")
        seen.add(word)
    if isinstance(vocabulary, Mapping):
        ids = list(vocabulary.values())
        whole = all(isinstance(i, Integral) and not isinstance(i, bool) for i in ids)
        if not whole or sorted(ids) != list(range(len(ids))):
            raise ValueError(
                f"vocabulary must map words to ids from 0 to {len(ids) - 1}, each once, got "
                f"{shorten(vocabulary)}."
            )
        return dict(zip(words, map(int, ids), strict=True))
    if isinstance(vocabulary, set | frozenset):  # has no order, or another one in each process
        words.sort()
    return {word: i for i, word in enumerate(words)}


def check_known(X: SegmentedCorpus | TokenSequences, n_words: int) -> None:
    """Raise if a container has words that a vocabulary has not."""
    if len(X.tokens) and X.tokens.max() >= n_words:
        raise ValueError(
            f"X must hold word ids of the vocabulary, from 0 to {n_words - 1}, got "
            f"{X.tokens.max()}."
        )
