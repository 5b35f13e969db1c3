"""What the checks of estimators make of X; tests/refusals/validation.txt has what they refuse."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from unit.data.dummies import MeanLevel, WordGroups, WordShares

from skdp.data import (
    SegmentedCorpus,
    SequencePanel,
    TokenSequences,
    check_corpus,
    check_panel,
    check_sentences,
)

COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
ROWS = SegmentedCorpus.from_documents([[[0, 0, 2]], [[]], [[1, 1, 1]]])
SENTENCES = [[0, 1, 4], [2], []]
SEQUENCES = [np.arange(6.0).reshape(3, 2), np.ones((1, 2))]


def read_only(matrix):
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


COUNT_FORMS = {
    "single": COUNTS.astype(np.float32),
    "half": COUNTS.astype(np.float16),
    "bytes": COUNTS.astype(np.uint8),
    "list of arrays": list(COUNTS),
    "tuples": tuple(map(tuple, COUNTS.tolist())),
    "read-only": read_only(sp.csr_matrix(COUNTS)),
    "csr array": sp.csr_array(COUNTS.astype(float)),
    "csc": sp.csc_matrix(COUNTS),
    "coo": sp.coo_array(COUNTS),
    "pandas": pd.DataFrame(COUNTS),
    "corpus": ROWS,
    "documents": [[[0, 0, 2]], [[]], [[1, 1, 1]]],
}


@pytest.mark.parametrize("form", COUNT_FORMS)
def test_counts_and_documents(form):
    estimator, X = WordGroups(), COUNT_FORMS[form]
    found = check_corpus(estimator, X, reset=True)
    assert found is ROWS if X is ROWS else found == ROWS
    assert estimator.n_features_in_ == 3
    assert check_corpus(estimator, X, reset=False) == ROWS


def test_a_corpus():
    """Booleans are counts; names go with a data frame; words are required only on demand. Documents
    have the vocabulary of the fit."""
    corpus = check_corpus(WordGroups(), COUNTS > 0, reset=True)
    assert corpus.to_bow().toarray().tolist() == (COUNTS > 0).astype(int).tolist()
    assert len(check_corpus(WordGroups(), np.zeros((2, 3)), reset=True).tokens) == 0
    estimator = WordGroups().fit(pd.DataFrame(COUNTS, columns=["a", "b", "c"]))
    assert estimator.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(estimator.fit(ROWS), "feature_names_in_")
    np.testing.assert_allclose(estimator.transform(np.zeros((2, 3))), 1 / 3)
    estimator.fit([[[0, 3], []], [], [[1]]])
    assert estimator.n_features_in_ == 4
    corpus = check_corpus(estimator, [[[0]], []], reset=False)
    assert corpus == SegmentedCorpus.from_documents([[[0]], []], 4)
    assert check_corpus(estimator, [[], []], reset=False).shape == (2, 4)


def test_sequences():
    lists = [sequence.tolist() for sequence in SEQUENCES]
    frames = [pd.DataFrame(sequence) for sequence in SEQUENCES]
    single = [sequence.astype(np.float32) for sequence in SEQUENCES]
    expected = SequencePanel.from_sequences(SEQUENCES)
    for X in (SEQUENCES, tuple(SEQUENCES), lists, frames, single, expected):
        estimator = MeanLevel()
        panel, is_single = check_panel(estimator, X, reset=True)
        assert panel == expected
        assert not is_single
        assert estimator.n_features_in_ == 2
        assert estimator.fit(X).transform(X).shape == (2, 2)
    rows = SEQUENCES[0]  # an array is one sequence
    for X in (rows, rows.tolist(), rows.astype(int), pd.DataFrame(rows)):
        panel, is_single = check_panel(MeanLevel(), X, reset=True)
        assert panel == SequencePanel.from_sequences([rows])
        assert is_single
        assert MeanLevel().fit(X).transform(X).shape == (3, 2)
    panel, is_single = check_panel(MeanLevel(), [np.arange(3), np.arange(3)], reset=True)
    assert (panel.shape, is_single) == ((2, 1), False)


def test_names_gaps_and_words_of_panels():
    frames = [pd.DataFrame(sequence, columns=["a", "b"]) for sequence in SEQUENCES]
    for X in (frames[0], frames):
        assert MeanLevel().fit(X).feature_names_in_.tolist() == ["a", "b"]
    gap = np.array([[1.0, np.nan], [2.0, 3.0]])
    for X in (gap, [gap], SequencePanel.from_sequences([gap])):
        MeanLevel(missing=True).fit(X)
    words, estimator = TokenSequences.from_sequences([[0, 3, 1], [2]]), MeanLevel()
    panel, is_single = check_panel(estimator, words, reset=True, accept_tokens=True)
    assert panel == SequencePanel(words.tokens, words.ptr)
    assert (estimator.n_features_in_, is_single) == (1, False)


def test_sentences():
    """Once an estimator is fitted on sentences, arrays are sentences, too."""
    tuples = tuple(map(tuple, SENTENCES))
    arrays = [np.array(sentence, dtype=np.int16) for sentence in SENTENCES]
    series = pd.Series(SENTENCES, index=[7, 8, 9])
    objects = np.array([*SENTENCES, None], dtype=object)[:-1]
    expected = TokenSequences.from_sequences(SENTENCES)
    for X in (SENTENCES, tuples, arrays, expected, series, objects):
        estimator = WordShares()
        assert check_sentences(estimator, X, reset=True) == expected
        assert estimator.n_words_ == estimator.n_features_in_ == 5
        assert check_sentences(estimator, X, reset=False) == expected
    for X in ([[3, 1]], [[3, 1], [0, 0]], np.array([[3, 1]]), [[], []]):
        found = check_sentences(estimator, X, reset=False)
        assert found == TokenSequences.from_sequences(list(X), 5)


PAIRS = TokenSequences.from_sequences([[3, 1], [0, 2]])


@pytest.mark.parametrize(
    "X",
    [
        [[3, 1], [0, 2]],
        [(3.0, 1), (0, 2)],
        [np.array([3.0, 1.0]), np.array([0.0, 2.0])],
        pd.Series([[3, 1], [0, 2]]),
        PAIRS,
    ],
)
def test_sentences_that_happen_to_have_one_length(X):
    """A list is a list of sentences: those of `predict` may have any length."""
    estimator = WordShares()
    assert check_sentences(estimator, X, reset=True) == PAIRS
    assert estimator.n_features_in_ == estimator.n_words_ == 4
    assert check_sentences(estimator, X, reset=False) == PAIRS
    for new in ([[1]], [[0], [1, 2, 3]], np.array([[1, 2, 3]]), [[1.0, 2.0, 3.0]]):
        words = TokenSequences.from_sequences([np.asarray(ids, int) for ids in new], 4)
        assert check_sentences(estimator, new, reset=False) == words


@pytest.mark.parametrize("form", [np.array, lambda X: np.array(X, float), pd.DataFrame])
def test_rows_are_sentences_of_one_length(form):
    estimator = WordShares()
    assert check_sentences(estimator, form([[3, 1], [0, 2]]), reset=True) == PAIRS
    assert (estimator.n_features_in_, estimator.n_words_) == (2, 4)
    for new in ([[3, 0]], np.array([[3, 0]]), TokenSequences.from_sequences([[3, 0]], 9)):
        new = pd.DataFrame(list(new)) if form is pd.DataFrame else new
        expected = TokenSequences.from_sequences([[3, 0]], 4)
        assert check_sentences(estimator, new, reset=False) == expected


@pytest.mark.parametrize(
    ("estimator", "X"),
    [(WordGroups(), [[[0, 3], []], [[1]]]), (MeanLevel(), SEQUENCES), (WordShares(), SENTENCES)],
)
def test_another_fit_may_have_another_width(estimator, X):
    assert estimator.fit(X).fit(np.array([[1, 1, 1], [0, 2, 0]])).n_features_in_ == 3
