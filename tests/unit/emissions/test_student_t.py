"""Input and fits of vectors with outliers; densities and posteriors are in tests/exact."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from unit.sequence.hmm_models import GAUSSIAN, quick

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import CollapsedEmission, GaussianEmission, StudentTEmission
from skdp.emissions._moments import moments
from skdp.emissions._student_t._emission import robust_moments
from skdp.emissions._student_t._model import make_nodes
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)


def with_outliers(n_steps=3000, n_states=3, share=0.02, seed=0):
    """Return clusters of which some steps are far off, true states and which steps these are."""
    rng = np.random.default_rng(seed)
    z = np.repeat(rng.integers(0, n_states, n_steps), rng.geometric(0.02, n_steps))[:n_steps]
    x = 6.0 * rng.permutation(n_states)[z][:, np.newaxis] * [1.0, -1.0]
    x = x + rng.normal(size=x.shape)
    off = rng.random(n_steps) < share
    x[off] += 30.0 * rng.normal(size=(off.sum(), 2))
    return x, z, off


class TestMoments:
    def test_normal_data(self):
        x = RNG.normal(size=(20_000, 2)) @ np.array([[2.0, 1.0], [0.0, 1.0]]) + [1.0, -3.0]
        center, covariance = robust_moments(x)
        assert_allclose(center, [1.0, -3.0], atol=0.06)
        assert_allclose(covariance, moments(x)[1], rtol=0.08)

    def test_outliers(self):
        x = RNG.normal(size=(2000, 2))
        x[::50] = 1e6
        center, covariance = robust_moments(x)
        assert_allclose(center, 0.0, atol=0.1)
        assert_allclose(np.diag(covariance), 1.0, rtol=0.2)
        assert abs(covariance[0, 1]) < 0.3

    def test_columns_without_spread(self):
        """More than half of a value, all of it, nothing but one value, gaps."""
        x = np.zeros((10, 3))
        x[:3, 0] = 1.0
        x[:, 1] = np.arange(10.0)
        x[4:, 1] = np.nan
        center, covariance = robust_moments(x)
        assert_allclose(center, [0.0, 1.5, 0.0])
        assert_allclose(covariance[0, 0], x[:, 0].var())
        assert_allclose(covariance[2, 2], 1.0)
        assert np.all(np.linalg.eigvalsh(covariance) > 0.0)
        _, one = robust_moments(np.array([[3.0]]))
        assert one > 0.0


class TestSampler:
    def start(self, **params):
        x, z, _ = with_outliers(200)
        x[3, 0] = x[5] = np.nan
        sampler = StudentTEmission(**params).make_sampler(x, 4)
        sampler.attach(x)
        return sampler, z, make_stream(make_seed_sequence(0))

    @pytest.mark.parametrize("covariance_type", ["full", "diag"])
    def test_own_arrays(self, covariance_type):
        sampler, z, rng = self.start(covariance_type=covariance_type, degrees_of_freedom="auto")
        assert isinstance(sampler, CollapsedEmission)
        sampler.draw(z, rng)
        other = sampler.copy()
        means, masses, freedom = other.means.copy(), other.masses.copy(), other.freedom
        sampler.draw(z, rng)
        assert_array_equal(other.means, means)
        assert_array_equal(other.masses, masses)
        assert other.freedom == freedom != sampler.freedom
        other.detach()
        arrays = [value for value in vars(other).values() if isinstance(value, np.ndarray)]
        assert all(200 not in array.shape for array in arrays)
        assert "_values" in vars(sampler)

    def test_moves_see_the_weights_of_the_sweep(self):
        """Moves and draws of parameters condition on the same statistics."""
        sampler, z, rng = self.start(degrees_of_freedom_prior=7.0)
        sampler.draw(z, rng)
        sampler.complete(z, rng)
        part = sampler.restrict(np.arange(200), 4)
        part.condition(z)
        sampler.draw(z, rng)
        for name in ("counts", "masses", "centers", "scatter"):
            assert_array_equal(getattr(part, name), getattr(sampler, name))
        assert part.log_evidence() == sampler.log_evidence()

    def test_random_starts_leave_outliers_out(self):
        x, z, off = with_outliers()
        x[off] *= 1e3
        found = []
        for emission in (GaussianEmission(), StudentTEmission()):
            sampler = emission.make_sampler(x, 5)
            sampler.attach(x)
            states = np.empty(len(x), dtype=np.int64)
            sampler.start(states, make_stream(make_seed_sequence(0)))
            found.append(adjusted_rand_score(z[~off], states[~off]))
        assert found[1] > found[0] + 0.2


@pytest.mark.parametrize("freedom", [150.0, 250.0, 1e8, 1e16, 1e20])
def test_nodes_are_few_and_have_the_moments(freedom):
    nodes = make_nodes(freedom, 2)
    assert len(nodes.logs) < 1000
    weights, u = np.exp(nodes.log_weights), np.exp(nodes.logs)
    assert_allclose(weights @ u, 1.0, rtol=1e-9)
    assert_allclose(weights @ (u - 1.0) ** 2, 2.0 / freedom, rtol=1e-6)


@pytest.mark.parametrize("tail_prior", [(1e8, 1e-8), (1e8, 1e8), (1e-8, 1e-8), (1e-8, 1e8)])
def test_priors_at_their_ends(tail_prior):
    x = np.random.default_rng(0).normal(size=(30, 2))
    emission = StudentTEmission("auto", tail_prior=tail_prior)
    model = HDPHMMLT(2, emission=emission, max_iter=2, random_state=0).fit(x)
    assert np.isfinite(model.score(x))
    assert np.isfinite(model.transform(x)).all()


class TestFits:
    def test_outliers_get_no_states(self):
        """Gaussian states are made for outliers, or stretched; those of heavy tails are not."""
        x, z, off = with_outliers()
        found = {}
        for name in ("gaussian", "student_t"):
            model = HDPHMMLT(10, emission=name, max_iter=100, random_state=0).fit(x)
            found[name] = np.count_nonzero(model.state_shares_ > 0.01)
        assert found["student_t"] == 3
        assert found["gaussian"] > 3
        assert adjusted_rand_score(z, model.predict(x)) > 0.97
        assert adjusted_rand_score(z[~off], model.predict(x)[~off]) > 0.99
        scales = np.diagonal(model.emission_.scales[:3], axis1=1, axis2=2)
        assert np.all((scales > 0.4) & (scales < 1.1))

    def test_degrees_of_freedom_are_learned(self):
        """One cluster of heavy tails, and one of none."""
        rng = np.random.default_rng(1)
        for x, low, high in (
            (rng.standard_t(3.0, size=(4000, 1)), 2.0, 4.5), (rng.normal(size=(4000, 1)), 15.0, 1e4)
        ):  # fmt: skip
            model = HDPHMMLT(1, emission=StudentTEmission("auto"), max_iter=60, random_state=0)
            found = [sample.emission.degrees_of_freedom for sample in model.fit(x).samples_]
            assert low < np.mean(found) < high

    @pytest.mark.parametrize("covariance_type", ["full", "diag"])
    def test_missing_values(self, covariance_type):
        X = [x.copy() for x in GAUSSIAN]
        X[0][3], X[1][5:8, 0] = np.nan, np.nan
        estimator = quick(emission=StudentTEmission(4.0, covariance_type)).fit(X)
        assert np.isfinite(estimator.score_samples(X)).all()
        assert_allclose(estimator.score_samples([np.full((4, 2), np.nan)]), 0.0, atol=1e-12)
        filled = estimator.impute(X)
        assert np.isfinite(np.vstack(filled)).all()
        ahead = estimator.forecast(X, 2)
        assert np.isfinite(ahead.mean[0]).all()
        assert np.isfinite(ahead.sd[0]).all()

    def test_forecasts_without_a_variance(self):
        ahead = quick(emission=StudentTEmission(2.0)).fit(GAUSSIAN).forecast(GAUSSIAN, 2)
        assert np.isinf(ahead.sd[0]).all()
        assert np.isfinite(ahead.mean[0]).all()
        assert np.isfinite(ahead.quantiles[0]).all()

    def test_pickles_and_clones(self):
        estimator = quick(emission=StudentTEmission("auto", "diag", tail_prior=(3.0, 1.0)))
        copied = pickle.loads(pickle.dumps(clone(estimator).fit(GAUSSIAN)))
        assert copied.score(GAUSSIAN) == estimator.fit(GAUSSIAN).score(GAUSSIAN)
        names = {"degrees_of_freedom", "covariance_type", "tail_prior", "covariance_prior"}
        assert names < set(StudentTEmission().get_params())
        by_name = quick(emission="student_t").set_params(emission__covariance_type="diag")
        assert isinstance(by_name.emission, StudentTEmission)

    def test_far_outliers(self):
        x, z, _ = with_outliers(500)
        x[[3, 50]] = [[1e100, -1e100], [1e30, 0.0]]
        model = HDPHMMLT(6, emission="student_t", max_iter=40, random_state=0).fit(x)
        assert np.isfinite(model.score(x))
        assert adjusted_rand_score(z, model.predict(x)) > 0.95


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"degrees_of_freedom": 0.0}, "'degrees_of_freedom' parameter of StudentTEmission"),
        ({"degrees_of_freedom": -1.0}, "'degrees_of_freedom' parameter of StudentTEmission"),
        ({"degrees_of_freedom": np.nan}, "'degrees_of_freedom' parameter"),
        ({"degrees_of_freedom": "learn"}, "'degrees_of_freedom' parameter.*'auto'"),
        ({"degrees_of_freedom": True}, "'degrees_of_freedom' parameter"),
        ({"tail_prior": (0.0, 1.0)}, "StudentTEmission: tail_prior must be two positive"),
        ({"tail_prior": 2.0}, "'tail_prior' parameter"),
        ({"covariance_type": "tied"}, "'covariance_type' parameter of StudentTEmission"),
        ({"mean_prior": [0.0]}, r"StudentTEmission: mean_prior must be of shape \(2,\)"),
        ({"covariance_prior": [[1.0, 2.0], [2.0, 1.0]]}, "StudentTEmission: .*positive definite"),
        ({"degrees_of_freedom_prior": 1.0}, "StudentTEmission: degrees_of_freedom_prior must be"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        quick(emission=StudentTEmission(**params)).fit(GAUSSIAN)


def test_bad_values():
    with pytest.raises(ValueError, match="scale the columns of X"):
        quick(emission="student_t").fit([x * 1e160 for x in GAUSSIAN])
