"""Parameters, input and predictions of mixed columns; densities are in tests/exact."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from unit.sequence.hmm_models import quick

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import (
    BernoulliEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    CollapsedEmission,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
)
from skdp.emissions._protocol import SummedEmission
from skdp.sequence import LaplacianSimilarity, PoissonDuration

RNG = np.random.default_rng(0)
KIND = np.repeat([0, 1], 12)
MIXED = [
    np.column_stack([RNG.normal(5.0 * KIND, 1.0), RNG.poisson(1 + 8 * KIND), KIND, 1 - KIND])
    for _ in range(4)
]
NAMES = ["level", "events", "symbol", "other"]
FRAMES = [pd.DataFrame(x, columns=NAMES) for x in MIXED]


def parts(**replaced):
    known = {
        "level": ("gaussian", [0]),
        "events": (PoissonEmission(), [1]),
        "kinds": ("categorical", [2]),
        "bits": ("bernoulli", [3]),
        **replaced,
    }
    return [(name, *part) for name, part in known.items() if part is not None]


def with_gaps(X):
    X = [x.copy() for x in X]
    X[0][3:5, 0] = X[1][2, 3] = np.nan
    return X


class Complete(PoissonEmission):
    """Counts without missing values."""

    allows_nan = False


class Lagging(BaseEstimator):
    n_lags = 1

    def make_sampler(self, values, n_states):
        raise AssertionError


class Plain(BaseEstimator):
    """A user's emission whose sampler and models do no more than they must."""

    def make_sampler(self, values, n_states):
        inner = PoissonEmission().make_sampler(values, n_states)

        class Model:
            def __init__(self, model):
                self.log_obs, self.sample, self.reorder = (
                    model.log_obs, model.sample, lambda order: Model(model.reorder(order))
                )  # fmt: skip

        class Sampler:
            def __init__(self, inner):
                self.inner = inner

            def __getattr__(self, name):
                if name not in ("attach", "detach", "start", "draw", "write_log_obs",
                                "log_evidence"):  # fmt: skip
                    raise AttributeError(name)
                return getattr(self.inner, name)

            def model(self):
                return Model(self.inner.model())

            def copy(self):
                return Sampler(self.inner.copy())

        return Sampler(inner)


class TestParameters:
    def test_nested(self):
        estimator = quick(emission=IndependentEmissions(parts()))
        params = estimator.get_params()
        assert params["emission__events__rate"] is None
        assert params["emission__level"] == "gaussian"
        estimator.set_params(
            emission__events__rate=2.0, emission__level__covariance_type="diag", n_components=3
        )
        emission = estimator.emission
        assert emission.emissions[1][1].rate == 2.0
        assert emission.emissions[0][1].covariance_type == "diag"
        assert emission.emissions[2][1:] == ("categorical", [2])
        estimator.set_params(emission__bits=BernoulliEmission((2.0, 2.0)))
        assert emission.emissions[3][1].prior == (2.0, 2.0)
        assert emission.emissions[3][2] == [3]
        emission.set_params(emissions=parts(bits=None))
        assert len(emission.emissions) == 3
        with pytest.raises(ValueError, match="Invalid parameter 'foo' for estimator Poisson"):
            emission.set_params(events__foo=1)

    def test_clones_and_pickles(self):
        emission = IndependentEmissions(parts())
        other = clone(emission)
        assert other.emissions[1][1] is not emission.emissions[1][1]
        other.set_params(events__rate=5.0)
        assert emission.emissions[1][1].rate is None
        copied = pickle.loads(pickle.dumps(emission))
        assert copied.get_params().keys() == emission.get_params().keys()
        assert "PoissonEmission()" in repr(emission)

    def test_grid_search(self):
        grid = {"emission__level__covariance_prior": [[[0.1]], [[90.0]]]}
        search = GridSearchCV(quick(emission=IndependentEmissions(parts())), grid, cv=2)
        scores = search.fit(MIXED).cv_results_["mean_test_score"]
        assert scores[0] != scores[1]

    def test_missing_values_are_those_of_parts(self):
        assert IndependentEmissions(parts()).allows_nan
        assert not IndependentEmissions([("a", Complete(), [0])]).allows_nan
        assert not IndependentEmissions([("a", Complete())]).allows_nan


