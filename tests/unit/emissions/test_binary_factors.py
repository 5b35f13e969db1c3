"""Binary factors: priors from the data, starts, recovery, bounds, and their similarities."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from unit.emissions.helpers import stream

from skdp.emissions._binary_factors._part import BinaryFactorModel
from skdp.emissions._common._protocol import Coupling
from skdp.sequence import HDPHMMLT, BinaryFactorEmission, LaplacianSimilarity

WEIGHTS = np.array([[0.5, -0.2, 0.1], [2.0, 0.0, 1.0], [0.0, 2.0, -1.5]])
SWITCHES = np.array([[2.0, 0.0, 1.0, -2.0], [0.0, 2.0, 1.5, 1.0], [-1.5, 1.5, 0.0, 2.0]])
VECTORS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
N_STATES = 6


def make_data(n_steps=300, probit=(False, False, False), noise=0.2):
    """Return steps of the four vectors of two factors, and which they are of."""
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(n_steps, 2))
    means = WEIGHTS[0] + bits @ WEIGHTS[1:]
    values = means + noise * rng.standard_normal(means.shape)
    return np.where(probit, rng.random(means.shape) < norm.cdf(means), values), bits


def make_switches(n_steps=300):
    """Return values and bits of three switches, each of which is flipped now and then."""
    rng = np.random.default_rng(0)
    bits = np.cumsum(rng.random((n_steps, 3)) < 0.05, axis=0) % 2
    return bits @ SWITCHES + 0.3 * rng.standard_normal((n_steps, 4)), bits


def quick(emission, **parameters):
    return HDPHMMLT(12, emission=emission, **{"max_iter": 40, "random_state": 0, **parameters})


def make_coupling():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(N_STATES + 1, N_STATES))
    return Coupling(0.7, counts, rng.normal(size=counts.shape))


def start_sampler(values, n_states=N_STATES, seed=0, **parameters):
    sampler = BinaryFactorEmission(2, **parameters).make_sampler(values, n_states)
    sampler.attach(values)
    states = np.zeros(len(values), dtype=np.int64)
    sampler.start(states, stream(seed))
    return sampler, states


def test_priors_from_the_data():
    """Given ones are used as they are; others follow robust scales of the columns."""
    values = make_data(200, (False, True, False))[0]
    values[:, 2] = 10.0 * values[:, 2] + 300.0
    values[7, 0] = 1e4

    def prior(*, reaches_all=False, **parameters):
        emission = BinaryFactorEmission(2, output=["normal", "probit", "normal"], **parameters)
        return emission.check_parts(values, N_STATES, reaches_all=reaches_all)[5]

    default = prior()
    middles = np.median(values, axis=0) * [1.0, 0.0, 1.0]
    assert_allclose(default.middles, middles)
    scales = np.array([np.delete(values[:, 0], 7).std(), 1.0, values[:, 2].std()])
    assert_allclose(default.scales, scales, rtol=0.35)
    assert_allclose(4.0 * default.rates[[0, 2]], scales[[0, 2]] ** 2, rtol=0.75)
    scales[0] = (1e4 - middles[0]) / 3.0
    assert_allclose(prior(reaches_all=True).scales, scales, rtol=0.1)
    given = prior(weights_scale=3.0, noise_prior=(2.0, 0.5))
    assert_array_equal(given.middles, np.zeros(3))
    assert_array_equal(given.scales, np.full(3, 3.0))
    assert given.shape == 2.0
    assert_array_equal(given.rates, np.full(3, 0.5))
    assert_array_equal(prior(weights=WEIGHTS).middles, np.zeros(3))


@pytest.mark.parametrize("probit", [(False, False, False), (False, False, True)])
def test_start_from_given_weights(probit):
    """With little noise least squares find all vectors; few states take the frequent ones."""
    values, bits = make_data(probit=probit)
    values[::7, 2] = np.nan
    parameters = {"weights": WEIGHTS, "output": ["probit" if p else "normal" for p in probit]}
    sampler, states = start_sampler(values, **parameters)
    assert (sampler.factors[states] == bits).mean() > 0.98
    assert len(np.unique(states)) == 4
    sampler, states = start_sampler(values, n_states=2, **parameters)
    vectors, counts = np.unique(bits, axis=0, return_counts=True)
    frequent = vectors[np.argsort(-counts)[:2]]
    assert {tuple(row) for row in sampler.factors} == {tuple(row) for row in frequent}
    assert set(states) == {0, 1}


def test_start_without_weights():
    """Similar steps share a state, unless the start is random."""
    values, bits = make_data()
    values[::11, 1] = np.nan
    _, states = start_sampler(values)
    codes = bits @ [1, 2]
    together = states[:, np.newaxis] == states
    assert (together == (codes[:, np.newaxis] == codes)).mean() > 0.97
    _, states = start_sampler(values, init="random")
    assert len(np.unique(states)) == N_STATES


@pytest.mark.parametrize("amplitude_variance", [0.0, 0.001])
def test_far_from_zero(amplitude_variance):
    """A column of a great mean keeps its digits."""
    values, shift = make_data(400)[0], np.array([1e7, 0.0, 0.0])
    weights = WEIGHTS + np.array([shift, 0.0 * shift, 0.0 * shift])
    sampler, states = start_sampler(
        values + shift, weights=weights, amplitude_variance=amplitude_variance
    )
    sampler.draw(states, stream(1))
    assert_allclose(sampler.model().noise_variance, 0.04, rtol=0.3)


def test_column_without_values():
    values, _ = make_data()
    values[:, 1] = np.nan
    sampler, states = start_sampler(values)
    for _ in range(20):
        sampler.draw(states, stream(1), make_coupling())
    out = np.empty((len(values), N_STATES))
    sampler.write_log_obs(out)
    assert np.isfinite(out).all()
    assert np.isfinite(sampler.log_evidence())


@pytest.mark.parametrize(
    ("n_factors", "amplitude_variance", "unit", "origin"),
    [(3, 0.0, 1.0, 1000.0), (3, 0.0, 1e-6, 0.0), (3, 0.0, 1e6, -1e8), (3, "auto", 1e-3, 7.0),
     (3, "auto", 1e3, 0.0), ("auto", 0.0, 1e-6, 0.0), ("auto", 0.0, 1.0, 1000.0)],
    ids=["elsewhere", "small", "large", "amplitudes, small", "amplitudes, large", "any number",
         "any number, elsewhere"],
)  # fmt: skip
def test_units_and_origins(n_factors, amplitude_variance, unit, origin):
    """States and vectors are the same in any unit; weights, noise and densities are in it."""
    values = make_data(60)[0]
    values[3, 0] = np.nan
    emission = BinaryFactorEmission(n_factors, amplitude_variance=amplitude_variance)
    model, other = (HDPHMMLT(6, emission=emission, max_iter=15, random_state=0) for _ in range(2))
    states = model.fit_predict(values)
    assert len(np.unique(states)) > 2
    assert_array_equal(other.fit_predict(unit * values + origin), states)
    found, expected = other.emission_, model.emission_
    assert_array_equal(found.factors, expected.factors)
    first = np.arange(len(expected.weights)) == 0
    weights = unit * expected.weights + origin * first[:, np.newaxis]
    assert_allclose(found.weights, weights, rtol=1e-5, atol=1e-5 * unit)
    assert_allclose(found.noise_variance, unit**2 * expected.noise_variance, rtol=1e-5)
    assert found.amplitude_variance == pytest.approx(expected.amplitude_variance, rel=1e-5)
    log_unit = np.count_nonzero(~np.isnan(values)) * np.log(unit)
    score = other.score_samples(unit * values + origin).sum()
    assert score == pytest.approx(model.score_samples(values).sum() - log_unit, rel=1e-6)


@pytest.mark.parametrize("outlier", [1e3, 1e20, 1e119])
def test_outlier(outlier):
    """One value does not hide the other columns."""
    values, bits = make_data(100, noise=0.1)
    values[5, 2] = outlier
    model = HDPHMMLT(8, emission=BinaryFactorEmission(3), max_iter=30, n_chains=4, random_state=0)
    states = np.delete(model.fit_predict(values), 5)
    kinds = np.delete(bits, 5, axis=0) @ [1, 2]
    shared = np.array([[np.sum((states == j) & (kinds == k)) for k in range(4)] for j in range(8)])
    assert shared.max(axis=1).sum() > 0.95 * len(states)


def test_given_parameters_stay():
    values, bits = make_data()
    weights = WEIGHTS.copy()
    sampler, _ = start_sampler(values, weights=weights, noise_variance=[0.04, 0.04, 0.05])
    weights[:] = 0.0  # the sampler has its own
    for _ in range(100):
        sampler.draw(bits @ [1, 2], stream(1), make_coupling())
    model = sampler.model()
    assert_array_equal(model.factors[:4], VECTORS)
    assert_array_equal(model.weights, WEIGHTS)
    assert_allclose(model.noise_variance, [0.04, 0.04, 0.05])
    assert sampler.copy()._values is sampler._values


@pytest.mark.parametrize("variance", [0.0, 0.3])
def test_model_samples(variance):
    """Means and covariances of samples, within 5 standard errors of about 1 / sqrt(20,000)."""
    factors, noise = np.array([[0, 1], [1, 1]], dtype=np.int8), np.array([0.5, 1.0, 2.0])
    is_probit = variance == 0.0
    output = ("normal", "probit" if is_probit else "normal", "normal")
    model = BinaryFactorModel(factors, WEIGHTS, noise, output, variance)
    n = 20_000
    values = model.sample(np.repeat([0, 1], n), np.random.default_rng(0)).reshape(2, n, 3)
    for own, vector in zip(values, factors, strict=True):
        on = WEIGHTS[1:] * vector[:, np.newaxis]
        mean = WEIGHTS[0] + on.sum(axis=0)
        covariance = np.diag(noise) + variance * on.T @ on
        if is_probit:
            mean[1] = norm.cdf(mean[1])
            covariance[1, 1] = mean[1] * (1.0 - mean[1])
        z = (own.mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / n)
        assert np.abs(z).max() < 5.0
        scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        assert np.abs((np.cov(own.T) - covariance) / scale).max() < 5.0 * np.sqrt(2.0 / n)


# A number that is inferred


@pytest.mark.parametrize("similarity", [None, LaplacianSimilarity()])
def test_recovers_means(similarity):
    """The states have the true means, and there are about as many factors as switches."""
    values, bits = make_switches()
    emission = BinaryFactorEmission("auto")
    model = quick(emission, similarity=similarity, max_iter=200).fit(values)
    means = model.emission_.means[model.predict(values)]
    assert np.sqrt(np.mean((means - bits @ SWITCHES) ** 2)) < 0.15
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
    model = quick(BinaryFactorEmission("auto"), max_iter=300).fit(values)
    assert model.n_active_factors_ <= 4


def test_bound():
    """Neither an outlier nor weights that are far too small add factors without end."""
    values, _ = make_switches(100)
    values[5, 2] = 1e6
    model = quick(BinaryFactorEmission("auto"), max_iter=60).fit(values)
    bound = 24 + np.ceil(2.0 * np.sum(1.0 / np.arange(1, 13)))
    assert all(sample.emission.factors.shape[1] <= bound for sample in model.samples_)
    assert np.isfinite(model.score(values))
    emission = BinaryFactorEmission("auto", weights_scale=0.01, noise_variance=1e-4)
    with pytest.warns(ConvergenceWarning, match="as many factors as there may be"):
        model = quick(emission, max_iter=60).fit(make_switches(60)[0])
    assert np.isfinite(model.score(make_switches(60)[0]))


# Similarities


def test_similarities():
    emission, _ = start_sampler(make_data()[0])
    similarity = LaplacianSimilarity(decay=0.6).make_sampler(N_STATES)
    similarity.start(emission, stream())
    coupling = make_coupling()
    similarity.draw(coupling.counts, coupling.log_rates, emission, stream())
    assert similarity.scalars() == {"decay": 0.6}
    assert similarity.model() is None
    assert similarity.log_density() == 0.0
    out = np.empty((N_STATES, N_STATES))
    similarity.write(out, emission)
    distances = (emission.factors[:, np.newaxis] != emission.factors).sum(axis=2)
    assert_allclose(out, -0.6 * distances)
    assert similarity.coupling(*coupling[1:])[0] == 0.6


def test_drawn_decay():
    """Its posterior is in tests/exact/emissions."""
    emission, _ = start_sampler(make_data()[0])
    similarity = LaplacianSimilarity(decay_prior=(2.0, 4.0)).make_sampler(N_STATES)
    similarity.start(emission, stream())
    assert similarity.decay == 0.5
    density = 0.5 * 4.0**2 * np.exp(-0.5 * 4.0) * 0.5  # of log lambda
    assert similarity.log_density() == pytest.approx(np.log(density))
    copy = pickle.loads(pickle.dumps(similarity.copy()))
    coupling = make_coupling()
    for other in (similarity, copy):
        other.draw(coupling.counts, coupling.log_rates, emission, stream(1))
    assert similarity.decay == copy.decay != 0.5
