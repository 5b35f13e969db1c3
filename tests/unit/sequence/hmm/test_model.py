"""Stored samples: predictions for sequences, draws, and other orders of states."""

import numpy as np
import pytest
from exact.oracles.hmm import enumerate_states
from numpy.testing import assert_allclose, assert_array_equal

from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._gaussian._model import GaussianModel
from skdp.sequence import hmm_log_likelihood, hmm_posterior
from skdp.sequence._durations._negative_binomial import NegativeBinomialDurationModel
from skdp.sequence._durations._poisson import PoissonDurationModel
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._model import HMMModel, count_active
from skdp.sequence._similarities._gaussian import LatentLocations

INF = np.inf
RNG = np.random.default_rng(1)
PROBS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
START = np.array([0.2, 0.5, 0.3])
TRANSMAT = np.array([[0.6, 0.3, 0.1], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]])
CHANGES = np.array([[0.0, 0.3, 0.7], [0.4, 0.0, 0.6], [0.9, 0.1, 0.0]])
VALUES = np.array([[0.0], [2], [1], [1], [0], [2], [2]])
PTR = np.array([0, 3, 7])

DURATIONS = {
    "Poisson": PoissonDurationModel(np.array([0.5, 2.0, 3.0]), 6),
    "negative binomial": NegativeBinomialDurationModel(np.array([0.2, 0.5, 0.6]), 2, 6),
}
LEFT_TO_RIGHT = np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1.0]])
STEPS = {
    "plain": (START, TRANSMAT, RNG.normal(size=(6, 3))),
    "one step": (START, TRANSMAT, RNG.normal(size=(1, 3))),
    # The best path leaves through probabilities that 64 bits cannot hold.
    "logarithms": (
        np.array([1.0, 0, 0]),
        LEFT_TO_RIGHT,
        np.array([[0.0, 0, 0], [0, -2000, 0], [0, -2000, 0], [0, -1000, 0], [-9999, -9999, 0]]),
    ),
    "an impossible step": (
        np.array([1.0, 0, 0]),
        LEFT_TO_RIGHT,
        np.array([[0.0, 0, 0], [-INF, 0, 0], [0, -INF, -INF], [0, 0, 0]]),
    ),
    "an impossible step in logarithms": (
        np.array([1.0, 0, 0]),
        LEFT_TO_RIGHT,
        np.array([[0.0, 0, 0], [0, -2000, 0], [-INF, -9, 0], [0, -INF, -INF], [0, 0, 0]]),
    ),
    "an impossible first step": (
        np.array([1.0, 0, 0]), TRANSMAT, np.array([[-INF, 0, 0], [0.0, 0, 0]]),
    ),
}  # fmt: skip


def make_model(duration=None, **changed):
    transmat = TRANSMAT if duration is None else CHANGES
    parts = {"shares": np.array([0.5, 0.0, 0.5]), "duration": duration, **changed}
    return HMMModel(START, transmat, CategoricalModel(PROBS), **parts)


every_duration = pytest.mark.parametrize("duration", [None, *DURATIONS.values()])


@pytest.mark.parametrize("case", STEPS)
def test_log_predictives_of_prefixes(case):
    startprob, transmat, log_obs = STEPS[case]
    out = np.empty(len(log_obs))
    ptr = np.array([0, len(out)])
    HMMMessages(ptr, startprob, transmat, log_obs).log_predictives(out)
    prefixes = range(1, len(log_obs) + 1)
    expected = [enumerate_states(startprob, transmat, log_obs[:t])[0] for t in prefixes]
    assert_allclose(np.cumsum(out), expected, rtol=1e-13, atol=1e-10)
    found = [hmm_log_likelihood(startprob, transmat, log_obs[:t])[0] for t in prefixes]
    assert_allclose(np.cumsum(out), found, rtol=1e-13, atol=1e-10)
    last = int(np.argmin(np.isfinite(expected))) if -INF in expected else len(expected)
    assert np.isfinite(out[:last]).all()
    assert (out[last:] == -INF).all()


def test_plain_model_is_the_public_functions():
    model = make_model()
    known = START, TRANSMAT, np.log(PROBS.T)[VALUES[:, 0].astype(int)]
    assert_allclose(model.log_likelihoods(PTR, VALUES), hmm_log_likelihood(*known, PTR), rtol=1e-14)
    assert_allclose(model.posteriors(PTR, VALUES), hmm_posterior(*known, PTR), rtol=1e-12)
    assert model.n_active_components == 2


