"""Parameters of durations against quadrature, and chains over segments against enumeration."""

import math
from functools import partial

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from exact.oracles.hdp_hmm import Durations, length_likelihood, negative_binomial_pmf, poisson_pmf
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from exact.sequence.chains import check, parameters_of, stream, symbols

from skdp._numeric._numba import njit
from skdp.sequence import NegativeBinomialDuration, PoissonDuration
from skdp.sequence._kernels import _segments as kernels

# Four states: one with cut-off segments, one with long ones, one with short ones, one never used.
SEQUENCES = ([0, 0, 1, 1, 1, 1, 2, 0, 0, 0], [2, 1, 1, 1, 1, 0], [1, 1, 1, 1], [2])
N_STATES = 4


@njit
def draw_poissons(smallest, mean, rng, out):
    for i in range(out.shape[0]):
        out[i] = kernels.draw_poisson_at_least(smallest, mean, rng)


@njit
def draw_negative_binomials(smallest, n_phases, log_p, log_q, rng, out):
    for i in range(out.shape[0]):
        out[i] = kernels.draw_negative_binomial_at_least(smallest, n_phases, log_p, log_q, rng)


def as_panel(sequences):
    return np.cumsum([0, *map(len, sequences)]), np.concatenate(sequences).astype(np.int64)


def poisson_case(longest, shape=2.0, rate=0.7):
    grid, weights = gamma_quadrature(shape, rate, step=0.05)
    sampler = PoissonDuration(shape, rate, longest).make_sampler(N_STATES)
    return sampler, grid, weights, lambda k: poisson_pmf(k, grid)


def negative_binomial_case(longest, n_phases=2, prior=(1.5, 2.5)):
    grid, weights = beta_quadrature(*prior, n_nodes=60)
    sampler = NegativeBinomialDuration(n_phases, prior, longest).make_sampler(N_STATES)
    return sampler, grid, weights, lambda k: negative_binomial_pmf(k, n_phases, grid)


@pytest.mark.parametrize("make", [poisson_case, negative_binomial_case])
@pytest.mark.parametrize("longest", [4, 9])
def test_parameters_given_states(make, longest):
    """Draws of what is cut off and of the parameters alternate;"""
    sampler, grid, weights, pmf = make(longest)
    ptr, states = as_panel(SEQUENCES)
    rng = stream()
    sampler.start(rng)
    durations = Durations(longest, grid, weights, pmf)
    posterior = length_likelihood(SEQUENCES, durations, N_STATES) * weights
    posterior /= posterior.sum(axis=1, keepdims=True)

    def step():
        sampler.draw(ptr, states, rng)
        return parameters_of(sampler)

    def compare(draws):
        yield draws, posterior @ grid, "parameters"
        yield np.exp(-draws), posterior @ np.exp(-grid), "exp(-parameters)"

    check_chain(step, compare)


@pytest.mark.parametrize("make", [poisson_case, negative_binomial_case])
@pytest.mark.parametrize("longest", [1, 4, 9])
def test_tables(make, longest):
    """P(D = d) and P(D >= d) at draws from the prior, against their definition."""
    sampler, *_ = make(longest)
    sampler.start(stream())
    log_pmf, log_survival = sampler.tables()
    for j, parameter in enumerate(parameters_of(sampler)):
        pmf = [
            poisson_pmf(k, parameter)
            if make is poisson_case
            else negative_binomial_pmf(k, 2, parameter)
            for k in range(longest)
        ]
        survival = [1.0 - math.fsum(pmf[:k]) for k in range(longest)]
        np.testing.assert_allclose(np.exp(log_pmf[j, :-1]), pmf[:-1], rtol=1e-11)
        np.testing.assert_allclose(np.exp(log_survival[j]), survival, rtol=1e-9)
        assert log_pmf[j, -1] == log_survival[j, -1]


@pytest.mark.parametrize("make", [poisson_case, negative_binomial_case])
def test_log_density(make):
    """The density of the logarithm of omega, or of that of p / (1 - p), and of lengths."""
    longest = 4
    sampler, *_ = make(longest)
    ptr, states = as_panel(SEQUENCES)
    rng = stream()
    sampler.start(rng)
    sampler.draw(ptr, states, rng)
    expected = 0.0
    for j, x in enumerate(parameters_of(sampler)):
        if make is poisson_case:
            prior = 0.7**2 * x * math.exp(-0.7 * x)  # of omega, Gamma(2)
            jacobian = x
            pmf = [poisson_pmf(k, x) for k in range(longest)]
        else:
            normalizer = math.gamma(4.0) / math.gamma(1.5) / math.gamma(2.5)
            prior = normalizer * x**0.5 * (1.0 - x) ** 1.5
            jacobian = x * (1.0 - x)
            pmf = [negative_binomial_pmf(k, 2, x) for k in range(longest)]
        at_x = Durations(longest, np.ones(1), np.ones(1), lambda k, pmf=pmf: np.array([pmf[k]]))
        likelihood = length_likelihood(SEQUENCES, at_x, N_STATES)
        expected += math.log(prior * jacobian * likelihood[j, 0])
    assert sampler.log_density() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("smallest", "mean"),
    [(0, 3.0), (3, 3.0), (4, 3.0), (2, 40.0), (10, 1e-9), (60, 20.0), (2000, 1500.0), (5, 0.0)],
)
def test_poisson_at_least(smallest, mean):
    """40,000 draws, also where the condition holds once in e^500: 6 standard errors."""
    draws = np.empty(40_000)
    draw_poissons(smallest, mean, stream(), draws)
    logs = [
        k * math.log(mean) - math.lgamma(k + 1) if mean > 0.0 else (0.0 if k == smallest else -1e9)
        for k in range(smallest, smallest + 400)
    ]
    check_frequencies(draws, smallest, logs)


