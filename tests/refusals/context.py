"""Classifiers of outcomes in context: mistakes and their messages."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import ShuffleSplit

from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
    HDPBackoffFeatures,
)

X = [["a", 1], ["b", 1], ["a", 2]]
Y = ["x", "y", "x"]
FRAME = pd.DataFrame({"near": ["a", "b", "a"], "far": [1, 1, 2]})
SIZES = pd.DataFrame({"size": np.sqrt(np.arange(1, 101)) / 10, "kind": np.arange(100) % 3})
SQUARE = np.ones((3, 3))
DATES = np.full((3, 3), np.datetime64("2020-01-01"))
similar = partial(DistanceDependentCRPClassifier, max_iter=4)
given = partial(similar, "precomputed")
features = partial(HDPBackoffFeatures, max_iter=6, cv=2, random_state=0)


def hdp(X=X, y=Y, levels=None, weight=None, **params):
    return HDPBackoffClassifier(levels, **{"max_iter": 4, **params}).fit(X, y, weight)


def collins(X=X, y=Y, levels=None, weight=None, **params):
    return CollinsBackoffClassifier(levels, **params).fit(X, y, weight)


def crp(X=X, y=Y, **params):
    return similar(**params).fit(X, y)


def refused(*fits, **mistake):
    """Raise the error of the last fit, after the others gave the same type and message."""
    *others, last = fits
    for fit in others:
        with pytest.raises((TypeError, ValueError)) as raised:
            fit(**mistake)
        name = type(fit()).__name__
        message = re.escape(str(raised.value)).replace(name, r"\w+")
        with pytest.raises(raised.type, match=f"^{message}$"):
            last(**mistake)
    last(**mistake)


both = partial(refused, hdp, collins)
each = partial(refused, hdp, collins, crp)


def returning(value):
    """Return a model with a kernel that has one value."""
    return similar(lambda A, B: np.full((len(A), len(B)), value))
