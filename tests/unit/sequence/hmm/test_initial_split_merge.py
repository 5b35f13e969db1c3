"""First states of hidden Markov models."""

import signal

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
from skdp.sequence._hmm._first_states import count
from skdp.sequence._hmm._initial_split_merge import InitialSplitMerge, find_order
from skdp.sequence._hmm._split_merge import Splitter
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions


def open_with(emission, values, ptr, n_states=12, seed=0, **parameters):
    sampler = emission.make_sampler(values, n_states)
    sampler.attach(values)
    streams = [make_stream(make_seed_sequence(seed + i)) for i in range(2)]
    priors = TransitionPriors(None, (1.0, 0.1), None, (1.0, 0.1), 0.0, (1.0, 1.0))
    states = np.empty(len(values), dtype=np.int64)
    transitions = Transitions(n_states, priors, streams[0], **parameters)
    InitialSplitMerge(np.array(ptr), states, transitions, sampler, streams[1]).run()
    return states


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_finds_clusters(covariance_type):
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.integers(0, 5, 60), rng.geometric(0.05, 60))
    values = 8.0 * rng.normal(size=(5, 2))[truth] + rng.normal(size=(len(truth), 2))
    values[::17, 0] = np.nan
    found = open_with(GaussianEmission(covariance_type), values, [0, 300, len(truth)])
    assert_array_equal(np.unique(found), np.arange(5))
    assert adjusted_rand_score(truth, found) > 0.98


@pytest.mark.parametrize(("seed", "n_missing"), [(0, 0), (1, 0), (2, 0), (0, 1)])
def test_few_steps_of_many_columns(seed, n_missing):
    """12 steps for each column."""
    rng = np.random.default_rng(seed)
    truth = np.tile(np.repeat([0, 1, 2], 50), 4)
    values = 2.0 * rng.normal(size=(3, 50))[truth] + rng.normal(size=(600, 50))
    values[::17, :n_missing] = np.nan
    assert adjusted_rand_score(truth, open_with(GaussianEmission(), values, [0, 600])) == 1.0


def test_few_steps_of_one_state():
    values = np.random.default_rng(0).normal(size=(100, 30))
    assert open_with(GaussianEmission(), values, [0, 50, 100]).max() == 0


class TestThreeStepsPerColumn:
    """States can only be told apart if their covariances are nearly the same."""

    truth = np.repeat([0, 1, 2], 30)
    values = 6.0 * np.repeat(np.eye(3, 10), 3, axis=1)[truth] + np.random.default_rng(0).normal(
        size=(90, 30)
    )

    @pytest.mark.parametrize("prior", [None, "auto"])
    @pytest.mark.parametrize("n_missing", [0, 1])
    def test_first_states(self, prior, n_missing):
        values = self.values.copy()
        values[::17, :n_missing] = np.nan
        found = open_with(GaussianEmission(covariance_prior=prior), values, [0, 90])
        assert_array_equal(found, found[::30].repeat(30))
        assert len(np.unique(found)) == 3

    def test_given_states_stay(self):
        model = HDPHMMLT(10, init=self.truth, max_iter=60, random_state=0).fit(self.values)
        assert adjusted_rand_score(self.truth, model.predict(self.values)) == 1.0

    @pytest.mark.parametrize("width", [2, 30])
    def test_scale_is_drawn(self, width):
        model = HDPHMMLT(3, max_iter=20, random_state=0).fit(self.values[:, :width])
        assert ("emission_scale" in model.trace_) == (width == 30)


def test_finds_intensities():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2, 1, 0, 2], 60)
    values = rng.poisson(np.array([[1.0], [9.0], [40.0]])[truth]).astype(float)
    found = open_with(PoissonEmission(), values, [0, len(truth)])
    assert adjusted_rand_score(truth, found) > 0.95


def test_no_more_states_than_there_are():
    rng = np.random.default_rng(2)
    values = 50.0 * np.repeat(rng.normal(size=(6, 1)), 40, axis=0) + rng.normal(size=(240, 1))
    assert open_with(GaussianEmission(), values, [0, 240], n_states=3).max() == 2


def test_with_durations():
    """If a state may not follow itself, no chain of new states is made."""
    rng = np.random.default_rng(3)
    truth = np.repeat(np.cumsum(rng.integers(1, 5, 60)) % 5, 1 + rng.poisson(20, 60))
    values = 4.0 * rng.normal(size=(5, 3))[truth] + rng.normal(size=(len(truth), 3))
    found = open_with(GaussianEmission(), values, [0, len(truth)], self_transitions=False)
    assert_array_equal(np.unique(found), np.arange(5))
    assert adjusted_rand_score(truth, found) > 0.98


@pytest.mark.parametrize("values", [np.zeros((1, 1)), np.zeros((30, 2)), np.full((4, 1), 1e9)])
def test_nothing_to_split(values):
    assert open_with(GaussianEmission(), values, [0, len(values)]).max() == 0


