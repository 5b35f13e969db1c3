import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from unit.data.strategies import N_WORDS, corpora

from skdp.data import SegmentedCorpus, concatenate

DOCUMENTS = [[[0, 1, 0], [2]], [], [[], [3, 3]]]


def test_arrays():
    corpus = SegmentedCorpus.from_documents(DOCUMENTS)
    assert corpus.tokens.tolist() == [0, 1, 0, 2, 3, 3]
    assert corpus.segment_ptr.tolist() == [0, 3, 4, 4, 6]
    assert corpus.doc_ptr.tolist() == [0, 2, 2, 4]
    assert corpus.tokens.dtype == np.int32
    assert corpus.segment_ptr.dtype == corpus.doc_ptr.dtype == np.int64
    same = SegmentedCorpus([0, 1, 0, 2, 3, 3], [0, 3, 4, 4, 6], [0, 2, 2, 4], 4)
    assert same == corpus


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda s: np.array(s, dtype=np.uint8)])
def test_segments_of_any_kind(kind):
    documents = [[kind(segment) for segment in document] for document in DOCUMENTS]
    corpus = SegmentedCorpus.from_documents(documents)
    assert corpus == SegmentedCorpus.from_documents(DOCUMENTS)


@pytest.mark.parametrize(("documents", "n_features"), [([], 0), ([[]], 0), ([[[]], []], 0)])
def test_without_words(documents, n_features):
    corpus = SegmentedCorpus.from_documents(documents)
    assert corpus.shape == (len(documents), n_features)
    assert SegmentedCorpus.from_documents(documents, 7).shape == (len(documents), 7)


IN_PARTS = [[[[0, 1, 0], [2]], [[]]], [], [[[3, 3]]]]


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_parts(kind):
    documents = [[[kind(each) for each in part] for part in document] for document in IN_PARTS]
    corpus = SegmentedCorpus.from_documents(documents)
    assert corpus.part_ptr.tolist() == [0, 2, 3, 4]
    assert corpus.doc_ptr.tolist() == [0, 3, 3, 4]
    assert corpus == SegmentedCorpus(
        [0, 1, 0, 2, 3, 3], [0, 3, 4, 4, 6], [0, 3, 3, 4], 4, [0, 2, 3, 4]
    )
    assert not corpus.part_ptr.flags.writeable
    assert repr(corpus).startswith("<SegmentedCorpus of 3 documents, 3 parts, 4 segments")
    plain = SegmentedCorpus.from_documents([[[0, 1, 0], [2], []], [], [[3, 3]]])
    assert plain.part_ptr is None
    assert plain != corpus
    assert corpus != plain
    assert plain.with_parts([[2], [], []]) == corpus
    assert plain.with_parts([[], [], np.array([])]) != corpus
    assert plain.with_parts(pd.Series([[2, 2], [], []])) == corpus
    assert corpus.with_parts([[1], [], []]).part_ptr.tolist() == [0, 1, 3, 4]


def test_parts_without_segments_are_left_out():
    documents = [[[], *IN_PARTS[0], []], [[]], [[], *IN_PARTS[2]]]
    assert SegmentedCorpus.from_documents(documents) == SegmentedCorpus.from_documents(IN_PARTS)


def test_a_corpus_without_parts_joins_one_with_parts():
    divided, plain = (
        SegmentedCorpus.from_documents(IN_PARTS),
        SegmentedCorpus.from_documents(DOCUMENTS),
    )
    assert concatenate([plain, divided]).part_ptr.tolist() == [0, 2, 4, 6, 7, 8]
    assert concatenate([divided, plain]).part_ptr.tolist() == [0, 2, 3, 4, 6, 8]


def test_saving_without_parts_removes_older_ones(tmp_path):
    SegmentedCorpus.from_documents(IN_PARTS).save(tmp_path)
    assert SegmentedCorpus.load(tmp_path).part_ptr.tolist() == [0, 2, 3, 4]
    SegmentedCorpus.from_documents(DOCUMENTS).save(tmp_path)
    assert SegmentedCorpus.load(tmp_path).part_ptr is None


@pytest.mark.parametrize(
    ("part_ptr", "message"),
    [
        ([0, 2, 3], "part_ptr must rise from 0 to 4, the number of segments"),
        ([0, 1, 1, 2, 4], "part_ptr: part 1 has no segments"),
        ([0, 1, 3, 4], "part_ptr: a part begins before segment 2, where document 1 begins"),
        ([0.0, 4.0], "part_ptr must be a 1-D array of integers"),
    ],
)
def test_bad_parts(part_ptr, message):
    corpus = SegmentedCorpus.from_documents(DOCUMENTS)
    with pytest.raises(ValueError, match=message):
        SegmentedCorpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr, 4, part_ptr)


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        ([[1]], "cuts must have an array for each of the 3 documents"),
        (None, "cuts must have an array for each of the 3 documents"),
        ([[2], [], []], r"cuts\[0\] must hold the first segments.*from 1 to 1, got \[2\]"),
        ([[0], [], []], r"cuts\[0\] must hold the first segments"),
        ([[1], [1], []], r"cuts\[1\] must hold.*document 1 but the first, of which it has one"),
        ([[1.5], [], []], r"cuts\[0\] must hold integers"),
        ([[[1], [1, 2]], [], []], r"cuts\[0\]"),
        (np.array(3), "cuts must have an array for each of the 3 documents"),
        (pd.DataFrame(np.ones((3, 3))), "cuts must have an array for each of the 3 documents"),
        ([sp.csr_matrix((1, 2)), [], []], r"cuts\[0\]"),
    ],
)
def test_bad_cuts(cuts, message):
    with pytest.raises(ValueError, match=message):
        SegmentedCorpus.from_documents(DOCUMENTS).with_parts(cuts)


