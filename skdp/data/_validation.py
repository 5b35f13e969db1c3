"""Conversion of user input to containers, with errors that leave the estimator unchanged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array, validate_data

from skdp._checks import check_unmasked, shorten
from skdp._numeric._numba import as_readonly
from skdp.data._frames import check_unique_columns, is_frame
from skdp.data._parse_tree import ParseTree
from skdp.data._partitioned import Partitioned, PartitionedSentences
from skdp.data._ragged import MAX_TOKENS, Ragged, TokenSequences
from skdp.data._segmented_corpus import SegmentedCorpus
from skdp.data._sequence_panel import (
    FILL_IN,
    LEAVE_OUT,
    SequencePanel,
    check_finite,
    check_finite_array,
    with_numbers,
)


def check_corpus(
    estimator: Any, X: Any, *, reset: bool, require_tokens: bool = False
) -> SegmentedCorpus:
    """Return X as a corpus, checked against or recorded on the estimator.

    Parameters
    ----------
    estimator : estimator
        A topic model.
    X : SegmentedCorpus, list of documents, or (n_documents, n_features) array-like or sparse matrix
        A document in a list is a list of segments, each a sequence of word ids. An array (or data
        frame, or list of lists of numbers of equal length) holds word counts: each row is a
        document of one segment, with its words in column order.
    reset : bool
        True (in ``fit``): set `n_features_in_`, and `feature_names_in_` for a data frame with
        names; the vocabulary of a list of documents ends with its largest word id. False: X must
        have the same number of features; word ids in lists must be below `n_features_in_`.
    require_tokens : bool, default=False
        Whether to reject a corpus in which no document has a word.

    Returns
    -------
    SegmentedCorpus

    Raises
    ------
    ValueError
        If X is empty, its width differs from that in `fit`, or it has word ids out of range or
        numbers that are not counts.
    TypeError
        If scikit-learn's ``check_array`` raises it.
    """
    X = _check_kind(estimator, X)
    if _holds_text(X):
        how = _vectorizing(X) if reset else "pass transform(X) of the vectorizer of the fit"
        raise ValueError(
            f"X holds text, not word ids or counts. Turn it into a corpus first: {how}."
        )
    _check_not_empty_list(estimator, X)
    is_listed = False
    if isinstance(X, SegmentedCorpus):
        corpus = X
    elif holds_documents(X):
        is_listed = True
        corpus = SegmentedCorpus.from_documents(X, None if reset else estimator.n_features_in_)
    else:
        counts = _check_counts(estimator, X, accept_sparse="csr")
        corpus = SegmentedCorpus._from_rows(counts, np.arange(counts.shape[0] + 1))
    if not is_listed:
        _check_not_empty(estimator, corpus)
    # The size of the vocabulary is unknown for a list without words, so nothing can be learned.
    if (require_tokens or corpus.n_features == 0) and len(corpus.tokens) == 0:
        raise ValueError(
            f"X has no tokens at all, while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )
    _record_features(estimator, X, corpus, reset)
    return corpus


def check_panel(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    ensure_all_finite: bool | str = True,
    accept_tokens: bool = False,
) -> tuple[SequencePanel, bool]:
    """Return X as a panel, checked or recorded, and whether it is a single sequence.

    Parameters
    ----------
    estimator : estimator
        A model of sequences.
    X : SequencePanel, list of sequences, or (T, n_features) array-like
        A sequence in a list is a (T_i, n_features) or (T_i,) array, a data frame, or a list of
        lists. An array (or data frame, or list of lists of numbers of equal length) is **one**
        sequence of T observations.
    reset : bool
        True (in ``fit``): set `n_features_in_`, and `feature_names_in_` for a data frame with
        names, or a list of them. False: X must have the same number of features, and data frames
        the same names in the same order.
    ensure_all_finite : bool or "allow-nan", default=True
        As in scikit-learn's ``check_array``: "allow-nan" for models in which NaN marks a missing
        value.
    accept_tokens : bool, default=False
        Whether to accept `TokenSequences` also, as sequences of one column, the word ids.

    Returns
    -------
    panel : SequencePanel
    is_single : bool
        True if X is one array: then a sample is a time step, and methods return an array with one
        row per step. This is not a property of the panel, because the same sequence in a list gives
        an equal panel, but is one sample.

    Raises
    ------
    ValueError
        If X or a sequence is empty, or if X differs in width from that in `fit` or holds anything
        but finite numbers. Also if X is a (T,) or (n, T, D) array; the message gives a correct
        call.
    TypeError
        If X is another container, or scikit-learn's ``check_array`` raises it.
    """
    X = _check_kind(estimator, X)
    _check_no_text(X)
    _check_not_empty_list(estimator, X)
    is_single = False
    source = X
    if isinstance(X, SequencePanel):
        panel = X
    elif isinstance(X, TokenSequences) and accept_tokens:
        panel = source = SequencePanel(X.tokens, X.ptr)
    elif _holds_sequences(X):
        source = X[0]
        panel = SequencePanel.from_sequences(
            [
                with_numbers(part, f"sequence {i} of X") if is_frame(part) else part
                for i, part in enumerate(X)
            ]
        )
    else:
        is_single = True
        _check_dimensions(estimator, X)
        values = _check_values(estimator, with_numbers(X), ensure_all_finite)
        panel = SequencePanel(values, np.array([0, len(values)]))
    _check_not_empty(estimator, panel)
    check_lengths(type(estimator).__name__, panel)
    if ensure_all_finite and not is_single:
        cure = f" {type(estimator).__name__} {FILL_IN}"
        check_finite(panel, allow_nan=ensure_all_finite == "allow-nan", cure=cure)
    _record_features(estimator, source, panel, reset)
    return panel, is_single


def check_lengths(name: str, panel: SequencePanel) -> None:
    """Raise ValueError if a sequence is empty; `name` is the name of the estimator."""
    lengths = np.diff(panel.ptr)
    if not lengths.all():
        raise ValueError(
            f"Found sequence with 0 observation(s) (sequence {np.argmin(lengths)}) while a minimum "
            f"of 1 is required by {name}."
        )


def check_sentences(
    estimator: Any, X: Any, *, reset: bool, any_length: bool = False
) -> TokenSequences:
    """Return X as sentences, checked against or recorded on the estimator.

    Parameters
    ----------
    estimator : estimator
        A model of sentences.
    X : TokenSequences, list of sentences, or (n_sentences, length) array-like of int
        A sentence in a list is a sequence of word ids; if all have the same length, they may be
        whole numbers of type float. The rows of an array or data frame are sentences of equal
        length.
    reset : bool
        True (in ``fit``): set `n_words_`, the size of the vocabulary (of lists and arrays: the
        largest word id plus 1), and `n_features_in_`: the length of sentences if X is an array or a
        data frame, `n_words_` otherwise; and the private `_sentence_length`, which distinguishes
        the two (None: sentences of any length). False: word ids must be below `n_words_`, and if
        the estimator was fitted on an array, the sentences must have the same length.
    any_length : bool, default=False
        If True, only arrays and data frames need to have the length of those in `fit`.

    Returns
    -------
    TokenSequences

    Raises
    ------
    ValueError
        If X is empty, has sentences whose length differs from the array in `fit`, or word ids that
        are out of range or not integers.
    TypeError
        If scikit-learn's ``check_array`` raises it.
    """
    X = _check_kind(estimator, X)
    if isinstance(X, (list, tuple)) and any(isinstance(part, ParseTree) for part in X):
        raise ValueError(
            f"X holds trees, and {type(estimator).__name__} reads sentences of word ids. Turn the "
            "words of the trees into them first: "
            "skdp.feature_extraction.TokenVectorizer().fit_transform([tree.leaves for tree in X])."
        )
    if _holds_text(X):
        how = "skdp.feature_extraction.TokenVectorizer().fit_transform(X)"
        if not _is_list_of_lists(X):
            how += ', or TokenVectorizer(analyzer="char") for characters'
        if not reset:
            how = "pass transform(X) of the vectorizer of the fit"
        raise ValueError(
            f"X holds text, not word ids. Turn it into sentences of word ids first: {how}."
        )
    _check_not_empty_list(estimator, X)
    n_words = length = None
    if not reset:
        n_words, length = estimator.n_words_, estimator._sentence_length
    if any_length and (isinstance(X, TokenSequences) or _is_list_of_lists(X)):
        length = None
    if isinstance(X, TokenSequences):
        sentences = X
        if length is not None:  # its own n_features is unrelated to the array in fit
            sentences = TokenSequences(X.tokens, X.ptr, estimator.n_words_)
    elif _holds_sentences(X):
        with _naming_the_cure(n_words):
            sentences = TokenSequences.from_sequences(X, n_words)
    else:
        rows = _check_counts(estimator, X)
        with _naming_the_cure(n_words):
            sentences = _from_rows(rows, n_words)
        if reset and not _is_list_of_lists(X):
            length = rows.shape[1]
    _check_not_empty(estimator, sentences)
    if not reset and length is None and estimator._sentence_length is not None:
        if sentences.n_features != n_words:
            raise ValueError(
                f"X has {sentences.n_features} words, but {type(estimator).__name__} is expecting "
                f"{n_words} words as input."
            )
    elif length is None:
        _record_features(estimator, sentences, sentences, reset)
    else:
        _record_features(estimator, X, _as_rows(estimator, sentences), reset)
    if reset:
        estimator.n_words_ = sentences.n_features
        estimator._sentence_length = length
    return sentences


def check_partitioned_sentences(estimator: Any, X: PartitionedSentences, *, reset: bool) -> None:
    """Check partitioned sentences against an estimator, or record them, without opening any."""
    if not reset and estimator._sentence_length is not None:
        raise ValueError(
            f"{type(estimator).__name__} was fitted on an array: it is expecting sentences of "
            f"{estimator.n_features_in_} words each, not a {type(X).__name__}."
        )
    _record_features(estimator, X, X, reset)
    if reset:
        estimator.n_words_ = X.n_features
        estimator._sentence_length = None


def check_partitions(estimator: Any, X: Partitioned, *, reset: bool) -> None:
    """Check partitioned data against an estimator, or record them, without opening any."""
    _record_features(estimator, X, X, reset)


@contextlib.contextmanager
def _naming_the_cure(n_words: int | None) -> Iterator[None]:
    """Return a context that adds advice to errors about words beyond the vocabulary."""
    try:
        yield
    except ValueError as error:
        if n_words is None or "out of range" not in str(error):
            raise
        raise ValueError(
            f"{error} It is not in the vocabulary, which has {n_words} words: "
            "skdp.feature_extraction.TokenVectorizer has ids for unknown words."
        ) from None


def check_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    ensure_all_finite: bool | str = True,
    ensure_non_negative: bool = False,
    accept_sparse: bool = False,
) -> Any:
    """Return X as a read-only (n_samples, n_features) array or `SparseRows`; check or record it."""
    _check_kind(estimator, X)
    if accept_sparse and issparse(X):
        return SparseRows.of(estimator, X, reset=reset)
    if isinstance(X, Ragged):
        raise TypeError(
            f"X must be an (n_samples, n_features) array, got a {type(X).__name__}: a sample of "
            f"{type(estimator).__name__} is a row."
        )
    _check_no_text(X)
    rows = with_numbers(X)
    values = _check_values(
        estimator, rows, ensure_all_finite, order="C", ensure_non_negative=ensure_non_negative
    )
    validate_data(estimator, X=rows, reset=reset, skip_check_array=True)
    return np.asarray(as_readonly(values), dtype=np.float64)


class SparseRows:
    """Rows of a sparse table in CSR format: sorted columns, without duplicates and zeros."""

    def __init__(self, table: Any):
        self.table = table
        self.shape: tuple[int, int] = table.shape

    @classmethod
    def of(cls, estimator: Any, X: Any, *, reset: bool) -> SparseRows:
        """Return a sparse matrix or array of any format, checked or recorded; X is unchanged."""
        checked = check_array(
            X, accept_sparse="csr", dtype=np.float64, estimator=estimator, input_name="X"
        )
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
        table = csr_array(checked, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        return cls(table)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Offsets of the rows, columns, and values."""
        return self.table.indptr.astype(np.int64), self.table.indices, self.table.data

    @property
    def size(self) -> int:
        """Number of numbers in memory."""
        return 2 * int(self.table.nnz) + self.shape[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> SparseRows:
        return SparseRows(self.table[rows])


def _check_values(
    estimator: Any, X: Any, ensure_all_finite: bool | str, **options: Any
) -> NDArray[np.float64]:
    """Return a table of numbers as an array, with advice on NaN unless it is allowed."""
    is_strict = ensure_all_finite is True
    finite = False if is_strict else ensure_all_finite
    options |= {"ensure_all_finite": finite, "estimator": estimator, "input_name": "X"}
    values: NDArray[np.float64] = check_array(X, dtype=np.float64, **options)
    if is_strict:
        check_finite_array(estimator, values, FILL_IN)
    return values


def _check_counts(estimator: Any, X: Any, **options: Any) -> Any:
    """Return a table of counts or word ids as an array or a sparse matrix."""
    options |= {"ensure_all_finite": False, "estimator": estimator, "input_name": "X"}
    counts = check_array(with_numbers(X), ensure_non_negative=True, **options)
    check_finite_array(estimator, counts, LEAVE_OUT)
    return counts


def _check_kind(estimator: Any, X: Any) -> Any:
    """Return X, a column of lists as a list; raise for kinds of X that no check accepts."""
    if isinstance(X, Partitioned):
        raise TypeError(
            f"X must not be a {type(X).__name__}, which {type(estimator).__name__} cannot take "
            "here: pass X.compute(), which gathers all partitions in memory."
        )
    if hasattr(X, "__next__"):
        raise TypeError(
            f"X must not be a {type(X).__name__}, which can be read only once: pass list(X)."
        )
    if isinstance(X, Ragged):
        return X
    is_unordered = isinstance(X, dict | set | frozenset) and not hasattr(X, "shape")
    if is_unordered or hasattr(X, "ngroups"):
        parts = "part for _, part in X" if hasattr(X, "ngroups") else "*X"
        if isinstance(X, dict):
            parts = "*X.values()"
        raise TypeError(f"X must not be a {type(X).__name__}: pass a list of its parts, [{parts}].")
    check_unmasked(X, "X")
    for part in X if isinstance(X, list | tuple) else ():
        inner = part if isinstance(part, list | tuple) else (part,)
        if any(map(issparse, inner)):  # a message like scikit-learn's
            raise TypeError(
                f"Sparse data was passed for X, in a list, but {type(estimator).__name__} takes "
                "arrays in lists: use '.toarray()' to convert each to a dense numpy array."
            )
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        check_unique_columns(X, "X")
    return list(X) if is_column_of_lists(X) else X


def _check_no_text(X: Any) -> None:
    """Raise ValueError for text instead of numbers, unless it can be converted to numbers."""
    if hasattr(X, "columns") or not _holds_text(X):
        return
    try:
        check_array(X, dtype=np.float64, ensure_2d=False, allow_nd=True, ensure_all_finite=False)
    except (TypeError, ValueError):
        raise ValueError(
            "X must hold numbers, got text, which is for categorical emissions. Encode it first, "
            "for instance by sklearn.preprocessing.OrdinalEncoder, or words of sentences by "
            "skdp.feature_extraction.TokenVectorizer."
        ) from None


def _holds_text(X: Any) -> bool:
    """Return whether X is text, or a nested list, an array or a data frame of text."""
    for _ in range(3):  # documents, segments, words
        if isinstance(X, (list, tuple)):
            parts = (part for part in X if not _is_list(part) or len(part) > 0)
            X = next(parts, None)  # the first part that is not empty
    if hasattr(X, "iloc"):
        X = X.iloc[:1]
    if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        X = next(np.asarray(X).flat, None)
    return isinstance(X, (str, bytes))


def _vectorizing(X: Any) -> str:
    """Return the code that converts text, or lists of words, to a corpus."""
    vectorizer = "skdp.feature_extraction.SegmentVectorizer"
    document = X[0] if isinstance(X, (list, tuple)) else None
    if not isinstance(document, (list, tuple)) or not document:
        return f"{vectorizer}().fit_transform(X)"
    if isinstance(document[0], (list, tuple)):
        joined = "[[' '.join(words) for words in document] for document in X]"
    elif not any(isinstance(text, bytes) or len(text.split()) > 1 for text in document):
        joined = "[' '.join(words) for words in X]"
    else:
        return f"{vectorizer}().fit_transform(X)"
    return f"{vectorizer}(analyzer=str.split).fit_transform({joined})"


def _is_list(value: Any) -> bool:
    """Return whether a value has parts, and is not text or a mapping."""
    if getattr(value, "ndim", 1) == 0 or issparse(value):
        return False
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, dict))


