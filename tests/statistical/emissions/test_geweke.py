"""Geweke's joint distribution tests of regressions and of binary factors in hidden Markov models.

If the chain leaves the posterior invariant, then alternating one sweep with a draw of the
observations given the rest leaves the joint distribution of everything invariant, so its means are
those of plain draws from the prior (Geweke, 2004).

Up to 24,000 or 30,000 sweeps in 40 batches, and 15,000 or 20,000 plain draws; |z| < 5 with 39
degrees of freedom is a false alarm once in 80,000 comparisons; there are about 350.
"""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from scipy.stats import norm

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions import BinaryFactorEmission, RegressionEmission
from skdp.sequence import LaplacianSimilarity
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

pytestmark = pytest.mark.slow


def check_joint(plain, step, n_sweeps):
    """Compare means of a chain to those of plain draws (n, K); errors are those of both."""
    plain = np.array(plain, dtype=float)
    error = np.maximum(plain.std(axis=0) / np.sqrt(len(plain)), 1.0 / n_sweeps)
    expected = plain.mean(axis=0)
    check_chain(step, lambda draws: [(draws, expected, "statistics", error)], n_sweeps)


def start_chain(values, ptr, emission, n_states, priors, similarity=None):
    streams = [make_stream(make_seed_sequence(seed)) for seed in range(3)]
    return HMMSampler(
        SequencePanel(values, ptr),
        Transitions(n_states, priors, streams[0]),
        emission.make_sampler(values, n_states),
        streams[1],
        streams[2],
        similarity=None if similarity is None else similarity.make_sampler(n_states),
    )


def draw_states(rng, ptr, probs):
    """Return a path of states given (J + 1, J) probabilities, those of first steps last."""
    ends = probs.cumsum(axis=1)
    states = np.empty(ptr[-1], dtype=np.int64)
    for start, end in pairwise(ptr):
        before = -1
        for t in range(start, end):
            chosen = np.searchsorted(ends[before], rng.random())
            before = states[t] = min(chosen, len(ends) - 2)
    return states


# Logistic and Poisson regressions

ALPHA, GAMMA, KAPPA = 1.5, 2.0, 1.0
TWELVE = np.array([0, 7, 12])
INPUTS = np.random.default_rng(0).normal(0.5, 1.5, size=(12, 2))
MEAN = np.array([0.4, -0.6, 0.3])  # the intercept last
PRECISION = np.array([[0.6, 0.1, 0.0], [0.1, 0.4, 0.1], [0.0, 0.1, 0.5]])
PRECISIONS = {"bernoulli": PRECISION, "poisson": 6.0 * PRECISION}


def draw_targets(rng, output, states, coefs):
    psi = (np.column_stack([INPUTS, np.ones(12)]) * coefs[states]).sum(axis=1)
    if output == "bernoulli":
        targets = (rng.random(12) < 1.0 / (1.0 + np.exp(-psi))).astype(float)
    else:
        targets = rng.poisson(np.exp(psi)).astype(float)
    targets[[3, 8]] = np.nan
    return targets


def draw_regressions(rng, output):
    """Return states, coefficients and targets."""
    beta = rng.dirichlet(np.full(3, GAMMA / 3))
    rates = rng.gamma(ALPHA * beta + KAPPA * np.eye(4, 3)) + 1e-300
    states = draw_states(rng, TWELVE, rates / rates.sum(axis=1, keepdims=True))
    root = np.linalg.cholesky(np.linalg.inv(PRECISIONS[output]))
    coefs = MEAN + rng.normal(size=(3, 3)) @ root.T
    return states, coefs, draw_targets(rng, output, states, coefs)


def summarize(states, coefs, targets):
    own = coefs[states]
    known = np.minimum(np.nan_to_num(targets), 3.0)
    same = states[:, np.newaxis] == states
    return np.concatenate([
        coefs.mean(axis=0), (coefs**2).mean(axis=0), np.abs(coefs[0]),
        known, known[:-1] * known[1:], [same.sum(), len(set(states.tolist()))],
        own[[0, 5]].ravel() ** 2, [np.prod(coefs[0]), (own[:, 0] * known).sum()],
    ])  # fmt: skip


