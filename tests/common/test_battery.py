"""What holds for every public estimator, on the instances of the registry."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from registry import CASES, METHODS, arguments, fitted, results
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from skdp import data
from skdp.context import LexicalizedEventModel
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM
from skdp.preprocessing import WindowFeatures
from skdp.sequence import StateDetector
from skdp.utils._checking import interrupt, list_fitted, same_fit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

every_case = pytest.mark.parametrize("name", CASES)
CHAINS = [
    name
    for name, case in CASES.items()
    if hasattr(case.estimator, "iter_sweeps") and "burn_in" in case.estimator.get_params()
]


def assert_same(found, expected):
    """Assert that results, or arrays and lists of them, are equal, bit for bit."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, list | tuple | data.TokenSequences | data.SegmentedCorpus):
        assert len(found) == len(expected)
        for one, two in zip(found, expected, strict=True):
            assert_same(one, two)
    elif hasattr(expected, "tocsr"):
        assert (found != expected).nnz == 0
    else:
        assert_array_equal(found, expected)


@every_case
def test_copies(name):
    """Copies give the same results; clones have the parameters and no fit."""
    case, model = CASES[name], fitted(name)
    expected = results(model, case.data)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        same_fit(model, twin)
        assert_same(results(twin, case.data), expected)
    again = clone(model)
    assert list_fitted(again) == set()
    assert repr(again) == repr(model)
    assert str(again) in again._repr_html_() or type(again).__name__ in again._repr_html_()


NEED_NO_FIT = ("_", "fit", "partial_fit", "iter_", "set_", "get_params", "get_metadata", "from_")


@every_case
def test_unfitted(name):
    """Every method says so before it looks at its arguments."""
    model = clone(CASES[name].estimator)
    names = [each for each in dir(type(model)) if not each.startswith(NEED_NO_FIT)]
    methods = [getattr(model, each) for each in names if inspect.ismethod(getattr(model, each, 0))]
    if isinstance(model, StateDetector):  # the number of its states is given
        methods.remove(model.get_feature_names_out)
    assert methods
    for method in methods:
        parameters = inspect.signature(method).parameters.values()
        required = [each for each in parameters if each.default is each.empty]
        with pytest.raises(NotFittedError, match=type(model).__name__):
            method(*[2] * sum(each.kind is each.POSITIONAL_OR_KEYWORD for each in required))


@every_case
def test_a_second_fit_is_the_first(name):
    """Also after one that was refused, which leaves what was learned."""
    case = CASES[name]
    model = clone(case.estimator).fit(*case.data)
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError)):
        model.fit([], *([] for _ in case.data[1:]))
    assert all(vars(model)[key] is value for key, value in before.items())
    same_fit(fitted(name), model)
    same_fit(fitted(name), model.fit(*case.data))


def swapped(X):
    """Return an array in the other byte order."""
    return X.astype(X.dtype.newbyteorder())


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


NAMES = ["one", "two", "three", "four", "five"]
TABLES = {
    "read-only": read_only,
    "columns first": np.asfortranarray,
    "other bytes": swapped,
    "every second": lambda X: np.repeat(X, 2, axis=0)[::2],
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES[: X.shape[1]]),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES[: X.shape[1]]),
    "arrow": lambda X: pl.DataFrame(X, schema=NAMES[: X.shape[1]]).to_arrow(),
}
LISTS = {"tuple": tuple, "Series": pd.Series, "array of objects": lambda X: as_objects(X)}
SEQUENCES = {
    **LISTS,
    "container": data.TokenSequences.from_sequences,
    "arrays": lambda X: [np.array(ids, dtype=np.uint8) for ids in X],
}
FORMS = {
    **dict.fromkeys(["table", "counts", "rows"], TABLES),
    "sentences": SEQUENCES,
    "documents": {**LISTS, "container": data.SegmentedCorpus.from_documents},
    "groups": {
        "tuple": tuple,
        "container": data.SequencePanel.from_sequences,
        "frames": lambda X: [pd.DataFrame(group) for group in X],
    },
    "strings": LISTS,
    "texts": LISTS,
    "events": {
        "pandas": lambda X: pd.DataFrame(X, columns=["one", "two"]),
        "objects": lambda X: np.array(X, dtype=object),
        "tuples": lambda X: [tuple(row) for row in X],
    },
}


def as_objects(X):
    array = np.empty(len(X), dtype=object)
    array[:] = X
    return array


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name, case in CASES.items() for form in FORMS.get(case.kind, ())],
)
def test_forms_of_data(name, form):
    """The container, the order and the type of the same data have no effect."""
    case, expected = CASES[name], fitted(name)
    X = FORMS[case.kind][form](case.data[0])
    model = clone(case.estimator).fit(X, *case.data[1:])
    if hasattr(model, "feature_names_in_"):
        assert model.feature_names_in_.tolist() == NAMES[: len(model.feature_names_in_)]
    else:  # names of columns are part of some fits
        same_fit(expected, model)
    assert_same(results(model, (X, *case.data[1:])), results(expected, case.data))


