"""What fits are asked: merged clusters, columns that set them apart, and data for arviz.loo."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from skdp.emissions import CategoricalEmission, GaussianEmission, IndependentEmissions
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Merged clusters

RNG = np.random.default_rng(0)
RINGS = RNG.normal(size=(240, 2))
RINGS[:120] = 6.0 * RINGS[:120] / np.linalg.norm(RINGS[:120], axis=1, keepdims=True)
RINGS[:120] += 0.2 * RNG.normal(size=(120, 2))
RINGS[120:] += [20.0, 0.0]
"""A ring, which takes several normal components, and a normal cluster far away."""

TRUTH = np.repeat([0, 1], 120)


def test_pieces_of_a_cluster_come_together():
    """Unions of clusters are named by size."""
    rings = PitmanYorMixture(merge_overlapping=False, max_iter=150, random_state=0).fit(RINGS)
    assert rings.n_components_ > 3
    assert adjusted_rand_score(TRUTH, rings.labels_) < 0.8
    assert adjusted_rand_score(TRUTH, rings.labels_at(2)) == 1.0
    np.testing.assert_array_equal(rings.labels_at(rings.n_components_), rings.labels_)
    np.testing.assert_array_equal(rings.labels_at(1), 0)
    for n in range(1, rings.n_components_ + 1):
        labels = rings.labels_at(np.int64(n))
        assert len(set(zip(rings.labels_, labels, strict=True))) == rings.n_components_
        sizes = np.bincount(labels)
        assert len(sizes) == n
        assert (np.diff(sizes) <= 0).all()
    merged = rings.cluster_tree().labels(2)[rings.predict([[20.0, 0.5], [0.0, 6.0]])]
    np.testing.assert_array_equal(merged, rings.labels_at(2)[[-1, 0]])


def test_pieces_of_a_cluster_of_groups_come_together():
    model = HDPMixture(max_iter=60, random_state=0).fit([RINGS[::2], RINGS[1::2]])
    labels = model.labels_at(2)
    assert [len(part) for part in labels] == [120, 120]
    assert adjusted_rand_score(TRUTH, np.stack(labels, axis=1).ravel()) == 1.0


def test_the_tree_of_one_component():
    model = DPMixture(max_iter=40, random_state=0).fit(RINGS[120:])
    assert model.n_components_ == 1
    assert model.labels_at(1).tolist() == [0] * 120
    assert model.cluster_tree().linkage.shape == (0, 4)


def test_labels_stay_apart():
    """Two labels in one cluster of rows are merged last."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.3, size=(30, 2)) for m in (0.0, 4.0, 8.0)])
    y = np.full(90, -1)
    y[:30] = np.arange(30) % 2 + 5
    model = DPMixture(max_iter=30, random_state=0).fit(X, y)
    assert model.n_components_ == 4
    two = model.labels_at(2)
    assert len(np.unique(two[:30:2])) == len(np.unique(two[1:30:2])) == 1
    assert two[0] != two[1]


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_real_classes(load):
    """Four to six components of three classes; a value of .83 (iris) before merges."""
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PitmanYorMixture(random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_at(3)) > 0.88


# Columns that set clusters apart

KIND = np.repeat([0, 1, 2], 30)
FRAME = pd.DataFrame({
    "noise": RNG.normal(size=90),
    "size": RNG.normal(np.array([0.0, 8.0, 8.0])[KIND]),
    "visits": RNG.poisson(np.array([2.0, 2.0, 20.0])[KIND]),
    "color": np.array(["red", "red", "blue"])[KIND],
    "open": KIND == 0,
})  # fmt: skip
EMISSION = IndependentEmissions([
    ("numbers", GaussianEmission("diag"), ["noise", "size"]),
    ("visits", "poisson", ["visits"]),
    ("color", "categorical", ["color"]),
    ("open", "bernoulli", ["open"]),
])  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return DPMixture(EMISSION, init=KIND.copy(), max_iter=20, random_state=0).fit(FRAME)


def test_contributions(model):
    assert model.n_components_ == 3
    found = model.explain()
    assert len(found) == 15
    for k in range(3):
        own = found.of(k)
        assert [each.component for each in own] == [k] * 5
        divergences = [each.divergence for each in own]
        assert divergences == sorted(divergences, reverse=True)
        assert own[-1].column == "noise"
        assert own[-1].divergence < 0.15
    by_kind = {kind: model.labels_[30 * kind] for kind in range(3)}
    first = {each.column: each for each in found.of(by_kind[0])}
    assert first["open"].inside == 1
    assert first["open"].outside == 0
    assert first["open"].inside_share > 0.9
    assert abs(first["size"].inside) < 1.0
    assert abs(first["size"].outside - 8.0) < 1.0
    assert np.isnan(first["size"].inside_share)
    last = {each.column: each for each in found.of(by_kind[2])}
    assert (last["color"].inside, last["color"].outside) == ("blue", "red")
    assert last["visits"].inside > 15.0 > 5.0 > last["visits"].outside
    assert found.of(by_kind[2])[0].column in ("color", "visits")


