"""Validation of users' arguments by estimators."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
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
DOCUMENTS = [[[0, 3], []], [], [[1]]]

SENTENCES = [[0, 1, 4], [2], []]
SEQUENCES = [np.arange(6.0).reshape(3, 2), np.ones((1, 2))]


def assert_refuses(estimator, X, message, error=ValueError):
    """Fail unless fit raises and leaves the estimator as it was, fitted or not."""
    before = dict(vars(estimator))
    with pytest.raises(error, match=message):
        estimator.fit(X)
    assert vars(estimator) == before


class TestCheckCorpus:
    @pytest.mark.parametrize(
        "X",
        [
            COUNTS,
            COUNTS.astype(np.float32),
            COUNTS.astype(np.float16),
            COUNTS.astype(np.uint8),
            COUNTS.tolist(),
            list(COUNTS),
            tuple(map(tuple, COUNTS.tolist())),
            np.asfortranarray(COUNTS),
            sp.csr_matrix(COUNTS),
            sp.csr_array(COUNTS.astype(float)),
            sp.csc_matrix(COUNTS),
            sp.coo_array(COUNTS),
            COUNTS.astype(object),
            pd.DataFrame(COUNTS),
            ROWS,
            [[[0, 0, 2]], [[]], [[1, 1, 1]]],
        ],
        ids=lambda X: type(X).__name__,
    )
    def test_one_meaning(self, X):
        estimator = WordGroups()
        assert check_corpus(estimator, X, reset=True) == ROWS
        assert estimator.n_features_in_ == 3
        assert check_corpus(estimator, X, reset=False) == ROWS

    def test_a_corpus_passes_as_it_is(self):
        assert check_corpus(WordGroups(), ROWS, reset=True) is ROWS

    def test_booleans_are_counts(self):
        corpus = check_corpus(WordGroups(), COUNTS > 0, reset=True)
        assert corpus.to_bow().toarray().tolist() == (COUNTS > 0).astype(int).tolist()

    def test_read_only_counts(self):
        counts = sp.csr_matrix(COUNTS)
        for array in (counts.data, counts.indices, counts.indptr):
            array.flags.writeable = False
        assert check_corpus(WordGroups(), counts, reset=True) == ROWS

    def test_feature_names(self):
        frame = pd.DataFrame(COUNTS, columns=["a", "b", "c"])
        estimator = WordGroups().fit(frame)
        assert estimator.feature_names_in_.tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names should match"):
            estimator.transform(frame[["b", "a", "c"]])
        estimator.fit(ROWS)
        assert not hasattr(estimator, "feature_names_in_")

    def test_documents(self):
        estimator = WordGroups().fit(DOCUMENTS)
        assert estimator.n_features_in_ == 4
        corpus = check_corpus(estimator, [[[0]], []], reset=False)
        assert corpus == SegmentedCorpus.from_documents([[[0]], []], 4)
        assert check_corpus(estimator, [[], []], reset=False).shape == (2, 4)
        with pytest.raises(
            ValueError, match=r"document 1, segment 1: word id 4 is out of range \[0"
        ):
            estimator.transform([[[0]], [[1], [2, 4]]])

    def test_width(self):
        estimator = WordGroups().fit(COUNTS)
        for X in (
            COUNTS[:, :2],
            sp.csr_matrix(COUNTS[:, :2]),
            SegmentedCorpus.from_documents([], 2),
        ):
            message = "X has 2 features, but WordGroups is expecting 3|0 sample"
            with pytest.raises(ValueError, match=message):
                estimator.transform(X)

    @pytest.mark.parametrize("fitted", [False, True])
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (COUNTS - 1, "Negative values in data passed to X in WordGroups|X in WordGroups"),
            (sp.csr_matrix(COUNTS - 1), "Negative values"),
            (COUNTS / 2.0, r"X must hold counts.*document 0.*0\.5 of word 2"),
            (sp.csr_matrix(COUNTS) / 2.0, "X must hold counts"),
            (np.where(COUNTS == 2, np.nan, COUNTS), "contains NaN"),
            (np.where(COUNTS == 2, np.inf, COUNTS), "contains infinity"),
            (COUNTS * 1e12, "at most 2147483647 tokens"),
            (COUNTS * 1j, "Complex data not supported"),
            (COUNTS[0], "Expected 2D array, got 1D array"),
            (COUNTS[0].tolist(), "Expected 2D array, got 1D array"),
            (COUNTS[np.newaxis], "dim 3"),
            (np.empty((0, 3)), r"Found array with 0 sample\(s\)"),
            (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
            ([], r"Found array with 0 sample\(s\) .* by WordGroups"),
            ((), r"Found array with 0 sample\(s\)"),
            (SegmentedCorpus.from_documents([], 3), r"Found array with 0 sample\(s\)"),
            (SegmentedCorpus.from_documents([[]], 0), r"Found array with 0 feature\(s\)"),
            ([[], []], "X has no tokens at all.* by WordGroups"),
            ([[[]], []], "no tokens at all"),
            ([[[]]], "no tokens at all"),
            (np.zeros((2, 3)), "no tokens at all"),
            (SegmentedCorpus.from_documents([[[]]], 3), "no tokens at all"),
            ([[1, 2], [3]], r"document 0: must be a list of segments.*got \[1, 2\]"),
            ([[[1, 2]], [3]], r"document 1: must be a list of segments.*got \[3\]"),
            ([[[1], 2]], "document 0, segment 1: must be a sequence of word ids"),
            ([[[1, -1]]], "document 0, segment 0: word id -1 is out of range"),
            ([[[1.5]]], "document 0, segment 0: must be a sequence of word ids"),
            ([[["a"]]], "X holds text"),
            ([["a b", "c"]], "X holds text"),
            ([["a b", "c"], ["d"]], "X holds text"),
            ([[], ["a b", "c"]], "X holds text"),
            (["a text"], "X holds text"),
            ([b"a text"], "X holds text"),
            (("a text", "another"), "X holds text.*SegmentVectorizer"),
            (np.array(["a text", "another"]), "X holds text.*SegmentVectorizer"),
            (np.array([["a", "b"]]), "X holds text"),
            (np.array([b"a text"]), "X holds text"),
            (np.array(["a text", "another"], dtype=object), "X holds text"),
            ([np.array(["a b", "c"]), np.array(["d"])], "X holds text"),
            (pd.Series(["a text", "another"]), "X holds text.*SegmentVectorizer"),
            (pd.Series(["a text"], dtype="string"), "X holds text"),
            (pd.Series(["a text"], index=[7], dtype="category"), "X holds text"),
            (pd.DataFrame({"a": ["a text", "another"]}), "X holds text"),
            ("a text", "X holds text"),
            (None, "Expected 2D array|dtype"),
        ],
    )
    def test_bad_input(self, X, message, fitted):
        estimator = WordGroups().fit(COUNTS) if fitted else WordGroups()
        assert_refuses(estimator, X, message)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (SequencePanel.from_sequences(SEQUENCES), "SequencePanel cannot become an array"),
            (TokenSequences.from_sequences(SENTENCES), "X.to_bow()"),
        ],
    )
    def test_other_containers(self, X, message):
        assert_refuses(WordGroups(), X, message, TypeError)

    def test_tokens_are_required_on_demand(self):
        X = np.zeros((2, 3))
        assert len(check_corpus(WordGroups(), X, reset=True).tokens) == 0
        np.testing.assert_allclose(WordGroups().fit(COUNTS).transform(X), 1 / 3)


class TestCheckPanel:
    @pytest.mark.parametrize(
        "X",
        [
            SEQUENCES,
            tuple(SEQUENCES),
            [sequence.tolist() for sequence in SEQUENCES],
            [pd.DataFrame(sequence) for sequence in SEQUENCES],
            [sequence.astype(np.float32) for sequence in SEQUENCES],
            SequencePanel.from_sequences(SEQUENCES),
        ],
    )
    def test_panels(self, X):
        estimator = MeanLevel()
        panel, is_single = check_panel(estimator, X, reset=True)
        assert panel == SequencePanel.from_sequences(SEQUENCES)
        assert not is_single
        assert estimator.n_features_in_ == 2
        assert estimator.fit(X).transform(X).shape == (2, 2)

    @pytest.mark.parametrize(
        "X",
        [
            SEQUENCES[0],
            SEQUENCES[0].tolist(),
            SEQUENCES[0].astype(int),
            pd.DataFrame(SEQUENCES[0]),
        ],
    )
    def test_an_array_is_one_sequence(self, X):
        panel, is_single = check_panel(MeanLevel(), X, reset=True)
        assert panel == SequencePanel.from_sequences(SEQUENCES[:1])
        assert is_single
        assert MeanLevel().fit(X).transform(X).shape == (3, 2)

    def test_one_dimensional_sequences(self):
        panel, is_single = check_panel(MeanLevel(), [np.arange(3), np.arange(3)], reset=True)
        assert panel.shape == (2, 1)
        assert not is_single

    def test_feature_names(self):
        frame = pd.DataFrame(SEQUENCES[0], columns=["a", "b"])
        estimator = MeanLevel().fit(frame)
        assert estimator.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="feature names should match"):
            estimator.transform(frame[["b", "a"]])

    def test_words_on_demand(self):
        words = TokenSequences.from_sequences([[0, 3, 1], [2]])
        estimator = MeanLevel()
        panel, is_single = check_panel(estimator, words, reset=True, accept_tokens=True)
        assert panel == SequencePanel(words.tokens, words.ptr)
        assert not is_single
        assert estimator.n_features_in_ == 1
        assert_refuses(MeanLevel(), words, "TokenSequences cannot become an array", TypeError)

    def test_names_in_lists(self):
        frames = [pd.DataFrame(sequence, columns=["a", "b"]) for sequence in SEQUENCES]
        estimator = MeanLevel().fit(frames)
        assert estimator.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="feature names should match"):
            estimator.transform([frame[["b", "a"]] for frame in frames])
        for other, message in (
            (
                frames[1][["b", "a"]],
                r"1 has \['b', 'a'\], but sequence 0 has \['a', 'b'\]",
            ),
            (SEQUENCES[1], "sequence 1 has no names of columns, but sequence 0 has"),
        ):
            assert_refuses(MeanLevel(), [frames[0], other], message)

    def test_width(self):
        for X in (SEQUENCES[0], SEQUENCES):
            estimator = MeanLevel().fit(X)
            for other in (np.ones((2, 3)), [np.ones((2, 3))]):
                with pytest.raises(
                    ValueError, match="X has 3 features, but MeanLevel is expecting 2"
                ):
                    estimator.transform(other)

    def test_missing_values(self):
        sequence = np.array([[1.0, np.nan], [2.0, 3.0]])
        for X in (sequence, [sequence], SequencePanel.from_sequences([sequence])):
            MeanLevel(missing=True).fit(X)
            assert_refuses(MeanLevel(), X, "contains NaN")
        assert_refuses(
            MeanLevel(missing=True), [sequence, sequence * np.inf], "infinity: sequence 1"
        )

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([np.ones((2, 1)), np.full((1, 1), np.nan)], "Input X contains NaN: sequence 1"),
            ([np.ones((2, 1)), np.full((1, 1), np.inf)], "Input X contains infinity: sequence 1"),
            ([np.ones((2, 1)), np.ones((0, 1))], r"0 observation\(s\) \(sequence 1\)"),
            (SequencePanel(np.ones((0, 1)), [0, 0]), r"0 observation\(s\) \(sequence 0\)"),
            (SequencePanel(np.ones((0, 1)), [0]), r"0 sample\(s\)"),
            ([np.ones((2, 1)), np.ones((2, 2))], "sequence 1 has 2 features"),
            ([np.ones((2, 0))], r"0 feature\(s\)"),
            ([[1.0, 2.0], [3.0]], "sequence 0: must be a"),
            ([np.ones(2), [3.0, 4.0]], "sequence 1: must be a"),
            ([["a"], ["b", "c"]], "X must hold numbers, got text"),
            (np.ones(3), "Expected 2D array, got 1D array.*the list .X."),
            ([1.0, 2.0], "Expected 2D array, got 1D array"),
            (np.ones((2, 2, 2)), r"dim 3.*MeanLevel.*write list\(X\)"),
            (np.ones((2, 2, 2, 2)), "dim 4"),
            (np.empty((0, 2)), r"0 sample\(s\)"),
            (np.full((2, 2), np.nan), "contains NaN"),
            (np.array([["a"]]), "X must hold numbers, got text"),
            ([], r"Found array with 0 sample\(s\) .* by MeanLevel"),
        ],
    )
    def test_bad_input(self, X, message):
        assert_refuses(MeanLevel(), X, message)

    @pytest.mark.parametrize("text", [["a", "b"], ["1", "b"]])
    @pytest.mark.parametrize("dtype", [object, "category"])
    def test_text_in_data_frames(self, text, dtype):
        pd = pytest.importorskip("pandas")
        numbers = pd.DataFrame({"speed": [1.0, 2.0], "gear": pd.Series([1, 2], dtype=object)})
        frame = numbers.assign(place=pd.Series(text, dtype=dtype))
        MeanLevel().fit(numbers)
        assert_refuses(
            MeanLevel(), frame, "^X, column 'place', must hold .*the index.*CategoricalEmission"
        )
        assert_refuses(MeanLevel(), [numbers, frame], "sequence 1 of X, column 'place', must ")
        assert_refuses(MeanLevel(), numbers["speed"], r"write X\.to_frame\(\) for one sequence")

    def test_sparse(self):
        assert_refuses(MeanLevel(), sp.csr_matrix(np.eye(2)), "dense data is required", TypeError)


class TestCheckSentences:
    @pytest.mark.parametrize(
        "X",
        [
            SENTENCES,
            tuple(map(tuple, SENTENCES)),
            [np.array(sentence, dtype=np.int16) for sentence in SENTENCES],
            TokenSequences.from_sequences(SENTENCES),
            pd.Series(SENTENCES, index=range(7, 7 + len(SENTENCES))),
            np.array([*SENTENCES, None], dtype=object)[:-1],
        ],
    )
    def test_sentences(self, X):
        estimator = WordShares()
        sentences = check_sentences(estimator, X, reset=True)
        assert sentences == TokenSequences.from_sequences(SENTENCES)
        assert estimator.n_words_ == estimator.n_features_in_ == 5
        assert check_sentences(estimator, X, reset=False) == sentences

    @pytest.mark.parametrize("X", [[[3, 1]], [[3, 1], [0, 0]], np.array([[3, 1]]), [[], []]])
    def test_fitted_on_sentences_anything_is_sentences(self, X):
        estimator = WordShares().fit(SENTENCES)
        expected = TokenSequences.from_sequences(list(X), 5)
        assert check_sentences(estimator, X, reset=False) == expected

    @pytest.mark.parametrize(
        "X",
        [
            [[3, 1], [0, 2]],
            [(3.0, 1), (0, 2)],
            [np.array([3.0, 1.0]), np.array([0.0, 2.0])],
            pd.Series([[3, 1], [0, 2]]),
            TokenSequences.from_sequences([[3, 1], [0, 2]]),
        ],
    )
    def test_sentences_that_happen_to_have_one_length(self, X):
        """A list is a list of sentences: those of `predict` may have any length."""
        estimator = WordShares()
        expected = TokenSequences.from_sequences([[3, 1], [0, 2]])
        assert check_sentences(estimator, X, reset=True) == expected
        assert estimator.n_features_in_ == estimator.n_words_ == 4
        assert check_sentences(estimator, X, reset=False) == expected
        for new in ([[1]], [[0], [1, 2, 3]], np.array([[1, 2, 3]]), [[1.0, 2.0, 3.0]]):
            new_words = TokenSequences.from_sequences([np.asarray(s, int) for s in new], 4)
            assert check_sentences(estimator, new, reset=False) == new_words

    def test_rows_are_sentences_of_one_length(self):
        X = np.array([[3, 1], [0, 2]])
        for rows in (X, X.astype(float), pd.DataFrame(X)):
            estimator = WordShares()
            sentences = check_sentences(estimator, rows, reset=True)
            assert sentences == TokenSequences.from_sequences([[3, 1], [0, 2]])
            assert estimator.n_features_in_ == 2
            assert estimator.n_words_ == 4
            for same in ([[3, 0]], np.array([[3, 0]]), TokenSequences.from_sequences([[3, 0]], 9)):
                expected = TokenSequences.from_sequences([[3, 0]], 4)
                if isinstance(rows, pd.DataFrame):
                    same = pd.DataFrame(list(same))
                assert check_sentences(estimator, same, reset=False) == expected

    def test_width(self):
        estimator = WordShares().fit(np.array([[3, 1], [0, 2]]))
        message = "X has 3 features, but WordShares is expecting 2"
        for X in (np.ones((1, 3), int), [[1, 1, 1]], TokenSequences.from_sequences([[1, 1, 1]])):
            with pytest.raises(ValueError, match=message):
                estimator.transform(X)
        with pytest.raises(ValueError, match=r"differ in length.*expecting sentences of 2 words"):
            estimator.transform([[1], [1, 2]])
        estimator = WordShares().fit(SENTENCES)
        with pytest.raises(ValueError, match="X has 6 features, but WordShares is expecting 5"):
            estimator.transform(TokenSequences.from_sequences([[0]], 6))

    def test_unseen_words(self):
        for X in (SENTENCES, [[4, 0], [1, 2]]):
            estimator = WordShares().fit(X)
            with pytest.raises(ValueError, match=r"sentence 1: word id 5 is out of range \[0, 5\)"):
                estimator.transform([[0, 0], [0, 5]])

    @pytest.mark.parametrize("fitted", [False, True])
    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[0], [1, -1]], "sentence 1: word id -1"),
            ([[0], [1, 0.5]], "sentence 1: must be a sequence of word ids"),
            ([[1], ["b", "c"]], "sentence 1: must be a sequence of word ids"),
            ([[0, 1], [2, 0.5]], r"X must hold word ids.*sentence 1 has 0\.5"),
            (np.array([[0, 1e300]]), r"X must hold word ids.*sentence 0 has 1e\+300"),
            (np.array([[0, -1]]), "Negative values"),
            (np.array([[0, np.nan]]), "contains NaN"),
            (np.array([0, 1]), "Expected 2D array, got 1D array"),
            (np.zeros((2, 2, 2), int), "dim 3"),
            (np.empty((0, 2)), r"0 sample\(s\)"),
            (TokenSequences.from_sequences([], 2), r"0 sample\(s\)"),
            ([[], []], r"0 feature\(s\)"),
            ([], r"Found array with 0 sample\(s\) .* by WordShares"),
            (["a sentence"], "X holds text.*TokenVectorizer"),
            ([["the", "dog"], ["barks"]], "X holds text.*TokenVectorizer"),
            ([[], ["barks"]], "X holds text"),
            (np.array(["a sentence", "another"]), "X holds text.*TokenVectorizer"),
            (pd.Series(["a sentence"]), "X holds text.*TokenVectorizer"),
        ],
    )
    def test_bad_input(self, X, message, fitted):
        estimator = WordShares().fit(SENTENCES) if fitted else WordShares()
        assert_refuses(estimator, X, message)

    def test_sparse(self):
        assert_refuses(WordShares(), sp.csr_matrix(np.eye(2)), "dense data is required", TypeError)


@pytest.mark.parametrize(
    ("estimator", "X"),
    [(WordGroups(), DOCUMENTS), (MeanLevel(), SEQUENCES), (WordShares(), SENTENCES)],
)
def test_clone_and_refit_on_another_width(estimator, X):
    fitted = clone(estimator).fit(X)
    again = fitted.fit(np.array([[1, 1, 1], [0, 2, 0]]))
    assert again.n_features_in_ == 3
