"""Clusters as unions of components between which the rows show no gap."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.base import clone

from skdp.emissions import GaussianEmission, IndependentEmissions
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._unions import (
    fill_hidden,
    find_dip,
    fit_one_mode,
    fit_two_normals,
    has_gap,
    unite_components,
)

UNITED = {"max_iter": 60, "random_state": 0}  # the default where there are numbers
LEVELS = np.repeat([0.0, 12.0, 24.0], 200)
NOISE = {
    "exponential": lambda rng: rng.exponential(size=600),
    "Laplace": lambda rng: rng.laplace(size=600),
    "uniform": lambda rng: 3.0 * rng.random(600),
    "at a limit": lambda rng: np.minimum(rng.normal(size=600), 0.3),
    "normal": lambda rng: rng.normal(size=600),
}


def brute_dip(values):
    """Half the distance of a sample from convex left, concave right of the best mode."""
    x = np.unique(values)
    above = np.array([np.mean(values <= each) for each in x])
    below = np.array([np.mean(values < each) for each in x])

    def chord(bound, i, j, k):
        share = (x[j] - x[i]) / (x[k] - x[i]) if k > i else 0.0
        return (1.0 - share) * bound[i] + share * bound[k]

    def left(m):  # the largest convex function below is the lowest chord
        return max(
            above[j] - min(chord(below, i, j, k) for i in range(j + 1) for k in range(j, m + 1))
            for j in range(m + 1)
        )

    def right(m):
        n = len(x)
        return max(
            max(chord(above, i, j, k) for i in range(m, j + 1) for k in range(j, n)) - below[j]
            for j in range(m, n)
        )

    return 0.5 * min(max(left(m), right(m)) for m in range(len(x)))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 15])
@pytest.mark.parametrize("seed", range(4))
def test_dip(n, seed):
    rng = np.random.default_rng(seed)
    values = 1e3 + rng.normal(size=n) + np.where(rng.random(n) < 0.5, 0.0, 4.0)
    if seed == 3:
        values = np.round(values)
    assert find_dip(values) == pytest.approx(brute_dip(values), abs=1e-9)
    assert find_dip(-1e-5 * values) == pytest.approx(find_dip(values), abs=1e-9)


@pytest.mark.parametrize(("n", "most"), [(60, 25), (1500, 9)])
@pytest.mark.parametrize("draw", ["random", "standard_exponential"])
def test_gaps_of_samples_with_one_mode_are_rare(n, most, draw):
    """2 % of uniform samples have one by chance, 12 % of small ones: more in 1 of 10,000 tests."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        x = np.sort(getattr(rng, draw)(n))[:, np.newaxis]
        cut = rng.integers(n // 4, 3 * n // 4)
        found += has_gap(x[:cut], x[cut:])
    assert found <= most


def test_gaps_between_normal_samples():
    rng = np.random.default_rng(0)
    for distance, expected in ((0.0, False), (1.5, False), (4.0, True), (5.0, True)):
        for n in (30, 150):  # too few for a dip of 4.0
            a, b = rng.normal(size=(2, n, 3)) @ np.diag([1e-6, 5e6, 0.1])
            assert has_gap(a, b + 1e-6 * distance * np.eye(3)[0]) == expected, (distance, n)
    assert not has_gap(np.zeros((1, 2)), np.ones((9, 2)))  # one row shows nothing
    assert not has_gap(np.zeros((5, 2)), np.zeros((9, 2)))


def test_gaps_between_samples_that_are_not_normal():
    """One flat density is better than two normals, but the empty place is not flat."""
    x = np.linspace(0.0, 1.0, 1000)[:, np.newaxis]
    assert has_gap(x, x + 1.3)
    assert not has_gap(x, x + 1.01)


@pytest.mark.parametrize("seed", range(3))
def test_two_normals_by_a_search(seed):
    """Expectation maximization ends at a maximum; the valley is that of its density."""
    rng = np.random.default_rng(seed)
    first = np.arange(80) < 30 + seed
    x = rng.normal(size=80) * np.where(first, 1.0, 1.5) + 5.0 * first
    x = (x - x.mean()) / x.std()
    valley, found = fit_two_normals(x, first)

    def density(x, p):
        weight = 1.0 / (1.0 + np.exp(-p[0]))
        own = norm.pdf(x[:, np.newaxis], p[1:3], np.exp(p[3:]))
        return own @ [weight, 1.0 - weight]

    means = [x[first].mean(), x[~first].mean()]
    searches = [
        minimize(lambda p: -np.log(density(x, p)).sum(), [0.0, *means, spread, spread])
        for spread in (-2.0, -1.0, -0.3)
    ]
    best = min(searches, key=lambda search: search.fun)
    assert found == pytest.approx(-best.fun, abs=1e-2)
    between = density(np.linspace(*best.x[1:3], 1000), best.x)
    assert valley == pytest.approx(between.min() / between[[0, -1]].min(), abs=0.02)


@pytest.mark.parametrize("draw", ["normal", "standard_exponential", "random", "bimodal"])
def test_log_concave_density_by_its_conditions(draw):
    """With kinks at the quantiles only, the best density has the same means of all bends."""
    rng = np.random.default_rng(1)
    x = 3.0 * (np.arange(300) % 2) + rng.normal(size=300) if draw == "bimodal" else None
    x = getattr(rng, draw)(size=300) if x is None else x
    knots, grid = np.quantile(x, np.linspace(0.0, 1.0, 17)), np.linspace(x.min(), x.max(), 20_001)

    def log_density(heights):
        values = np.interp(grid, knots, heights)
        return values - np.log(trapezoid(np.exp(values), grid))

    def loss(heights):
        return -np.interp(x, grid, log_density(heights)).sum()

    widths = np.diff(knots)
    concave = {"type": "ineq", "fun": lambda h: -np.diff(np.diff(h) / widths)}
    best = minimize(loss, -0.5 * (knots - x.mean()) ** 2 / x.var(), constraints=[concave],
                    method="SLSQP", options={"maxiter": 500})  # fmt: skip
    assert fit_one_mode(x) == pytest.approx(-best.fun, abs=0.3)
    assert fit_one_mode(-10.0 * x) == pytest.approx(fit_one_mode(x) - 300 * np.log(10.0), abs=0.1)


def test_components_that_are_not_mistaken_for_each_other_are_apart():
    rows = np.linspace(0.0, 1.0, 90)[:, np.newaxis]
    own = np.repeat(np.eye(3), 30, axis=0)
    apart = 0.9999 * own + 1e-4 / 3.0
    assert unite_components(apart, rows).tolist() == [0, 1, 2]
    assert unite_components(apart, rows, [1]).tolist() == [0, 0, 0]
    vague = 0.99 * own + 0.01 / 3.0
    assert unite_components(vague, rows).tolist() == [0, 0, 0]
    assert unite_components(vague, rows, (), 2).tolist() in ([0, 1, 0], [0, 1, 1])
    refused = unite_components(
        vague, rows, may_unite=lambda clusters, a, b: clusters[2] not in (a, b)
    )
    assert refused.tolist() == [0, 0, 1]


@pytest.mark.parametrize("noise", NOISE)
def test_noise_of_another_shape_is_one_cluster(noise):
    """The posterior of Gaussian components needs several, and says so."""
    rng = np.random.default_rng(0)
    own = NOISE[noise](rng)
    one = DPMixture(**UNITED).fit(own[:, np.newaxis])
    three = DPMixture(**UNITED).fit((LEVELS + own)[:, np.newaxis])
    # outliers beyond a gap may be a cluster of their own
    assert np.count_nonzero(np.bincount(one.labels_) >= 6) == 1
    assert np.count_nonzero(np.bincount(three.labels_) >= 6) == 3
    assert one.n_components_ > 1 or noise == "normal"


@pytest.fixture(scope="module")
def skewed():
    rng = np.random.default_rng(1)
    levels = np.repeat([0.0, 12.0, 24.0], [100, 200, 300])
    X = np.column_stack([levels + rng.exponential(size=600), rng.normal(size=600)])
    return X, DPMixture(**UNITED).fit(X)


def test_attributes_and_predictions(skewed):
    X, model = skewed
    assert model.n_clusters_ == 3 < model.n_components_ == len(model.weights_)
    np.testing.assert_array_equal(model.cluster_labels_, np.arange(3))
    np.testing.assert_array_equal(model.labels_, model.component_labels_[model._components])
    assert np.bincount(model.labels_).tolist() == [300, 200, 100]
    proba = model.predict_proba(X)
    assert proba.shape == (600, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))

    alone = clone(model).set_params(merge_overlapping=False).fit(X)
    assert alone.n_clusters_ == alone.n_components_ == model.n_components_
    np.testing.assert_array_equal(alone.labels_, alone._components)
    np.testing.assert_array_equal(alone.score_samples(X), model.score_samples(X))
    for k in range(3):
        own = alone.predict_proba(X)[:, model.component_labels_ == k].sum(axis=1)
        np.testing.assert_allclose(proba[:, k], own)
    np.testing.assert_array_equal(alone.labels_at(3), model.labels_at(3))


