"""Geweke's joint distribution test of logistic and Poisson regressions in hidden Markov models.

Alternating one sweep with a draw of the targets given states and coefficients leaves the joint
distribution of everything invariant, so its means are those of plain draws from the prior.

20,000 plain draws and 24,000 sweeps in 40 batches; |z| < 5 with 39 degrees of freedom is a false
alarm once in 80,000 comparisons; there are 41 for each output.
"""

import numpy as np
import pytest
from exact.oracles.batch_means import N_BATCHES

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions import RegressionEmission
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

N_STATES, ALPHA, GAMMA, KAPPA = 3, 1.5, 2.0, 1.0
PTR = np.array([0, 7, 12])
INPUTS = np.random.default_rng(0).normal(0.5, 1.5, size=(12, 2))
MISSING = [3, 8]
MEAN = np.array([0.4, -0.6, 0.3])  # the intercept last
PRECISION = np.array([[0.6, 0.1, 0.0], [0.1, 0.4, 0.1], [0.0, 0.1, 0.5]])
PRECISIONS = {"bernoulli": PRECISION, "poisson": 6.0 * PRECISION}
N_PLAIN, N_SWEEPS = 20_000, 24_000


def draw_targets(rng, output, states, coefs):
    psi = (np.column_stack([INPUTS, np.ones(12)]) * coefs[states]).sum(axis=1)
    if output == "bernoulli":
        targets = (rng.random(12) < 1.0 / (1.0 + np.exp(-psi))).astype(float)
    else:
        targets = rng.poisson(np.exp(psi)).astype(float)
    targets[MISSING] = np.nan
    return targets


def draw_prior(rng, output):
    """Return states, coefficients and targets."""
    beta = rng.dirichlet(np.full(N_STATES, GAMMA / N_STATES))
    rates = rng.gamma(ALPHA * beta + KAPPA * np.eye(N_STATES + 1, N_STATES)) + 1e-300
    matrix = rates / rates.sum(axis=1, keepdims=True)
    states = np.empty(12, dtype=np.int64)
    for t in range(12):
        row = matrix[N_STATES if t in PTR else states[t - 1]]
        states[t] = rng.choice(N_STATES, p=row)
    root = np.linalg.cholesky(np.linalg.inv(PRECISIONS[output]))
    coefs = MEAN + rng.normal(size=(N_STATES, 3)) @ root.T
    return states, coefs, draw_targets(rng, output, states, coefs)


def summarize(states, coefs, targets):
    own = coefs[states]
    known = np.minimum(np.nan_to_num(targets), 3.0)
    same = states[:, np.newaxis] == states
    return np.concatenate(
        [
            coefs.mean(axis=0), (coefs**2).mean(axis=0), np.abs(coefs[0]),
            known, known[:-1] * known[1:], [same.sum(), len(set(states.tolist()))],
            own[[0, 5]].ravel() ** 2, [np.prod(coefs[0]), (own[:, 0] * known).sum()],
        ]
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("output", PRECISIONS)
def test_joint_distribution(output):
    rng = np.random.default_rng(1)
    plain = np.array([summarize(*draw_prior(rng, output)) for _ in range(N_PLAIN)])
    targets = draw_prior(rng, output)[2]
    values = np.column_stack([targets, INPUTS])
    emission = RegressionEmission(
        0, output=output, coef_prior=[MEAN], coef_precision_prior=PRECISIONS[output]
    )
    streams = [make_stream(make_seed_sequence(i)) for i in range(3)]
    prior = TransitionPriors(GAMMA, (1.0, 1.0), ALPHA, (1.0, 1.0), KAPPA, (1.0, 1.0))
    sampler = HMMSampler(
        SequencePanel(values, PTR), Transitions(N_STATES, prior, streams[0]),
        emission.make_sampler(values, N_STATES), streams[1], streams[2],
    )  # fmt: skip
    root = np.linalg.inv(sampler.emission.prior.precision_root)
    found = []
    for _ in range(N_SWEEPS):
        sampler.sweep()
        drawn = sampler.emission.prior.coefs[0] + sampler.emission.coefs[:, 0] @ root
        coefs = np.roll(drawn, -1, axis=1)
        targets = draw_targets(rng, output, sampler.states, coefs)
        found.append(summarize(sampler.states, coefs, targets))
        sampler.attach(SequencePanel(np.column_stack([targets, INPUTS]), PTR))
    batches = np.array(found).reshape(N_BATCHES, -1, len(found[0])).mean(axis=1)
    error = np.hypot(batches.std(axis=0) / np.sqrt(N_BATCHES - 1), plain.std(axis=0) / N_PLAIN**0.5)
    difference = np.abs(batches.mean(axis=0) - plain.mean(axis=0))
    assert np.all(difference < 5.0 * error + 1e-9), difference / (error + 1e-12)
