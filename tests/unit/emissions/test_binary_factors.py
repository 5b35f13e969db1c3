"""Binary factors and their similarities: parameters, missing values, starts, life of a sampler."""

import pickle

import numpy as np
import pytest
from exact.oracles.binary_factors import log_density_of_varying
from scipy.stats import norm

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._binary_factors._model import BinaryFactorModel
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._protocol import Coupling
from skdp.sequence import HDPHMMLT
from skdp.sequence._similarities._laplacian import LaplacianSimilarity

WEIGHTS = np.array([[0.5, -0.2, 0.1], [2.0, 0.0, 1.0], [0.0, 2.0, -1.5]])
N_STATES = 6


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_data(n_steps=300, probit=(False, False, False), seed=0, noise=0.2):
    """Return steps of the four vectors of two factors, and which they are of."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(2, size=(n_steps, 2))
    means = WEIGHTS[0] + bits @ WEIGHTS[1:]
    values = means + noise * rng.standard_normal(means.shape)
    return np.where(probit, rng.random(means.shape) < norm.cdf(means), values), bits


def make_coupling(n_states, decay=0.7, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.0, size=(n_states + 1, n_states))
    return Coupling(decay, counts, rng.normal(size=counts.shape))


def start_sampler(values, n_states=N_STATES, seed=0, **parameters):
    sampler = BinaryFactorEmission(2, **parameters).make_sampler(values, n_states)
    sampler.attach(values)
    states = np.zeros(len(values), dtype=np.int64)
    sampler.start(states, stream(seed))
    return sampler, states


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_factors": 0}, "n_factors"),
        ({"output": "poisson"}, "output"),
        ({"output": ["normal", "probit"]}, "list of 3"),
        ({"output": ["normal", "probit", "gamma"]}, "list of 3"),
        ({"weights": WEIGHTS[:2]}, r"shape \(3, 3\)"),
        ({"weights": WEIGHTS[:, :2]}, r"shape \(3, 3\)"),
        ({"weights": np.full((3, 3), np.nan)}, "finite"),
        ({"weights_scale": 0.0}, "weights_scale"),
        ({"noise_variance": 0.0}, "noise_variance"),
        ({"noise_variance": "none"}, "noise_variance"),
        ({"noise_variance": [1.0, 2.0]}, "3 of them"),
        ({"noise_variance": [1.0, 2.0, -1.0]}, "positive"),
        ({"noise_variance": [1.0, 2.0, np.nan]}, "positive"),
        ({"noise_variance": 1.0, "output": "probit"}, "all columns are probit"),
        ({"noise_prior": (1.0, 0.0)}, "noise_prior"),
        ({"amplitude_variance": -0.1}, "amplitude_variance"),
        ({"amplitude_variance": np.inf}, "amplitude_variance"),
        ({"amplitude_variance": "free"}, "amplitude_variance"),
        ({"amplitude_variance": 0.1, "output": ["normal", "probit", "normal"]}, "probit columns"),
        ({"amplitude_variance": "auto", "output": "probit"}, "probit columns"),
        ({"amplitude_prior": (0.0, 1.0)}, "amplitude_prior"),
        ({"activity_prior": (1.0,)}, "activity_prior"),
        ({"init": "k-means"}, "init"),
    ],
)
def test_wrong_parameters(parameters, message):
    emission = BinaryFactorEmission(**{"n_factors": 2, **parameters})
    with pytest.raises(ValueError, match=message):
        emission.make_sampler(np.zeros((5, 3)), N_STATES)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.0, 0.5]], "0, 1 or NaN in column 1; got 0.5"),
        ([[0.0, 2.0]], "got 2"),
        ([[np.inf, 1.0]], "finite numbers or NaN in column 0"),
        ([[0.0, 1.0, 1.0]], "2 features, got 3"),
    ],
)
def test_wrong_values(values, message):
    emission = BinaryFactorEmission(1, output=["normal", "probit"])
    sampler = emission.make_sampler(np.zeros((5, 2)), N_STATES)
    with pytest.raises(ValueError, match=message):
        sampler.attach(np.array(values))
    model = BinaryFactorModel(
        np.zeros((2, 1), dtype=np.int8), np.zeros((2, 2)), np.ones(2), ("normal", "probit")
    )
    with pytest.raises(ValueError, match=message):
        model.log_obs(np.array(values))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"decay": 0.0}, "decay"), ({"decay": "fast"}, "decay"), ({"decay_prior": 1.0}, "decay_prior"),
     ({"decay_prior": (1.0, -1.0)}, "decay_prior")],
)  # fmt: skip
def test_wrong_similarity(parameters, message):
    with pytest.raises(ValueError, match=message):
        LaplacianSimilarity(**parameters).make_sampler(N_STATES)


def test_similarity_needs_factors():
    similarity = LaplacianSimilarity().make_sampler(N_STATES)
    emission = PoissonEmission().make_sampler(np.zeros((5, 1)), N_STATES)
    with pytest.raises(TypeError, match="PoissonSampler does not have"):
        similarity.start(emission, stream())


@pytest.mark.parametrize("probit", [(False,) * 3, (False, True, False), (True,) * 3])
def test_log_obs(probit):
    """Sampler and model agree with scipy; missing values tell nothing."""
    values, _ = make_data(40, probit)
    values[3, 0] = values[7] = np.nan
    sampler, states = start_sampler(values, output=["probit" if p else "normal" for p in probit])
    sampler.draw(states, stream(1))
    weights = sampler.all_weights()
    means = weights[0] + sampler.factors @ weights[1:]
    x, mu = values[:, np.newaxis], means[np.newaxis]
    normal = norm.logpdf(x, mu, sampler.precisions**-0.5)
    expected = np.where(probit, norm.logcdf(np.where(x == 1.0, mu, -mu)), normal)
    expected = np.where(np.isnan(x), 0.0, expected).sum(axis=2)
    found = np.empty(expected.shape)
    sampler.write_log_obs(found)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    output = tuple("probit" if p else "normal" for p in probit)
    model = BinaryFactorModel(sampler.factors, weights, 1.0 / sampler.precisions, output)
    np.testing.assert_allclose(model.log_obs(values), expected, rtol=1e-10, atol=1e-12)
    order = np.arange(N_STATES)[::-1]
    np.testing.assert_array_equal(
        model.reorder(order).log_obs(values), model.log_obs(values)[:, order]
    )


def test_log_obs_with_amplitudes():
    """Sampler and model agree with scipy; missing values tell nothing."""
    values, _ = make_data(40)
    values[3, 0] = values[5, 1:] = values[7] = np.nan
    sampler, states = start_sampler(values, amplitude_variance="auto")
    sampler.draw(states, stream(1))
    variance, precisions = sampler.amplitude_variance, sampler.precisions
    weights = sampler.all_weights()
    expected = [
        [log_density_of_varying(y, theta, weights, precisions, variance)
         for theta in sampler.factors] for y in values
    ]  # fmt: skip
    found = np.empty((40, N_STATES))
    sampler.write_log_obs(found)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    model = BinaryFactorModel(sampler.factors, weights, 1.0 / precisions, ("normal",) * 3, variance)
    np.testing.assert_allclose(model.log_obs(values), expected, rtol=1e-10, atol=1e-12)


def test_far_from_zero():
    """A column of a great mean keeps its digits."""
    values, _ = make_data(400)
    shift = np.array([1e7, 0.0, 0.0])
    weights = WEIGHTS + np.array([shift, 0.0 * shift, 0.0 * shift])
    sampler, states = start_sampler(values + shift, weights=weights)
    sampler.draw(states, stream(1))
    np.testing.assert_allclose(sampler.model().noise_variance, 0.04, rtol=0.3)


def test_far_from_zero_with_amplitudes():
    values, _ = make_data(400)
    shift = np.array([1e7, 0.0, 0.0])
    weights = WEIGHTS + np.array([shift, 0.0 * shift, 0.0 * shift])
    sampler, states = start_sampler(values + shift, weights=weights, amplitude_variance=0.001)
    sampler.draw(states, stream(1))
    np.testing.assert_allclose(sampler.model().noise_variance, 0.04, rtol=0.3)


@pytest.mark.parametrize("probit", [(False, False, False), (False, False, True)])
def test_start_from_given_weights(probit):
    """With little noise least squares find all vectors."""
    values, bits = make_data(probit=probit)
    values[::7, 2] = np.nan
    output = ["probit" if p else "normal" for p in probit]
    sampler, states = start_sampler(values, weights=WEIGHTS, output=output)
    assert (sampler.factors[states] == bits).mean() > 0.98
    assert len(np.unique(states)) == 4


def test_start_with_few_states():
    values, bits = make_data()
    sampler, states = start_sampler(values, n_states=2, weights=WEIGHTS)
    vectors, counts = np.unique(bits, axis=0, return_counts=True)
    frequent = vectors[np.argsort(-counts)[:2]]
    assert {tuple(row) for row in sampler.factors} == {tuple(row) for row in frequent}
    assert set(states) == {0, 1}


def test_start_in_groups():
    """Without weights similar steps share a state."""
    values, bits = make_data()
    values[::11, 1] = np.nan
    _, states = start_sampler(values)
    codes = bits @ [1, 2]
    together = states[:, np.newaxis] == states
    assert (together == (codes[:, np.newaxis] == codes)).mean() > 0.97


def test_start_at_random():
    values, _ = make_data()
    _, states = start_sampler(values, init="random")
    assert len(np.unique(states)) == N_STATES


def test_column_without_values():
    values, _ = make_data()
    values[:, 1] = np.nan
    sampler, states = start_sampler(values)
    for _ in range(20):
        sampler.draw(states, stream(1), make_coupling(N_STATES))
    out = np.empty((len(values), N_STATES))
    sampler.write_log_obs(out)
    assert np.isfinite(out).all()
    assert np.isfinite(sampler.log_evidence())


@pytest.mark.parametrize("amplitude_variance", [0.0, "auto"])
@pytest.mark.parametrize(
    ("unit", "origin"), [(1e-6, 0.0), (1e-3, 7.0), (1e3, 0.0), (1e6, -1e8), (1.0, 1000.0)]
)
def test_units_and_origins(unit, origin, amplitude_variance):
    """States and vectors are the same in any unit; weights, noise and densities are in it."""
    values = make_data(60)[0]
    values[3, 0] = np.nan
    emission = BinaryFactorEmission(3, amplitude_variance=amplitude_variance)
    model, other = (HDPHMMLT(6, emission=emission, max_iter=15, random_state=0) for _ in range(2))
    states = model.fit_predict(values)
    assert len(np.unique(states)) > 2
    np.testing.assert_array_equal(other.fit_predict(unit * values + origin), states)
    found, expected = other.emission_, model.emission_
    np.testing.assert_array_equal(found.factors, expected.factors)
    weights = unit * expected.weights + origin * (np.arange(4) == 0)[:, np.newaxis]
    np.testing.assert_allclose(found.weights, weights, rtol=1e-5, atol=1e-5 * unit)
    variances = unit**2 * expected.noise_variance
    np.testing.assert_allclose(found.noise_variance, variances, rtol=1e-5)
    assert found.amplitude_variance == pytest.approx(expected.amplitude_variance, rel=1e-5)
    log_unit = np.count_nonzero(~np.isnan(values)) * np.log(unit)
    score = other.score_samples(unit * values + origin).sum()
    assert score == pytest.approx(model.score_samples(values).sum() - log_unit, rel=1e-6)


def test_priors_from_the_data():
    """Given ones are used as they are; others follow robust scales of the columns."""
    values = make_data(200, probit := (False, True, False))[0]
    values[:, 2] = 10.0 * values[:, 2] + 300.0
    values[7, 0] = 1e4
    output = ["probit" if p else "normal" for p in probit]

    def prior(*, reaches_all=False, **parameters):
        emission = BinaryFactorEmission(2, output=output, **parameters)
        return emission.check_parts(values, N_STATES, reaches_all=reaches_all)[5]

    default = prior()
    middles = np.median(values, axis=0) * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(default.middles, middles)
    scales = np.array([np.delete(values[:, 0], 7).std(), 1.0, values[:, 2].std()])
    np.testing.assert_allclose(default.scales, scales, rtol=0.35)
    np.testing.assert_allclose(4.0 * default.rates[[0, 2]], scales[[0, 2]] ** 2, rtol=0.75)
    scales[0] = (1e4 - middles[0]) / 3.0
    np.testing.assert_allclose(prior(reaches_all=True).scales, scales, rtol=0.1)
    given = prior(weights_scale=3.0, noise_prior=(2.0, 0.5))
    np.testing.assert_array_equal(given.middles, np.zeros(3))
    np.testing.assert_array_equal(given.scales, np.full(3, 3.0))
    assert given.shape == 2.0
    np.testing.assert_array_equal(given.rates, np.full(3, 0.5))
    np.testing.assert_array_equal(prior(weights=WEIGHTS).middles, np.zeros(3))


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e20, 1e119])
def test_outlier(outlier):
    """One value does not hide the other columns."""
    values, bits = make_data(100, noise=0.1)
    values[5, 2] = outlier
    model = HDPHMMLT(8, emission=BinaryFactorEmission(3), max_iter=30, n_chains=4, random_state=0)
    states = np.delete(model.fit_predict(values), 5)
    kinds = np.delete(bits, 5, axis=0) @ [1, 2]
    shared = np.array([[np.sum((states == j) & (kinds == k)) for k in range(4)] for j in range(8)])
    assert shared.max(axis=1).sum() > 0.95 * len(states)


@pytest.mark.parametrize("given", [True, False])
def test_recovers_parameters(given):
    """Chains of vectors, weights and noise given the true states; the likeliest of five counts.

    With drawn weights some four chains in ten find the vectors, the others a poorer mode.
    """
    values, bits = make_data(1000)
    states = bits @ [1, 2]
    parameters = {"weights": WEIGHTS} if given else {"weights_scale": 2.0}
    samplers = [start_sampler(values, seed=i, **parameters)[0] for i in range(1 if given else 5)]
    for i, sampler in enumerate(samplers):
        rng = stream(i)
        for _ in range(300):
            sampler.draw(states, rng)
    model = max(samplers, key=lambda sampler: sampler.log_evidence()).model()
    means = WEIGHTS[0] + np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) @ WEIGHTS[1:]
    np.testing.assert_allclose(model.means[:4], means, atol=0.05)
    np.testing.assert_allclose(model.noise_variance, 0.04, rtol=0.2)
    if given:
        np.testing.assert_array_equal(model.factors[:4], [[0, 0], [1, 0], [0, 1], [1, 1]])
        np.testing.assert_array_equal(model.weights, WEIGHTS)


@pytest.mark.parametrize("given", [True, False])
def test_recovers_amplitudes(given):
    """Weights, noise and variances of amplitudes and noise given the true states and vectors."""
    rng = np.random.default_rng(4)
    bits = rng.integers(2, size=(3000, 2))
    amplitudes = 1.0 + 0.5 * rng.standard_normal(bits.shape)
    values = WEIGHTS[0] + (bits * amplitudes) @ WEIGHTS[1:]
    values += 0.2 * rng.standard_normal(values.shape)
    values[::9, 1] = np.nan
    parameters = {"weights": WEIGHTS} if given else {"weights_scale": 2.0}
    sampler, states = start_sampler(values, n_states=4, amplitude_variance="auto", **parameters)
    states[:] = bits @ [1, 2]
    sampler.factors[:] = [[0, 0], [1, 0], [0, 1], [1, 1]]
    sampler.weights = WEIGHTS.copy()
    rng = stream(1)
    for _ in range(100):
        sampler.draw(states, rng)
    model = sampler.model()
    np.testing.assert_array_equal(model.factors, [[0, 0], [1, 0], [0, 1], [1, 1]])
    np.testing.assert_allclose(model.weights, WEIGHTS, atol=0.1)
    np.testing.assert_allclose(model.noise_variance, 0.04, rtol=0.2)
    assert model.amplitude_variance == pytest.approx(0.25, rel=0.1)


def test_model_samples_with_amplitudes():
    """Means and covariances of samples, within 5 standard errors of about 1 / sqrt(20,000)."""
    factors = np.array([[0, 1], [1, 1]], dtype=np.int8)
    noise = np.array([0.5, 1.0, 2.0])
    model = BinaryFactorModel(factors, WEIGHTS, noise, ("normal",) * 3, 0.3)
    n = 20_000
    values = model.sample(np.repeat([0, 1], n), np.random.default_rng(0)).reshape(2, n, 3)
    for own, vector in zip(values, factors, strict=True):
        on = WEIGHTS[1:] * vector[:, np.newaxis]
        covariance = np.diag(noise) + 0.3 * on.T @ on
        z = (own.mean(axis=0) - WEIGHTS[0] - on.sum(axis=0)) / np.sqrt(np.diag(covariance) / n)
        assert np.abs(z).max() < 5.0
        scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        assert np.abs((np.cov(own.T) - covariance) / scale).max() < 5.0 * np.sqrt(2.0 / n)


def test_model_samples():
    """Means and variances of samples, |z| < 5: a false alarm once in 100,000."""
    factors = np.array([[0, 1], [1, 1]], dtype=np.int8)
    model = BinaryFactorModel(
        factors, WEIGHTS, np.array([0.5, 1.0, 2.0]), ("normal", "probit", "normal")
    )
    n = 20_000
    values = model.sample(np.repeat([0, 1], n), np.random.default_rng(0)).reshape(2, n, 3)
    means = WEIGHTS[0] + factors @ WEIGHTS[1:]
    p = norm.cdf(means[:, 1])
    expected = np.column_stack([means[:, 0], p, means[:, 2]])
    variances = np.column_stack([[0.5, 0.5], p * (1.0 - p), [2.0, 2.0]])
    z = (values.mean(axis=1) - expected) / np.sqrt(variances / n)
    assert np.abs(z).max() < 5.0
    np.testing.assert_allclose(values.var(axis=1), variances, rtol=0.06)


@pytest.mark.parametrize(
    "parameters", [{}, {"output": "probit"}, {"amplitude_variance": "auto"}], ids=str
)
def test_copy_pickle_and_detach(parameters):
    """Copies go their own ways; a restored sampler goes on with the same bits."""
    values, _ = make_data(probit=("output" in parameters,) * 3)
    if "output" not in parameters:
        values[4:9, 1] = np.nan
    sampler, states = start_sampler(values, **parameters)
    coupling = make_coupling(N_STATES)
    sampler.draw(states, stream(1), coupling)
    copy = sampler.copy()
    before = {k: v.copy() for k, v in vars(copy).items() if isinstance(v, np.ndarray)}
    evidence, model = copy.log_evidence(), copy.model()
    sampler.detach()
    for part in (sampler, sampler.amplitudes):
        assert all(v.size < len(values) for v in vars(part).values() if isinstance(v, np.ndarray))
    restored = pickle.loads(pickle.dumps(sampler))
    for other in (sampler, restored):
        other.attach(values)
        rng = stream(2)
        for _ in range(5):
            other.draw(states, rng, coupling)
    assert sampler.amplitude_variance == restored.amplitude_variance
    for name in ("factors", "weights", "precisions"):
        np.testing.assert_array_equal(getattr(sampler, name), getattr(restored, name))
        np.testing.assert_array_equal(getattr(copy, name), before[name])
    assert copy.log_evidence() == evidence
    np.testing.assert_array_equal(copy.model().weights, model.weights)
    assert not np.array_equal(sampler.weights, copy.weights)


def test_model_is_apart_from_the_sampler():
    values, _ = make_data()
    sampler, states = start_sampler(values, weights=WEIGHTS, noise_variance=[0.04, 0.04, 0.05])
    model = sampler.model()
    factors = model.factors.copy()
    sampler.draw(states * 0, stream(1))
    np.testing.assert_array_equal(model.factors, factors)
    np.testing.assert_allclose(model.noise_variance, [0.04, 0.04, 0.05])


def test_given_parameters_stay():
    values, _ = make_data()
    weights = WEIGHTS.copy()
    sampler, states = start_sampler(values, weights=weights, noise_variance=0.04)
    weights[:] = 0.0  # the sampler has its own
    sampler.draw(states, stream(1), make_coupling(N_STATES))
    np.testing.assert_array_equal(sampler.weights, WEIGHTS)
    np.testing.assert_array_equal(sampler.precisions, np.full(3, 1.0 / 0.04))


def test_similarities():
    values, _ = make_data()
    emission, _ = start_sampler(values)
    similarity = LaplacianSimilarity(decay=0.6).make_sampler(N_STATES)
    similarity.start(emission, stream())
    coupling = make_coupling(N_STATES)
    similarity.draw(coupling.counts, coupling.log_rates, emission, stream())
    assert similarity.scalars() == {"decay": 0.6}
    assert similarity.model() is None
    assert similarity.log_density() == 0.0
    out = np.empty((N_STATES, N_STATES))
    similarity.write(out, emission)
    distances = (emission.factors[:, np.newaxis] != emission.factors).sum(axis=2)
    np.testing.assert_allclose(out, -0.6 * distances)
    assert similarity.coupling(*coupling[1:])[0] == 0.6


def test_drawn_decay():
    emission, _ = start_sampler(make_data()[0])
    similarity = LaplacianSimilarity(decay_prior=(2.0, 4.0)).make_sampler(N_STATES)
    similarity.start(emission, stream())
    assert similarity.decay == 0.5
    density = 0.5 * 4.0**2 * np.exp(-0.5 * 4.0) * 0.5  # of log lambda
    assert similarity.log_density() == pytest.approx(np.log(density))
    copy = pickle.loads(pickle.dumps(similarity.copy()))
    coupling = make_coupling(N_STATES)
    for other in (similarity, copy):
        other.draw(coupling.counts, coupling.log_rates, emission, stream(1))
    assert similarity.decay == copy.decay != 0.5


def test_decay_without_transitions():
    """Sequences of one step: the decay is drawn from its prior, and vectors do not see it."""
    emission, _ = start_sampler(make_data()[0])
    similarity = LaplacianSimilarity().make_sampler(N_STATES)
    counts = np.zeros((N_STATES + 1, N_STATES), dtype=np.int64)
    counts[-1] = 3
    log_rates, rng = np.zeros(counts.shape), stream()
    draws = []
    for _ in range(4000):
        similarity.draw(counts, log_rates, emission, rng)
        draws.append(similarity.decay)
    assert abs(np.mean(draws) - 1.0) < 0.15  # 5 standard errors or more
    emission.draw(np.zeros(300, dtype=np.int64), rng, similarity.coupling(counts, log_rates))


def test_copy_of_sampler_shares_observations():
    values, _ = make_data()
    sampler, _ = start_sampler(values)
    assert sampler.copy()._values is sampler._values
