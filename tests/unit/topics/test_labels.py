"""Labels of documents: what y may be, resumed fits, shards."""

import importlib.util
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MultiLabelBinarizer
from unit.topics.partitions import CORPUS, assert_nothing_is_left, assert_same, split

from skdp.callback import Checkpoint
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
MODELS = [GibbsLDA, SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel]


def make(cls=GibbsLDA, **params):
    return cls(3, **{"max_iter": 12, "thin": 2, "random_state": 0, **params})


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("cls", MODELS)
def test_words_and_documents_obey(cls, n_shards):
    model = make(cls, n_shards=n_shards, n_chains=2).fit(CORPUS, LABELS)
    assert np.all(model.doc_topic_[~ALLOWED] == 0.0)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    for state in make(cls, n_shards=n_shards).iter_sweeps(CORPUS, LABELS):
        assert ALLOWED[OF_WORDS, state.topics].all()
        assert not state._sampler.topics_trade_places
    assert np.all(model.transform(CORPUS) > 0.0)  # y is not known of new documents


@pytest.mark.parametrize(
    "y",
    [
        None, list(range(24)), np.arange(24), ["a", "b"] * 12, pd.Series([1.5] * 24),
        np.full((24, 2), 0.5), np.ones((24, 1)), np.full((24, 3), "a"), np.full((24, 3), -1),
        sparse.csr_array(np.full((24, 4), 2)), np.full((24, 3), None), [None] * 24,
        pd.DataFrame(np.full((24, 3), "a")),
    ],
    ids=[
        "none", "ints", "array", "strings", "series", "targets", "column", "text", "unknown rows",
        "sparse", "objects", "unknown", "frame",
    ],
)  # fmt: skip
@pytest.mark.parametrize("cls", MODELS[:2])
def test_class_labels_are_ignored(cls, y):
    expected = make(cls).fit(CORPUS)
    assert_array_equal(make(cls).fit(CORPUS, y).components_, expected.components_)


def test_kinds_of_sets():
    """Tuples, arrays and series of sets, numpy numbers and names are read like lists of sets."""
    seeds = {"seed_words": {"a": [0], "b": [5]}, "seed_weight": 5}
    expected = make(**seeds).fit(CORPUS, LABELS)
    names = {0: "a", 1: "b", 2: 2}
    others = [
        tuple(LABELS),
        pd.Series(LABELS),
        np.array(LABELS, dtype=object),
        [None if s is None else {np.int64(k) for k in s} for s in LABELS],
        [None if s is None else {names[k] for k in s} for s in LABELS],
    ]
    for y in others:
        assert_array_equal(make(**seeds).fit(CORPUS, y).components_, expected.components_)


MATRIX = ALLOWED.copy()
MATRIX[3::4] = False  # no label


def test_matrices():
    """A matrix of zeros and ones is read like the list of the sets of its rows."""
    expected = make().fit(CORPUS, LABELS)
    unknown = MATRIX.astype(float)
    unknown[1::4], unknown[3::4] = -1.0, np.nan
    matrices = [
        MATRIX, MATRIX.astype(np.int8), MATRIX.astype(float), MATRIX.astype(object), unknown,
        pd.DataFrame(MATRIX), pd.DataFrame(MATRIX.astype(int), columns=list("abc")),
        *polars_frames(),
        sparse.csr_matrix(MATRIX), sparse.csc_array(MATRIX.astype(int)),
    ]  # fmt: skip
    for y in matrices:
        assert_array_equal(make().fit(CORPUS, y).components_, expected.components_)
    sets = [labels or set() for labels in LABELS]
    y = MultiLabelBinarizer(classes=[0, 1, 2]).fit_transform(sets)
    assert_array_equal(make().fit(CORPUS, y).components_, expected.components_)
    for cls in MODELS[1:]:
        found, listed = make(cls).fit(CORPUS, MATRIX), make(cls).fit(CORPUS, LABELS)
        assert_array_equal(found.components_, listed.components_)
    by_segment = make(level="segment")
    of_sets = by_segment.fit(CORPUS, LABELS).components_
    assert_array_equal(by_segment.fit(CORPUS, MATRIX).components_, of_sets)


