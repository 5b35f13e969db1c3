"""Geweke's joint distribution test of chains whose similarities come from the observations.

If the chain leaves the posterior invariant, then alternating one sweep with a draw of the
observations given states and their parameters leaves the joint distribution of everything
invariant, so its means are those of plain draws from the prior (Geweke, 2004).
"""

from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.batch_means import N_BATCHES
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions import GaussianEmission
from skdp.emissions._gaussian._sampler import ScalePrior
from skdp.sequence import EmissionSimilarity, PoissonDuration
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

LENGTHS = (6, 1, 5)
N_STATES, N_COLUMNS, LONGEST = 3, 2, 4
PRECISION, FREEDOM, LOWEST = 0.5, 12.0, 1e-4
MEAN, SCALE = np.array([0.2, -0.1]), np.array([[8.0, 2.0], [2.0, 6.0]])
DECAY_PRIOR, MEAN_DURATION = (2.0, 1.0), (2.0, 1.0)
STICKY = TransitionPriors(None, (3.0, 1.0), None, (3.0, 1.5), None, (2.0, 2.0))
SEMI = TransitionPriors(None, (20.0, 2.0), None, (12.0, 2.0), 0.0, (1.0, 1.0))
N_PRIOR, N_SWEEPS, N_DROPPED = 20_000, 30_000, 200
PTR = np.concatenate([[0], np.cumsum(LENGTHS)])
INNER = np.setdiff1d(np.arange(PTR[-1]), PTR)  # steps that are not the first
NAMES = (
    "gamma", "alpha", "kappa", "decay", "phi", "largest weight", "states",
    "transitions to the same state", "phi of transitions", "mu^2", "distance of means",
    "log det", "x^2 in the mean", "decay of transitions to others", "duration",
)  # fmt: skip


def make_panel(values):
    return SequencePanel.from_sequences([values[a:b] for a, b in pairwise(PTR)])


def log_affinities(means, covariances):
    out = np.zeros((N_STATES, N_STATES))
    for j in range(N_STATES):
        for k in range(N_STATES):
            mean, away = 0.5 * (covariances[j] + covariances[k]), means[j] - means[k]
            logs = [np.linalg.slogdet(x)[1] for x in (covariances[j], covariances[k], mean)]
            square = away @ np.linalg.solve(mean, away)
            out[j, k] = 0.25 * (logs[0] + logs[1]) - 0.5 * logs[2] - 0.125 * square
    return out


def distances_of(metric, means, covariances):
    logs = np.minimum(log_affinities(means, covariances), 0.0)
    return -logs if metric == "bhattacharyya" else np.sqrt(1.0 - np.exp(logs))


def figures(
    gamma, alpha, kappa, decay, distances, weights, states, means, covariances, values, omega
):
    """Return what is compared; omega is the mean of the durations' parameters."""
    phi = np.exp(-decay * distances)
    before, after = states[INNER - 1], states[INNER]
    away = np.linalg.norm(means[0] - means[1])
    return (
        gamma, alpha, kappa, decay, phi[0, 1], weights.max(), len(np.unique(states)),
        np.mean(before == after), phi[before, after].mean(), np.arctan(np.sum(means**2) / 10.0),
        np.arctan(away), np.linalg.slogdet(covariances[0])[1],
        np.arctan(np.mean(values**2) / 5.0), decay * np.mean(before != after), omega,
    )  # fmt: skip


def draw_values(means, covariances, states, rng):
    roots = np.linalg.cholesky(covariances)[states]
    noise = rng.normal(size=(len(states), N_COLUMNS))
    return means[states] + np.einsum("tde,te->td", roots, noise)


def draw_scale(rng):
    """Return a scale, given that its Q is not cut off."""
    while True:
        scale = stats.wishart(N_COLUMNS, SCALE / N_COLUMNS).rvs(random_state=rng)
        if np.trace(np.linalg.solve(scale, SCALE)) * LOWEST <= N_COLUMNS:
            return scale


