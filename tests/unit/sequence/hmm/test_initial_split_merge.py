"""First states of hidden Markov models, from splits and merges or from the user."""

import signal
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score
from unit.sequence.hmm_models import GAUSSIAN, MODELS

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence import (
    HDPHMMLT,
    FixedSimilarity,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
)
from skdp.sequence._hmm._first_states import InitialSplitMerge, find_order
from skdp.sequence._hmm._split_merge import Splitter, StateSplitMerge
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions, count_transitions
from skdp.utils._checking import same_fit


def open_with(emission, values, *ends, n_states=12, **parameters):
    """Return the first states of sequences with given ends."""
    sampler = emission.make_sampler(values, n_states)
    sampler.attach(values)
    streams = [make_stream(make_seed_sequence(i)) for i in range(2)]
    priors = TransitionPriors(None, (1.0, 0.1), None, (1.0, 0.1), 0.0, (1.0, 1.0))
    states, ptr = np.empty(len(values), dtype=np.int64), np.array([0, *ends, len(values)])
    transitions = Transitions(n_states, priors, streams[0], **parameters)
    InitialSplitMerge(ptr, states, transitions, sampler, streams[1]).run()
    return states


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_finds_clusters(covariance_type):
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.integers(0, 5, 60), rng.geometric(0.05, 60))
    values = 8.0 * rng.normal(size=(5, 2))[truth] + rng.normal(size=(len(truth), 2))
    values[::17, 0] = np.nan
    found = open_with(GaussianEmission(covariance_type), values, 300)
    assert_array_equal(np.unique(found), np.arange(5))
    assert adjusted_rand_score(truth, found) > 0.98


@pytest.mark.parametrize(
    ("seed", "n_missing"), [(2, 0), pytest.param(0, 1, marks=pytest.mark.slow)]
)
def test_few_steps_of_many_columns(seed, n_missing):
    """12 steps for each column."""
    rng = np.random.default_rng(seed)
    truth = np.tile(np.repeat([0, 1, 2], 50), 4)
    values = 2.0 * rng.normal(size=(3, 50))[truth] + rng.normal(size=(600, 50))
    values[::17, :n_missing] = np.nan
    assert adjusted_rand_score(truth, open_with(GaussianEmission(), values)) == 1.0


def test_few_steps_of_one_state():
    values = np.random.default_rng(0).normal(size=(100, 30))
    assert open_with(GaussianEmission(), values, 50).max() == 0


FEW = np.repeat([0, 1, 2], 30)
WIDE = 6.0 * np.repeat(np.eye(3, 10), 3, axis=1)[FEW]
WIDE += np.random.default_rng(0).normal(size=(90, 30))
"""Three steps per column: states can only be told apart if their covariances are nearly the same.
"""


@pytest.mark.parametrize(("n_missing", "prior"), [(0, "auto"), (1, None)])
def test_first_states_of_three_steps_per_column(n_missing, prior):
    values = WIDE.copy()
    values[::17, :n_missing] = np.nan
    found = open_with(GaussianEmission(covariance_prior=prior), values)
    assert_array_equal(found, found[::30].repeat(30))
    assert len(np.unique(found)) == 3


def test_given_states_stay():
    model = HDPHMMLT(10, init=FEW, max_iter=60, random_state=0).fit(WIDE)
    assert adjusted_rand_score(FEW, model.predict(WIDE)) == 1.0


@pytest.mark.parametrize("width", [2, 30])
def test_scale_is_drawn(width):
    model = HDPHMMLT(3, max_iter=20, random_state=0).fit(WIDE[:, :width])
    assert ("emission_scale" in model.trace_) == (width == 30)


def test_finds_intensities():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2, 1, 0, 2], 60)
    values = rng.poisson(np.array([[1.0], [9.0], [40.0]])[truth]).astype(float)
    assert adjusted_rand_score(truth, open_with(PoissonEmission(), values)) > 0.95


def test_no_more_states_than_there_are():
    rng = np.random.default_rng(2)
    values = 50.0 * np.repeat(rng.normal(size=(6, 1)), 40, axis=0) + rng.normal(size=(240, 1))
    assert open_with(GaussianEmission(), values, n_states=3).max() == 2
    for values in (np.zeros((1, 1)), np.zeros((30, 2)), np.full((4, 1), 1e9)):  # nothing to split
        assert open_with(GaussianEmission(), values).max() == 0