class TestInit:
    def test_own_states(self):
        first = [np.arange(len(x)) // 7 % 3 for x in GAUSSIAN]
        model = HDPHMMLT(4, init=first, max_iter=20, random_state=0).fit(GAUSSIAN)
        assert model.n_iter_ == 20
        as_list = HDPHMMLT(4, init=[x.tolist() for x in first], max_iter=20, random_state=0)
        assert_array_equal(as_list.fit(GAUSSIAN).transmat_, model.transmat_)

    def test_own_states_of_one_sequence(self):
        first = np.arange(len(GAUSSIAN[0])) // 7
        model = HDPHMMLT(4, init=first, max_iter=4, random_state=0).fit(GAUSSIAN[0])
        other = HDPHMMLT(4, init=[first], max_iter=4, random_state=0).fit(GAUSSIAN[0])
        assert_array_equal(model.transmat_, other.transmat_)
        plain = HDPHMMLT(4, init=first.tolist(), max_iter=4, random_state=0).fit(GAUSSIAN[0])
        assert_array_equal(model.transmat_, plain.transmat_)

    def test_starts_differ(self):
        fits = [
            HDPHMMLT(4, init=init, max_iter=1, burn_in=0, random_state=0).fit(GAUSSIAN).transmat_
            for init in ("auto", "random")
        ]
        assert not np.array_equal(*fits)

    @pytest.mark.parametrize(
        ("init", "X", "message"),
        [
            ([np.zeros(3, int)], GAUSSIAN, "states of 5 sequences.*got 1"),
            ([np.zeros(3, int)] * 5, GAUSSIAN, r"for sequence 0, got an array of int64 of.*\(3,\)"),
            ([np.zeros(len(x)) for x in GAUSSIAN], GAUSSIAN, "integers.*of float64"),
            ([np.full(len(x), 4) for x in GAUSSIAN], GAUSSIAN, "n_components - 1 = 3, got 4"),
            ([np.full(len(x), -1) for x in GAUSSIAN], GAUSSIAN, "n_components - 1 = 3, got -1"),
            (np.zeros((2, 3), int), np.zeros((3, 1)), r"for sequence 0.*\(2, 3\)"),
            ("kmeans", GAUSSIAN, "init"),
        ],
    )
    def test_bad_input(self, init, X, message):
        with pytest.raises(ValueError, match=message):
            HDPHMMLT(4, init=init).fit(X)


@pytest.mark.parametrize("name", ["categorical", "poisson"])
def test_moves_are_made(name, monkeypatch):
    """Splits and merges of the models that have them change states at times."""
    from skdp.sequence._hmm._split_merge import StateSplitMerge

    moved = []
    try_once = StateSplitMerge.try_once

    def note(self):
        moved.append(try_once(self))
        return moved[-1]

    monkeypatch.setattr(StateSplitMerge, "try_once", note)
    parameters, X = MODELS[name]
    HDPHMMLT(12, max_iter=300, init="random", random_state=0, **parameters).fit(X)
    assert len(moved) == 125 + 10
    assert any(moved)


@pytest.mark.parametrize("emission", ["gaussian", "autoregressive", "student_t", "mixed"])
def test_ctrl_c_does_not_wait_for_the_end_of_the_start(emission, monkeypatch):
    """Long sequences take seconds: it ends with the try at hand, of those to split a state."""
    if emission == "mixed":
        emission = IndependentEmissions([("a", "gaussian", [0]), ("b", "student_t", [1])])
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 2)) + 6.0 * np.repeat([0.0, 1.0, 2.0], 100)[:, np.newaxis]
    launches = []
    launch = Splitter.launch

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
    model.fit(values)
    assert np.isfinite(model.score(values))


def left_to_right(n_states):
    similarity = np.full((n_states, n_states), 1e-12)
    stays = np.arange(n_states)
    similarity[stays, stays] = 1.0
    similarity[stays[:-1], stays[1:]] = 1.0
    return similarity


@pytest.mark.parametrize("seed", range(5))
def test_first_numbers_go_where_known_similarities_are(seed):
    """However they are mixed up, and with numbers that are not in use."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(9)[:6]
    states = np.tile(np.repeat(names, 4), 3)
    ptr = np.array([0, 24, 48, 72])
    order = find_order(count(ptr, states, 9), np.log(left_to_right(9)))
    assert_array_equal(np.sort(order), np.arange(9))
    first = order[names]
    assert_array_equal(np.diff(first), np.ones(5))
    again = find_order(count(ptr, order[states], 9), np.log(left_to_right(9)))
    assert_array_equal(again, np.arange(9))
    mild = np.maximum(left_to_right(9), 0.1)
    assert_array_equal(find_order(count(ptr, states, 9), np.log(mild)), np.arange(9))


@pytest.mark.parametrize("seed", range(3))
def test_states_that_cannot_follow_each_other(seed):
    """A model of sequences that go from left to right keeps no jump that is all but impossible."""
    rng = np.random.default_rng(0)
    angles = np.repeat(np.arange(5.0), 40)
    means = 4.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    sequences = [means + 0.5 * rng.normal(size=means.shape) for _ in range(6)]
    model = HDPHMMLT(
        8, similarity=FixedSimilarity(left_to_right(8)), max_iter=60, random_state=seed
    ).fit(sequences)
    for path in model.predict(sequences):
        assert set(np.diff(path)) <= {0, 1}
