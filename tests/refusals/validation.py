"""What estimators get as X: counts and documents, panels and sentences that they refuse."""

from contextlib import suppress

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from unit.data.dummies import MeanLevel, WordGroups, WordShares

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
corpus(COUNTS - 1) -> Negative values in data passed to X in WordGroups
corpus(sp.csr_matrix(COUNTS - 1)) -> Negative values
corpus($) for $ in COUNTS / 2.0 | SPARSE / 2.0 -> X must hold counts...document 0...0.5 of word 2
corpus(np.where(COUNTS == 2, np.nan, COUNTS)) -> contains NaN
corpus(np.where(COUNTS == 2, np.inf, COUNTS)) -> contains infinity
corpus(COUNTS * 1e12) -> at most 2147483647 tokens
corpus(COUNTS * 1j) -> Complex data not supported
corpus($) for $ in COUNTS[0] | COUNTS[0].tolist() -> Expected 2D array, got 1D array
corpus(COUNTS[np.newaxis]) -> dim 3
corpus($) for $ in np.empty((0, 3)) | [] | () | SegmentedCorpus.from_documents([], 3)
    Found array with 0 sample(s)...by WordGroups
corpus(np.empty((3, 0))) -> 0 feature(s) (shape=(3, 0)) while a minimum of 1
corpus(SegmentedCorpus.from_documents([[]], 0)) -> Found array with 0 feature(s)
corpus($) for $ in [[], []] | [[[]], []] | [[[]]] | np.zeros((2, 3)) |
        SegmentedCorpus.from_documents([[[]]], 3) -> X has no tokens at all...by WordGroups
corpus([[1, 2], [3]]) -> document 0: must be a list of segments...got [1, 2]
corpus([[[1, 2]], [3]]) -> document 1: must be a list of segments...got [3]
corpus([[[1], 2]]) -> document 0, segment 1: must be a sequence of word ids
corpus([[[1, -1]]]) -> document 0, segment 0: word id -1 is out of range
corpus([[[1.5]]]) -> document 0, segment 0: must be a sequence of word ids
corpus($) for $ in [[["a"]]] | [["a b", "c"]] | [["a b", "c"], ["d"]] | [[], ["a b", "c"]] |
        ["a text"] | [b"a text"] | np.array([["a", "b"]]) | np.array([b"a text"]) |
        np.array(["a text", "another"], dtype=object) | [np.array(["a b", "c"]), np.array(["d"])] |
        pd.Series(["a text"], dtype="string") | pd.Series(["a text"], index=[7], dtype="category") |
        pd.DataFrame({"a": ["a text", "another"]}) | "a text" | ("a text", "another") |
        np.array(["a text", "another"]) | pd.Series(["a text", "another"])
    X holds text...SegmentVectorizer
