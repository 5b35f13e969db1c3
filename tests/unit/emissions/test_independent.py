"""Mixed columns: how users name them, parameters, and predictions; densities are in tests/exact."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals.samples import Complete
from sklearn.base import BaseEstimator, clone
from unit.emissions.helpers import stream
from unit.sequence.hmm_models import quick

from skdp.emissions import (
    BernoulliEmission,
    CollapsedEmission,
    IndependentEmissions,
    PoissonEmission,
)
from skdp.emissions._common._columns import find_columns
from skdp.emissions._common._protocol import SummedEmission
from skdp.mixture import DPMixture

RNG = np.random.default_rng(0)
KIND = np.repeat([0, 1], 12)
MIXED = [
    np.column_stack([RNG.normal(5.0 * KIND, 1.0), RNG.poisson(1 + 8 * KIND), KIND, 1 - KIND])
    for _ in range(4)
]
NAMES = ["level", "events", "symbol", "other"]
FRAMES = [pd.DataFrame(x, columns=NAMES) for x in MIXED]


def parts(**replaced):
    """Return the parts of all columns, some of them replaced, or left out with None."""
    known = {
        "level": ("gaussian", [0]),
        "events": (PoissonEmission(), [1]),
        "kinds": ("categorical", [2]),
        "bits": ("bernoulli", [3]),
        **replaced,
    }
    return [(name, *part) for name, part in known.items() if part is not None]


def with_gaps(X):
    """Return sequences of which a level and a bit are missing."""
    X = [x.copy() for x in X]
    X[0][3:5, 0] = X[1][2, 3] = np.nan
    return X


class Model(SimpleNamespace):
    """What a stored model must have, and no more."""


def plain_model(own):
    return Model(
        log_obs=own.log_obs,
        sample=own.sample,
        reorder=lambda order: plain_model(own.reorder(order)),
    )


def plain_sampler(own):
    names = "attach", "detach", "start", "draw", "write_log_obs", "log_evidence"
    return SimpleNamespace(
        **{name: getattr(own, name) for name in names},
        model=lambda: plain_model(own.model()),
        copy=lambda: plain_sampler(own.copy()),
    )


class Plain(BaseEstimator):
    """A user's emission whose sampler and models do no more than they must."""

    def make_sampler(self, values, n_states):
        return plain_sampler(PoissonEmission().make_sampler(values, n_states))


def independent(**replaced):
    return IndependentEmissions(parts(**replaced))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (2, [2]),
        (np.int64(1), [1]),
        (-1, [3]),
        ("b", [1]),
        (slice(1, 3), [1, 2]),
        (slice(None), [0, 1, 2, 3]),
        (slice(None, None, 2), [0, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice("b", "d"), [1, 2, 3]),
        (slice("b", None), [1, 2, 3]),
        ([3, 0], [3, 0]),
        ((0, -1), [0, 3]),
        (np.array([1, 2]), [1, 2]),
        (range(2), [0, 1]),
        ([True, False, False, True], [0, 3]),
        (["d", "a"], [3, 0]),
        (pd.Index(["c"]), [2]),
        (np.array(["c", "a"]), [2, 0]),
    ],
    ids=repr,
)
def test_columns_as_users_name_them(columns, expected):
    found = find_columns(columns, 4, ["a", "b", "c", "d"], "here")
    assert found.dtype == np.int64
    assert_array_equal(found, expected)


def test_nested_parameters():
    estimator = quick(emission=independent())
    params = estimator.get_params()
    assert params["emission__events__rate"] is None
    assert params["emission__level"] == "gaussian"
    other = clone(estimator)
    other.set_params(
        emission__events__rate=2.0, emission__level__covariance_type="diag", n_components=3
    )
    emission = other.emission
    assert emission.emissions[1][1].rate == 2.0
    assert emission.emissions[0][1].covariance_type == "diag"
    assert emission.emissions[2][1:] == ("categorical", [2])
    assert estimator.get_params() == params
    other.set_params(emission__bits=BernoulliEmission((2.0, 2.0)))
    assert emission.emissions[3][1].prior == (2.0, 2.0)
    assert emission.emissions[3][2] == [3]
    emission.set_params(emissions=parts(bits=None))
    assert len(emission.emissions) == 3


def test_columns_by_name():
    """Also of parts of parts."""
    score = quick(emission=independent()).fit(MIXED).score(MIXED)
    by_name = independent(
        level=("gaussian", "level"),
        events=("poisson", ["events"]),
        kinds=("categorical", slice("symbol", "symbol")),
        bits=("bernoulli", [False, False, False, True]),
    )
    model = quick(emission=by_name).fit(FRAMES)
    assert model.score(FRAMES) == score
    assert "_names" not in vars(model.emission)
    with pytest.raises(ValueError, match="column 'level' is given by its name, but X has none"):
        model.fit(MIXED)
    inner = IndependentEmissions([("events", "poisson", "events"), ("kind", "categorical", 1)])
    nested = IndependentEmissions(
        [("level", "gaussian", "level"), ("inner", inner, ["events", "symbol"]),
         ("bits", "bernoulli", ["other"])]
    )  # fmt: skip
    assert quick(emission=nested).fit(FRAMES).score(FRAMES) == pytest.approx(score, rel=1e-9)


def test_order_of_columns():
    moved = [x[:, [2, 0, 3, 1]] for x in MIXED]
    emission = independent(
        level=("gaussian", [1]), events=(PoissonEmission(), [3]), kinds=("categorical", [0]),
        bits=("bernoulli", [2]),
    )  # fmt: skip
    score = quick(emission=emission).fit(moved).score(moved)
    assert score == quick(emission=independent()).fit(MIXED).score(MIXED)