def test_nullable_frames():
    expected = make().fit(CORPUS, LABELS).components_
    y = pd.DataFrame(MATRIX).astype("boolean")
    y.iloc[3::4] = pd.NA
    counts = y.astype("Int64")
    for frame in (y, counts, y.astype(object), counts.astype({0: object}), counts.to_numpy()):
        assert_array_equal(make().fit(CORPUS, frame).components_, expected)


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
    model = make(max_iter=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.fit(CORPUS, y).components_
    text = " ".join(str(w.message) for w in caught)
    assert f"y is ignored: it has a column for each of 3 topics, but {what}" in text
    assert_array_equal(found, make(max_iter=2).fit(CORPUS).components_)


def test_columns_by_name():
    seeds = {"seed_words": {"a": [0], "b": [5]}, "seed_weight": 5}
    frame = pd.DataFrame(MATRIX, columns=["a", "b", "other"])
    expected = make(**seeds).fit(CORPUS, LABELS)
    assert_array_equal(make(**seeds).fit(CORPUS, frame).components_, expected.components_)
    with pytest.raises(ValueError, match="column 0 is 'b', which is topic 1"):
        make(**seeds).fit(CORPUS, frame[["b", "a", "other"]])


def polars_frames():
    """Return the matrix as a polars frame, if polars is here."""
    if not importlib.util.find_spec("polars"):
        return []
    import polars as pl

    return [pl.DataFrame(MATRIX, schema=list("abc"))]


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (GibbsLDA(4, max_iter=3, random_state=0), "this GibbsLDA, whose labels name 4 topics"),
        (HDPTopicModel(max_iter=3, random_state=0), "this HDPTopicModel"),
        (LatentDirichletCoClustering(3, max_iter=3, random_state=0), "this LatentDirichlet"),
    ],
)
def test_other_matrices_are_ignored_loudly(model, why):
    expected = clone(model).fit(CORPUS)
    with pytest.warns(UserWarning, match=f"y is ignored.*3 columns, which is no input for {why}"):
        model.fit(CORPUS, MATRIX)
    assert_array_equal(model.components_, expected.components_)


OPEN = {
    "hdp": HDPTopicModel,
    "segmented": lambda **params: SegmentedTopicModel("auto", **params),
    "adaptive": lambda **params: AdaptiveTopicModel("auto", **params),
    "lda start": lambda **params: SegmentedTopicModel("auto", **params, init="lda"),
}
OF_OPEN = [{"a", 1}, None, frozenset([1]), set()] * 6
ALLOWED_OF_OPEN = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 1, 1]] * 6, dtype=bool)


def make_open(name, **params):
    params = {
        "seed_words": {"a": [0], "b": [5]}, "seed_weight": 5, "max_iter": 12, "thin": 2,
        "random_state": 0, **params,
    }  # fmt: skip
    return OPEN[name](**params)


@pytest.mark.parametrize("first", ["auto", 4])
@pytest.mark.parametrize("name", OPEN)
def test_inferred_numbers_of_topics(name, first):
    """A label names topics with hints; other documents may have any topics."""
    model = make_open(name, initial_components=first).fit(CORPUS, OF_OPEN)
    further = np.repeat(ALLOWED_OF_OPEN[:, 2:], model.n_components_ - 2, axis=1)
    is_allowed = np.hstack([ALLOWED_OF_OPEN[:, :2], further])
    assert np.all(model.doc_topic_[~is_allowed] == 0.0)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    assert model.topic_names_[:2] == ["a", "b"]
    for state in make_open(name, initial_components=first).iter_sweeps(CORPUS, OF_OPEN):
        assert ALLOWED_OF_OPEN[OF_WORDS, np.minimum(state.topics, 2)].all()
    matrix = np.array(ALLOWED_OF_OPEN[:, :2])
    matrix[1::2] = False
    again = make_open(name, initial_components=first).fit(CORPUS, matrix)
    assert_array_equal(again.components_, model.components_)


def test_every_document_has_a_label():
    model = make_open("hdp").fit(CORPUS, [{0, 1}] * 24)
    assert np.all(model.doc_topic_[:, 2:] == 0.0)
    assert model.trace_["n_components"][0, -1] == 2


