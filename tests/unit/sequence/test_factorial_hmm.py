"""The factorial hidden Markov model as an estimator."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from skdp._numeric._random import make_seed_sequence
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission, FactorialHMM
from skdp.sequence._factorial._alignment import FactorialDraw, name_factors
from skdp.sequence._factorial._model import FactorialModel

WEIGHTS = np.array([[0.5, -0.2, 0.1], [2.0, 0.0, 1.0], [0.0, 2.0, -1.5]])


def make_data(n_sequences=4, n_steps=40, seed=0, noise=0.2, weights=WEIGHTS):
    """Return sequences and which of their factors are on: they stay for ten steps or so."""
    rng = np.random.default_rng(seed)
    n_factors = len(weights) - 1
    switches = rng.random((n_sequences, n_steps, n_factors)) < 0.1
    bits = switches.cumsum(axis=1) % 2
    means = weights[0] + bits @ weights[1:]
    return list(means + noise * rng.standard_normal(means.shape)), list(bits)


X, BITS = make_data()


def given(**params):
    return BinaryFactorEmission(2, **{"weights": WEIGHTS, **params})


def quick(**params):
    defaults = {"n_factors": 2, "max_iter": 40, "thin": 2, "n_samples": 5, "random_state": 0}
    return FactorialHMM(**{**defaults, **params})


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"n_factors": 0}, X, "'n_factors' parameter"),
        ({"n_factors": 1.5}, X, "'n_factors' parameter"),
        ({"n_factors": "all"}, X, "'n_factors' parameter"),
        ({"n_factors": "auto", "emission": given()}, X, "the same.* got 'auto' and 2"),
        (
            {"n_factors": "auto", "emission": BinaryFactorEmission("auto", weights=WEIGHTS)},
            X,
            "leave them at None",
        ),
        ({"n_factors": "auto", "start_prior": (1.0, 2.0)}, X, "leave start_prior at"),
        ({"n_factors": "auto", "switch_on_prior": (2.0, 1.0)}, X, "leave it at 1.0"),
        ({"n_factors": "auto", "mass_prior": (0.0, 1.0)}, X, "mass_prior must be two positive"),
        ({"emission": "gaussian"}, X, "'emission' parameter"),
        ({"emission": BinaryFactorEmission(3)}, X, "must be the same.* got 2 and 3"),
        ({"emission": given(activity_prior=(2.0, 1.0))}, X, "activity_prior of the emission"),
        ({"emission": given(amplitude_variance=0.1)}, X, "amplitude_variance of the emission"),
        ({"emission": given(activity_prior=1.0)}, X, "activity_prior must be two positive"),
        ({"emission": given(weights=WEIGHTS[:2])}, X, r"weights must be .* shape \(3, 3\)"),
        ({"emission": given(output=["normal"] * 2)}, X, "list of 3"),
        ({"emission": given(init="k-means")}, X, "'init' parameter"),
        ({"emission": "probit"}, X, "must hold 0, 1 or NaN in column 0"),
        ({"start_prior": (0.0, 1.0)}, X, "start_prior must be two positive"),
        ({"switch_on_prior": (1.0,)}, X, "switch_on_prior must be two positive"),
        ({"switch_off_prior": 1.0}, X, "'switch_off_prior' parameter"),
        ({"block_size": 0}, X, "'block_size' parameter"),
        ({"block_size": 11}, X, "'block_size' parameter"),
        ({"burn_in": 40}, X, "burn_in must be smaller"),
        ({}, [], "0 sample"),
        ({}, [np.zeros((2, 1)), np.zeros((0, 1))], "0 observation.*sequence 1"),
        ({}, [np.zeros((3, 2)), np.zeros((3, 1))], "has 1 features, but sequence 0 has 2"),
        ({}, [np.array([[np.inf], [0.0]])], "infinity"),
    ],
)
def test_bad_input(params, X, message):
    model = quick(**params)
    before = dict(vars(model))
    for use in (model.fit, model.iter_sweeps):
        with pytest.raises(ValueError, match=message):
            use(X)
    assert vars(model) == before


def test_values_out_of_reach():
    """An observation that no means explain is an error, not a separate state."""
    for emission in (given(noise_variance=0.1), given()):
        with pytest.raises(ValueError, match="1e\\+160 in column 0: scale the columns of X"):
            quick(emission=emission).fit([X[0], np.full((2, 3), 1e160)])
    fitted = quick(emission=given(noise_variance=0.1)).fit(X)
    with pytest.raises(ValueError, match="Sequence 1 has probability 0 under a stored sample"):
        fitted.predict([X[0], np.full((2, 3), 1e160)])
    scores = fitted.score_samples([X[0], np.full((2, 3), 1e160)])
    assert np.isfinite(scores[0])
    assert scores[1] == -np.inf


def test_not_fitted():
    for method in ("predict", "predict_proba", "transform", "score", "score_samples"):
        with pytest.raises(NotFittedError):
            getattr(quick(), method)(X)
    with pytest.raises(NotFittedError):
        quick().sample(3)


@pytest.mark.parametrize("init", ["data", "random"])
@pytest.mark.parametrize("block_size", [1, 2, 10])
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
    found = np.concatenate(model.fit_predict(X))
    truth = np.concatenate(BITS)
    agreement = (found[:, :, np.newaxis] == truth[:, np.newaxis]).mean(axis=0)
    agreement = np.maximum(agreement, 1.0 - agreement)
    assert np.all(agreement.max(axis=0) > 0.98)
    assert model.trace_.n_chains == 3
    assert set(model.trace_) == {"log_joint", "activity", "n_active_factors"}
    shares = model.factor_shares_
    assert np.all(shares <= 0.5)
    assert np.all(np.diff(shares) <= 0.0)
    assert_allclose(found.mean(axis=0), shares, atol=0.03)
    assert len(model.samples_) == 5
    assert len(model._models) == 15


def test_number_of_factors_from_the_data():
    """Also with missing values and columns of both kinds."""
    for weights in (WEIGHTS, np.vstack([WEIGHTS, [[-1.5, 1.0, 2.0]]])):
        sequences, truth = make_data(weights=weights)
        sequences[1][3] = np.nan
        sequences[2][4, 0] = np.nan
        model = quick(n_factors="auto", max_iter=150).fit(sequences)
        n = len(weights) - 1
        assert model.n_active_factors_ == n
        assert model.weights_.shape == (n + 1, 3)
        assert model.transmat_.shape == (n, 2, 2)
        found = np.concatenate(model.predict(sequences))
        agreement = (found[:, :, np.newaxis] == np.concatenate(truth)[:, np.newaxis]).mean(axis=0)
        assert np.all(np.maximum(agreement, 1.0 - agreement).max(axis=0) > 0.97)
        assert set(model.trace_) == {"log_joint", "activity", "n_active_factors", "mass"}
        assert np.all(model.trace_["mass"] > 0.0)
        assert np.isfinite(model.score(sequences))
        assert model.get_feature_names_out().shape == (n,)
        assert model.sample(5, 2, random_state=0)[0].shape == (2, 3)


def test_number_of_factors_of_noise():
    """There may be none at all."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 2))
    for init, max_iter in (("data", 60), ("random", 300)):  # a random start has many factors
        emission = BinaryFactorEmission("auto", init=init)
        model = quick(n_factors="auto", emission=emission, max_iter=max_iter).fit(values)
        assert model.n_active_factors_ <= 3
        assert model.predict(values).shape == (80, model.n_active_factors_)
        assert np.isfinite(model.score(values))
    constant = quick(n_factors="auto").fit([np.zeros((1, 2))])
    assert np.isfinite(constant.score([np.zeros((1, 2))]))
    probit = quick(n_factors="auto", emission="probit").fit((values > 0.0).astype(float))
    assert np.isfinite(probit.score((values > 0.0).astype(float)))


