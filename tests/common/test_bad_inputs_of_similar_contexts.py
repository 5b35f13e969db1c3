"""Faults in the use of classifiers by similar contexts are named."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from skdp.context import DistanceDependentCRPClassifier

X = [["a", 1], ["b", 2], ["a", 2], ["b", 1]] * 3
Y = [0, 1, 0, 1] * 3
SQUARE = np.ones((12, 12))
DATES = np.full((12, 12), np.datetime64("2020-01-01"))


def having(value, column=1):
    changed = [list(row) for row in X]
    changed[3][column] = value
    return changed


def returning(value):
    return {"kernel": lambda A, B: np.full((len(A), len(B)), value)}


PRE = {"kernel": "precomputed"}
FAULTS = {
    "NaN": ({}, having(np.nan), Y, ValueError, "column 1, contains NaN"),
    "NaN among numbers": ({}, [[1.0], [np.nan]], [0, 1], ValueError, "contains NaN"),
    "pandas NA": ({}, pd.DataFrame(having(pd.NA)), Y, ValueError, "column 1, contains NaN"),
    "infinity": ({}, having(-np.inf), Y, ValueError, "column 1, contains infinity"),
    "a list": ({}, having([1, 2], 0), Y, TypeError, "another hashable object"),
    "no rows": ({}, np.empty((0, 2)), [], ValueError, "0 sample"),
    "no columns": ({}, np.empty((12, 0)), Y, ValueError, "0 feature"),
    "one dimension": ({}, ["a", "b"], [0, 1], ValueError, "Expected 2D array"),
    "masked": ({}, np.ma.masked_array(SQUARE, SQUARE > 0), Y, ValueError, "masked"),
    "no y": ({}, X, None, ValueError, "requires y to be passed"),
    "short y": ({}, X, Y[:5], ValueError, "inconsistent numbers of samples: X has 12, y has 5"),
    "NaN in y": ({}, X, [np.nan, *Y[1:]], ValueError, "Input y contains NaN"),
    "fractions": ({}, X, np.linspace(0, 1, 12), ValueError, "Unknown label type"),
    "classes": ({"classes": [0, 2]}, X, Y, ValueError, "y has the outcome 1, which is not in clas"),
    "no classes": ({"classes": []}, X, Y, ValueError, "y has the outcome 0, which is not in"),
    "a missing class": ({"classes": [0, 1, np.nan]}, X, Y, ValueError, "classes must hold labels"),
    "mixed classes": ({"classes": [0, 1, None]}, X, Y, ValueError, "another missing value"),
    "named classes": ({"classes": {}}, X, Y, ValueError, "a list of labels, got {}"),
    "a set of classes": ({"classes": {0, 1}}, X, Y, ValueError, "classes must be a list of labels"),
    "a number of classes": ({"classes": np.array(2)}, X, Y, ValueError, "classes must be a list"),
    "other classes": ({"classes": ["a"]}, X, Y, ValueError, "labels of the kind of y's"),
    "None in y": ({}, X, [None, *Y[1:]], ValueError, "y contains NaN, None or another"),
    "NA in y": ({}, X, [pd.NA, *Y[1:]], ValueError, "y contains NaN, None or another"),
    "NaT in y": ({}, X, np.array(["NaT"] * 12, "M8[D]"), ValueError, "y contains NaN, None"),
    "masked y": ({}, X, np.ma.masked_array(Y, Y), ValueError, "y must not be a masked array"),
    "y of matrices": ({}, X, [csr_matrix(SQUARE)] * 12, ValueError, "numbers, got csr_matrix"),
    "a set for y": ({}, X, {0, 1}, ValueError, "y must be a list or an array of labels, got set"),
    "text beside numbers": ({}, X, np.array([0, "1"] * 6, object), ValueError, "got both"),
    "given and masked": (PRE, np.ma.masked_array(SQUARE, SQUARE > 0), Y, ValueError, "masked"),
    "given and dates": (PRE, DATES, Y, ValueError, "X must hold numbers, got dates or times"),
    "given and periods": (PRE, DATES - DATES, Y, ValueError, "numbers, got dates or times"),
    "given as text": (PRE, np.full((12, 12), "a"), Y, ValueError, "X must hold numbers, got text"),
    "given, with None": (PRE, np.full((12, 12), None), Y, ValueError, "Input X contains NaN"),
    "given, with NA": (PRE, np.full((12, 12), pd.NA), Y, ValueError, "Input X contains NaN"),
    "kernel": ({"kernel": "rbf"}, X, Y, ValueError, "'kernel' parameter"),
    "negative kernel": (returning(-0.5), X, Y, ValueError, "up to 1e+120; got -0"),
    "NaN kernel": (returning(np.nan), X, Y, ValueError, "got nan in row 0, column 0"),
    "endless kernel": (returning(np.inf), X, Y, ValueError, "got inf in row 0"),
    "kernel of text": (returning("a"), X, Y, ValueError, "kernel(A, B) must hold real numbers"),
    "kernel's shape": (
        {"kernel": lambda A, B: np.ones(len(A))}, X, Y, ValueError, "must have shape (4, 4)",
    ),
    "not square": (PRE, SQUARE[:, :5], Y, ValueError, "needs a square X"),
    "negative": (PRE, -SQUARE, Y, ValueError, "Negative values in data"),
    "missing": (PRE, SQUARE * np.nan, Y, ValueError, "Input X contains NaN"),
    "decay": ({"decay": -1.0}, X, Y, ValueError, "'decay' parameter"),
    "decays": ({"decay": [1.0, -1.0]}, X, Y, ValueError, "2 of them, one for each column"),
    "endless decay": ({"decay": np.inf}, X, Y, ValueError, "'decay' parameter"),
    "widths": ({"decay": [1.0]}, X, Y, ValueError, "decay must be 'auto', a finite number"),
    "no decay": ({**PRE, "decay": 1.0}, SQUARE, Y, ValueError, "decay is for kernel='product'"),
    "no weights": ({"weights": "auto"}, X, Y, ValueError, "weights are for kernel='overlap'"),
    "weights": ({"kernel": "overlap", "weights": [1, 1]}, X, Y, ValueError, "2 numbers >= 0 with"),
    "decay_prior": ({"decay_prior": (1,)}, X, Y, ValueError, "decay_prior must be two"),
    "concentration": ({"concentration": 0}, X, Y, ValueError, "> 0, got 0. It may also be 'auto'"),
    "a prior": ({"concentration_prior": (0, 1)}, X, Y, ValueError, "concentration_prior must be"),
    "outcome_prior": ({"outcome_prior": 0.0}, X, Y, ValueError, "'outcome_prior' parameter"),
    "its prior": ({"dirichlet_prior": (1, -1)}, X, Y, ValueError, "dirichlet_prior must be"),
    "outcome_model": ({"outcome_model": "one"}, X, Y, ValueError, "'outcome_model' parameter"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name):
    params, rows, y, error, message = FAULTS[name]
    model = DistanceDependentCRPClassifier(**{"max_iter": 4, **params})
    before = dict(vars(model))
    with pytest.raises(error) as caught:
        model.fit(rows, y)
    assert message in str(caught.value)
    assert vars(model) == before


def test_more_than_the_memory():
    model = DistanceDependentCRPClassifier(max_iter=2)
    wide = np.arange(200_000)[:, None] + np.zeros((1, 18), dtype=int)
    with pytest.raises(ValueError, match="200000 distinct contexts of 18 columns"):
        model.fit(wide, np.arange(200_000) % 2)
    with pytest.raises(ValueError, match="more than the memory"):
        model.set_params(kernel=lambda A, B: None).fit(wide[:, :1], np.arange(200_000) % 2)


@pytest.mark.parametrize("outcome_model", ["shared", "dirichlet"])
@pytest.mark.parametrize(
    ("params", "rows", "y"),
    [
        ({}, X, ["only"] * 12),
        ({}, X[:1], ["one"]),
        ({}, [["same"]] * 12, Y),
        ({}, np.arange(24).reshape(12, 2), Y),
        ({"decay": 0.0}, X, Y),
        ({"decay": 1e6, "concentration": 1e-8}, X, Y),
        ({"decay": [0.5] * 9}, np.arange(108).reshape(12, 9) // 5, Y),
        ({"kernel": "overlap", "weights": [0.0, 1.0], "concentration": 1e6}, X, Y),
        ({"kernel": "overlap"}, np.arange(24).reshape(12, 2), Y),
        ({"outcome_prior": 1e-8, "concentration": 1e-8}, X, Y),
        (PRE, np.zeros((12, 12)), Y),
        (PRE, np.triu(SQUARE, 1) * 1e119, Y),
        ({"classes": [*"abc"]}, having(("a", 1)), [*"abab"] * 3),
        ({}, having("none"), Y),
    ],
)
def test_odd_but_legal(params, rows, y, outcome_model):
    model = DistanceDependentCRPClassifier(
        outcome_model=outcome_model, max_iter=6, random_state=0, **params
    )
    proba = model.fit(rows, y).predict_proba(rows)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(rows, y)).all()
    assert np.isfinite(model.trace_["log_joint"]).all()


def test_faults_in_prediction():
    model = DistanceDependentCRPClassifier(max_iter=4).fit(X, Y)
    with pytest.raises(ValueError, match="1 features, but DistanceDependentCRPClassifier is expec"):
        model.predict([["a"]])
    with pytest.raises(ValueError, match="y has the outcome 7, which is not in classes_"):
        model.score_samples(X[:2], [0, 7])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score_samples(X[:2], [0])
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict_proba(having(np.nan))
    model = DistanceDependentCRPClassifier("precomputed", max_iter=4).fit(SQUARE, Y)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(SQUARE[:, :5])
