"""Corpora of documents, with and without parts, and sentences."""

import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from unit.data.strategies import N_WORDS, corpora, sentences

from skdp.data import SegmentedCorpus, TokenSequences, concatenate

DOCUMENTS = [[[0, 1, 0], [2]], [], [[], [3, 3]]]
IN_PARTS = [[[[0, 1, 0], [2]], [[]]], [], [[[3, 3]]]]
make = SegmentedCorpus.from_documents


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda s: np.array(s, dtype=np.uint8)])
def test_documents(kind):
    corpus = make([[kind(segment) for segment in document] for document in DOCUMENTS])
    assert corpus.tokens.tolist() == [0, 1, 0, 2, 3, 3]
    assert corpus.segment_ptr.tolist() == [0, 3, 4, 4, 6]
    assert corpus.doc_ptr.tolist() == [0, 2, 2, 4]
    assert corpus.tokens.dtype == np.int32
    assert corpus.segment_ptr.dtype == corpus.doc_ptr.dtype == np.int64
    assert corpus == SegmentedCorpus([0, 1, 0, 2, 3, 3], [0, 3, 4, 4, 6], [0, 2, 2, 4], 4)


def test_sentences():
    container = TokenSequences.from_sequences([[0, 1], [], np.array([3], dtype=np.int8)])
    assert container.tokens.tolist() == [0, 1, 3]
    assert container.tokens.dtype == np.int32
    assert container.ptr.tolist() == [0, 2, 2, 3]
    assert container.shape == (3, 4)
    assert container == TokenSequences([0, 1, 3], [0, 2, 2, 3], 4)
    parts = [np.array([1, 2], dtype=np.int64), np.array([3], dtype=np.uint64), [0]]
    for mixed in (TokenSequences.from_sequences(parts), make([parts])):
        assert mixed.tokens.tolist() == [1, 2, 3, 0]
        assert mixed.tokens.dtype == np.int32


def test_without_words():
    for documents in ([], [[]], [[[]], []]):
        assert make(documents).shape == (len(documents), 0)
        assert make(documents, 7).shape == (len(documents), 7)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_parts(kind):
    corpus = make([[[kind(s) for s in part] for part in document] for document in IN_PARTS])
    assert corpus.part_ptr.tolist() == [0, 2, 3, 4]
    assert corpus.doc_ptr.tolist() == [0, 3, 3, 4]
    parts = [0, 2, 3, 4]
    assert corpus == SegmentedCorpus([0, 1, 0, 2, 3, 3], [0, 3, 4, 4, 6], [0, 3, 3, 4], 4, parts)
    assert not corpus.part_ptr.flags.writeable
    assert repr(corpus).startswith("<SegmentedCorpus of 3 documents, 3 parts, 4 segments")
    plain = make([[[0, 1, 0], [2], []], [], [[3, 3]]])
    assert plain.part_ptr is None
    assert plain != corpus
    assert corpus != plain
    assert plain.with_parts([[2], [], []]) == corpus
    assert plain.with_parts([[], [], np.array([])]) != corpus
    assert plain.with_parts(pd.Series([[2, 2], [], []])) == corpus
    assert corpus.with_parts([[1], [], []]).part_ptr.tolist() == [0, 1, 3, 4]


def test_parts_go_with_the_corpus(tmp_path):
    """Those without segments are left out; a document without parts is one."""
    divided, plain = make(IN_PARTS), make(DOCUMENTS)
    assert make([[[], *IN_PARTS[0], []], [[]], [[], *IN_PARTS[2]]]) == divided
    assert concatenate([plain, divided]).part_ptr.tolist() == [0, 2, 4, 6, 7, 8]
    assert concatenate([divided, plain]).part_ptr.tolist() == [0, 2, 3, 4, 6, 8]
    divided.save(tmp_path)
    assert SegmentedCorpus.load(tmp_path).part_ptr.tolist() == [0, 2, 3, 4]
    plain.save(tmp_path)  # this removes the older parts
    assert SegmentedCorpus.load(tmp_path).part_ptr is None


@given(corpora, sentences)
def test_word_counts(data, other):
    corpus, documents = data
    words = [[word for segment in document for word in segment] for document in documents]
    expected = [np.bincount(each, minlength=N_WORDS) for each in words]
    bow = corpus.to_bow()
    assert isinstance(bow, sp.csr_matrix)  # not an array: what other libraries expect
    assert bow.shape == corpus.shape
    assert bow.dtype == np.int64
    assert bow.has_canonical_format
    np.testing.assert_array_equal(bow.toarray(), np.reshape(expected, corpus.shape))
    container, texts = other
    expected = [np.bincount(text, minlength=N_WORDS) for text in texts]
    np.testing.assert_array_equal(
        container.to_bow().toarray(), np.reshape(expected, container.shape)
    )


@given(corpora.filter(lambda data: data[1]))
def test_counts_round_trip(data):
    _, documents = data
    counts = [
        np.array([np.bincount(s, minlength=N_WORDS) for s in d]).reshape(len(d), N_WORDS)
        for d in documents
    ]
    expected = make([[sorted(segment) for segment in document] for document in documents], N_WORDS)
    assert SegmentedCorpus.from_counts(counts) == expected
    assert SegmentedCorpus.from_counts([sp.csc_array(c) for c in counts]) == expected
    assert SegmentedCorpus.from_counts([c.astype(float) for c in counts]) == expected


def test_duplicate_and_unsorted_entries_of_counts():
    matrix = sp.csr_matrix(([1, 2, 1], [2, 0, 2], [0, 3]), shape=(1, 3))
    assert SegmentedCorpus.from_counts([matrix])[0][0].tolist() == [0, 0, 2, 2]
    assert matrix.nnz == 3  # the caller's matrix is left as it is


def test_a_fold_takes_milliseconds():
    rng = np.random.default_rng(0)
    lengths = rng.poisson(30, size=24_000)
    words = rng.integers(0, 9_000, lengths.sum())
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    corpus = SegmentedCorpus(words, ptr, np.arange(0, 24_001, 100), 9_000)
    fold, seconds = rng.permutation(240)[:216], []
    for _ in range(5):
        start = time.perf_counter()
        corpus[fold]
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.2  # a loop over tokens in Python would take ten times that