@pytest.mark.parametrize("output", PRECISIONS)
def test_regressions(output):
    rng = np.random.default_rng(1)
    plain = [summarize(*draw_regressions(rng, output)) for _ in range(20_000)]
    values = np.column_stack([draw_regressions(rng, output)[2], INPUTS])
    emission = RegressionEmission(
        0, output=output, coef_prior=[MEAN], coef_precision_prior=PRECISIONS[output]
    )
    priors = TransitionPriors(GAMMA, (1.0, 1.0), ALPHA, (1.0, 1.0), KAPPA, (1.0, 1.0))
    sampler = start_chain(values, TWELVE, emission, 3, priors)
    root = np.linalg.inv(sampler.emission.prior.precision_root)

    def step():
        sampler.sweep()
        drawn = sampler.emission.prior.coefs[0] + sampler.emission.coefs[:, 0] @ root
        coefs = np.roll(drawn, -1, axis=1)
        targets = draw_targets(rng, output, sampler.states, coefs)
        found = summarize(sampler.states, coefs, targets)
        sampler.attach(SequencePanel(np.column_stack([targets, INPUTS]), TWELVE))
        return found

    check_joint(plain, step, 24_000)


# Binary factors with similarities, everything learned

N_STATES, N_FACTORS = 4, 2
TEN = np.array([0, 6, 10])
CONCENTRATION_PRIOR = (2.0, 1.0)
ACTIVITY_PRIOR = (1.5, 1.0)
MASS_PRIOR, CONCENTRATION = (3.0, 3.0), 1.3
NOISE_PRIOR = (4.0, 2.0)
DECAY_PRIOR = (2.0, 1.0)
AMPLITUDE_PRIOR = (4.0, 1.5)
SCALE = 1.2
MISSING = np.zeros((10, 2), dtype=bool)
MISSING[[2, 7], [0, 1]] = True


def draw_gamma(rng, prior):
    return rng.gamma(prior[0], 1.0 / prior[1])


def draw_values(rng, probit, states, factors, weights, precisions, variance=0.0):
    deviations = np.sqrt(variance) * rng.standard_normal((len(states), factors.shape[1]))
    means = weights[0] + (factors[states] * (1.0 + deviations)) @ weights[1:]
    normal = means + rng.standard_normal(means.shape) / np.sqrt(precisions)
    values = np.where(probit, rng.random(means.shape) < norm.cdf(means), normal)
    values[MISSING] = np.nan
    return values


def draw_buffet(rng, mass):
    """Return binary vectors, one customer after the other."""
    factors = np.zeros((N_STATES, 0), dtype=np.int8)
    for i in range(N_STATES):
        on = factors.sum(axis=0)
        factors[i] = rng.random(len(on)) < on / (CONCENTRATION + i)
        n_new = rng.poisson(mass * CONCENTRATION / (CONCENTRATION + i))
        new = np.zeros((N_STATES, n_new), dtype=np.int8)
        new[i] = 1
        factors = np.hstack([factors, new])
    return factors


def draw_factors(rng, factors, probit, similar=True):
    """Return decay, alpha, gamma and beta, and a tuple of states, weights and precisions."""
    weights = SCALE * rng.standard_normal((factors.shape[1] + 1, 2))
    precisions = np.where(probit, 1.0, rng.gamma(NOISE_PRIOR[0], 1.0 / NOISE_PRIOR[1], size=2))
    decay = draw_gamma(rng, DECAY_PRIOR)
    alpha, gamma = (draw_gamma(rng, CONCENTRATION_PRIOR) for _ in range(2))
    beta = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    shapes = np.tile(alpha * beta + 1e-12, (N_STATES + 1, 1))
    # Logs of Gamma draws, which underflow where shapes are small.
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    if similar:
        log_rates[:-1] -= decay * (factors[:, np.newaxis] != factors).sum(axis=2)
    rates = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    states = draw_states(rng, TEN, rates / rates.sum(axis=1, keepdims=True))
    return (decay, alpha, gamma, beta), (states, factors, weights, precisions)


