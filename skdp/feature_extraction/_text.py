"""Common code of the vectorizers: patterns of words, reading, segmentation, and unknown words."""

from __future__ import annotations

import codecs
import re
import unicodedata
from abc import abstractmethod
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from itertools import chain
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_unmasked, shorten, unpack
from skdp._sklearn_compat import EstimatorMixin, PlainOutputMixin
from skdp.data import SegmentedCorpus, TokenSequences
from skdp.data._frames import normalize_text, normalize_word

# Regular expressions for words whose letters may have combining marks.
#
# Python's ``\w`` matches no combining marks, so words of Hindi, Thai or vowelled Arabic, and
# decomposed Latin letters, would fall apart. Here ``\w`` and ``\b`` are those of Unicode's standard
# for regular expressions (UTS #18), which takes marks and joiners for parts of words.


_JOINERS = (0x200C, 0x200D)
"""Characters that are parts of words in Persian and Malayalam, although they are not marks."""

_BASIC = range(0x300, 0x10000)
_SUPPLEMENTARY = (range(0x10000, 0x20000), range(0xE0000, 0xE0200))
"""Ranges that contain all marks of Unicode."""

_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CLASS_OR_ESCAPE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", re.DOTALL)


class WordPattern:
    """Finds words by a regular expression in which marks belong to the letters before them."""

    # The group, if there is one, is the word. ASCII texts are searched with the expression as it
    # is, and so are all texts if it has the flag ``(?a)`` or ``(?x)``.

    def __init__(self, pattern: str):
        self._plain = re.compile(pattern)
        self._is_plain = bool(self._plain.flags & (re.ASCII | re.VERBOSE))

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        if self._is_plain or text.isascii() or (found := _find_marks(text)) is None:
            return self._plain.findall(text)
        return _widened(self._plain.pattern, found).findall(text)


def _find_marks(text: str) -> str | None:
    """Return the class of marks that a text needs, or None if it has no marks."""
    if _may_have_marks().search(text) is None:
        return None
    # Supplementary marks are in the class only if the text has one, since they slow `re` down.
    others = set(re.findall("[\U00010000-\U0010ffff]", text))
    has_supplementary = any(unicodedata.category(letter)[0] == "M" for letter in others)
    return _marks(has_supplementary)


@cache
def _may_have_marks() -> re.Pattern[str]:
    return re.compile(f"[{_marks(False)}\U00010000-\U0010ffff]")


@cache
def _marks(with_supplementary: bool) -> str:
    """Return marks and joiners as what stands inside a class of a regular expression."""
    planes = chain(_BASIC, *(_SUPPLEMENTARY if with_supplementary else ()))
    ranges: list[list[int]] = []
    for code in planes:
        if unicodedata.category(chr(code))[0] != "M" and code not in _JOINERS:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def _widened(pattern: str, marks: str) -> re.Pattern[str]:
    r"""Return an expression whose ``\w`` matches marks, and whose matches end with their marks."""
    word = rf"[\w{marks}]"
    escapes = {
        r"\w": word,
        r"\W": rf"[^\w{marks}]",
        r"\b": rf"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
        r"\B": rf"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))",
    }

    def widen(part: re.Match[str]) -> str:
        return escapes.get(part[0], part[0]) if part[0][0] == "\\" else _widen_class(part[0], marks)

    flags = found[0] if (found := _FLAGS.match(pattern)) else ""
    body = _CLASS_OR_ESCAPE.sub(widen, pattern[len(flags) :])
    return re.compile(f"{flags}(?:{body})[{marks}]*")


def _widen_class(text: str, marks: str) -> str:
    r"""Return a class with marks among its ``\w``, and none among its ``\W``."""
    escapes = set(_ESCAPE.findall(text))
    if {r"\w", r"\W"} <= escapes:
        return text  # whatever there is
    if r"\w" in escapes:
        return _ESCAPE.sub(lambda part: part[0] + (marks if part[0] == r"\w" else ""), text)
    if r"\W" in escapes:
        is_negated = text.startswith("[^")
        return f"(?:{text}|[{marks}])" if is_negated else f"(?:(?![{marks}]){text})"
    return text


# The base class of the vectorizers, and checks of texts and vocabularies.


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


