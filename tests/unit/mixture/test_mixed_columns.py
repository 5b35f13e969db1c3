"""Mixtures of tables: names of columns, text, gaps, powers, and errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import get_tags

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
)
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._labels import LabeledRows

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
    rows = TABLE.iloc[:3].copy()
    rows["visits"] = np.nan
    rows["color"] = None
    assert np.isfinite(model.score_samples(rows)).all()
    assert model.sample(4, random_state=0).shape == (4, 6)
    text = TABLE.assign(color="violet")
    with pytest.raises(ValueError, match="violet"):
        model.predict(text)


def test_groups_of_a_table():
    groups = [TABLE.iloc[:70], TABLE.iloc[70:]]
    model = HDPMixture(MIXED, max_iter=20, random_state=0).fit(groups)
    assert adjusted_rand_score(KIND, np.concatenate(model.labels_)) > 0.9
    assert np.isfinite(model.score(groups))


def test_an_unobserved_row_has_density_one():
    rows = np.column_stack([np.arange(20) % 7.0, np.arange(20) % 3, np.arange(20) % 2])
    emission = IndependentEmissions([
        ("x", GaussianEmission("diag"), [0]), ("n", "poisson", [1]), ("b", "bernoulli", [2]),
    ])  # fmt: skip
    model = PitmanYorMixture(emission, max_iter=10, random_state=0).fit(rows)
    assert model.score_samples(np.full((1, 3), np.nan))[0] == pytest.approx(0.0, abs=1e-12)
    chances = model.predict_proba(np.full((1, 3), np.nan))[0]
    np.testing.assert_allclose(chances, model.weights_ / model.weights_.sum())


@pytest.mark.parametrize(
    "emission",
    [GaussianEmission("diag"), PoissonEmission(), CategoricalEmission(), BernoulliEmission()],
)
def test_gaps_of_a_single_emission(emission):
    """A row without any observed cell does not change the clusters of the others' evidence."""
    rows = (np.arange(24).reshape(12, 2) % 5 > 1).astype(float)
    rows[3], rows[5, 0] = np.nan, np.nan
    model = DPMixture(emission, max_iter=12, random_state=0).fit(rows)
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.score(rows))
    assert get_tags(model).input_tags.allow_nan


def test_columns_of_zeros_and_ones_by_name():
    rows = RNG.random((120, 8)) < np.where(np.arange(120)[:, np.newaxis] < 60, 0.1, 0.9)
    model = DPMixture("bernoulli", max_iter=40, random_state=0).fit(rows)
    truth = np.repeat([0, 1], 60)
    assert adjusted_rand_score(truth, model.labels_) > 0.8


@pytest.mark.parametrize("units", [1e-6, 1e6])
def test_units_and_one_absurd_value(units):
    rows = np.column_stack([RNG.normal(6.0 * (KIND > 0)), RNG.normal(6.0 * (KIND > 1))])
    rows[RNG.random(rows.shape) < 0.1] = np.nan
    rows[7, 0] = 1e6
    model = DPMixture(GaussianEmission("diag"), max_iter=40, random_state=0).fit(units * rows)
    keep = np.arange(150) != 7
    assert adjusted_rand_score(KIND[keep], model.labels_[keep]) > 0.7


def draw_symbols(n_rows, n_columns, n_symbols=4, seed=0):
    """Return columns of independent, uniform symbols."""
    return np.random.default_rng(seed).integers(n_symbols, size=(n_rows, n_columns))


@pytest.mark.parametrize("n_symbols", [2, 4])
def test_categories_with_nothing_to_find(n_symbols):
    X = draw_symbols(300, 6, n_symbols)
    model = DPMixture("categorical", max_iter=150, random_state=0).fit(X)
    assert model.n_components_ == 1
    differs = [model.trace_[f"column{d}__differs"].mean() for d in range(6)]
    assert np.mean(differs) < 0.2
    counts = np.bincount(X[:, 0])
    np.testing.assert_allclose(
        model.emission_.models["column0"].probs[0], (counts + 1) / (300 + n_symbols), rtol=1e-6
    )
    groups = [X[:100], X[100:200], X[200:]]
    model = HDPMixture("categorical", max_iter=60, random_state=0).fit(groups)
    assert model.n_components_ == 1


def test_categories_that_differ_among_many_that_do_not():
    kind = np.random.default_rng(1).integers(3, size=200)
    noisy = np.where(np.random.default_rng(2).random((200, 4)) < 0.8, kind[:, np.newaxis], 3)
    X = np.column_stack([noisy, draw_symbols(200, 12)])
    model = DPMixture("categorical", max_iter=60, random_state=0).fit(X)
    assert model.n_components_ == 3
    assert adjusted_rand_score(kind, model.labels_) > 0.9
    differs = [model.trace_[f"column{d}__differs"].mean() for d in range(16)]
    assert min(differs[:4]) == 1.0
    assert max(differs[4:]) < 0.2


def test_clusters_with_known_labels_are_not_joined():
    """Even if all columns have the same distribution in both."""
    X, y = draw_symbols(200, 4), np.where(np.arange(200) < 20, np.arange(200) % 2, -1)
    model = DPMixture("categorical", max_iter=40, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.labels_[:20], y[:20])


@pytest.mark.parametrize("mixture", [DPMixture, PitmanYorMixture])
@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
@pytest.mark.parametrize("emission", ["categorical", "bernoulli"])
def test_a_single_column_of_categories_shows_no_clusters(mixture, sampler, emission):
    X = draw_symbols(120, 1, 2)
    model = mixture(emission, max_iter=20, sampler=sampler, random_state=0).fit(X)
    assert model.n_components_ == model.trace_["n_components"].max() == 1
    shares = np.exp(model.score_samples([[0], [1]]))
    np.testing.assert_allclose(shares, np.bincount(X[:, 0]) / 120, atol=0.01)


