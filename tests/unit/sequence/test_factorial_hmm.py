"""The factorial hidden Markov model as an estimator, also where some bits are known."""

import pickle
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skdp._numeric._random import make_seed_sequence
from skdp.callback import Checkpoint
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission, FactorialHMM
from skdp.sequence._factorial._model import (
    FactorialDraw,
    FactorialModel,
    check_known_bits,
    name_factors,
    name_paths,
)
from skdp.utils._checking import same_fit

WEIGHTS = np.array([[0.5, -0.2, 0.1], [2.0, 0.0, 1.0], [0.0, 2.0, -1.5]])


def make_data(noise=0.2, weights=WEIGHTS):
    """Return sequences and which of their factors are on: they stay for ten steps or so."""
    rng = np.random.default_rng(0)
    bits = (rng.random((4, 40, len(weights) - 1)) < 0.1).cumsum(axis=1) % 2
    means = weights[0] + bits @ weights[1:]
    return list(means + noise * rng.standard_normal(means.shape)), list(bits)


X, BITS = make_data()
LEVELS = np.tile(np.repeat([0.0, 1.0], 20), 5)[:, np.newaxis] * [5.0, -4.0]
LEVELS += np.random.default_rng(0).normal(size=(200, 2))
"""Two columns at two levels, in long runs."""


def given(**params):
    return BinaryFactorEmission(2, **{"weights": WEIGHTS, **params})


def quick(**params):
    defaults = {"n_factors": 2, "max_iter": 40, "thin": 2, "n_samples": 5, "random_state": 0}
    return FactorialHMM(**{**defaults, **params})


def agreement(found, truth):
    """Return the share of steps at which each factor is best found, with either sign."""
    found, truth = np.concatenate(found), np.concatenate(truth)
    shares = (found[:, :, np.newaxis] == truth[:, np.newaxis]).mean(axis=0)
    return np.maximum(shares, 1.0 - shares).max(axis=0)


def test_values_out_of_reach():
    """No means explain an observation, which new sequences may hold."""
    fitted, new = quick(emission=given(noise_variance=0.1)).fit(X), [X[0], np.full((2, 3), 1e160)]
    with pytest.raises(ValueError, match="Sequence 1 has probability 0 under a stored sample"):
        fitted.predict(new)
    assert_array_equal(np.isfinite(fitted.score_samples(new)), [True, False])
    assert fitted.score_samples(new)[1] == -np.inf


@pytest.mark.parametrize(("init", "block_size"), [("data", 1), ("random", 2), ("data", 10)])
def test_given_weights_find_the_activities(init, block_size):
    model = quick(emission=given(init=init, noise_prior=(1.0, 1.0)), block_size=block_size).fit(X)
    for found, bits, probs in zip(model.predict(X), BITS, model.predict_proba(X), strict=True):
        assert found.dtype.kind == "i"
        assert (found != bits).mean() < 0.02
        assert_array_equal(found, probs >= 0.5)
    shares = np.array([bits.mean(axis=0) for bits in BITS])
    assert_allclose(model.transform(X), shares, atol=0.02)
    assert_allclose(model.factor_shares_, shares.mean(axis=0), atol=0.02)
    assert_allclose(model.noise_variance_, (1.0 + 80.0 * 0.04) / (1.0 + 80.0), rtol=0.2)
    assert_array_equal(model.weights_, WEIGHTS)
    assert model.startprob_.shape == (2, 2)
    assert model.transmat_.shape == (2, 2, 2)
    assert_allclose(model.startprob_.sum(axis=-1), 1.0)
    assert_allclose(model.transmat_.sum(axis=-1), 1.0)
    assert_allclose(model.transmat_[:, [0, 1], [1, 0]], 0.1, atol=0.06)
    assert model.n_active_factors_ == 2


def test_drawn_weights_find_the_activities():
    """Up to the order of the factors and which of their values is 1."""
    model = quick(max_iter=200, n_chains=3, emission=BinaryFactorEmission(2, weights_scale=2.0))
    found = model.fit_predict(X)
    assert np.all(agreement(found, BITS) > 0.98)
    assert model.trace_.n_chains == 3
    assert set(model.trace_) == {"log_joint", "activity", "n_active_factors"}
    shares = model.factor_shares_
    assert np.all(shares <= 0.5)
    assert np.all(np.diff(shares) <= 0.0)
    assert_allclose(np.concatenate(found).mean(axis=0), shares, atol=0.03)
    assert len(model.samples_) == 5
    assert len(model._models) == 15


