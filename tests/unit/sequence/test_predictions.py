"""Forecasts, filled gaps, filters, and data for arviz; their formulas are in tests/exact."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import Bunch
from unit.sequence.hmm_models import GAUSSIAN, columns, every_model, fitted, quick

from skdp.data import SequencePanel
from skdp.emissions import AutoregressiveEmission, IndependentEmissions, RegressionEmission
from skdp.sequence import GaussianEmission

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
STATES = np.tile(np.repeat([0, 1], 15), 3)
VALUES = np.column_stack([RNG.normal(3.0 * STATES), RNG.normal(size=len(STATES))])
FRAME = pd.DataFrame(VALUES, pd.date_range("2024-01-01", periods=90), ["a", "b"])


def averages(estimator, x, n_steps):
    """Return the probabilities of the states after a sequence, (samples, steps, states)."""
    ptr, x = np.array([0, len(x)]), columns(x)
    return np.array([model.forecast(ptr, x, n_steps)[0] for model in estimator.samples_])


@every_model
def test_forecasts(name):
    """Means over samples and states; those of a panel are those of its list and of its arrays."""
    estimator, X = fitted(name)[0], fitted(name)[1][:2]
    found = estimator.forecast(X, 3, [0.1, 0.9])
    assert isinstance(found, Bunch)
    of_panel = estimator.forecast(SequencePanel.from_sequences(X), 3, [0.1, 0.9])
    for key, value in estimator.forecast(columns(X[1]), 3, [0.1, 0.9]).items():
        assert_allclose(value, found[key][1], rtol=1e-9)
        for x, y in zip(of_panel[key], found[key], strict=True):
            assert_array_equal(x, y)
    weights = averages(estimator, X[1], 3)
    emissions = [sample.emission for sample in estimator.samples_]
    if hasattr(emissions[0], "probs") and estimator.n_features_in_ == 1:  # symbols
        assert set(found) == {"proba"}
        expected = np.mean([w @ e.probs for w, e in zip(weights, emissions, strict=True)], axis=0)
        assert_allclose(found.proba[1], expected, rtol=1e-10)
        assert_array_equal(estimator.impute(X)[1], columns(X[1]))  # nothing is missing
        return
    assert set(found) == {"mean", "sd", "quantiles"}
    for mean, sd, quantiles in zip(found.mean, found.sd, found.quantiles, strict=True):
        assert mean.shape == sd.shape == (3, estimator.n_features_in_)
        assert quantiles.shape == (*mean.shape, 2)
        assert np.all(quantiles[..., 0] < quantiles[..., 1])
        assert np.all(np.isfinite(mean) & (sd > 0.0))
    if estimator._n_given() == 0:
        means = [e.marginals().means for e in emissions]
        expected = np.mean([w @ m for w, m in zip(weights, means, strict=True)], axis=0)
        assert_allclose(found.mean[1], expected, rtol=1e-10)


SLOW = [pytest.param(n, marks=pytest.mark.slow) for n in ("autoregressive", "lags, durations")]


@pytest.mark.parametrize("name", ["durations", "poisson", "factors", *SLOW])
def test_continued_sequences_agree(name):
    """Moments of many draws; those of what was given are not drawn again."""
    estimator, X = fitted(name)
    x, n_draws = columns(X[0]), 4000
    found = estimator.forecast(x, 3)
    panel, states = estimator.sample(3, n_draws, given=x, random_state=0)
    draws = panel.values.reshape(n_draws, 3, -1)
    error = found.sd / np.sqrt(n_draws)
    assert np.all(np.abs(draws.mean(axis=0) - found.mean) < 5.0 * error)
    # Tails are heavy: their standard deviations take far more draws than their quantiles.
    below = (draws[..., np.newaxis] <= found.quantiles).mean(axis=0)
    strictly = (draws[..., np.newaxis] < found.quantiles).mean(axis=0)
    levels, error = np.array([0.05, 0.5, 0.95]), 5.0 * np.sqrt(0.25 / n_draws)
    assert np.all((below > levels - error) & (strictly < levels + error))
    weights = averages(estimator, x, 3).mean(axis=0)
    shares = [(np.array(states) == j).mean(axis=0) for j in range(weights.shape[1])]
    assert_allclose(np.transpose(shares), weights, atol=error)


def test_far_ahead():
    """The states become independent of their beginning."""
    estimator, X = fitted("gaussian")
    assert estimator.forecast(X[0], 2, []).quantiles.shape == (2, 2, 0)
    found = estimator.forecast([X[0], X[3]], 500, 0.9)
    assert_allclose(found.mean[0][-1], found.mean[1][-1], rtol=1e-6)
    assert found.quantiles[0].shape == (500, 2, 1)
    assert_allclose(found.quantiles[0][-1], found.quantiles[1][-1], rtol=1e-6)


def test_order_of_continuations():
    """The continuations of each given sequence, one sequence after the other."""
    estimator = quick(max_iter=60, stickiness=1e4).fit(GAUSSIAN)
    ends = [states[-1] for states in estimator.predict(GAUSSIAN)]
    panel, states = estimator.sample(2, 3, given=GAUSSIAN, random_state=0)
    assert panel.shape == (len(states), 2) == (3 * len(GAUSSIAN), 2)
    assert_array_equal(states, np.repeat(ends, 3)[:, np.newaxis].repeat(2, axis=1))  # no changes
    again, other = (estimator.sample(2, 3, given=GAUSSIAN, random_state=s)[0] for s in (0, 1))
    assert_array_equal(again.values, panel.values)
    assert np.any(other.values != panel.values)


@pytest.mark.parametrize("name", ["locations", "factors", "gaussian", "poisson"])
def test_missing_values_alone_are_filled(name):
    """With means over states and samples."""
    estimator, X = fitted(name)
    found, panel = estimator.impute(X), SequencePanel.from_sequences(X)
    assert_array_equal(estimator.impute(panel).values, np.concatenate(found))
    assert_allclose(estimator.impute(columns(X[0])), found[0], rtol=1e-9)
    seen = ~np.isnan(panel.values)
    assert_array_equal(np.concatenate(found)[seen], panel.values[seen])
    known = panel.ptr, panel.values
    filled = [s.emission.fill(panel.values, s.posteriors(*known)) for s in estimator.samples_]
    assert_allclose(np.concatenate(found), np.mean(filled, axis=0), rtol=1e-9)


def bare(model):
    """Return a model of observations that does no more than it must."""
    return SimpleNamespace(
        log_obs=model.log_obs, sample=model.sample, reorder=lambda order: bare(model.reorder(order))
    )


class OwnEmission(GaussianEmission):
    """One of bare models."""

    def make_sampler(self, values, n_states):
        sampler = super().make_sampler(values, n_states)
        model = sampler.model
        sampler.model = lambda: bare(model())
        return sampler


def test_own_emissions_are_told_what_is_missing():
    x = np.where(np.arange(2) + np.arange(12)[:, np.newaxis] == 0, np.nan, GAUSSIAN[0][:12])
    estimator = quick(emission=OwnEmission(), max_iter=2).fit(x)
    with pytest.raises(TypeError, match=r"forecast requires an emission .*marginals; Simple"):
        estimator.forecast(x, 1)
    with pytest.raises(TypeError, match=r"impute requires an emission .* a method fill; Simple"):
        estimator.impute(x)


def test_frames():
    model = quick(stickiness=10.0, max_iter=30).fit(FRAME[:40])
    found = model.forecast(FRAME[:40], 3, [0.05, 0.95])
    assert found.frame.index[0] == pd.Timestamp("2024-02-10")
    for d, name in enumerate("ab"):
        assert_array_equal(found.frame[name, "mean"], found.mean[:, d])
        assert_array_equal(found.frame[name, "sd"], found.sd[:, d])
        assert_array_equal(found.frame[name, 0.95], found.quantiles[:, d, 1])
    hours = FRAME[:20].set_axis(pd.timedelta_range("0h", periods=20, freq="h"))
    both = model.forecast([FRAME[:40], hours], 2)
    assert [len(part) for part in both.frame] == [2, 2]
    assert both.frame[1].index[0] == pd.Timedelta("20h")
    with pytest.warns(UserWarning, match="feature names"):
        assert "frame" not in model.forecast(VALUES, 3)
    letters = pd.DataFrame({"letter": list("abcabcabc")})
    found = quick(emission="categorical").fit(letters).forecast(letters, 2)
    assert found.frame.columns.tolist() == ["a", "b", "c"]
    assert found.frame.index.tolist() == [9, 10]
    assert_array_equal(found.frame, found.proba)


GAPS = VALUES.copy()
GAPS[[2, 20, 20], [0, 0, 1]] = np.nan
CHOICES = np.column_stack([RNG.random(len(VALUES)) < 0.7, VALUES])
LAGS = AutoregressiveEmission([1, 3], trend="ct")
FILTERED = {
    "gaps": ({}, GAPS),
    "durations": ({"duration": "poisson"}, VALUES),
    "durations, negative binomial": ({"duration": "negative_binomial"}, VALUES),
    "one state with a duration": ({"n_components": 1, "duration": "poisson"}, VALUES),
    "lags": ({"emission": AutoregressiveEmission(2)}, VALUES),
    "lags and a trend": ({"emission": LAGS}, VALUES),
    "lags and durations": ({"emission": "autoregressive", "duration": "poisson"}, VALUES),
    "left-right": ({"transitions": "left-right"}, VALUES),
    "choices": ({"emission": RegressionEmission(0, output="bernoulli")}, CHOICES),
}


@pytest.mark.parametrize("case", FILTERED)
def test_filter_of_single_observations_is_that_of_the_sequence(case):
    params, values = FILTERED[case]
    model = quick(**params).fit(values)
    new = values[::-1][:24]
    state, found = None, []
    for x in new:
        before, state = state, model.filter_update(state, x)
        found.append(state.proba)
        assert before is None or before.proba is not state.proba
        state = pickle.loads(pickle.dumps(state))
    assert_allclose(found, model.filter_proba(new), rtol=1e-8, atol=1e-10)
    assert_allclose(state.proba, model.predict_proba(new)[-1], rtol=1e-8, atol=1e-10)


def test_forms_of_single_observations():
    def update(model, *forms):
        """Return the probabilities of the states, which all forms of an observation share."""
        first, *others = (model.filter_update(None, x).proba for x in forms)
        for found in others:
            assert_array_equal(found, first)
        return first

    model = quick().fit(FRAME)
    update(model, FRAME.iloc[[5]], FRAME.iloc[[5]], FRAME.iloc[5])
    with pytest.raises(ValueError, match="feature names"):
        model.filter_update(None, FRAME.iloc[5].rename({"a": "c"}))
    named = IndependentEmissions([("one", "gaussian", "a"), ("two", "categorical", ["kind"])])
    mixed = FRAME[["a"]].assign(kind=STATES)
    rows = mixed.iloc[[5]], mixed.iloc[5], mixed.astype(object).iloc[5]
    update(quick(emission=named).fit(mixed), *rows)
    model = quick().fit(FRAME[["a"]])
    with pytest.warns(UserWarning, match="feature names"):
        update(model, FRAME[["a"]].iloc[[5]], FRAME["a"].iloc[5:6])
    found = update(quick().fit(VALUES), VALUES[5].tolist(), VALUES[5:6])
    assert_allclose(found.sum(), 1.0)
    letters = np.array(["a", "b"])[STATES].reshape(-1, 1)
    assert update(quick(emission="categorical").fit(letters), ["b"]).shape == (4,)


RUNS = [np.repeat([0.0, 1.0, 0.0], n) for n in (4, 2, 3)]


def chains(**params):
    return quick(n_components=2, max_iter=40, n_samples=4, n_chains=3, random_state=1, **params)


def test_order_of_chains_for_arviz(monkeypatch):
    """The samples of the best chain come first in the estimator, but not here."""
    calls = []
    monkeypatch.setattr(
        "skdp._fit._estimator.make_inference_data", lambda *args: calls.append(args)
    )
    model = chains(emission="categorical", burn_in=10).fit(RUNS)
    best = model._best_chain
    assert best > 0
    model.to_arviz(RUNS)
    (_, groups, sweeps, dims), *_ = calls
    assert dims == {"x": ["sequence"]}
    logs = groups["log_likelihood"]["x"]
    assert logs.shape == (3, len(sweeps), 3)
    panel = SequencePanel.from_sequences(RUNS)

    def score(sample):
        known = replace(sample, emission=sample.drawn)
        return known.log_likelihoods(panel.ptr, panel.values)

    assert_array_equal(logs[best], [score(sample) for sample in model.samples_])
    others = np.array([score(sample) for sample in model._models[len(sweeps) :]])
    assert_array_equal(np.delete(logs, best, axis=0).reshape(others.shape), others)
    for name, values in groups["posterior"].items():
        kept = np.isin(model.trace_.sweeps, sweeps)
        assert_array_equal(values, model.trace_[name][:, kept])


def test_each_stored_sample_has_its_own_drawn_parameters():
    model = chains(burn_in=10).fit([columns(x) + 0.1 * x.size for x in RUNS])
    means = [sample.drawn.means for sample in model.samples_]
    assert all(np.abs(a - b).max() > 1e-6 for a, b in zip(means[1:], means[:-1], strict=True))