def statistics_of_all(decay, alpha, gamma, beta, states, factors, weights, precisions, values):
    """Return functions of the state that between them see every variable."""
    distances = (factors[:, np.newaxis] != factors).sum(axis=2)
    moved = np.delete(distances[states[:-1], states[1:]], TEN[1] - 1)
    stays = np.delete(states[:-1] == states[1:], TEN[1] - 1)
    on = factors[states].sum(axis=1)
    used = np.bincount(states, minlength=N_STATES) > 0
    seen = np.nan_to_num(values)
    return [
        decay, decay**2, np.log(decay), alpha, np.log(alpha), gamma, np.log(gamma),
        beta[0], beta.max(), (beta**2).sum(), used.sum(), used.sum() ** 2, stays.mean(),
        stays.mean() ** 2, moved.mean(), (moved**2).mean(), decay * moved.mean(),
        alpha * moved.mean(), alpha * used.sum(), decay * used.sum(), decay * alpha,
        *factors.sum(axis=1), (factors[0] * factors[1]).sum(), distances.mean(),
        decay * distances.mean(), on.mean(), on.mean() ** 2, factors[used].sum(),
        beta @ factors.sum(axis=1), (~used).sum() * factors[~used].sum(),
        precisions[0], precisions[0] ** 2, np.log(precisions[0]),
        *weights[0], *weights[0] ** 2, (seen[:, 0] ** 2).clip(max=20.0).mean(),
        seen[:, 1].mean(), seen[:, 1].mean() ** 2, seen[:, 1] @ on,
        (seen[:, 0] * on).clip(-20.0, 20.0).mean(),
    ]  # fmt: skip


def statistics_of_two(known, states, factors, weights, precisions, variance, values):
    """Return those of two factors, and of their amplitudes if these vary."""
    beta = known[3]
    on, used = factors[states], np.bincount(states, minlength=N_STATES) > 0
    of_amplitudes = [
        variance, np.log(variance), variance * precisions[1], np.log(precisions[1]),
        variance * weights[1, 0] ** 2, variance * on.mean(), variance * used.sum(),
        variance * (np.nan_to_num(values) ** 2).clip(max=20.0).mean(),
    ] if variance > 0.0 else []  # fmt: skip
    return [
        *statistics_of_all(*known, states, factors, weights, precisions, values), *of_amplitudes,
        *factors.mean(axis=0), (factors[0] == factors[1]).mean(), factors.mean() ** 2,
        factors.prod(axis=1).mean(), (on[:-1] == on[1:]).mean(), factors[used].mean(),
        beta @ factors[:, 0], *(weights**2).mean(axis=1), *(weights**2).mean(axis=0),
        *weights.mean(axis=0), weights[1] @ weights[2], factors[0] @ weights[1:, 0],
        factors[0] @ weights[1:, 1], (weights[1:].T @ factors.T).std(),
        precisions[0] * used.sum(), precisions[0] * weights[0, 0] ** 2,
        np.nan_to_num(values)[:, 1] @ on[:, 0],
    ]  # fmt: skip


def statistics_of_any(mass, known, states, factors, weights, precisions, values):
    """Return those of a number of factors that is inferred."""
    decay, number, sums = known[0], factors.shape[1], factors.sum(axis=0)
    used = np.bincount(states, minlength=N_STATES) > 0
    square, means = (weights**2).sum(axis=0), factors @ weights[1:]
    idle_only = np.count_nonzero(factors.any(axis=0) & ~factors[used].any(axis=0))
    return [
        *statistics_of_all(*known, states, factors, weights, precisions, values),
        mass, np.log(mass), mass * number, number, number**2, number == 0, number == 1, number > 4,
        decay * number, number * used.sum(), (sums == 1).sum(), (sums == 2).sum(),
        (sums == N_STATES).sum(), (sums == 1).sum() ** 2, idle_only, idle_only * used.sum(),
        *square, *(square * number), *means.mean(axis=0), *(means**2).mean(axis=0),
        *(means[0] * means[1]), *(means**2).std(axis=0), *(weights[0] * means[0]),
        *(used @ means**2), precisions[0] * number, precisions[0] * square[0],
    ]  # fmt: skip