def draw_prior(metric, is_semi, is_scale_drawn, rng):
    """Draw everything from the model; return the figures."""
    priors = SEMI if is_semi else STICKY
    shape, rate = priors.top_concentration_prior
    gamma = rng.gamma(shape, 1.0 / rate)
    shape, rate = priors.transition_concentration_prior
    mass = rng.gamma(shape, 1.0 / rate)
    share = 0.0 if is_semi else rng.beta(*priors.stickiness_prior)
    alpha, kappa = mass * (1.0 - share), mass * share
    weights = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    decay = rng.gamma(DECAY_PRIOR[0], 1.0 / DECAY_PRIOR[1])
    scale = draw_scale(rng) if is_scale_drawn else SCALE
    covariances = np.atleast_3d(stats.invwishart(FREEDOM, scale).rvs(N_STATES, random_state=rng))
    roots = np.linalg.cholesky(covariances / PRECISION)
    means = MEAN + np.einsum("jde,je->jd", roots, rng.normal(size=(N_STATES, N_COLUMNS)))
    distances = distances_of(metric, means, covariances)
    shapes = np.maximum(alpha * weights + np.vstack([kappa * np.eye(N_STATES), np.zeros(3)]), 1e-12)
    # A Gamma number of shape a is one of shape a + 1, times U^(1/a).
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    log_rates[:-1] -= decay * distances
    if is_semi:
        np.fill_diagonal(log_rates[:-1], -np.inf)
    p = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    omegas = rng.gamma(MEAN_DURATION[0], 1.0 / MEAN_DURATION[1], N_STATES)
    states = np.empty(PTR[-1], dtype=int)
    for begin, end in pairwise(PTR):
        row, t = N_STATES, begin
        while t < end:
            row = rng.choice(N_STATES, p=p[row])
            after = t + (min(1 + rng.poisson(omegas[row]), LONGEST) if is_semi else 1)
            states[t : min(after, end)] = row
            t = after
    values = draw_values(means, covariances, states, rng)
    omega = omegas.mean() if is_semi else 0.0
    return figures(
        gamma, alpha, kappa, decay, distances, weights, states, means, covariances, values, omega
    )


def draw_chain(metric, is_semi, is_scale_drawn, rng):
    """Return figures of the chain that draws observations, too; the first sweeps are dropped."""
    values = rng.normal(size=(PTR[-1], N_COLUMNS))
    streams = [make_stream(make_seed_sequence(i)) for i in range(3)]
    emission = GaussianEmission(
        mean_prior=MEAN, mean_precision_prior=PRECISION, degrees_of_freedom_prior=FREEDOM,
        covariance_prior=SCALE,
    )  # fmt: skip
    sampler = emission.make_sampler(values, N_STATES)
    if is_scale_drawn:
        sampler.scale_prior = ScalePrior.about(
            SCALE[np.newaxis], np.ones((1, N_COLUMNS), bool), sampler.prior.dof
        )
    similarity = EmissionSimilarity(metric, decay_prior=DECAY_PRIOR).make_sampler(N_STATES)
    duration = None
    if is_semi:
        duration = PoissonDuration(*MEAN_DURATION, LONGEST).make_sampler(N_STATES)
    gibbs = HMMSampler(
        make_panel(values),
        Transitions(
            N_STATES, SEMI if is_semi else STICKY, streams[0], self_transitions=not is_semi
        ),
        sampler,
        streams[1],
        streams[2],
        similarity=similarity,
        duration=duration,
    )
    draws = []
    for i in range(N_DROPPED + N_SWEEPS):
        gibbs.sweep()
        known = gibbs.emission.known_model(gibbs.emission.parameters())
        values = draw_values(known.means, known.covariances, gibbs.states, rng)
        gibbs.attach(make_panel(values))
        if i >= N_DROPPED:
            part = gibbs.transitions
            omega = np.exp(duration.log_means).mean() if is_semi else 0.0
            draws.append(
                figures(
                    part.gamma, part.alpha, part.kappa, similarity.decay, similarity.distances,
                    part.weights, gibbs.states, known.means, known.covariances, values, omega,
                )
            )  # fmt: skip
    return np.array(draws)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "is_semi", "is_scale_drawn"),
    [("hellinger", True, False), ("bhattacharyya", False, True), ("hellinger", False, False)],
)
def test_joint_distribution(metric, is_semi, is_scale_drawn):
    """|z| < 5 with about 39 degrees of freedom, 15 figures: a false alarm for one seed in 5,000."""
    rng = np.random.default_rng(0)
    prior = np.array([draw_prior(metric, is_semi, is_scale_drawn, rng) for _ in range(N_PRIOR)])
    chain = draw_chain(metric, is_semi, is_scale_drawn, rng)
    means = chain.reshape(N_BATCHES, -1, len(NAMES)).mean(axis=1)
    error = np.hypot(means.std(axis=0, ddof=1) / N_BATCHES**0.5, prior.std(axis=0) / N_PRIOR**0.5)
    z = (means.mean(axis=0) - prior.mean(axis=0)) / np.maximum(error, 1e-12)
    assert np.all(np.abs(z) < 5.0), dict(zip(NAMES, np.round(z, 1), strict=True))