def test_labels_of_segments_in_hdp():
    n_segments = np.diff(CORPUS.doc_ptr)
    y = [[labels] * n for labels, n in zip(OF_OPEN, n_segments, strict=True)]
    expected = make_open("hdp", level="segment").fit(CORPUS, OF_OPEN)
    found = make_open("hdp", level="segment").fit(CORPUS, y)
    assert_array_equal(found.components_, expected.components_)


def test_sets_of_segments():
    n_segments = np.diff(CORPUS.doc_ptr)
    y = [[labels] * n for labels, n in zip(LABELS, n_segments, strict=True)]
    expected = make(level="segment").fit(CORPUS, LABELS)
    found = make(level="segment").fit(CORPUS, y)
    assert_array_equal(found.components_, expected.components_)
    assert np.all(found.segment_topic_[~np.repeat(ALLOWED, n_segments, axis=0)] == 0.0)


def test_labels_and_many_topics(monkeypatch):
    """With labels the counts of words are not stored as lists."""
    expected = make().fit(CORPUS, LABELS)
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 1)
    assert_array_equal(make().fit(CORPUS, LABELS).components_, expected.components_)


@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize("cls", MODELS)
def test_partitions_have_the_bits_of_shards(cls, n_partitions):
    for y in (LABELS, MATRIX):
        found = make(cls, n_jobs=2).fit(split(n_partitions), y)
        assert_same(found, make(cls, n_shards=n_partitions).fit(CORPUS, LABELS))
    assert np.all(found.doc_topic_[~ALLOWED] == 0.0)
    assert_nothing_is_left()


def test_segments_in_partitions(monkeypatch):
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 1)
    n_segments = np.diff(CORPUS.doc_ptr)
    y = [[labels] * n for labels, n in zip(LABELS, n_segments, strict=True)]
    found = make(level="segment").fit(split(3), y)
    assert_same(found, make(level="segment", n_shards=3).fit(CORPUS, y))


@pytest.mark.parametrize("cls", MODELS[:2])
def test_resumed_partitions(cls, tmp_path):
    straight = make(cls, n_jobs=2).fit(split(3), LABELS)
    half = make(cls, max_iter=6, n_jobs=2)
    half.set_callbacks(Checkpoint(tmp_path / "fit.ckpt")).fit(split(3), LABELS)
    half.set_params(max_iter=12)
    for y in (LABELS[::-1], None):
        with pytest.raises(ValueError, match="X"):
            half.fit(split(3), y)
    half.fit(split(3), LABELS)
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    X, warm = split(3), make(cls, max_iter=6, n_jobs=2, warm_start=True)
    warm.fit(X, LABELS).set_params(max_iter=12)
    for y in (LABELS[::-1], None):
        with pytest.raises(ValueError, match="got others"):
            warm.fit(X, y)
    warm.fit(X, LABELS)
    assert warm.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    plain = make(cls, max_iter=6, warm_start=True).fit(X)
    with pytest.raises(ValueError, match="got others"):
        plain.fit(X, LABELS)


RESUMED = {
    "lda": make,
    "segmented": lambda **params: make(SegmentedTopicModel, **params),
    "hdp": lambda **params: make_open("hdp", seed_words={0: [0], 1: [5], 2: [7]}, **params),
    "open": lambda **params: make_open("segmented", seed_words={0: [0], 1: [5], 2: [7]}, **params),
}


@pytest.mark.parametrize("name", RESUMED)
def test_resumed_fits(name, tmp_path):
    make = RESUMED[name]
    straight = make().fit(CORPUS, LABELS)
    model = make(max_iter=5, warm_start=True).fit(CORPUS, LABELS)
    model = pickle.loads(pickle.dumps(model)).set_params(max_iter=12)
    for y in (LABELS[::-1], None):
        with pytest.raises(ValueError, match="got others"):
            model.fit(CORPUS, y)
    model.fit(CORPUS, LABELS)
    assert model.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    *_, last = make().iter_sweeps(CORPUS, LABELS)
    assert last.log_joint() == straight.trace_["log_joint"][0, -1]
    half = make(max_iter=6)
    half.set_callbacks(Checkpoint(tmp_path / "fit.ckpt")).fit(CORPUS, LABELS)
    half.set_params(max_iter=12)
    with pytest.raises(ValueError, match="X"):
        half.fit(CORPUS, LABELS[::-1])
    half.fit(CORPUS, LABELS)
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