def test_resumed_number_of_factors():
    whole = quick(n_factors="auto", max_iter=12, burn_in=2).fit(X)
    part = quick(n_factors="auto", max_iter=6, burn_in=2, warm_start=True).fit(X)
    part = pickle.loads(pickle.dumps(part)).set_params(max_iter=12).fit(X)
    assert_array_equal(part.trace_["log_joint"][:, -1], whole.trace_["log_joint"][:, -1])


def test_probit_columns_and_missing_values():
    rng = np.random.default_rng(1)
    weights = np.array([[-2.0, -2.0, -2.0, 0.0], [4.0, 4.0, 0.0, 3.0], [0.0, 4.0, 4.0, -3.0]])
    sequences, bits = make_data(noise=1.0, weights=weights)
    panel = SequencePanel.from_sequences(sequences)
    values = panel.values.copy()
    values[:, :3] = values[:, :3] > 0.0
    values[rng.random(values.shape) < 0.15] = np.nan
    values[5:7] = np.nan
    output = ["probit"] * 3 + ["normal"]
    emission = BinaryFactorEmission(2, output=output, weights=weights)
    model = quick(emission=emission).fit(SequencePanel(values, panel.ptr))
    found = np.concatenate(model.predict(SequencePanel(values, panel.ptr)))
    assert (found != np.concatenate(bits)).mean() < 0.05
    assert np.isfinite(model.score(SequencePanel(values, panel.ptr)))
    assert_array_equal(model.noise_variance_[:3], 1.0)
    drawn = quick(emission=BinaryFactorEmission(2, output=output)).fit(values)
    assert drawn.weights_.shape == (3, 4)
    quick(emission="probit").fit([np.array([[0.0], [1.0], [np.nan]])])


