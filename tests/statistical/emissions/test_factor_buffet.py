"""Geweke's joint distribution test of binary factors whose number is inferred, with similarities.

A normal and a probit column, everything learned: see `test_binary_factors`.

15,000 plain draws and 30,000 sweeps in 40 batches; |z| < 5 with 39 degrees of freedom is a false
alarm once in 80,000 comparisons; there are 80.
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

N_STATES = 4
PTR = np.array([0, 6, 10])
CONCENTRATION_PRIOR = (2.0, 1.0)
MASS_PRIOR = (3.0, 3.0)
CONCENTRATION = 1.3
NOISE_PRIOR = (4.0, 2.0)
DECAY_PRIOR = (2.0, 1.0)
SCALE = 1.2
MIXED = np.array([False, True])
MISSING = np.zeros((10, 2), dtype=bool)
MISSING[[2, 7], [0, 1]] = True
N_PLAIN, N_SWEEPS = 15_000, 30_000


def draw_values(rng, states, factors, weights, precisions):
    means = weights[0] + factors[states] @ weights[1:]
    normal = means + rng.standard_normal(means.shape) / np.sqrt(precisions)
    values = np.where(MIXED, rng.random(means.shape) < norm.cdf(means), normal)
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


def draw_prior(rng, similar):
    """Return decay, mass, alpha, gamma, beta, states, factors, weights and precisions."""

    def draw_gamma(prior):
        return rng.gamma(prior[0], 1.0 / prior[1])

    decay, mass, alpha, gamma = (
        draw_gamma(prior)
        for prior in (DECAY_PRIOR, MASS_PRIOR, CONCENTRATION_PRIOR, CONCENTRATION_PRIOR)
    )
    factors = draw_buffet(rng, mass)
    weights = SCALE * rng.standard_normal((factors.shape[1] + 1, 2))
    precisions = np.where(MIXED, 1.0, rng.gamma(NOISE_PRIOR[0], 1.0 / NOISE_PRIOR[1], size=2))
    beta = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    shapes = np.tile(alpha * beta + 1e-12, (N_STATES + 1, 1))
    # Logs of Gamma draws, which underflow if shapes are small.
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    if similar:
        log_rates[:-1] -= decay * (factors[:, np.newaxis] != factors).sum(axis=2)
    rates = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    probs = rates / rates.sum(axis=1, keepdims=True)
    states = np.empty(PTR[-1], dtype=int)
    for start, end in pairwise(PTR):
        before = N_STATES
        for t in range(start, end):
            before = states[t] = rng.choice(N_STATES, p=probs[before])
    return decay, mass, alpha, gamma, beta, states, factors, weights, precisions


def statistics(decay, mass, alpha, gamma, beta, states, factors, weights, precisions, values):
    """Return functions of the state that between them see every variable."""
    distances = (factors[:, np.newaxis] != factors).sum(axis=2)
    moved = np.delete(distances[states[:-1], states[1:]], PTR[1] - 1)
    stays = np.delete(states[:-1] == states[1:], PTR[1] - 1)
    on, sums = factors[states].sum(axis=1), factors.sum(axis=0)
    used = np.bincount(states, minlength=N_STATES) > 0
    number, seen = factors.shape[1], np.nan_to_num(values)
    square, means = (weights**2).sum(axis=0), factors @ weights[1:]
    idle_only = np.count_nonzero(factors.any(axis=0) & ~factors[used].any(axis=0))
    return [
        decay, decay**2, np.log(decay), mass, np.log(mass), mass * number, number, number**2,
        number == 0, number == 1, number > 4, alpha, np.log(alpha), gamma, np.log(gamma),
        beta[0], beta.max(), (beta**2).sum(), used.sum(), used.sum() ** 2, stays.mean(),
        moved.mean(), (moved**2).mean(), decay * moved.mean(), decay * number,
        alpha * moved.mean(), number * used.sum(), decay * used.sum(), (sums == 1).sum(),
        (sums == 2).sum(), (sums == N_STATES).sum(), (sums == 1).sum() ** 2, idle_only,
        idle_only * used.sum(), *factors.sum(axis=1), (factors[0] * factors[1]).sum(),
        distances.mean(), decay * distances.mean(), on.mean(), on.mean() ** 2,
        (factors[used].sum()), beta @ factors.sum(axis=1), (~used).sum() * factors[~used].sum(),
        *square, *(square * number), *weights[0], *weights[0] ** 2, *means.mean(axis=0),
        *(means**2).mean(axis=0), *(means[0] * means[1]), *(means**2).std(axis=0),
        *(weights[0] * means[0]), *(used @ means**2), precisions[0], precisions[0] ** 2,
        np.log(precisions[0]), precisions[0] * number, precisions[0] * square[0],
        (seen[:, 0] ** 2).clip(max=20.0).mean(), seen[:, 1].mean(), seen[:, 1].mean() ** 2,
        seen[:, 1] @ on, (seen[:, 0] * on).clip(-20.0, 20.0).mean(),
    ]  # fmt: skip


def start_chain(rng, similar):
    streams = [make_stream(make_seed_sequence(seed)) for seed in range(3)]
    values = draw_values(rng, *draw_prior(rng, similar)[5:])
    emission = BinaryFactorEmission(
        "auto", output=["normal", "probit"], weights_scale=SCALE, noise_prior=NOISE_PRIOR,
        activity_prior=(1.0, CONCENTRATION), mass_prior=MASS_PRIOR,
    )  # fmt: skip
    priors = TransitionPriors(None, CONCENTRATION_PRIOR, None, CONCENTRATION_PRIOR, 0.0, (1.0, 1.0))
    similarity = LaplacianSimilarity(decay_prior=DECAY_PRIOR) if similar else None
    return HMMSampler(
        SequencePanel(values, PTR),
        Transitions(N_STATES, priors, streams[0]),
        emission.make_sampler(values, N_STATES),
        streams[1],
        streams[2],
        similarity=None if similarity is None else similarity.make_sampler(N_STATES),
    )


@pytest.mark.slow
@pytest.mark.parametrize("similar", [False, True])
def test_geweke(similar):
    rng = np.random.default_rng(5)
    plain = []
    for _ in range(N_PLAIN):
        drawn = draw_prior(rng, similar)
        plain.append(statistics(*drawn, draw_values(rng, *drawn[5:])))
    sampler = start_chain(rng, similar)
    chain = []
    for _ in range(N_SWEEPS):
        sampler.sweep()
        emission, transitions = sampler.emission, sampler.transitions
        drawn = sampler.states, emission.factors, emission.weights, emission.precisions
        values = draw_values(rng, *drawn)
        emission.attach(values)
        decay = sampler.similarity.decay if similar else draw_prior(rng, similar)[0]
        known = decay, emission.mass, transitions.alpha, transitions.gamma, transitions.weights
        chain.append(statistics(*known, *drawn, values))
    plain, chain = np.array(plain, dtype=float), np.array(chain, dtype=float)
    assert np.isfinite(plain).all()
    batches = chain.reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    error = np.hypot(
        batches.std(axis=0, ddof=1) / np.sqrt(N_BATCHES), plain.std(axis=0) / np.sqrt(N_PLAIN)
    )
    z = (batches.mean(axis=0) - plain.mean(axis=0)) / error
    assert np.abs(z).max() < 5.0, np.round(z, 1)
