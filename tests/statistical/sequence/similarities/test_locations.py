"""Geweke's joint distribution test of a chain with locations, decay and all concentrations.

If the chain leaves the posterior invariant, then alternating one sweep with a draw of the
observations given states and their parameters leaves the joint distribution of everything
invariant, so its means are those of plain draws from the prior (Geweke, 2004).
"""

from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.batch_means import N_BATCHES

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions._discrete._categorical import CategoricalSampler
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._gaussian import N_ADAPTING, GaussianSimilaritySampler

LENGTHS = (6, 1, 5)
N_STATES, N_SYMBOLS, N_DIMS = 3, 2, 2
THETA_PRIOR = np.array([0.6, 0.4])
DECAY_PRIOR = (2.0, 2.0)
PRIORS = TransitionPriors(None, (3.0, 1.0), None, (3.0, 1.5), None, (2.0, 2.0))
N_PRIOR, N_SWEEPS = 20_000, 40_000
PTR = np.concatenate([[0], np.cumsum(LENGTHS)])
INNER = np.setdiff1d(np.arange(PTR[-1]), PTR)  # steps that are not the first
NAMES = (
    "gamma", "alpha", "kappa", "decay", "sqrt decay", "l^2", "phi", "largest weight", "states",
    "transitions to the same state", "steps at the first symbol", "phi of transitions",
)  # fmt: skip


def make_panel(symbols):
    return SequencePanel.from_sequences([symbols[a:b].astype(float) for a, b in pairwise(PTR)])


def figures(gamma, alpha, kappa, decay, locations, weights, states, symbols):
    """Return what is compared, of `locations` (J, D)."""
    squares = np.sum((locations[:, None] - locations) ** 2, axis=2)
    phi = np.exp(-0.5 * decay * squares)
    before, after = states[INNER - 1], states[INNER]
    return (
        gamma, alpha, kappa, decay, np.sqrt(decay), np.sum(locations**2), phi[0, 1],
        weights.max(), len(np.unique(states)), np.mean(before == after), np.mean(symbols == 0),
        phi[before, after].mean(),
    )  # fmt: skip


def draw_prior(rng):
    """Draw everything from the model; return the figures."""
    shape, rate = PRIORS.top_concentration_prior
    gamma = rng.gamma(shape, 1.0 / rate)
    shape, rate = PRIORS.transition_concentration_prior
    mass, share = rng.gamma(shape, 1.0 / rate), rng.beta(*PRIORS.stickiness_prior)
    alpha, kappa = mass * (1.0 - share), mass * share
    weights = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    decay = rng.gamma(DECAY_PRIOR[0], 1.0 / DECAY_PRIOR[1])
    locations = rng.normal(size=(N_STATES, N_DIMS))
    squares = np.sum((locations[:, None] - locations) ** 2, axis=2)
    shapes = np.maximum(alpha * weights + np.vstack([kappa * np.eye(N_STATES), np.zeros(3)]), 1e-12)
    # A Gamma number of shape a is one of shape a + 1, times U^(1/a).
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    log_rates[:-1] -= 0.5 * decay * squares
    p = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    ends = np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)
    ends[:, -1] = 1.0
    states = np.empty(PTR[-1], dtype=int)
    for t in range(len(states)):
        row = N_STATES if t in PTR else states[t - 1]
        states[t] = np.searchsorted(ends[row], rng.random())
    theta = rng.dirichlet(THETA_PRIOR, size=N_STATES)
    symbols = draw_symbols(rng, theta, states)
    return figures(gamma, alpha, kappa, decay, locations, weights, states, symbols)


def draw_symbols(rng, theta, states):
    return (rng.random(len(states)) >= theta[states, 0]).astype(int)


def draw_chain(rng, n_sweeps):
    """Return figures of the chain that draws observations, too; the first sweeps are dropped."""
    symbols = rng.integers(N_SYMBOLS, size=PTR[-1])
    streams = [make_stream(make_seed_sequence(i)) for i in range(3)]
    sampler = HMMSampler(
        make_panel(symbols),
        Transitions(N_STATES, PRIORS, streams[0]),
        CategoricalSampler(N_STATES, THETA_PRIOR),
        streams[1],
        streams[2],
        similarity=GaussianSimilaritySampler(N_STATES, N_DIMS, None, DECAY_PRIOR),
    )
    draws = []
    for i in range(N_ADAPTING + n_sweeps):
        sampler.sweep()
        theta = np.exp(sampler.emission.log_probs.T)
        symbols = draw_symbols(rng, theta, sampler.states)
        sampler.attach(make_panel(symbols))
        if i >= N_ADAPTING:
            parts = sampler.transitions, sampler.similarity
            draws.append(
                figures(
                    parts[0].gamma, parts[0].alpha, parts[0].kappa, parts[1].decay,
                    parts[1].locations.T, parts[0].weights, sampler.states, symbols,
                )
            )  # fmt: skip
    return np.array(draws)


@pytest.mark.slow
def test_joint_distribution():
    """|z| < 5 with about 39 degrees of freedom, 12 figures: a false alarm for one seed in 6,000."""
    rng = np.random.default_rng(0)
    prior = np.array([draw_prior(rng) for _ in range(N_PRIOR)])
    chain = draw_chain(rng, N_SWEEPS)
    means = chain.reshape(N_BATCHES, -1, len(NAMES)).mean(axis=1)
    error = np.hypot(means.std(axis=0, ddof=1) / N_BATCHES**0.5, prior.std(axis=0) / N_PRIOR**0.5)
    z = (means.mean(axis=0) - prior.mean(axis=0)) / error
    assert np.all(np.abs(z) < 5.0), dict(zip(NAMES, np.round(z, 1), strict=True))