def test_forecast():
    """Symbols have probabilities only."""
    estimator = quick(emission=independent()).fit(MIXED)
    ahead = estimator.forecast(MIXED[:2], 3)
    assert set(ahead) == {"mean", "sd", "quantiles", "proba"}
    for mean, sd, quantiles, proba in zip(*ahead.values(), strict=True):
        for array in (mean, sd, quantiles):
            assert np.isnan(array[:, 2]).all()
            assert np.isfinite(array[:, [0, 1, 3]]).all()
        assert set(proba) == {"kinds"}
        assert_allclose(proba["kinds"].sum(axis=1), 1.0, rtol=1e-6)
        # The symbol is 1 less the bit.
        assert_allclose(proba["kinds"][:, 0], mean[:, 3], atol=0.15)
    single = estimator.forecast(MIXED[0], 3)
    assert_allclose(single.proba["kinds"], ahead.proba[0]["kinds"], rtol=1e-9)


def test_missing_values():
    """A part may take none; and scores are about the same with a few missing."""
    X = with_gaps(MIXED)
    estimator = quick(emission=independent()).fit(X)
    filled = estimator.impute(X)
    assert np.isfinite(np.vstack(filled)).all()
    assert np.abs(filled[0][3:5, 0]).max() < 2.5
    assert_array_equal(filled[2], X[2])
    assert independent().allows_nan
    assert not IndependentEmissions([("a", Complete(), [0])]).allows_nan
    assert not IndependentEmissions([("a", Complete())]).allows_nan
    quick(emission=independent(events=(Complete(), [1]))).fit(X)
    X[1][4, 1] = X[0][2] = np.nan
    gaps = clone(estimator).fit(X)
    assert gaps.score(X) == pytest.approx(estimator.score(X), abs=0.5)
    assert gaps.predict_proba(X)[0].shape == (len(X[0]), 4)


def test_missing_values_of_parts_are_drawn_apart():
    """Two parts of the same columns draw other values for what both of them miss."""
    x = RNG.normal(size=(30, 2))
    x[::3, 1] = np.nan
    emission = IndependentEmissions([("one", "gaussian", [0, 1]), ("two", "gaussian", [2, 3])])
    x = np.hstack([x, x])
    sampler = emission.make_sampler(x, 2)
    sampler.attach(x)
    assert isinstance(sampler, SummedEmission)
    assert sampler.is_incomplete
    sampler.complete(np.zeros(30, dtype=np.int64), stream())
    one, two = (part._known()[::3, 1] for part in sampler.samplers)
    assert np.all(np.abs(one - two) > 0.0)


def test_parts_that_can_do_less():
    """Moves and forecasts need all parts; the first state is one if a part wants it."""
    sampler = independent().make_sampler(MIXED[0], 3)
    assert isinstance(sampler, CollapsedEmission)
    assert sampler.starts_with_one_state
    symbols = IndependentEmissions([("a", "categorical", 0), ("b", "categorical", 1)])
    assert not symbols.make_sampler(np.zeros((3, 2)), 3).starts_with_one_state
    plain = independent(events=(Plain(), [1]))
    assert not isinstance(plain.make_sampler(MIXED[0], 3), CollapsedEmission)
    estimator = quick(emission=plain).fit(MIXED)
    assert np.isfinite(estimator.score(MIXED))
    with pytest.raises(TypeError, match=r"forecast requires .* 'events', Model, has none"):
        estimator.forecast(MIXED, 2)


def test_similarity_of_states():
    estimator = quick(emission=independent(), similarity="gaussian").fit(MIXED)
    assert estimator.locations_.shape[0] == 4


def test_concentrations_of_parts():
    """Concentrations that categories draw are frozen with the sampler's, and recorded."""
    model = quick(emission=independent(), burn_in=10, max_iter=12).fit(MIXED)
    name = "kinds__emission_concentration"
    assert len(np.unique(model.trace_[name])) == 2
    sampler = independent().make_sampler(MIXED[0], 3)
    assert list(sampler.scalars()) == [name]
    assert sampler.held is False
    sampler.held = True
    assert sampler.held is True
    held = [getattr(part, "held", None) for part in sampler.samplers]
    assert held == [True, None, True, None]


TABLE = {
    "age": [23.0, 45.0, None, 70.0],
    "job": ["a", "b", None, "a"],
    "owner": [True, None, False, True],
    "children": [0, 2, 1, 3],
    "town": ["x", "y", "y", "x"],
}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_parts_of_a_frame(library):
    module = pytest.importorskip(library)
    frame = module.table(TABLE) if library == "pyarrow" else module.DataFrame(TABLE)
    if library == "pandas":
        frame = frame.astype({"owner": "boolean", "town": "category"})
    elif library == "polars":
        frame = frame.with_columns(module.col("town").cast(module.Categorical))
    emission = IndependentEmissions.from_frame(frame, counts=["children"])
    shown = [(name, columns) for name, _, columns in emission.emissions]
    assert shown == [("numbers", [0]), ("job", [1]), ("flags", [2]), ("counts", [3]), ("town", [4])]
    model = DPMixture(emission, max_iter=4, random_state=0).fit(frame)
    assert list(model.categories_[1]) == ["a", "b"]
    assert [name for name, *_ in IndependentEmissions.from_frame(frame).emissions] == [
        "numbers", "job", "flags", "town"
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"column 'job'.* IndependentEmissions\.from_frame\(X\)"):
        DPMixture().fit(frame)
