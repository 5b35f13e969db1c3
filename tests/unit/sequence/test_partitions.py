"""Predictions of fitted models for panels in partitions equal those for the whole panel."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from skdp.data import PartitionedPanel, SequencePanel
from skdp.sequence import HDPHMMLT, FactorialHMM

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
PANEL = SequencePanel.from_sequences([RNG.normal(size=(n, 2)) for n in (4, 1, 7, 3, 5)])
MODELS = {
    "HDPHMMLT": HDPHMMLT(3, max_iter=12, random_state=0),
    "FactorialHMM": FactorialHMM(2, max_iter=12, random_state=0),
}
ARRAYS = ("score_samples", "transform")
LISTS = ("predict", "predict_proba", "filter_proba")


def with_gaps(panel):
    values = np.array(panel.values)
    values[[2, 9]] = np.nan
    return SequencePanel(values, panel.ptr)


@pytest.fixture(scope="module", params=list(MODELS))
def model(request):
    return MODELS[request.param].fit(PANEL)


@pytest.mark.parametrize("n_partitions", [1, 3, 5])
def test_methods(model, n_partitions):
    X = PartitionedPanel.from_panel(PANEL, n_partitions)
    for name in ARRAYS:
        assert_array_equal(getattr(model, name)(X), getattr(model, name)(PANEL))
    for name in LISTS:
        if hasattr(model, name):
            found, expected = getattr(model, name)(X), getattr(model, name)(PANEL)
            assert len(found) == len(expected) == len(PANEL)
            for mine, theirs in zip(found, expected, strict=True):
                assert_array_equal(mine, theirs)


def test_score():
    model = MODELS["HDPHMMLT"].fit(PANEL)
    panel = with_gaps(PANEL)
    for n_partitions in (1, 2, 5):
        X = PartitionedPanel.from_panel(panel, n_partitions)
        assert model.score(X) == pytest.approx(model.score(panel), rel=1e-12)
    nothing = SequencePanel.from_sequences([np.full((2, 2), np.nan)] * 2)
    with pytest.raises(ValueError, match="nothing but missing values"):
        model.score(PartitionedPanel.from_panel(nothing, 2))


def test_a_single_sequence_is_a_panel(model):
    """A partition of one sequence is not taken for an array, whose steps are samples."""
    X = PartitionedPanel.from_panel(PANEL[:1], 1)
    assert model.score_samples(X).shape == (1,)
    assert model.transform(X).shape[0] == 1
    assert isinstance(model.predict(X), list)


def test_other_columns(model):
    X = PartitionedPanel.from_panel(SequencePanel.from_sequences([np.ones((3, 4))]), 1)
    with pytest.raises(ValueError, match=r"4 features, but .* is expecting 2 features"):
        model.predict(X)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        HDPHMMLT().predict(PartitionedPanel.from_panel(PANEL, 2))


@pytest.mark.parametrize("method", ["decode", "forecast", "impute"])
def test_methods_that_take_no_partitions(method):
    model = MODELS["HDPHMMLT"].fit(PANEL)
    arguments = (3,) if method == "forecast" else ()
    with pytest.raises(TypeError, match=r"\.compute\(\)"):
        getattr(model, method)(PartitionedPanel.from_panel(PANEL, 2), *arguments)
