"""Fits of mixtures: attributes, resumed chains, draws."""

import copy
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, homogeneity_score
from sklearn.model_selection import GridSearchCV

from skdp._numeric._numba import as_readonly
from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.mixture import DPMixture, PitmanYorMixture
from skdp.mixture._labels import LabeledRows
from skdp.mixture._sampler import MixtureSampler

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])


def blobs(n=30, seed=0):
    rng = np.random.default_rng(seed)
    z = np.repeat(np.arange(3), n)
    return CENTRES[z] + rng.normal(scale=0.7, size=(3 * n, 2)), z


X, Z = blobs()
QUICK = {"max_iter": 60, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return PitmanYorMixture(**QUICK).fit(X)


def same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.score_samples(X), other.score_samples(X))
    assert model.trace_ == other.trace_


def test_attributes(model):
    assert model.n_components_ == 3
    assert adjusted_rand_score(Z, model.labels_) == 1.0
    assert model.labels_.dtype == np.int64
    sizes = np.bincount(model.labels_)
    a, b = model.discount_, model.concentration_
    np.testing.assert_allclose(model.weights_, (sizes - a) / (90 + b))
    np.testing.assert_allclose(model.n_components_distribution_.sum(), 1.0)
    assert model.n_components_distribution_[3] > 0.5
    means = [X[model.labels_ == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.means_, means, atol=0.02)
    assert model.covariances_.shape == (3, 2, 2)
    assert set(model.trace_) == {
        "log_joint", "n_components", "discount", "concentration",
        "emission_scale", "emission_degrees_of_freedom",
    }  # fmt: skip


def test_probabilities(model):
    grid = np.random.default_rng(1).uniform(-3, 9, (200, 2))
    probabilities = model.predict_proba(grid)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(grid))
    novelty = model.novelty(np.vstack([CENTRES, [[40.0, 40.0]]]))
    assert np.all(novelty[:3] < 0.05)
    assert novelty[3] > 0.9


def test_rows_that_no_component_can_have(model):
    """With an emission of bounded support: probabilities are those of any next row."""

    class Bounded:
        def log_obs(self, values):
            return np.full((len(values), 4), -np.inf)

    bounded = copy.copy(model)
    bounded._representative = replace(model._representative, emission=Bounded())
    weights = model._representative.weights
    proba = bounded.predict_proba(X[:2])
    np.testing.assert_allclose(proba, [weights[:3] / weights[:3].sum()] * 2)
    np.testing.assert_array_equal(bounded.predict(X[:2]), [weights[:3].argmax()] * 2)
    np.testing.assert_allclose(bounded.novelty(X[:2]), [weights[3]] * 2)


def test_scores_are_averaged_over_samples(model):
    parts = [sample.log_densities(X) for sample in model._models]
    assert len(parts) == model.trace_.sweeps.size > 5
    mean = logsumexp(parts, axis=0) - np.log(len(parts))
    np.testing.assert_allclose(model.score_samples(X), mean)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())


def test_the_density_integrates_to_one(model):
    line = np.linspace(-40, 46, 700)
    grid = np.array(np.meshgrid(line, line)).reshape(2, -1).T
    mass = np.exp(model.score_samples(grid)).sum() * (line[1] - line[0]) ** 2
    assert 0.97 < mass < 1.001  # a Student t tail is outside


def test_draws_follow_the_density(model):
    """A false alarm for one in 1,700 choices of the seed: three standard errors, twice."""
    draws = model.sample(4000, random_state=0)
    low = np.quantile(model.score_samples(draws[:2000]), 0.5)
    share = np.mean(model.score_samples(draws[2000:]) > low)
    assert abs(share - 0.5) < 3.5 * np.sqrt(0.5 / 2000)
    nearest = np.argmin(((draws[:, np.newaxis] - CENTRES) ** 2).sum(axis=2), axis=1)
    shares = np.bincount(nearest, minlength=3) / 4000
    assert np.all(np.abs(shares - 1 / 3) < 0.05)


def test_chains_from_few_and_many_components_agree():
    labels = [np.zeros(90, int), np.arange(90) % 20, np.arange(90)]
    fits = [DPMixture(init=z, **QUICK).fit(X) for z in labels]
    assert [fit.n_components_ for fit in fits] == [3, 3, 3]
    scores = [fit.score(X) for fit in fits]
    assert max(scores) - min(scores) < 0.02


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1j, 2, 3], "b": ["1", 2, 3]}),
        pd.DataFrame({"a": [1j, 2, 3], "b": [1, 2, 3]}),
        pd.DataFrame({"a": [1j, "2", 3], "b": [1, 2, 3]}),
        np.array([[np.complex64(1j), 2], [1, "2"]], dtype=object),
    ],
)
@pytest.mark.filterwarnings("error")
def test_complex_columns(X):
    """Their imaginary parts would be dropped."""
    message = "Complex data not supported: X(, column 'a',)? must hold real numbers, got complex"
    with pytest.raises(ValueError, match=message):
        DPMixture(max_iter=4).fit(X)


