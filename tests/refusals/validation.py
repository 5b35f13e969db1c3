"""What estimators get as X: counts and documents, panels and sentences that they refuse."""

from contextlib import suppress

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from unit.data.dummies import MeanLevel, WordGroups, WordShares

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences

COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
SPARSE = sp.csr_matrix(COUNTS)
ROWS = np.arange(6.0).reshape(3, 2)
ONE = np.ones((2, 1))
GAP = np.array([[1.0, np.nan], [2.0, 3.0]])
SENTENCES = [[0, 1, 4], [2], []]
FRAME = pd.DataFrame({"speed": [1.0, 2.0], "gear": pd.Series([1, 2], dtype=object)})
NAMED = pd.DataFrame(ROWS, columns=["a", "b"])


def fit(known, X):
    """Fit an estimator, and a new one: both refuse X, and stay as they were."""
    for estimator in (known, clone(known)):
        before = dict(vars(estimator))
        with suppress(ValueError, TypeError):
            estimator.fit(X)
        assert vars(estimator) == before
    return estimator.fit(X)


def corpus(X):
    return fit(WordGroups().fit(COUNTS), X)


def panel(X):
    return fit(MeanLevel().fit(ROWS), X)


def gaps(X):
    return fit(MeanLevel(missing=True).fit(ROWS), X)


def sentences(X):
    return fit(WordShares().fit(SENTENCES), X)


def placed(text, dtype):
    return FRAME.assign(place=pd.Series(text, dtype=dtype))