@pytest.mark.parametrize("weights", [WEIGHTS, np.vstack([WEIGHTS, [[-1.5, 1.0, 2.0]]])])
def test_number_of_factors_from_the_data(weights):
    sequences, truth = make_data(weights=weights)
    sequences[1][3] = np.nan
    sequences[2][4, 0] = np.nan
    model = quick(n_factors="auto", max_iter=150).fit(sequences)
    n = len(weights) - 1
    assert model.n_active_factors_ == n
    assert model.weights_.shape == (n + 1, 3)
    assert model.transmat_.shape == (n, 2, 2)
    assert np.all(agreement(model.predict(sequences), truth) > 0.97)
    assert set(model.trace_) == {"log_joint", "activity", "n_active_factors", "mass"}
    assert np.all(model.trace_["mass"] > 0.0)
    assert np.isfinite(model.score(sequences))
    assert model.get_feature_names_out().shape == (n,)
    assert model.sample(5, 2, random_state=0)[0].shape == (2, 3)


def test_number_of_factors_of_noise():
    """There may be none at all."""
    values = np.random.default_rng(0).normal(size=(80, 2))
    for init, max_iter in (("data", 60), ("random", 300)):  # a random start has many factors
        emission = BinaryFactorEmission("auto", init=init)
        model = quick(n_factors="auto", emission=emission, max_iter=max_iter).fit(values)
        assert model.n_active_factors_ <= 3
        assert model.predict(values).shape == (80, model.n_active_factors_)
        assert np.isfinite(model.score(values))
    bits = (values > 0.0).astype(float)
    assert np.isfinite(quick(n_factors="auto", emission="probit").fit(bits).score(bits))


def test_probit_columns_and_missing_values():
    rng = np.random.default_rng(1)
    weights = np.array([[-2.0, -2.0, -2.0, 0.0], [4.0, 4.0, 0.0, 3.0], [0.0, 4.0, 4.0, -3.0]])
    sequences, bits = make_data(noise=1.0, weights=weights)
    values = np.concatenate(sequences)
    values[:, :3] = values[:, :3] > 0.0
    values[rng.random(values.shape) < 0.15] = np.nan
    values[5:7] = np.nan
    output = ["probit"] * 3 + ["normal"]
    panel = SequencePanel(values, 40 * np.arange(5))
    model = quick(emission=BinaryFactorEmission(2, output=output, weights=weights)).fit(panel)
    assert (np.concatenate(model.predict(panel)) != np.concatenate(bits)).mean() < 0.05
    assert np.isfinite(model.score(panel))
    assert_array_equal(model.noise_variance_[:3], 1.0)
    drawn = quick(emission=BinaryFactorEmission(2, output=output)).fit(values)
    assert drawn.weights_.shape == (3, 4)


def test_constant_and_short_sequences():
    for n_factors in (3, "auto"):
        for short in (np.zeros((1, 2)), np.zeros((30, 2)), np.array([[np.nan, 1], [2, np.nan]])):
            model = quick(n_factors=n_factors).fit(short)
            assert np.isfinite(model.score(short))
        assert_allclose(model.score_samples(np.full((3, 2), np.nan)), np.zeros(3), atol=1e-12)
    tiny = [1e-145 * X[0]]
    assert np.isfinite(quick().fit(tiny).score(tiny))
    constant = np.column_stack([np.concatenate(X), np.full(160, 7.0)])
    assert np.isfinite(quick(n_factors="auto").fit(constant).score(constant))


@cache
def fit_usual_units(n_factors):
    return [quick(n_factors=n_factors, max_iter=20).fit(x) for x in (X[0], LEVELS[:, :1])]


UNITS = [(1e-6, 0.0), (1e-3, 7.0), (1e3, 0.0), (1e6, -1e8), (1.0, 1000.0), (0.7, 3.0)]


@pytest.mark.parametrize(
    ("unit", "origin", "n_factors"),
    [(*each, n) for each, n in zip(UNITS, [2, "auto"] * 3, strict=True)],
)
def test_units_and_origins(unit, origin, n_factors):
    """Activities are the same, and densities those of the new unit."""
    for values, model in zip((X[0], LEVELS[:, :1]), fit_usual_units(n_factors), strict=True):
        other = quick(n_factors=n_factors, max_iter=20)
        assert_array_equal(other.fit_predict(unit * values + origin), model.predict(values))
        assert 1 <= model.n_active_factors_ == other.n_active_factors_ <= 4
        expected = unit * model.weights_
        expected[0] += origin
        assert_allclose(other.weights_, expected, rtol=1e-5, atol=1e-5 * unit)
        assert_allclose(other.noise_variance_, unit**2 * model.noise_variance_, rtol=1e-5)
        log_unit = values.shape[1] * np.log(unit)
        score = model.score(values) - log_unit
        assert_allclose(other.score(unit * values + origin), score, rtol=1e-6)
        # Weights count in units of their prior scale, noise by the logarithms of its precisions.
        log_joints = model.trace_["log_joint"] - len(values) * log_unit
        assert_allclose(other.trace_["log_joint"], log_joints, rtol=1e-6)


