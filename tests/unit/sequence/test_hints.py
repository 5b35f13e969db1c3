"""Hints from users: known states, possible transitions, and an order of states."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skdp.callback import Checkpoint
from skdp.data import PartitionedPanel, SequencePanel
from skdp.sequence import HDPHMMLT, FixedSimilarity
from skdp.sequence._hmm._hints import rename_by_known

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
)

RNG = np.random.default_rng(0)
PATH = np.repeat([0, 1, 2, 3], [5, 20, 10, 30])
PATHS = [PATH] * 6
X = [4.0 * PATH[:, np.newaxis] + RNG.normal(size=(65, 1)) for _ in PATHS]
Y = [np.where(RNG.random(65) < 0.1, PATH, -1) for _ in PATHS]


def make(n_components=8, **params):
    return HDPHMMLT(n_components, **{"max_iter": 40, "random_state": 0, **params})


def assert_same_fit(first, second):
    assert_array_equal(first.trace_["log_joint"], second.trace_["log_joint"])
    assert_array_equal(first.transmat_, second.transmat_)


class TestKnownStates:
    @pytest.mark.parametrize(
        "params",
        [
            {},
            {"state_sampler": "beam"},
            {"duration": "poisson"},
            {"init": "random"},
            {"similarity": "gaussian"},
            {"n_chains": 2},
            {"transitions": "left-right"},
        ],
    )
    def test_numbers_are_those_of_the_user(self, params):
        model = make(**params).fit(X, Y)
        assert np.mean(np.concatenate(model.predict(X)) == np.concatenate(PATHS)) > 0.97
        means = model.emission_.means[:4, 0]
        assert np.abs(means - [0.0, 4.0, 8.0, 12.0]).max() < 0.7
        decoded = np.concatenate(model.decode(X)[1])
        assert np.mean(decoded == np.concatenate(PATHS)) > 0.97

    def test_no_sweep_changes_them(self):
        known = np.concatenate(Y)
        wrong = [np.where(PATH == 0, [0, 0, 2, 0, 0] * 13, y) for y in Y]  # far from the data
        for y in (Y, wrong):
            known = np.concatenate(y)
            for state in make(n_components=5).iter_sweeps(X, y):
                assert_array_equal(state.states[known >= 0], known[known >= 0])

    def test_states_of_the_fit_are_given_what_is_known(self):
        y = [known.copy() for known in Y]
        y[2][50] = 1  # far from the data
        states = make(max_iter=20).fit_predict(X, y)
        known = np.concatenate(y)
        assert_array_equal(np.concatenate(states)[known >= 0], known[known >= 0])
        assert make(max_iter=20).fit(X, y).predict(X)[2][50] == 3

    def test_gaps_between_the_numbers_are_filled_by_share(self):
        y = [np.where((PATH == 3) & (known >= 0), 5, -1) for known in Y]
        model = make().fit(X, y)
        assert model.emission_.means[5, 0] == pytest.approx(12.0, abs=0.5)
        assert model.emission_.means[0, 0] == pytest.approx(4.0, abs=0.5)  # 20 of 65 steps
        assert model.emission_.means[1, 0] == pytest.approx(8.0, abs=0.5)  # 10

    def test_containers(self):
        pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
        first = make(max_iter=8).fit(X[0], Y[0])
        with_none = [None if state < 0 else int(state) for state in Y[0]]
        with_nan = np.where(Y[0] < 0, np.nan, Y[0])
        for y in (with_none, with_nan, Y[0].astype(np.int8), pd.Series(with_nan), [Y[0]]):
            assert_same_fit(make(max_iter=8).fit(X[0], y), first)
        assert_same_fit(make(max_iter=8).fit(X[0], pl.Series(with_none)), first)
        two = make(max_iter=8).fit(X[:2], [Y[0], None])
        unknown = np.full(65, -1)
        assert_same_fit(make(max_iter=8).fit(X[:2], [pd.Series(Y[0]), unknown]), two)
        assert_same_fit(make(max_iter=8).fit(X[:2], np.array([Y[0], unknown])), two)
        panel = SequencePanel.from_sequences(X[:2])
        assert_same_fit(make(max_iter=8).fit(panel, [Y[0], None]), two)
        flat = np.concatenate([Y[0], unknown])
        assert_same_fit(make(max_iter=8).fit(panel, flat), two)
        assert_same_fit(make(max_iter=8).fit(X[:2], [*with_none, *unknown]), two)
        assert_same_fit(make(max_iter=8).fit(X[0], Y[0].reshape(-1, 1)), first)
        assert_same_fit(make(max_iter=8).fit(X[0], [pd.NA if j < 0 else j for j in Y[0]]), first)

    def test_nothing_known_is_no_hint(self):
        assert_same_fit(make().fit(X, [np.full(65, -1)] * 6), make().fit(X))
        assert_same_fit(make().fit(X, [None] * 6), make().fit(X))
        assert_same_fit(make(use_y=False).fit(X, Y), make().fit(X))
        assert_same_fit(make().fit(X, list("abcabc")), make().fit(X))  # classes of the sequences

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (Y[:5], r"6 arrays of states, one for each sequence of X; got 5"),
            ([*Y[:5], Y[5][:-1]], r"y\[5\] must have shape \(65,\), a state per step"),
            ([*Y[:5], np.where(PATH == 3, 9, -1)], r"y\[5\] .* from 0 to 7.*got y\[5\]\[35\]=9"),
            ([*Y[:5], Y[5] - 1], "=-2"),
            ([*Y[:5], Y[5] + 0.5], "integers"),
            ([*Y[:5], [None] * 64 + ["a"]], r"y\[5\]\[64\]='a'.*LabelEncoder.*use_y=False"),
            ([*Y[:5], [Y[5]]], r"y\[5\] must have shape"),
            ("abc", "an array, or a list"),
        ],
    )
    def test_errors(self, y, message):
        model = make()
        with pytest.raises((TypeError, ValueError), match=message):
            model.fit(X, y)
        assert not hasattr(model, "n_features_in_")
        with pytest.raises(ValueError, match="y"):
            make().fit(X[0], Y[0][:-1])

    def test_partitions(self):
        parts = PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 3)
        for params in ({}, {"stickiness": "auto", "init": "random"}, {"duration": "poisson"}):
            assert_same_fit(make(**params).fit(parts, Y), make(**params).fit(X, Y))
        with pytest.raises(ValueError, match="sequence of X"):
            make().fit(parts, Y[:5])

    def test_warm_start_and_checkpoints(self, tmp_path):
        whole = make(burn_in=20).fit(X, Y)
        model = make(max_iter=30, burn_in=20, warm_start=True).fit(X, Y)
        assert_same_fit(model.set_params(max_iter=40).fit(X, Y), whole)
        for y in (None, [*Y[:5], None]):
            with pytest.raises(ValueError, match="X"):
                model.fit(X, y)
        for sequences in (X, PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 2)):
            path = tmp_path / f"{type(sequences).__name__}.ckpt"
            half = make(max_iter=30, burn_in=20).set_callbacks(Checkpoint(path))
            half.fit(sequences, Y)
            rest = make(burn_in=20).set_callbacks(Checkpoint(path))
            with pytest.raises(ValueError, match="X"):
                rest.fit(sequences, Y[::-1])
            assert_same_fit(rest.fit(sequences, Y), whole)

    def test_grid_search_keeps_them_with_their_sequences(self):
        search = GridSearchCV(make(max_iter=10), {"stickiness": [0.0, 5.0]}, cv=3).fit(X, Y)
        scores = search.cv_results_["mean_test_score"]
        alone = GridSearchCV(make(max_iter=10), {"stickiness": [0.0, 5.0]}, cv=3).fit(X)
        assert np.all(np.isfinite(scores))
        assert not np.array_equal(scores, alone.cv_results_["mean_test_score"])
        fitted = make(max_iter=10).fit(X, Y)
        assert fitted.score(X, Y) == fitted.score(X)


class TestPossibleTransitions:
    LADDER = np.eye(8, dtype=bool) | np.eye(8, k=1, dtype=bool)
    RING = np.eye(8, dtype=bool) | np.roll(np.eye(8, dtype=bool), 1, axis=1)

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
    def test_impossible_has_probability_0(self, params):
        allowed, start = self.RING if "duration" in params else self.LADDER, np.arange(8) == 0
        model = make(transitions=allowed, start=start, **params).fit(X)
        for sample in model.samples_:
            assert np.all(sample.transmat[~allowed] == 0.0)
            assert_array_equal(sample.startprob[1:], 0.0)
        _, drawn = model.sample(200, 3, random_state=0)
        _, later = model.sample(50, given=X, random_state=0)
        _, decoded = model.decode(X)
        for path in (*drawn, *decoded):
            assert path[0] == 0
        for path in (*drawn, *decoded, *later):
            assert np.all(allowed[path[:-1], path[1:]])

    def test_forecasts_never_go_back(self):
        model = make(4, transitions="left-right", max_iter=60).fit(X)
        assert np.all(np.tril(model.transmat_, -1) == 0.0)
        forecast = model.forecast(X[0], 30)
        assert np.all(forecast.mean > 11.0)  # the last state is absorbing

    def test_left_right_splits_a_return(self):
        """The level of the first and the last third is the same; states may not come back."""
        rng = np.random.default_rng(1)
        x = [np.repeat([0.0, 6.0, 0.0], 30) + rng.normal(size=90) for _ in range(4)]
        model = make(transitions="left-right", max_iter=60).fit(x)
        assert model.n_active_components_ == 3
        for path in model.predict(x):
            assert_array_equal(np.flatnonzero(np.diff(path)) + 1, [30, 60])

    def test_zeros_of_a_similarity(self):
        phi = np.where(self.LADDER, 1.0, 0.0)
        model = make(similarity=FixedSimilarity(phi)).fit(X)
        assert np.all(model.transmat_[phi == 0.0] == 0.0)
        assert_array_equal(model.similarity_, phi)

    def test_no_successor(self):
        """With a duration, every state ends."""
        with pytest.raises(ValueError, match="state 7 without a successor other than itself"):
            make(transitions="left-right", duration="poisson").fit(X)
        step = np.roll(np.eye(8), 1, axis=1)  # each state is followed by the next, the last by 0
        with pytest.raises(ValueError, match=r"state 7 without a successor\."):
            make(transitions="left-right", similarity=FixedSimilarity(step)).fit(X)

    def test_a_path_without_a_way(self):
        y = [None] * 5 + [np.where(PATH == 3, 0, -1)]
        y[5][0] = 1
        with pytest.raises(
            ValueError,
            match=r"y: .* step 35 of sequence 5 in state 0 after .* 1 at",
        ):
            make(transitions="left-right").fit(X, y)
        with pytest.raises(ValueError, match=r"init: .* step 0 of sequence 0 in state 3"):
            make(transitions="left-right", start=np.arange(8) == 0, init=[PATH[::-1]] * 6).fit(X)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"transitions": "right-left"}, "transitions"),
            ({"transitions": np.ones((7, 7), dtype=bool)}, r"transitions .* \(8, 8\)"),
            ({"transitions": np.full((8, 8), 0.5)}, "bool"),
            ({"transitions": np.triu(np.ones((8, 8), dtype=bool), 1)}, "row 7 allows no state"),
            ({"start": np.zeros(8, dtype=bool)}, "start allows no state"),
            ({"start": [True, False]}, r"start .* \(8,\)"),
            ({"transitions": "left-right", "state_order": "share"}, "state_order='share'"),
        ],
    )
    def test_errors(self, params, message):
        with pytest.raises(ValueError, match=message):
            make(**params).fit(X)

    @pytest.mark.parametrize(
        "params",
        [
            {},
            {"stickiness": "auto", "init": "random", "start": np.arange(8) == 0},
            {"transitions": RING, "duration": "poisson"},
            {"similarity": "gaussian"},
            {"transitions": None, "similarity": FixedSimilarity(np.where(LADDER, 1.0, 0.0))},
            {"init": PATHS},
        ],
    )
    @pytest.mark.parametrize("y", [None, Y])
    def test_partitions(self, params, y):
        parts = PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 3)
        params = {"transitions": "left-right", **params}
        model = make(**params).fit(parts, y)
        assert_same_fit(model, make(**params).fit(X, y))
        with pytest.raises(ValueError, match=r"init: .* in state 1 after state 3"):
            make(transitions="left-right", init=[[3, *[1] * 64]] * 6).fit(parts)


class TestOrder:
    def test_given_states_keep_their_numbers(self):
        model = make(4, init=PATHS).fit(X)
        assert np.abs(model.emission_.means.ravel() - [0.0, 4.0, 8.0, 12.0]).max() < 0.7
        both = make(6, init=[PATH + 2 for PATH in PATHS]).fit(X, [np.where(PATH == 1, 3, -1)] * 6)
        assert np.abs(both.emission_.means[2:, 0] - [0.0, 4.0, 8.0, 12.0]).max() < 0.7
        assert np.all(np.diff(make(4, init=PATHS, state_order="share").fit(X).state_shares_) <= 0)

    def test_rows_of_a_similarity_keep_their_numbers(self):
        phi = np.full((4, 4), 0.1) + 0.9 * np.eye(4) + np.diag([0.5, 0.5, 0.5], 1)
        phi = np.minimum(phi, 1.0)
        model = make(4, similarity=FixedSimilarity(phi), init=PATHS).fit(X)
        assert np.abs(model.emission_.means.ravel() - [0.0, 4.0, 8.0, 12.0]).max() < 0.7
        assert np.abs(model.similarity_ - phi).max() < 1e-6

    def test_by_mean(self):
        model = make(6, state_order="mean").fit(X)
        used = model.state_shares_ > 0.0
        assert_array_equal(used, np.arange(6) < used.sum())
        assert np.all(np.diff(model.emission_.means[used, 0]) > 0.0)
        with pytest.raises(ValueError, match="state_order='mean'"):
            make(4, state_order="mean", emission="categorical").fit([[0, 1, 1]])
        with pytest.raises(ValueError, match="known states in y"):
            make(state_order="mean").fit(X, Y)


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
