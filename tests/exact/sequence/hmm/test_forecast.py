"""Forecasts of models with given parameters: states by enumeration, moments and quantiles by scipy.

Later states are those of a longer sequence with uninformative last observations."""

from collections import Counter

import numpy as np
import pytest
from exact.oracles.hmm import posterior
from exact.sequence.hmm.problems import AHEAD, enumerate_longer, every_duration, make_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats

from skdp.emissions._binary_factors._part import BinaryFactorModel
from skdp.emissions._common._marginals import CountMarginals, StudentMarginals
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._gaussian._model import GaussianModel
from skdp.sequence._durations._families import PoissonDurationModel
from skdp.sequence._hmm._forecast import Mixture
from skdp.sequence._hmm._model import HMMModel

PROBS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
VALUES = np.array([[0.0], [2], [1], [1], [0]])
PTR = np.array([0, 1, 5])
EMISSION = CategoricalModel(PROBS)


def paths_of(duration, values):
    """Return the probability of every path of the sequence and of what follows."""
    log_obs = np.log(PROBS[:, values[:, 0].astype(int)]).T
    return enumerate_longer(duration, log_obs)[1]


@every_duration
def test_next_states(duration):
    found = make_model(duration, EMISSION).forecast(PTR, VALUES, AHEAD)
    assert found.shape == (2, AHEAD, 3)
    for s, values in enumerate(np.split(VALUES, PTR[1:-1])):
        expected = posterior(paths_of(duration, values), 3)[-AHEAD:]
        assert_allclose(found[s], expected, rtol=1e-10)


@pytest.mark.slow
@every_duration
def test_draws_of_next_states(duration):
    """Whole paths have the frequencies that enumeration gives."""
    model, n_draws = make_model(duration, EMISSION), 40000
    rng = np.random.default_rng(0)
    ends = model.ends(PTR, VALUES)
    for s, values in enumerate(np.split(VALUES, PTR[1:-1])):
        probabilities = Counter()
        for path, p in paths_of(duration, values).items():
            probabilities[path[-AHEAD:]] += p
        draws = Counter(
            tuple(model.draw_next_states(ends[s], AHEAD, rng).tolist()) for _ in range(n_draws)
        )
        assert set(draws) <= set(probabilities)
        for path, p in probabilities.items():
            error = np.sqrt(p * (1.0 - p) / n_draws)
            assert abs(draws[path] / n_draws - p) < 5.0 * error + 1e-4, path


def test_the_only_state_stays():
    duration = PoissonDurationModel(np.array([2.0]), 50)
    emission = CategoricalModel(np.array([[0.5, 0.5]]))
    model = HMMModel(np.ones(1), np.zeros((1, 1)), emission, np.ones(1), duration=duration)
    values = np.zeros((2, 1))
    assert_array_equal(model.forecast(np.array([0, 2]), values, 3), np.ones((1, 3, 1)))
    ends = model.ends(np.array([0, 2]), values)
    states = model.draw_next_states(ends[0], 80, np.random.default_rng(0))
    assert_array_equal(states, np.zeros(80))


# Mixtures

RNG = np.random.default_rng(1)
LOCATIONS, SCALES = 4.0 * RNG.normal(size=(5, 2)), RNG.gamma(2.0, 0.5, (5, 2))
FREEDOMS = RNG.uniform(2.5, 9.0, (5, 2))
SHAPES, INTENSITIES = RNG.gamma(2.0, 2.0, (5, 2)), RNG.gamma(2.0, 5.0, (5, 2))
WEIGHTS = RNG.dirichlet(np.ones(5), 4)
Q = np.array([0.001, 0.05, 0.3, 0.5, 0.95, 0.9999])


def in_two(weights, parts):
    """Return a mixture of two models that hold the first two states and the rest."""
    return Mixture([weights[:, :2], weights[:, 2:]], [parts(slice(0, 2)), parts(slice(2, 5))])


def student(freedoms):
    return lambda part: StudentMarginals(
        LOCATIONS[part], SCALES[part], None if freedoms is None else freedoms[part]
    )


def components(freedoms):
    if freedoms is None:
        return stats.norm(LOCATIONS, SCALES)
    return stats.t(freedoms, LOCATIONS, SCALES)


def check_moments(mixture, means, variances):
    found_mean, found_variance = mixture.moments()
    expected = WEIGHTS @ means
    assert_allclose(found_mean, expected, rtol=1e-13)
    squares = WEIGHTS @ (variances + means**2)
    assert_allclose(found_variance, squares - expected**2, rtol=1e-11)


