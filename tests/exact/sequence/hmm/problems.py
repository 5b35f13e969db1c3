"""Small hidden Markov and semi-Markov models, the hard ones among them, and their messages.

Without `pmf`, the probabilities of durations, states may follow themselves."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._durations._families import PoissonDurationModel
from skdp.sequence._hmm._messages import HMMMessages, SegmentMessages
from skdp.sequence._hmm._model import HMMModel

INF = np.inf
RNG = np.random.default_rng(0)
"""Generator for the cases only: tests have their own, so that their order does not matter."""


class Model(NamedTuple):
    startprob: np.ndarray
    transmat: np.ndarray
    log_obs: np.ndarray
    pmf: np.ndarray | None = None

    @property
    def n_states(self):
        return len(self.startprob)


def random_model(rng, n_states, n_steps, longest=None, spread=3.0, concentration=1.0):
    transmat, pmf = rng.dirichlet(np.full(n_states, concentration), n_states) + 1e-300, None
    if longest is not None:
        transmat[np.diag_indices(n_states)] = 0.0
        pmf = rng.dirichlet(np.full(longest, concentration), n_states)
    return Model(
        rng.dirichlet(np.full(n_states, concentration)),
        transmat / transmat.sum(axis=1, keepdims=True),
        spread * rng.normal(size=(n_steps, n_states)),
        pmf,
    )


def with_holes(model, share=0.3):
    """Make some observations impossible, but not all of any step."""
    log_obs = model.log_obs.copy()
    holes = RNG.random(log_obs.shape) < share
    holes[np.arange(len(log_obs)), RNG.integers(log_obs.shape[1], size=len(log_obs))] = False
    log_obs[holes] = -INF
    return model._replace(log_obs=log_obs)


def shifted(model):
    """Add a constant to the logarithms of all observations."""
    return model._replace(log_obs=model.log_obs + 700.0)


def ring(n_states):
    """Return the transitions of states that follow each other in turn."""
    return np.roll(np.eye(n_states), 1, axis=1)


def left_to_right(log_obs):
    """Three states that are never entered again once left."""
    transmat = np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1.0]])
    return Model(np.array([1.0, 0, 0]), transmat, np.array(log_obs))


PLAIN = {
    "plain": random_model(RNG, 3, 6),
    "two states": random_model(RNG, 2, 9),
    "one step": random_model(RNG, 4, 1),
    "one state": Model(np.ones(1), np.ones((1, 1)), RNG.normal(size=(5, 1))),
    "nine states": random_model(RNG, 9, 4),
    "seventeen states": random_model(RNG, 17, 3),
    "sparse": random_model(RNG, 3, 6, concentration=1e-3),
    "far apart": random_model(RNG, 3, 6, spread=1000.0),
    "densities": shifted(random_model(RNG, 3, 5)),
    "impossible observations": random_model(RNG, 3, 4)._replace(
        log_obs=np.array([[0, -INF, -INF], [-INF, 0, 1], [0, 0, -INF], [-INF, -INF, 0]])
    ),
    "left to right": left_to_right(RNG.normal(size=(6, 3))),
    # Whoever stays in the first states pays for it at the end, 5000 nats at once or step by step:
    # the best path leaves through probabilities that 64 bits cannot hold.
    "left to right, late": left_to_right(
        [[0.0, 0, 0], [0, -2000, 0], [0, -2000, 0], [0, -1000, 0], [-9999, -9999, 0]]
    ),
    "left to right, step by step": left_to_right(
        [[0.0, 0, 0], [0, -400, 0], [-300, 0, 0], [-300, 0, 0], [-300, 0, 0]]
    ),
    # A prediction is the smallest of all numbers, and its inverse infinite.
    "left to right, far apart": left_to_right(
        [[0.0, -720, -1440]] * 3 + [[-1440, -720, 0]] * 3
    ),
    # All paths but one end in an impossible state; the one is e^-3000 at first.
    "a way out": Model(
        np.array([0.5, 0.5]), np.eye(2),
        np.array([[0.0, -1000], [0, -1000], [0, -1000], [-INF, 0], [0, 0]]),
    ),
    "a narrow way out": Model(
        np.array([1.0, 1e-150]), np.eye(2), np.array([[0.0, -1000], [-INF, 0], [0, 0]])
    ),
    "the likeliest is unreachable": Model(
        np.array([0.5, 0.5, 0.0]), np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0, 0, 1.0]]),
        np.array([[-5000.0, -5001, 0], [-4000, -7000, 0], [-800, -3, 0]]),
    ),
    "tiny transition": Model(
        np.array([1.0, 0.0]), np.array([[1.0, 1e-300], [1e-300, 1.0]]),
        np.array([[0.0, 0], [-1000, 0], [-1000, 0], [-100, -900]]),
    ),
}  # fmt: skip
SEGMENTS = {
    "plain": random_model(RNG, 3, 6, 4),
    "two states": random_model(RNG, 2, 6, 3),
    "one step": random_model(RNG, 3, 1, 4),
    "one state": Model(
        np.ones(1), np.zeros((1, 1)), RNG.normal(size=(3, 1)), np.full((1, 4), 0.25)
    ),
    "longest of one step": random_model(RNG, 3, 5, 1),
    "longest of two steps": random_model(RNG, 3, 6, 2),
    "longer than the sequence": random_model(RNG, 2, 3, 7),
    "nine states": random_model(RNG, 9, 4, 3),
    "sparse": random_model(RNG, 3, 6, 3, concentration=0.02),
    "far apart": random_model(RNG, 3, 6, 3, spread=1000.0),
    "apart": random_model(RNG, 3, 6, 3, spread=100.0),
    "densities": shifted(random_model(RNG, 3, 5, 3)),
    "impossible observations": with_holes(random_model(RNG, 3, 6, 3)),
    "impossible observations, far apart": with_holes(random_model(RNG, 3, 6, 4, spread=1000.0)),
    # The first state must last two steps, the second one three: what fits best is forbidden.
    "fixed durations": Model(
        np.array([0.5, 0.5]), ring(2), 400.0 * RNG.normal(size=(6, 2)),
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ),
    # One state fits all steps, but cannot last so long: another one must come in between.
    "no state lasts": Model(
        np.array([1.0, 0.0, 0.0]), random_model(RNG, 3, 1, 1).transmat,
        np.array([[0.0, -800.0, -2000.0]] * 6), np.array([[0.2, 0.8]] * 3),
    ),
    # A short segment is all but impossible, a long one pays at the end.
    "tiny probabilities of durations": Model(
        np.array([0.4, 0.6]), ring(2), np.array([[0.0, -300], [-400, 0], [0, -500], [-900, -100]]),
        np.array([[1e-300, 1e-200, 1.0], [1e-250, 1.0, 1e-280]]),
    ),
    "tiny transitions": Model(
        np.array([1.0, 0.0, 0.0]),
        np.array([[0, 1.0, 1e-300], [1e-300, 0, 1.0], [0.5, 0.5, 0]]),
        np.array([[0, 0, 0], [-1000, -1100, 0], [-1000, 0, 0], [-100, -900, -500], [0, 0, -700.0]]),
        random_model(RNG, 3, 1, 3).pmf,
    ),
}  # fmt: skip
CASES = PLAIN | {f"segments: {name}": model for name, model in SEGMENTS.items()}


@cache
def beginnings(case):
    """Return log p(x_<=t), and the probability of every z_<=t given x_<=t, of all steps t."""
    startprob, transmat, log_obs, pmf = CASES[case]
    return [
        enumerate_states(startprob, transmat, log_obs[:n], pmf) for n in range(1, len(log_obs) + 1)
    ]


def tables(pmf):
    """Return log P(D = d) and log P(D >= d)."""
    survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        return np.log(pmf), np.log(np.ascontiguousarray(survival))


def messages(model, ptr=None):
    ptr = np.array([0, len(model.log_obs)] if ptr is None else ptr)
    ptr.flags.writeable = False  # as that of a panel: numba compiles nothing twice
    if model.pmf is None:
        return HMMMessages(ptr, *model[:3])
    return SegmentMessages(ptr, *model[:3], *tables(model.pmf))


def log_likelihoods(model, ptr=None):
    """Return log p(x_t given x_<t) of all steps, NaN for panels without durations, and log p(x)."""
    own, steps = messages(model, ptr), np.full(len(model.log_obs), np.nan)
    sequences = np.full(len(own.ptr) - 1, np.nan)
    own.log_likelihoods(sequences)
    if model.pmf is not None or len(sequences) == 1:
        own.log_predictives(steps)
    return steps, sequences


def written(method, shape):
    """Return the output of a method of messages, in which no sequence is impossible."""
    out = np.full(shape, np.nan)
    assert method(out) == -1
    return out


def posteriors(model, ptr=None):
    return written(messages(model, ptr).posteriors, model.log_obs.shape)


def quiet_chances(model, ranges, labels=None, ptr=None):
    """Return the probabilities of no change in ranges of steps."""
    ranges, out = np.reshape(ranges, (-1, 2)).astype(int), np.empty(len(ranges))
    assert messages(model, ptr).quiet(out, ranges, labels) == -1
    return out


def sample(model, ptr=None, seed=0):
    states = np.full(len(model.log_obs), -1)
    assert messages(model, ptr).sample_states(states, make_stream(make_seed_sequence(seed))) == -1
    return states


# --- models that go on after their sequences ------------------------------------------------

AHEAD = 3
START = np.array([0.2, 0.5, 0.3])
TRANSMAT = np.array([[0.6, 0.3, 0.1], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]])
LEAVING = np.array([[0.0, 0.3, 0.7], [0.4, 0.0, 0.6], [0.9, 0.1, 0.0]])
DURATION = PoissonDurationModel(np.array([0.5, 2.0, 3.0]), 4)
every_duration = pytest.mark.parametrize("duration", [None, DURATION], ids=["none", "Poisson"])


def make_model(duration, emission):
    transmat = TRANSMAT if duration is None else LEAVING
    return HMMModel(START, transmat, emission, np.full(3, 1 / 3), duration=duration)


def enumerate_longer(duration, log_obs, n_more=AHEAD):
    """Return log p(x) and the probability of every path of the sequence and of what follows."""
    log_obs = np.vstack([log_obs, np.zeros((n_more, 3))])
    if duration is None:
        return enumerate_states(START, TRANSMAT, log_obs)
    k = np.arange(duration.max_duration)
    pmf = stats.poisson.pmf(k, duration.means[:, np.newaxis])
    pmf[:, -1] = 1.0 - pmf[:, :-1].sum(axis=1)  # the longest duration has the rest
    return enumerate_states(START, LEAVING, log_obs, pmf)