def test_constant_and_short_sequences():
    for short in ([np.zeros((1, 2))], [np.zeros((30, 2))], np.array([[np.nan, 1], [2, np.nan]])):
        model = quick(n_factors=3).fit(short)
        assert np.isfinite(model.score(short))
    assert_allclose(model.score_samples(np.full((3, 2), np.nan)), np.zeros(3), atol=1e-12)


def test_more_factors_than_can_be_summed_over():
    emission = BinaryFactorEmission(21, weights=np.eye(22)[:, :3])
    model = quick(n_factors=21, emission=emission, max_iter=3, burn_in=0).fit(X)
    assert model.factor_shares_.shape == (21,)
    for method in (model.predict, model.score, model.transform):
        with pytest.raises(ValueError, match="up to 20 factors, got 21"):
            method(X)


@pytest.fixture(scope="module")
def levels():
    """Return two columns at two levels, in long runs."""
    on = np.tile(np.repeat([0.0, 1.0], 20), 5)[:, np.newaxis]
    return on * [5.0, -4.0] + np.random.default_rng(0).normal(size=(200, 2))


@pytest.mark.parametrize("n_factors", [2, "auto"])
@pytest.mark.parametrize(
    ("unit", "origin"),
    [(1e-6, 0.0), (1e-3, 7.0), (1e3, 0.0), (1e6, -1e8), (1.0, 1000.0), (0.7, 3.0)],
)
def test_units_and_origins(n_factors, unit, origin, levels):
    """Activities are the same, and densities those of the new unit."""
    for values in (X[0], levels[:, :1]):
        model, other = (quick(n_factors=n_factors, max_iter=20) for _ in range(2))
        activities = model.fit_predict(values)
        assert 1 <= model.n_active_factors_ <= 4
        assert_array_equal(other.fit_predict(unit * values + origin), activities)
        assert other.n_active_factors_ == model.n_active_factors_
        expected = unit * model.weights_
        expected[0] += origin
        assert_allclose(other.weights_, expected, rtol=1e-5, atol=1e-5 * unit)
        assert_allclose(other.noise_variance_, unit**2 * model.noise_variance_, rtol=1e-5)
        log_unit = values.shape[1] * np.log(unit)
        assert_allclose(
            other.score(unit * values + origin), model.score(values) - log_unit, rtol=1e-6
        )
        # Weights count in units of their prior scale, noise by the logarithms of its precisions.
        assert_allclose(
            other.trace_["log_joint"],
            model.trace_["log_joint"] - len(values) * log_unit,
            rtol=1e-6,
        )