class TestFits:
    def test_columns_by_name(self):
        by_name = parts(
            level=("gaussian", "level"),
            events=("poisson", ["events"]),
            kinds=("categorical", slice("symbol", "symbol")),
            bits=("bernoulli", [False, False, False, True]),
        )
        first = quick(emission=IndependentEmissions(by_name)).fit(FRAMES)
        other = quick(emission=IndependentEmissions(parts())).fit(MIXED)
        assert first.score(FRAMES) == other.score(MIXED)
        assert "_names" not in vars(first.emission)
        with pytest.raises(ValueError, match="column 'level' is given by its name, but X has none"):
            first.fit(MIXED)

    def test_order_of_columns(self):
        order = [2, 0, 3, 1]
        emission = IndependentEmissions(
            parts(
                level=("gaussian", [1]), events=(PoissonEmission(), [3]),
                kinds=("categorical", [0]), bits=("bernoulli", [2]),
            )
        )  # fmt: skip
        first = quick(emission=emission).fit([x[:, order] for x in MIXED])
        other = quick(emission=IndependentEmissions(parts())).fit(MIXED)
        assert first.score([x[:, order] for x in MIXED]) == other.score(MIXED)

    def test_one_part_is_that_emission(self):
        X = [x[:, :2] for x in MIXED]
        alone = quick(emission=GaussianEmission("diag")).fit(X)
        emission = IndependentEmissions([("all", GaussianEmission("diag"), slice(None))])
        part = quick(emission=emission).fit(X)
        assert_array_equal(part.transmat_, alone.transmat_)
        assert part.score(X) == alone.score(X)
        assert_array_equal(part.emission_.models["all"].means, alone.emission_.means)
        for key, value in alone.forecast(X[0], 3).items():
            assert_array_equal(part.forecast(X[0], 3)[key], value)

    def test_parts_of_parts(self):
        inner = IndependentEmissions(
            [("events", "poisson", "events"), ("symbol", "categorical", 1)]
        )
        emission = IndependentEmissions(
            [("level", "gaussian", "level"), ("inner", inner, ["events", "symbol"]),
             ("bits", "bernoulli", ["other"])]
        )  # fmt: skip
        nested = quick(emission=emission).fit(FRAMES)
        flat = quick(emission=IndependentEmissions(parts())).fit(FRAMES)
        assert nested.score(FRAMES) == pytest.approx(flat.score(FRAMES), rel=1e-9)

    def test_forecast(self):
        estimator = quick(emission=IndependentEmissions(parts())).fit(MIXED)
        ahead = estimator.forecast(MIXED[:2], 3)
        assert set(ahead) == {"mean", "sd", "quantiles", "proba"}
        for mean, sd, quantiles, proba in zip(*ahead.values(), strict=True):
            others = [0, 1, 3]
            for array in (mean, sd, quantiles):
                assert np.isnan(array[:, 2]).all()
                assert np.isfinite(array[:, others]).all()
            assert set(proba) == {"kinds"}
            assert_allclose(proba["kinds"].sum(axis=1), 1.0, rtol=1e-6)
            # The symbol is 1 less the bit.
            assert_allclose(proba["kinds"][:, 0], mean[:, 3], atol=0.15)
        single = estimator.forecast(MIXED[0], 3)
        assert_allclose(single.proba["kinds"], ahead.proba[0]["kinds"], rtol=1e-9)

    def test_missing_values(self):
        X = with_gaps(MIXED)
        estimator = quick(emission=IndependentEmissions(parts())).fit(X)
        filled = estimator.impute(X)
        assert np.isfinite(np.vstack(filled)).all()
        assert np.abs(filled[0][3:5, 0]).max() < 2.5
        assert_array_equal(filled[2], X[2])
        X[1][4, 1] = X[0][2] = np.nan
        gaps = clone(estimator).fit(X)
        assert gaps.score(X) == pytest.approx(estimator.score(X), abs=0.5)
        assert gaps.predict_proba(X)[0].shape == (len(X[0]), 4)
        with pytest.raises(TypeError, match="no value for a missing category"):
            gaps.impute(X)
        estimator = quick(emission=IndependentEmissions(parts(events=(Complete(), [1]))))
        estimator.fit(with_gaps(MIXED))
        X[0][2] = 0.0
        message = r"emission 'events' \(columns 1 of X\): X contains NaN in column 1 at step"
        with pytest.raises(ValueError, match=f"{message} 28, .* takes no missing values"):
            estimator.fit(X)
        with pytest.raises(ValueError, match=message):
            estimator.score(X)

    def test_moves(self):
        sampler = IndependentEmissions(parts()).make_sampler(MIXED[0], 3)
        assert isinstance(sampler, CollapsedEmission)
        assert sampler.starts_with_one_state
        symbols = IndependentEmissions([("a", "categorical", 0), ("b", "categorical", 1)])
        assert not symbols.make_sampler(np.zeros((3, 2)), 3).starts_with_one_state
        plain = IndependentEmissions(parts(events=(Plain(), [1])))
        assert not isinstance(plain.make_sampler(MIXED[0], 3), CollapsedEmission)
        estimator = quick(emission=plain).fit(MIXED)
        assert np.isfinite(estimator.score(MIXED))
        with pytest.raises(TypeError, match=r"forecast requires .* 'events', Model, has none"):
            estimator.forecast(MIXED, 2)

    def test_samplers_have_states_of_their_own(self):
        sampler = IndependentEmissions(parts()).make_sampler(MIXED[0], 3)
        sampler.attach(MIXED[0])
        rng = make_stream(make_seed_sequence(0))
        states = np.zeros(24, dtype=np.int64)
        sampler.start(states, rng)
        sampler.draw(states, rng)
        other = sampler.copy()
        before = other.samplers[1].log_intensities.copy()
        sampler.draw(states, rng)
        assert_array_equal(other.samplers[1].log_intensities, before)
        other.detach()
        assert "_scratch" not in vars(other)
        assert "_values" not in vars(other.samplers[0])
        assert "_values" in vars(sampler.samplers[0])

    def test_similarities(self):
        with pytest.raises(TypeError, match="use it with BinaryFactorEmission"):
            quick(emission=IndependentEmissions(parts()), similarity=LaplacianSimilarity()).fit(
                MIXED
            )
        estimator = quick(emission=IndependentEmissions(parts()), similarity="gaussian").fit(MIXED)
        assert estimator.locations_.shape[0] == 4


