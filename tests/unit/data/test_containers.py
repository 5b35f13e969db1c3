"""All containers: indexing, equality, memory, concatenation, and use by scikit-learn."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_validate,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing, resample, shuffle
from unit.data.dummies import MeanLevel, WordGroups, WordShares
from unit.data.strategies import as_lists, containers, indexed_containers

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences, concatenate

DOCUMENTS = [[[0, 1], [2]], [], [[3, 3, 0]], [[], [1]], [[2]], [[0], [0], [1, 2]]]
CORPUS = SegmentedCorpus.from_documents(DOCUMENTS)
SENTENCES = TokenSequences.from_sequences([[0, 1], [], [2], [1, 1, 3], [0], [2]])
PANEL = SequencePanel.from_sequences([np.full((t + 1, 2), float(t)) for t in range(6)])
ALL = pytest.mark.parametrize(
    "container", [CORPUS, SENTENCES, PANEL], ids=lambda c: type(c).__name__
)


@given(indexed_containers())
def test_indexing_is_that_of_an_array_of_samples(data):
    container, samples, index = data
    chosen = np.arange(len(samples))[index]
    selected = container[index]
    assert type(selected) is type(container)
    assert selected.shape == (len(chosen), container.shape[1])
    for j, i in enumerate(chosen):
        assert as_lists(selected[j]) == as_lists(container[i]) == samples[i]
    assert container[index, ...] == container[index,] == selected
    assert [as_lists(sample) for sample in selected] == [samples[i] for i in chosen]
    again = np.arange(len(selected))[::-1]
    assert selected[again] == selected[::-1] == container[chosen[again]]


@given(containers)
def test_round_trips(data):
    container, samples = data
    assert [as_lists(sample) for sample in container] == samples
    assert container[:] == container[...] == container[list(range(len(samples)))] == container
    assert copy.deepcopy(container) == pickle.loads(pickle.dumps(container)) == container
    for i, sample in enumerate(samples):
        assert as_lists(container[i]) == as_lists(container[i - len(samples)]) == sample


@given(containers)
def test_parts_make_the_whole(data):
    container, samples = data
    for cut in range(len(samples) + 1):
        joined = concatenate([container[:cut], container[cut:]])
        assert joined == container
        assert joined._values.dtype == container._values.dtype
    assert concatenate([container]) == container
    assert len(concatenate(c for c in (container, container, container))) == 3 * len(samples)


@ALL
def test_shape_and_dtype(container):
    assert container.shape == (len(container), container.n_features) == (6, container.n_features)
    assert container.ndim == 2
    assert container.dtype == (np.float64 if container is PANEL else np.int32)
    assert not hasattr(container, "iloc")  # scikit-learn would take it for a data frame
    with pytest.raises(TypeError, match=r"cannot become an array.*X\."):
        np.asarray(container)


@ALL
def test_bad_indices(container):
    for key in (6, -7, [6], np.array([True]), "a", 1.5, None, [[0, 1]], [0.5]):
        with pytest.raises(IndexError):
            container[key]
    for key in ((0, 1), (slice(None), 0), (slice(None), [0]), (..., 0), ()):
        with pytest.raises(IndexError, match="can be indexed only by samples"):
            container[key]


@ALL
def test_is_immutable(container):
    arrays = [*container._ptrs, container._values, concatenate([container] * 2)._values]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for name in ("values" if container is PANEL else "tokens", "note"):
        with pytest.raises(AttributeError):
            setattr(container, name, np.zeros(1))
    for sample in container:
        for part in sample if isinstance(sample, list) else [sample]:
            assert not part.flags.writeable


@ALL
def test_equality(container):
    assert container != container[:-1]
    assert container != container[::-1]
    assert container != "text"
    assert (container == [1]) is False
    with pytest.raises(TypeError):
        hash(container)
    assert joblib.hash(container[1:3]) == joblib.hash(container[[1, 2]])
    assert joblib.hash(container[1:3]) != joblib.hash(container[2:4])


def test_equality_counts_features_segments_and_gaps():
    assert SegmentedCorpus.from_documents(DOCUMENTS, 9) != CORPUS
    one = SegmentedCorpus.from_documents([[[0, 1]]])
    assert one != SegmentedCorpus.from_documents([[[0], [1]]])
    assert one != SegmentedCorpus.from_documents([[[0, 1], []]])
    first, second = (SequencePanel.from_sequences([[[np.nan, 1.0]]]) for _ in range(2))
    assert first == second


@ALL
def test_memory(container, tmp_path):
    """Slices share it; joblib hands files to its worker processes instead of copies."""
    assert np.shares_memory(container[2:5]._values, container._values)
    assert len(pickle.dumps(container[2:3])) < len(pickle.dumps(container))
    joblib.dump(container, tmp_path / "container.joblib")
    mapped = joblib.load(tmp_path / "container.joblib", mmap_mode="r")
    assert mapped == container
    assert mapped[1:] == container[1:]
    assert mapped[[2, 0]] == container[[2, 0]]
    base = mapped._values
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert base is not None
    assert joblib.hash(mapped) == joblib.hash(container)


def test_arrays_are_not_copied(tmp_path):
    """Memory maps neither; the caller's array stays writable."""
    arrays = [CORPUS.tokens, CORPUS.segment_ptr, CORPUS.doc_ptr]
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
    mapped = [np.load(tmp_path / f"{i}.npy", mmap_mode="r") for i in range(3)]
    corpus = SegmentedCorpus(*mapped, 4)
    assert corpus == CORPUS
    for own, array in zip((corpus.tokens, corpus.segment_ptr, corpus.doc_ptr), mapped, strict=True):
        assert np.shares_memory(own, array)
    tokens, values = np.array([0, 1], dtype=np.int32), np.zeros((3, 2))
    TokenSequences(tokens, [0, 2], 2)
    tokens[0] = 1
    assert np.shares_memory(SequencePanel(values, [0, 3]).values, values)