DOCUMENTS = [[[0, 1]], [[1]]]
PARTITIONS = [
    data.PartitionedCorpus.from_corpus(data.SegmentedCorpus.from_documents(DOCUMENTS), 2),
    data.PartitionedPanel.from_panel(data.SequencePanel.from_sequences([np.ones((3, 2))] * 2), 2),
    data.PartitionedSentences.from_sentences(data.TokenSequences.from_sequences([[0, 1], [1]]), 2),
]
TAKEN = {
    "HDPHMMLT": data.PartitionedPanel,
    "HDPPCFG": data.PartitionedSentences,
    **dict.fromkeys(
        "SegmentedTopicModel GibbsLDA SequentialLDA AdaptiveTopicModel"
        " LatentDirichletCoClustering".split(),
        data.PartitionedCorpus,
    ),
}


@every_case
def test_partitions(name):
    """Who cannot take them names the way out."""
    case = CASES[name]
    kind = TAKEN.get(type(case.estimator).__name__, ())
    for X in (each for each in PARTITIONS if not isinstance(each, kind)):
        with pytest.raises(TypeError, match=r"\.compute\(\)"):
            clone(case.estimator).fit(X, *case.data[1:])


WIDE = [n for n, case in CASES.items() if case.kind in ("table", "counts", "rows", "events")]


@pytest.mark.parametrize("name", WIDE)
def test_another_width(name):
    """New data with other columns are refused with both numbers."""
    case, model = CASES[name], fitted(name)
    X = [[*row, row[0]] for row in np.asarray(case.data[0], dtype=object)]
    for method in (each for each in METHODS if hasattr(model, each)):
        with pytest.raises(ValueError, match=f"X has {len(X[0])} features?, but .*expecting"):
            getattr(model, method)(*arguments(model, method, (X, *case.data[1:])))


@pytest.mark.parametrize("name", CHAINS)
def test_interrupts_in_the_burn_in(name):
    """The current state becomes the only sample, and a warm start goes on to the same bits."""
    case = CASES[name]
    parameters = {"max_iter": 12, "burn_in": 8, "n_chains": 2}
    stopped = clone(case.estimator).set_params(**parameters)
    with pytest.warns(UserWarning, match="interrupted in its burn-in"):
        interrupt(stopped, 3, *case.data)
    straight = clone(case.estimator).set_params(**parameters).fit(*case.data)
    assert list_fitted(stopped) == list_fitted(straight)
    assert stopped.trace_["log_joint"].shape == (2, 1)
    assert results(stopped, case.data).keys() == results(straight, case.data).keys()
    if len(case.data) == 1:
        assert np.isfinite(stopped.score(*case.data))
    same_fit(straight, stopped.set_params(warm_start=True).fit(*case.data))


LONG = ([1.0] * 10_000, "x" * 10_000, 10**4500, [10**4500])  # Python refuses to write the last ones


@every_case
def test_messages_stay_short(name):
    case = CASES[name]
    for key in case.estimator.get_params():
        for value in LONG:
            message = ""
            try:
                clone(case.estimator).set_params(**{key: value}).fit(*case.data)
            except (TypeError, ValueError) as error:
                message = str(error)
            assert len(message) < 1500, (key, message[:100])
            assert "integer string conversion" not in message, key


TABULAR = [
    name
    for name, case in CASES.items()
    if "transform" in (getattr(case.estimator, "_sklearn_auto_wrap_output_keys", None) or ())
    and hasattr(case.estimator, "set_output")
]


@pytest.mark.parametrize("name", TABULAR)
def test_set_output(name):
    case, model = CASES[name], fitted(name)
    for library in ("pandas", "polars"):
        twin = pickle.loads(pickle.dumps(model)).set_output(transform=library)
        found = twin.transform(case.data[0])
        assert list(found.columns) == list(model.get_feature_names_out())
        assert_array_equal(found.to_numpy(), model.transform(case.data[0]))


@pytest.mark.parametrize("name", [k for k, case in CASES.items() if hasattr(case[0], "transform")])
def test_a_pipeline_can_have_frames(name):
    make_pipeline(clone(CASES[name].estimator)).set_output(transform="pandas")


IGNORING_Y = (
    HierarchicalPitmanYorLM, KneserNeyLM, LexicalizedEventModel, WindowFeatures, SegmentVectorizer,
    TokenVectorizer,
)  # fmt: skip


@every_case
def test_y_without_entries(name):
    """It is refused by name, or never read, but not taken for nothing known."""
    case = CASES[name]
    if isinstance(case.estimator, IGNORING_Y):
        pytest.skip("ignores y, as transformers and language models do")
    X = case.data[0]
    once = (label for label in [0] * len(X))
    for y in (dict.fromkeys(range(len(X)), 0), np.array(1), {0, 1}, "yes", 1, once):
        model = clone(case.estimator)
        with pytest.raises((ValueError, TypeError), match=r"\by\b") as raised:
            model.fit(X, y)
        assert type(raised.value).__module__ != "numpy"
        assert list_fitted(model) == set()
