"""Mixtures of tables: names of columns, gaps, and columns of categories that do not differ."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
)
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._rows._partition import LabeledRows

RNG = np.random.default_rng(0)
KIND = RNG.integers(3, size=150)
COLORS = np.array(["red", "green", "blue"], dtype=object)
TABLE = pd.DataFrame({
    "length": RNG.normal(4.0 * KIND),
    "width": RNG.normal(-3.0 * KIND, 0.5),
    "visits": RNG.poisson(2.0 + 6.0 * KIND).astype(float),
    "color": COLORS[np.where(RNG.random(150) < 0.9, KIND, 0)],
    "make__year": COLORS[np.where(RNG.random(150) < 0.9, KIND, 1)],
    "is_new": RNG.random(150) < 0.2 + 0.3 * KIND,
})  # fmt: skip
TABLE.loc[RNG.random(150) < 0.2, "color"] = None
TABLE.loc[RNG.random(150) < 0.2, "visits"] = np.nan
MIXED = IndependentEmissions([
    ("size", "gaussian", ["length", "width"]),
    ("visits", "poisson", "visits"),
    ("names", "categorical", ["color", "make__year"]),
    ("new", "bernoulli", ["is_new"]),
])  # fmt: skip
QUICK = {"max_iter": 20, "random_state": 0}


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_a_table(sampler):
    model = DPMixture(MIXED, sampler=sampler, max_iter=30, random_state=0).fit(TABLE)
    assert adjusted_rand_score(KIND, model.labels_) > 0.9
    assert list(model.emission_.models) == ["size", "visits", "names", "new"]
    assert list(model.emission_.models["names"].models) == ["color", "column1"]
    assert "size__emission_scale" in model.trace_
    assert "names__color__emission_concentration" in model.trace_
    np.testing.assert_array_equal(model.categories_[3], ["blue", "green", "red"])
    assert model.categories_[2] is None
    assert model.cluster_tree().linkage.shape == (model.n_components_ - 1, 4)
    rows = TABLE.iloc[:3].assign(visits=np.nan, color=None)
    assert np.isfinite(model.score_samples(rows)).all()
    assert model.sample(4, random_state=0).shape == (4, 6)


def test_groups_of_a_table():
    model = HDPMixture(MIXED, **QUICK).fit([TABLE.iloc[:70], TABLE.iloc[70:]])
    assert adjusted_rand_score(KIND, np.concatenate(model.labels_)) > 0.9
    assert np.isfinite(model.score([TABLE]))


def test_an_unobserved_row_has_density_one():
    rows = np.column_stack([np.arange(20) % 7.0, np.arange(20) % 3, np.arange(20) % 2])
    emission = IndependentEmissions([
        ("x", GaussianEmission("diag"), [0]), ("n", "poisson", [1]), ("b", "bernoulli", [2]),
    ])  # fmt: skip
    model = PitmanYorMixture(emission, max_iter=10, random_state=0).fit(rows)
    assert model.score_samples(np.full((1, 3), np.nan))[0] == pytest.approx(0.0, abs=1e-12)
    chances = model.predict_proba(np.full((1, 3), np.nan))[0]
    weights = np.bincount(model.component_labels_, model.weights_)
    np.testing.assert_allclose(chances, weights / weights.sum())


# Columns of categories that may have the same distribution everywhere


def draw_symbols(n_rows, n_columns, n_symbols=4, seed=0):
    """Return columns of independent, uniform symbols."""
    return np.random.default_rng(seed).integers(n_symbols, size=(n_rows, n_columns))


def shares_differing(model):
    """Return how often each column differs between clusters."""
    names = [f"column{d}__differs" for d in range(model.n_features_in_)]
    return [model.trace_[name].mean() for name in names]


@pytest.mark.parametrize("n_symbols", [2, 4])
def test_categories_with_nothing_to_find(n_symbols):
    X = draw_symbols(300, 6, n_symbols)
    model = DPMixture("categorical", max_iter=150, random_state=0).fit(X)
    assert model.n_components_ == 1
    assert np.mean(shares_differing(model)) < 0.2
    probs, counts = model.emission_.models["column0"].probs[0], np.bincount(X[:, 0])
    np.testing.assert_allclose(probs, (counts + 1) / (300 + n_symbols), rtol=1e-6)
    groups = [X[:100], X[100:200], X[200:]]
    model = HDPMixture("categorical", max_iter=60, random_state=0).fit(groups)
    assert model.n_components_ == 1


@pytest.mark.parametrize("n_rows", [200, pytest.param(1200, marks=pytest.mark.slow)])
def test_unused_symbols_do_not_hide_clusters(n_rows):
    """Hundreds of them weigh as much as a few; most columns do not differ."""
    kind = np.random.default_rng(1).integers(3, size=n_rows)
    noisy = np.where(draw_symbols(n_rows, 4, 5) < 4, kind[:, np.newaxis], 3)
    X = np.column_stack([noisy, draw_symbols(n_rows, 12)])
    model, fewer = (
        DPMixture("categorical", max_iter=30, random_state=0).fit(n * X) for n in (100, 10)
    )
    assert model.n_components_ == 3
    assert adjusted_rand_score(kind, model.labels_) > 0.9
    differs = shares_differing(model)
    assert min(differs[:4]) == 1.0
    assert max(differs[4:]) < 0.2
    np.testing.assert_array_equal(model.labels_, fewer.labels_)


@pytest.mark.parametrize("n_columns", [1, 4])
def test_clusters_with_known_labels_are_not_joined(n_columns):
    """Even if all columns have the same distribution in both."""
    X, y = draw_symbols(200, n_columns), np.where(np.arange(200) < 20, np.arange(200) % 2, -1)
    model = DPMixture("categorical", max_iter=40, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.labels_[:20], y[:20])


@pytest.mark.parametrize(
    "mixture",
    [
        DPMixture("categorical"),
        DPMixture("bernoulli", sampler="blocked"),
        PitmanYorMixture("categorical", sampler="blocked"),
        PitmanYorMixture("bernoulli"),
        DPMixture(IndependentEmissions([("x", "categorical", [0])])),
        DPMixture(IndependentEmissions([("x", "bernoulli", [0])])),
    ],
    ids=["collapsed", "blocked", "discount, blocked", "discount", "categories", "bits"],
)
def test_a_single_column_of_categories_shows_no_clusters(mixture):
    """With gaps, too."""
    X = draw_symbols(120, 1, 2)
    for rows in (X, np.where(np.arange(120)[:, np.newaxis] % 9, X, np.nan)):
        model = mixture.set_params(**QUICK).fit(rows)
        assert model.n_components_ == model.trace_["n_components"].max() == 1
        assert "differs" not in " ".join(model.trace_)
        shares = np.exp(model.score_samples([[0], [1]]))
        expected = [np.nanmean(rows == 0), np.nanmean(rows == 1)]
        np.testing.assert_allclose(shares, expected / np.sum(expected), atol=0.01)


@pytest.mark.parametrize(
    ("mixture", "emission"),
    [
        (DPMixture(), CategoricalEmission(prior=0.1)),
        (DPMixture(), BernoulliEmission((0.1, 0.1))),
        (HDPMixture(), "categorical"),
        (HDPMixture(), "bernoulli"),
    ],
)
def test_single_columns_of_groups_or_with_a_given_prior(mixture, emission):
    """Groups differ by how frequent the clusters are, as documents by their topics."""
    X = np.repeat([0, 1], 60)[:, np.newaxis]
    mixture.set_params(emission=emission, **QUICK)
    mixture.fit([X[:60], X[60:]] if isinstance(mixture, HDPMixture) else X)
    assert mixture.n_components_ > 1


@pytest.mark.parametrize("emission", ["categorical", "bernoulli"])
def test_two_columns_show_clusters(emission):
    X = np.repeat([[0, 0], [1, 1]], 60, axis=0)
    X[:6] = X[60:66] = [0, 1]
    model = DPMixture(emission, max_iter=60, random_state=0).fit(X)
    assert model.n_components_ > 1


def test_columns_with_a_given_prior_always_differ():
    model = DPMixture(CategoricalEmission(prior=0.5), **QUICK).fit(draw_symbols(50, 3))
    assert "differs" not in " ".join(model.trace_)


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_constant_columns_show_no_clusters(sampler):
    """They never differ and are not counted as columns that could."""
    constant = np.repeat([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], 200, axis=0)
    X = np.hstack([draw_symbols(200, 1, 2), constant])
    X[:50, 3] = np.nan
    model = DPMixture("categorical", max_iter=30, sampler=sampler, random_state=0).fit(X)
    assert set(model.trace_["n_components"].ravel()) == {1.0}
    assert max(shares_differing(model)[1:]) == 0.0
    groups = [X[:100], X[100:]]
    model = HDPMixture("categorical", max_iter=30, random_state=0).fit(groups)
    assert set(model.trace_["n_components"].ravel()) == {1.0}


def test_weights_that_leave_one_symbol():
    X, weights = draw_symbols(100, 2, 2), np.full(100, 0.5)
    weights[X[:, 1] == 0] = 0.0
    model = DPMixture("categorical", **QUICK).fit(X, sample_weight=weights)
    assert shares_differing(model)[1] == 0.0


def test_constant_columns_of_many_rows():
    """The first clusters are those of some rows, but the frequencies are those of all."""
    X = np.column_stack([draw_symbols(1500, 2, 2), np.ones(1500, dtype=int)])
    model = DPMixture("categorical", max_iter=10, random_state=0).fit(X)
    probs = model.emission_.models["column2"].probs[0]
    np.testing.assert_allclose(probs, [1 / 1502, 1501 / 1502], rtol=1e-5)


def test_columns_of_the_representative_partition():
    """They are drawn given its clusters: the last sweep may be one without differing columns."""
    kind = np.random.default_rng(1).integers(3, size=100)
    X = np.column_stack([np.where(draw_symbols(100, 1, 5, d)[:, 0] < 4, kind, 3) for d in range(4)])
    model = DPMixture("categorical", warm_start=True, **QUICK).fit(X)
    sampler = model._saved.runs[0].sampler
    sampler.attach(LabeledRows(X.astype(float)))
    for leaf in sampler.emission.leaves():
        leaf.prior = 1e10 * np.bincount(X[:, 0], minlength=4) / 100
    assert sampler.is_single
    assert not sampler.settled(model.labels_).is_single
    assert sampler.is_single


def test_many_rows_with_nothing_to_find():
    """Columns of noise are found with some of the rows: with all, clusters of noise are stable."""
    X = draw_symbols(1500, 6)
    assert DPMixture("categorical", **QUICK).fit(X).n_components_ == 1
