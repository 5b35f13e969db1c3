"""Geweke's joint distribution test of chains over segments, whose last one is cut off.

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
from skdp.sequence import NegativeBinomialDuration, PoissonDuration
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._gaussian import N_ADAPTING, GaussianSimilaritySampler

LENGTHS = (7, 1, 6)
N_STATES, N_SYMBOLS, N_DIMS, LONGEST = 3, 2, 2, 4
THETA_PRIOR = np.array([0.6, 0.4])
DECAY_PRIOR = (2.0, 2.0)
PRIORS = TransitionPriors(None, (20.0, 2.0), None, (12.0, 2.0), 0.0, (1.0, 1.0))
"""They keep top-level weights off the edge: where one is near 1 the chain stays for many batches,
and their means no longer tell the error."""
N_PRIOR, N_SWEEPS = 20_000, 40_000
PTR = np.concatenate([[0], np.cumsum(LENGTHS)])
NAMES = (
    "gamma", "alpha", "decay", "largest weight", "states", "segments", "cut-off length",
    "first length", "steps at the first symbol", "parameter", "exp(-parameter)",
    "parameter of the first state", "its time", "parameter of first segments",
    "their length", "parameter times segments", "phi of changes",
)  # fmt: skip
DURATIONS = {
    "poisson": PoissonDuration(2.0, 1.0, LONGEST),
    "negative binomial": NegativeBinomialDuration(2, (2.0, 3.0), LONGEST),
}


def make_panel(symbols):
    return SequencePanel.from_sequences([symbols[a:b].astype(float) for a, b in pairwise(PTR)])


def figures(gamma, alpha, decay, locations, weights, parameters, states, symbols):
    """Return what is compared; `locations` (J, D) or None, `parameters` omega or p."""
    lengths = []  # of the segments of each sequence
    for begin, end in pairwise(PTR):
        changes = np.flatnonzero(np.diff(states[begin:end])) + 1
        lengths.append(np.diff([0, *changes, end - begin]))
    n_segments = sum(map(len, lengths))
    firsts = states[PTR[:-1]]
    phi = 0.0
    if locations is not None:
        squares = np.sum((locations[:, None] - locations) ** 2, axis=2)
        inner = np.setdiff1d(np.arange(PTR[-1]), PTR)
        phi = np.exp(-0.5 * decay * squares)[states[inner - 1], states[inner]].mean()
    first = np.array([x[0] for x in lengths])
    return (
        gamma, alpha, decay, weights.max(), len(np.unique(states)), n_segments,
        np.mean([x[-1] for x in lengths]), first[0], np.mean(symbols == 0), parameters.mean(),
        np.exp(-parameters).mean(), parameters[0], np.mean(states == 0),
        parameters[firsts].mean(), first @ parameters[firsts], parameters.mean() * n_segments, phi,
    )  # fmt: skip


def draw_parameters(duration, rng):
    if isinstance(duration, PoissonDuration):
        return rng.gamma(duration.shape, 1.0 / duration.rate, N_STATES)
    return rng.beta(*duration.prior, N_STATES)


def draw_duration(duration, parameter, rng):
    if isinstance(duration, PoissonDuration):
        extra = rng.poisson(parameter)
    else:
        extra = rng.negative_binomial(duration.n_phases, 1.0 - parameter)
    return min(1 + extra, LONGEST)


def draw_prior(duration, has_locations, rng):
    """Draw everything from the model; return the figures."""
    shape, rate = PRIORS.top_concentration_prior
    gamma = rng.gamma(shape, 1.0 / rate)
    shape, rate = PRIORS.transition_concentration_prior
    alpha = rng.gamma(shape, 1.0 / rate)
    weights = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    shapes = np.maximum(np.tile(alpha * weights, (N_STATES + 1, 1)), 1e-12)
    # A Gamma number of shape a is one of shape a + 1, times U^(1/a).
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    decay, locations = 0.0, None
    if has_locations:
        decay = rng.gamma(DECAY_PRIOR[0], 1.0 / DECAY_PRIOR[1])
        locations = rng.normal(size=(N_STATES, N_DIMS))
        squares = np.sum((locations[:, None] - locations) ** 2, axis=2)
        log_rates[:-1] -= 0.5 * decay * squares
    np.fill_diagonal(log_rates[:-1], -np.inf)
    p = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    parameters = draw_parameters(duration, rng)
    states = np.empty(PTR[-1], dtype=int)
    for begin, end in pairwise(PTR):
        row, t = N_STATES, begin
        while t < end:
            row = rng.choice(N_STATES, p=p[row])
            after = t + draw_duration(duration, parameters[row], rng)
            states[t : min(after, end)] = row
            t = after
    theta = rng.dirichlet(THETA_PRIOR, size=N_STATES)
    symbols = draw_symbols(rng, theta, states)
    return figures(gamma, alpha, decay, locations, weights, parameters, states, symbols)


def draw_symbols(rng, theta, states):
    return (rng.random(len(states)) >= theta[states, 0]).astype(int)


def draw_chain(duration, has_locations, rng):
    """Return figures of the chain that draws observations, too; the first sweeps are dropped."""
    symbols = rng.integers(N_SYMBOLS, size=PTR[-1])
    streams = [make_stream(make_seed_sequence(i)) for i in range(3)]
    similarity = None
    if has_locations:
        similarity = GaussianSimilaritySampler(N_STATES, N_DIMS, None, DECAY_PRIOR)
    sampler = HMMSampler(
        make_panel(symbols),
        Transitions(N_STATES, PRIORS, streams[0], self_transitions=False),
        CategoricalSampler(N_STATES, THETA_PRIOR),
        streams[1],
        streams[2],
        similarity=similarity,
        duration=duration.make_sampler(N_STATES),
    )
    draws = []
    for i in range(N_ADAPTING + N_SWEEPS):
        sampler.sweep()
        theta = np.exp(sampler.emission.log_probs.T)
        symbols = draw_symbols(rng, theta, sampler.states)
        sampler.attach(make_panel(symbols))
        if i < N_ADAPTING:
            continue
        part = sampler.duration
        parameters = np.exp(part.log_means if hasattr(part, "log_means") else part.log_p)
        known = (similarity.decay, similarity.locations.T) if has_locations else (0.0, None)
        transitions = sampler.transitions
        draws.append(
            figures(
                transitions.gamma, transitions.alpha, *known, transitions.weights, parameters,
                sampler.states, symbols,
            )
        )  # fmt: skip
    return np.array(draws)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "has_locations"), [("poisson", False), ("negative binomial", False), ("poisson", True)]
)
def test_joint_distribution(name, has_locations):
    """|z| < 5, about 39 degrees of freedom, 17 figures a case: a false alarm in 2e-4 seeds."""
    duration = DURATIONS[name]
    rng = np.random.default_rng(0)
    prior = np.array([draw_prior(duration, has_locations, rng) for _ in range(N_PRIOR)])
    chain = draw_chain(duration, has_locations, rng)
    means = chain.reshape(N_BATCHES, -1, len(NAMES)).mean(axis=1)
    error = np.hypot(means.std(axis=0, ddof=1) / N_BATCHES**0.5, prior.std(axis=0) / N_PRIOR**0.5)
    z = (means.mean(axis=0) - prior.mean(axis=0)) / np.maximum(error, 1e-12)
    assert np.all(np.abs(z) < 5.0), dict(zip(NAMES, np.round(z, 1), strict=True))
