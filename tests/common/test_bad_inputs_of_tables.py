"""Tables that hold no numbers are named by every estimator that takes tables of numbers."""

import datetime
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix

from skdp.grammar import HDPPCFG
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    NestedPitmanYorLM,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import HDPHMMLT, FactorialHMM
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SectionedTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)

TABLE = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]])
DAYS = np.full((4, 2), np.datetime64("2020-01-01"))
MASK = np.array([[False, False], [False, True], [False, False], [False, False]])


def having(value):
    changed = TABLE.astype(object)
    changed[1, 1] = value
    return changed


NO_NUMBERS = {
    "a masked array": np.ma.masked_array(TABLE, MASK),
    "masked rows": list(np.ma.masked_array(TABLE, MASK)),
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
    "an array beside a number": [TABLE, 3],
    "an array beside nothing": [TABLE, None],
}

MODELS = [
    DPMixture(),
    PitmanYorMixture(emission="poisson"),
    HDPMixture(),
    IBPLatentFeatures(),
    HDPHMMLT(2),
    HDPHMMLT(2, emission="categorical"),
    FactorialHMM(2),
    GibbsLDA(2),
    HDPTopicModel(),
    SegmentedTopicModel(2),
    SequentialLDA(2),
    TopicSegmenter(2),
    SectionedTopicModel(2),
    AdaptiveTopicModel(2),
    LatentDirichletCoClustering(2),
    HDPPCFG(2),
    HierarchicalPitmanYorLM(2),
    KneserNeyLM(2),
    NestedPitmanYorLM(),
    CollocationPitmanYorLM(),
]
TAKES_NAN = (
    DPMixture, PitmanYorMixture, HDPMixture, IBPLatentFeatures, HDPHMMLT, FactorialHMM,
)  # fmt: skip
"""The models of counts of words do not."""
TAKES_TEXT = (
    HierarchicalPitmanYorLM, KneserNeyLM, NestedPitmanYorLM, CollocationPitmanYorLM,
)  # fmt: skip

of_all_models = pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model))

_OF_NUMPY = r"float\(\) argument|setting an array|inhomogeneous|unsized|truth value|bytes-like"


@of_all_models
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_no_numbers(model, kind):
    before = dict(vars(model))
    with pytest.raises((TypeError, ValueError)) as raised:
        model.fit(NO_NUMBERS[kind])
    message = str(raised.value)
    assert type(raised.value).__module__ in ("builtins", "sklearn.utils._param_validation")
    assert re.search(r"X|sequence \d|document \d|segment \d|text \d|[Ss]parse|Complex", message), (
        message
    )
    assert not re.search(_OF_NUMPY, message), message
    assert vars(model) == before


@of_all_models
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")])
def test_missing_values(model, missing):
    """One message for all of them, in all containers."""
    if isinstance(model, TAKES_NAN + TAKES_TEXT):
        return
    for X in (having(missing), having(missing).tolist(), pd.DataFrame(having(missing))):
        with pytest.raises(ValueError, match="Input X contains NaN") as raised:
            model.fit(X)
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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [HDPHMMLT(2, max_iter=2), FactorialHMM(2, max_iter=2)])
def test_one_step_of_several_columns(model):
    """A sequence of numbers in a list of lists is one step."""
    numbers = [[1, 2, 3]]
    for X in (numbers, tuple(numbers), [(1, 2, 3)]):
        with pytest.warns(UserWarning, match=r"1 step with 3 columns.*reshape\(X, \(-1, 1\)\)"):
            model.fit(X)
    for X in (np.reshape(numbers, (-1, 1)), np.array(numbers), [np.array(numbers)], [[1]]):
        model.fit(X)


@pytest.mark.parametrize("model", [DPMixture, PitmanYorMixture, IBPLatentFeatures])
def test_integers_beyond_doubles(model):
    with pytest.raises(ValueError, match="concentration"):
        model(concentration=10**400).fit(TABLE)


@pytest.mark.parametrize(
    "model",
    [PitmanYorMixture(discount=Fraction(1, 2)), IBPLatentFeatures(noise_variance=Fraction(1, 2))],
)
def test_fractions_that_numpy_does_not_have(model):
    with pytest.raises(ValueError, match=r"'(discount|noise_variance)' parameter"):
        model.fit(TABLE)
