"""Fits of mixtures: attributes, densities, starts, and rows that are hard."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score, homogeneity_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp._numeric._numba import as_readonly
from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._kernels._blocked import BLOCK
from skdp.mixture._rows._partition import LabeledRows

CENTERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
QUICK = {"max_iter": 60, "random_state": 0}
both_samplers = pytest.mark.parametrize("sampler", ["collapsed", "blocked"])


def blobs(n=30, seed=0):
    rng = np.random.default_rng(seed)
    z = np.repeat(np.arange(3), n)
    return CENTERS[z] + rng.normal(scale=0.7, size=(3 * n, 2)), z


def grid(n_rows, side=3):
    """Return rows of components on a grid, and these."""
    rng = np.random.default_rng(0)
    z = rng.integers(side * side, size=n_rows)
    rows = 10.0 * np.column_stack([z // side, z % side]) + rng.normal(size=(n_rows, 2))
    return rows, z


X, Z = blobs()


@pytest.fixture(scope="module")
def model():
    return PitmanYorMixture(**QUICK).fit(X)


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


@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_few_rows_are_not_all_alone(scale):
    """The scale that components share would follow rows that are alone, whatever it is."""
    for seed in (0, 3, 4):
        rows = np.random.default_rng(100 + seed).normal(size=(20, 2))
        found = PitmanYorMixture(max_iter=60, random_state=seed).fit(scale * rows)
        assert found.n_components_ <= 4


def test_probabilities(model):
    grid = np.random.default_rng(1).uniform(-3, 9, (200, 2))
    probabilities = model.predict_proba(grid)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(grid))
    novelty = model.novelty(np.vstack([CENTERS, [[40.0, 40.0]]]))
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


def test_densities(model):
    """Scores are averages over the stored samples, and the density integrates to 1."""
    parts = [sample.log_densities(X) for sample in model._models]
    assert len(parts) == model.trace_.sweeps.size > 5
    mean = logsumexp(parts, axis=0) - np.log(len(parts))
    np.testing.assert_allclose(model.score_samples(X), mean)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())
    line = np.linspace(-40, 46, 400)
    grid = np.array(np.meshgrid(line, line)).reshape(2, -1).T
    mass = np.exp(model._models[0].log_densities(grid)).sum() * (line[1] - line[0]) ** 2
    assert 0.97 < mass < 1.001  # a Student t tail is outside


def test_draws_follow_the_density(model):
    """A false alarm for one in 1,700 choices of the seed: three standard errors, twice."""
    draws = model.sample(4000, random_state=0)
    low = np.quantile(model.score_samples(draws[:2000]), 0.5)
    share = np.mean(model.score_samples(draws[2000:]) > low)
    assert abs(share - 0.5) < 3.5 * np.sqrt(0.5 / 2000)
    nearest = np.argmin(((draws[:, np.newaxis] - CENTERS) ** 2).sum(axis=2), axis=1)
    shares = np.bincount(nearest, minlength=3) / 4000
    assert np.all(np.abs(shares - 1 / 3) < 0.05)


def test_chains_from_few_and_many_components_agree():
    """Whichever loss the point estimate has."""
    labels = [np.zeros(90, int), np.arange(90) % 20, np.arange(90)]
    losses = ["binder", "vi", "vi"]
    fits = [
        DPMixture(init=z, point_estimate=loss, **QUICK).fit(X)
        for z, loss in zip(labels, losses, strict=True)
    ]
    assert [fit.n_components_ for fit in fits] == [3, 3, 3]
    scores = [fit.score(X) for fit in fits]
    assert max(scores) - min(scores) < 0.02


@both_samplers
def test_numbers_of_init_are_not_kept(sampler):
    """A first partition is only a start, while labels in y keep their numbers."""
    sizes = [5, 20, 10, 30]
    first = np.repeat(np.arange(4), sizes)
    rows = np.random.default_rng(0).normal(size=(65, 2)) + 8.0 * first[:, np.newaxis]
    model = DPMixture(sampler=sampler, init=first, **QUICK)
    assert model.fit(rows).labels_[[0, 6, 26, 40]].tolist() == [3, 1, 2, 0]
    assert model.fit(rows, first).labels_[[0, 6, 26, 40]].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("mixture", [DPMixture, HDPMixture])
def test_without_moves_one_component_stays(mixture):
    """The purpose of the moves: no single row leaves a large component for a new one."""
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(m, 0.3, (60, 8)) for m in (0.0, 1.0)])
    start, given = np.zeros(120, int), {"concentration": 0.01}
    if mixture is HDPMixture:
        rows, start = np.split(rows, 2), np.split(start, 2)
        given = {"concentration": 0.1, "top_concentration": 0.01}
    model = mixture(init=start, max_iter=30, random_state=0)
    assert model.fit(rows).n_components_ == 2
    model.set_params(split_merge=False, **given).fit(rows)
    assert model.n_components_ == 1
    assert {name: getattr(model, f"{name}_") for name in given} == given


def test_nested_parameters_and_metrics():
    """Classes that a metric compares with are not labels of rows."""
    y = Z % 2
    pipeline = make_pipeline(StandardScaler(), DPMixture(use_y=False, max_iter=24, random_state=0))
    assert adjusted_rand_score(pipeline.fit(X, y)[-1].labels_, Z) == 1.0
    grid = {"emission__covariance_type": ["diag", "full"], "use_y": [False]}
    model = DPMixture(max_iter=8, random_state=0)
    search = GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=2).fit(X, y)
    assert isinstance(search.best_estimator_.emission, GaussianEmission)
    assert search.best_score_ < 0.8
    diagonal = model.set_params(emission=GaussianEmission("diag")).fit(X)
    assert diagonal.covariances_.shape == (diagonal.n_components_, 2)


@pytest.mark.parametrize(
    "mixture",
    [DPMixture(), DPMixture(sampler="blocked"), HDPMixture()],
    ids=["collapsed", "blocked", "groups"],
)
@pytest.mark.parametrize("emission", ["poisson", "multinomial", "categorical", "bernoulli"])
def test_counts(emission, mixture):
    rng = np.random.default_rng(0)
    rates = np.array([[1.0, 9.0, 3.0], [8.0, 1.0, 3.0]])
    rows, z = rng.poisson(rates[np.arange(60) % 2]), np.arange(60) % 2
    if emission == "categorical":
        rows = rows[:, :1]
    elif emission == "bernoulli":
        rows = rng.random((60, 8)) < np.where(z[:, np.newaxis], 0.1, 0.9)
    has_groups = isinstance(mixture, HDPMixture)
    mixture.set_params(emission=emission, max_iter=20, random_state=0)
    model = mixture.fit([rows[:30], rows[30:]] if has_groups else rows)
    assert not hasattr(model, "means_")
    assert model.sample(50, random_state=0).shape[-1] == rows.shape[1]
    assert np.isfinite(model.score([rows] if has_groups else rows))
    if emission == "categorical":
        assert "emission_concentration" in model.trace_
    else:
        for labels in (model.labels_, model.labels_at(2)):
            assert adjusted_rand_score(z, np.concatenate(labels) if has_groups else labels) > 0.8


# Many rows, many columns, few rows


def start(rows, sampler):
    model = DPMixture(sampler=sampler, random_state=0)
    return model._start_sampler(LabeledRows(as_readonly(rows)), np.random.SeedSequence(0), 0)


@both_samplers
def test_many_rows_begin_with_some(sampler):
    """Components are there at once, and so is their scale, about a fiftieth of what is expected."""
    rows, z = grid(4200)
    gibbs = start(rows, sampler)
    assert gibbs.n_clusters >= 9
    assert homogeneity_score(z, gibbs.labels) > 0.98
    assert np.unique(gibbs.labels).tolist() == list(range(gibbs.n_clusters))
    assert gibbs.emission.scalars()["emission_scale"] < 0.1


@pytest.mark.slow
def test_blocks_of_many_rows():
    """From one cluster of all rows, too: beginnings of moves look at a thousand of them."""
    rows, z = grid(3 * BLOCK + 100)
    model = PitmanYorMixture(sampler="blocked", max_iter=12, burn_in=4, random_state=0).fit(rows)
    assert (model.weights_ > 0.01).sum() == 9
    assert adjusted_rand_score(z, model.labels_) > 0.99
    model.set_params(init=np.zeros(len(rows), dtype=int), burn_in=10).fit(rows)
    assert homogeneity_score(z, model.labels_) > 0.99
    model.set_params(split_merge=False).fit(rows)
    assert np.bincount(model.labels_).max() > 0.9 * len(rows)


def test_clear_components_of_many_columns():
    """Under a prior as wide as the data fifty rows each would be shared by two components or so."""
    rng = np.random.default_rng(0)
    z = rng.integers(12, size=600)
    rows = 4.0 * rng.normal(size=(12, 10))[z] + rng.normal(size=(600, 10))
    model = DPMixture(max_iter=60, random_state=0).fit(rows)
    assert model.n_components_ == 12
    assert adjusted_rand_score(z, model.labels_) > 0.98


@pytest.mark.slow
def test_collinear_columns():
    """They do not change the clusters that the other columns determine."""
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=200)
    rows = 8.0 * rng.normal(size=(3, 2))[z] + rng.normal(size=(200, 2))
    rows = np.column_stack([rows, rows.sum(axis=1)])
    model = DPMixture(max_iter=60, random_state=0).fit(rows)
    assert adjusted_rand_score(z, model.labels_) > 0.98
    assert np.isfinite(model.score(rows))


THREE = np.repeat(np.arange(3), 20)


def few_rows(distance=0.0, seed=0):
    """Return fewer than 20 rows for each column."""
    noise = np.random.default_rng(seed).normal(size=(60, 20))
    return distance * np.eye(20)[THREE] + noise


SLOW_CASES = [(1, 0.0), *((seed, 6.0) for seed in range(1, 8))]


@pytest.mark.parametrize(
    ("seed", "distance"),
    [
        (0, 0.0),
        (0, 6.0),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW_CASES),
    ],
)
def test_clusters_of_few_rows(seed, distance):
    """With full covariances: one normal distribution, or three clusters."""
    model = PitmanYorMixture(max_iter=30, random_state=0).fit(few_rows(distance, seed))
    if distance == 0.0:
        assert model.n_components_ == 1
    else:
        assert adjusted_rand_score(THREE, model.labels_) == 1.0


def test_given_clusters_of_few_rows_stay():
    """With draws of S that suit them: under the one of all rows they would be merged."""
    model = DPMixture(init=THREE, max_iter=10, burn_in=0, random_state=0).fit(few_rows(6.0))
    assert adjusted_rand_score(THREE, model.labels_) == 1.0


def test_units_of_few_rows_do_not_matter():
    rows, scales = few_rows(6.0), 2.0 ** np.arange(-10, 10)
    fits = [DPMixture(max_iter=5, random_state=0).fit(each) for each in (rows, scales * rows)]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


# Absurd values


TAILS = StudentTEmission("auto", covariance_type="diag")


@pytest.mark.parametrize(
    ("emission", "sampler", "value"),
    [
        ("student_t", "collapsed", 1e18),
        ("student_t", "blocked", -1e110),
        (TAILS, "collapsed", 1e15),
        (TAILS, "collapsed", 1e110),
        (TAILS, "blocked", 1e30),
    ],
)
def test_one_absurd_value(emission, sampler, value):
    """It does not determine the tail of all clusters, which would then be made of several."""
    rows, kind = blobs()
    rows[20, 1] = value
    model = DPMixture(emission, sampler=sampler, **QUICK).fit(rows)
    assert np.isfinite(model.trace_["log_joint"]).all()
    others = np.arange(90) != 20
    assert adjusted_rand_score(kind[others], model.labels_[others]) == 1.0