corpus(None) -> ~ Expected 2D array|dtype
corpus(SequencePanel.from_sequences([ROWS])) -> TypeError: SequencePanel cannot become an array
corpus(TokenSequences.from_sequences(SENTENCES)) -> TypeError: X.to_bow()
WordGroups().fit(COUNTS).transform(COUNTS[:, :2]) -> X has 2 features, but WordGroups is expecting 3
WordGroups().fit(COUNTS).transform(SPARSE[:, :2]) -> X has 2 features, but WordGroups is expecting 3
WordGroups().fit(COUNTS).transform(SegmentedCorpus.from_documents([], 2)) -> 0 sample
WordGroups().fit([[[0, 3], []], [], [[1]]]).transform([[[0]], [[1], [2, 4]]])
    document 1, segment 1: word id 4 is out of range [0
panel([ONE, np.full((1, 1), np.nan)]) -> Input X contains NaN: sequence 1
panel([ONE, np.full((1, 1), np.inf)]) -> Input X contains infinity: sequence 1
panel([ONE, np.ones((0, 1))]) -> 0 observation(s) (sequence 1)
panel(SequencePanel(np.ones((0, 1)), [0, 0])) -> 0 observation(s) (sequence 0)
panel($) for $ in SequencePanel(np.ones((0, 1)), [0]) | np.empty((0, 2)) -> 0 sample(s)
panel([ONE, np.ones((2, 2))]) -> sequence 1 has 2 features
panel([np.ones((2, 0))]) -> 0 feature(s)
panel([[1.0, 2.0], [3.0]]) -> sequence 0: must be a
panel([np.ones(2), [3.0, 4.0]]) -> sequence 1: must be a
panel($) for $ in [["a"], ["b", "c"]] | np.array([["a"]]) -> X must hold numbers, got text
panel(np.ones(3)) -> ~ Expected 2D array, got 1D array.*the list .X.
panel([1.0, 2.0]) -> Expected 2D array, got 1D array
panel(np.ones((2, 2, 2))) -> dim 3...MeanLevel...write list(X)
panel(np.ones((2, 2, 2, 2))) -> dim 4
panel($) for $ in np.full((2, 2), np.nan) | GAP | [GAP] | SequencePanel.from_sequences([GAP])
    contains NaN
panel([]) -> Found array with 0 sample(s)...by MeanLevel
panel(sp.csr_matrix(np.eye(2))) -> TypeError: dense data is required
panel(TokenSequences.from_sequences(SENTENCES)) -> TypeError: TokenSequences cannot become an array
gaps([GAP, GAP * np.inf]) -> infinity: sequence 1
panel(placed($)) for $ in ["a", "b"], object | ["1", "b"], "category"
    ~ ^X, column 'place', must hold .*the index.*CategoricalEmission
panel([FRAME, placed(["a", "b"], "category")]) -> sequence 1 of X, column 'place', must
panel([FRAME, placed(["1", "b"], object)]) -> sequence 1 of X, column 'place', must
panel(FRAME["speed"]) -> write X.to_frame() for one sequence
panel([NAMED, NAMED[["b", "a"]]]) -> sequence 1 has ['b', 'a'], but sequence 0 has ['a', 'b']
panel([NAMED, ROWS]) -> sequence 1 has no names of columns, but sequence 0 has
MeanLevel().fit(NAMED).transform(NAMED[["b", "a"]]) -> feature names should match
MeanLevel().fit([NAMED]).transform([NAMED[["b", "a"]]]) -> feature names should match
WordGroups().fit(NAMED).transform(NAMED[["b", "a"]]) -> feature names should match
MeanLevel().fit(ROWS).transform([np.ones((2, 3))]) -> X has 3 features, but MeanLevel is expecting 2
MeanLevel().fit([ROWS]).transform(np.ones((2, 3))) -> X has 3 features, but MeanLevel is expecting 2
sentences([[0], [1, -1]]) -> sentence 1: word id -1
sentences([[0], [1, 0.5]]) -> sentence 1: must be a sequence of word ids
sentences([[1], ["b", "c"]]) -> sentence 1: must be a sequence of word ids
sentences([[0, 1], [2, 0.5]]) -> X must hold word ids...sentence 1 has 0.5
sentences(np.array([[0, 1e300]])) -> X must hold word ids...sentence 0 has 1e+300
sentences(np.array([[0, -1]])) -> Negative values
sentences(np.array([[0, np.nan]])) -> contains NaN
sentences(np.array([0, 1])) -> Expected 2D array, got 1D array
sentences(np.zeros((2, 2, 2), int)) -> dim 3
sentences($) for $ in np.empty((0, 2)) | TokenSequences.from_sequences([], 2) | []
    Found array with 0 sample(s)...by WordShares
sentences([[], []]) -> 0 feature(s)
sentences($) for $ in ["a sentence"] | [["the", "dog"], ["barks"]] | [[], ["barks"]] |
        np.array(["a sentence", "another"]) | pd.Series(["a sentence"])
    X holds text...TokenVectorizer
sentences(sp.csr_matrix(np.eye(2))) -> TypeError: dense data is required
WordShares().fit(np.array([[3, 1], [0, 2]])).transform($) for $ in [[1, 1, 1]] |
        np.ones((1, 3), int) -> X has 3 features, but WordShares is expecting 2
WordShares().fit(np.array([[3, 1]])).transform(TokenSequences.from_sequences([[1, 1, 1]]))
    X has 3 features, but WordShares is expecting 2
WordShares().fit(np.array([[3, 1], [0, 2]])).transform([[1], [1, 2]])
    differ in length...expecting sentences of 2 words
WordShares().fit(SENTENCES).transform(TokenSequences.from_sequences([[0]], 6))
    X has 6 features, but WordShares is expecting 5
WordShares().fit($).transform([[0, 0], [0, 5]]) for $ in SENTENCES | [[4, 0], [1, 2]]
    sentence 1: word id 5 is out of range [0, 5)
"""
