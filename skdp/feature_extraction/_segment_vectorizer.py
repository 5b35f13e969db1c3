"""Raw documents to a corpus of segments of word ids."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from skdp._checks import shorten
from skdp._sklearn_compat import StrOptions, get_parameter_constraints, validate_parameters
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.data._partitioned import is_bag
from skdp.feature_extraction._text import (
    SEGMENTERS,
    TextReader,
    TextVectorizer,
    WordNumbers,
    check_known,
    check_raw,
    check_reading,
    check_vocabulary,
    check_words,
    read_bag,
    transform_bag,
)

_READING = ("input", "encoding", "decode_error")
_ANALYSIS = (
    *("strip_accents", "lowercase", "preprocessor", "tokenizer", "stop_words", "token_pattern"),
    *("ngram_range", "analyzer", "max_df", "min_df", "max_features", "vocabulary"),
)


class _WordCounter(CountVectorizer):
    """Counts the words of documents that are analyzed already: lists of segments of words."""

    def build_analyzer(self) -> Callable[[Any], Iterable[str]]:
        return chain.from_iterable


class SegmentVectorizer(TextVectorizer):
    r"""Turn raw documents into a `SegmentedCorpus`: word ids, segment by segment.

    A document is cut into segments. Scikit-learn's
    :class:`~sklearn.feature_extraction.text.CountVectorizer` finds the words of each segment and
    chooses the vocabulary. All its parameters are available except `binary` and `dtype`, since a
    corpus holds words, not word counts.

    Text is read as it looks: invisible characters (soft hyphens, zero-width spaces,
    marks of direction, byte order marks) are removed, composed and decomposed letters are equal,
    and all ends of lines are the same.

    Parameters
    ----------
    segmenter : {"paragraph", "line", "sentence"} or callable, default="paragraph"
        How to cut the text of a document. "paragraph": at blank lines. "line": at line ends.
        "sentence": at blank lines, and at white space after ``. ! ? …`` (and a closing quote or
        bracket) unless a lowercase letter of any alphabet follows, or an initial ("J. R. R.
        Tolkien", "z. B."), one of a few English titles ("Dr.") or the number of an item ("1.")
        precedes, or it is between a word such as "fig." and a number. Give a callable for
        other abbreviations, and for languages with other full stops, such as Chinese and Hindi.
        These three drop blank pieces. A callable maps the text to the list of its segments, all of
        which are kept. A document that is a list of strings is not cut: each string, even an empty
        one, is a segment.
    input : {"content", "filename", "file"}, default="content"
        What the documents (or the items of a document that is a list) hold.
    encoding : str, default="utf-8"
        Encoding used to decode bytes.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are not valid in `encoding`.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Remove accents from characters.
    lowercase : bool, default=True
        Convert all characters to lowercase.
    preprocessor : callable or None, default=None
        Used instead of `strip_accents` and `lowercase`.
    tokenizer : callable or None, default=None
        Used instead of `token_pattern` to cut text into words.
    stop_words : {"english"}, list of str or None, default=None
        Words to leave out. "english" is the only list there is.
    token_pattern : str or None, default=r"(?u)\b\w\w+\b"
        Regular expression that matches a word. Unlike in `re`, ``\w`` also matches combining marks
        and zero-width joiners, and ``\b`` agrees with that. Marks behind a match belong to it.
    ngram_range : (int, int), default=(1, 1)
        Smallest and largest length of n-grams. The n-grams of a segment are in the order in which
        the analyzer yields them: one length after the other, each in reading order. They do not
        cross segments.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What n-grams are made of. A callable maps a segment to its words.
    max_df, min_df : float in [0, 1] or int, default=1.0 and 1
        Drop words that occur in more (fewer) than this many documents (not segments); a float is a
        share.
    max_features : int or None, default=None
        Keep only the most frequent words.
    vocabulary : mapping, iterable of str or None, default=None
        The words, in the order of their ids (a set: in alphabetical order), or a mapping from words
        to ids: the integers from 0, each once. A fit is then not needed. None: learned in `fit`.

    Attributes
    ----------
    vocabulary_ : dict
        Mapping from words to ids, in alphabetical order unless `vocabulary` is given.

    See Also
    --------
    TokenVectorizer : Turns sentences into word ids.
    skdp.data.SegmentedCorpus : The output.

    Notes
    -----
    Segments correspond to the text: if all words of a segment are outside the vocabulary, it stays
    as an empty segment. `preprocessor` and `tokenizer` are applied to one segment at a time.

    Byte order marks (U+FEFF) are removed. Words are found by Unicode's definition of word
    characters (UTS #18), so words of Hindi or Thai, and decomposed letters, are not cut at their
    marks. Languages that put no spaces between words need a `tokenizer`.

    Examples
    --------
    >>> from skdp.feature_extraction import SegmentVectorizer
    >>> documents = ["A red fox.\n\nThe fox runs.", ["Red and blue", "", "blue fox"]]
    >>> vectorizer = SegmentVectorizer()
    >>> corpus = vectorizer.fit_transform(documents)
    >>> corpus
    <SegmentedCorpus of 2 documents, 5 segments, 10 tokens, 6 features>
    >>> vectorizer.get_feature_names_out().tolist()
    ['and', 'blue', 'fox', 'red', 'runs', 'the']
    >>> [words.tolist() for words in vectorizer.inverse_transform(corpus)[0]]
    [['red', 'fox'], ['the', 'fox', 'runs']]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "segmenter": [StrOptions(set(SEGMENTERS)), callable],
        **get_parameter_constraints(CountVectorizer, _READING + _ANALYSIS),
    }

    def __init__(
        self,
        *,
        segmenter: str | Callable[[str], list[str]] = "paragraph",
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
    ):
        self.segmenter = segmenter
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary

    def _chosen(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def _read(
        self, X: Any, numbers: WordNumbers, sizes: list[int], listed: list[int]
    ) -> Iterator[list[list[str]]]:
        """Yield documents as lists of segments of words; add those that are lists to `listed`."""
        check_raw(X)
        check_reading(self)
        reader = TextReader(**self._chosen(_READING))
        analyze = TextReader(**self._chosen(_ANALYSIS)).build_analyzer()
        cut = self.segmenter if callable(self.segmenter) else SEGMENTERS[self.segmenter]
        for d, document in enumerate(X):
            if isinstance(document, (list, tuple, np.ndarray)):
                segments = [reader.decode(segment) for segment in document]
                listed.append(d)
            else:
                text = reader.decode(document)
                pieces = cut(text) if isinstance(text, str) else [text]
                if isinstance(pieces, str):
                    raise ValueError(
                        f"segmenter must return a list of texts, got {shorten(pieces)}."
                    )
                segments = list(pieces)
            if not all(isinstance(segment, str) for segment in segments):
                raise ValueError(
                    f"document {d}: must be text or a list of texts, got {shorten(document)}."
                )
            words = [list(analyze(segment)) for segment in segments]
            for segment in words:
                numbers.add(segment)
            sizes.append(len(words))
            yield words

    def _corpus(self, numbers: WordNumbers, sizes: list[int]) -> SegmentedCorpus:
        ids = [self.vocabulary_.get(word, -1) for word in numbers.types]
        doc_ptr = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        corpus = SegmentedCorpus(*numbers.translate(ids), doc_ptr, len(self.vocabulary_))
        return corpus._with_names(tuple(self.get_feature_names_out().tolist()))

    def fit_transform(self, X: Iterable[Any], y: Any = None) -> SegmentedCorpus | PartitionedCorpus:
        """Learn the vocabulary and return the corpus.

        Parameters
        ----------
        X : as in `transform`
        y : ignored

        Returns
        -------
        SegmentedCorpus or PartitionedCorpus
        """
        given = self._check_parameters()
        if is_bag(X):
            self.fit_transform(read_bag(X))
            return self.transform(X)
        numbers, sizes, listed = WordNumbers(), list[int](), list[int]()
        counter = _WordCounter(**{**self._chosen(_ANALYSIS), "vocabulary": given})
        try:
            counter.fit(self._read(X, numbers, sizes, listed))
        except ValueError as error:
            if not str(error).startswith("max_df"):
                raise
            raise ValueError(
                f"No word can be in at least min_df={self.min_df} and at most "
                f"max_df={self.max_df} of the documents, because X has {len(sizes)}. Both count "
                "documents, not segments: leave them at their defaults, or pass more documents."
            ) from None
        self.vocabulary_ = {word: int(i) for word, i in counter.vocabulary_.items()}
        are_many = 0 < len(listed) == len(sizes) and sum(sizes) >= 5 * len(sizes)
        if are_many and numbers.lengths().max() == 1:
            warnings.warn(
                "No segment has more than one word: a document that is a list of strings is a list "
                "of segments. If yours are lists of words, pass [' '.join(words) for words in X] "
                "to SegmentVectorizer(analyzer=str.split).",
                stacklevel=2,
            )
        return self._corpus(numbers, sizes)

    def _check_parameters(self) -> dict[str, int] | None:
        """Return the words that are given, if any, with their ids."""
        validate_parameters(self)
        given = None if self.vocabulary is None else check_vocabulary(self.vocabulary)
        sizes_of_grams = self.ngram_range
        if (
            len(sizes_of_grams) != 2
            or not all(isinstance(n, Integral) and not isinstance(n, bool) for n in sizes_of_grams)
            or not 1 <= sizes_of_grams[0] <= sizes_of_grams[1]
        ):
            raise ValueError(
                f"Invalid value for ngram_range={sizes_of_grams!r}: it must be two integers >= 1, "
                "the smallest and the largest length."
            )
        if isinstance(self.stop_words, list):
            check_words(self.stop_words, "stop_words")
        return given

    def _take_vocabulary(self) -> None:
        self.vocabulary_ = self._check_parameters() or {}

    def transform(self, X: Iterable[Any]) -> SegmentedCorpus | PartitionedCorpus:
        """Return documents as a corpus, without words outside the vocabulary.

        Parameters
        ----------
        X : iterable of documents or dask.bag.Bag, each a string or a list of strings
            A string is cut by `segmenter`; each string in a list is a segment. Bytes, file names
            and open files are possible, too: see `input`.

        Returns
        -------
        SegmentedCorpus
            With ``len(vocabulary_)`` features. For a bag, a PartitionedCorpus: Dask will read each
            partition where it is used.

        Raises
        ------
        ValueError
            If a document is not text; the message names it.
        """
        self._check_fitted()
        if is_bag(X):
            return PartitionedCorpus.from_delayed(transform_bag(self, X), len(self.vocabulary_))
        numbers, sizes = WordNumbers(), list[int]()
        for _ in self._read(X, numbers, sizes, []):
            pass
        return self._corpus(numbers, sizes)

    def inverse_transform(self, X: Iterable[Any]) -> list[list[Any]]:
        """Return the words of a corpus.

        Parameters
        ----------
        X : SegmentedCorpus, or list of documents as lists of segments of word ids

        Returns
        -------
        list of documents, each a list of arrays of str, one per segment
            If the corpus is divided into parts: a list of parts, each of which is such a list.
        """
        names = self.get_feature_names_out()
        if not isinstance(X, SegmentedCorpus):
            X = SegmentedCorpus.from_documents(X, len(names))
        check_known(X, len(names))
        return [_name_words(names, document) for document in X]


def _name_words(names: NDArray[np.object_], document: list[Any]) -> list[Any]:
    """Return the words of the segments of a document or part."""
    return [
        _name_words(names, item) if isinstance(item, list) else names[item] for item in document
    ]