@every_duration
def test_predictives_add_up(duration):
    model = make_model(duration)
    steps = model.log_predictives(VALUES)
    prefixes = [
        model.log_likelihoods(np.array([0, t]), VALUES[:t])[0] for t in range(1, len(VALUES) + 1)
    ]
    assert_allclose(np.cumsum(steps), prefixes, rtol=1e-12)


@every_duration
def test_reorder(duration):
    order = np.array([2, 0, 1])
    rest = {
        "similarity": RNG.random((3, 3)).astype(np.float32),
        "geometry": LatentLocations(RNG.normal(size=(3, 2)), 1.5),
    }
    model = make_model(duration, **rest)
    other = model.reorder(order)
    assert_array_equal(other.startprob, START[order])
    assert_array_equal(other.transmat, model.transmat[order][:, order])
    assert_array_equal(other.emission.probs, PROBS[order])
    assert_array_equal(other.shares, model.shares[order])
    assert_array_equal(other.similarity, model.similarity[order][:, order])
    assert_array_equal(other.geometry.locations, model.geometry.locations[order])
    assert other.geometry.decay == 1.5
    assert_allclose(
        other.log_likelihoods(PTR, VALUES), model.log_likelihoods(PTR, VALUES), rtol=1e-12
    )
    assert_allclose(
        other.posteriors(PTR, VALUES), model.posteriors(PTR, VALUES)[:, order], rtol=1e-9
    )


def test_reorder_without_options():
    other = make_model().reorder(np.array([1, 2, 0]))
    assert (other.similarity, other.geometry, other.duration) == (None, None, None)


def test_states_follow_the_transitions():
    """6 standard errors for 12 figures: 1e-8 false alarms."""
    model, rng = make_model(), np.random.default_rng(0)
    firsts = np.array([model.draw_states(1, rng)[0] for _ in range(4000)])
    error = 6.0 * np.sqrt(START * (1.0 - START) / len(firsts))
    assert np.all(np.abs(np.bincount(firsts, minlength=3) / len(firsts) - START) < error)
    states = model.draw_states(20_000, rng)
    assert len(states) == 20_000
    counts = np.zeros((3, 3))
    np.add.at(counts, (states[:-1], states[1:]), 1)
    n = counts.sum(axis=1, keepdims=True)
    error = 6.0 * np.sqrt(TRANSMAT * (1.0 - TRANSMAT) / n)
    assert np.all(np.abs(counts / n - TRANSMAT) < error)


@pytest.mark.parametrize("name", DURATIONS)
def test_states_last_as_durations_say(name):
    """Segments but the last: 6 standard errors for 3 means and 9 shares, 1e-8 false alarms."""
    duration = DURATIONS[name]
    states = make_model(duration).draw_states(20_000, np.random.default_rng(0))
    assert len(states) == 20_000
    ends = np.append(np.flatnonzero(np.diff(states)), len(states) - 1)
    lengths, of = np.diff(ends, prepend=-1)[:-1], states[ends][:-1]
    lasts = np.exp(duration.tables()[0])
    grid = np.arange(1, duration.max_duration + 1)
    assert lengths.max() <= duration.max_duration
    for j in range(3):
        mean = lasts[j] @ grid
        deviation = np.sqrt(lasts[j] @ (grid - mean) ** 2)
        mine = lengths[of == j]
        assert abs(mine.mean() - mean) < 6.0 * deviation / np.sqrt(len(mine))
    counts = np.zeros((3, 3))
    np.add.at(counts, (of[:-1], of[1:]), 1)
    n = counts.sum(axis=1, keepdims=True)
    assert np.all(np.diag(counts) == 0)
    assert np.all(np.abs(counts / n - CHANGES) <= 6.0 * np.sqrt(CHANGES * (1 - CHANGES) / n))


def test_impossible_sequence():
    """An observation that is impossible in all states is reported."""
    emission = GaussianModel(np.zeros((2, 1)), np.full((2, 1), 1e-300))
    model = HMMModel(np.full(2, 0.5), np.full((2, 2), 0.5), emission, np.full(2, 0.5))
    values = np.array([[0.0], [1e100]])
    with pytest.raises(ValueError, match="Sequence 1 has probability 0 under a stored sample"):
        model.posteriors(np.array([0, 1, 2]), values)
    assert model.log_likelihoods(np.array([0, 1, 2]), values)[1] == -INF


@pytest.mark.parametrize(
    ("counts", "expected"), [([4996, 4, 0], 1), ([4995, 5, 0], 2), ([1, 1, 0], 2), ([999, 1], 2)]
)
def test_states_of_some_odd_steps_do_not_count(counts, expected):
    assert count_active(np.array(counts) / sum(counts)) == expected