@pytest.mark.parametrize("freedoms", [None, FREEDOMS], ids=["Gaussian", "Student"])
def test_numbers(freedoms):
    mixture, parts = in_two(WEIGHTS, student(freedoms)), components(freedoms)
    check_moments(mixture, parts.mean(), parts.var())
    found = mixture.quantiles(Q)
    assert found.shape == (4, 2, len(Q))
    for h in range(4):
        for d in range(2):
            for i, q in enumerate(Q):
                value = WEIGHTS[h] @ parts.cdf(found[h, d, i])[:, d]
                assert value == pytest.approx(q, rel=1e-9)

                def miss(x, h=h, d=d, q=q):
                    return WEIGHTS[h] @ parts.cdf(x)[:, d] - q

                root = optimize.brentq(miss, -1e4, 1e4, xtol=1e-13, rtol=1e-14)
                assert found[h, d, i] == pytest.approx(root, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("shapes", [None, SHAPES], ids=["Poisson", "negative binomial"])
def test_counts(shapes):
    mixture = in_two(
        WEIGHTS, lambda p: CountMarginals(INTENSITIES[p], None if shapes is None else shapes[p])
    )
    if shapes is None:
        parts = stats.poisson(INTENSITIES)
    else:
        parts = stats.nbinom(SHAPES, SHAPES / (SHAPES + INTENSITIES))
    check_moments(mixture, parts.mean(), parts.var())
    found = mixture.quantiles(Q)
    for h in range(4):
        for d in range(2):
            for i, q in enumerate(Q):
                k = found[h, d, i]
                assert k == np.floor(k)
                assert WEIGHTS[h] @ parts.cdf(k)[:, d] >= q
                assert k == 0.0 or WEIGHTS[h] @ parts.cdf(k - 1.0)[:, d] < q


def test_modes_far_apart():
    """A quantile between modes, or in one of them."""
    locations = np.array([[-1e6], [0.0], [1e9]])
    weights = np.array([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    part = StudentMarginals(locations, np.ones((3, 1)))
    found = Mixture([weights], [part]).quantiles(np.array([0.125, 0.5, 0.625, 0.875]))
    median = stats.norm.ppf
    middle = [-1e6, 0.0, median(0.75), 1e9]
    assert_allclose(found[0, 0], middle, rtol=1e-9, atol=1e-4)
    for h, location in ((1, -1e6), (2, 1e9)):
        expected = location + median([0.125, 0.5, 0.625, 0.875])
        assert_allclose(found[h, 0], expected, rtol=1e-12, atol=1e-6)


@pytest.mark.parametrize("freedoms", [None, FREEDOMS], ids=["Gaussian", "Student"])
@pytest.mark.parametrize("distance", [1.0, 1e4])
def test_many_steps(freedoms, distance):
    """Quantiles of many steps are looked for together, and are those of each step alone."""
    weights = np.random.default_rng(3).dirichlet(np.full(5, 0.3), 80)
    locations = LOCATIONS + distance * np.arange(5.0)[:, np.newaxis]
    part = StudentMarginals(locations, SCALES, freedoms)
    found = Mixture([weights], [part]).quantiles(Q)
    parts = components(freedoms)
    for h in range(80):
        alone = Mixture([weights[[h]]], [part]).quantiles(Q)[0]
        for d in range(2):
            away = found[h, d, :, np.newaxis] - distance * np.arange(5.0)
            column = np.array([parts.cdf(x[:, np.newaxis])[:, d] for x in away])
            value = column @ weights[h]
            assert_allclose(value, Q, rtol=1e-9)
            steep = (parts.pdf(away[:, :, np.newaxis])[..., d] @ weights[h]) > 1e-4
            assert_allclose(found[h, d][steep], alone[d][steep], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("parts", [student(FREEDOMS), student(None)])
def test_equal_states(parts):
    """A state whose weight is divided among equal ones."""
    states = [0, 1, 1, 2, 0, 0]
    shares = np.array([0.2, 0.3, 0.7, 1.0, 0.5, 0.3])
    weights = WEIGHTS[:, :3] / WEIGHTS[:, :3].sum(axis=1, keepdims=True)
    found = Mixture([weights[:, states] * shares], [parts(states)]).quantiles(Q)
    assert_allclose(found, Mixture([weights], [parts(slice(0, 3))]).quantiles(Q), rtol=1e-9)


def test_moments_that_do_not_exist():
    freedoms = np.array([[0.8, 1.5], [5.0, 5.0]])
    part = StudentMarginals(np.zeros((2, 2)), np.ones((2, 2)), freedoms)
    mean, variance = Mixture([np.array([[0.1, 0.9], [0.0, 1.0]])], [part]).moments()
    assert_array_equal(mean, [[np.nan, 0.0], [0.0, 0.0]])
    assert_allclose(variance, [[np.inf, np.inf], [5 / 3, 5 / 3]])


# Marginal distributions of single columns

ROOTS = RNG.normal(size=(3, 2, 3))
MODELS = {
    "full": GaussianModel(LOCATIONS[:3], ROOTS @ ROOTS.swapaxes(1, 2)),
    "full, Student": GaussianModel(
        LOCATIONS[:3], ROOTS @ ROOTS.swapaxes(1, 2), np.full(3, 9.0), np.full(3, 1.3)
    ),
    "diag": GaussianModel(LOCATIONS[:3], SCALES[:3]),
    "diag, Student": GaussianModel(LOCATIONS[:3], SCALES[:3], FREEDOMS[:3] + 5.0, SCALES[2:] + 0.5),
    "Poisson": PoissonModel(INTENSITIES[:3]),
    "negative binomial": PoissonModel(INTENSITIES[:3], SHAPES[:3]),
    "factors": BinaryFactorModel(
        np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8), RNG.normal(size=(3, 2)),
        np.array([0.3, 0.2]), ("normal", "normal"), amplitude_variance=0.5,
    ),
    "factors, probit": BinaryFactorModel(
        np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8), RNG.normal(size=(3, 2)),
        np.array([0.3, 1.0]), ("normal", "probit"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_marginals_are_those_of_draws(name):
    """Mean, variance and cumulative probabilities of many draws of each state."""
    model, n_draws = MODELS[name], 60000
    marginals, rng = model.marginals(), np.random.default_rng(2)
    for j in range(3):
        x = model.sample(np.full(n_draws, j), rng)
        variance = marginals.variances[j]
        error = np.sqrt(variance / n_draws)
        assert np.all(np.abs(x.mean(axis=0) - marginals.means[j]) < 5.0 * error)
        assert_allclose(x.var(axis=0), variance, rtol=0.1)
        for d in range(2):
            places = np.quantile(x[:, d], [0.1, 0.4, 0.8])
            expected = (x[:, d] <= places[:, np.newaxis]).mean(axis=1)
            assert_allclose(marginals.cdf(places, d)[:, j], expected, atol=0.012)


# Missing values


def expected_fill(model, row):
    """Return for each state the mean of what is missing, by quadrature over the joint density."""
    (hidden,) = np.flatnonzero(np.isnan(row))
    grid = np.linspace(-400.0, 400.0, 800001)
    rows = np.tile(row, (len(grid), 1))
    rows[:, hidden] = grid
    density = np.exp(model.log_obs(rows))
    return (density * grid[:, np.newaxis]).sum(axis=0) / density.sum(axis=0)


@pytest.mark.parametrize("name", [name for name in MODELS if "diag" in name or "full" in name])
def test_fill(name):
    model = MODELS[name]
    weights = RNG.dirichlet(np.ones(3), 3)
    values = np.array([[1.0, np.nan], [np.nan, -0.5], [0.3, 0.1]])
    found = model.fill(values, weights)
    assert_array_equal(found[2], values[2])
    assert (found[0, 0], found[1, 1]) == (1.0, -0.5)
    for t, d in ((0, 1), (1, 0)):
        expected = weights[t] @ expected_fill(model, values[t])
        assert found[t, d] == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_fill_of_factors():
    weights = RNG.dirichlet(np.ones(3), 2)
    values = np.array([[1.0, np.nan], [np.nan, np.nan]])
    model = MODELS["factors"]
    found = model.fill(values, weights)
    expected = weights[0] @ expected_fill(model, values[0])
    assert found[0, 1] == pytest.approx(expected, rel=1e-6)
    assert_allclose(found[1], weights[1] @ model.means, rtol=1e-12)
    model = MODELS["factors, probit"]
    values[0, 0] = 0.4
    expected = weights @ stats.norm.cdf(model.means[:, 1])
    assert_allclose(model.fill(values, weights)[:, 1], expected, rtol=1e-12)
