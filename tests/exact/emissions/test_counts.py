"""Categorical and Poisson observations against the formulas of their conjugate priors."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gammaln

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.sequence import CategoricalEmission, PoissonEmission

STATES = np.array([0, 0, 1, 0, 2, 1, 0])
COUNTS = np.array([[3, 0], [5, 1], [0, 9], [2, 2], [7, 0], [1, 12], [4, 1]], dtype=float)
SYMBOLS = np.array([0, 2, 1, 0, 0, 1, 3], dtype=float).reshape(-1, 1)
SHAPE, RATE, PRIOR = 1.5, 0.4, np.array([0.3, 1.0, 0.1, 2.0])
N_STATES, N_DRAWS = 4, 20_000  # the last state is never used


def start(emission, values):
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    rng = make_stream(make_seed_sequence(0))
    sampler.draw(STATES, rng)
    return sampler, rng


@pytest.fixture
def poisson():
    return start(PoissonEmission(SHAPE, RATE), COUNTS)


@pytest.fixture
def categorical():
    return start(CategoricalEmission(len(PRIOR), PRIOR), SYMBOLS)


def log_obs_of(sampler, n_steps):
    out = np.empty((n_steps, N_STATES))
    sampler.write_log_obs(out)
    return out


def test_poisson_densities(poisson):
    sampler, _ = poisson
    intensities = np.exp(sampler.log_intensities)
    expected = stats.poisson.logpmf(COUNTS[:, np.newaxis], intensities).sum(axis=2)
    np.testing.assert_allclose(log_obs_of(sampler, len(COUNTS)), expected)
    known = PoissonModel(sampler.model().intensities)
    expected = stats.poisson.logpmf(COUNTS[:, np.newaxis], known.intensities).sum(axis=2)
    np.testing.assert_allclose(known.log_obs(COUNTS), expected)


def test_poisson_posterior(poisson):
    """Kolmogorov-Smirnov tests of eight intensities: false alarms in 1e-5 seeds."""
    sampler, rng = poisson
    draws = np.empty((N_DRAWS, N_STATES, 2))
    for i in range(N_DRAWS):
        sampler.draw(STATES, rng)
        draws[i] = np.exp(sampler.log_intensities)
    for j in range(N_STATES):
        x = COUNTS[j == STATES]
        for d in range(2):
            posterior = stats.gamma(SHAPE + x[:, d].sum(), scale=1.0 / (RATE + len(x)))
            assert stats.kstest(draws[:, j, d], posterior.cdf).pvalue > 1e-6
            np.testing.assert_allclose(sampler.model().intensities[j, d], posterior.mean())


def test_poisson_evidence(poisson):
    """By quadrature over the intensity of each state and column."""
    total = 0.0
    for j in range(N_STATES):
        for d in range(2):
            x = COUNTS[j == STATES, d]
            prior = stats.gamma(SHAPE, scale=1.0 / RATE)

            def joint(rate, x=x, prior=prior):
                return prior.pdf(rate) * stats.poisson.pmf(x, rate).prod()

            total += np.log(integrate.quad(joint, 0.0, 60.0, limit=500)[0])
    np.testing.assert_allclose(poisson[0].log_evidence(), total, rtol=1e-6)


def test_categorical_densities(categorical):
    sampler, _ = categorical
    probs = np.exp(sampler.log_probs)  # (V, J)
    np.testing.assert_allclose(probs.sum(axis=0), 1.0)
    symbols = SYMBOLS[:, 0].astype(int)
    np.testing.assert_allclose(np.exp(log_obs_of(sampler, len(SYMBOLS))), probs[symbols])


def test_categorical_posterior(categorical):
    """Marginals are Beta distributions: 16 Kolmogorov-Smirnov tests, false alarms in 2e-5 seeds."""
    sampler, rng = categorical
    draws = np.empty((N_DRAWS, len(PRIOR), N_STATES))
    for i in range(N_DRAWS):
        sampler.draw(STATES, rng)
        draws[i] = np.exp(sampler.log_probs)
    for j in range(N_STATES):
        counts = np.bincount(SYMBOLS[j == STATES, 0].astype(int), minlength=len(PRIOR))
        shapes = PRIOR + counts
        np.testing.assert_allclose(sampler.model().probs[j], shapes / shapes.sum(), rtol=1e-6)
        for v, shape in enumerate(shapes):
            marginal = stats.beta(shape, shapes.sum() - shape)
            assert stats.kstest(draws[:, v, j], marginal.cdf).pvalue > 1e-6


def test_categorical_evidence(categorical):
    """Symbol by symbol, by the predictive probability given those before it in its state."""
    counts = np.tile(PRIOR, (N_STATES, 1))
    total = 0.0
    for symbol, state in zip(SYMBOLS[:, 0].astype(int), STATES, strict=True):
        total += np.log(counts[state, symbol] / counts[state].sum())
        counts[state, symbol] += 1.0
    np.testing.assert_allclose(categorical[0].log_evidence(), total)


def test_probability_of_transitions():
    """The joint of a chain without similarities, against its Dirichlet-multinomials."""
    from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

    priors = TransitionPriors(1.3, (1.0, 1.0), 2.0, (1.0, 1.0), 0.7, (1.0, 1.0))
    rng = make_stream(make_seed_sequence(1))
    transitions = Transitions(3, priors, rng)
    states = np.array([0, 0, 1, 2, 2, 1, 1, 0])
    ptr = np.array([0, 5, 8])
    transitions.draw(ptr, states, rng)
    beta = transitions.weights
    expected = gammaln(1.3) - 3.0 * gammaln(1.3 / 3.0) + 1.3 / 3.0 * np.log(beta).sum()
    counts = np.zeros((4, 3))
    for s, e in ((0, 5), (5, 8)):
        for before, after in zip([3, *states[s : e - 1]], states[s:e], strict=True):
            counts[before, after] += 1.0
    for j in range(4):
        shapes = 2.0 * beta + 0.7 * (np.arange(3) == j)
        expected += (gammaln(shapes + counts[j]) - gammaln(shapes)).sum()
        expected += gammaln(shapes.sum()) - gammaln(shapes.sum() + counts[j].sum())
    np.testing.assert_allclose(transitions.log_probability(), expected)
