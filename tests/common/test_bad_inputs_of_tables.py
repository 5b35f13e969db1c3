"""Tables that hold no numbers are named by every estimator that takes numbers or tokens."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from registry import CASES
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.utils import get_tags

from skdp.mixture import DPMixture, IBPLatentFeatures

TABLE = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]])
DAYS = np.full((4, 2), np.datetime64("2020-01-01"))
MASKED = np.ma.masked_array(TABLE, np.arange(8).reshape(4, 2) == 3)


def having(value):
    changed = TABLE.astype(object)
    changed[1, 1] = value
    return changed


NO_NUMBERS = {
    "a masked array": MASKED,
    "masked rows": list(MASKED),
    "a mask in a cell": having(np.ma.masked),
    "sparse matrices in a list": [csr_matrix(TABLE)],
    "sparse rows in a list": [csr_array(row[None]) for row in TABLE],
    "sparse matrices in lists": [[csr_matrix(TABLE)], [csr_matrix(TABLE)]],
    "dates": DAYS,
    "periods": DAYS - DAYS,
    "a list of dates": DAYS.tolist(),
    "a frame of dates": pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 4)}),
    "a frame of periods": pd.DataFrame({"day": pd.period_range("2020", periods=4)}),
    "a date in a cell": having(datetime.date(2020, 1, 1)),
    "a complex number in a cell": having(1j),
    "an array in a cell": having(np.ones(2)),
    "a list in a cell": having([1, 2]),
    "a mapping in a cell": having({}),
    "a word in a cell": having("two"),
    "an integer beyond doubles": having(10**400),
    "complex": TABLE * 1j,
    "a set": {1, 2},
    "rows that are mappings": [{"a": 1}, {"a": 2}],
    "a column of text": pd.DataFrame({"a": list("abab"), "b": 1.0}),
    "a column of masks": pd.DataFrame({"a": [np.ma.masked] * 4, "b": 1.0}),
    "two columns of a name": pd.DataFrame(TABLE, columns=["a", "a"]),
    "an array next to a number": [TABLE, 3],
    "an array next to nothing": [TABLE, None],
}
KINDS = ("table", "counts", "rows", "groups", "sentences", "documents", "strings")
BY_TYPE = {type(case.estimator): case for case in CASES.values() if case.kind in KINDS}
MODELS = [case for case in BY_TYPE.values() if len(case.data) == 1] + [CASES["CategoricalEmission"]]
WITHOUT_GAPS = [
    case
    for case in MODELS
    if not get_tags(case.estimator).input_tags.allow_nan
    and "skdp.language" not in type(case.estimator).__module__
]


def of_models(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: type(case.estimator).__name__)


OF_NUMPY = r"float\(\) argument|setting an array|inhomogeneous|unsized|truth value|bytes-like"


@of_models(MODELS)
def test_no_numbers(case):
    for kind, X in NO_NUMBERS.items():
        model = clone(case.estimator)
        before = dict(vars(model))
        with pytest.raises((TypeError, ValueError)) as raised:
            model.fit(X)
        message = f"{kind}: {raised.value}"
        assert raised.type.__module__ in ("builtins", "sklearn.utils._param_validation"), message
        names = r": .*(X|sequence \d|document \d|segment \d|text \d|[Ss]parse|Complex)"
        assert re.search(names, message, re.DOTALL), message
        assert not re.search(OF_NUMPY, message), message
        assert vars(model) == before, message


@of_models(WITHOUT_GAPS)
def test_missing_values(case):
    """One message for all of them, in all containers."""
    for missing in (None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")):
        for X in (having(missing), having(missing).tolist(), pd.DataFrame(having(missing))):
            with pytest.raises(ValueError, match="Input X contains NaN") as raised:
                clone(case.estimator).fit(X)
            assert "HistGradientBoosting" not in str(raised.value)
            assert re.search("takes no missing values: .*", str(raised.value))


@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT])
def test_missing_values_where_they_are_taken(missing):
    expected = IBPLatentFeatures(max_iter=2, random_state=0).fit(having(np.nan))
    for X in (having(missing), having(missing).tolist(), pd.DataFrame(having(missing))):
        model = IBPLatentFeatures(max_iter=2, random_state=0).fit(X)
        np.testing.assert_array_equal(model.impute(X), expected.impute(having(np.nan)))


def test_objects_that_are_numbers():
    expected = DPMixture(max_iter=2, random_state=0).fit(TABLE)
    cells = [[np.array(value) for value in row] for row in TABLE]
    for X in (cells, having(Fraction(0)), having(np.float32(0.0)), pd.DataFrame(having(0))):
        model = DPMixture(max_iter=2, random_state=0).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