@pytest.mark.parametrize("outlier", [100.0, -999.0, 1e6, 1e20, 1e50, 1e119])
def test_one_outlier_is_one_factor(outlier):
    """Or two, but not as many as it is standard deviations away; in few rows, five or fewer."""
    n_columns = 1 + (outlier > 1e6)
    values = LEVELS[:, :n_columns].copy()
    values[50, 0] = outlier
    model = quick(n_factors="auto", max_iter=20).fit(values + 1000.0)
    assert model.trace_["n_active_factors"].max() <= 1 + 2
    assert np.isfinite(model.score(values + 1000.0))
    assert quick(max_iter=20).fit(values).weights_.shape == (3, n_columns)
    rows = np.random.default_rng(0).normal(size=(10, 3)) + 4.0 * (np.arange(10)[:, None] // 5)
    rows[1, 0] = outlier
    assert quick(n_factors="auto").fit(rows).trace_["n_active_factors"].max() <= 5


def test_bound_on_the_number_of_factors():
    """Given priors that are far from the scale of the data: chains stop there, and say so."""
    emission = BinaryFactorEmission("auto", weights_scale=1.0, noise_variance=1e-4)
    model = quick(n_factors="auto", emission=emission, max_iter=30)
    refused = "predict.*refuse more than 20.*n_factors of at most 20"
    with (
        pytest.warns(ConvergenceWarning, match="as many factors as there may be"),
        pytest.warns(UserWarning, match=refused),
    ):
        model.fit(LEVELS[:100, :1] + 1000.0)
    with pytest.raises(ValueError, match="up to 20 factors"):
        model.predict(LEVELS[:100, :1] + 1000.0)
    bound = 24 + np.ceil(2.0 * (1.0 / np.arange(1, 101)).sum())
    assert model.trace_["n_active_factors"].max() == bound


def test_sample():
    model = quick(emission=given(noise_prior=(1.0, 1.0)), max_iter=60).fit(X)
    panel, activities = model.sample(400, 3, random_state=1)
    assert panel.shape == (3, 3)
    assert_array_equal(panel.values, model.sample(400, 3, random_state=1)[0].values)
    bits = np.concatenate(activities)
    assert set(np.unique(bits)) == {0, 1}
    rest = panel.values - WEIGHTS[0] - bits @ WEIGHTS[1:]
    assert_allclose(rest.std(axis=0), 0.2, rtol=0.2)
    switches = np.mean([(a[1:] != a[:-1]).mean() for a in activities])
    assert 0.05 < switches < 0.2


def test_states_of_sweeps():
    """They are read-only views of a chain; copies stay as they are."""

    def look(state):
        arrays = state.activities, state.weights, state.noise_variance, state.startprob
        return [np.array(part) for part in (*arrays, state.transmat, state.log_joint())]

    states = quick(max_iter=5).iter_sweeps(X)
    first = next(states)
    kept, before = first.copy(), look(first)
    with pytest.raises(ValueError, match="read-only"):
        first.activities[0, 0] = 1
    last = list(states)[-1]
    for found, value in zip(look(kept), before, strict=True):
        assert_array_equal(found, value)
    assert not np.array_equal(last.weights, kept.weights)
    assert last.startprob.shape == (2, 2)
    assert_allclose(last.transmat.sum(axis=-1), 1.0)


def test_saved_chains_hold_no_observations():
    """Yet means of weights are given the latent normals, which a chain keeps without its panel."""
    values = (np.random.default_rng(0).random((30, 3)) < 0.5).astype(float)
    values[:, 2] = np.random.default_rng(1).normal(size=30)
    emission = BinaryFactorEmission(2, output=["probit", "probit", "normal"])
    model = quick(emission=emission, warm_start=True, max_iter=7, burn_in=6).fit([values])
    chain = pickle.loads(pickle.dumps(model))._saved.runs[0]
    arrays = [a for a in vars(chain.sampler.emission).values() if isinstance(a, np.ndarray)]
    assert not any(np.isin(a, values[:, 2]).any() for a in arrays)
    chain.sampler.attach(SequencePanel.from_sequences([values]))
    assert_array_equal(chain.sampler.model().model.weights, chain.models[7].model.weights)


def make_model(rng, n_factors=3, shares=None):
    return FactorialModel(
        startprob=rng.dirichlet([1.0, 1.0], size=n_factors),
        transmat=rng.dirichlet([1.0, 1.0], size=(n_factors, 2)),
        weights=rng.normal(size=(n_factors + 1, 2)),
        noise_variance=rng.gamma(2.0, size=2),
        output=("normal",) * 2,
        shares=rng.random(n_factors) if shares is None else shares,
    )


def test_reordered_factors_are_the_same_model():
    rng = np.random.default_rng(2)
    model = make_model(rng)
    values, ptr = rng.normal(size=(9, 2)), np.array([0, 4, 9])
    likelihood, probs = model.log_likelihoods(ptr, values), model.posteriors(ptr, values)
    for flips in product([False, True], repeat=3):
        order, flipped = rng.permutation(3), np.array(flips)
        other = model.reorder(order, flipped)
        assert_allclose(other.log_likelihoods(ptr, values), likelihood, rtol=1e-12)
        expected = np.where(flipped, 1.0 - probs[:, order], probs[:, order])
        assert_allclose(other.posteriors(ptr, values), expected, atol=1e-12)
        shares = model.shares[order]
        assert_allclose(other.shares, np.where(flipped, 1.0 - shares, shares))


def test_names_of_factors():
    """Samples that differ in the names of their factors alone are named alike."""
    rng = np.random.default_rng(3)
    paths = (rng.random((50, 3)) < [0.2, 0.7, 0.45]).astype(np.int8)
    shares = paths.mean(axis=0)
    model = make_model(rng, shares=shares)
    samples = [FactorialDraw(model, paths, 0.0)]
    for log_joint in (2.0, 1.0):
        order, flipped = rng.permutation(3), rng.random(3) < 0.5
        other = (paths[:, order] ^ flipped).astype(np.int8)
        samples.append(FactorialDraw(model.reorder(order, flipped), other, log_joint))
    named, reference = name_factors(samples, exchangeable=True)
    assert reference == 1
    for other in named:
        assert_allclose(other.weights, named[0].weights, atol=1e-12)
        assert_allclose(other.transmat, named[0].transmat)
    assert_allclose(named[0].shares, np.sort(np.minimum(shares, 1.0 - shares))[::-1])
    same, _ = name_factors(samples, exchangeable=False)
    assert all(a is b.model for a, b in zip(same, samples, strict=True))


def test_names_of_samples_with_other_numbers_of_factors():
    """Factors without a match have no name; factors that a sample lacks are never on."""
    rng = np.random.default_rng(4)
    paths = (rng.random((50, 3)) < [0.1, 0.3, 0.45]).astype(np.int8)
    values, ptr = rng.normal(size=(9, 2)), np.array([0, 4, 9])
    columns = [[0, 1, 2], [2, 0], [1, 0, 2, 0]]
    others = [paths[:, own].copy() for own in columns]
    others[2][::2, 3] ^= 1  # like none of them
    samples = [
        FactorialDraw(make_model(rng, own.shape[1], own.mean(axis=0)), own, log_joint)
        for own, log_joint in zip(others, (2.0, 1.0, 0.0), strict=True)
    ]
    named, reference = name_factors(samples, exchangeable=True)
    assert reference == 0
    for model, sample, own in zip(named, samples, columns, strict=True):
        found, alone = (each.posteriors(ptr, values) for each in (model, sample.model))
        assert found.shape == (9, 3)
        for g, place in enumerate((2, 1, 0)):  # by falling shares
            expected = alone[:, own.index(place)] if place in own else np.zeros(9)
            assert_allclose(found[:, g], expected, atol=1e-12)
        likelihoods = sample.model.log_likelihoods(ptr, values)
        assert_allclose(model.log_likelihoods(ptr, values), likelihoods, rtol=1e-12)


def test_start_from_data_is_near():
    """Least squares of the first step of a chain, before any sweep."""
    panel = SequencePanel.from_sequences(X)

    def start(**params):
        model = quick(emission=given(**params), block_size=1)
        sampler = model._start_sampler(panel, make_seed_sequence(0), 0)
        return (sampler.emission.factors != np.concatenate(BITS)).mean()

    assert start(noise_variance=0.04) < 0.02
    assert start(init="random") > 0.2


RNG = np.random.default_rng(0)
THREE = np.vstack([WEIGHTS, [[-1.0, 1.5, 2.0]]])
TRUTH = (RNG.random((3, 60, 3)) < 0.08).cumsum(axis=1) % 2
SERIES = list(THREE[0] + TRUTH @ THREE[1:] + 0.3 * RNG.normal(size=(3, 60, 3)))
TRUTH[:, :, 1] = 1 - TRUTH[:, :, 1]  # for the user, this factor is on where its weights are absent
Y = list(np.where(RNG.random(TRUTH.shape) < 0.06, TRUTH, -1))
UNKNOWN = np.full((60, 3), -1)


def make(n_factors=3, **params):
    return FactorialHMM(n_factors, **{"max_iter": 40, "random_state": 0, **params})


@pytest.mark.parametrize(
    ("n_factors", "order"), [(3, [0, 1, 2]), (3, [2, 0, 1]), ("auto", [1, 2, 0])]
)
def test_factors_have_the_numbers_and_values_of_the_user(n_factors, order):
    model = make(n_factors).fit(SERIES, [y[:, order] for y in Y])
    found = np.concatenate(model.predict(SERIES))[:, :3]
    assert np.mean(found == np.concatenate(TRUTH)[:, order]) > 0.97
    expected = THREE[1:] * np.array([1, -1, 1])[:, np.newaxis]
    assert np.abs(model.weights_[1:4] - expected[order]).max() < 0.4


def test_factors_without_a_known_bit_are_ordered_by_share():
    model = make("auto").fit(SERIES, [known[:, [2]] for known in Y])
    found = np.concatenate(model.predict(SERIES))
    assert np.mean(found[:, 0] == np.concatenate(TRUTH)[:, 2]) > 0.97
    assert found.shape[1] >= 3
    shares = model.factor_shares_[1:]
    assert np.all(np.diff(shares) <= 0.0)
    assert np.all(shares <= 0.5)
    model = make().fit(SERIES, [np.where(np.arange(3) == 1, known, -1) for known in Y])
    assert np.abs(model.weights_[2] + THREE[2]).max() < 0.4
    assert model.factor_shares_[2] <= model.factor_shares_[0] <= 0.5
    model.fit(SERIES, [np.where(np.arange(3) == 1, 0, UNKNOWN) for _ in SERIES])
    assert not np.concatenate(model.predict(SERIES))[:, 1].any()
    assert model.factor_shares_[1] == 0.0


@pytest.mark.parametrize(
    "params",
    [
        {"n_factors": "auto"},
        {"block_size": 1},
        {"emission": BinaryFactorEmission(3, init="random")},
        {"n_factors": "auto", "emission": BinaryFactorEmission("auto", init="random")},
        {"emission": BinaryFactorEmission(3, weights=THREE)},
    ],
)
def test_no_sweep_changes_known_bits(params):
    wrong = np.where(Y[0] >= 0, 1 - Y[0], -1)  # partly far from the data
    for y in (Y, [wrong, *Y[1:]]):
        known = np.concatenate(y)
        for state in make(**{"max_iter": 15, **params}).iter_sweeps(SERIES, y):
            assert_array_equal(state.activities[:, :3][known >= 0], known[known >= 0])


@pytest.mark.parametrize("n_factors", [3, "auto"])
def test_activities_of_the_fit_are_given_what_is_known(n_factors):
    y = [known.copy() for known in Y]
    y[2][50] = 1 - TRUTH[2, 50]  # far from the data
    model, known = make(n_factors), np.concatenate(y)
    found = np.concatenate(model.fit_predict(SERIES, y))
    assert_array_equal(found[:, :3][known >= 0], known[known >= 0])
    assert_array_equal(model.predict(SERIES)[2][50, :3], TRUTH[2, 50])


def test_containers_of_known_bits():
    def check(ptr, expected, *forms):
        for y in forms:
            assert_array_equal(check_known_bits(y, np.array(ptr), 3), expected)

    first, both, missing = Y[0], np.concatenate([Y[0], UNKNOWN]), Y[0] < 0
    with_none, with_na = (np.where(missing, gap, first).tolist() for gap in (None, pd.NA))
    bools = np.where(missing, None, first == 1).tolist()
    frame = pd.DataFrame(np.where(missing, np.nan, first), columns=list("abc"))
    check([0, 60], first, with_none, frame.to_numpy(), with_na, first.astype(np.int8), list(first))
    check([0, 60], first, [first], frame, [frame], pl.DataFrame(frame))
    check([0, 60], first, bools, pd.DataFrame(bools).astype("boolean"))
    check([0, 60], first, [pl.DataFrame(bools, orient="row")])
    check([0, 60], TRUTH[0], TRUTH[0] == 1)
    assert check_known_bits(pa.array([0, None] * 30), np.array([0, 60]), 3) is None  # classes
    check([0, 60, 120], both, [frame, UNKNOWN], [first, None], np.array([first, UNKNOWN]), both)
    check([0, 60, 120], both, [*with_none, *UNKNOWN.tolist()])


@pytest.mark.parametrize("n_factors", [3, None])
def test_classes_are_no_bits(n_factors):
    """Neither those of sequences nor those of steps; nor is a y of unknown bits a hint."""
    zeros = [np.zeros(n, dtype=int) for n in (60, 45, 60)]
    letters, unknown = [["a"] * len(each) for each in zeros], [UNKNOWN, UNKNOWN[:45], UNKNOWN]
    for y in (zeros, letters, [None, *zeros[1:]], unknown, [None] * 3, list("abc"), range(3)):
        assert check_known_bits(y, np.array([0, 60, 105, 165]), n_factors, 5) is None
    for y in ([zeros[0]], np.arange(60)):
        assert check_known_bits(y, np.array([0, 60]), n_factors, 5) is None


@pytest.mark.parametrize("n_factors", [3, "auto"])
def test_warm_start_sweeps_and_checkpoints_with_known_bits(n_factors, tmp_path):
    whole = make(n_factors, burn_in=20).fit(SERIES, Y)
    *_, last = make(n_factors).iter_sweeps(SERIES, Y)
    assert last.log_joint() == whole.trace_["log_joint"][0, -1]
    model = make(n_factors, max_iter=30, burn_in=20, warm_start=True).fit(SERIES, Y)
    model = pickle.loads(pickle.dumps(model))
    same_fit(whole, model.set_params(max_iter=40).fit(SERIES, Y))
    for y in (None, [*Y[:2], None]):
        with pytest.raises(ValueError, match="X"):
            model.fit(SERIES, y)
    path = tmp_path / "fit.ckpt"
    make(n_factors, max_iter=30, burn_in=20).set_callbacks(Checkpoint(path)).fit(SERIES, Y)
    rest = make(n_factors, burn_in=20).set_callbacks(Checkpoint(path))
    with pytest.raises(ValueError, match="X"):
        rest.fit(SERIES, Y[::-1])
    same_fit(whole, rest.fit(SERIES, Y))
    same_fit(make(n_factors).fit(SERIES), make(n_factors, use_y=False).fit(SERIES, Y))


def test_paths_take_the_names_with_which_they_agree():
    bits = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], dtype=np.int8).T
    known = np.array([[-1, 1, 1, -1], [-1, -1, 0, 0]], dtype=np.int8).T
    assert_array_equal(name_paths(bits, known).T, [[0, 1, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1]])
    assert_array_equal(name_paths(bits[:, :1], known).T, [[0, 1, 1, 0], [1, 1, 0, 0]])


def test_named_factors_are_not_aligned():
    """A factor that is rarely on would come last, and one that is mostly on would be flipped."""
    paths = np.array([[0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]], dtype=np.int8).T
    known = np.array([[-1, 1, -1, -1]], dtype=np.int8).T
    half = np.full((3, 2), 0.5), np.full((3, 2, 2), 0.5)

    def draw(order, log_joint):
        own, weights = paths[:, order], np.array([0.0, *order])[:, np.newaxis]
        model = FactorialModel(*half, weights, np.ones(1), ("normal",), own.mean(axis=0))
        return FactorialDraw(model, own, log_joint)

    def name(*draws):
        models, _ = name_factors(list(draws), known, exchangeable=True)
        return [model.weights[1:, 0].tolist() for model in models]

    assert name(draw([0, 1, 2], 0.0)) == [[0.0, 2.0, -1.0]]
    assert name(draw([1, 0, 2], 0.0)) == [[1.0, 2.0, 0.0]]
    # In the second sample, path 1 has the known bit and path 0 resembles the first sample's.
    assert name(draw([0, 1, 2], 1.0), draw([1, 0, 2], 0.0)) == [[0.0, 2.0, -1.0], [1.0, 2.0, 0.0]]