@given(corpora)
def test_word_counts(data):
    corpus, documents = data
    words = [[word for segment in document for word in segment] for document in documents]
    expected = [np.bincount(w, minlength=N_WORDS) for w in words]
    bow = corpus.to_bow()
    assert isinstance(bow, sp.csr_matrix)  # not an array: what other libraries expect
    assert bow.shape == corpus.shape
    assert bow.dtype == np.int64
    assert bow.has_canonical_format
    np.testing.assert_array_equal(bow.toarray(), np.reshape(expected, corpus.shape))


@given(corpora)
def test_counts_round_trip(data):
    _, documents = data
    if not documents:
        return
    counts = [
        np.array([np.bincount(s, minlength=N_WORDS) for s in d]).reshape(len(d), N_WORDS)
        for d in documents
    ]
    sorted_documents = [[sorted(segment) for segment in document] for document in documents]
    expected = SegmentedCorpus.from_documents(sorted_documents, N_WORDS)
    assert SegmentedCorpus.from_counts(counts) == expected
    assert SegmentedCorpus.from_counts([sp.csc_array(c) for c in counts]) == expected
    assert SegmentedCorpus.from_counts([c.astype(float) for c in counts]) == expected


def test_duplicate_and_unsorted_entries_of_counts():
    matrix = sp.csr_matrix(([1, 2, 1], [2, 0, 2], [0, 3]), shape=(1, 3))
    assert SegmentedCorpus.from_counts([matrix])[0][0].tolist() == [0, 0, 2, 2]
    assert matrix.nnz == 3  # the caller's matrix is left as it is


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([np.eye(2), [[0, 1], [0.5, 0]]], r"counts.*document 1, segment 1 has 0\.5 of word 0"),
        ([[[0, -1]]], "document 0, segment 0 has -1 of word 1"),
        ([[[np.nan, 1]]], r"documents\[0\] contains NaN"),
        ([[[1e12]]], "at most 2147483647 tokens, but the counts sum to 1e"),
        ([[[2**62, 2**62, 2**62, 2**62]]], "at most 2147483647 tokens"),
        ([np.eye(2), np.eye(3)], r"equal width.*\[2, 3\]"),
        ([], "no matrices: the size of the vocabulary is unknown"),
        ([[["a"]]], "could not convert string|not compatible"),
    ],
)
def test_bad_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        SegmentedCorpus.from_counts(counts)


@pytest.mark.parametrize(
    ("documents", "n_features", "message"),
    [
        (
            [[[0]], [[1], [], [2, 17]]],
            10,
            r"document 1, segment 2: word id 17 is out of range \[0, 10",
        ),
        ([[[0]], [], [[3, -1]]], None, "document 2, segment 0: word id -1 is out of range"),
        ([[[2**40]]], None, "document 0, segment 0: word id 1099511627776 is out of range"),
        (
            [[[0]], [[1.0]]],
            None,
            r"document 1, segment 0: must be a sequence of word ids.*\[1\.0\]",
        ),
        ([[[0], ["a"]]], None, "document 0, segment 1: must be a sequence of word ids"),
        ([[[0], 1]], None, "document 0, segment 1: must be a sequence of word ids"),
        ([[[0], [[1], [2, 3]]]], None, "document 0, segment 1: must be a sequence of word ids"),
        ([[[[0], [1]], 2]], None, "document 0: must be a list of parts.*has 2 among its parts"),
        ([[[[0]]], [[1]]], None, "document 1, segment 0: must be a sequence of word ids.*got 1"),
        ([[[[[0]]]]], None, "document 0, segment 0: must be a sequence of word ids"),
        ([[[], sp.csr_matrix([[1, 2]])]], None, "document 0, segment 1: must be a sequence of wo"),
        ([[[True]]], None, "document 0, segment 0: must be"),
        ([[[0]]], -1, "n_features must be an integer"),
        ([[[0]]], 2.5, "n_features must be an integer"),
    ],
)
def test_bad_documents(documents, n_features, message):
    with pytest.raises(ValueError, match=message):
        SegmentedCorpus.from_documents(documents, n_features)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0, 3], [0, 1], 2), "segment_ptr must rise from 0 to 2, the number of tokens"),
        (([0, 1], [0, 2], [0, 2], 2), "doc_ptr must rise from 0 to 1, the number of segments"),
        (([0, 1], [0, 2, 1, 2], [0, 3], 2), "segment_ptr must rise"),
        (([0, 1], [1, 2], [0, 1], 2), "segment_ptr must rise"),
        (([0, 1], [], [0, 1], 2), "segment_ptr must be a 1-D array of integers"),
        (([0, 1], [0.0, 2.0], [0, 1], 2), "segment_ptr must be a 1-D array of integers"),
        (([[0, 1]], [0, 1], [0, 1], 2), "tokens must be a 1-D array of integers"),
        (([0.0], [0, 1], [0, 1], 2), "tokens must be a 1-D array of integers"),
        (([0, 2], [0, 2], [0, 1], 2), "document 0, segment 0: word id 2"),
    ],
)
def test_bad_arrays(arguments, message):
    with pytest.raises(ValueError, match=message):
        SegmentedCorpus(*arguments)


def test_a_fold_takes_milliseconds():
    rng = np.random.default_rng(0)
    lengths = rng.poisson(30, size=24_000)
    corpus = SegmentedCorpus(
        rng.integers(0, 9_000, lengths.sum()),
        np.concatenate(([0], np.cumsum(lengths))),
        np.arange(0, 24_001, 100),
        9_000,
    )
    fold = rng.permutation(240)[:216]
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        corpus[fold]
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.2  # a loop over tokens in Python would take ten times that
