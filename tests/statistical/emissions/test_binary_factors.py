"""Geweke's joint distribution test of binary factors with similarities, everything learned.

Once with a normal and a probit column, once with two normal columns and amplitudes that vary.

If the chain leaves the posterior invariant, then alternating one sweep with a draw of the
observations given the rest leaves the joint distribution of everything invariant, so its means are
those of plain draws from the prior (Geweke, 2004).

15,000 plain draws and 30,000 sweeps in 40 batches; |z| < 5 with 39 degrees of freedom is a false
alarm once in 80,000 comparisons; there are 112.
"""

from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.batch_means import N_BATCHES
from scipy.stats import norm

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._laplacian import LaplacianSimilarity

N_STATES, N_FACTORS = 4, 2
PTR = np.array([0, 6, 10])
CONCENTRATION_PRIOR = (2.0, 1.0)
ACTIVITY_PRIOR = (1.5, 1.0)
NOISE_PRIOR = (4.0, 2.0)
DECAY_PRIOR = (2.0, 1.0)
SCALE = 1.2
AMPLITUDE_PRIOR = (4.0, 1.5)
MIXED = np.array([False, True])
MISSING = np.zeros((10, 2), dtype=bool)
MISSING[[2, 7], [0, 1]] = True
N_PLAIN, N_SWEEPS = 15_000, 30_000


def draw_values(rng, states, factors, weights, precisions, variance):
    """Return observations: of a probit column, too, if amplitudes do not vary."""
    deviations = np.sqrt(variance) * rng.standard_normal((len(states), N_FACTORS))
    means = weights[0] + (factors[states] * (1.0 + deviations)) @ weights[1:]
    normal = means + rng.standard_normal(means.shape) / np.sqrt(precisions)
    values = np.where(MIXED & (variance == 0.0), rng.random(means.shape) < norm.cdf(means), normal)
    values[MISSING] = np.nan
    return values


def draw_prior(rng, varying):
    """Return decay, alpha, gamma, beta, states, factors, weights, precisions and tau^2."""

    def draw_gamma(prior):
        return rng.gamma(prior[0], 1.0 / prior[1])

    decay, alpha, gamma = (
        draw_gamma(prior) for prior in (DECAY_PRIOR, CONCENTRATION_PRIOR, CONCENTRATION_PRIOR)
    )
    activities = rng.beta(*ACTIVITY_PRIOR, size=N_FACTORS)
    factors = (rng.random((N_STATES, N_FACTORS)) < activities).astype(np.int8)
    weights = SCALE * rng.standard_normal((N_FACTORS + 1, 2))
    precisions = rng.gamma(NOISE_PRIOR[0], 1.0 / NOISE_PRIOR[1], size=2)
    if not varying:
        precisions[MIXED] = 1.0
    variance = 1.0 / draw_gamma(AMPLITUDE_PRIOR) if varying else 0.0
    beta = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    shapes = np.tile(alpha * beta + 1e-12, (N_STATES + 1, 1))
    # Logs of Gamma draws, which underflow where shapes are small.
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    distances = (factors[:, np.newaxis] != factors).sum(axis=2)
    log_rates[:-1] -= decay * distances
    rates = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    probs = rates / rates.sum(axis=1, keepdims=True)
    states = np.empty(PTR[-1], dtype=int)
    for start, end in pairwise(PTR):
        before = N_STATES
        for t in range(start, end):
            before = states[t] = rng.choice(N_STATES, p=probs[before])
    return decay, alpha, gamma, beta, states, factors, weights, precisions, variance