@pytest.mark.parametrize("emission", ["categorical", "bernoulli"])
def test_a_single_column_as_a_part_of_a_table(emission):
    X = draw_symbols(120, 1, 2)
    parts = IndependentEmissions([("x", emission, [0])])
    assert DPMixture(parts, max_iter=20, random_state=0).fit(X).n_components_ == 1
    gaps = np.where(np.arange(120)[:, np.newaxis] % 9, X, np.nan)
    assert DPMixture(emission, max_iter=20, random_state=0).fit(gaps).n_components_ == 1


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
    mixture.set_params(emission=emission, max_iter=20, random_state=0)
    mixture.fit([X[:60], X[60:]] if isinstance(mixture, HDPMixture) else X)
    assert mixture.n_components_ > 1


@pytest.mark.parametrize("emission", ["categorical", "bernoulli"])
def test_two_columns_show_clusters(emission):
    X = np.repeat([[0, 0, 0], [1, 1, 1]], 60, axis=0)[:, :2]
    X[:6] = X[60:66] = [0, 1]
    model = DPMixture(emission, max_iter=60, random_state=0).fit(X)
    assert model.n_components_ > 1


def test_known_labels_of_a_single_column():
    X, y = draw_symbols(120, 1), np.where(np.arange(120) < 10, np.arange(120) % 2, -1)
    model = DPMixture("categorical", max_iter=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.labels_[:10], y[:10])


def test_a_single_column_of_categories_always_differs():
    model = DPMixture("categorical", max_iter=20, random_state=0).fit(draw_symbols(50, 1))
    assert "differs" not in " ".join(model.trace_)
    fixed = CategoricalEmission(prior=0.5)
    model = DPMixture(fixed, max_iter=20, random_state=0).fit(draw_symbols(50, 3))
    assert "differs" not in " ".join(model.trace_)


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_constant_columns_show_no_clusters(sampler):
    """They never differ and are not counted as columns that could."""
    constant = np.repeat([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], 200, axis=0)
    X = np.hstack([draw_symbols(200, 1, 2), constant])
    X[:50, 3] = np.nan
    model = DPMixture("categorical", max_iter=30, sampler=sampler, random_state=0).fit(X)
    assert set(model.trace_["n_components"].ravel()) == {1.0}
    assert all(model.trace_[f"column{d}__differs"].max() == 0.0 for d in range(1, 7))
    groups = [X[:100], X[100:]]
    model = HDPMixture("categorical", max_iter=30, random_state=0).fit(groups)
    assert set(model.trace_["n_components"].ravel()) == {1.0}


@pytest.mark.parametrize("n_rows", [200, 1200])
def test_unused_symbols_do_not_hide_clusters(n_rows):
    """Hundreds of them weigh as much as a few."""
    kind = np.random.default_rng(1).integers(3, size=n_rows)
    noisy = np.where(draw_symbols(n_rows, 4, 5) < 4, kind[:, np.newaxis], 3)
    X = np.column_stack([noisy, draw_symbols(n_rows, 12)])
    model = DPMixture("categorical", max_iter=30, random_state=0).fit(100 * X)
    assert model.n_components_ == 3
    assert adjusted_rand_score(kind, model.labels_) > 0.9
    differs = [model.trace_[f"column{d}__differs"].mean() for d in range(16)]
    assert min(differs[:4]) == 1.0
    assert max(differs[4:]) < 0.2
    fewer = DPMixture("categorical", max_iter=30, random_state=0).fit(10 * X)
    np.testing.assert_array_equal(model.labels_, fewer.labels_)


def test_weights_that_leave_one_symbol():
    X, weights = draw_symbols(100, 2, 2), np.full(100, 0.5)
    weights[X[:, 1] == 0] = 0.0
    model = DPMixture("categorical", max_iter=20, random_state=0).fit(X, sample_weight=weights)
    assert model.trace_["column1__differs"].max() == 0.0


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
    model = DPMixture("categorical", max_iter=20, warm_start=True, random_state=0).fit(X)
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
    assert DPMixture("categorical", max_iter=20, random_state=0).fit(X).n_components_ == 1


def test_numbers_that_may_be_labels_are_named():
    zips = np.random.default_rng(0).choice([1001, 1203, 1310, 1499], size=(40, 2))
    zips[0] = 1499
    frame = pd.DataFrame(zips, columns=["home", "work"])
    part = IndependentEmissions([("x", "gaussian", [0]), ("zip", "categorical", [1])])
    for model, X, where in (
        (DPMixture("categorical"), zips, r"0 \(of 2 such columns\)"),
        (DPMixture("categorical"), frame, r"'home' \(of 2 such columns\)"),
        (HDPMixture("categorical"), [frame, frame], r"'home' \(of 2 such columns\)"),
        (PitmanYorMixture(part), zips, "1"),
    ):
        message = f"X, column {where}: its 4 different numbers .* of 1500 symbols, .* n_symbols"
        with pytest.warns(UserWarning, match=message):
            model.iter_sweeps(X)
    given = CategoricalEmission(1500)
    for emission, X in (
        ("categorical", frame.astype("category")),
        ("categorical", frame.astype(str)),
        (given, zips),
        (IndependentEmissions([("zip", given, [0, 1])]), zips),
        ("categorical", np.random.default_rng(0).integers(1100, size=(200, 2))),
        ("categorical", zips - 1000),
        ("poisson", zips),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            DPMixture(emission).iter_sweeps(X)