class TextVectorizer(PlainOutputMixin, EstimatorMixin, TransformerMixin, BaseEstimator):
    """Base of the vectorizers: raw text in, a container of word ids out."""

    vocabulary: Any
    vocabulary_: dict[str, int]

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
    """Raise for a single text, which would be read letter by letter, and for a data frame."""
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

    def get_stop_words(self) -> Any:
        """Return the words to leave out, in the form of those that are read."""
        words = super().get_stop_words()
        return words and frozenset(map(normalize_word, words))

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
    words = list(unpack(vocabulary))
    if not words:
        raise ValueError("vocabulary must hold at least one word, but it is empty.")
    check_words(words, "vocabulary")
    words = list(map(normalize_word, words))
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


# Segmentation of raw text.


_PARAGRAPH_END = re.compile(r"\n\s*\n")

_GAP = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’“»›)\]]))\s+|\n\s*\n")
"""White space behind what may end a sentence, all of it, and blank lines."""

_LETTER_WITH_STOP = re.compile(r"[^\W\d_]\.")

_NUMBER = re.compile(r"\s*[(\[]?(\d+|[a-zA-Z]|[ivxIVX]+)(\.\d+)*[)\]]?\.")
"""The number of an item, with its full stop, if it is all of a sentence so far."""

_TWO_LETTERS = ("e.g.", "i.e.", "E.g.", "I.e.")

_ABBREVIATIONS = frozenset(
    ["Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Gen", "Rep", "Sen", "Gov", "vs"]
)
"""A full stop behind one of these ends no sentence."""

_BEFORE_NUMBERS = frozenset(
    "al app art ch chap chs col eq eqs fig figs l ll n no nos nr p par para pp pt ref refs s sec "
    "secs sect ser tab tabs vol vols".split()
)
"""A full stop between one of these and a number ends no sentence."""


def split_paragraphs(text: str) -> list[str]:
    """Cut at blank lines."""
    return _without_blank(_PARAGRAPH_END.split(text))


def split_lines(text: str) -> list[str]:
    """Cut at line ends."""
    return _without_blank(text.splitlines())


def split_sentences(text: str) -> list[str]:
    """Cut behind full stops, question and exclamation marks, and at blank lines."""
    pieces, begin = [], 0
    for gap in _GAP.finditer(text):
        if _PARAGRAPH_END.search(gap[0]) or _ends_sentence(text, begin, *gap.span()):
            pieces.append(text[begin : gap.start()])
            begin = gap.end()
    return _without_blank([*pieces, text[begin:]])


def _ends_sentence(text: str, first: int, stop: int, begin: int) -> bool:
    """Return whether a sentence from `first` ends before `stop`, if text continues at `begin`."""
    following = text[begin : begin + 1]
    if following.islower():
        return False
    if text[stop - 1] != ".":
        return True
    if _NUMBER.fullmatch(text, first, stop) or text[:stop].endswith(_TWO_LETTERS):
        return False
    word = _word_before(text, stop - 1)
    if following.isdigit() and word.lower() in _BEFORE_NUMBERS:
        return False
    if len(word) != 1:
        return word not in _ABBREVIATIONS
    # An initial, also of a script without capitals, or the first of two letters, as in "z. B."
    is_initial = word.isalpha() and not word.islower()
    return not (is_initial or (word.isalpha() and _LETTER_WITH_STOP.match(text, begin)))


def _word_before(text: str, end: int) -> str:
    """Return the letters and digits right before a place, without combining marks."""
    letters = []
    for letter in reversed(text[max(end - 40, 0) : end]):
        if letter.isalnum() or letter == "_":
            letters.append(letter)
        elif unicodedata.category(letter)[0] != "M":
            break
    return "".join(reversed(letters))


def _without_blank(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if piece.strip()]


SEGMENTERS: dict[str, Callable[[str], list[str]]] = {
    "paragraph": split_paragraphs,
    "line": split_lines,
    "sentence": split_sentences,
}


# Classes of words by their spelling, for words too rare for their own statistics.


_MIN_STEM = 3
"""Letters that an affix must leave."""


class UnknownWords:
    """Classes of unknown words, learned from the rare words of the training data."""

    # A class is a list of features: case, digit, hyphen, suffix, prefix. Below `min_count` tokens
    # it loses the last; () always exists. A word has the longest class that its own list begins
    # with.

    def __init__(
        self,
        words: Iterable[tuple[str, int]],
        prefixes: Sequence[str],
        suffixes: Sequence[str],
        min_count: int,
    ):
        self._prefixes = sorted(map(normalize_word, prefixes), key=len, reverse=True)
        self._suffixes = sorted(map(normalize_word, suffixes), key=len, reverse=True)
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
