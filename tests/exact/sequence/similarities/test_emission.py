"""Similarities that come from the observations of states, against sums and integrals."""

from functools import partial

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from exact.oracles.emission_similarity import (
    BITS,
    COUNTS,
    Problem,
    bhattacharyya,
    expect,
    figures,
    hellinger,
)

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    PoissonEmission,
)
from skdp.sequence import EmissionSimilarity
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._split_merge import StateSplitMerge
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

ONE = ((0, 0, 1, 1, 0, 1),)
TWO = ((0, 1, 1), (1, 0, 0))
FEW = ((0, 3, 4), (5, 0, 1))

CASES = {
    "bits": Problem(ONE, BITS),
    "bits, bhattacharyya": Problem(TWO, BITS, bhattacharyya),
    "bits, far": Problem(TWO, BITS, decay=6.0, alpha=4.0),
    "bits, sticky": Problem(TWO, BITS, kappa=1.5, decay_prior=(3.0, 0.5)),
    "symbols": Problem(TWO, BITS, concentration_prior=(3.0, 1.0), decay_prior=(3.0, 0.5)),
    "symbols, far": Problem(ONE, BITS, bhattacharyya, 5.0, concentration_prior=(2.0, 1.0)),
    "counts": Problem(FEW, COUNTS, prior=(1.5, 0.7)),
    "bits, no return": Problem(TWO, BITS, decay=3.0, alpha=4.0, allowed=((1, 1), (0, 1), (1, 1))),
    "bits, no stay": Problem(TWO, BITS, kappa=1.0, allowed=((1, 1), (1, 0), (1, 0))),
    "counts, bhattacharyya": Problem(FEW, COUNTS, bhattacharyya, 2.0, prior=(1.5, 0.7)),
}
APART = Problem(((0, 1, 0), (0, 1, 1)), BITS, decay=20.0, alpha=10.0, gamma=4.0, prior=(0.3, 0.3))
NAMES = {hellinger: "hellinger", bhattacharyya: "bhattacharyya"}
N_SWEEPS = 24_000


def make_emission(problem):
    if problem.kind is COUNTS:
        return PoissonEmission(*problem.prior)
    if problem.concentration_prior is not None:
        return CategoricalEmission(2, concentration_prior=problem.concentration_prior)
    return BernoulliEmission(problem.prior)


def theta_of(problem, emission):
    if problem.kind is COUNTS:
        return np.exp(emission.log_intensities[:, 0])
    return np.exp(emission.log_probs[1])


def make_chain_sampler(problem, seed):
    panel = SequencePanel.from_sequences([np.array(s, float) for s in problem.sequences])
    streams = [make_stream(make_seed_sequence(seed + i)) for i in range(3)]
    priors = TransitionPriors(
        problem.gamma, (1.0, 1.0), problem.alpha, (1.0, 1.0), problem.kappa, (1.0, 1.0)
    )
    allowed = np.array(problem.allowed, dtype=bool)
    decay = "auto" if problem.decay is None else problem.decay
    similarity = EmissionSimilarity(NAMES[problem.metric], decay, problem.decay_prior)
    return HMMSampler(
        panel,
        Transitions(2, priors, streams[0], allowed=None if allowed.all() else allowed),
        make_emission(problem).make_sampler(panel.values, 2),
        streams[1],
        streams[2],
        similarity=similarity.make_sampler(2),
    ), panel


def record(problem, sampler):
    theta = theta_of(problem, sampler.emission)
    log_a = np.log(sampler.emission.concentration) if problem.concentration_prior else 0.0
    phi = np.exp(sampler.transitions.log_similarity[0, 1])
    return figures(sampler.states, *theta, sampler.similarity.decay, phi, log_a)


def check(problem, n_sweeps, seed=0, sweep=None):
    sampler, panel = make_chain_sampler(problem, seed)
    draws = []
    for _ in range(n_sweeps):
        if sweep is None:
            sampler.sweep()
        else:
            sweep(sampler, panel)
        draws.append(record(problem, sampler))
    assert_means(draws, expect(problem))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    """|z| < 5 for 23 figures a case: a false alarm in 1e-5 cases."""
    check(CASES[case], N_SWEEPS)


@pytest.mark.parametrize("case", ["bits", "bits, far", "counts, bhattacharyya"])
def test_posterior_in_short(case):
    """|z| < 5 for 23 figures a case: a false alarm in 1e-5 cases."""
    check(CASES[case], 6_000)


def sweep_by_moves(sampler, panel, n_moves=1):
    """Do what a sweep does, but draw states by splits and merges alone."""
    moved = False
    for _ in range(n_moves):
        sampler.emission.complete(sampler.states, sampler.stream)
        moved |= StateSplitMerge(
            panel.ptr, sampler.states, sampler.transitions, sampler.emission, sampler.stream,
            sampler.similarity,
        ).try_once()  # fmt: skip
    sampler._draw_parameters(sampler.stream, rates_known=not moved)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["bits, far", "bits, no return", "symbols", "counts"])
def test_posterior_by_splits_and_merges(case):
    """|z| < 5 for 23 figures a case: a false alarm in 1e-5 cases."""
    check(CASES[case], N_SWEEPS, sweep=sweep_by_moves)


@pytest.mark.slow
def test_posterior_by_many_splits_and_merges():
    """|z| < 5 for 23 figures: a false alarm in 1e-5 cases.

    Parameters mostly come from proposals of moves, and similarities are informative about states.
    """
    check(APART, 8_000, sweep=partial(sweep_by_moves, n_moves=5))


def test_split_states_have_parameters_of_their_own_steps():
    """The similarity of two states does not determine which parameters belong to which state."""
    problem = Problem(((0, 1, 2, 1, 990, 1010, 1000, 1000) * 3,), COUNTS, prior=(1.5, 0.01))
    sampler, panel = make_chain_sampler(problem, 0)
    n_splits = 0
    for _ in range(200):
        sampler.states[:] = 0
        if StateSplitMerge(
            panel.ptr, sampler.states, sampler.transitions, sampler.emission, sampler.stream,
            sampler.similarity,
        ).try_once():  # fmt: skip
            n_splits += 1
            theta = theta_of(problem, sampler.emission)
            for j in (0, 1):
                own = panel.values[sampler.states == j].mean()
                assert abs(theta[j] - own) < 2.0 + 0.1 * own
    assert n_splits > 10
