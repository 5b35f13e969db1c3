"""Labels of documents: what y may be, resumed fits, shards."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from unit.topics.partitions import CORPUS

from skdp.callback import Checkpoint
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel, SequentialLDA

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
        np.ones((24, 2)), [None] * 24,
    ],
    ids=["none", "ints", "array", "strings", "series", "matrix", "unknown"],
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


@pytest.mark.parametrize("cls", MODELS[:2])
def test_resumed_fits(cls, tmp_path):
    straight = make(cls).fit(CORPUS, LABELS)
    model = make(cls, max_iter=5, warm_start=True).fit(CORPUS, LABELS)
    model = pickle.loads(pickle.dumps(model)).set_params(max_iter=12)
    for y in (LABELS[::-1], None):
        with pytest.raises(ValueError, match="got others"):
            model.fit(CORPUS, y)
    model.fit(CORPUS, LABELS)
    assert model.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    *_, last = make(cls).iter_sweeps(CORPUS, LABELS)
    assert last.log_joint() == straight.trace_["log_joint"][0, -1]
    half = make(cls, max_iter=6)
    half.set_callbacks(Checkpoint(tmp_path / "fit.ckpt")).fit(CORPUS, LABELS)
    half.set_params(max_iter=12)
    with pytest.raises(ValueError, match="X"):
        half.fit(CORPUS, LABELS[::-1])
    half.fit(CORPUS, LABELS)
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
