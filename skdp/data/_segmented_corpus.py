"""Documents made of segments of word ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.utils.validation import check_array

from skdp._checks import check_integers, check_memory, check_unmasked, shorten
from skdp._numeric._numba import as_readonly
from skdp.data._ragged import (
    MAX_TOKENS,
    Folder,
    Offsets,
    RaggedTokens,
    Selection,
    as_saved,
    check_offsets,
    join_offsets,
    offsets,
    read_array,
    read_names,
    read_parts,
    select,
)


class SegmentedCorpus(RaggedTokens):
    """Documents, each a list of segments, each a sequence of word ids: the X of topic models.

    A sample is a document. ``corpus[i]`` is document i, a list of read-only arrays of word ids,
    one per segment, or a list of parts, which are such lists, if documents are divided into parts.
    ``corpus[key]`` for a slice, a list or array of ints or a boolean mask is the corpus of these
    documents. Documents without segments and segments without words are allowed.
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
    part_ptr : (n_parts + 1,) array of int or None, default=None
        Part p, a run of segments of one document such as a chapter, has the segments from
        ``part_ptr[p]`` up to, but not including, ``part_ptr[p + 1]``; no part is empty. None:
        documents are not divided into parts. In `SequentialLDA` and `AdaptiveTopicModel` no segment
        follows one of another part, and in `SectionedTopicModel` parts are sections; the fits of
        other estimators do not read it.

    Attributes
    ----------
    tokens : (n_tokens,) array of int32
    segment_ptr, doc_ptr : arrays of int64
    part_ptr : array of int64 or None
    n_features : int
    shape : (int, int)
        Numbers of documents and of words in the vocabulary.

    Raises
    ------
    ValueError
        If offsets do not rise from 0 to the number of items that they point to, if a word id is out
        of range, or if a part is empty or has segments of two documents.

    See Also
    --------
    PartitionedCorpus : A corpus that is larger than memory.
    skdp.feature_extraction.SegmentVectorizer : Makes a corpus from texts.

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
    >>> corpus.with_parts([[1], []]).part_ptr
    array([0, 1, 2, 3])
    """

    __slots__ = ("_part_ptr",)

    _level_names = ("document", "segment")
    _ptr_names = ("doc_ptr", "segment_ptr")

    _part_ptr: Offsets | None

    def __init__(
        self,
        tokens: ArrayLike,
        segment_ptr: ArrayLike,
        doc_ptr: ArrayLike,
        n_features: int,
        part_ptr: ArrayLike | None = None,
    ):
        self._set(*self._check(tokens, (doc_ptr, segment_ptr), n_features))
        self._set_parts(self._check_parts(part_ptr))

    @classmethod
    def from_documents(
        cls, documents: Iterable[Sequence[Any]], n_features: int | None = None
    ) -> Self:
        """Return a corpus made from nested lists.

        Parameters
        ----------
        documents : list of documents, each a list of segments, each a sequence of int
            Or documents that are lists of parts, each a list of segments: the corpus then has a
            `part_ptr`. Parts without segments are left out.
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
        part_ptr = None
        items = (item for document in parts for item in document)
        first = next((item for item in items if _size(item) > 0), ())  # a segment, or a part
        is_list = isinstance(first, list | tuple | np.ndarray)
        if is_list and any(_size(each) >= 0 for each in first):
            divided = [[_as_part(part, d) for part in document] for d, document in enumerate(parts)]
            part_ptr = offsets([len(part) for document in divided for part in document if part])
            parts = [[segment for part in document for segment in part] for document in divided]
        doc_ptr = offsets([len(document) for document in parts])
        segments = [segment for document in parts for segment in document]
        if segments and all(isinstance(each, tuple) and len(each) == 2 for each in segments):
            raise ValueError(
                "documents hold pairs of a word id and its count, as gensim's doc2bow returns, not "
                "segments of word ids: pass gensim.matutils.corpus2csc(documents, "
                "num_terms=len(dictionary)).T, a matrix of counts. If these are segments of two "
                "words each, write lists, not tuples."
            )
        tokens, segment_ptr = cls._join(segments, (doc_ptr,))
        checked = cls._check(tokens, (doc_ptr, segment_ptr), n_features)
        return cls._make(*checked, part_ptr=part_ptr)

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
        # Sparse matrices support neither half precision nor the other byte order.
        least = np.float32 if counts.dtype.kind == "f" else np.bool_
        counts = counts.astype(np.result_type(counts.dtype.newbyteorder("="), least), copy=False)
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

    def with_parts(self, cuts: Sequence[ArrayLike]) -> SegmentedCorpus:
        """Return the same documents divided into parts, replacing any that they have.

        Parameters
        ----------
        cuts : list of arrays of int
            For each document, the first segment of each part but the first, from 1 to the number of
            its segments - 1: what `TopicSegmenter.predict` returns.

        Returns
        -------
        SegmentedCorpus
            It shares the arrays of this corpus.

        Raises
        ------
        ValueError
            If `cuts` do not fit the documents.
        """
        is_first = self._begins(cuts)
        divided = self._like(self._values, self._ptrs)
        return divided._set_parts(np.append(np.flatnonzero(is_first), len(is_first)))

    def _begins(self, cuts: Any) -> NDArray[np.bool_]:
        """Return whether a part begins at each segment, or raise a ValueError."""
        if getattr(cuts, "ndim", 0) == 1:  # an array, or a column of a data frame
            cuts = list(cuts)
        if _size(cuts) != len(self):
            raise ValueError(
                f"cuts must have an array for each of the {len(self)} documents, got "
                f"{shorten(cuts)}."
            )
        is_first = np.zeros(len(self.segment_ptr) - 1, dtype=bool)
        is_first[self.doc_ptr[:-1][np.diff(self.doc_ptr) > 0]] = True
        for d, given in enumerate(cuts):
            begin, end = self.doc_ptr[d : d + 2].tolist()
            first = check_integers(given, f"cuts[{d}]")
            if first.ndim != 1 or ((first < 1) | (first >= end - begin)).any():
                bounds = (
                    f"from 1 to {end - begin - 1}" if end - begin > 1 else "of which it has one"
                )
                raise ValueError(
                    f"cuts[{d}] must hold the first segments of all parts of document {d} but the "
                    f"first, {bounds}, got {shorten(given)}."
                )
            is_first[begin + first] = True
        return is_first

    def _check_parts(self, part_ptr: ArrayLike | None) -> Offsets | None:
        """Return the offsets of parts as int64, or raise a ValueError."""
        if part_ptr is None:
            return None
        n_segments = len(self.segment_ptr) - 1
        checked = check_offsets(part_ptr, "part_ptr", "segments", n_segments)
        if (np.diff(checked) == 0).any():
            p = int(np.argmin(np.diff(checked)))
            raise ValueError(f"part_ptr: part {p} has no segments.")
        astray = ~np.isin(self.doc_ptr, checked)
        if astray.any():
            raise ValueError(
                f"part_ptr: a part begins before segment {self.doc_ptr[astray][0]}, where document "
                f"{int(np.argmax(astray))} begins, and ends after it."
            )
        return checked

    @classmethod
    def _make(
        cls,
        values: NDArray[Any],
        ptrs: tuple[Offsets, ...],
        n_features: int,
        names: Any = None,
        part_ptr: Offsets | None = None,
    ) -> Self:
        return super()._make(values, ptrs, n_features, names)._set_parts(part_ptr)

    def _set_parts(self, part_ptr: Offsets | None) -> Self:
        """Divide the documents of a new corpus into parts, and return it."""
        self._part_ptr = None if part_ptr is None else as_readonly(part_ptr)
        return self

    def _without_names(self) -> Self:
        """Return this corpus, or one that shares its arrays and does not name its words."""
        if self._names is None:
            return self
        return self._like(self._values, self._ptrs)._with_names(None)

    def _like(self, values: NDArray[Any], ptrs: tuple[Offsets, ...]) -> Self:
        return super()._like(values, ptrs)._set_parts(self._part_ptr)

    def _take(self, samples: Selection) -> Self:
        taken = super()._take(samples)
        if self._part_ptr is None:
            return taken
        _, parts = select(np.searchsorted(self._part_ptr, self.doc_ptr), samples)
        return taken._set_parts(select(self._part_ptr, parts)[0])

    @classmethod
    def _join_all(cls, containers: Sequence[Self]) -> Self:
        joined = super()._join_all(containers)
        if all(each.part_ptr is None for each in containers):
            return joined
        return joined._set_parts(join_offsets([each._own_parts() for each in containers]))

    def _own_parts(self) -> Offsets:
        """Return the offsets of parts; if there are none, of documents that have segments."""
        return np.unique(self.doc_ptr) if self._part_ptr is None else self._part_ptr

    def _arrays(self) -> dict[str, NDArray[Any] | None]:
        names = as_saved(self._names)
        return {**super()._arrays(), "part_ptr": self._part_ptr, "feature_names": names}

    @classmethod
    def _read(cls, folder: Folder, n_features: int | None, mmap_mode: str | None) -> Self:
        corpus = super()._read(folder, n_features, mmap_mode)
        if Path(folder, "part_ptr.npy").exists():
            corpus._set_parts(corpus._check_parts(read_array(folder, "part_ptr", mmap_mode)))
        names = read_names(folder, corpus.n_features, "the words")
        return corpus if names is None else corpus._with_names(tuple(names))

    def _sizes(self) -> list[str]:
        sizes = super()._sizes()
        if self._part_ptr is not None:
            sizes.insert(1, f"{len(self._part_ptr) - 1} parts")
        return sizes

    def __eq__(self, other: object) -> bool:
        is_equal = super().__eq__(other)
        if is_equal is not True or not isinstance(other, SegmentedCorpus):
            return is_equal
        mine, others = self._part_ptr, other._part_ptr
        return mine is others if mine is None or others is None else np.array_equal(mine, others)

    __hash__ = None  # type: ignore[assignment]  # marks the class as unhashable

    def __reduce__(self) -> tuple[Any, ...]:
        make, arguments = super().__reduce__()
        return make, (*arguments, self._part_ptr)

    @property
    def part_ptr(self) -> NDArray[np.int64] | None:
        """(n_parts + 1,) read-only array of the offsets of parts in `segment_ptr`, or None."""
        return self._part_ptr

    @property
    def segment_ptr(self) -> NDArray[np.int64]:
        """(n_segments + 1,) read-only array of the offsets of segments in `tokens`."""
        return self._ptrs[1]

    @property
    def doc_ptr(self) -> NDArray[np.int64]:
        """(n_documents + 1,) read-only array of the offsets of documents in `segment_ptr`."""
        return self._ptrs[0]

    def _sample(self, i: int) -> list[Any]:
        begin, end = self.doc_ptr[i : i + 2].tolist()
        ptr = self.segment_ptr[begin : end + 1].tolist()
        segments = [self.tokens[b:e] for b, e in pairwise(ptr)]
        if self._part_ptr is None:
            return segments
        first, last = np.searchsorted(self._part_ptr, (begin, end))
        parts = pairwise((self._part_ptr[first : last + 1] - begin).tolist())
        return [segments[b:e] for b, e in parts]


def _size(item: Any) -> int:
    """Return the length of a list or array, -1 for anything else."""
    is_list = isinstance(item, list | tuple) or (isinstance(item, np.ndarray) and item.ndim > 0)
    return len(item) if is_list else -1


def _as_part(part: Any, d: int) -> list[Any]:
    """Return a part of document `d` as a list of segments."""
    if _size(part) < 0:
        raise ValueError(
            f"document {d}: must be a list of parts, each a list of segments of word ids, but has "
            f"{shorten(part)} among its parts."
        )
    return list(part)