def test_explanation_is_of_clusters(skewed):
    model = skewed[1]
    explained = model.explain(["level", "noise"])
    assert len(explained) == 6
    x = np.linspace(-60.0, 90.0, 300_001)
    log_densities = model.emission_.marginals().log_density(x, 0)
    densities = np.exp(log_densities) * model.weights_ / model.weights_.sum()
    whole = densities.sum(axis=1)
    for k in range(3):
        own = densities[:, model.component_labels_ == k].sum(axis=1)
        share = own.sum() * (x[1] - x[0])
        ratios = np.where(own > 0.0, own / np.where(whole > 0.0, whole, 1.0) / share, 1.0)
        divergence = (own / share * np.log(ratios)).sum() * (x[1] - x[0])
        (found,) = (each for each in explained.of(k) if each.column == "level")
        assert found.divergence == pytest.approx(divergence, rel=1e-4)
        members = model.component_labels_ == k
        mean = np.average(model.means_[members, 0], weights=model.weights_[members])
        assert found.inside == pytest.approx(mean)


def test_rounded_values_are_not_modes():
    rng = np.random.default_rng(0)
    X = np.round(5.0 * rng.gamma(2.0, 1.0, size=(800, 1))) / 5.0
    model = DPMixture(**UNITED).fit(X)
    assert model.n_clusters_ == 1 < model.n_components_


