"""Labels of documents: what y may be, and that topics obey it. Fits that continue: test_hints.py"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MultiLabelBinarizer
from unit.topics.partitions import CORPUS, make

from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LABELS = [{0, 1}, None, frozenset([2]), set()] * 6
ALLOWED = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1]] * 6, dtype=bool)
OF_WORDS = np.repeat(np.arange(24), np.diff(CORPUS.segment_ptr[CORPUS.doc_ptr]))
N_SEGMENTS = np.diff(CORPUS.doc_ptr)
MODELS = [GibbsLDA, SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel]
SEEDS = {"seed_words": {"a": [0], "b": [5]}, "seed_weight": 5}


def topics_of(y, cls=GibbsLDA, **params):
    return make(cls, **params).fit(CORPUS, y).components_


def assert_same_as_sets(y, sets=LABELS, **params):
    assert_array_equal(topics_of(y, **params), topics_of(sets, **params))


def by_segment(y):
    return [[labels] * n for labels, n in zip(y, N_SEGMENTS, strict=True)]


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("cls", MODELS)
def test_words_and_documents_obey(cls, n_shards):
    model = make(cls, n_shards=n_shards, n_chains=2).fit(CORPUS, LABELS)
    assert np.all(model.doc_topic_[~ALLOWED] == 0.0)
    assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    for state in make(cls, n_shards=n_shards).iter_sweeps(CORPUS, LABELS):
        assert ALLOWED[OF_WORDS, state.topics].all()
        assert not state._sampler.topics_trade_places
    assert np.all(model.transform(CORPUS) > 0.0)  # y is not known of new documents


IGNORED = {
    "none": None,
    "integers": list(range(24)),
    "array": np.arange(24),
    "strings": ["a", "b"] * 12,
    "series": pd.Series([1.5] * 24),
    "targets": np.full((24, 2), 0.5),
    "column": np.ones((24, 1)),
    "text": np.full((24, 3), "a"),
    "unknown rows": np.full((24, 3), -1),
    "sparse": sparse.csr_array(np.full((24, 4), 2)),
    "objects": np.full((24, 3), None),
    "unknown": [None] * 24,
    "frame": pd.DataFrame(np.full((24, 3), "a")),
}


@pytest.mark.parametrize("y", IGNORED)
def test_class_labels_are_ignored(y):
    assert_array_equal(
        topics_of(IGNORED[y], SegmentedTopicModel), topics_of(None, SegmentedTopicModel)
    )


def test_kinds_of_sets():
    """Tuples, arrays and series of sets, numpy numbers and names are read like lists of sets."""
    names = {0: "a", 1: "b", 2: 2}
    for y in (
        tuple(LABELS),
        pd.Series(LABELS),
        np.array(LABELS, dtype=object),
        [None if s is None else {np.int64(k) for k in s} for s in LABELS],
        [None if s is None else {names[k] for k in s} for s in LABELS],
    ):
        assert_same_as_sets(y, **SEEDS)


def test_columns_of_arrow():
    names = ["a", None, "b", "a"] * 6
    for y in (pa.array(names), pa.chunked_array([names]), pa.array(names).dictionary_encode()):
        assert_same_as_sets(y, [name and {name} for name in names], **SEEDS)
    table = pa.table({"b": MATRIX[:, 0], "a": MATRIX[:, 1], "other": MATRIX[:, 2]})
    with pytest.raises(ValueError, match="column 0 is 'b', which is topic 1"):
        topics_of(table, **SEEDS)
    assert_array_equal(
        topics_of(None, seed_words={"a": pa.array([0]), "b": pa.array([5])}, seed_weight=5),
        topics_of(None, **SEEDS),
    )


def test_sets_of_segments():
    model = make(level="segment", cls=GibbsLDA).fit(CORPUS, by_segment(LABELS))
    assert np.all(model.segment_topic_[~np.repeat(ALLOWED, N_SEGMENTS, axis=0)] == 0.0)
    assert_array_equal(model.components_, topics_of(LABELS, level="segment"))


MATRIX = ALLOWED.copy()
MATRIX[3::4] = False  # no label


def test_matrices():
    """A matrix of zeros and ones is read like the list of the sets of its rows."""
    unknown = MATRIX.astype(float)
    unknown[1::4], unknown[3::4] = -1.0, np.nan
    sets = [labels or set() for labels in LABELS]
    for y in (
        MATRIX, MATRIX.astype(np.int8), MATRIX.astype(float), MATRIX.astype(object), unknown,
        pd.DataFrame(MATRIX), pd.DataFrame(MATRIX.astype(int), columns=list("abc")),
        pl.DataFrame(MATRIX, schema=list("abc")),
        sparse.csr_matrix(MATRIX), sparse.csc_array(MATRIX.astype(int)),
        MultiLabelBinarizer(classes=[0, 1, 2]).fit_transform(sets),
    ):  # fmt: skip
        assert_same_as_sets(y)
    for cls in MODELS[1:]:
        assert_same_as_sets(MATRIX, cls=cls)
    assert_same_as_sets(MATRIX, level="segment")


def test_nullable_frames():
    y = pd.DataFrame(MATRIX).astype("boolean")
    y.iloc[3::4] = pd.NA
    counts = y.astype("Int64")
    for frame in (y, counts, y.astype(object), counts.astype({0: object}), counts.to_numpy()):
        assert_same_as_sets(frame)


def replace(value, column=slice(None), row=5):
    matrix = np.array(MATRIX, dtype=float)
    matrix[row, column] = value
    return matrix


@pytest.mark.parametrize(
    ("y", "what"),
    [
        (replace(np.nan, 1), "an unknown entry in row 5, column 1"),
        (replace(-1, 2), "an unknown entry in row 5, column 2"),
        (pd.DataFrame(replace(np.nan, 1)).astype("Int64"), "an unknown entry in row 5, column 1"),
        (replace(2), "2 in row 5, column 0"),
        (replace(-2, 0), "-2 in row 5, column 0"),
        (replace(np.inf, 2), "inf in row 5, column 2"),
        (sparse.csr_array(replace(2, 1)), "2 in row 5, column 1"),
        (replace(0.5, row=slice(None)), "0.5 in row 0"),
    ],
    ids=["unknown entry", "-1", "NA", "2", "-2", "infinity", "sparse", "targets"],
)
def test_matrices_that_are_no_labels(y, what):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = topics_of(y, max_iter=2)
    text = " ".join(str(w.message) for w in caught)
    assert f"y is ignored: it has a column for each of 3 topics, but {what}" in text
    assert_array_equal(found, topics_of(None, max_iter=2))


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (GibbsLDA(4), "this GibbsLDA, whose labels name 4 topics"),
        (HDPTopicModel(), "this HDPTopicModel"),
        (LatentDirichletCoClustering(3), "this LatentDirichlet"),
    ],
)
def test_other_matrices_are_ignored_loudly(model, why):
    model.set_params(max_iter=3, random_state=0)
    expected = clone(model).fit(CORPUS)
    with pytest.warns(UserWarning, match=f"y is ignored.*3 columns, which is no input for {why}"):
        model.fit(CORPUS, MATRIX)
    assert_array_equal(model.components_, expected.components_)


def test_columns_by_name():
    frame = pd.DataFrame(MATRIX, columns=["a", "b", "other"])
    assert_same_as_sets(frame, **SEEDS)
    with pytest.raises(ValueError, match="column 0 is 'b', which is topic 1"):
        topics_of(frame[["b", "a", "other"]], **SEEDS)


OPEN = {
    "hdp": HDPTopicModel(),
    "hdp of segments": HDPTopicModel(level="segment"),
    "segmented": SegmentedTopicModel("auto"),
    "adaptive": AdaptiveTopicModel("auto"),
    "lda start": SegmentedTopicModel("auto", init="lda"),
}
OF_OPEN = [{"a", 1}, None, frozenset([1]), set()] * 6
ALLOWED_OF_OPEN = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 1, 1]] * 6, dtype=bool)


def make_open(name, **params):
    params = {"initial_components": 4, "max_iter": 12, "thin": 2, "random_state": 0, **params}
    return clone(OPEN[name]).set_params(**SEEDS, **params)


@pytest.mark.parametrize("name", OPEN)
def test_inferred_numbers_of_topics(name):
    """A label names topics with hints; other documents may have any topics."""
    first = "auto" if name == "segmented" else 4
    model = make_open(name, initial_components=first).fit(CORPUS, OF_OPEN)
    if name != "hdp of segments":
        further = np.repeat(ALLOWED_OF_OPEN[:, 2:], model.n_components_ - 2, axis=1)
        is_allowed = np.hstack([ALLOWED_OF_OPEN[:, :2], further])
        assert np.all(model.doc_topic_[~is_allowed] == 0.0)
    assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    assert model.topic_names_[:2] == ["a", "b"]
    for state in make_open(name, initial_components=first).iter_sweeps(CORPUS, OF_OPEN):
        assert ALLOWED_OF_OPEN[OF_WORDS, np.minimum(state.topics, 2)].all()
    matrix = np.array(ALLOWED_OF_OPEN[:, :2])
    matrix[1::2] = False
    y = by_segment(OF_OPEN) if name == "hdp of segments" else matrix
    again = make_open(name, initial_components=first).fit(CORPUS, y)
    assert_array_equal(again.components_, model.components_)


def test_every_document_has_a_label():
    model = make_open("hdp").fit(CORPUS, [{0, 1}] * 24)
    assert np.all(model.doc_topic_[:, 2:] == 0.0)
    assert model.trace_["n_components"][0, -1] == 2
