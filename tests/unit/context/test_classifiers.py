"""What holds for classifiers of outcomes in context: categories, levels, weights, explanations."""

import importlib.util
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
    HDPBackoffFeatures,
)
from skdp.context._backoff._columns import as_rows
from skdp.data._coding import Column
from skdp.data._frames import as_objects, columns_of
from skdp.utils._checking import same_fit

FEW = {"max_iter": 8, "random_state": 0}
BACKOFF = {
    "levels": HDPBackoffClassifier(None, **FEW),
    "contexts, no root": HDPBackoffClassifier(
        None, root=False, concentration_scope="context", **FEW
    ),
    "Dirichlet, two chains": HDPBackoffClassifier(None, discount=0.0, n_chains=2, **FEW),
    "Collins": CollinsBackoffClassifier(),
    "auto": HDPBackoffClassifier(**FEW),
    "auto, contexts": HDPBackoffClassifier(
        root=False, concentration_scope="context", n_chains=2, **FEW
    ),
}
CLASSIFIERS = {**BACKOFF, "similar": DistanceDependentCRPClassifier(**FEW)}


def each_of(models):
    return pytest.mark.parametrize("model", models.values(), ids=models)


def make_events(n=200, seed=0, n_columns=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, n_columns))
    y = (X[:, 0] + (rng.random(n) < 0.2)) % 4
    return X, y


@each_of(BACKOFF)
def test_order_of_rows_and_repetitions_change_no_bit(model):
    X, y = make_events()
    expected = clone(model).fit(X, y)

    def check(fitted):
        same_fit(expected, fitted)
        assert_array_equal(fitted.predict_proba(X), expected.predict_proba(X))

    order = np.random.default_rng(1).permutation(len(y))
    check(clone(model).fit(X[order], y[order]))
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    check(clone(model).fit(rows[:, :3], rows[:, 3], sample_weight=counts))
    more = np.vstack([rows, [[9, 9, 9, 0]]])
    weights = np.append(counts, 0.0)
    check(clone(model).fit(more[:, :3], more[:, 3], sample_weight=weights))


def frames(columns):
    """Yield frames and tables of the libraries that are here."""
    yield pd.DataFrame(columns)
    if importlib.util.find_spec("polars"):
        import polars

        yield polars.DataFrame(columns)
    if importlib.util.find_spec("pyarrow"):
        import pyarrow

        yield pyarrow.table(columns)


def results(model, X):
    return (model.predict_proba if hasattr(model, "predict_proba") else model.transform)(X)


@each_of({**CLASSIFIERS, "features": HDPBackoffFeatures(max_iter=6, cv=3, random_state=0)})
def test_what_categories_are_called_changes_nothing(model):
    """Integers, text, objects, frames: the same chain if the order is the same."""
    X, y = make_events()
    expected = results(clone(model).fit(X, y), X)
    words = np.array(["a", "b", "c", "d"])[X]
    for same in (
        X.astype(float), X.astype(object), X.tolist(), words, words.astype(object), words.tolist(),
        pd.DataFrame(words), pd.DataFrame(X).astype("category"), pd.DataFrame(X).astype("Int64"),
        pd.DataFrame({"x": X[:, 0], "y": words[:, 1], "z": words[:, 2]}),
        *frames({"x": words[:, 0].tolist(), "y": X[:, 1].tolist(), "z": X[:, 2].tolist()}),
    ):  # fmt: skip
        fitted = clone(model).fit(same, y)
        assert_array_equal(results(fitted, same), expected)
    fitted = clone(model).fit(words, np.array(list("wxyz"))[y])
    assert_array_equal(results(fitted, words.tolist()), expected)
    assert fitted.classes_.tolist() == list("wxyz")


def test_frames_and_levels():
    X, y = make_events()
    frame = pd.DataFrame(X, columns=["far", "near", "other"])
    model = HDPBackoffClassifier(["near", ["other", "far"]], **FEW).fit(frame, y)
    expected = HDPBackoffClassifier([[1], [2, 0]], **FEW).fit(X, y)
    assert_array_equal(model.predict_proba(frame), expected.predict_proba(X))
    assert model.feature_names_in_.tolist() == ["far", "near", "other"]
    assert model.n_contexts_.tolist() == [1, 4, len(np.unique(X, axis=0))]
    assert [step.level for step in model.explain(frame[:1])[0]] == [
        "base", "root", "near", "other, far"
    ]  # fmt: skip
    unused = frame.assign(far=np.nan)
    short = HDPBackoffClassifier(["near"], **FEW).fit(unused, y)
    assert np.isfinite(short.predict_proba(unused)).all()  # what no level names is not read
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["near", "far", "other"]])


class Color(Enum):
    RED = 1
    BLUE = 2


def test_objects():
    X = [[Color.RED, "none"], [Color.BLUE, ("a", 1)], [Color.RED, 3], [Color.BLUE, "3"]]
    model = CollinsBackoffClassifier(gamma=1.0).fit(X, [0, 1, 0, 1])
    assert model.predict(X).tolist() == [0, 1, 0, 1]
    assert model.n_contexts_.tolist() == [1, 2, 4]  # 3 and "3" differ
    assert model.predict([[Color.RED, 3.0]]).tolist() == [0]


