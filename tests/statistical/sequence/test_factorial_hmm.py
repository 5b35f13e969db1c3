"""Geweke's test of the factorial hidden Markov model, everything learned: 53 comparisons."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm
from statistical.geweke import check_joint

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission
from skdp.sequence._factorial._sampler import FactorialSampler, StepFactors
from skdp.sequence._factorial_hmm import FactorialHMM

N_FACTORS = 3
PTR = np.array([0, 6, 7, 10])
START_PRIOR, SWITCH_ON_PRIOR, SWITCH_OFF_PRIOR = (1.5, 1.0), (1.0, 2.5), (0.8, 1.4)
NOISE_PRIOR = (4.0, 2.0)
SCALE = 1.2
PROBIT = np.array([False, True])
MISSING = np.zeros((10, 2), dtype=bool)
MISSING[[2, 7, 7], [0, 0, 1]] = True
N_PLAIN, N_SWEEPS = 15_000, 30_000


def draw_values(rng, bits, weights, precisions):
    means = weights[0] + bits @ weights[1:]
    normal = means + rng.standard_normal(means.shape) / np.sqrt(precisions)
    values = np.where(PROBIT, rng.random(means.shape) < norm.cdf(means), normal)
    values[MISSING] = np.nan
    return values


def draw_prior(rng):
    """Return probabilities to be on, bits, weights and precisions."""
    start, switch_on, switch_off = (
        rng.beta(*prior, size=N_FACTORS)
        for prior in (START_PRIOR, SWITCH_ON_PRIOR, SWITCH_OFF_PRIOR)
    )
    bits = np.empty((PTR[-1], N_FACTORS), dtype=np.int8)
    for begin, end in pairwise(PTR):
        on = start
        for t in range(begin, end):
            bits[t] = rng.random(N_FACTORS) < on
            on = np.where(bits[t], 1.0 - switch_off, switch_on)
    weights = SCALE * rng.standard_normal((N_FACTORS + 1, 2))
    precisions = np.where(PROBIT, 1.0, rng.gamma(NOISE_PRIOR[0], 1.0 / NOISE_PRIOR[1]))
    return np.column_stack([start, switch_on, 1.0 - switch_off]), bits, weights, precisions


def statistics(on_probs, bits, weights, precisions, values):
    """Return functions of the state that between them see every variable."""
    same = np.delete(bits[:-1] == bits[1:], PTR[1:-1] - 1, axis=0)
    both = np.delete(bits[:-1] & bits[1:], PTR[1:-1] - 1, axis=0)
    seen = np.nan_to_num(values)
    return [
        *on_probs.mean(axis=0), *(on_probs**2).mean(axis=0), *np.log(on_probs).mean(axis=0),
        *np.log1p(-on_probs).mean(axis=0), *bits[PTR[:-1]].mean(axis=1), *bits.mean(axis=0),
        bits.mean() ** 2, same.mean(), same.mean() ** 2, both.mean(), both.mean() ** 2,
        (bits[:, 0] & bits[:, 1]).mean(), bits.prod(axis=1).mean(), on_probs[0] @ bits[0],
        on_probs[:, 1] @ same.mean(axis=0), on_probs[:, 2] @ both.mean(axis=0),
        bits[7] @ weights[1:, 0], bits[7] @ weights[1:, 1],
        *(weights**2).mean(axis=1), *(weights**2).mean(axis=0), *weights.mean(axis=0),
        weights[1] @ weights[2], weights[0] @ weights[3], bits[3] @ weights[1:, 0],
        bits[4] @ weights[1:, 1], (bits @ weights[1:, 0]).std(), precisions[0],
        precisions[0] ** 2, np.log(precisions[0]), precisions[0] * bits.mean(),
        precisions[0] * weights[0, 0] ** 2, (seen[:, 0] ** 2).clip(max=20.0).mean(),
        seen[:, 1].mean(), seen[:, 1].mean() ** 2, seen[:, 1] @ bits[:, 0],
        seen[:, 0].clip(-5.0, 5.0) @ bits[:, 1],
    ]  # fmt: skip


def start_chain(rng):
    values = draw_values(rng, *draw_prior(rng)[1:])
    emission = BinaryFactorEmission(
        N_FACTORS, output=["normal", "probit"], weights_scale=SCALE, noise_prior=NOISE_PRIOR
    )
    estimator = FactorialHMM(
        N_FACTORS, start_prior=START_PRIOR, switch_on_prior=SWITCH_ON_PRIOR,
        switch_off_prior=SWITCH_OFF_PRIOR,
    )  # fmt: skip
    streams = [make_stream(make_seed_sequence(seed)) for seed in range(2)]
    return FactorialSampler(
        SequencePanel(values, PTR),
        StepFactors(*emission.check_parts(values, len(values))),
        estimator._priors(len(values)),
        *streams,
        block_size=2,  # and one of the three alone
    )


@pytest.mark.slow
def test_geweke():
    rng = np.random.default_rng(5)
    plain = []
    for _ in range(N_PLAIN):
        drawn = draw_prior(rng)
        plain.append(statistics(*drawn, draw_values(rng, *drawn[1:])))
    sampler = start_chain(rng)
    chain = []
    for _ in range(N_SWEEPS):
        sampler.sweep()
        emission = sampler.emission
        drawn = emission.factors, emission.weights, emission.precisions
        values = draw_values(rng, *drawn)
        emission.attach(values)
        chain.append(statistics(sampler.on_probs, *drawn, values))
    check_joint(plain, chain)