LEARNED = TransitionPriors(None, CONCENTRATION_PRIOR, None, CONCENTRATION_PRIOR, 0.0, (1.0, 1.0))
LAPLACIAN = LaplacianSimilarity(decay_prior=DECAY_PRIOR)


@pytest.mark.parametrize("varying", [False, True])
def test_two_factors(varying):
    """With a normal and a probit column, or two normal columns and amplitudes that vary."""
    rng = np.random.default_rng(5)
    probit = np.array([False, not varying])
    values_given = partial(draw_values, rng, probit)

    def draw():
        activities = rng.beta(*ACTIVITY_PRIOR, size=N_FACTORS)
        factors = (rng.random((N_STATES, N_FACTORS)) < activities).astype(np.int8)
        variance = 1.0 / draw_gamma(rng, AMPLITUDE_PRIOR) if varying else 0.0
        known, drawn = draw_factors(rng, factors, probit)
        return known, *drawn, variance, values_given(*drawn, variance)

    emission = BinaryFactorEmission(
        N_FACTORS, output="normal" if varying else ["normal", "probit"], weights_scale=SCALE,
        noise_prior=NOISE_PRIOR, activity_prior=ACTIVITY_PRIOR,
        amplitude_variance="auto" if varying else 0.0, amplitude_prior=AMPLITUDE_PRIOR,
    )  # fmt: skip
    sampler = start_chain(draw()[-1], TEN, emission, N_STATES, LEARNED, LAPLACIAN)
    own, transitions = sampler.emission, sampler.transitions

    def step():
        sampler.sweep()
        drawn = (
            sampler.states, own.factors, own.weights, own.precisions, own.amplitude_variance
        )  # fmt: skip
        own.attach(values := values_given(*drawn))
        known = sampler.similarity.decay, transitions.alpha, transitions.gamma, transitions.weights
        return np.array(statistics_of_two(known, *drawn, values))

    check_joint([statistics_of_two(*draw()) for _ in range(15_000)], step, 30_000)


@pytest.mark.parametrize("similar", [False, True])
def test_number_of_factors(similar):
    """With a normal and a probit column."""
    rng = np.random.default_rng(5)
    probit = np.array([False, True])
    values_given = partial(draw_values, rng, probit)

    def draw():
        mass = draw_gamma(rng, MASS_PRIOR)
        known, drawn = draw_factors(rng, draw_buffet(rng, mass), probit, similar)
        return mass, known, *drawn, values_given(*drawn)

    emission = BinaryFactorEmission(
        "auto", output=["normal", "probit"], weights_scale=SCALE, noise_prior=NOISE_PRIOR,
        activity_prior=(1.0, CONCENTRATION), mass_prior=MASS_PRIOR,
    )  # fmt: skip
    similarity = LAPLACIAN if similar else None
    sampler = start_chain(draw()[-1], TEN, emission, N_STATES, LEARNED, similarity)
    own, transitions = sampler.emission, sampler.transitions

    def step():
        sampler.sweep()
        drawn = sampler.states, own.factors, own.weights, own.precisions
        own.attach(values := values_given(*drawn))
        decay = sampler.similarity.decay if similar else draw_gamma(rng, DECAY_PRIOR)
        known = decay, transitions.alpha, transitions.gamma, transitions.weights
        return np.array(statistics_of_any(own.mass, known, *drawn, values))

    check_joint([statistics_of_any(*draw()) for _ in range(15_000)], step, 30_000)