def test_columns():
    column, codes = Column.of(np.array([3, 1, 3, 2]), "column 0")
    assert column.values.tolist() == [1, 2, 3]
    assert codes.tolist() == [2, 0, 2, 1]
    assert column.find(np.array([0, 1, 3, 9])).tolist() == [-1, 0, 2, -1]
    assert column.find(np.array([1.0, 1.5])).tolist() == [0, -1]
    assert column.find(np.array([2, "x"], dtype=object)).tolist() == [1, -1]
    column, codes = Column.of(as_objects(["b", ("c", 1), "a", 2, "b"]), "column 0")
    again, _ = Column.of(as_objects([2, "a", "b", ("c", 1)]), "column 0")
    assert column.values.tolist() == again.values.tolist()
    assert column.values[codes].tolist() == ["b", ("c", 1), "a", 2, "b"]


BIG = 2**53
IDS = [BIG, BIG + 1] * 4
"""As numbers in double precision they are the same."""


def tables_of_ids():
    halves = [0.5] * len(IDS)
    pairs = list(zip(IDS, halves, strict=True))
    yield [list(pair) for pair in pairs]
    yield tuple(pairs)
    yield [np.array(pair, dtype=object) for pair in pairs]
    yield [[np.int64(number), np.float64(half)] for number, half in pairs]
    yield [[-number, half] for number, half in pairs]
    yield [[number + 2**63, -1] for number in IDS]  # some unsigned, some negative
    yield [[number] for number in IDS[:-1]] + [[0.5]]
    yield from frames({"id": IDS, "half": halves})
    yield pd.DataFrame({"id": pd.array(IDS, "Int64"), "half": halves})


def comparing_ids(A, B):
    return np.array([[float(a[0] == b[0]) for b in B] for a in A])


@each_of({**CLASSIFIERS, "own kernel": DistanceDependentCRPClassifier(comparing_ids, **FEW)})
def test_long_ids_are_not_merged(model):
    y = [0, 1] * 4
    for X in tables_of_ids():
        probabilities = clone(model).fit(X, y).predict_proba(X)
        assert probabilities[0, 0] > probabilities[1, 0]


def test_rows_of_a_kernel_are_not_rounded():
    half = np.full(8, 0.5)
    assert as_rows([np.array(IDS), half]).dtype == object
    assert as_rows([np.array(IDS), np.array(IDS)]).dtype == np.int64
    assert as_rows([np.arange(8), half]).dtype == np.float64


class Series(list):
    """A column of a library that numpy cannot read."""

    def __array__(self, dtype=None, copy=None):
        raise NotImplementedError("128 bits")

    def to_list(self):
        return list(self)


class Table(dict):
    shape = (2, 2)
    columns = ("wide", "pair")

    def __arrow_c_stream__(self):
        raise NotImplementedError


def test_columns_that_numpy_does_not_have():
    wide, pair = columns_of(Table(wide=Series([2**100, 1]), pair=Series([(1, 2), (3, 4)])))
    assert wide.tolist() == [2**100, 1]
    assert pair.tolist() == [(1, 2), (3, 4)]


def tables_with(missing):
    words, numbers = ["a", "b", "a", missing], [1.0, 2.0, 1.0, missing]
    for column in (words, numbers):
        yield [[value] for value in column]
        yield np.array([[value] for value in column], dtype=object)
        yield pd.DataFrame({"c": pd.Series(column, dtype=object)})
    yield pd.DataFrame({"c": pd.Series(words, dtype="str")})
    yield pd.DataFrame({"c": pd.Series(words, dtype=object).astype("category")})
    if missing is None:
        yield from frames({"c": words})
        yield from frames({"c": [1, 2, 1, None]})
        yield from frames({"c": [True, False, True, None]})
        yield pd.DataFrame({"c": pd.array([1, 2, 1, None], "Int64")})
        yield pd.DataFrame({"c": pd.array([True, False, True, None], "boolean")})


MISSING = [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.float32("nan")]


@pytest.mark.filterwarnings("ignore:X has feature names")
@each_of({name: CLASSIFIERS[name] for name in ("levels", "auto, contexts", "similar")})
def test_a_missing_value_is_a_category_in_all_containers(model):
    """A fit to values with one more category is the same; if none was missing, it is unknown."""
    y = [0, 1, 0, 1]
    expected = [
        clone(model).fit(X, y).predict_proba(X)
        for X in ([["a"], ["b"], ["a"], ["z"]], [["b"], ["a"], ["b"], ["z"]])  # or True, False
    ]
    fitted = clone(model).fit([["a"], ["b"]], [0, 1])
    for missing in MISSING:
        for X in tables_with(missing):
            found = clone(model).fit(X, y).predict_proba(X)
            assert any(np.array_equal(found, each) for each in expected)
        assert_array_equal(fitted.predict_proba([[missing]]), fitted.predict_proba([["z"]]))
        with pytest.raises(ValueError, match="contains NaN, None or another missing value"):
            clone(model).fit([[("a", missing)], ["b"], ["a"], ["b"]], y)