def test_with_durations():
    """If a state may not follow itself, no chain of new states is made."""
    rng = np.random.default_rng(3)
    truth = np.repeat(np.cumsum(rng.integers(1, 5, 60)) % 5, 1 + rng.poisson(20, 60))
    values = 4.0 * rng.normal(size=(5, 3))[truth] + rng.normal(size=(len(truth), 3))
    found = open_with(GaussianEmission(), values, self_transitions=False)
    assert_array_equal(np.unique(found), np.arange(5))
    assert adjusted_rand_score(truth, found) > 0.98


def test_forms_of_own_states():
    """Any sequences of integers; they lead elsewhere than the first states of a model."""

    def check(X, *forms):
        first, *others = (HDPHMMLT(4, init=x, max_iter=4, random_state=0).fit(X) for x in forms)
        for other in others:
            same_fit(first, other)
        return first

    own = [np.arange(len(x)) // 7 % 3 for x in GAUSSIAN]
    found = check(GAUSSIAN, own, [x.tolist() for x in own])
    check(GAUSSIAN[0], own[0], own[:1], own[0].tolist())
    starts = [check(GAUSSIAN, init).transmat_ for init in ("auto", "random")]
    for one, two in combinations([found.transmat_, *starts], 2):
        assert not np.array_equal(one, two)


@pytest.mark.parametrize("name", ["categorical", "poisson"])
def test_moves_are_made(name, monkeypatch):
    """Splits and merges of the models that have them change states at times."""
    moved, try_once = [], StateSplitMerge.try_once

    def note(self):
        moved.append(try_once(self))
        return moved[-1]

    monkeypatch.setattr(StateSplitMerge, "try_once", note)
    parameters, X = MODELS[name]
    HDPHMMLT(12, max_iter=300, init="random", judge=False, random_state=0, **parameters).fit(X)
    assert len(moved) == 125 + 10
    assert any(moved)


MIXED = IndependentEmissions([("a", "gaussian", [0]), ("b", "student_t", [1])])


@pytest.mark.parametrize("emission", ["gaussian", "autoregressive", "student_t", MIXED])
def test_ctrl_c_does_not_wait_for_the_end_of_the_start(emission, monkeypatch):
    """Long sequences take seconds: it ends with the try at hand, of those to split a state."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 2)) + 6.0 * np.repeat([0.0, 1.0, 2.0], 100)[:, np.newaxis]
    launches, launch = [], Splitter.launch

    def interrupted(self):
        launches.append(self)
        if len(launches) == 2:
            signal.raise_signal(signal.SIGINT)
        return launch(self)

    model = HDPHMMLT(5, emission=emission, max_iter=10, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(Splitter, "launch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(values)
    assert len(launches) == 2
    assert not hasattr(model, "n_features_in_")
    assert np.isfinite(model.fit(values).score(values))


def left_to_right(n_states):
    return np.where(np.eye(n_states) + np.eye(n_states, k=1) > 0.0, 1.0, 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_first_numbers_go_where_known_similarities_are(seed):
    """However they are mixed up, and with numbers that are not in use."""
    names = np.random.default_rng(seed).permutation(9)[:6]
    states, ptr = np.tile(np.repeat(names, 4), 3), np.array([0, 24, 48, 72])
    order = find_order(count_transitions(ptr, states, 9), np.log(left_to_right(9)))
    assert_array_equal(np.sort(order), np.arange(9))
    assert_array_equal(np.diff(order[names]), np.ones(5))
    again = find_order(count_transitions(ptr, order[states], 9), np.log(left_to_right(9)))
    assert_array_equal(again, np.arange(9))
    mild = np.maximum(left_to_right(9), 0.1)
    assert_array_equal(find_order(count_transitions(ptr, states, 9), np.log(mild)), np.arange(9))


def test_states_that_cannot_follow_each_other():
    """A model of sequences that go from left to right keeps no jump that is all but impossible."""
    rng, angles = np.random.default_rng(0), np.repeat(np.arange(5.0), 40)
    means = 4.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    sequences = [means + 0.5 * rng.normal(size=means.shape) for _ in range(6)]
    similarity = FixedSimilarity(left_to_right(8))
    model = HDPHMMLT(8, similarity=similarity, max_iter=60, random_state=0).fit(sequences)
    for path in model.predict(sequences):
        assert set(np.diff(path)) <= {0, 1}