def test_known_labels_stay_apart():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(400, 1))
    y = np.where(X[:, 0] < 0.2, 3, np.where(X[:, 0] > 1.5, 8, -1))
    model = DPMixture(**UNITED).fit(X, y)
    assert model.cluster_labels_[:2].tolist() == [3, 8]
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])
    assert len(model.cluster_labels_) == model.n_clusters_
    assert model.predict_proba(X).shape == (400, model.n_clusters_)


def test_missing_values_groups_and_tables():
    rng = np.random.default_rng(0)
    X = np.column_stack([LEVELS + rng.exponential(size=600), rng.integers(3, size=600)])
    X[::7, 0] = np.nan
    table = IndependentEmissions([("x", "gaussian", [0]), ("k", "categorical", [1])])
    model = PitmanYorMixture(table, **UNITED).fit(X)
    seen = ~np.isnan(X[:, 0])
    assert np.count_nonzero(np.bincount(model.labels_[seen]) >= 6) == 3
    groups = [X[::2, :1], X[1::2, :1]]
    grouped = HDPMixture(GaussianEmission(), **UNITED).fit(groups)
    assert grouped.n_clusters_ <= grouped.n_components_
    shares = grouped.transform(groups)
    assert shares.shape == (2, grouped.n_clusters_)
    proba = grouped.predict_proba(groups)[0]
    assert proba.shape == (300, grouped.n_clusters_)
    labels = grouped.cluster_labels_[proba.argmax(axis=1)]
    np.testing.assert_array_equal(grouped.predict(groups)[0], labels)


def test_missing_values_are_those_of_others_of_the_component():
    """Of the column, if the component has none; 0 if the column has none."""
    rng, labels = np.random.default_rng(0), np.arange(300) % 3
    values = np.column_stack([10.0 * labels + rng.random(300), labels, np.zeros(300)])
    hidden = rng.random(values.shape) < 0.5
    hidden[labels == 1, 1] = hidden[:, 2] = True
    filled = fill_hidden(np.where(hidden, np.nan, values), labels, rng)
    np.testing.assert_array_equal(filled[~hidden], values[~hidden])
    np.testing.assert_array_equal(filled[:, 0] // 10.0, labels)
    np.testing.assert_array_equal(np.unique(filled[labels == 1, 1]), [0.0, 2.0])
    np.testing.assert_array_equal(filled[:, 2], 0.0)


def test_refused_where_no_gap_can_be_seen():
    X = np.random.default_rng(0).integers(2, size=(30, 4))
    with pytest.raises(ValueError, match="merge_overlapping=True needs an emission of numbers"):
        DPMixture("bernoulli", merge_overlapping=np.True_).fit(X)
    model = DPMixture("bernoulli", max_iter=10, random_state=0).fit(X)
    assert model.n_clusters_ == model.n_components_
