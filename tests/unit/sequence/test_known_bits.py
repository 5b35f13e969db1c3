"""Known bits of the factors of a factorial hidden Markov model at some steps."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skdp.callback import Checkpoint
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission, FactorialHMM
from skdp.sequence._factorial._alignment import FactorialDraw, name_factors
from skdp.sequence._factorial._known_bits import name_paths
from skdp.sequence._factorial._model import FactorialModel

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
)

RNG = np.random.default_rng(0)
WEIGHTS = np.array([[0.5, -0.2, 0.1], [2.0, 0.0, 1.0], [0.0, 2.0, -1.5], [-1.0, 1.5, 2.0]])
BITS = (RNG.random((3, 60, 3)) < 0.08).cumsum(axis=1) % 2
X = list(WEIGHTS[0] + BITS @ WEIGHTS[1:] + 0.3 * RNG.normal(size=(3, 60, 3)))
BITS[:, :, 1] = 1 - BITS[:, :, 1]  # for the user, this factor is on where its weights are absent
Y = list(np.where(RNG.random(BITS.shape) < 0.06, BITS, -1))
KNOWN = np.concatenate(Y)


def make(n_factors=3, **params):
    return FactorialHMM(n_factors, **{"max_iter": 40, "random_state": 0, **params})


def assert_same_fit(first, second):
    assert_array_equal(first.trace_["log_joint"], second.trace_["log_joint"])
    assert_array_equal(first.weights_, second.weights_)
    assert_array_equal(first.transmat_, second.transmat_)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
@pytest.mark.parametrize("n_factors", [3, "auto"])
def test_factors_have_the_numbers_and_values_of_the_user(n_factors, order):
    model = make(n_factors).fit(X, [y[:, order] for y in Y])
    found = np.concatenate(model.predict(X))[:, :3]
    assert np.mean(found == np.concatenate(BITS)[:, order]) > 0.97
    expected = WEIGHTS[1:] * np.array([1, -1, 1])[:, np.newaxis]
    assert np.abs(model.weights_[1:4] - expected[order]).max() < 0.4


def test_known_factors_come_first_in_a_buffet():
    y = [known[:, [2]] for known in Y]
    model = make("auto").fit(X, y)
    found = np.concatenate(model.predict(X))
    assert np.mean(found[:, 0] == np.concatenate(BITS)[:, 2]) > 0.97
    assert found.shape[1] >= 3
    shares = model.factor_shares_[1:]
    assert np.all(np.diff(shares) <= 0.0)
    assert np.all(shares <= 0.5)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_factors": "auto"},
        {"block_size": 1},
        {"emission": BinaryFactorEmission(3, init="random")},
        {"n_factors": "auto", "emission": BinaryFactorEmission("auto", init="random")},
        {"emission": BinaryFactorEmission(3, weights=WEIGHTS)},
        {"emission": BinaryFactorEmission(3, weights=WEIGHTS, init="random")},
    ],
)
def test_no_sweep_changes_them(params):
    wrong = [np.where(known >= 0, 1 - known, -1) for known in Y[:1]]  # partly far from the data
    for y in (Y, [*wrong, *Y[1:]]):
        known = np.concatenate(y)
        for state in make(**{"max_iter": 15, **params}).iter_sweeps(X, y):
            assert_array_equal(state.activities[:, :3][known >= 0], known[known >= 0])


@pytest.mark.parametrize("n_factors", [3, "auto"])
def test_activities_of_the_fit_are_given_what_is_known(n_factors):
    y = [known.copy() for known in Y]
    y[2][50] = 1 - BITS[2, 50]  # far from the data
    known = np.concatenate(y)
    found = np.concatenate(make(n_factors).fit_predict(X, y))
    assert_array_equal(found[:, :3][known >= 0], known[known >= 0])
    assert_array_equal(make(n_factors).fit(X, y).predict(X)[2][50, :3], BITS[2, 50])
    single = make().fit_predict(X[0], Y[0])
    assert single.shape == (60, 3)
    assert_array_equal(make(use_y=False).fit_predict(X[0], Y[0]), make().fit_predict(X[0]))


def test_columns_without_a_known_bit_are_ordered_by_share():
    y = [np.where(np.arange(3) == 1, known, -1) for known in Y]
    model = make().fit(X, y)
    assert np.abs(model.weights_[2] + WEIGHTS[2]).max() < 0.4
    assert model.factor_shares_[2] <= model.factor_shares_[0] <= 0.5


def test_columns_that_are_known_to_be_off():
    y = [np.where(np.arange(3) == 1, 0, -1) * np.ones((60, 1), dtype=int) for _ in X]
    model = make().fit(X, y)
    assert model.factor_shares_[1] == 0.0
    assert not np.concatenate(model.fit_predict(X, y))[:, 1].any()


def test_containers():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    quick = {"max_iter": 8}
    first = make(**quick).fit(X[0], Y[0])
    with_none = [[None if bit < 0 else int(bit) for bit in row] for row in Y[0]]
    with_nan = np.where(Y[0] < 0, np.nan, Y[0])
    with_na = [[pd.NA if bit < 0 else bit for bit in row] for row in Y[0]]
    for y in (with_none, with_nan, with_na, Y[0].astype(np.int8), list(Y[0]), [Y[0]]):
        assert_same_fit(make(**quick).fit(X[0], y), first)
    frame = pd.DataFrame(with_nan, columns=list("abc"))
    for y in (frame, [frame], pl.DataFrame(frame)):
        assert_same_fit(make(**quick).fit(X[0], y), first)
    whole = make(**quick).fit(X[0], BITS[0].astype(int))
    assert_same_fit(make(**quick).fit(X[0], BITS[0] == 1), whole)
    bools = [[None if bit < 0 else bool(bit) for bit in row] for row in Y[0]]
    for y in (bools, pd.DataFrame(bools).astype("boolean"), [pl.DataFrame(bools, orient="row")]):
        assert_same_fit(make(**quick).fit(X[0], y), first)
    two = make(**quick).fit(X[:2], [Y[0], None])
    unknown = np.full((60, 3), -1)
    panel = SequencePanel.from_sequences(X[:2])
    for y in ([frame, unknown], np.array([Y[0], unknown]), np.concatenate([Y[0], unknown])):
        assert_same_fit(make(**quick).fit(panel, y), two)
    assert_same_fit(make(**quick).fit(panel, [*with_none, *unknown.tolist()]), two)
    assert_same_fit(make(n_factors=np.int64(3), **quick).fit(X[:2], [Y[0], None]), two)


def test_nothing_known_is_no_hint():
    quick = {"max_iter": 8}
    for n_factors in (3, "auto"):
        expected = make(n_factors, **quick).fit(X)
        for y in ([np.full((60, 3), -1)] * 3, [None] * 3, list("abc"), range(3)):
            assert_same_fit(make(n_factors, **quick).fit(X, y), expected)
        assert_same_fit(make(n_factors, use_y=False, **quick).fit(X, Y), expected)
    assert_same_fit(make(**quick).fit(X[0], np.arange(60)), make(**quick).fit(X[0]))  # classes


@pytest.mark.parametrize("n_factors", [3, "auto"])
def test_classes_of_steps_are_no_bits(n_factors):
    x, n_steps = [X[0], X[1][:45], X[2]], [60, 45, 60]
    expected = make(n_factors, max_iter=4).fit(x)
    zeros = [np.zeros(n, dtype=int) for n in n_steps]
    for y in (zeros, [["a"] * n for n in n_steps], [None, *zeros[1:]]):
        assert_same_fit(make(n_factors, max_iter=4).fit(x, y), expected)
    single = make(n_factors, max_iter=4)
    assert_same_fit(clone(single).fit(X[0], [zeros[0]]), single.fit(X[0]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:2], r"180 rows of bits.* 3 such arrays.* got 2 entries"),
        ([*Y[:2], Y[2][:-1]], r"y\[2\]\[:, 0\] must have shape \(60,\), a bit per step"),
        ([*Y[:2], Y[2][:, :2]], r"y\[2\] must have n_factors=3 columns.*shape \(60, 2\).*use_y"),
        ([*Y[:2], np.where(BITS[2] == 1, 2, -1)], r"y\[2\]\[:, \d\] .* 0 to 1.*\[\d+\]=2"),
        ([*Y[:2], Y[2] - 1], "=-2"),
        ([*Y[:2], Y[2] + 0.5], "integers"),
        ([*Y[:2], [["a"] * 3] * 60], "use_y=False"),
        ([*Y[:2], Y[2][:, 0]], r"y\[2\] must have a row for each step.*\(60,\)"),
        ([*Y[:2], [[0, 1, 1], [0, 1]]], r"y\[2\] must have a row for each step"),
        (KNOWN[:-1], r"180 rows of bits"),
        ([np.zeros(60), np.zeros(59), np.zeros(60)], r"180 rows of bits.*got 3 entries"),
        ("abc", "an array, or a list"),
    ],
)
def test_errors(y, message):
    model = make()
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([np.where(known == 1, -1, known) for known in Y], r"y\[:, 0\] holds no 1"),
        ([*Y[:2], Y[2][:, :2]], "the same number of columns"),
        ([np.ones((60, 80))] * 3, r"at most \d+ columns"),
    ],
)
def test_errors_of_a_buffet(y, message):
    with pytest.raises(ValueError, match=message):
        make("auto").fit(X, y)


@pytest.mark.parametrize("n_factors", [3, "auto"])
def test_warm_start_sweeps_and_checkpoints(n_factors, tmp_path):
    whole = make(n_factors, burn_in=20).fit(X, Y)
    *_, last = make(n_factors).iter_sweeps(X, Y)
    assert last.log_joint() == whole.trace_["log_joint"][0, -1]
    model = make(n_factors, max_iter=30, burn_in=20, warm_start=True).fit(X, Y)
    model = pickle.loads(pickle.dumps(model))
    assert_same_fit(model.set_params(max_iter=40).fit(X, Y), whole)
    for y in (None, [*Y[:2], None]):
        with pytest.raises(ValueError, match="X"):
            model.fit(X, y)
    path = tmp_path / "fit.ckpt"
    make(n_factors, max_iter=30, burn_in=20).set_callbacks(Checkpoint(path)).fit(X, Y)
    rest = make(n_factors, burn_in=20).set_callbacks(Checkpoint(path))
    with pytest.raises(ValueError, match="X"):
        rest.fit(X, Y[::-1])
    assert_same_fit(rest.fit(X, Y), whole)
    assert clone(rest).use_y is True


def test_grid_search_keeps_them_with_their_sequences():
    search = GridSearchCV(make(max_iter=8), {"block_size": [1, 2]}, cv=3).fit(X, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_paths_take_the_names_with_which_they_agree():
    bits = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], dtype=np.int8).T
    known = np.array([[-1, 1, 1, -1], [-1, -1, 0, 0]], dtype=np.int8).T
    assert_array_equal(name_paths(bits, known).T, [[0, 1, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1]])
    assert_array_equal(name_paths(bits[:, :1], known).T, [[0, 1, 1, 0], [1, 1, 0, 0]])


def test_named_factors_are_not_aligned():
    """A factor that is rarely on would come last, and one that is mostly on would be flipped."""
    paths = np.array([[0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]], dtype=np.int8).T
    known = np.array([[-1, 1, -1, -1]], dtype=np.int8).T

    def draw(order, log_joint):
        own = paths[:, order]
        weights = np.array([0.0, *order])[:, np.newaxis]
        model = FactorialModel(
            np.full((3, 2), 0.5), np.full((3, 2, 2), 0.5), weights, np.ones(1), ("normal",),
            own.mean(axis=0),
        )  # fmt: skip
        return FactorialDraw(model, own, log_joint)

    def name(*draws):
        models, _ = name_factors(list(draws), known, exchangeable=True)
        return [model.weights[1:, 0].tolist() for model in models]

    assert name(draw([0, 1, 2], 0.0)) == [[0.0, 2.0, -1.0]]
    assert name(draw([1, 0, 2], 0.0)) == [[1.0, 2.0, 0.0]]
    # In the second sample, path 1 has the known bit and path 0 resembles the first sample's.
    assert name(draw([0, 1, 2], 1.0), draw([1, 0, 2], 0.0)) == [[0.0, 2.0, -1.0], [1.0, 2.0, 0.0]]
