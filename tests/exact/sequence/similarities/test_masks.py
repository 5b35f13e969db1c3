"""Impossible transitions together with latent similarities, against enumeration of states.

States z are enumerated. Transitions and what similarities depend on, locations or binary vectors,
are drawn from their prior, and p(x, z) is averaged over the draws.
"""

import math
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from exact.oracles.hdp_hmm import Problem, count, draw_prior, log_evidence
from scipy import special, stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions._discrete._categorical import CategoricalSampler
from skdp.sequence import BinaryFactorEmission, GaussianSimilarity, LaplacianSimilarity
from skdp.sequence._hmm._hints import KnownStates, LabeledPanel
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

SYMBOLS = ((0, 0, 1), (1, 1, 0, 0))
NUMBERS = ((0.1, 1.4, 1.3), (0.2, -0.8, 0.9))
NO_RETURN = ((1, 1, 1), (0, 1, 1), (0, 0, 1), (1, 1, 1))
FEW = ((1, 1, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0))
WEIGHTS = ((0.1,), (1.3,), (-0.9,))
PRECISION = 2.0
N_BATCHES = 40
UPPER = np.triu_indices(3, 1)


def draw_locations(problem, decay, n, rng):
    """Return log phi, (n, J, J), and figures of locations; the evidence does not depend on them."""
    locations = rng.normal(size=(n, problem.n_states))
    log_phi = -0.5 * decay * (locations[:, :, None] - locations[:, None]) ** 2
    return log_phi, np.exp(log_phi[:, *UPPER]), lambda z: log_evidence(problem, z)


def draw_vectors(problem, decay, n, rng):
    """Return log phi, figures of binary vectors, and the log density of the observations."""
    shares = rng.beta(1.3, 0.8, size=(n, 1, 2))
    bits = (rng.random((n, problem.n_states, 2)) < shares).astype(float)
    log_phi = -decay * np.abs(bits[:, :, None] - bits[:, None]).sum(axis=3)
    means = WEIGHTS[0][0] + bits @ np.array(WEIGHTS[1:])[:, 0]
    values = np.concatenate(problem.sequences)
    log_obs = stats.norm.logpdf(values, means[:, :, None], PRECISION**-0.5)  # (n, J, T)
    figures = np.column_stack([bits.reshape(n, -1), np.exp(log_phi[:, *UPPER])])
    return log_phi, figures, lambda z: log_obs[:, z, np.arange(len(z))].sum(axis=1)