@pytest.mark.parametrize(
    ("smallest", "r", "p"),
    [(0, 1, 0.5), (3, 1, 0.5), (7, 3, 0.2), (4, 2, 0.9), (20, 5, 1e-6), (300, 4, 0.3), (1, 8, 0.8)],
)
def test_negative_binomial_at_least(smallest, r, p):
    draws = np.empty(40_000)
    draw_negative_binomials(smallest, r, math.log(p), math.log1p(-p), stream(), draws)
    logs = [
        math.lgamma(k + r) - math.lgamma(k + 1) + k * math.log(p)
        for k in range(smallest, smallest + 400)
    ]
    check_frequencies(draws, smallest, logs)


def check_frequencies(draws, smallest, logs):
    """Compare frequencies of smallest, smallest + 1, ...: 6 standard errors for each."""
    probabilities = np.exp(np.array(logs) - max(logs))
    probabilities /= probabilities.sum()
    n = len(draws)
    counts = np.bincount(draws.astype(np.int64) - smallest, minlength=len(logs))
    assert counts[len(logs) :].sum() == 0
    errors = np.sqrt(np.maximum(probabilities * (1.0 - probabilities), 1.0 / n) / n)
    assert np.all(np.abs(counts / n - probabilities) < 6.0 * errors)


@pytest.mark.parametrize("p", [1.0 - 1e-12, 1.0])
def test_durations_without_end(p):
    """A state that never ends: the draw is large, and a number."""
    log_q = math.log(1e-12) if p < 1.0 else -900.0
    draw = np.empty(1)
    draw_negative_binomials(5, 2, math.log(p), log_q, stream(), draw)
    assert 1e9 < draw[0] < math.inf
    draw_poissons(5, 1e300, stream(), draw)
    assert 1e299 < draw[0] < math.inf


# Chains

ONE, TWO = ("001101",), ("0010", "11")
TWO_WAYS = ((1, 1, 1, 0), (0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0))
KNOWN = ((0, -1, -1, -1), (-1, 1))
PHI = ((1.0, 0.3, 0.05), (0.5, 1.0, 0.2), (0.01, 0.6, 1.0))
DRAWN = {"alpha": None, "gamma": None}


def poisson(sequences, shape, rate, longest, **more):
    grid, weights = gamma_quadrature(shape, rate)
    durations = Durations(longest, grid, weights, partial(poisson_pmf, omega=grid))
    return symbols(sequences, durations=durations, **more), PoissonDuration(shape, rate, longest)


def negative_binomial(sequences, r, prior, longest, **more):
    grid, weights = beta_quadrature(*prior)
    durations = Durations(longest, grid, weights, partial(negative_binomial_pmf, r=r, p=grid))
    duration = NegativeBinomialDuration(r, prior, longest)
    return symbols(sequences, durations=durations, **more), duration


CHAINS = {
    "three states": poisson(ONE, 2.0, 1.0, 4, n_states=3),
    "two states": poisson(TWO, 1.0, 0.5, 3),
    "two sequences": poisson(TWO, 2.0, 1.0, 3, n_states=3, alpha=0.7, gamma=1.0),
    "similar": poisson(TWO, 2.0, 1.0, 3, n_states=3, phi=PHI),
    "concentrations": poisson(TWO, 2.0, 1.0, 4, n_states=3, **DRAWN),
    "negative binomial": negative_binomial(TWO, 2, (2.0, 3.0), 3, n_states=3, phi=PHI, **DRAWN),
    "two ways out, known": poisson(
        TWO, 2.0, 1.0, 3, n_states=4, allowed=TWO_WAYS, known=KNOWN, gamma=None
    ),
    "one step": poisson(TWO, 2.0, 1.0, 1, n_states=3, gamma=None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_chain(name):
    case, duration = CHAINS[name]
    check(case, 60_000, duration=duration)


@pytest.mark.slow
def test_chain_of_a_stream():
    """The last sequence comes later; a sweep draws it, and one of the others at random."""
    case, duration = poisson(("01", "10", "001"), 2.0, 1.0, 3)
    check(case, 40_000, duration=duration, n_settled=2)
