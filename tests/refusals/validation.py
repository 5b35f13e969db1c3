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
