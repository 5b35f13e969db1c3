"""Binary factors whose number is inferred: input, bounds, recovery, continued fits, predictions."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.sequence import HDPHMMLT, BinaryFactorEmission, FactorialHMM, LaplacianSimilarity

WEIGHTS = np.array([[2.0, 0.0, 1.0, -2.0], [0.0, 2.0, 1.5, 1.0], [-1.5, 1.5, 0.0, 2.0]])


def make_data(n_steps=300, seed=0):
    """Return values and bits of three switches, each of which is flipped now and then."""
    rng = np.random.default_rng(seed)
    flips = rng.random((n_steps, 3)) < 0.05
    bits = np.cumsum(flips, axis=0) % 2
    return bits @ WEIGHTS + 0.3 * rng.standard_normal((n_steps, 4)), bits


def quick(emission=None, **parameters):
    emission = BinaryFactorEmission("auto") if emission is None else emission
    return HDPHMMLT(12, emission=emission, **{"max_iter": 40, "random_state": 0, **parameters})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": np.zeros((3, 4))}, "no given weights"),
        ({"amplitude_variance": 0.5}, "only factors of one strength"),
        ({"amplitude_variance": "auto"}, "only factors of one strength"),
        ({"activity_prior": (2.0, 1.0)}, "leave it at 1.0, got \\(2.0, 1.0\\)"),
        ({"mass_prior": (1.0, -1.0)}, "mass_prior"),
        ({"mass_prior": (1e8, 1e-8)}, "allows .* factors"),
    ],
)
def test_rejects(parameters, message):
    with pytest.raises((ValueError, MemoryError), match=message):
        quick(BinaryFactorEmission("auto", **parameters)).fit(make_data(30)[0])


def test_factorial_hmm_has_its_own_mass():
    emission = BinaryFactorEmission("auto", mass_prior=(2.0, 1.0))
    with pytest.raises(ValueError, match="mass_prior of the emission is for states of HDPHMMLT"):
        FactorialHMM("auto", emission=emission).fit(make_data(30)[0])


@pytest.mark.parametrize("similarity", [None, LaplacianSimilarity()])
def test_recovers_means(similarity):
    """The states have the true means, and there are about as many factors as switches."""
    values, bits = make_data()
    model = quick(similarity=similarity, max_iter=200).fit(values)
    means = model.emission_.means[model.predict(values)]
    assert np.sqrt(np.mean((means - bits @ WEIGHTS) ** 2)) < 0.15
    assert 2 <= model.n_active_factors_ <= 7
    on = model.factors_[model.state_shares_ > 0.0].any(axis=0)
    assert on[: model.n_active_factors_].all()
    assert not on[model.n_active_factors_ :].any()
    numbers = model.trace_["n_active_factors"]
    assert numbers.shape == model.trace_["mass"].shape
    assert (numbers == np.round(numbers)).all()


def test_nothing_to_find():
    """Rows of noise have few factors, and predictions of a fit without any factor do not fail."""
    values = np.random.default_rng(1).standard_normal((100, 3))
    model = quick(BinaryFactorEmission("auto", mass_prior=(1.0, 1e6)), max_iter=60).fit(values)
    assert model.n_active_factors_ == 0
    assert model.factors_.shape == (12, 0)
    values[3, 1] = np.nan
    assert np.isfinite(model.score(values))
    assert model.predict(values).shape == (100,)
    assert np.isfinite(model.impute(values)).all()
    assert np.isfinite(model.forecast(values, 2).mean).all()
    assert model.sample(5)[0].values.shape == (5, 3)
    assert quick(max_iter=300).fit(values).n_active_factors_ <= 4


def test_outlier_does_not_add_factors_without_end():
    values, _ = make_data(100)
    values[5, 2] = 1e6
    model = quick(max_iter=60).fit(values)
    sampler_bound = 24 + np.ceil(2.0 * np.sum(1.0 / np.arange(1, 13)))
    assert all(sample.emission.factors.shape[1] <= sampler_bound for sample in model.samples_)
    assert np.isfinite(model.score(values))


def test_warns_at_the_bound():
    """Weights that are far too small for the data add factors up to the bound."""
    emission = BinaryFactorEmission("auto", weights_scale=0.01, noise_variance=1e-4)
    model = quick(emission, max_iter=60)
    with pytest.warns(ConvergenceWarning, match="as many factors as there may be"):
        model.fit(make_data(60)[0])
    assert np.isfinite(model.score(make_data(60)[0]))


@pytest.mark.parametrize("output", ["normal", "probit"])
@pytest.mark.parametrize("similarity", [None, LaplacianSimilarity()])
def test_continued_fit_has_the_same_bits(output, similarity):
    values, bits = make_data(60)
    values = values if output == "normal" else np.hstack([bits, 1.0 - bits])
    emission = BinaryFactorEmission("auto", output=output)
    whole = quick(emission, similarity=similarity, burn_in=10).fit(values)
    part = quick(emission, similarity=similarity, burn_in=10, max_iter=23, warm_start=True)
    part = pickle.loads(pickle.dumps(part.fit(values)))
    part.set_params(max_iter=40).fit(values)
    np.testing.assert_array_equal(part.factors_, whole.factors_)
    np.testing.assert_array_equal(part.emission_.weights, whole.emission_.weights)
    np.testing.assert_array_equal(part.trace_["log_joint"], whole.trace_["log_joint"])
    np.testing.assert_array_equal(part.trace_["mass"], whole.trace_["mass"])


@pytest.mark.parametrize(("unit", "origin"), [(1e-6, 0.0), (1e3, 0.0), (1.0, 1000.0)])
def test_units_and_origins(unit, origin):
    values, _ = make_data(60)
    values[3, 0] = np.nan
    model, other = quick(max_iter=15).fit(values), quick(max_iter=15)
    other.fit(unit * values + origin)
    np.testing.assert_array_equal(other.factors_, model.factors_)
    np.testing.assert_allclose(
        other.emission_.weights[1:], unit * model.emission_.weights[1:], rtol=1e-5, atol=1e-5 * unit
    )
