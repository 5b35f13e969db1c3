"""Names, missing values, weights and folds of HDPBackoffFeatures."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from skdp.context import HDPBackoffFeatures

FEW = {"max_iter": 6, "cv": 3, "random_state": 0}


def make_rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 2))
    y = (X[:, 0] + X[:, 1] + (rng.random(n) < 0.2)) % 3
    return X, y


def test_names_and_output():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=["maker", "model"])
    features = HDPBackoffFeatures([["model"], ["maker", "model"]], **FEW)
    features.set_output(transform="pandas")
    out = features.fit_transform(frame, np.array(["x", "y", "z"])[y])
    assert out.columns.tolist() == [
        "model_x", "model_y", "model_z", "maker>model_x", "maker>model_y", "maker>model_z"
    ]  # fmt: skip
    assert features.chains_ == [["model"], ["maker", "model"]]
    assert_allclose(np.exp(out.to_numpy()).reshape(120, 2, 3).sum(axis=2), 1.0)
    plain = HDPBackoffFeatures("single", **FEW).fit(X, y)
    assert plain.get_feature_names_out()[0] == "x0_0"
    assert plain.get_feature_names_out(["p", "q"])[-1] == "q_2"


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_values_are_a_category(missing):
    words = np.array([["a", "p"], ["b", "p"], ["a", "q"], [missing, "q"]] * 15, dtype=object)
    y = [0, 1, 0, 2] * 15
    features = HDPBackoffFeatures("single", **FEW).fit(words, y)
    found = np.exp(features.transform([[missing, "p"], ["c", "p"], ["a", "p"]]))
    assert found[0, :3].argmax() == 2
    assert found[1, :3].max() < 0.7  # not seen: the probabilities of all rows
    assert found[2, :3].argmax() == 0
    never = HDPBackoffFeatures("single", **FEW).fit(words[:3].tolist() * 9, [0, 1, 0] * 9)
    assert_array_equal(
        never.transform([[missing, missing]]), never.transform([["zz", "zz"]])
    )  # fmt: skip
    numbers = np.array([[1.0, 2.0], [2.0, 2.0], [1.0, np.nan], [np.nan, np.nan]] * 15)
    assert np.isfinite(HDPBackoffFeatures(**FEW).fit_transform(numbers, y)).all()


def test_weights_are_repetitions():
    X, y = make_rows(60)
    counts = np.random.default_rng(1).integers(0, 3, 60)
    counts[:3] = 1
    features = HDPBackoffFeatures(**FEW).fit(X, y, sample_weight=counts)
    repeated = HDPBackoffFeatures(classes=[0, 1, 2], **FEW)
    repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_array_equal(features.transform(X), repeated.transform(X))
    out = HDPBackoffFeatures(**FEW).fit_transform(X, y, sample_weight=counts)
    assert np.isfinite(out).all()  # rows without weight have features, too


def test_order_of_rows():
    X, y = make_rows()
    order = np.random.default_rng(1).permutation(len(y))
    features = HDPBackoffFeatures(**FEW).fit(X, y)
    again = HDPBackoffFeatures(**FEW, n_jobs=2).fit(X[order], y[order])
    assert_array_equal(features.transform(X), again.transform(X))


def test_pipeline_beats_a_linear_model_on_an_interaction():
    X, y = make_rows(600)
    X_test, y_test = make_rows(600, seed=1)
    model = make_pipeline(HDPBackoffFeatures(**FEW), LogisticRegression())
    search = GridSearchCV(model, {"logisticregression__C": [0.01, 0.1]}, cv=2)
    assert search.fit(X, y).score(X_test, y_test) > 0.7
    unseen = np.array([[99, 0], [0, 99], [99, 99]])
    assert np.isfinite(search.predict_proba(unseen)).all()


def test_folds():
    X, y = make_rows()
    y[:2] = [7, 8]  # classes with one member: no warning, no error
    out = HDPBackoffFeatures(**FEW).fit_transform(X, y)
    assert out.shape == (120, 4 * 5)
    given = HDPBackoffFeatures(max_iter=6, cv=KFold(4), random_state=0)
    assert np.isfinite(given.fit_transform(X, y)).all()
