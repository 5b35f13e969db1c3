"""Forecasts, continued sequences and filled gaps of fitted models; their formulas are in exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.utils import Bunch
from unit.sequence.hmm_models import COUNTS, GAUSSIAN, SYMBOLS, every_model, fitted, quick

from skdp.data import SequencePanel
from skdp.sequence import GaussianEmission

CATEGORICAL = {"categorical", "beam", "fixed", "negative binomial", "near symbols"}


def columns(x):
    return np.reshape(x, (len(x), -1))


def averages(estimator, x, n_steps):
    """Return the probabilities of the states after a sequence, (samples, steps, states)."""
    ptr = np.array([0, len(x)])
    return np.array([model.forecast(ptr, columns(x), n_steps) for model in estimator.samples_])[
        :, 0
    ]


class TestForecast:
    @every_model
    def test_shapes(self, name):
        estimator, X = fitted(name)
        n_columns = estimator.n_features_in_
        found = estimator.forecast(X, 3, [0.1, 0.9])
        assert isinstance(found, Bunch)
        if name in CATEGORICAL:
            assert set(found) == {"proba"}
            for proba in found.proba:
                assert proba.shape == (3, estimator.emission_.probs.shape[1])
                assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-6)
            return
        assert set(found) == {"mean", "sd", "quantiles"}
        for i in range(len(X)):
            assert found.mean[i].shape == found.sd[i].shape == (3, n_columns)
            assert found.quantiles[i].shape == (3, n_columns, 2)
            assert np.all(found.quantiles[i][..., 0] < found.quantiles[i][..., 1])
            assert np.all(np.isfinite(found.mean[i]) & (found.sd[i] > 0.0))

    @every_model
    def test_kinds_of_x(self, name):
        estimator, X = fitted(name)
        found = estimator.forecast(X, 2)
        panel = SequencePanel.from_sequences(X)
        for key, value in estimator.forecast(panel, 2).items():
            for x, y in zip(value, found[key], strict=True):
                assert_array_equal(x, y)
        for key, value in estimator.forecast(columns(X[1]), 2).items():
            assert_allclose(value, found[key][1], rtol=1e-9)

    def test_gaussian_mixture(self):
        """Moments and quantiles of the mixture over samples and states, column by column."""
        estimator, X = fitted("gaussian")
        weights = averages(estimator, X[0], 4) / len(estimator.samples_)
        found = estimator.forecast(X[0], 4)
        for h in range(4):
            for d in range(2):
                mean = square = 0.0
                total = np.zeros(3)
                for w, model in zip(weights, estimator.samples_, strict=True):
                    emission = model.emission
                    part = stats.t(
                        emission.degrees_of_freedom,
                        emission.means[:, d],
                        np.sqrt(emission.scales[:, d, d]),
                    )
                    mean += w[h] @ part.mean()
                    square += w[h] @ (part.var() + part.mean() ** 2)
                    total += part.cdf(found.quantiles[h, d][:, np.newaxis]) @ w[h]
                assert found.mean[h, d] == pytest.approx(mean, rel=1e-10)
                assert found.sd[h, d] == pytest.approx(np.sqrt(square - mean**2), rel=1e-8)
                assert_allclose(total, [0.05, 0.5, 0.95], rtol=1e-9)

    def test_symbols(self):
        estimator, X = fitted("categorical")
        weights = averages(estimator, X[0], 4)
        pairs = zip(weights, estimator.samples_, strict=True)
        expected = [w @ model.emission.probs for w, model in pairs]
        assert_allclose(
            estimator.forecast(columns(X[0]), 4).proba, np.mean(expected, axis=0), rtol=1e-10
        )

    @pytest.mark.parametrize(
        "name",
        [
            "gaussian",
            "durations",
            "poisson",
            "factors",
            "autoregressive",
            "lags, durations",
        ],
    )
    def test_continued_sequences_agree(self, name):
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
        assert_allclose(np.transpose(shares), weights, atol=5.0 * np.sqrt(0.25 / n_draws))

    def test_one_quantile_and_none(self):
        estimator, X = fitted("gaussian")
        assert estimator.forecast(X[0], 2, 0.5).quantiles.shape == (2, 2, 1)
        assert estimator.forecast(X[0], 2, []).quantiles.shape == (2, 2, 0)

    def test_far_ahead(self):
        """The states become independent of their beginning."""
        estimator, X = fitted("gaussian")
        found = estimator.forecast([X[0], X[3]], 3000)
        assert_allclose(found.mean[0][-1], found.mean[1][-1], rtol=1e-6)
        assert_allclose(found.quantiles[0][-1], found.quantiles[1][-1], rtol=1e-6)

    @pytest.mark.parametrize("n_steps", [0, -1, 1.5, True])
    def test_steps(self, n_steps):
        estimator, X = fitted("gaussian")
        with pytest.raises(ValueError, match="n_steps must be an integer >= 1"):
            estimator.forecast(X, n_steps)

    @pytest.mark.parametrize("quantiles", [0.0, [0.5, 1.0], [-0.1], [np.nan], [[0.5]]])
    def test_quantiles(self, quantiles):
        estimator, X = fitted("gaussian")
        with pytest.raises(ValueError, match="quantiles must be between 0 and 1"):
            estimator.forecast(X, 2, quantiles)


class TestGiven:
    def test_order_and_shapes(self):
        """The continuations of each given sequence, one sequence after the other."""
        estimator = quick(max_iter=60, stickiness=1e4).fit(GAUSSIAN)
        ends = [states[-1] for states in estimator.predict(GAUSSIAN)]
        panel, states = estimator.sample(2, 3, given=GAUSSIAN, random_state=0)
        assert panel.shape == (3 * len(GAUSSIAN), 2)
        assert [own.shape for own in states] == [(2,)] * panel.shape[0]
        # States all but never change.
        assert_array_equal([own[0] for own in states], np.repeat(ends, 3))

    def test_seeds(self):
        estimator, X = fitted("durations")
        first, again, other = (
            estimator.sample(5, given=X, random_state=seed)[0].values for seed in (1, 1, 2)
        )
        assert_array_equal(first, again)
        assert np.any(first != other)


class TestImpute:
    @pytest.mark.parametrize("name", ["gaps", "factors, gaps"])
    def test_kinds_of_x(self, name):
        estimator, X = fitted(name)
        found = estimator.impute(X)
        panel = estimator.impute(SequencePanel.from_sequences(X))
        assert isinstance(panel, SequencePanel)
        assert_array_equal(panel.values, np.concatenate(found))
        for x, filled in zip(X, found, strict=True):
            seen = ~np.isnan(x)
            assert_array_equal(filled[seen], x[seen])
            assert np.all(np.isfinite(filled))
        assert_allclose(estimator.impute(X[0]), found[0], rtol=1e-9)

    def test_mean_over_states_and_samples(self):
        estimator, X = fitted("gaps")
        ptr, expected = np.array([0, len(X[0])]), 0.0
        for model in estimator.samples_:
            emission, states = model.emission, model.posteriors(ptr, X[0])
            filled = X[0].copy()
            for t, d in np.argwhere(np.isnan(X[0])):
                other = 1 - d
                slopes = emission.covariances[:, d, other] / emission.covariances[:, other, other]
                own = emission.means[:, d]
                if np.isfinite(X[0][t, other]):
                    own = own + slopes * (X[0][t, other] - emission.means[:, other])
                filled[t, d] = states[t] @ own
            expected = expected + filled / len(estimator.samples_)
        assert_allclose(estimator.impute(X[0]), expected, rtol=1e-9)

    def test_gaps_in_plain_data(self):
        """Correlated columns and lasting states determine missing values."""
        rng = np.random.default_rng(0)
        level = np.repeat([0.0, 10.0, 0.0, 10.0], 30)
        x = level[:, np.newaxis] + rng.normal(size=(120, 1)) @ np.ones((1, 2))
        x += 0.1 * rng.normal(size=x.shape)
        gaps = x.copy()
        gaps[10:20, 0] = gaps[40:45] = np.nan
        estimator = quick(max_iter=60).fit(gaps)
        filled = estimator.impute(gaps)
        assert np.abs(filled[10:20, 0] - x[10:20, 0]).max() < 0.6  # noise of .1; .5 in the state
        assert np.abs(filled[40:45] - 10.0).max() < 1.0

    def test_nothing_is_missing(self):
        for name, X in (("gaussian", GAUSSIAN), ("categorical", SYMBOLS), ("poisson", COUNTS)):
            estimator, _ = fitted(name)
            for filled, x in zip(estimator.impute(X), X, strict=True):
                assert_array_equal(filled, columns(x))


class OwnEmission(GaussianEmission):
    """One whose models do no more than they must."""

    def make_sampler(self, values, n_states):
        sampler = super().make_sampler(values, n_states)
        model = sampler.model

        class Bare:
            def __init__(self, model):
                self.log_obs, self.sample, self._model = model.log_obs, model.sample, model

            def reorder(self, order):
                return Bare(self._model.reorder(order))

        sampler.model = lambda: Bare(model())
        return sampler


def test_own_emissions_are_told_what_is_missing():
    x = GAUSSIAN[0].copy()
    x[0, 0] = np.nan
    estimator = quick(emission=OwnEmission(), max_iter=2).fit(x)
    with pytest.raises(
        TypeError, match=r"forecast requires an emission .* a method marginals; Bare"
    ):
        estimator.forecast(x, 1)
    with pytest.raises(TypeError, match=r"impute requires an emission .* a method fill; Bare"):
        estimator.impute(x)
