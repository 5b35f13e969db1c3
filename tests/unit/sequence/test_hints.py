"""Hints from users: known states, possible transitions, and an order of states."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from skdp.callback import Checkpoint
from skdp.data import PartitionedPanel, SequencePanel
from skdp.sequence import HDPHMMLT, FixedSimilarity
from skdp.sequence._hmm._messages import check_known_states, rename_by_known
from skdp.utils._checking import same_fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
PATH = np.repeat([0, 1, 2, 3], [5, 20, 10, 30])
PATHS = [PATH] * 6
LEVELS = [0.0, 4.0, 8.0, 12.0]
X = [4.0 * PATH[:, np.newaxis] + RNG.normal(size=(65, 1)) for _ in PATHS]
Y = [np.where(RNG.random(65) < 0.1, PATH, -1) for _ in PATHS]
PARTS = PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 3)
UNKNOWN = np.full(65, -1)
FIRST = np.arange(8) == 0
LADDER = np.eye(8, dtype=bool) | np.eye(8, k=1, dtype=bool)
RING = np.eye(8, dtype=bool) | np.roll(np.eye(8, dtype=bool), 1, axis=1)
LADDER_OF_SIMILARITIES = FixedSimilarity(np.where(LADDER, 1.0, 0.0))


def make(n_components=8, **params):
    return HDPHMMLT(n_components, **{"max_iter": 40, "random_state": 0, **params})


@pytest.mark.parametrize(
    "params",
    [
        {"state_sampler": "beam", "init": "random"},
        {"duration": "poisson"},
        {"similarity": "gaussian", "n_chains": 2},
        {"transitions": "left-right"},
    ],
)
def test_known_states_have_the_numbers_of_the_user(params):
    model = make(**params).fit(X, Y)
    for states in (model.predict(X), model.decode(X)[1]):
        assert np.mean(np.concatenate(states) == np.concatenate(PATHS)) > 0.97
    assert np.abs(model.emission_.means[:4, 0] - LEVELS).max() < 0.7


def test_no_sweep_changes_known_states():
    wrong = [np.where(PATH == 0, [0, 0, 2, 0, 0] * 13, y) for y in Y]  # far from the data
    for y in (Y, wrong):
        known = np.concatenate(y)
        for state in make(n_components=5).iter_sweeps(X, y):
            assert_array_equal(state.states[known >= 0], known[known >= 0])


def test_states_of_the_fit_are_given_what_is_known():
    y = [known.copy() for known in Y]
    y[2][50] = 1  # far from the data
    model, known = make(max_iter=20), np.concatenate(y)
    states = np.concatenate(model.fit_predict(X, y))
    assert_array_equal(states[known >= 0], known[known >= 0])
    assert model.predict(X)[2][50] == 3


def test_gaps_between_the_numbers_are_filled_by_share():
    model = make().fit(X, [np.where((PATH == 3) & (known >= 0), 5, -1) for known in Y])
    means = model.emission_.means[[5, 0, 1], 0]  # of 30, 20 and 10 of 65 steps
    assert means == pytest.approx([12.0, 4.0, 8.0], abs=0.5)


def test_containers_of_known_states():
    def check(ptr, expected, *forms):
        for y in forms:
            known = check_known_states(y, np.array(ptr), 8)
            assert_array_equal(known.states, expected)

    with_none, with_na = (np.where(Y[0] < 0, gap, Y[0]).tolist() for gap in (None, pd.NA))
    with_nan, both = np.where(Y[0] < 0, np.nan, Y[0]), np.concatenate([Y[0], UNKNOWN])
    check([0, 65], Y[0], with_none, with_na, with_nan, pd.Series(with_nan), pl.Series(with_none))
    check([0, 65], Y[0], Y[0].astype(np.int8), Y[0].reshape(-1, 1), [Y[0]])
    check([0, 65, 130], both, [pd.Series(Y[0]), UNKNOWN], [Y[0], None], [*with_none, *UNKNOWN])
    check([0, 65, 130], both, np.array([Y[0], UNKNOWN]), both)


def test_nothing_known_is_no_hint():
    ptr = 65 * np.arange(7)
    for y in (None, [UNKNOWN] * 6, [None] * 6, list("abcabc"), range(6)):  # or classes
        assert check_known_states(y, ptr, 8) is None
    expected, model = make(max_iter=4).fit(X), make(max_iter=4)
    same_fit(expected, model.fit(X, [UNKNOWN] * 6))
    same_fit(expected, model.set_params(use_y=False).fit(X, Y))


def test_warm_start_and_checkpoints(tmp_path):
    whole = make(burn_in=20).fit(X, Y)
    model = make(max_iter=30, burn_in=20, warm_start=True).fit(X, Y)
    same_fit(whole, model.set_params(max_iter=40).fit(X, Y))
    for y in (None, [*Y[:5], None]):
        with pytest.raises(ValueError, match="X"):
            model.fit(X, y)
    for sequences in (X, PARTS):
        path = tmp_path / f"{type(sequences).__name__}.ckpt"
        make(max_iter=30, burn_in=20).set_callbacks(Checkpoint(path)).fit(sequences, Y)
        rest = make(burn_in=20).set_callbacks(Checkpoint(path))
        with pytest.raises(ValueError, match="X"):
            rest.fit(sequences, Y[::-1])
        same_fit(whole, rest.fit(sequences, Y))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"duration": "poisson"},
        {"state_sampler": "beam", "init": "random"},
        {"similarity": "emission"},
        {"similarity": "gaussian", "stickiness": "auto"},
    ],
)
def test_impossible_transitions_have_probability_0(params):
    allowed = RING if "duration" in params else LADDER
    model = make(transitions=allowed, start=FIRST, **params).fit(X)
    for sample in model.samples_:
        assert np.all(sample.transmat[~allowed] == 0.0)
        assert_array_equal(sample.startprob[1:], 0.0)
    first = [*model.sample(200, 3, random_state=0)[1], *model.decode(X)[1]]
    assert {path[0] for path in first} == {0}
    for path in (*first, *model.sample(50, given=X, random_state=0)[1]):
        assert np.all(allowed[path[:-1], path[1:]])


def test_left_to_right():
    """Forecasts never go back; states may not come back, so a level that does is two states."""
    model = make(4, transitions="left-right", max_iter=60).fit(X)
    assert np.all(np.tril(model.transmat_, -1) == 0.0)
    assert np.all(model.forecast(X[0], 30).mean > 11.0)  # the last state is absorbing
    rng = np.random.default_rng(1)
    x = [np.repeat([0.0, 6.0, 0.0], 30) + rng.normal(size=90) for _ in range(4)]
    model = make(transitions="left-right", max_iter=60).fit(x)
    assert model.n_active_components_ == 3
    for path in model.predict(x):
        assert_array_equal(np.flatnonzero(np.diff(path)) + 1, [30, 60])


def test_zeros_of_a_similarity():
    model = make(similarity=LADDER_OF_SIMILARITIES).fit(X)
    assert np.all(model.transmat_[~LADDER] == 0.0)
    assert_array_equal(model.similarity_, np.where(LADDER, 1.0, 0.0))


def test_paths_without_a_way():
    model, y = make(transitions="left-right"), np.where(PATH == 3, 0, -1)
    y[0] = 1
    with pytest.raises(ValueError, match=r"y: .* step 35 of sequence 5 in state 0 after .* 1 at"):
        model.fit(X, [None] * 5 + [y])
    with pytest.raises(ValueError, match=r"init: .* step 0 of sequence 0 in state 3"):
        model.set_params(start=FIRST, init=[PATH[::-1]] * 6).fit(X)
    with pytest.raises(ValueError, match=r"init: .* in state 1 after state 3"):
        model.set_params(start=None, init=[[3, *[1] * 64]] * 6).fit(PARTS)


@pytest.mark.parametrize(
    ("y", "params"),
    [
        (Y, {"transitions": None}),
        (None, {}),
        (Y, {"stickiness": "auto", "init": "random", "start": FIRST}),
        (None, {"transitions": RING, "duration": "poisson"}),
        (Y, {"transitions": None, "duration": "poisson"}),
        (Y, {"similarity": "gaussian"}),
        (None, {"transitions": None, "similarity": LADDER_OF_SIMILARITIES}),
        (Y, {"init": PATHS}),
    ],
    ids=[
        *("known states", "left to right", "start", "ring", "durations", "similar"),
        *("zeros of similarities", "given"),
    ],
)
def test_hints_for_partitions(y, params):
    params = {"transitions": "left-right", "max_iter": 20, **params}
    same_fit(make(**params).fit(X, y), make(**params).fit(PARTS, y))


def test_given_states_keep_their_numbers():
    model = make(4, init=PATHS).fit(X)
    assert np.abs(model.emission_.means.ravel() - LEVELS).max() < 0.7
    both = make(6, init=[PATH + 2 for PATH in PATHS]).fit(X, [np.where(PATH == 1, 3, -1)] * 6)
    assert np.abs(both.emission_.means[2:, 0] - LEVELS).max() < 0.7
    assert np.all(np.diff(make(4, init=PATHS, state_order="share").fit(X).state_shares_) <= 0)
    phi = np.minimum(np.full((4, 4), 0.1) + 0.9 * np.eye(4) + np.diag([0.5, 0.5, 0.5], 1), 1.0)
    model = make(4, similarity=FixedSimilarity(phi), init=PATHS).fit(X)
    assert np.abs(model.emission_.means.ravel() - LEVELS).max() < 0.7
    assert np.abs(model.similarity_ - phi).max() < 1e-6


def test_order_by_mean():
    model = make(6, state_order="mean").fit(X)
    used = model.state_shares_ > 0.0
    assert_array_equal(used, np.arange(6) < used.sum())
    assert np.all(np.diff(model.emission_.means[used, 0]) > 0.0)


def test_clusters_become_the_states_of_their_known_steps():
    counts = np.zeros((5, 6), dtype=np.int64)
    counts[:, -1] = 9, 30, 5, 7, 20  # unknown steps
    counts[0, 3], counts[1, 3], counts[2, [0, 3]] = 4, 1, (2, 1)
    assert_array_equal(rename_by_known(counts), [3, 3, 0, 2, 1])
    counts[:, :5] += np.eye(5, dtype=np.int64)[::-1] * 10
    assert_array_equal(rename_by_known(counts), [4, 3, 2, 1, 0])
    counts[4, :-1] = 0  # no cluster is left for a name, and state 3 has the most known steps
    counts[2, 0] = 1
    assert_array_equal(rename_by_known(counts), [4, 3, 2, 1, 3])