def test_information_is_the_mean_contribution(model):
    found = model.explain()
    weights = model.weights_ / model.weights_.sum()
    for column, information in found.information.items():
        parts = [each.divergence for k in range(3) for each in found.of(k) if each.column == column]
        np.testing.assert_allclose(information, weights @ parts)
    values = list(found.information.values())
    assert values == sorted(values, reverse=True)
    entropy = -(weights * np.log(weights)).sum()
    assert all(-1e-12 < value < entropy + 1e-6 for value in values)


def test_the_table(model):
    found = model.explain()
    lines = str(found).splitlines()
    assert len(lines) == 16
    assert lines[0].split() == ["component", "column", "nats", "inside", "outside"]
    assert any("blue (" in line and "red (" in line for line in lines)
    frame = found.to_frame()
    assert frame.columns.tolist()[:3] == ["component", "column", "divergence"]
    assert len(frame) == 15
    assert found[0] == next(iter(found))
    assert len(found[:4]) == 4
    assert set(model.explain(feature_names=list("abcde")).information) == set("abcde")


def test_one_component_has_no_outside():
    model = DPMixture(concentration=1e-8, init=np.zeros(20, dtype=int), max_iter=4, random_state=0)
    found = model.fit(np.random.default_rng(0).normal(size=(20, 1))).explain()
    (only,) = found
    assert only.column == "x0"
    assert only.outside is None
    assert only.divergence < 1e-9
    assert str(found).splitlines()[1].endswith("-")


@pytest.mark.parametrize("emission", ["gaussian", "multinomial", "categorical", "student_t"])
def test_columns_of_other_emissions(emission):
    X = RNG.poisson(np.array([[1.0, 9.0], [9.0, 1.0]])[np.repeat([0, 1], 15)]).astype(float)
    if emission == "categorical":
        X = np.minimum(X, 4.0)
    model = DPMixture(emission, init=np.repeat([0, 1], 15), max_iter=10, random_state=0).fit(X)
    found = model.explain()
    assert len(found) == 2 * model.n_components_ > 2
    assert min(found.information.values()) > 0.1


def test_columns_of_groups():
    groups = [RNG.normal([0.0, 0.0], 1.0, (30, 2)), RNG.normal([9.0, 0.0], 1.0, (30, 2))]
    model = HDPMixture(GaussianEmission("diag"), max_iter=30, random_state=0).fit(groups)
    information = model.explain(["place", "noise"]).information
    assert list(information) == ["place", "noise"]
    assert information["noise"] < 0.1 < information["place"]


def test_units_do_not_change_divergences():
    """The same fit in other units: divergences are those of densities, which units change alike."""
    X = RNG.normal(np.array([[0.0, 0.0], [6.0, 1.0]])[np.repeat([0, 1], 25)])
    start = np.repeat([0, 1], 25)
    model = DPMixture(GaussianEmission("diag"), init=start, max_iter=10, random_state=0)
    one, other = (model.fit(X * scale).explain().information.values() for scale in (1.0, 1024.0))
    np.testing.assert_allclose(list(one), list(other), rtol=1e-6)


# Data for arviz

EVENTS = np.repeat([[0.0, 1.0], [7.0, 9.0]], 6, axis=0)


@pytest.fixture
def mixture():
    return DPMixture("poisson", max_iter=24, n_samples=4, n_chains=2, random_state=0)


def test_order_of_samples(mixture, monkeypatch):
    """Chains are rows, sweeps are columns, with the scalars of these sweeps."""
    calls = []
    monkeypatch.setattr(
        "skdp._fit._estimator.make_inference_data", lambda *args: calls.append(args)
    )
    mixture.fit(EVENTS).to_arviz(EVENTS)
    (name, groups, sweeps, dims), *_ = calls
    assert name == "DPMixture.to_arviz"
    assert dims == {"x": ["row"]}
    assert groups["log_likelihood"]["x"].shape == (2, 4, 12)
    np.testing.assert_array_equal(sweeps, [s for c, s in mixture._stored if c == 0])
    trace = mixture.trace_
    assert len(trace.sweeps) == 4 or len(trace.sweeps) > len(sweeps)
    for name, values in groups["posterior"].items():
        np.testing.assert_array_equal(values, trace[name][:, np.isin(trace.sweeps, sweeps)])
    sizes = [
        [len(np.unique(model.labels)) for model in mixture._models[4 * c :][:4]] for c in (0, 1)
    ]
    np.testing.assert_array_equal(groups["posterior"]["n_components"], sizes)


def test_categories_for_arviz(mixture):
    """Which of several columns differ between clusters depends on the row that is left out."""
    codes = (EVENTS > 2.0).astype(int)
    mixture.set_params(emission="categorical").fit(codes)
    with pytest.raises(TypeError, match="columns of categories with a known prior"):
        mixture.to_arviz(codes)
    mixture.fit(codes[:, :1])  # a single column always differs
    (emission,) = {type(model.emission).__name__ for model in mixture._models}
    assert emission == "CategoricalModel"
    mixture.set_params(emission=CategoricalEmission(2, prior=0.5)).fit(codes)
    mixture.set_params(emission=CategoricalEmission(9, prior=0.5))
    with pytest.raises(ValueError, match="not that of the fit"):
        mixture.to_arviz(codes)
