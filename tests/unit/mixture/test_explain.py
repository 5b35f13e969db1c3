"""Which columns set the clusters of a mixture apart."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.emissions import GaussianEmission, IndependentEmissions
from skdp.mixture import DPMixture, HDPMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
KIND = np.repeat([0, 1, 2], 30)
FRAME = pd.DataFrame(
    {
        "noise": RNG.normal(size=90),
        "size": RNG.normal(np.array([0.0, 8.0, 8.0])[KIND]),
        "visits": RNG.poisson(np.array([2.0, 2.0, 20.0])[KIND]),
        "color": np.array(["red", "red", "blue"])[KIND],
        "open": KIND == 0,
    }
)
EMISSION = IndependentEmissions(
    [
        ("numbers", GaussianEmission("diag"), ["noise", "size"]),
        ("visits", "poisson", ["visits"]),
        ("color", "categorical", ["color"]),
        ("open", "bernoulli", ["open"]),
    ]
)


@pytest.fixture(scope="module")
def model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        init = KIND.copy()
        return DPMixture(EMISSION, init=init, max_iter=20, random_state=0).fit(FRAME)


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


def test_names(model):
    named = model.explain(feature_names=list("abcde"))
    assert set(named.information) == set("abcde")
    plain = DPMixture(max_iter=5, random_state=0).fit(RNG.normal(size=(20, 2)))
    assert set(plain.explain().information) == {"x0", "x1"}
    for names in (["a"], ["a", "a"], "ab"):
        with pytest.raises(ValueError, match="2 different names"):
            plain.explain(names)


def test_one_component_has_no_outside():
    one = DPMixture(init=np.zeros(20, dtype=int), split_merge=False, max_iter=1, burn_in=0,
                    random_state=0).fit(np.zeros((20, 1)) + RNG.normal(size=(20, 1)))  # fmt: skip
    if one.n_components_ == 1:
        (only,) = one.explain()
        assert only.outside is None
        assert only.divergence < 1e-9
        assert str(one.explain()).splitlines()[1].endswith("-")


@pytest.mark.parametrize("emission", ["gaussian", "multinomial", "categorical", "student_t"])
def test_other_emissions(emission):
    X = RNG.poisson(np.array([[1.0, 9.0], [9.0, 1.0]])[np.repeat([0, 1], 15)]).astype(float)
    if emission == "categorical":
        X = np.minimum(X, 4.0)
    model = DPMixture(emission, init=np.repeat([0, 1], 15), max_iter=10, random_state=0).fit(X)
    found = model.explain()
    assert len(found) == 2 * model.n_components_
    if model.n_components_ > 1:
        assert min(found.information.values()) > 0.1


def test_groups():
    groups = [RNG.normal([0.0, 0.0], 1.0, (30, 2)), RNG.normal([9.0, 0.0], 1.0, (30, 2))]
    model = HDPMixture(GaussianEmission("diag"), max_iter=30, random_state=0).fit(groups)
    information = model.explain(["place", "noise"]).information
    assert list(information) == ["place", "noise"]
    assert information["noise"] < 0.1 < information["place"]


def test_order_and_units_do_not_matter():
    """The same fit in other units: divergences are those of densities, which units change alike."""
    X = RNG.normal(np.array([[0.0, 0.0], [6.0, 1.0]])[np.repeat([0, 1], 25)])
    fits = [
        DPMixture(GaussianEmission("diag"), init=np.repeat([0, 1], 25), max_iter=10, random_state=0)
        .fit(X * scale)
        .explain()
        .information
        for scale in (1.0, 1024.0)
    ]
    np.testing.assert_allclose(list(fits[0].values()), list(fits[1].values()), rtol=1e-6)
