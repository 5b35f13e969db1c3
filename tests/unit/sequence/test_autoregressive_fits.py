"""Fits of autoregressive states with gaps, chosen lags, trends and short sequences."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from skdp.sequence import HDPHMMLT, AutoregressiveEmission, PoissonDuration
from skdp.sequence._hmm._model import has_trend
from skdp.utils._checking import same_fit

N_STEPS = 240


def waves(seed=0):
    """Return a series that turns slowly or fast, in turn, and its state at each step."""
    rng = np.random.default_rng(seed)
    states = np.repeat(np.arange(N_STEPS // 40) % 2, 40)
    x = np.zeros((N_STEPS, 2))
    for t in range(1, N_STEPS):
        c, s = np.cos([0.1, 0.8][states[t]]), np.sin([0.1, 0.8][states[t]])
        x[t] = 0.98 * np.array([[c, -s], [s, c]]) @ x[t - 1] + 0.1 * rng.normal(size=2)
    return x, states


X, STATES = waves()
GAPS = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
GAPS[[0, 60, 61, 62, -1]] = np.nan
"""Single values, a whole stretch, and the first and the last step are missing."""


def make(lags=1, **params):
    params = {"emission": AutoregressiveEmission(lags), "max_iter": 20, **params}
    return HDPHMMLT(3, random_state=0, **params)


@pytest.fixture(scope="module")
def complete():
    """Return a fit without gaps."""
    return make().fit(X)


def test_states_and_missing_values_are_found():
    model = make(max_iter=60, stickiness="auto").fit(GAPS)
    assert adjusted_rand_score(STATES, model.predict(GAPS)) > 0.8
    hidden = np.isnan(GAPS)
    filled = model.impute(GAPS)
    assert_array_equal(filled[~hidden], X[~hidden])
    assert np.sqrt(np.mean((filled - X)[hidden] ** 2)) < 0.4 * X.std()
    assert abs(model.score(GAPS) - model.score(X)) < 0.3


@pytest.mark.parametrize("duration", [None, PoissonDuration(max_duration=60)])
def test_warm_starts_and_sweeps_with_gaps_are_one_fit(duration):
    params = {"burn_in": 5, "duration": duration}
    straight = make(**params).fit(GAPS)
    warm = make(max_iter=10, warm_start=True, **params).fit(GAPS)
    same_fit(straight, pickle.loads(pickle.dumps(warm)).set_params(max_iter=20).fit(GAPS))
    *_, last = make(**params).iter_sweeps(GAPS)
    assert last.log_joint() == straight.trace_["log_joint"][0, -1]
    assert_allclose(straight.predict_proba(GAPS).sum(axis=1), 1.0)


def test_sequences_do_not_depend_on_others(complete):
    every, alone = [GAPS[:120], GAPS[120:], X[:50]], [GAPS[120:]]
    for method in ("score_samples", "predict_proba", "transform"):
        found, expected = (getattr(complete, method)(each) for each in (every, alone))
        assert_array_equal(found[1], expected[0])
    assert_allclose(complete.score_samples(every)[2:], complete.score_samples([X[:50]]), rtol=1e-12)
    assert_allclose(complete.filter_proba(every)[2], complete.filter_proba(X[:50]), rtol=1e-12)
    steps = complete.score_samples(GAPS[120:])
    assert steps.shape == (120,)
    assert steps.sum() == pytest.approx(complete.score_samples(alone)[0], rel=0.02)
    assert steps[0] == 0.0
    filtered = complete.filter_proba(GAPS)
    assert_allclose(filtered.sum(axis=1), 1.0)
    assert_allclose(filtered[-1], complete.predict_proba(GAPS)[-1], atol=0.1)


def test_forecasts_and_draws_after_gaps(complete):
    """Moments agree with draws: |z| < 5 for 12 figures; nothing observed is drawn again."""
    for values in (GAPS[:62], GAPS):
        found = complete.forecast(values, 3)
        panel, _ = complete.sample(3, 500, given=values, random_state=0)
        draws = panel.values.reshape(500, 3, 2)
        error = found.sd / np.sqrt(500)
        assert np.all(np.abs(draws.mean(axis=0) - found.mean) < 5.0 * error + 0.02 * found.sd)
        below = (draws[..., np.newaxis] <= found.quantiles).mean(axis=0)
        assert_allclose(below, np.tile([0.05, 0.5, 0.95], (3, 2, 1)), atol=0.12)
    assert_array_equal(complete.forecast(GAPS, 3).mean, complete.forecast([GAPS], 3).mean[0])


def test_nothing_but_gaps(complete):
    nothing = np.full((20, 2), np.nan)
    assert_allclose(complete.score_samples([nothing]), 0.0, atol=1e-9)
    assert np.all(np.isfinite(complete.impute(nothing)))
    assert np.all(np.isfinite(make().fit([X, nothing]).trace_["log_joint"]))


def test_known_states():
    known = np.where(np.arange(N_STEPS) < 80, STATES, -1)
    assert_array_equal(make().fit_predict(GAPS, known)[:80], STATES[:80])


def test_a_list_of_all_lags():
    """The same bits as the number of lags, in any order and of any kind of integers."""
    expected = make(2).fit(X)
    for lags in ([1, 2], (2, 1), np.array([1, 2]), pd.Series([1, 2]), np.int64(2)):
        found = make(lags).fit(X)
        same_fit(expected, found)
        assert found.emission.n_lags == 2
        assert found.emission_.lags == (1, 2)


def test_a_season():
    """Lags 1 and 12 capture the season, one lag does not; a trend in levels continues."""
    rng = np.random.default_rng(0)
    season = np.tile(rng.normal(size=12), 15)
    series = 0.05 * np.arange(180) + season + 0.05 * rng.normal(size=180)
    series = series[:, np.newaxis]
    errors = []
    for lags, trend in ((1, "c"), ([1, 12, 13], "c"), ([1, 12], "ct")):
        emission = AutoregressiveEmission(lags, trend=trend)
        model = make(emission=emission, max_iter=40, burn_in=20).fit(series[:156])
        found = model.forecast(series[:156], 24)
        errors.append(np.abs(found.mean - series[156:]).mean())
        assert found.quantiles.shape == (24, 1, 3)
        assert model.sample(30, random_state=0)[0].values.shape == (30, 1)
        steps = model.score_samples(series)
        assert_allclose(steps[: model.emission_.n_lags], 0.0, atol=1e-12)
    assert errors[0] > 0.5
    assert max(errors[1:]) < 0.2


def test_short_sequences_are_skipped():
    short = [X, X[:2], X[:3], X[:50]]
    with pytest.warns(UserWarning, match="Sequences 1, 2 of X have no more than 3 step"):
        model = make(3).fit(short)
    with pytest.warns(UserWarning, match="Sequence 0 of X has no more than 3 step"):
        found = model.score_samples([X[:3], X[:20]])
    assert_allclose(found, [0.0, model.score_samples([X[:20]])[0]], atol=1e-12)
    with pytest.warns(UserWarning, match="skipped"):
        assert model.score([X[:3], X[:20]]) == pytest.approx(model.score([X[:20]]))
    with pytest.warns(UserWarning, match="skipped"):
        assert [len(states) for states in model.predict(short)] == [len(x) for x in short]
    with pytest.warns(UserWarning, match="Sequences 1, 2, 3, 4, 5 and 3 more of X have"):
        make(max_iter=2).fit([X] + [X[:1]] * 8)
    assert model.forecast(X[:3], 2).mean.shape == (2, 2)  # a sequence of the lags can go on


def test_levels_outside_of_all_states():
    rng = np.random.default_rng(0)
    series = np.arange(300.0)[:, np.newaxis] + rng.normal(size=(300, 1))
    model = HDPHMMLT(4, max_iter=20, random_state=0).fit(series[:200])
    with pytest.warns(UserWarning, match=r"last value of column 0 of sequence 1.*np\.diff"):
        model.forecast([series[:150], series], 2)
    changes, counts = np.diff(series, axis=0), rng.poisson(3.0, size=(100, 1))
    other = HDPHMMLT(4, max_iter=20, random_state=0).fit(changes[:200])
    of_counts = HDPHMMLT(2, emission="poisson", max_iter=20, random_state=0).fit(counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.forecast(changes, 2)
        of_counts.forecast(counts, 2)
    with pytest.warns(UserWarning, match="last value of column 0 of sequence 0, 90, lies"):
        of_counts.forecast(np.vstack([counts, [[90]]]), 2)


def test_a_trend_is_no_level():
    """The last value of a trend lies in the last of the states that divide it."""
    rng = np.random.default_rng(0)
    t = np.arange(360)
    trend = 0.1 * t + 3.0 * np.sin(2.0 * np.pi * t / 12.0) + 0.5 * rng.normal(size=360)
    X = np.column_stack([rng.normal(size=360), -trend])
    X[50:60] = np.nan
    model = HDPHMMLT(10, max_iter=30, random_state=0).fit(X)
    lagged = HDPHMMLT(4, emission=AutoregressiveEmission(13), max_iter=30, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="column 1 rises or falls .* AutoregressiveEmission"):
        model.forecast([X, X[:12], X[100:]], 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.forecast(X[:24], 2)  # too short to tell
        model.forecast([X, X[:12], X[12:24]], 2)  # most sequences have none
        lagged.forecast(X, 2)


@pytest.mark.parametrize("n_levels", [1, 2])
def test_levels_are_no_trend(n_levels):
    rng = np.random.default_rng(0)
    levels = np.repeat(np.arange(float(n_levels)), 60 // n_levels)
    scales = np.repeat([1.0, 0.1, 0.01], 200)
    found = [has_trend(levels + scale * rng.normal(size=60)) for scale in scales]
    assert np.mean(found) < 0.005
    assert has_trend(np.linspace(0.0, 10.0, 60) + rng.normal(size=60))