@ALL
def test_scikit_learn_selects_samples(container):
    for splitter in (KFold(3), GroupKFold(3), StratifiedKFold(3)):
        groups = [0, 0, 1, 1, 2, 2] if isinstance(splitter, GroupKFold) else None
        for train, test in splitter.split(container, [0, 1] * 3, groups):
            assert len(container[train]) == len(train)
            assert [as_lists(s) for s in container[test]] == [as_lists(container[i]) for i in test]
    train, test, y_train, _ = train_test_split(container, np.arange(6), random_state=0)
    assert type(train) is type(test) is type(container)
    assert train == container[y_train]
    for select in (shuffle, resample):
        chosen, order = select(container, np.arange(6), random_state=0)
        assert chosen == container[order]
    for key in ([1, 2], (1, 2), slice(1, 3), np.array([1, 2]), [False, True, True] + [False] * 3):
        assert _safe_indexing(container, key) == container[1:3]


def test_representation():
    assert repr(CORPUS) == "<SegmentedCorpus of 6 documents, 9 segments, 12 tokens, 4 features>"
    assert repr(SENTENCES) == "<TokenSequences of 6 sentences, 8 tokens, 4 features>"
    assert repr(PANEL) == "<SequencePanel of 6 sequences, 21 observations, 2 features>"


# Meta-estimators and worker processes

N = 24
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
TEXTS = [RNG.integers(0, 6, size=RNG.integers(1, 5)) + 2 * y for y in Y]
TEXT_CORPUS = SegmentedCorpus.from_documents([[text, text[:1]] for text in TEXTS], 9)


@pytest.mark.parametrize(
    ("X", "transformer"),
    [
        (TEXT_CORPUS, WordGroups()),
        (TokenSequences.from_sequences(TEXTS, 9), WordShares()),
        (SequencePanel.from_sequences(TEXTS), MeanLevel()),
    ],
    ids=["corpus", "sentences", "panel"],
)
def test_pipelines(X, transformer, tmp_path):
    """Folds of samples, caches of transformers, unions, and data frames of features."""
    plain = make_pipeline(transformer, GaussianNB())
    folds = cross_validate(plain, X, Y, groups=np.arange(N) // 2, cv=GroupKFold(3))
    assert np.isfinite(folds["test_score"]).all()
    cached = make_pipeline(transformer, GaussianNB(), memory=str(tmp_path))
    expected = plain.fit(X, Y).predict_proba(X)
    for _ in range(2):
        np.testing.assert_array_equal(cached.fit(X, Y).predict_proba(X), expected)
    size = FunctionTransformer(lambda X: np.array([[len(sample)] for sample in X]))
    features = make_union(transformer, size).fit_transform(X)
    assert features.shape[0] == N
    assert features[:, -1].tolist() == [len(sample) for sample in X]
    union = make_union(transformer).set_output(transform="pandas")
    frame = union.fit_transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == union.get_feature_names_out().tolist()


@pytest.mark.slow
def test_large_containers_reach_workers_as_memory_maps():
    tokens = RNG.integers(0, 9, size=600_000, dtype=np.int32)  # joblib maps from one megabyte
    X = SegmentedCorpus(tokens, np.arange(0, 600_001, 5_000), np.arange(0, 121, 5), 9)
    results = [
        cross_validate(WordGroups(), X, cv=3, n_jobs=n_jobs)["test_score"] for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*results)