def _is_nested(value: Any) -> bool:
    """Return whether the first part of a list is itself a list."""
    return len(value) > 0 and _is_list(next(iter(value)))


def _is_list_of_lists(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(map(_is_list, X))


def is_column_of_lists(X: Any) -> bool:
    """Return whether X is a data frame column, or an array of objects, that holds only lists."""
    is_column = (
        len(getattr(X, "shape", ())) == 1 and getattr(getattr(X, "dtype", None), "kind", "") == "O"
    )
    return is_column and len(X) > 0 and all(map(_is_list, X))


def _differ_in_length(rows: Any) -> bool:
    return len({len(row) for row in rows}) > 1


def holds_documents(X: Any) -> bool:
    """Return whether X is a list of documents rather than a count matrix."""
    if not _is_list_of_lists(X):
        return False
    is_flat = [len(document) > 0 and not _is_nested(document) for document in X]
    return _are_nested(X, is_flat, "document", "a list of segments, each a sequence of word ids")


def _holds_sequences(X: Any) -> bool:
    """Return whether X is a list of sequences of observations rather than one sequence."""
    if not _is_list_of_lists(X):
        return False
    is_flat = [not hasattr(sequence, "shape") and not _is_nested(sequence) for sequence in X]
    return _are_nested(
        X, is_flat, "sequence", "a (T, D) or (T,) array, or a list of lists of numbers"
    )


def _are_nested(X: Any, is_flat: list[bool], name: str, wanted: str) -> bool:
    """Return whether X has no flat samples; raise if it has, and is not a table of numbers."""
    if any(is_flat) and (not all(is_flat) or _differ_in_length(X)):
        i = is_flat.index(True)
        raise ValueError(f"{name} {i}: must be {wanted}, got {shorten(X[i])}.")
    return not any(is_flat)


def _check_dimensions(estimator: Any, X: Any) -> None:
    """Raise ValueError for an array that is not 2-D, with a correct call in the message."""
    n_dims = getattr(X, "ndim", None)
    if isinstance(X, (list, tuple)) and not any(map(_is_list, X)):
        n_dims = 1
    if n_dims == 1:
        column = "X.to_frame()" if hasattr(X, "to_frame") else "np.reshape(X, (-1, 1))"
        raise ValueError(
            f"Expected 2D array, got 1D array instead. Reshape your data: write {column} for one "
            "sequence of T numbers, or the list [X] for a panel of it."
        )
    if n_dims == 3:
        raise ValueError(
            f"Found array with dim 3, while {type(estimator).__name__} expects one sequence, "
            "(T, D): write list(X) if X holds n sequences as (n, T, D), and "
            "list(np.swapaxes(X, 1, 2)) if it holds them as (n, D, T)."
        )


def _holds_sentences(X: Any) -> bool:
    """Return whether X is a list of sentences of ids, not an array or a list of rows of floats."""
    if not _is_list_of_lists(X):
        return False
    return _differ_in_length(X) or len(X[0]) == 0 or np.asarray(X).dtype.kind in "iu"


def _from_rows(rows: NDArray[Any], n_words: int | None) -> TokenSequences:
    """Return the rows of an array of non-negative numbers as sentences."""
    wrong = (np.floor(rows) != rows) | (rows > MAX_TOKENS)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise ValueError(f"X must hold word ids (integers); sentence {i} has {rows[i, j]}.")
    n_sentences, length = rows.shape
    ptr = np.arange(n_sentences + 1) * length
    n_features = int(rows.max()) + 1 if n_words is None else n_words
    return TokenSequences(rows.ravel().astype(np.int64), ptr, n_features)


def _as_rows(estimator: Any, sentences: TokenSequences) -> NDArray[np.int32]:
    """Return sentences of equal length as an array, or raise ValueError if lengths differ."""
    lengths = np.unique(np.diff(sentences.ptr))
    if len(lengths) != 1:
        raise ValueError(
            f"The sentences of X differ in length, but {type(estimator).__name__} was fitted on an "
            f"array: it is expecting sentences of {estimator.n_features_in_} words each."
        )
    return sentences.tokens.reshape(len(sentences), lengths[0])


def _check_not_empty_list(estimator: Any, X: Any) -> None:
    if isinstance(X, (list, tuple)) and len(X) == 0:
        check_array(np.empty((0, 0)), estimator=estimator)  # scikit-learn's own words


def _check_not_empty(estimator: Any, container: Ragged) -> None:
    if 0 in container.shape:
        check_array(np.empty(container.shape), estimator=estimator)  # scikit-learn's own words


def _record_features(estimator: Any, X: Any, checked: Any, reset: bool) -> None:
    """Set or check the number of features, and their names if X is a data frame."""
    source = X if hasattr(X, "columns") else checked
    if getattr(source, "feature_names", None) is not None:
        import pandas as pd  # installed, because the names of a panel come from data frames

        source = pd.DataFrame(columns=source.feature_names)
    validate_data(estimator, X=source, reset=reset, skip_check_array=True)