class TestBadInput:
    @pytest.mark.parametrize(
        ("emissions", "message"),
        [
            ([], "must be a list of .name, emission, columns., got none"),
            ([("a", "gaussian")], r"must be a list of .* got \('a', 'gaussian'\)"),
            (["gaussian"], "must be a list of .* got 'gaussian'"),
            (parts(level=("gaussian", [])), "emission 'level' has no columns"),
            (parts(level=("gaussian", [0, 1])), "column 1 is given to both 'level' and 'events'"),
            (parts(level=None), "column 0 of X belongs to no emission"),
            (parts(level=("gaussian", [0, 7])), "emission 'level': there is no column 7"),
            ([*parts(), ("bits", "bernoulli", [3])], "two emissions have the name 'bits'"),
            ([("a__b", "gaussian", slice(None))], "names must be text .*'a__b'"),
            ([("emissions", "gaussian", slice(None))], "not 'emissions'"),
            ([(3, "gaussian", slice(None))], "names must be text .* got 3"),
            (
                parts(kinds=("categorical", [0]), level=("gaussian", [2])),
                r"emission 'kinds' \(columns 0 of X\): X must hold symbols",
            ),
            (
                parts(bits=(BernoulliEmission((0, 1)), [3])),
                "emission 'bits'.*BernoulliEmission: prior must be two positive numbers",
            ),
        ],
    )
    def test_values(self, emissions, message):
        estimator = quick(emission=IndependentEmissions(emissions))
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match=f"IndependentEmissions: .*{message}"):
            estimator.fit(MIXED)
        assert vars(estimator) == before

    @pytest.mark.parametrize(
        ("part", "message"),
        [
            (GaussianEmission, r"must be an object, got the class Gauss.*write GaussianEmission"),
            ("gauss", "must be an emission or one of 'gaussian', .* got 'gauss'"),
            (None, "must be an emission or one of .* got None"),
            (BinaryFactorEmission(2), "must not be a BinaryFactorEmission"),
            (Lagging(), "must not be a Lagging: it looks back in time"),
        ],
    )
    def test_types(self, part, message):
        emission = IndependentEmissions(parts(level=(part, [0])))
        with pytest.raises(TypeError, match=f"IndependentEmissions: emission 'level' {message}"):
            quick(emission=emission).fit(MIXED)

    def test_more(self):
        with pytest.raises(ValueError, match="'emissions' parameter of IndependentEmissions"):
            quick(emission=IndependentEmissions("gaussian")).fit(MIXED)
        emission = IndependentEmissions(parts(level=("gaussian", 0.5)))
        with pytest.raises(TypeError, match="emission 'level': columns must be an int"):
            quick(emission=emission).fit(MIXED)
        emission = IndependentEmissions(parts(level=(PoissonDuration(), [0])))
        with pytest.raises(TypeError, match="make_sampler"):
            quick(emission=emission).fit(MIXED)
        emission = IndependentEmissions(parts(kinds=(CategoricalEmission(2), [2])))
        other = [x.copy() for x in MIXED]
        other[1][3, 2] = 5.0
        with pytest.raises(ValueError, match=r"emission 'kinds'.*integers from 0 to 1; got 5"):
            quick(emission=emission).fit(MIXED).predict(other)


def test_concentrations_of_parts():
    """Concentrations that categories draw are frozen with the sampler's, and recorded."""
    model = quick(emission=IndependentEmissions(parts()), burn_in=10, max_iter=12).fit(MIXED)
    name = "kinds__emission_concentration"
    assert len(np.unique(model.trace_[name])) == 2
    sampler = IndependentEmissions(parts()).make_sampler(MIXED[0], 3)
    assert list(sampler.scalars()) == [name]
    assert sampler.held is False
    sampler.held = True
    assert sampler.held is True
    assert [getattr(part, "held", None) for part in sampler.samplers] == [
        True,
        None,
        True,
        None,
    ]


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
    sampler.complete(np.zeros(30, dtype=np.int64), make_stream(make_seed_sequence(0)))
    one, two = (part._known()[::3, 1] for part in sampler.samplers)
    assert np.all(np.abs(one - two) > 0.0)