@each_of(CLASSIFIERS)
def test_classes_and_scores(model):
    """Classes that no row has are possible; scores are those of the probabilities."""
    X, y = make_events()
    fitted = clone(model).set_params(classes=[7, 5, 3, 2, 1, 0]).fit(X, y)
    assert fitted.classes_.tolist() == [0, 1, 2, 3, 5, 7]
    proba = fitted.predict_proba(X)
    assert np.all(proba > 0.0)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(proba[:, 4], proba[:, 5])
    assert_allclose(np.exp(fitted.predict_log_proba(X)), proba)
    assert_allclose(fitted.score_samples(X, y), np.log(proba[np.arange(len(y)), y]))
    assert_allclose(fitted.score_samples(X), np.log(proba.max(axis=1)))
    assert_allclose(fitted.score_samples(X[:1], [7]), np.log(proba[:1, 5]))
    assert fitted.score(X, y) == np.mean(fitted.predict(X) == y)
    alone = clone(model).fit([["a"], ["b"]], [3, 3])
    assert alone.predict([["a"], ["c"]]).tolist() == [3, 3]
    assert_allclose(alone.predict_proba([["a"], ["c"]]), 1.0)


@pytest.mark.parametrize("gamma", [2**31, 2**63, 2**70, 1e300])
def test_any_number_is_a_gamma(gamma):
    X, y = [["a", 1], ["b", 1], ["a", 2]], [0, 1, 0]
    shares = CollinsBackoffClassifier(gamma=gamma).fit(X, y).predict_proba(X)
    assert_allclose(shares, 0.5, atol=1e-6)  # every context is diluted


def test_explanations_add_up():
    X, y = make_events()
    X[:5] += 100  # not seen
    for model in list(BACKOFF.values())[:4]:
        fitted = clone(model).fit(X[5:], y[5:])
        frame = fitted.explain(X[:20], as_frame=True)
        n_levels = 4 + fitted.root
        assert len(frame) == 20 * n_levels
        weights = frame["weight"].to_numpy().reshape(20, -1)
        assert np.all(weights >= 0.0)
        assert_allclose(weights.sum(axis=1), 1.0)
        assert_allclose(
            frame["probability"].to_numpy().reshape(20, -1).sum(axis=1),
            fitted.predict_proba(X[:20]).max(axis=1),
        )
        assert np.all(weights[:5, -3:] == 0.0)
        rows = fitted.explain(X[:20])
        assert rows[7][-1].context == tuple(X[7])
        assert rows[7][-1].customers == np.sum(np.all(X[5:] == X[7], axis=1))


def test_states():
    X, y = make_events()
    model = HDPBackoffClassifier([[0], [1, 2]], classes=range(6), **FEW)
    state = [state.copy() for state in model.iter_sweeps(X, y)][-1]
    assert [len(part) for part in state.tables] == [len(part) for part in state.outcomes]
    assert [part.shape[1] for part in state.contexts] == [0, 1, 3]
    events = np.column_stack([X, y])
    cells = np.column_stack([state.contexts[2].astype(int), state.outcomes[2]])
    rows, counts = np.unique(events, axis=0, return_counts=True)
    assert_array_equal(cells, rows)
    assert_array_equal(state.customers[2], counts)
    for m in (1, 2):
        assert state.tables[m].sum() == state.customers[m - 1].sum()
        assert np.all(state.tables[m] <= state.customers[m])
    given = model.set_params(concentration=[3.0, 2.0, 1.0], concentration_scope="context").fit(X, y)
    assert_array_equal(given.concentrations_, [3.0, 2.0, 1.0])  # given ones are shared
    own = clone(model).set_params(concentration="auto").fit(X, y)
    assert [len(part) for part in own.concentrations_] == own.n_contexts_.tolist()


SIMILAR = DistanceDependentCRPClassifier(thin=5, n_chains=2, random_state=0)


@pytest.mark.parametrize(
    ("model", "n_columns"),
    [
        (HDPBackoffClassifier([1, [0, 2]], random_state=0), 3),
        (HDPBackoffClassifier([1, [0, 2]], concentration_scope="context", random_state=0), 3),
        (HDPBackoffClassifier(random_state=0), 4),
        (HDPBackoffClassifier(n_chains=2, concentration_scope="context", random_state=0), 3),
        (SIMILAR, 3),
        (clone(SIMILAR).set_params(outcome_model="dirichlet"), 8),
        (clone(SIMILAR).set_params(kernel="overlap", weights="auto"), 8),
    ],
)
@pytest.mark.parametrize("stop", [3, 7])
def test_a_fit_that_goes_on_is_a_straight_one(model, n_columns, stop):
    """Whether it stopped in the burn-in or after it."""
    X, y = make_events(100, n_columns=n_columns)
    model.set_params(burn_in=4, max_iter=14)
    straight = clone(model).fit(X, y)
    first = clone(model).set_params(max_iter=stop, warm_start=True).fit(X, y)
    second = first.set_params(max_iter=14).fit(X, y)
    same_fit(straight, second)
    assert_array_equal(straight.predict_proba(X), second.predict_proba(X))
