"""What holds for the samplers and the stored models of all emissions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from unit.emissions.helpers import log_obs, started, stream

from skdp import emissions
from skdp.emissions._common._protocol import values_for
from skdp.emissions._discrete._bernoulli import BernoulliModel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._multinomial import MultinomialModel, Totals
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._gaussian._model import GaussianModel

N_STEPS, N_STATES = 2000, 3
PTR = np.array([0, 800, N_STEPS])
RNG = np.random.default_rng(0)
LEVELS = np.repeat([0.0, 5.0, 10.0, 5.0], 500)
ROWS = LEVELS[:, np.newaxis] + RNG.normal(size=(N_STEPS, 2))
COUNTS = RNG.poisson(1.0 + ROWS**2 / 10.0).astype(float)
BITS = (ROWS > 5.0).astype(float)
SYMBOLS = LEVELS[:, np.newaxis] // 5.0
CHOICES = np.column_stack([BITS[:, 0], RNG.normal(size=N_STEPS)])
MIXED = np.column_stack([ROWS[:, 0], COUNTS[:, 0], SYMBOLS])
EVENTS = np.column_stack([COUNTS, SYMBOLS])
PARTS = [("level", "gaussian", [0]), ("counts", "poisson", 1), ("kind", "categorical", 2)]
CASES = {
    "full": (emissions.GaussianEmission(), ROWS, 1),
    "diag": (emissions.GaussianEmission("diag", covariance_prior="auto"), ROWS, 1),
    "student t": (emissions.StudentTEmission("auto"), ROWS, 1),
    "student t, diag": (emissions.StudentTEmission(covariance_type="diag"), ROWS, 1),
    "autoregressive": (emissions.AutoregressiveEmission(2), ROWS, 0),
    "poisson": (emissions.PoissonEmission(), COUNTS, 1),
    "bernoulli": (emissions.BernoulliEmission(), BITS, 1),
    "categorical": (emissions.CategoricalEmission(), SYMBOLS, 1),
    "multinomial": (emissions.MultinomialEmission(), EVENTS, 3),
    "regression": (emissions.RegressionEmission(0), ROWS, 0),
    "logistic": (emissions.RegressionEmission(0, output="bernoulli"), CHOICES, 0),
    "poisson regression": (emissions.RegressionEmission(1, output="poisson"), MIXED[:, :2], 0),
    "factors": (emissions.BinaryFactorEmission(2), ROWS, 1),
    "probit factors": (emissions.BinaryFactorEmission("auto", output="probit"), BITS, 1),
    "amplitudes": (emissions.BinaryFactorEmission(2, amplitude_variance="auto"), ROWS, 1),
    "mixed": (emissions.IndependentEmissions(PARTS), MIXED, 1),
}
"""Emissions, values, and how many values of a row may be missing if others are there."""

every_emission = pytest.mark.parametrize("name", CASES)


def with_gaps(name):
    """Return values of which rows, and parts of rows where this is possible, are missing."""
    values, n_missing = CASES[name][1].copy(), CASES[name][2]
    values[::7, :n_missing] = np.nan
    if n_missing:
        values[[5, 900]] = np.nan
    values.flags.writeable = False
    return values


def start(name):
    """Return a sampler after its first draw, its values and the states."""
    values = with_gaps(name)
    sampler, states = started(CASES[name][0], values, N_STATES, PTR)
    return sampler, values, states


@every_emission
def test_a_stream_determines_everything(name):
    """And observations, which are read-only here, stay as they are."""
    (first, values, states), (second, _, again) = start(name), start(name)
    assert set(states.tolist()) == {0, 1, 2}
    assert_array_equal(states, again)
    assert np.isfinite(log_obs(first, N_STEPS, N_STATES)).all()
    assert_array_equal(log_obs(first, N_STEPS, N_STATES), log_obs(second, N_STEPS, N_STATES))
    assert np.isfinite(first.log_evidence())
    assert first.log_evidence() == second.log_evidence()
    assert_array_equal(log_obs(first, N_STEPS, N_STATES)[np.isnan(values).all(axis=1)], 0.0)


@every_emission
def test_copies_go_their_own_ways(name):
    sampler, _, states = start(name)
    other = sampler.copy()
    before, evidence = log_obs(other, N_STEPS, N_STATES), other.log_evidence()
    sampler.draw((states + 1) // 2, stream(2))
    assert_array_equal(log_obs(other, N_STEPS, N_STATES), before)
    assert other.log_evidence() == evidence != sampler.log_evidence()
    assert np.abs(log_obs(sampler, N_STEPS, N_STATES) - before).max() > 0.01


@every_emission
def test_detached_samplers_are_small_and_go_on_where_they_were(name):
    sampler, values, states = start(name)
    other = sampler.copy()
    other.detach()
    dumped = pickle.dumps(other)
    if name not in ("logistic", "poisson regression"):  # their moves go on from the states
        assert len(dumped) < 3 * N_STEPS
    other = pickle.loads(dumped)
    other.attach(*values_for(other, values, PTR))
    for each in (sampler, other):
        rng = stream(5)
        for _ in range(3):
            each.draw(states, rng)
    assert_array_equal(log_obs(sampler, N_STEPS, N_STATES), log_obs(other, N_STEPS, N_STATES))
    assert sampler.log_evidence() == other.log_evidence()


@every_emission
def test_collapsed_emissions(name):
    sampler = start(name)[0]
    is_factors = name in ("factors", "probit factors", "amplitudes")
    assert isinstance(sampler, emissions.CollapsedEmission) is not is_factors


def known_models():
    """Return models of given parameters, without uncertainty."""
    probs = np.array([[0.9, 0.1, 0.5], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    means = np.array([[0.0, 1.0], [5.0, 5.0], [9.0, 10.0]])
    totals = Totals(np.array([6.0]), np.ones(1))
    simplex = probs / probs.sum(axis=1, keepdims=True)
    return {
        "full": GaussianModel(means, np.array([np.eye(2), 2.0 * np.eye(2), np.eye(2)])),
        "diag": GaussianModel(means, means + 1.0),
        "poisson": PoissonModel(means + 1.0),
        "bernoulli": BernoulliModel(probs[:, :2]),
        "categorical": CategoricalModel(simplex),
        "multinomial": MultinomialModel(simplex, totals),
    }


@pytest.mark.parametrize(
    ("name", "is_known"), [(n, False) for n in CASES] + [(n, True) for n in known_models()]
)
def test_models(name, is_known):
    """Copies are equal, states are reordered, and a seed determines samples."""
    sampler, values, states = start(name)
    model = known_models()[name] if is_known else sampler.model()
    expected = model.log_obs(*values_for(model, values, PTR))
    assert_array_equal(expected[np.isnan(values).all(axis=1)], 0.0)
    if not is_known:  # a model is apart from its sampler
        sampler.draw(0 * states, stream(3))
        assert_array_equal(model.log_obs(*values_for(model, values, PTR)), expected)
    copied, order = pickle.loads(pickle.dumps(model)), np.array([2, 0, 1])
    assert_array_equal(copied.log_obs(*values_for(model, values, PTR)), expected)
    ordered = model.reorder(order)
    assert_array_equal(ordered.log_obs(*values_for(model, values, PTR)), expected[:, order])
    if hasattr(model, "predict"):  # regressions have no inputs for new steps
        return
    if name != "autoregressive" and hasattr(model, "marginals"):
        assert_array_equal(ordered.marginals().means, model.marginals().means[order])
    draws = [each.sample(states, np.random.default_rng(0)) for each in (model, copied)]
    assert draws[0].shape == values.shape
    assert_array_equal(*draws)


@pytest.mark.parametrize(
    ("name", "alias", "own"),
    [
        ("full", "means_", "means"),
        ("diag", "means_", "means"),
        ("full", "covars_", "covariances"),
        ("diag", "covars_", "covariances"),
        ("categorical", "emissionprob_", "probs"),
        ("multinomial", "emissionprob_", "probs"),
        ("poisson", "lambdas_", "intensities"),
    ],
)
def test_names_of_hmmlearn(name, alias, own):
    model = start(name)[0].model()
    values, found = getattr(model, own), getattr(model, alias)
    if name == "diag" and alias == "covars_":
        values = np.array([np.diag(each) for each in values])
    assert_array_equal(found, values)
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1.0
    with pytest.raises(AttributeError):
        setattr(model, alias, values)