def statistics(decay, alpha, gamma, beta, states, factors, weights, precisions, variance, values):
    """Return functions of the state that between them see every variable."""
    distances = (factors[:, np.newaxis] != factors).sum(axis=2)
    moved = np.delete(distances[states[:-1], states[1:]], PTR[1] - 1)
    stays = np.delete(states[:-1] == states[1:], PTR[1] - 1)
    on = factors[states]
    used = np.bincount(states, minlength=N_STATES) > 0
    seen = np.nan_to_num(values)
    of_amplitudes = [
        variance, np.log(variance), variance * precisions[1], np.log(precisions[1]),
        variance * weights[1, 0] ** 2, variance * on.mean(), variance * used.sum(),
        variance * (seen**2).clip(max=20.0).mean(),
    ] if variance > 0.0 else []  # fmt: skip
    return [
        *of_amplitudes,
        decay, decay**2, np.log(decay), alpha, np.log(alpha), gamma, np.log(gamma),
        beta[0], beta.max(), (beta**2).sum(), used.sum(), used.sum() ** 2, stays.mean(),
        stays.mean() ** 2, moved.mean(), (moved**2).mean(), decay * moved.mean(),
        alpha * moved.mean(), alpha * used.sum(), decay * used.sum(), decay * alpha,
        *factors.mean(axis=0), (factors[0] == factors[1]).mean(), factors.mean() ** 2,
        factors.prod(axis=1).mean(), distances.mean(), decay * distances.mean(), on.mean(),
        on.mean() ** 2, (on[:-1] == on[1:]).mean(), factors[used].mean(), beta @ factors[:, 0],
        (~used).sum() * factors[~used].sum(), *(weights**2).mean(axis=1),
        *(weights**2).mean(axis=0), *weights.mean(axis=0), weights[1] @ weights[2],
        factors[0] @ weights[1:, 0], factors[0] @ weights[1:, 1],
        (weights[1:].T @ factors.T).std(), precisions[0], precisions[0] ** 2,
        np.log(precisions[0]), precisions[0] * used.sum(), precisions[0] * weights[0, 0] ** 2,
        (seen[:, 0] ** 2).clip(max=20.0).mean(), seen[:, 1].mean(), seen[:, 1].mean() ** 2,
        seen[:, 1] @ on[:, 0],
    ]  # fmt: skip


def start_chain(rng, varying):
    streams = [make_stream(make_seed_sequence(seed)) for seed in range(3)]
    values = draw_values(rng, *draw_prior(rng, varying)[4:])
    emission = BinaryFactorEmission(
        N_FACTORS, output="normal" if varying else ["normal", "probit"], weights_scale=SCALE,
        noise_prior=NOISE_PRIOR, activity_prior=ACTIVITY_PRIOR,
        amplitude_variance="auto" if varying else 0.0, amplitude_prior=AMPLITUDE_PRIOR,
    )  # fmt: skip
    priors = TransitionPriors(None, CONCENTRATION_PRIOR, None, CONCENTRATION_PRIOR, 0.0, (1.0, 1.0))
    return HMMSampler(
        SequencePanel(values, PTR),
        Transitions(N_STATES, priors, streams[0]),
        emission.make_sampler(values, N_STATES),
        streams[1],
        streams[2],
        similarity=LaplacianSimilarity(decay_prior=DECAY_PRIOR).make_sampler(N_STATES),
    )


@pytest.mark.slow
@pytest.mark.parametrize("varying", [False, True])
def test_geweke(varying):
    rng = np.random.default_rng(5)
    plain = []
    for _ in range(N_PLAIN):
        drawn = draw_prior(rng, varying)
        plain.append(statistics(*drawn, draw_values(rng, *drawn[4:])))
    sampler = start_chain(rng, varying)
    chain = []
    for _ in range(N_SWEEPS):
        sampler.sweep()
        emission, transitions = sampler.emission, sampler.transitions
        drawn = (
            sampler.states, emission.factors, emission.weights, emission.precisions,
            emission.amplitude_variance,
        )  # fmt: skip
        values = draw_values(rng, *drawn)
        emission.attach(values)
        known = sampler.similarity.decay, transitions.alpha, transitions.gamma, transitions.weights
        chain.append(statistics(*known, *drawn, values))
    plain, chain = np.array(plain, dtype=float), np.array(chain, dtype=float)
    assert np.isfinite(plain).all()
    batches = chain.reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    error = np.hypot(
        batches.std(axis=0, ddof=1) / np.sqrt(N_BATCHES), plain.std(axis=0) / np.sqrt(N_PLAIN)
    )
    z = (batches.mean(axis=0) - plain.mean(axis=0)) / error
    assert np.abs(z).max() < 5.0, np.round(z, 1)
