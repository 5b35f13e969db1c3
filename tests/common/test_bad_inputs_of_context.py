"""Faults in the use of classifiers of outcomes in context are named."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from skdp.context import CollinsBackoffClassifier, HDPBackoffClassifier

HIDDEN = np.ma.masked_array([[1, 2], [3, 4]], [[True, False], [False, False]])
X = [["a", 1], ["b", 1], ["a", 2]]
Y = ["x", "y", "x"]


class Fault(NamedTuple):
    """A mistake of a user: the call, the type of the error and a pattern of its message."""

    what: str
    call: Callable[[], Any]
    error: type[Exception]
    message: str


def faults(*rows):
    """Parametrize a test with rows of what somebody did."""
    ids = [f"{i}-{row[0]}" for i, row in enumerate(rows)]
    return pytest.mark.parametrize("fault", [Fault(*row) for row in rows], ids=ids)


def check_fault(fault):
    with pytest.raises(fault.error) as raised:
        fault.call()
    assert re.search(fault.message, str(raised.value), re.DOTALL), str(raised.value)


FRAME = pd.DataFrame({"near": ["a", "b", "a"], "far": [1, 1, 2]})


def hdp(X=X, y=Y, levels=None, weight=None, **params):
    return HDPBackoffClassifier(levels, **{"max_iter": 4, **params}).fit(X, y, weight)


def collins(X=X, y=Y, levels=None, weight=None, **params):
    return CollinsBackoffClassifier(levels, **params).fit(X, y, weight)


BOTH = [
    ("masked", {"X": HIDDEN, "y": [0, 1]}, ValueError, "X must not be a masked array"),
    ("NaN", {"X": [[0.0], [np.nan], [1.0]]}, ValueError, "X, column 0, contains NaN"),
    ("infinity", {"X": [[0.0], [np.inf], [1.0]]}, ValueError, "X, column 0, contains infinity"),
    ("NaN", {"X": [["a", 1], ["b", np.nan], ["a", 1]]}, ValueError, "column 1, contains NaN"),
    ("infinity", {"X": [["a", 1], ["b", -np.inf], ["a", 1]]}, ValueError, "contains infinity"),
    (
        "a missing value",
        {"X": pd.DataFrame({"near": pd.array([1, None, 2], "Int64")})},
        ValueError,
        "column 'near', contains NaN",
    ),
    (
        "a missing date",
        {"X": np.array([["2020-01-01"], ["NaT"], ["2020-01-01"]], dtype="M8[D]")},
        ValueError,
        "column 0, contains NaN",
    ),
    ("unhashable", {"X": [["a", {}], ["b", 1], ["a", 2]]}, TypeError, r"column 1:.*hashable.*dict"),
    ("sparse", {"X": csr_matrix(np.eye(3))}, TypeError, "[Ss]parse"),
    ("complex", {"X": np.eye(3) * 1j}, ValueError, "Complex"),
    ("one dimension", {"X": ["a", "b", "a"]}, ValueError, "2D array, got 1D array"),
    ("three dimensions", {"X": np.zeros((3, 2, 2))}, ValueError, "dim 3"),
    ("rows that differ", {"X": [["a"], ["a", "b"], ["b"]]}, ValueError, "rows of equal length"),
    ("no rows", {"X": np.empty((0, 2)), "y": []}, ValueError, "0 sample"),
    ("no columns", {"X": np.empty((3, 0))}, ValueError, "0 feature"),
    ("no rows", {"X": FRAME.iloc[:0], "y": []}, ValueError, "0 sample"),
    ("no columns", {"X": FRAME[[]]}, ValueError, "0 feature"),
    ("lengths", {"y": ["x", "y"]}, ValueError, "inconsistent numbers of samples"),
    ("no outcomes", {"y": None}, ValueError, "requires y"),
    ("numbers", {"y": [0.5, 1.7, 2.0]}, ValueError, "Unknown label type"),
    ("NaN in y", {"y": [0.0, np.nan, 1.0]}, ValueError, "y contains NaN"),
    ("mixed y", {"y": np.array([1, "a", 2], object)}, ValueError, "y must hold strings or numbers"),
    ("columns of y", {"y": np.eye(3)}, ValueError, "y should be a 1d array"),
    # Levels
    ("no levels", {"levels": []}, ValueError, "levels must hold at least one group"),
    ("an empty level", {"levels": [[0], []]}, ValueError, "groups of at least one column"),
    ("no such column", {"levels": [[0], [2]]}, ValueError, "2 columns, from 0 to 1; got 2"),
    ("no such column", {"levels": [-1]}, ValueError, "from 0 to 1; got -1"),
    ("a truth value", {"levels": [True]}, ValueError, "levels.*True"),
    ("a fraction", {"levels": [[0.5]]}, ValueError, "names or numbers of columns, got 0.5"),
    ("twice", {"levels": [[0], [1, 0]]}, ValueError, "column 0 twice"),
    ("twice", {"X": FRAME, "levels": ["near", 0]}, ValueError, "column 'near' twice"),
    ("a name", {"levels": ["near"]}, ValueError, "'near', but X has no names"),
    ("a wrong name", {"X": FRAME, "levels": ["nar"]}, ValueError, r"no column 'nar'; it has \['ne"),
    ("a string", {"levels": "near"}, ValueError, "levels"),
    ("a number", {"levels": 1}, ValueError, "levels"),
    ("a number", {"levels": np.array(0)}, ValueError, "list of groups of columns, got array"),
    ("a number", {"levels": [np.array(0)]}, ValueError, "groups of at least one column, got array"),
    ("a number", {"levels": [[np.array(0)]]}, ValueError, "numbers of columns, got array"),
    ("a dict", {"levels": {0: [1]}}, ValueError, "list of groups of columns, got {0"),
    ("a set", {"levels": {0, 1}}, ValueError, "list of groups of columns, got {0"),
    ("bytes", {"levels": [b"0"]}, ValueError, "groups of at least one column, got b'0'"),
    ("a matrix", {"levels": [csr_matrix([[0]])]}, ValueError, "groups of at least one column"),
    # Classes
    ("a dict", {"classes": {}}, ValueError, "classes must be a list of labels, got {}"),
    ("a set", {"classes": {"x", "y"}}, ValueError, "classes must be a list of labels, got {"),
    ("a label", {"classes": np.array("x")}, ValueError, "classes must be a list of labels"),
    ("a missing class", {"classes": ["x", "y", np.nan]}, ValueError, "classes must hold.*NaN"),
    ("a missing class", {"classes": ["x", "y", pd.NA]}, ValueError, "classes must hold.*missing"),
    ("None in y", {"y": ["x", None, "y"]}, ValueError, "y contains NaN, None or another"),
    ("NA in y", {"y": ["x", pd.NA, "y"]}, ValueError, "y contains NaN, None or another"),
    ("NA in y", {"y": pd.array([1, None, 2], "Int64")}, ValueError, "y contains NaN"),
    ("a dict for y", {"y": {}}, ValueError, "y must be a list or an array of labels, got dict"),
    ("y once", {"y": (label for label in Y)}, ValueError, "y must be a list.*got generator"),
    ("y of matrices", {"y": [csr_matrix([[0]])] * 3}, ValueError, "numbers, got csr_matrix"),
    ("masked y", {"y": np.ma.masked_array([0, 1, 0])}, ValueError, "y must not be a masked array"),
    ("a class is missing", {"classes": ["x", "z"]}, ValueError, r"lacks \['y'\]"),
    ("a class twice", {"classes": ["x", "y", "x"]}, ValueError, "each label once"),
    ("other classes", {"classes": [0, 1]}, ValueError, "labels of the kind of y's"),
    ("a table of classes", {"classes": [["x", "y"]]}, ValueError, "a list of labels"),
    ("mixed classes", {"classes": np.array(["x", "y", None])}, ValueError, "can be sorted.*None"),
    # Weights
    ("fractions", {"weight": [0.5, 1, 1]}, ValueError, "how often an event occurred; got 0.5"),
    ("negative", {"weight": [1, -1, 1]}, ValueError, "got -1"),
    ("NaN", {"weight": [np.nan, 1, 1]}, ValueError, "integers >= 0"),
    ("text", {"weight": ["1", "1", "1"]}, ValueError, "integers >= 0"),
    ("too few", {"weight": [1, 1]}, ValueError, "3 integers, one for each row"),
    ("none", {"weight": [0, 0, 0]}, ValueError, "zero for all rows"),
    ("too many", {"weight": [2**31, 1, 1]}, ValueError, "sum of at most"),
    ("no truth value", {"root": "yes"}, ValueError, "root.*yes"),
]


@pytest.mark.parametrize("fit", [hdp, collins])
@pytest.mark.parametrize(("what", "given", "error", "message"), BOTH)
def test_faults_of_fits(fit, what, given, error, message):
    check_fault(Fault(what, lambda: fit(**given), error, message))


@faults(
    ("a discount of 1", lambda: hdp(discount=1.0), ValueError, "discount.*1.0"),
    ("discounts", lambda: hdp(discount=[0.5] * 2), ValueError, "3 numbers, one for each of the ro"),
    ("discounts", lambda: hdp(discount=[0.5] * 3, root=False), ValueError, "2 numbers.*the levels"),
    ("discounts", lambda: hdp(discount=[0.5, 0.5, 1.5]), ValueError, "discount must be a number"),
    ("no concentration", lambda: hdp(concentration=0), ValueError, "concentration"),
    ("concentrations", lambda: hdp(concentration=[1.0]), ValueError, "3 numbers"),
    ("scope", lambda: hdp(concentration_scope="row"), ValueError, "concentration_scope.*row"),
    ("priors", lambda: hdp(discount_prior=(1.0,)), ValueError, "discount_prior must be two"),
    ("priors", lambda: hdp(concentration_prior=(0, 1)), ValueError, "concentration_prior must be"),
    ("all burn-in", lambda: hdp(burn_in=4), ValueError, "burn_in must be smaller than max_iter"),
    ("no gamma", lambda: collins(gamma=0.0), ValueError, "gamma.*0.0"),
    ("a huge gamma", lambda: collins(gamma=10**400), ValueError, "gamma.*1000"),
    # Fitted models
    ("no model", lambda: CollinsBackoffClassifier().predict(X), NotFittedError, "Collins"),
    ("no model", lambda: HDPBackoffClassifier().explain(X), NotFittedError, "HDPBackoff"),
    ("too narrow", lambda: hdp().predict([["a"]]), ValueError, "1 features.*expecting 2"),
    ("names", lambda: hdp(FRAME).predict(FRAME[["far", "near"]]), ValueError, "feature names"),
    ("NaN", lambda: collins().predict([["a", np.nan]]), ValueError, "column 1, contains NaN"),
    ("strings", lambda: hdp().predict([["a", "1"]]), TypeError, "1, holds strings.*held numbers"),
    ("numbers", lambda: hdp().predict([[0, 1]]), TypeError, "0, holds numbers.*held strings"),
    ("unhashable", lambda: collins().predict([["a", []]]), TypeError, "column 1:.*hashable"),
    ("a new label", lambda: hdp().score_samples(X, ["x", "z", "x"]), ValueError, "label 'z'"),
    ("other labels", lambda: hdp().score_samples(X, [0, 1, 0]), ValueError, "kind of classes_"),
    ("lengths", lambda: hdp().score_samples(X, ["x"]), ValueError, "inconsistent numbers"),
)  # fmt: skip
def test_faults(fault):
    check_fault(fault)


@pytest.mark.parametrize("gamma", [2**31, 2**63, 2**70, 1e300])
def test_any_number_is_a_gamma(gamma):
    shares = collins(gamma=gamma).predict_proba(X)
    np.testing.assert_allclose(shares, 0.5, atol=1e-6)  # every context is diluted