@pytest.mark.parametrize("outlier", [100.0, -999.0, 1e6, 1e20, 1e50, 1e119])
@pytest.mark.parametrize("n_columns", [1, 2])
def test_one_outlier_is_one_factor(outlier, n_columns, levels):
    """Or two, but not as many as it is standard deviations away."""
    values = levels[:, :n_columns].copy()
    values[50, 0] = outlier
    model = quick(n_factors="auto", max_iter=20).fit(values + 1000.0)
    assert model.trace_["n_active_factors"].max() <= 1 + 2
    assert np.isfinite(model.score(values + 1000.0))
    assert quick(max_iter=20).fit(values).weights_.shape == (3, n_columns)


def test_few_rows_and_an_outlier():
    rows = np.random.default_rng(0).normal(size=(10, 3)) + 4.0 * (np.arange(10)[:, None] // 5)
    for outlier in (100.0, 1e3, 1e6, 1e20, 1e50, 1e119):
        rows[1, 0] = outlier
        assert quick(n_factors="auto").fit(rows).trace_["n_active_factors"].max() <= 5


def test_bound_on_the_number_of_factors(levels):
    """Given priors that are far from the scale of the data: chains stop there, and say so."""
    emission = BinaryFactorEmission("auto", weights_scale=1.0, noise_variance=1e-4)
    model = quick(n_factors="auto", emission=emission, max_iter=30)
    refused = "predict.*refuse more than 20.*n_factors of at most 20"
    with (
        pytest.warns(ConvergenceWarning, match="as many factors as there may be"),
        pytest.warns(UserWarning, match=refused),
    ):
        model.fit(levels[:100, :1] + 1000.0)
    with pytest.raises(ValueError, match="up to 20 factors"):
        model.predict(levels[:100, :1] + 1000.0)
    bound = 24 + np.ceil(2.0 * (1.0 / np.arange(1, 101)).sum())
    assert model.trace_["n_active_factors"].max() == bound


def test_columns_that_hardly_vary():
    for unit in (1e-151, 1e-300):
        with pytest.raises(ValueError, match=r"vary by 1e-150 or more.* in column 0: scale"):
            quick().fit([unit * X[0]])
    assert np.isfinite(quick().fit([1e-145 * X[0]]).score([1e-145 * X[0]]))
    constant = np.column_stack([np.concatenate(X), np.full(160, 7.0)])
    assert np.isfinite(quick(n_factors="auto").fit(constant).score(constant))


def test_sample():
    model = quick(emission=given(noise_prior=(1.0, 1.0)), max_iter=60).fit(X)
    panel, activities = model.sample(400, 3, random_state=1)
    assert panel.shape == (3, 3)
    again = model.sample(400, 3, random_state=1)
    assert_array_equal(panel.values, again[0].values)
    bits = np.concatenate(activities)
    assert set(np.unique(bits)) == {0, 1}
    rest = panel.values - WEIGHTS[0] - bits @ WEIGHTS[1:]
    assert_allclose(rest.std(axis=0), 0.2, rtol=0.2)
    switches = np.mean([(a[1:] != a[:-1]).mean() for a in activities])
    assert 0.05 < switches < 0.2
    with pytest.raises(ValueError, match="n_steps"):
        model.sample(0)


def test_state_is_a_view():
    states = quick(max_iter=5).iter_sweeps(X)
    first = next(states)
    copied, bits = first.copy(), first.activities.copy()
    known = copied.weights, copied.noise_variance, copied.transmat, copied.log_joint()
    with pytest.raises(ValueError, match="read-only"):
        first.activities[0, 0] = 1
    last = list(states)[-1]
    assert_array_equal(copied.activities, bits)
    for found, value in zip(
        (copied.weights, copied.noise_variance, copied.transmat, copied.log_joint()), known,
        strict=True,
    ):  # fmt: skip
        assert_array_equal(found, value)
    assert not np.array_equal(last.weights, copied.weights)
    assert last.startprob.shape == (2, 2)
    assert_allclose(last.transmat.sum(axis=-1), 1.0)


def test_saved_chains_hold_no_observations():
    model = quick(emission=BinaryFactorEmission(2), warm_start=True).fit(X)
    values = np.concatenate(X)
    sampler = pickle.loads(pickle.dumps(model))._saved.runs[0].sampler
    arrays = [a for a in vars(sampler.emission).values() if isinstance(a, np.ndarray)]
    assert not any(np.isin(a, values).any() for a in arrays)


def test_a_resumed_chain_shows_what_it_had():
    """Means of weights are given the latent normals, which a chain keeps without its panel."""
    rng = np.random.default_rng(0)
    values = (rng.random((30, 3)) < 0.5).astype(float)
    values[:, 2] = rng.normal(size=30)
    emission = BinaryFactorEmission(2, output=["probit", "probit", "normal"])
    model = quick(emission=emission, warm_start=True, max_iter=7, burn_in=6).fit([values])
    chain = model._saved.runs[0]
    before = chain.models[7].model.weights
    chain.sampler.attach(SequencePanel.from_sequences([values]))
    assert_array_equal(chain.sampler.model().model.weights, before)


def make_model(rng, n_factors=3, n_dims=2):
    return FactorialModel(
        startprob=rng.dirichlet([1.0, 1.0], size=n_factors),
        transmat=rng.dirichlet([1.0, 1.0], size=(n_factors, 2)),
        weights=rng.normal(size=(n_factors + 1, n_dims)),
        noise_variance=rng.gamma(2.0, size=n_dims),
        output=("normal",) * n_dims,
        shares=rng.random(n_factors),
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
    model = make_model(rng)
    model = FactorialModel(**{**vars(model), "shares": paths.mean(axis=0)})
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
    shares = paths.mean(axis=0)
    expected = np.sort(np.minimum(shares, 1.0 - shares))[::-1]
    assert_allclose(named[0].shares, expected)
    same, _ = name_factors(samples, exchangeable=False)
    assert all(a is b.model for a, b in zip(same, samples, strict=True))


def test_names_of_samples_with_other_numbers_of_factors():
    """Factors without a match have no name; factors that a sample lacks are never on."""
    rng = np.random.default_rng(4)
    paths = (rng.random((50, 3)) < [0.1, 0.3, 0.45]).astype(np.int8)
    values, ptr = rng.normal(size=(9, 2)), np.array([0, 4, 9])
    models = [make_model(rng, n_factors) for n_factors in (3, 2, 4)]
    columns = [[0, 1, 2], [2, 0], [1, 0, 2, 0]]
    others = [paths[:, own].copy() for own in columns]
    others[2][::2, 3] ^= 1  # like none of them
    samples = []
    for model, own, log_joint in zip(models, others, (2.0, 1.0, 0.0), strict=True):
        model = FactorialModel(**{**vars(model), "shares": own.mean(axis=0)})
        samples.append(FactorialDraw(model, own, log_joint))
    named, reference = name_factors(samples, exchangeable=True)
    assert reference == 0
    for model, sample, own in zip(named, samples, columns, strict=True):
        found = model.posteriors(ptr, values)
        alone = sample.model.posteriors(ptr, values)
        assert found.shape == (9, 3)
        for g, place in enumerate((2, 1, 0)):  # by falling shares
            expected = alone[:, own.index(place)] if place in own else np.zeros(9)
            assert_allclose(found[:, g], expected, atol=1e-12)
        likelihoods = sample.model.log_likelihoods(ptr, values)
        assert_allclose(model.log_likelihoods(ptr, values), likelihoods, rtol=1e-12)


def test_nested_parameters():
    model = quick(emission=BinaryFactorEmission(2))
    model.set_params(emission__weights_scale=3.0, n_factors=2)
    assert clone(model).emission.weights_scale == 3.0
    before = model.emission.get_params()
    model.fit(X)
    assert model.emission.get_params() == before


def test_start_from_data_is_near():
    """Least squares of the first step of a chain, before any sweep."""
    model = quick(emission=given(noise_variance=0.04), block_size=1)
    panel = SequencePanel.from_sequences(X)
    sampler = model._start_sampler(panel, make_seed_sequence(0), 0)
    assert (sampler.emission.factors != np.concatenate(BITS)).mean() < 0.02
    random = quick(emission=given(init="random"))._start_sampler(panel, make_seed_sequence(0), 0)
    assert (random.emission.factors != np.concatenate(BITS)).mean() > 0.2
