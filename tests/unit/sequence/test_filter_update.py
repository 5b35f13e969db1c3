"""The filter of a fitted model one observation at a time, against that of whole sequences."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.emissions import AutoregressiveEmission, IndependentEmissions, RegressionEmission
from skdp.sequence import HDPHMMLT

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
STATES = np.tile(np.repeat([0, 1], 15), 3)
X = np.column_stack([RNG.normal(3.0 * STATES), RNG.normal(size=len(STATES))])
COUNTS = RNG.poisson(1.0 + 8.0 * STATES).reshape(-1, 1).astype(float)
GAPS = X.copy()
GAPS[[2, 20, 20], [0, 0, 1]] = np.nan
CHOICES = np.column_stack([RNG.random(len(X)) < 0.7, X])
CASES = {
    "plain": ({}, X),
    "gaps": ({}, GAPS),
    "durations": ({"duration": "poisson"}, X),
    "durations, negative binomial": ({"duration": "negative_binomial"}, X),
    "one state with a duration": ({"n_components": 1, "duration": "poisson"}, X),
    "lags": ({"emission": AutoregressiveEmission(2)}, X),
    "lags and a trend": ({"emission": AutoregressiveEmission([1, 3], trend="ct")}, X),
    "lags and durations": ({"emission": "autoregressive", "duration": "poisson"}, X),
    "left-right": ({"transitions": "left-right"}, X),
    "counts": ({"emission": "poisson"}, COUNTS),
    "symbols": ({"emission": "categorical"}, STATES.reshape(-1, 1).astype(float)),
    "choices": ({"emission": RegressionEmission(0, output="bernoulli")}, CHOICES),
    "spikes": (
        {"emission": RegressionEmission(0, output="poisson")},
        np.column_stack([COUNTS, X]),
    ),
}


def fit(params, values):
    return HDPHMMLT(**{"n_components": 3, "max_iter": 12, "random_state": 0, **params}).fit(values)


@pytest.mark.parametrize("case", CASES)
def test_each_step_is_that_of_the_whole_sequence(case):
    params, values = CASES[case]
    model = fit(params, values)
    new = values[::-1][:40]
    expected = model.filter_proba(new)
    state, found = None, []
    for x in new:
        before, state = state, model.filter_update(state, x)
        found.append(state.proba)
        assert before is None or before.proba is not state.proba
        state = pickle.loads(pickle.dumps(state))
    assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    assert_allclose(state.proba, model.predict_proba(new)[-1], rtol=1e-8, atol=1e-10)


def test_containers_and_faults():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = fit({}, frame)
    states = [model.filter_update(None, frame.iloc[[5]]) for _ in range(2)]
    assert_array_equal(states[0].proba, states[1].proba)
    assert_array_equal(model.filter_update(None, frame.iloc[5]).proba, states[0].proba)
    with pytest.raises(ValueError, match="feature names"):
        model.filter_update(None, frame.iloc[5].rename({"a": "c"}))
    named = IndependentEmissions([("one", "gaussian", "a"), ("two", "categorical", ["kind"])])
    mixed = frame[["a"]].assign(kind=STATES)
    model = fit({"emission": named}, mixed)
    expected = model.filter_update(None, mixed.iloc[[5]]).proba
    for row in (mixed.iloc[5], mixed.astype(object).iloc[5]):
        assert_array_equal(model.filter_update(None, row).proba, expected)
    single = frame["a"]
    model = fit({}, single.to_frame())
    expected = model.filter_update(None, frame[["a"]].iloc[[5]]).proba
    with pytest.warns(UserWarning, match="feature names"):
        assert_array_equal(model.filter_update(None, single.iloc[5:6]).proba, expected)
    model = fit({}, X)
    state = model.filter_update(None, X[5].tolist())
    assert_array_equal(state.proba, model.filter_update(None, X[5:6]).proba)
    assert_allclose(state.proba.sum(), 1.0)
    text = fit({"emission": "categorical"}, np.array(["a", "b"])[STATES].reshape(-1, 1))
    assert text.filter_update(None, ["b"]).proba.shape == (3,)
    with pytest.raises(ValueError, match="x must be one observation, got 2"):
        model.filter_update(None, X[:2])
    with pytest.raises(ValueError, match="X has 3 features"):
        model.filter_update(None, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="infinity"):
        model.filter_update(None, [0.0, np.inf])
    for other in (fit({"n_components": 4}, X), fit({"duration": "poisson"}, X)):
        with pytest.raises(ValueError, match="since its last fit"):
            model.filter_update(other.filter_update(None, X[0]), X[1])
    lagged = fit({"emission": "autoregressive"}, X)
    with pytest.raises(ValueError, match="filter_update takes no missing values of autoreg"):
        lagged.filter_update(None, [np.nan, 0.0])
    with pytest.raises(ValueError, match="infinity"):
        lagged.filter_update(None, [np.inf, 0.0])
