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


TABLE = r"""
# All classifiers
each(X=HIDDEN, y=[0, 1]) -> X must not be a masked array
each(X=[[0.0], [np.inf], [1.0]]) -> X, column 0, contains infinity
each(X=[['a', 1], ['b', -np.inf], ['a', 1]]) -> column 1, contains infinity
each(X=[['a', {}], ['b', 1], ['a', 2]]) -> TypeError: column 1:...hashable...dict
each(X=csr_matrix(np.eye(3))) -> TypeError ~ [Ss]parse
each(X=np.eye(3) * 1j) -> Complex
each(X=['a', 'b', 'a']) -> Expected 2D array, got 1D array
each(X=np.zeros((3, 2, 2))) -> dim 3
each(X=[['a'], ['a', 'b'], ['b']]) -> rows of equal length
each(X=$, y=[]) for $ in np.empty((0, 2)) | FRAME.iloc[:0] -> 0 sample
each(X=$) for $ in np.empty((3, 0)) | FRAME[[]] -> 0 feature
each(y=['x', 'y']) -> inconsistent numbers of samples
each(y=None) -> requires y to be passed
each(y=[0.5, 1.7, 2.0]) -> Unknown label type
each(y=$) for $ in [0.0, np.nan, 1.0] | pd.array([1, None, 2], 'Int64') -> Input y contains NaN
each(y=np.array([1, 'a', 2], object)) -> y must hold strings or numbers...got both
each(y=np.eye(3)) -> y should be a 1d array
each(y=['x', $, 'y']) for $ in None | pd.NA -> y contains NaN, None or another
each(y=np.array(['NaT'] * 3, 'M8[D]')) -> y contains NaN, None or another
each(y={}) -> y must be a list or an array of labels, got dict
each(y={0, 1}) -> y must be a list or an array of labels, got set
each(y=(label for label in Y)) -> y must be a list...got generator
each(y=[csr_matrix([[0]])] * 3) -> numbers, got csr_matrix
each(y=np.ma.masked_array([0, 1, 0])) -> y must not be a masked array
each(classes=[]) -> lacks ['x', 'y']
each(classes=$) for $ in {} | {'x'} | [['x', 'y']] -> classes must be a list of labels, got $
each(classes=np.array('x')) -> classes must be a list of labels
each(classes=['x', 'y', np.nan]) -> classes must hold...NaN
each(classes=['x', 'y', pd.NA]) -> classes must hold...missing
each(classes=np.array(['x', 'y', None])) -> can be sorted...None
each(classes=['x', 'z']) -> lacks ['y']
each(classes=['x', 'y', 'x']) -> each label once
each(classes=[0, 1]) -> labels of the kind of y's

# Levels, weights and laws of back-off
both(levels=[]) -> levels must hold at least one group
both(levels=[$]) for $ in [0], [] | csr_matrix([[0]]) -> groups of at least one column
both(levels=[[0], [2]]) -> 2 columns, from 0 to 1; got 2
both(levels=[-1]) -> from 0 to 1; got -1
both(levels=[True]) -> levels...True
both(levels=[[0.5]]) -> names or numbers of columns, got 0.5
both(levels=[[0], [1, 0]]) -> column 0 twice
both(X=FRAME, levels=['near', 0]) -> column 'near' twice
both(levels=['near']) -> 'near', but X has no names
both(X=FRAME, levels=['nar']) -> no column 'nar'; it has ['ne
hdp(levels=$) for $ in 'near' | 1 -> 'levels' parameter
collins(levels=$) for $ in 'near' | 1 -> 'levels' parameter
both(levels=np.array(0)) -> list of groups of columns, got array
both(levels=[np.array(0)]) -> groups of at least one column, got array
both(levels=[[np.array(0)]]) -> numbers of columns, got array
both(levels={$}) for $ in 0: [1] | 0, 1 -> list of groups of columns, got {0
both(levels=[b'0']) -> groups of at least one column, got b'0'
both(weight=[0.5, 1, 1]) -> how often an event occurred; got 0.5
both(weight=[1, -1, 1]) -> got -1
both(weight=[$]) for $ in np.nan, 1, 1 | '1', '1', '1' -> integers >= 0
both(weight=[1, 1]) -> 3 integers, one for each row
both(weight=[0, 0, 0]) -> zero for all rows
both(weight=[2 ** 31, 1, 1]) -> sum of at most
hdp($) for $ in discount=[0.5] * 2 | concentration=[1.0] -> 3 numbers, one for each of the ro
hdp(discount=[0.5] * 3, root=False) -> 2 numbers...the levels
hdp(discount=[0.5, 0.5, 1.5]) -> discount must be a number
hdp(levels='auto', discount=[0.5, 0.5]) -> discount must be a number or 'auto'
hdp(levels='auto', concentration=[0.5, 0.5]) -> concentration must be a number or 'auto'
hdp(burn_in=4) -> burn_in must be smaller than max_iter

# Fitted models
hdp(FRAME).predict(FRAME[['far', 'near']]) -> feature names
hdp().predict([['a', '1']]) -> TypeError: 1, holds strings...held numbers
hdp().predict([[0, 1]]) -> TypeError: 0, holds numbers...held strings
collins().predict([['a', []]]) -> TypeError: column 1:...hashable
$().score_samples(X, ['x', 'z', 'x']) for $ in hdp | crp -> y has the label 'z', which is not one
$().score_samples(X, [0, 1, 0]) for $ in hdp | crp -> kind of classes_
$().score_samples(X, ['x']) for $ in hdp | crp -> inconsistent numbers
given().fit(SQUARE, Y).predict(SQUARE[:, :2]) -> 2 features
hdp().fit(np.full((3, 4), np.nan), Y) -> fine
hdp(warm_start=True).set_params(levels=[0], max_iter=6).fit(X, Y) -> levels
hdp(warm_start=True).set_params(max_iter=6).fit(X, ['y', 'x', 'x']) -> same X
hdp(levels='auto', warm_start=True).set_params(max_iter=6).fit(X, ['y', 'x', 'x']) -> same X
crp(warm_start=True).set_params(max_iter=6).fit(X, ['y', 'x', 'x']) -> needs the same X

# Similarities
given().fit(np.ma.masked_array(SQUARE, SQUARE > 0), Y) -> masked
given().fit($, Y) for $ in DATES | DATES - DATES -> X must hold numbers, got dates or times
given().fit(np.full((3, 3), 'a'), Y) -> X must hold numbers, got text
given().fit(np.full((3, 3), $), Y) for $ in None | pd.NA -> Input X contains NaN
given().fit(SQUARE[:, :2], Y) -> needs a square X
given().fit(-SQUARE, Y) -> Negative values in data
given().fit(SQUARE * np.nan, Y) -> Input X contains NaN
given(decay=1.0).fit(SQUARE, Y) -> decay is for kernel='product'
returning(-0.5).fit(X, Y) -> up to 1e+120; got -0
returning(0.5).fit([[0.0], [np.nan], [1.0]], Y) -> X, column 0, contains NaN
returning(np.nan).fit(X, Y) -> got nan in row 0, column 0
returning(np.inf).fit(X, Y) -> got inf in row 0
returning('a').fit(X, Y) -> kernel(A, B) must hold real numbers
similar(lambda A, B: np.ones(len(A))).fit(X, Y) -> must have shape (3, 3)
similar(decay=[1.0, -1.0]).fit(X, Y) -> 2 of them, one for each column
similar(decay=[1.0]).fit(X, Y) -> decay must be 'auto', a finite number
similar(weights='auto').fit(X, Y) -> weights are for kernel='overlap'
similar('overlap', weights=[1, 1]).fit(X, Y) -> 2 numbers >= 0 with
similar(concentration=0).fit(X, Y) -> > 0, got 0. It may also be 'auto'

# Features
features([]).fit(X, Y) -> list of lists
features([$]).fit(X, Y) for $ in 0, 1 | 'a' -> lists of columns
features([[0, 0]]).fit(X, Y) -> each column once
features([[5]]).fit(X, Y) -> X has 2 columns
features([[0], [1], [0]]).fit(X, Y) -> more than once
features(classes=['x']).fit(X, Y) -> lacks
features().fit(X, None) -> requires y
features().fit(X, Y, sample_weight=[0.5, 1, 1]) -> how often
features().fit(X, Y).fit([['a'] * 4] * 3, [np.nan, 0, 1]) -> y contains NaN
features('single').fit_transform(X, Y, sample_weight=[1, 0, 0]) -> ~ cv .* sample_weight
features('single').fit(X, Y, sample_weight=[1, 0, 0]) -> fine
features(cv=ShuffleSplit(2)).fit_transform(X, Y) -> exactly one fold
features(cv=200).fit_transform(X, Y) -> n_splits
features('single').fit(X, Y).get_feature_names_out(['p']) -> input_features
features().fit(FRAME, Y).get_feature_names_out(['p', 'q']) -> input_features
"""
