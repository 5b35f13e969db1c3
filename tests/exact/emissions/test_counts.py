"""Categorical and Poisson observations against the formulas of their conjugate priors."""

import numpy as np
import pytest
from exact.oracles.events import log_count_evidence, log_symbol_evidence
from scipy import integrate, stats
from scipy.special import gammaln

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.sequence import CategoricalEmission, PoissonEmission

STATES = np.array([0, 0, 1, 0, 2, 1, 0])
COUNTS = np.array([[3, 0], [5, 1], [0, 9], [2, 2], [7, 0], [1, 12], [4, 1]], dtype=float)
SYMBOLS = np.array([0, 2, 1, 0, 0, 1, 3], dtype=float).reshape(-1, 1)
NAN = np.nan
GAPS = COUNTS.copy()
GAPS[[0, 2, 4, 4, 5], [1, 0, 0, 1, 0]] = NAN
SYMBOLS_WITH_GAPS = SYMBOLS.copy()
SYMBOLS_WITH_GAPS[[1, 3]] = NAN
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


def gaps_of(kind):
    """Return an emission, its values with gaps, and the log evidence of the rows of a state."""
    if kind == "poisson":
        return PoissonEmission(SHAPE, RATE), GAPS, lambda x: log_count_evidence(x, SHAPE, RATE)
    emission = CategoricalEmission(len(PRIOR), PRIOR)
    return emission, SYMBOLS_WITH_GAPS, lambda x: log_symbol_evidence(x, PRIOR)


both_kinds = pytest.mark.parametrize("kind", ["poisson", "categorical"])


@both_kinds
def test_missing_values_have_factor_one(kind):
    """Evidence, densities under drawn parameters, and the predictive distribution."""
    emission, values, evidence = gaps_of(kind)
    sampler, _ = start(emission, values)
    rows = [values[j == STATES] for j in range(N_STATES)]
    np.testing.assert_allclose(sampler.log_evidence(), sum(map(evidence, rows)), rtol=1e-12)
    drawn = log_obs_of(sampler, len(values))
    predicted = sampler.model().log_obs(values)
    for t, x in enumerate(values):
        for j in range(N_STATES):
            if kind == "poisson":
                intensities = np.exp(sampler.log_intensities[j])
                expected = np.nansum(stats.poisson.logpmf(x, intensities))
            else:
                expected = 0.0 if np.isnan(x[0]) else sampler.log_probs[int(x[0]), j]
            np.testing.assert_allclose(drawn[t, j], expected, rtol=1e-10, atol=1e-12)
            ratio = evidence([*rows[j], x]) - evidence(rows[j])
            np.testing.assert_allclose(predicted[t, j], ratio, rtol=1e-6, atol=1e-12)


@both_kinds
def test_restricted_samplers_leave_out_missing_values(kind):
    emission, values, evidence = gaps_of(kind)
    sampler, _ = start(emission, values)
    some, states = np.array([0, 1, 3, 4, 6]), np.array([0, 1, 1, 0, -1])
    part = sampler.restrict(some, 2)
    part.condition(states)
    expected = sum(evidence(values[some][states == j]) for j in range(2))
    np.testing.assert_allclose(part.log_evidence(), expected, rtol=1e-12)
    out = np.empty((len(some), 2))
    part.write_log_predictive(out)
    assert np.all(out[np.isnan(values[some]).all(axis=1)] == 0.0)


def test_intensities_given_counts_with_gaps():
    """Kolmogorov-Smirnov tests of eight intensities: false alarms in 1e-5 seeds."""
    sampler, rng = start(PoissonEmission(SHAPE, RATE), GAPS)
    draws = np.empty((N_DRAWS, N_STATES, 2))
    for i in range(N_DRAWS):
        sampler.draw(STATES, rng)
        draws[i] = np.exp(sampler.log_intensities)
    for j in range(N_STATES):
        for d in range(2):
            x = GAPS[j == STATES, d]
            x = x[~np.isnan(x)]
            posterior = stats.gamma(SHAPE + x.sum(), scale=1.0 / (RATE + len(x)))
            assert stats.kstest(draws[:, j, d], posterior.cdf).pvalue > 1e-6
            np.testing.assert_allclose(sampler.model().intensities[j, d], posterior.mean())


def test_default_prior_of_counts_with_gaps():
    """It is that of the observed values: here the same as without the missing rows."""
    values = np.random.default_rng(0).negative_binomial(0.7, 0.02, (40, 2)).astype(float)
    gaps = np.vstack([values[:15], np.full((5, 2), NAN), values[15:]])
    expected = PoissonEmission().make_sampler(values, 2)
    found = PoissonEmission().make_sampler(gaps, 2)
    np.testing.assert_allclose(found.shapes, expected.shapes, rtol=1e-12)
    np.testing.assert_allclose(found.rates, expected.rates, rtol=1e-12)


def test_symbols_with_gaps_have_the_same_vocabulary():
    base = CategoricalEmission(base="empirical").make_sampler(SYMBOLS_WITH_GAPS, 2)
    seen = SYMBOLS_WITH_GAPS[~np.isnan(SYMBOLS_WITH_GAPS)].astype(int)
    counts = 1.0 + np.bincount(seen, minlength=4)
    np.testing.assert_allclose(base.prior / base.prior.sum(), counts / counts.sum())


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
