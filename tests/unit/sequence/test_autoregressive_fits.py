"""Fits of autoregressive states with gaps, chosen lags, trends and short sequences."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.sequence import HDPHMMLT, AutoregressiveEmission, PoissonDuration

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


def with_gaps(x, share=0.1, seed=1):
    """Return values, of which single ones, a whole stretch, and first and last ones are missing."""
    gaps = x.copy()
    gaps[np.random.default_rng(seed).random(x.shape) < share] = np.nan
    gaps[[0, 60, 61, 62, -1]] = np.nan
    return gaps


def make(**params):
    settings = {"emission": "autoregressive", "max_iter": 20, "random_state": 0, **params}
    return HDPHMMLT(3, **settings)


X, STATES = waves()
GAPS = with_gaps(X)


class TestGaps:
    def test_states_and_values_are_found(self):
        model = make(max_iter=60, stickiness="auto").fit(GAPS)
        assert adjusted_rand_score(STATES, model.predict(GAPS)) > 0.8
        hidden = np.isnan(GAPS)
        filled = model.impute(GAPS)
        assert_array_equal(filled[~hidden], X[~hidden])
        assert np.sqrt(np.mean((filled - X)[hidden] ** 2)) < 0.4 * X.std()
        assert abs(model.score(GAPS) - model.score(X)) < 0.3

    @pytest.mark.parametrize("duration", [None, PoissonDuration(max_duration=60)])
    def test_warm_starts_and_sweeps_are_one_fit(self, duration):
        straight = make(max_iter=20, burn_in=5, duration=duration).fit(GAPS)
        warm = make(max_iter=10, burn_in=5, duration=duration, warm_start=True).fit(GAPS)
        warm = pickle.loads(pickle.dumps(warm))
        warm.set_params(max_iter=20).fit(GAPS)
        assert_array_equal(straight.trace_["log_joint"], warm.trace_["log_joint"])
        *_, last = make(max_iter=20, burn_in=5, duration=duration).iter_sweeps(GAPS)
        assert last.log_joint() == straight.trace_["log_joint"][0, -1]

    @pytest.mark.skipif(not has_callbacks(), reason="callbacks came with scikit-learn 1.9")
    def test_checkpoints_hold_missing_values(self, tmp_path):
        straight = make(max_iter=20, burn_in=5).fit(GAPS)
        for max_iter in (10, 20):
            model = make(max_iter=max_iter, burn_in=5)
            model.set_callbacks(Checkpoint(tmp_path / "fit", every_sweeps=4)).fit(GAPS)
        assert_array_equal(straight.trace_["log_joint"], model.trace_["log_joint"])
        changed = np.where(np.isnan(GAPS), 0.0, GAPS)
        other = make(max_iter=20, burn_in=5).set_callbacks(Checkpoint(tmp_path / "fit"))
        with pytest.raises(ValueError, match="fit"):
            other.fit(changed)

    def test_sequences_do_not_depend_on_others(self):
        model = make().fit([GAPS[:120], X[120:]])
        both, alone = [GAPS[:120], GAPS[120:], X[:50]], [GAPS[120:]]
        assert_array_equal(model.score_samples(both)[1:2], model.score_samples(alone))
        assert_allclose(model.score_samples(both)[2:], model.score_samples([X[:50]]), rtol=1e-12)
        assert_array_equal(model.predict_proba(both)[1], model.predict_proba(alone)[0])
        assert_array_equal(model.transform(both)[1:2], model.transform(alone))
        steps = model.score_samples(GAPS[120:])
        assert steps.shape == (120,)
        assert steps.sum() == pytest.approx(model.score_samples(alone)[0], rel=0.02)
        assert steps[0] == 0.0
        filtered = model.filter_proba(GAPS)
        assert_allclose(filtered.sum(axis=1), 1.0)
        assert_allclose(filtered[-1], model.predict_proba(GAPS)[-1], atol=0.1)

    def test_containers(self):
        frame = pd.DataFrame(GAPS, columns=["east", "north"])
        lists = [frame.iloc[:120], frame.iloc[120:]]
        model, other = make().fit(lists), make().fit([GAPS[:120], GAPS[120:]])
        assert_array_equal(model.trace_["log_joint"], other.trace_["log_joint"])

    def test_forecasts_and_draws_after_gaps(self):
        """Moments agree with draws: |z| < 5 for 12 figures; nothing observed is drawn again."""
        model = make().fit(X)
        for values in (GAPS[:62], GAPS):
            found = model.forecast(values, 3)
            panel, _ = model.sample(3, 500, given=values, random_state=0)
            draws = panel.values.reshape(500, 3, 2)
            error = found.sd / np.sqrt(500)
            assert np.all(np.abs(draws.mean(axis=0) - found.mean) < 5.0 * error + 0.02 * found.sd)
            below = (draws[..., np.newaxis] <= found.quantiles).mean(axis=0)
            assert_allclose(below, np.tile([0.05, 0.5, 0.95], (3, 2, 1)), atol=0.12)
        assert_array_equal(model.forecast(GAPS, 3).mean, model.forecast([GAPS], 3).mean[0])

    def test_nothing_but_gaps(self):
        model = make().fit(X)
        nothing = np.full((20, 2), np.nan)
        assert_allclose(model.score_samples([nothing]), 0.0, atol=1e-9)
        assert np.all(np.isfinite(model.impute(nothing)))
        fitted = make().fit([X, nothing])
        assert np.all(np.isfinite(fitted.trace_["log_joint"]))
        with pytest.raises(ValueError, match="holds nothing but missing values"):
            model.score(nothing)

    def test_known_states(self):
        known = np.where(np.arange(N_STEPS) < 80, STATES, -1)
        found = make().fit_predict(GAPS, known)
        assert_array_equal(found[:80], STATES[:80])


class TestLags:
    def test_a_list_of_all_lags(self):
        """The same bits as the number of lags, in any order and of any kind of integers."""
        expected = make(emission=AutoregressiveEmission(2)).fit(X)
        for lags in ([1, 2], (2, 1), np.array([1, 2]), pd.Series([1, 2]), [np.int64(2), 1]):
            found = make(emission=AutoregressiveEmission(lags)).fit(X)
            assert_array_equal(found.trace_["log_joint"], expected.trace_["log_joint"])
            assert clone(found).emission.n_lags == 2
        assert make(emission=AutoregressiveEmission(np.int64(2))).fit(X).emission_.lags == (1, 2)

    def test_a_season(self):
        """Lags 1 and 12 capture the season, one lag does not; a trend in levels continues."""
        rng, t = np.random.default_rng(0), np.arange(180)
        season = np.tile(rng.normal(size=12), 15)
        series = (0.05 * t + season + 0.05 * rng.normal(size=180))[:, np.newaxis]
        settings = {"max_iter": 40, "burn_in": 20}
        errors = {}
        for name, emission in {
            "one": AutoregressiveEmission(1),
            "season": AutoregressiveEmission([1, 12, 13]),
            "trend": AutoregressiveEmission([1, 12], trend="ct"),
        }.items():
            model = make(emission=emission, **settings).fit(series[:156])
            found = model.forecast(series[:156], 24)
            errors[name] = np.abs(found.mean - series[156:]).mean()
            assert found.quantiles.shape == (24, 1, 3)
            assert model.sample(30, random_state=0)[0].values.shape == (30, 1)
            steps = model.score_samples(series)
            assert_allclose(steps[: model.emission_.n_lags], 0.0, atol=1e-12)
        assert errors["one"] > 0.5
        assert errors["season"] < 0.2
        assert errors["trend"] < 0.2


class TestShortSequences:
    def test_some_are_skipped(self):
        emission = AutoregressiveEmission(3)
        short = [X, X[:2], X[:3], X[:50]]
        with pytest.warns(UserWarning, match="Sequences 1, 2 of X have no more than 3 step"):
            model = make(emission=emission).fit(short)
        with pytest.warns(UserWarning, match="Sequence 0 of X has no more than 3 step"):
            found = model.score_samples([X[:3], X[:20]])
        assert_allclose(found, [0.0, model.score_samples([X[:20]])[0]], atol=1e-12)
        with pytest.warns(UserWarning, match="skipped"):
            assert model.score([X[:3], X[:20]]) == pytest.approx(model.score([X[:20]]))
        with pytest.warns(UserWarning, match="skipped"):
            assert [len(states) for states in model.predict(short)] == [len(x) for x in short]

    def test_many_are_counted(self):
        with pytest.warns(UserWarning, match="Sequences 1, 2, 3, 4, 5 and 3 more of X have"):
            make(max_iter=2).fit([X] + [X[:1]] * 8)

    def test_a_sequence_of_the_lags_can_go_on(self):
        model = make(emission=AutoregressiveEmission(3)).fit(X)
        assert model.forecast(X[:3], 2).mean.shape == (2, 2)


class TestLevels:
    def test_levels_outside_of_all_states(self):
        rng = np.random.default_rng(0)
        series = np.arange(300.0)[:, np.newaxis] + rng.normal(size=(300, 1))
        model = HDPHMMLT(4, max_iter=20, random_state=0).fit(series[:200])
        with pytest.warns(UserWarning, match=r"last value of column 0 of sequence 1.*np\.diff"):
            model.forecast([series[:150], series], 2)
        changes = np.diff(series, axis=0)
        other = HDPHMMLT(4, max_iter=20, random_state=0).fit(changes[:200])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.forecast(series[:150], 2)
            other.forecast(changes, 2)

    def test_counts(self):
        counts = np.random.default_rng(0).poisson(3.0, size=(100, 1))
        model = HDPHMMLT(2, emission="poisson", max_iter=20, random_state=0).fit(counts)
        model.forecast(counts, 2)
        with pytest.warns(UserWarning, match="last value of column 0 of sequence 0, 90, lies"):
            model.forecast(np.vstack([counts, [[90]]]), 2)