def expect(problem, draw, n_draws=400_000, chunk=20_000):
    """Return posterior means of pairs of steps in one state and of figures, with their errors."""
    allowed, rng = np.array(problem.allowed), np.random.default_rng(0)
    length = sum(map(len, problem.sequences))
    states = np.array(list(product(range(problem.n_states), repeat=length)))
    known = np.concatenate(problem.known)
    states = states[np.all((known < 0) | (known == states), axis=1)]
    counts = np.array([count(problem, z) for z in states])
    is_possible = (counts * (1 - allowed)).sum(axis=(1, 2)) == 0
    states, counts = states[is_possible], counts[is_possible].reshape(sum(is_possible), -1)
    pairs = (states[:, :, None] == states[:, None]).reshape(len(states), -1)
    sums = []
    for _ in range(n_draws // chunk):
        log_p = draw_prior(replace(problem, allowed=None), chunk, rng)[3]
        log_phi, figures, log_obs = draw(chunk, rng)
        log_p[:, :-1] += log_phi
        with np.errstate(divide="ignore"):
            log_p += np.log(allowed)
        log_p -= special.logsumexp(log_p, axis=2, keepdims=True)
        logs = np.maximum(log_p.reshape(chunk, -1), -700.0) @ counts.T
        joint = np.exp(logs + np.column_stack([np.broadcast_to(log_obs(z), chunk) for z in states]))
        total = joint.sum(axis=1, keepdims=True)
        sums.append(np.concatenate([total, joint @ pairs, total * figures], axis=1).mean(axis=0))
    ratio = np.mean(sums, axis=0) / np.mean(sums, axis=0)[0]
    residuals = np.array(sums) - ratio * np.array(sums)[:, :1]
    errors = residuals.std(axis=0) / np.mean(sums, axis=0)[0] / math.sqrt(len(sums))
    return ratio[1:], errors[1:]


def make_sampler(problem, emission, similarity):
    panel = SequencePanel.from_sequences([np.array(s, float) for s in problem.sequences])
    known = KnownStates(np.concatenate(problem.known), problem.n_states)
    streams = [make_stream(make_seed_sequence(i)) for i in range(3)]
    priors = TransitionPriors(
        problem.gamma, (1.0, 1.0), problem.alpha, (1.0, 1.0), problem.kappa, (1.0, 1.0)
    )
    if emission is None:
        emission = CategoricalSampler(problem.n_states, np.full(2, problem.prior), None)
    else:
        emission = emission.make_sampler(panel.values, problem.n_states)
    allowed = np.array(problem.allowed, dtype=bool)
    return HMMSampler(
        LabeledPanel(panel, known),
        Transitions(problem.n_states, priors, streams[0], allowed=allowed),
        emission,
        streams[1],
        streams[2],
        similarity=similarity.make_sampler(problem.n_states),
    )


def log_phi_of(sampler, decay):
    """Return the similarities of all states, without a mask."""
    if hasattr(sampler.emission, "factors"):
        bits = sampler.emission.factors.astype(float)
        return -decay * np.abs(bits[:, None] - bits).sum(axis=2)
    (locations,) = sampler.similarity.locations
    return -0.5 * decay * (locations[:, None] - locations) ** 2


GAUSSIAN = {
    "no return": Problem(
        SYMBOLS, 3, allowed=NO_RETURN, known=((0, -1, -1), (-1, 1, -1, -1)), alpha=4.0
    ),
    "few": Problem(SYMBOLS, 3, allowed=FEW, known=((-1, 1, -1), (0, -1, -1, -1)), kappa=1.0),
}
LAPLACIAN = {
    "no return": Problem(
        NUMBERS, 3, allowed=NO_RETURN, known=((0, -1, -1), (-1, 1, -1)), alpha=4.0
    ),
    "few": Problem(NUMBERS, 3, allowed=FEW, known=((-1, 1, -1), (0, -1, -1)), kappa=1.0),
}
RUNS = [
    *(("gaussian", name, 3.0) for name in GAUSSIAN),
    *(("laplacian", name, 1.2) for name in LAPLACIAN),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "decay"), RUNS)
def test_posterior(kind, name, decay):
    """|z| < 5 for up to 30 figures a case: a false alarm in 1e-5 cases."""
    if kind == "gaussian":
        problem, draw, emission = GAUSSIAN[name], draw_locations, None
        similarity = GaussianSimilarity(1, decay)
    else:
        problem, draw = LAPLACIAN[name], draw_vectors
        emission = BinaryFactorEmission(
            2, weights=WEIGHTS, noise_variance=1.0 / PRECISION, activity_prior=(1.3, 0.8)
        )
        similarity = LaplacianSimilarity(decay)
    expected, errors = expect(problem, partial(draw, problem, decay))
    sampler = make_sampler(problem, emission, similarity)
    draws = []
    for i in range(32_000):
        sampler.sweep()
        if i >= 2_000:
            same = (sampler.states[:, None] == sampler.states).ravel()
            own = [sampler.emission.factors.ravel()] if emission is not None else []
            phi = np.exp(log_phi_of(sampler, decay)[UPPER])
            draws.append(np.concatenate([same, *own, phi]))
    batches = np.reshape(draws, (N_BATCHES, -1, len(draws[0]))).mean(axis=1)
    errors = np.hypot(batches.std(axis=0) / math.sqrt(N_BATCHES - 1), errors)
    difference = np.abs(batches.mean(axis=0) - expected)
    assert np.all(difference < 5.0 * errors + 1e-9), difference / (errors + 1e-12)
