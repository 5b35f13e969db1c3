"""Small hidden semi-Markov models, the hard ones among them, and how to ask for their messages."""

from functools import cache

import numpy as np
import pytest
from exact.oracles.hsmm import enumerate_segments

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._hmm._segment_messages import SegmentMessages

INF = np.inf
RNG = np.random.default_rng(0)
"""Generator for the cases only: tests have their own, so that their order does not matter."""


def random_model(rng, n_states, n_steps, longest, spread=3.0, concentration=1.0):
    transmat = rng.dirichlet(np.full(n_states, concentration), n_states) + 1e-300
    transmat[np.diag_indices(n_states)] = 0.0
    return (
        rng.dirichlet(np.full(n_states, concentration)),
        transmat / transmat.sum(axis=1, keepdims=True),
        spread * rng.normal(size=(n_steps, n_states)),
        rng.dirichlet(np.full(longest, concentration), n_states),
    )


def with_holes(model, share=0.3):
    """Make some observations impossible, but not all of any step."""
    log_obs = model[2]
    holes = RNG.random(log_obs.shape) < share
    holes[np.arange(len(log_obs)), RNG.integers(log_obs.shape[1], size=len(log_obs))] = False
    log_obs[holes] = -INF
    return model


def shifted(model, shift):
    """Add a constant to the logarithms of all observations."""
    return *model[:2], model[2] + shift, model[3]


def ring(n_states):
    """Return the transitions of states that follow each other in turn."""
    return np.roll(np.eye(n_states), 1, axis=1)


CASES = {
    "plain": random_model(RNG, 3, 6, 4),
    "two states": random_model(RNG, 2, 6, 3),
    "one step": random_model(RNG, 3, 1, 4),
    "one state": (np.ones(1), np.zeros((1, 1)), RNG.normal(size=(3, 1)), np.full((1, 4), 0.25)),
    "longest of one step": random_model(RNG, 3, 5, 1),
    "longest of two steps": random_model(RNG, 3, 6, 2),
    "longer than the sequence": random_model(RNG, 2, 3, 7),
    "nine states": random_model(RNG, 9, 4, 3),
    "sparse": random_model(RNG, 3, 6, 3, concentration=0.02),
    "far apart": random_model(RNG, 3, 6, 3, spread=1000.0),
    "apart": random_model(RNG, 3, 6, 3, spread=100.0),
    "densities": shifted(random_model(RNG, 3, 5, 3), 700.0),
    "impossible observations": with_holes(random_model(RNG, 3, 6, 3)),
    "impossible observations, far apart": with_holes(random_model(RNG, 3, 6, 4, spread=1000.0)),
    # The first state must last two steps, the second one three: what fits best is forbidden.
    "fixed durations": (
        np.array([0.5, 0.5]), ring(2), 400.0 * RNG.normal(size=(6, 2)),
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ),
    # One state fits all steps, but cannot last so long: another one must come in between.
    "no state lasts": (
        np.array([1.0, 0.0, 0.0]), random_model(RNG, 3, 1, 1)[1],
        np.array([[0.0, -800.0, -2000.0]] * 6), np.array([[0.2, 0.8]] * 3),
    ),
    # A short segment is all but impossible, a long one pays at the end.
    "tiny probabilities of durations": (
        np.array([0.4, 0.6]), ring(2), np.array([[0.0, -300], [-400, 0], [0, -500], [-900, -100]]),
        np.array([[1e-300, 1e-200, 1.0], [1e-250, 1.0, 1e-280]]),
    ),
    "tiny transitions": (
        np.array([1.0, 0.0, 0.0]),
        np.array([[0, 1.0, 1e-300], [1e-300, 0, 1.0], [0.5, 0.5, 0]]),
        np.array([[0, 0, 0], [-1000, -1100, 0], [-1000, 0, 0], [-100, -900, -500], [0, 0, -700.0]]),
        random_model(RNG, 3, 1, 3)[3],
    ),
}  # fmt: skip

every_case = pytest.mark.parametrize("case", CASES)


@cache
def enumerated(case):
    """Return log p(x), and the probability of every sequence of states given x."""
    return enumerate_segments(*CASES[case])


def tables(pmf):
    """Return log P(D = d) and log P(D >= d)."""
    survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        return np.log(pmf), np.log(np.ascontiguousarray(survival))


def arguments(model, ptr=None):
    startprob, transmat, log_obs, pmf = model
    ptr = np.array([0, len(log_obs)] if ptr is None else ptr)
    ptr.flags.writeable = False  # as that of a panel: numba compiles nothing twice
    return ptr, startprob, transmat, np.ascontiguousarray(log_obs), *tables(pmf)


def log_likelihoods(*args):
    steps, sequences = np.full(len(args[3]), np.nan), np.full(len(args[0]) - 1, np.nan)
    SegmentMessages(*args).log_likelihoods(steps, sequences)
    return steps, sequences


def posteriors(*args):
    out = np.full(args[3].shape, np.nan)
    assert SegmentMessages(*args).posteriors(out) == -1
    return out


def sample(*args, seed=0):
    states = np.full(len(args[3]), -1)
    rng = make_stream(make_seed_sequence(seed))
    assert SegmentMessages(*args).sample_states(states, rng) == -1
    return states