@pytest.mark.parametrize(
    ("model", "bound"),
    [(DPMixture(concentration=0), "0"), (PitmanYorMixture(discount=0.5, concentration=-1), "-0.5")],
)
def test_concentrations_out_of_range(model, bound):
    with pytest.raises(ValueError, match=f"must be a finite number > {bound}, got"):
        model.fit(X)


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_numbers_of_init_are_not_kept(sampler):
    """A first partition is only a start, while labels in y keep their numbers."""
    sizes = [5, 20, 10, 30]
    first = np.repeat(np.arange(4), sizes)
    rows = np.random.default_rng(0).normal(size=(65, 2)) + 8.0 * first[:, np.newaxis]
    model = DPMixture(sampler=sampler, init=first, max_iter=60, random_state=0)
    assert model.fit(rows).labels_[[0, 6, 26, 40]].tolist() == [3, 1, 2, 0]
    assert model.fit(rows, first).labels_[[0, 6, 26, 40]].tolist() == [0, 1, 2, 3]


def test_without_moves_one_component_stays():
    """The purpose of the moves: no single row leaves a large component for a new one."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(m, 0.3, (60, 8)) for m in (0.0, 1.0)])
    start = np.zeros(120, int)
    params = {"init": start, "max_iter": 30, "random_state": 0}
    assert DPMixture(**params).fit(rows).n_components_ == 2
    alone = DPMixture(split_merge=False, concentration=0.01, **params).fit(rows)
    assert alone.n_components_ == 1


def test_warm_start_is_one_long_chain():
    long = PitmanYorMixture(max_iter=20, burn_in=4, random_state=0).fit(X)
    short = PitmanYorMixture(max_iter=11, burn_in=4, warm_start=True, random_state=0).fit(X)
    short = pickle.loads(pickle.dumps(short)).set_params(max_iter=20).fit(X)
    same(long, short)


def test_several_chains_whatever_the_threads():
    one = PitmanYorMixture(max_iter=10, n_chains=2, random_state=0).fit(X)
    two = clone(one).set_params(n_jobs=2).fit(X)
    same(one, two)
    assert one.trace_["log_joint"].shape == (2, 2)
    assert len(one._models) == 4


def test_iter_sweeps():
    states = DPMixture(max_iter=5, random_state=0).iter_sweeps(X)
    copies = [state.copy() for state in states]
    assert len(copies) == 5
    assert copies[-1].labels.shape == (90,)
    assert copies[-1].discount == 0.0
    assert copies[-1].concentration > 0.0
    joints = [state.log_joint() for state in copies]
    fitted = DPMixture(max_iter=5, burn_in=0, thin=1, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.trace_["log_joint"][0], joints)
    with pytest.raises(ValueError, match="read-only"):
        copies[-1].labels[0] = 1


def test_nested_parameters():
    grid = {"emission__covariance_type": ["diag", "full"]}
    search = GridSearchCV(DPMixture(max_iter=8, random_state=0), grid, cv=2).fit(X)
    assert isinstance(search.best_estimator_.emission, GaussianEmission)
    diagonal = search.estimator.set_params(emission__covariance_type="diag").fit(X)
    assert diagonal.covariances_.shape == (diagonal.n_components_, 2)


@pytest.mark.parametrize("mixture", [DPMixture, PitmanYorMixture])
@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
@pytest.mark.parametrize("value", [1e18, 1e30, -1e110])
def test_one_absurd_value_of_a_heavy_tail(mixture, sampler, value):
    """It does not determine the tail of all clusters, which would then be made of several."""
    rows, kind = blobs()
    rows[20, 1] = value
    model = mixture("student_t", sampler=sampler, max_iter=30, random_state=0).fit(rows)
    others = np.arange(90) != 20
    assert adjusted_rand_score(kind[others], model.labels_[others]) == 1.0


@pytest.mark.parametrize("value", [1e15, 1e30, 1e110])
def test_one_absurd_value_among_independent_columns(value):
    """It gets a cluster of its own, and its weight does not underflow."""
    rows, kind = blobs()
    rows[20, 1] = value
    emission = StudentTEmission("auto", covariance_type="diag")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = DPMixture(emission, **QUICK).fit(rows)
    assert np.isfinite(model.trace_["log_joint"]).all()
    others = np.arange(90) != 20
    assert adjusted_rand_score(kind[others], model.labels_[others]) == 1.0


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
@pytest.mark.parametrize("emission", ["poisson", "multinomial", "categorical"])
def test_counts(emission, sampler):
    rng = np.random.default_rng(0)
    rates = np.array([[1.0, 9.0, 3.0], [8.0, 1.0, 3.0]])
    rows = rng.poisson(rates[np.arange(60) % 2])
    if emission == "categorical":
        rows = rows[:, :1]
    model = DPMixture(emission, sampler=sampler, max_iter=40, random_state=0).fit(rows)
    assert not hasattr(model, "means_")
    draws = model.sample(50, random_state=0)
    assert draws.shape == (50, rows.shape[1])
    if emission == "categorical":
        assert "emission_concentration" in model.trace_
    else:
        assert adjusted_rand_score(np.arange(60) % 2, model.labels_) > 0.8


def test_one_point_estimate_or_the_other():
    model = DPMixture(point_estimate="vi", **QUICK).fit(X)
    assert adjusted_rand_score(Z, model.labels_) == 1.0


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_many_rows_begin_with_some(sampler):
    """Components are there at once, and so is their scale, about a fiftieth of what is expected."""
    rng = np.random.default_rng(0)
    z = rng.integers(9, size=6000)
    rows = 10.0 * np.column_stack([z // 3, z % 3]) + rng.normal(size=(6000, 2))
    gibbs = make_chain_sampler(rows, sampler)
    assert gibbs.n_clusters >= 9
    assert homogeneity_score(z, gibbs.labels) > 0.98
    assert np.unique(gibbs.labels).tolist() == list(range(gibbs.n_clusters))
    assert gibbs.emission.scalars()["emission_scale"] < 0.1


def make_chain_sampler(rows, sampler):
    model = DPMixture(sampler=sampler, random_state=0)
    return model._start_sampler(LabeledRows(as_readonly(rows)), np.random.SeedSequence(0), 0)


def test_clear_components_of_many_columns():
    """Under a prior as wide as the data fifty rows each would be shared by two components or so."""
    rng = np.random.default_rng(0)
    z = rng.integers(12, size=600)
    rows = 4.0 * rng.normal(size=(12, 10))[z] + rng.normal(size=(600, 10))
    model = DPMixture(max_iter=60, random_state=0).fit(rows)
    assert model.n_components_ == 12
    assert adjusted_rand_score(z, model.labels_) > 0.98


@pytest.mark.parametrize("kind", ["constant", "collinear"])
def test_columns_that_tell_nothing(kind):
    """They do not change the clusters that the other columns determine."""
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=200)
    rows = 8.0 * rng.normal(size=(3, 2))[z] + rng.normal(size=(200, 2))
    more = np.ones(200) if kind == "constant" else rows.sum(axis=1)
    model = DPMixture(max_iter=60, random_state=0).fit(np.column_stack([rows, more]))
    assert adjusted_rand_score(z, model.labels_) > 0.98
    assert np.isfinite(model.score(np.column_stack([rows, more])))


class TestFewRows:
    """Fewer than 20 rows for each column, with full covariances."""

    THREE = np.repeat(np.arange(3), 20)

    def rows(self, seed=0, distance=0.0):
        noise = np.random.default_rng(seed).normal(size=(60, 20))
        return distance * np.eye(20)[self.THREE] + noise

    @pytest.mark.parametrize("seed", range(2))
    def test_one_normal_distribution(self, seed):
        model = PitmanYorMixture(max_iter=30, random_state=0).fit(self.rows(seed))
        assert model.n_components_ == 1

    @pytest.mark.parametrize("seed", range(2))
    def test_three_clusters(self, seed):
        model = PitmanYorMixture(max_iter=30, random_state=0).fit(self.rows(seed, 6.0))
        assert adjusted_rand_score(self.THREE, model.labels_) == 1.0

    def test_given_clusters_stay(self):
        """With draws of S that suit them: under the one of all rows they would be merged."""
        model = DPMixture(init=self.THREE, max_iter=10, burn_in=0, random_state=0)
        model.fit(self.rows(0, 6.0))
        assert adjusted_rand_score(self.THREE, model.labels_) == 1.0

    def test_units_do_not_matter(self):
        X, scales = self.rows(0, 6.0), 2.0 ** np.arange(-10, 10)
        fits = [DPMixture(max_iter=5, random_state=0).fit(rows) for rows in (X, scales * X)]
        np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)

    def test_interrupt_in_the_start(self, monkeypatch):
        n_sweeps = 0
        sweep = MixtureSampler.sweep

        def interrupt(self):
            nonlocal n_sweeps
            n_sweeps += 1
            if n_sweeps == 40:
                raise KeyboardInterrupt
            sweep(self)

        monkeypatch.setattr(MixtureSampler, "sweep", interrupt)
        model = DPMixture(max_iter=5, random_state=0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(self.rows())
        assert not hasattr(model, "labels_")
