"""Sentences to sequences of word ids."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from skdp._checks import shorten
from skdp._sklearn_compat import (
    Interval,
    StrOptions,
    get_parameter_constraints,
    validate_parameters,
)
from skdp.data import PartitionedSentences, TokenSequences
from skdp.data._partitioned import is_bag
from skdp.feature_extraction._text import (
    TextReader,
    TextVectorizer,
    UnknownWords,
    WordNumbers,
    check_known,
    check_raw,
    check_reading,
    check_vocabulary,
    read_bag,
    transform_bag,
)

_READING = (
    *("encoding", "decode_error", "strip_accents", "lowercase", "preprocessor"),
    *("tokenizer", "token_pattern"),
)


class TokenVectorizer(TextVectorizer):
    r"""Turn sentences into `TokenSequences`: word ids in reading order.

    By default, no word is dropped: words that are rare in the training data or do not occur there
    are replaced by classes of unknown words that depend on their spelling, such as "UNK:initial:-s"
    for a capitalized word that ends in -s. So a model sees unknown words in training, and sentences
    keep their length. Text is read as it looks: invisible characters are removed, and composed
    and decomposed letters are equal.

    Parameters
    ----------
    analyzer : {"word", "char"}, default="word"
        What a sentence consists of. "char": its characters (code points, spaces among them), so
        that `tokenizer` and `token_pattern` have no use. Sentences that are lists are not affected.
    min_count : int, default=2
        Words that are rarer than this in the training data are unknown.
    unknown_words : {"classes", "single", "drop"}, default="classes"
        "classes": an unknown word is replaced by its class, a list of features: capitals or an
        initial capital, a digit, a hyphen, a suffix, a prefix. Classes of fewer than `min_count`
        training words lose their last feature until they are larger; so do classes that do not
        occur in the training data, down to "UNK". "single": it is replaced by "UNK". "drop": it is
        dropped.
    prefixes, suffixes : tuple of str
        Affixes that distinguish classes of unknown words, in lowercase; if several match, the
        longest one is used. The defaults are English.
    encoding : str, default="utf-8"
        Encoding used to decode bytes.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are not valid in `encoding`.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Remove accents from characters.
    lowercase : bool, default=False
        Convert all characters to lowercase.
    preprocessor : callable or None, default=None
        Used instead of `strip_accents` and `lowercase`.
    tokenizer : callable or None, default=None
        Used instead of `token_pattern` to cut text into words.
    token_pattern : str or None, default=r"(?u)\w+(?:[-'’.,]\w+)*|[^\w\s]"
        Regular expression that matches a word. Unlike in `re`, ``\w`` also matches combining marks
        and zero-width joiners, and ``\b`` agrees with that. Marks behind a match belong to it.
    vocabulary : mapping, iterable of str or None, default=None
        The known words, in the order of their ids (a set: in alphabetical order), or a mapping from
        known words to ids: the integers from 0, each once. A fit is then not needed; without it,
        "UNK" is the only class of unknown words. None: all words that occur at least `min_count`
        times in the training data.

    Attributes
    ----------
    vocabulary_ : dict
        Mapping from words and names of classes to ids, in alphabetical order; if `vocabulary` is
        given, its words come first, with their ids, then the classes.

    See Also
    --------
    SegmentVectorizer : Turns documents of segments into word ids.
    skdp.data.TokenSequences : The output.

    Notes
    -----
    By default, punctuation marks are words, too, and "it's", "well-known" and "1.5" are one word
    each. `preprocessor` is applied to each sentence, or to each word of a sentence that is a list.
    Byte order marks (U+FEFF) are removed. Words are found by Unicode's definition of word
    characters (UTS #18), so words of Hindi or Thai, and decomposed letters, are not cut at their
    marks. Languages that put no spaces between words need a `tokenizer`.

    Parameters that :class:`~sklearn.feature_extraction.text.CountVectorizer` also has mean the same
    as there. Others are missing here: an n-gram is not a word of a sentence (`ngram_range`),
    a sentence without its stop words is not a sentence (`stop_words`, `max_df`), and
    rare words are defined by the number of their occurrences, on which estimates depend
    (`min_count`, not `min_df` and `max_features`).

    Examples
    --------
    >>> from skdp.feature_extraction import TokenVectorizer
    >>> vectorizer = TokenVectorizer()
    >>> sentences = vectorizer.fit_transform(["the dog barks", ["the", "cat", "meows"]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['UNK', 'UNK:-s', 'the']
    >>> [words.tolist() for words in vectorizer.inverse_transform(sentences)]
    [['the', 'UNK', 'UNK:-s'], ['the', 'UNK', 'UNK:-s']]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "analyzer": [StrOptions({"word", "char"})],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "unknown_words": [StrOptions({"classes", "single", "drop"})],
        "prefixes": [tuple, list],
        "suffixes": [tuple, list],
        **get_parameter_constraints(CountVectorizer, (*_READING, "vocabulary")),
    }

    def __init__(
        self,
        *,
        analyzer: str = "word",
        min_count: int = 2,
        unknown_words: str = "classes",
        prefixes: tuple[str, ...] = ("dis", "in", "non", "over", "pre", "re", "un"),
        suffixes: tuple[str, ...] = (
            *("able", "al", "ed", "er", "est", "ing", "ion", "ity", "ive", "ly", "ment", "ness"),
            *("ous", "s", "y"),
        ),
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = False,
        preprocessor: Any = None,
        tokenizer: Any = None,
        token_pattern: str | None = r"(?u)\w+(?:[-'’.,]\w+)*|[^\w\s]",
        vocabulary: Any = None,
    ):
        self.analyzer = analyzer
        self.min_count = min_count
        self.unknown_words = unknown_words
        self.prefixes = prefixes
        self.suffixes = suffixes
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.token_pattern = token_pattern
        self.vocabulary = vocabulary

    def _read(self, X: Any) -> WordNumbers:
        check_raw(X)
        check_reading(self)
        reader = TextReader(**{name: getattr(self, name) for name in _READING})
        preprocess = reader.build_preprocessor()
        tokenize = list if self.analyzer == "char" else reader.build_tokenizer()
        numbers = WordNumbers()
        for i, sentence in enumerate(X):
            is_list = isinstance(sentence, (list, tuple, np.ndarray))
            texts = [reader.decode(text) for text in (sentence if is_list else [sentence])]
            if not all(isinstance(text, str) for text in texts):
                raise ValueError(
                    f"sentence {i}: must be text or a list of words, got {shorten(sentence)}."
                )
            words = [preprocess(text) for text in texts]
            numbers.add(words if is_list else tokenize(words[0]))
        return numbers

    def _ids(self, numbers: WordNumbers) -> TokenSequences:
        """Return the tokens with the vocabulary's ids."""
        ids = []
        for word in numbers.types:
            if word not in self.vocabulary_ and self._unknown is not None:
                word = self._unknown.classify(word)
            ids.append(self.vocabulary_.get(word, -1))
        return TokenSequences(*numbers.translate(ids), len(self.vocabulary_))

    def fit_transform(
        self, X: Iterable[Any], y: Any = None
    ) -> TokenSequences | PartitionedSentences:
        """Learn the vocabulary and the classes of unknown words, and return the sentences.

        Parameters
        ----------
        X : as in `transform`
        y : ignored

        Returns
        -------
        TokenSequences or PartitionedSentences
        """
        given = self._check_parameters()
        if is_bag(X):
            self.fit_transform(read_bag(X))
            return self.transform(X)
        numbers = self._read(X)
        self._learn(given, zip(numbers.types, numbers.count().tolist(), strict=True))
        return self._ids(numbers)

    def _check_parameters(self) -> dict[str, int]:
        """Return the words that are given, if any, with their ids."""
        validate_parameters(self)
        for name in ("prefixes", "suffixes"):
            affixes = getattr(self, name)
            if not all(isinstance(affix, str) and affix for affix in affixes):
                raise ValueError(
                    f"{name} must hold str that are not empty, got {shorten(affixes)}."
                )
        return {} if self.vocabulary is None else check_vocabulary(self.vocabulary)

    def _take_vocabulary(self) -> None:
        self._learn(self._check_parameters(), [])

    def _learn(self, given: dict[str, int], counted: Iterable[tuple[str, int]]) -> None:
        """Set the vocabulary and the classes of unknown words, by the counts of all words."""
        counts = list(counted)
        known = set(given) or {word for word, count in counts if count >= self.min_count}
        unknown = self._learn_unknown([item for item in counts if item[0] not in known])
        if unknown is not None:
            known.update(unknown.names)
        if not known or not (given or counts):
            raise ValueError("empty vocabulary; no word occurs min_count times in the sentences")
        self._unknown = unknown
        rest = enumerate(sorted(known.difference(given)), len(given))
        self.vocabulary_ = given | {word: i for i, word in rest}

    def _learn_unknown(self, rare: list[tuple[str, int]]) -> UnknownWords | None:
        if self.unknown_words == "drop":
            return None
        if self.unknown_words == "single":
            return UnknownWords([], (), (), 1)
        return UnknownWords(rare, self.prefixes, self.suffixes, self.min_count)

    def transform(self, X: Iterable[Any]) -> TokenSequences | PartitionedSentences:
        """Return sentences as sequences of word ids.

        Parameters
        ----------
        X : iterable of sentences or dask.bag.Bag, each a string or a list of strings
            A string is cut into words; each string in a list is a word.

        Returns
        -------
        TokenSequences
            With ``len(vocabulary_)`` features. For a bag, a PartitionedSentences: Dask will read
            each partition where it is used.

        Raises
        ------
        ValueError
            If a sentence is not text; the message names it.
        """
        self._check_fitted()
        if is_bag(X):
            return PartitionedSentences.from_delayed(transform_bag(self, X), len(self.vocabulary_))
        return self._ids(self._read(X))

    def inverse_transform(self, X: Iterable[Any]) -> list[NDArray[np.object_]]:
        """Return the words of sentences, with classes in place of unknown words.

        Parameters
        ----------
        X : TokenSequences or list of sequences of word ids

        Returns
        -------
        list of arrays of str
        """
        names = self.get_feature_names_out()
        if not isinstance(X, TokenSequences):
            X = TokenSequences.from_sequences(X, len(names))
        check_known(X, len(names))
        return [names[sentence] for sentence in X]
