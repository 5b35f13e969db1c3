"""Documents made of segments of word ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.utils.validation import check_array

from skdp._checks import check_memory, check_unmasked, shorten
from skdp.data._ragged import Offsets, offsets, read_parts
from skdp.data._ragged_tokens import MAX_TOKENS, RaggedTokens


class SegmentedCorpus(RaggedTokens):
    """Documents, each a list of segments, each a sequence of word ids: the X of topic models.

    A sample is a document. ``corpus[i]`` is document i, a list of read-only arrays of word ids,
    one per segment; ``corpus[key]`` for a slice, a list or array of ints or a boolean mask is the
    corpus of these documents. Documents without segments and segments without words are allowed.
    A corpus is immutable.

    Parameters
    ----------
    tokens : (n_tokens,) array of int
        Word ids, at least 0 and below `n_features`, in reading order.
    segment_ptr : (n_segments + 1,) array of int
        Segment s is ``tokens[segment_ptr[s]:segment_ptr[s + 1]]``.
    doc_ptr : (n_documents + 1,) array of int
        Document d has the segments from ``doc_ptr[d]`` up to, but not including,
        ``doc_ptr[d + 1]``.
    n_features : int
        Size of the vocabulary.

    Attributes
    ----------
    tokens : (n_tokens,) array of int32
    segment_ptr, doc_ptr : arrays of int64
    n_features : int
    shape : (int, int)
        Numbers of documents and of words in the vocabulary.

    Raises
    ------
    ValueError
        If offsets do not rise from 0 to the number of items that they point to, or if a word id is
        out of range.

    Notes
    -----
    Arrays of the right type (int32 tokens, int64 offsets), including memory maps, are used without
    a copy: do not change them.

    Examples
    --------
    >>> from skdp.data import SegmentedCorpus
    >>> corpus = SegmentedCorpus.from_documents([[[0, 1, 0], [2]], [[3, 3]]])
    >>> corpus
    <SegmentedCorpus of 2 documents, 3 segments, 6 tokens, 4 features>
    >>> corpus[0]
    [array([0, 1, 0], dtype=int32), array([2], dtype=int32)]
    >>> corpus.to_bow().toarray()
    array([[2, 1, 1, 0],
           [0, 0, 0, 2]])
    """

    __slots__ = ()

    _level_names = ("document", "segment")
    _ptr_names = ("doc_ptr", "segment_ptr")

    def __init__(
        self, tokens: ArrayLike, segment_ptr: ArrayLike, doc_ptr: ArrayLike, n_features: int
    ):
        self._set(*self._check(tokens, (doc_ptr, segment_ptr), n_features))

    @classmethod
    def from_documents(
        cls, documents: Iterable[Sequence[Any]], n_features: int | None = None
    ) -> Self:
        """Return a corpus made from nested lists.

        Parameters
        ----------
        documents : list of documents, each a list of segments, each a sequence of int
        n_features : int or None, default=None
            Size of the vocabulary. None: the largest word id plus 1.

        Returns
        -------
        SegmentedCorpus

        Raises
        ------
        ValueError
            If a segment is not a sequence of integers, or a word id is out of range; the message
            names the document and segment. Also if all segments are tuples of two numbers.
        """
        parts = read_parts(documents, "documents", "documents, each a list of segments")
        for d, document in enumerate(parts):
            if isinstance(document, str | bytes | dict) or not hasattr(document, "__len__"):
                raise ValueError(
                    f"document {d}: must be a list of segments, each a sequence of word ids, "
                    f"got {shorten(document)}."
                )
            check_unmasked(document, f"document {d}")
        doc_ptr = offsets([len(document) for document in parts])
        segments = [segment for document in parts for segment in document]
        if segments and all(map(_is_pair, segments)):
            raise ValueError(
                "documents hold pairs of a word id and its count, as gensim's doc2bow returns, not "
                "segments of word ids: pass gensim.matutils.corpus2csc(documents, "
                "num_terms=len(dictionary)).T, a matrix of counts. If these are segments of two "
                "words each, write lists, not tuples."
            )
        tokens, segment_ptr = cls._join(segments, (doc_ptr,))
        return cls._make(*cls._check(tokens, (doc_ptr, segment_ptr), n_features))

    @classmethod
    def _of_samples(cls, samples: list[Any], n_features: int) -> Self:
        return cls.from_documents(samples, n_features)

    @classmethod
    def from_counts(cls, documents: Iterable[Any]) -> Self:
        """Return a corpus made from word counts, with the words of a segment in column order.

        Parameters
        ----------
        documents : list of (n_segments, n_features) arrays or sparse matrices
            Word counts: one matrix per document, one row per segment.

        Returns
        -------
        SegmentedCorpus

        Raises
        ------
        ValueError
            If a matrix does not hold counts (non-negative integers), or their widths differ.
        """
        parts = read_parts(documents, "documents", "matrices of word counts")
        if not parts:
            raise ValueError(
                "A corpus cannot be made from no matrices: the size of the vocabulary is unknown."
            )
        matrices = []
        for d, counts in enumerate(parts):
            name = f"documents[{d}]"
            check_unmasked(counts, name)
            checked = check_array(
                counts, accept_sparse="csr", ensure_min_samples=0, input_name=name
            )
            if checked.dtype.kind not in "biuf":
                raise ValueError(f"{name} must hold counts, got type {checked.dtype}.")
            matrices.append(csr_matrix(checked))
        if len({matrix.shape[1] for matrix in matrices}) != 1:
            raise ValueError(
                "documents must be matrices of equal width, the size of the vocabulary; got widths "
                f"{sorted({matrix.shape[1] for matrix in matrices})}."
            )
        return cls._from_rows(vstack(matrices), offsets([m.shape[0] for m in matrices]))

    @classmethod
    def _from_rows(cls, counts: Any, doc_ptr: Offsets) -> Self:
        """Return a corpus whose segment s has the word counts of row s, in column order."""
        if counts.dtype.kind == "f":  # sparse matrices do not support half precision
            counts = counts.astype(np.result_type(counts.dtype, np.float32), copy=False)
        matrix = csr_matrix(counts)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        numbers = matrix.data
        with np.errstate(invalid="ignore"):
            wrong = ~(np.isfinite(numbers) & (numbers >= 0) & (np.floor(numbers) == numbers))
        if wrong.any():
            first = int(np.argmax(wrong))
            row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
            raise ValueError(
                "X must hold counts: non-negative integers, not frequencies or TF-IDF weights; "
                f"{cls._locate((doc_ptr,), row)} has {numbers[first]} of word "
                f"{matrix.indices[first]}."
            )
        if (total := numbers.sum(dtype=np.float64)) > MAX_TOKENS:
            raise ValueError(
                f"X must hold at most {MAX_TOKENS} tokens, but the counts sum to {total:.6g}."
            )
        check_memory(16.0 * total, f"X of {total:.6g} tokens, the sum of its counts,")
        repeats = numbers.astype(np.int64)
        tokens = np.repeat(matrix.indices, repeats)
        ptrs = (doc_ptr, offsets(repeats)[matrix.indptr])
        return cls._make(*cls._check(tokens, ptrs, matrix.shape[1]))

    @property
    def segment_ptr(self) -> NDArray[np.int64]:
        """(n_segments + 1,) read-only array of the offsets of segments in `tokens`."""
        return self._ptrs[1]

    @property
    def doc_ptr(self) -> NDArray[np.int64]:
        """(n_documents + 1,) read-only array of the offsets of documents in `segment_ptr`."""
        return self._ptrs[0]

    def _sample(self, i: int) -> list[NDArray[np.int32]]:
        begin, end = self.doc_ptr[i : i + 2]
        ptr = self.segment_ptr[begin : end + 1].tolist()
        return [self.tokens[b:e] for b, e in pairwise(ptr)]


def _is_pair(segment: Any) -> bool:
    """Return whether a segment looks like a word id and its count."""
    return isinstance(segment, tuple) and len(segment) == 2