TABLE = r"""
corpus(COUNTS - 1) -> ValueError: Negative values in data passed to X in WordGroups
corpus(sp.csr_matrix(COUNTS - 1)) -> ValueError: Negative values
corpus(COUNTS / 2.0) -> ValueError: X must hold counts...document 0...0.5 of word 2
corpus(SPARSE / 2.0) -> ValueError: X must hold counts
corpus(np.where(COUNTS == 2, np.nan, COUNTS)) -> ValueError: contains NaN
corpus(np.where(COUNTS == 2, np.inf, COUNTS)) -> ValueError: contains infinity
corpus(COUNTS * 1e12) -> ValueError: at most 2147483647 tokens
corpus(COUNTS * 1j) -> ValueError: Complex data not supported
corpus(COUNTS[0]) -> ValueError: Expected 2D array, got 1D array
corpus(COUNTS[0].tolist()) -> ValueError: Expected 2D array, got 1D array
corpus(COUNTS[np.newaxis]) -> ValueError: dim 3
corpus(np.empty((0, 3))) -> ValueError: Found array with 0 sample(s)
corpus(np.empty((3, 0))) -> ValueError: 0 feature(s) (shape=(3, 0)) while a minimum of 1
corpus([]) -> ValueError: Found array with 0 sample(s)...by WordGroups
corpus(()) -> ValueError: Found array with 0 sample(s)
corpus(SegmentedCorpus.from_documents([], 3)) -> ValueError: Found array with 0 sample(s)
corpus(SegmentedCorpus.from_documents([[]], 0)) -> ValueError: Found array with 0 feature(s)
corpus([[], []]) -> ValueError: X has no tokens at all...by WordGroups
corpus([[[]], []]) -> ValueError: no tokens at all
corpus([[[]]]) -> ValueError: no tokens at all
corpus(np.zeros((2, 3))) -> ValueError: no tokens at all
corpus(SegmentedCorpus.from_documents([[[]]], 3)) -> ValueError: no tokens at all
corpus([[1, 2], [3]]) -> ValueError: document 0: must be a list of segments...got [1, 2]
corpus([[[1, 2]], [3]]) -> ValueError: document 1: must be a list of segments...got [3]
corpus([[[1], 2]]) -> ValueError: document 0, segment 1: must be a sequence of word ids
corpus([[[1, -1]]]) -> ValueError: document 0, segment 0: word id -1 is out of range
corpus([[[1.5]]]) -> ValueError: document 0, segment 0: must be a sequence of word ids
corpus([[["a"]]]) -> ValueError: X holds text
corpus([["a b", "c"]]) -> ValueError: X holds text
corpus([["a b", "c"], ["d"]]) -> ValueError: X holds text
corpus([[], ["a b", "c"]]) -> ValueError: X holds text
corpus(["a text"]) -> ValueError: X holds text
corpus([b"a text"]) -> ValueError: X holds text
corpus(("a text", "another")) -> ValueError: X holds text...SegmentVectorizer
corpus(np.array(["a text", "another"])) -> ValueError: X holds text...SegmentVectorizer
corpus(np.array([["a", "b"]])) -> ValueError: X holds text
corpus(np.array([b"a text"])) -> ValueError: X holds text
corpus(np.array(["a text", "another"], dtype=object)) -> ValueError: X holds text
corpus([np.array(["a b", "c"]), np.array(["d"])]) -> ValueError: X holds text
corpus(pd.Series(["a text", "another"])) -> ValueError: X holds text...SegmentVectorizer
corpus(pd.Series(["a text"], dtype="string")) -> ValueError: X holds text
corpus(pd.Series(["a text"], index=[7], dtype="category")) -> ValueError: X holds text
corpus(pd.DataFrame({"a": ["a text", "another"]})) -> ValueError: X holds text
corpus("a text") -> ValueError: X holds text
corpus(None) -> ValueError ~ Expected 2D array|dtype
corpus(SequencePanel.from_sequences([ROWS])) -> TypeError: SequencePanel cannot become an array
corpus(TokenSequences.from_sequences(SENTENCES)) -> TypeError: X.to_bow()
WordGroups().fit(COUNTS).transform(COUNTS[:, :2])
    ValueError: X has 2 features, but WordGroups is expecting 3
WordGroups().fit(COUNTS).transform(SPARSE[:, :2])
    ValueError: X has 2 features, but WordGroups is expecting 3
WordGroups().fit(COUNTS).transform(SegmentedCorpus.from_documents([], 2)) -> ValueError: 0 sample
WordGroups().fit([[[0, 3], []], [], [[1]]]).transform([[[0]], [[1], [2, 4]]])
    ValueError: document 1, segment 1: word id 4 is out of range [0
panel([ONE, np.full((1, 1), np.nan)]) -> ValueError: Input X contains NaN: sequence 1
panel([ONE, np.full((1, 1), np.inf)]) -> ValueError: Input X contains infinity: sequence 1
panel([ONE, np.ones((0, 1))]) -> ValueError: 0 observation(s) (sequence 1)
panel(SequencePanel(np.ones((0, 1)), [0, 0])) -> ValueError: 0 observation(s) (sequence 0)
panel(SequencePanel(np.ones((0, 1)), [0])) -> ValueError: 0 sample(s)
panel([ONE, np.ones((2, 2))]) -> ValueError: sequence 1 has 2 features
panel([np.ones((2, 0))]) -> ValueError: 0 feature(s)
panel([[1.0, 2.0], [3.0]]) -> ValueError: sequence 0: must be a
panel([np.ones(2), [3.0, 4.0]]) -> ValueError: sequence 1: must be a
panel([["a"], ["b", "c"]]) -> ValueError: X must hold numbers, got text
panel(np.ones(3)) -> ValueError ~ Expected 2D array, got 1D array.*the list .X.
panel([1.0, 2.0]) -> ValueError: Expected 2D array, got 1D array
panel(np.ones((2, 2, 2))) -> ValueError: dim 3...MeanLevel...write list(X)
panel(np.ones((2, 2, 2, 2))) -> ValueError: dim 4
panel(np.empty((0, 2))) -> ValueError: 0 sample(s)
panel(np.full((2, 2), np.nan)) -> ValueError: contains NaN
panel(np.array([["a"]])) -> ValueError: X must hold numbers, got text
panel([]) -> ValueError: Found array with 0 sample(s)...by MeanLevel
panel(sp.csr_matrix(np.eye(2))) -> TypeError: dense data is required
panel(TokenSequences.from_sequences(SENTENCES)) -> TypeError: TokenSequences cannot become an array
panel(GAP) -> ValueError: contains NaN
panel([GAP]) -> ValueError: contains NaN
panel(SequencePanel.from_sequences([GAP])) -> ValueError: contains NaN
gaps([GAP, GAP * np.inf]) -> ValueError: infinity: sequence 1
panel(placed(["a", "b"], object))
    ValueError ~ ^X, column 'place', must hold .*the index.*CategoricalEmission
panel(placed(["1", "b"], "category"))
    ValueError ~ ^X, column 'place', must hold .*the index.*CategoricalEmission
panel([FRAME, placed(["a", "b"], "category")]) -> ValueError: sequence 1 of X, column 'place', must
panel([FRAME, placed(["1", "b"], object)]) -> ValueError: sequence 1 of X, column 'place', must
panel(FRAME["speed"]) -> ValueError: write X.to_frame() for one sequence
panel([NAMED, NAMED[["b", "a"]]])
    ValueError: sequence 1 has ['b', 'a'], but sequence 0 has ['a', 'b']
panel([NAMED, ROWS]) -> ValueError: sequence 1 has no names of columns, but sequence 0 has
MeanLevel().fit(NAMED).transform(NAMED[["b", "a"]]) -> ValueError: feature names should match
MeanLevel().fit([NAMED]).transform([NAMED[["b", "a"]]]) -> ValueError: feature names should match
WordGroups().fit(NAMED).transform(NAMED[["b", "a"]]) -> ValueError: feature names should match
MeanLevel().fit(ROWS).transform([np.ones((2, 3))])
    ValueError: X has 3 features, but MeanLevel is expecting 2
MeanLevel().fit([ROWS]).transform(np.ones((2, 3)))
    ValueError: X has 3 features, but MeanLevel is expecting 2
sentences([[0], [1, -1]]) -> ValueError: sentence 1: word id -1
sentences([[0], [1, 0.5]]) -> ValueError: sentence 1: must be a sequence of word ids
sentences([[1], ["b", "c"]]) -> ValueError: sentence 1: must be a sequence of word ids
sentences([[0, 1], [2, 0.5]]) -> ValueError: X must hold word ids...sentence 1 has 0.5
sentences(np.array([[0, 1e300]])) -> ValueError: X must hold word ids...sentence 0 has 1e+300
sentences(np.array([[0, -1]])) -> ValueError: Negative values
sentences(np.array([[0, np.nan]])) -> ValueError: contains NaN
sentences(np.array([0, 1])) -> ValueError: Expected 2D array, got 1D array
sentences(np.zeros((2, 2, 2), int)) -> ValueError: dim 3
sentences(np.empty((0, 2))) -> ValueError: 0 sample(s)
sentences(TokenSequences.from_sequences([], 2)) -> ValueError: 0 sample(s)
sentences([[], []]) -> ValueError: 0 feature(s)
sentences([]) -> ValueError: Found array with 0 sample(s)...by WordShares
sentences(["a sentence"]) -> ValueError: X holds text...TokenVectorizer
sentences([["the", "dog"], ["barks"]]) -> ValueError: X holds text...TokenVectorizer
sentences([[], ["barks"]]) -> ValueError: X holds text
sentences(np.array(["a sentence", "another"])) -> ValueError: X holds text...TokenVectorizer
sentences(pd.Series(["a sentence"])) -> ValueError: X holds text...TokenVectorizer
sentences(sp.csr_matrix(np.eye(2))) -> TypeError: dense data is required
WordShares().fit(np.array([[3, 1], [0, 2]])).transform([[1, 1, 1]])
    ValueError: X has 3 features, but WordShares is expecting 2
WordShares().fit(np.array([[3, 1], [0, 2]])).transform(np.ones((1, 3), int))
    ValueError: X has 3 features, but WordShares is expecting 2
WordShares().fit(np.array([[3, 1]])).transform(TokenSequences.from_sequences([[1, 1, 1]]))
    ValueError: X has 3 features, but WordShares is expecting 2
WordShares().fit(np.array([[3, 1], [0, 2]])).transform([[1], [1, 2]])
    ValueError: differ in length...expecting sentences of 2 words
WordShares().fit(SENTENCES).transform(TokenSequences.from_sequences([[0]], 6))
    ValueError: X has 6 features, but WordShares is expecting 5
WordShares().fit(SENTENCES).transform([[0, 0], [0, 5]])
    ValueError: sentence 1: word id 5 is out of range [0, 5)
WordShares().fit([[4, 0], [1, 2]]).transform([[0, 0], [0, 5]])
    ValueError: sentence 1: word id 5 is out of range [0, 5)
"""
