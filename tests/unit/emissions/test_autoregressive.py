"""Parameters, defaults from the data, first states and copies; results are in tests/exact."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import AutoregressiveEmission
from skdp.sequence import HDPHMMLT


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def turn(angle, size):
    return size * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def spirals(n_steps=600, seed=0):
    """Return points that turn in one of three ways, always about the same center, and the way."""
    rng = np.random.default_rng(seed)
    states = np.repeat(rng.integers(3, size=n_steps // 40), 40)
    ways = [turn(0.1, 0.98), turn(0.7, 0.98), turn(-0.3, 0.98)]
    x = np.zeros((n_steps, 2))
    for t in range(1, n_steps):
        x[t] = ways[states[t]] @ x[t - 1] + 0.1 * rng.normal(size=2)
    return x, states


def started(values, n_states=4, ptr=None, **params):
    """Return a sampler after its first draw, and the states."""
    ptr = np.array([0, len(values)]) if ptr is None else ptr
    sampler = AutoregressiveEmission(**params).make_sampler(values, n_states, ptr)
    sampler.attach(values, ptr)
    states = np.zeros(len(values), dtype=np.int64)
    rng = stream()
    sampler.start(states, rng)
    sampler.draw(states, rng)
    return sampler, states


def log_obs(sampler, n_steps):
    out = np.full((n_steps, sampler.n_states), 7.0)
    sampler.write_log_obs(out)
    return out


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lags": 0}, "'lags' parameter"),
        ({"lags": True}, "'lags' parameter"),
        ({"coef_precision_prior": 0.0}, "'coef_precision_prior' parameter"),
        ({"coef_precision_prior": np.nan}, "'coef_precision_prior' parameter"),
        ({"degrees_of_freedom_prior": -1.0}, "'degrees_of_freedom_prior' parameter"),
        ({"degrees_of_freedom_prior": 1.0}, "must be above the number of features minus 1, 1;"),
        ({"coef_prior": np.eye(2)}, r"coef_prior must be of shape \(2, 3\) for X of 2 features"),
        ({"coef_prior": np.full((2, 3), np.inf)}, "coef_prior must be finite"),
        ({"coef_precision_prior": np.eye(2)}, r"coef_precision_prior must be of shape \(3, 3\)"),
        ({"coef_precision_prior": np.ones((3, 3))}, "coef_precision_prior must be positive def"),
        ({"coef_precision_prior": np.tri(3)}, "coef_precision_prior must be symmetric"),
        ({"covariance_prior": np.eye(3)}, r"covariance_prior must be of shape \(2, 2\)"),
        ({"covariance_prior": [[1.0, 0.5], [0.0, 1.0]]}, "covariance_prior must be symmetric"),
        ({"covariance_prior": -np.eye(2)}, "covariance_prior must be positive definite"),
    ],
)
def test_bad_parameters_are_named(params, message):
    values, _ = spirals(80)
    with pytest.raises(ValueError, match=message) as raised:
        AutoregressiveEmission(**params).make_sampler(values, 3, np.array([0, 80]))
    assert "AutoregressiveEmission" in str(raised.value)


class TestDefaults:
    def test_regression_on_all_data(self):
        values, _ = spirals()
        ptr = np.array([0, 250, 600])
        prior = AutoregressiveEmission(2).make_sampler(values, 3, ptr).prior
        rows = np.concatenate([np.arange(2, 250), np.arange(252, 600)])
        design = np.hstack([np.ones((len(rows), 1)), values[rows - 1], values[rows - 2]])
        expected, *_ = np.linalg.lstsq(design, values[rows], rcond=None)
        assert_allclose(prior.coefs, expected.T, atol=1e-6)
        # The coefficients are worth D K / 2 observations.
        precision = prior.precision_root @ prior.precision_root.T
        assert_allclose(precision, 5.0 * design.T @ design / len(rows), rtol=1e-6, atol=1e-6)
        left = values[rows] - design @ expected
        assert prior.dof == 5.0
        scale = prior.scale_root @ prior.scale_root.T
        assert_allclose(scale / 2.0, np.sqrt(0.2) * left.T @ left / len(rows), rtol=1e-3)

    def test_units_do_not_matter(self):
        """States are the same in other units, in other directions and elsewhere."""
        values, states = spirals()
        ptr, map_ = np.array([0, 600]), np.array([[3.0, 1.0], [-500.0, 20.0]])
        evidences = []
        for x in (values, values @ map_.T + [1e4, -3.0]):
            sampler = AutoregressiveEmission(2).make_sampler(x, 3, ptr)
            sampler.attach(x, ptr)
            sampler.condition(states)
            several = sampler.log_evidence()
            sampler.condition(0 * states)
            evidences.append(several - sampler.log_evidence())
        assert_allclose(evidences[0], evidences[1], rtol=1e-3)

    @pytest.mark.parametrize("n_lags", [1, 2, 5])
    def test_columns_that_hardly_vary(self, n_lags):
        """A constant column, one that the others determine, one without noise, and few rows."""
        t = np.arange(30.0)
        rng = np.random.default_rng(0)
        noise = rng.normal(size=30)
        values = np.column_stack([np.full(30, 0.1), noise, 2.0 * noise + 1.0, np.sin(0.1 * t)])
        for x in (values, values[: n_lags + 1]):
            sampler, states = started(x, lags=n_lags)
            assert np.all(np.isfinite(log_obs(sampler, len(x))))
            model = sampler.model()
            assert np.all(np.isfinite(model.log_obs(x, np.array([0, len(x)]))))
            assert np.isfinite(sampler.log_evidence())
            assert np.all(np.isfinite(model.sample(states, np.random.default_rng(0))))

    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
    def test_values_without_noise(self, unit):
        """The noise is relative to the values; constants have no unit of their own."""
        line = unit * np.arange(200.0)
        for values, expected in ((line, 1e-6 * line.std()), (np.full(200, 0.1 * unit), 1.0)):
            root = started(values[:, np.newaxis])[0].prior.scale_root
            assert_allclose(root, [[np.sqrt(0.2) * expected]], rtol=1e-3)


def test_first_states():
    """Windows choose regressions: more states than there are ways to move, but few mixed ones."""
    values, truth = spirals(2000)
    sampler, states = started(values, n_states=8)
    pairs = np.zeros((8, 3))
    np.add.at(pairs, (states, truth), 1.0)
    assert pairs.max(axis=1).sum() > 0.8 * len(values)
    few = np.zeros(5, dtype=np.int64)
    part = sampler.restrict(np.arange(5), 8)
    part.start(few, stream())
    assert np.all((few >= 0) & (few < 8))


def test_copies_and_detached_samplers():
    values, states = spirals()
    sampler, _ = started(values)
    other = sampler.copy()
    expected = log_obs(sampler, len(values))
    sampler.draw(states, stream(1))
    assert_array_equal(log_obs(other, len(values)), expected)
    assert np.abs(log_obs(sampler, len(values)) - expected).max() > 0.01
    other.detach()
    arrays = [
        value
        for part in (other, other.regressions)
        for value in vars(part).values()
        if isinstance(value, np.ndarray)
    ]
    assert len(arrays) == 4
    assert all(len(array) < len(values) for array in arrays)
    back = pickle.loads(pickle.dumps(other))
    back.attach(values, np.array([0, len(values)]))
    assert_array_equal(log_obs(back, len(values)), expected)


def test_models():
    values, states = spirals()
    sampler, _ = started(values, lags=2)
    model = sampler.model()
    assert model.n_lags == 2
    assert model.coefs.shape == (4, 2, 4)
    assert model.intercepts.shape == (4, 2)
    assert model.covariances.shape == (4, 2, 2)
    expected = model.log_obs(values)
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.log_obs(values), expected)
    order = np.array([2, 0, 3, 1])
    assert_array_equal(model.reorder(order).log_obs(values), expected[:, order])
    draws = [m.sample(states, np.random.default_rng(0)) for m in (copied, model)]
    assert_array_equal(*draws)


def test_new_sequences_begin_as_successive_values_do():
    """Means and covariances of the first two values; 14 figures, |z| < 5: 8e-6 of seeds."""
    values, _ = spirals(2000)
    values += [3.0, -1.0]
    sampler, _ = started(values, lags=2)
    model, rng = sampler.model(), np.random.default_rng(0)
    n = 4000
    pairs = np.array([model.sample(np.zeros(3, int), rng)[:2].ravel() for _ in range(n)])
    expected = np.hstack([values[:-2], values[1:-1]])
    away = pairs - expected.mean(axis=0)
    assert np.all(np.abs(away.mean(axis=0)) < 5.0 * away.std(axis=0) / np.sqrt(n))
    upper = np.triu_indices(4)
    products = np.einsum("sd,se->sde", away, away)[:, *upper]
    error = products.std(axis=0) / np.sqrt(n)
    known = np.cov(expected.T, bias=True)[upper]
    assert np.all(np.abs(products.mean(axis=0) - known) < 5.0 * error)
    assert model.sample(np.zeros(1, int), rng).shape == (1, 2)  # shorter than its lags


class TestEstimator:
    def test_ways_to_move_are_found(self):
        """All states are in the same place: only their motion distinguishes them."""
        values, truth = spirals(1200)
        model = HDPHMMLT(8, emission="autoregressive", stickiness="auto", max_iter=100)
        found = model.set_params(random_state=0).fit(values)
        assert found.n_active_components_ == 3
        assert adjusted_rand_score(truth, found.predict(values)) > 0.9
        gaussian = HDPHMMLT(8, stickiness="auto", max_iter=100, random_state=0).fit(values)
        assert adjusted_rand_score(truth, gaussian.predict(values)) < 0.3
        assert found.score(values) > gaussian.score(values) + 0.5

    def test_two_sequences_are_not_one(self):
        values, _ = spirals(400)
        shifted = values[200:] + 50.0
        model = HDPHMMLT(3, emission="autoregressive", max_iter=20, random_state=0)
        model.fit([values[:200], shifted])
        apart = model.score_samples([values[:200], shifted])
        joined = model.score_samples([np.vstack([values[:200], shifted])])
        assert apart.sum() > joined.sum() + 5.0  # no jump has to be explained

    def test_search_over_lags(self):
        values, _ = spirals(400)
        panel = list(np.split(values, 4))
        search = GridSearchCV(
            HDPHMMLT(3, emission="autoregressive", max_iter=6, random_state=0),
            {"emission__lags": [1, 2], "emission__degrees_of_freedom_prior": [None, 8.0]},
            cv=2,
        ).fit(panel)
        assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
        assert search.best_estimator_.emission.lags in (1, 2)

    def test_clone_and_parameters(self):
        emission = AutoregressiveEmission(3, coef_precision_prior=2.0)
        again = clone(emission)
        assert again.get_params() == emission.get_params()
        assert again.get_params()["lags"] == 3
        assert again.set_params(lags=1).n_lags == 1

    def test_continued_fits(self):
        values, _ = spirals(200)
        model = HDPHMMLT(3, emission="autoregressive", max_iter=10, random_state=0)
        straight = clone(model).set_params(max_iter=20, burn_in=5).fit(values)
        warm = clone(model).set_params(warm_start=True, burn_in=5).fit(values)
        warm.set_params(max_iter=20).fit(values)
        assert_array_equal(straight.trace_["log_joint"], warm.trace_["log_joint"])
