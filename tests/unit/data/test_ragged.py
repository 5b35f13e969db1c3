"""Tests of all containers: indexing, equality, pickling, and use by scikit-learn."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    train_test_split,
)
from sklearn.utils import _safe_indexing, resample, shuffle
from unit.data.strategies import as_lists, containers, indexed_containers

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences

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


@given(indexed_containers())
def test_indexing_twice_is_indexing_once(data):
    container, samples, index = data
    selected = container[index]
    again = np.arange(len(selected))[::-1]
    assert selected[again] == selected[::-1] == container[np.arange(len(samples))[index][again]]


@given(containers)
def test_round_trips(data):
    container, samples = data
    assert [as_lists(sample) for sample in container] == samples
    assert container[:] == container[...] == container[list(range(len(samples)))] == container
    assert copy.deepcopy(container) == pickle.loads(pickle.dumps(container)) == container
    for i, sample in enumerate(samples):
        assert as_lists(container[i]) == as_lists(container[i - len(samples)]) == sample


@ALL
def test_shape_and_dtype(container):
    assert container.shape == (len(container), container.n_features) == (6, container.n_features)
    assert container.ndim == 2
    assert container.dtype == (np.float64 if container is PANEL else np.int32)
    assert not hasattr(container, "iloc")  # scikit-learn would take it for a data frame


@ALL
@pytest.mark.parametrize("key", [6, -7, [6], np.array([True]), "a", 1.5, None, [[0, 1]], [0.5]])
def test_bad_index(container, key):
    with pytest.raises(IndexError):
        container[key]


@ALL
@pytest.mark.parametrize("key", [(0, 1), (slice(None), 0), (slice(None), [0]), (..., 0), ()])
def test_samples_only(container, key):
    with pytest.raises(IndexError, match="can be indexed only by samples"):
        container[key]


@ALL
def test_no_array(container):
    with pytest.raises(TypeError, match=r"cannot become an array.*X\."):
        np.asarray(container)


@ALL
def test_is_immutable(container):
    for array in (container._values, *container._ptrs):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    name = "values" if container is PANEL else "tokens"
    with pytest.raises(AttributeError):
        setattr(container, name, np.zeros(1))
    with pytest.raises(AttributeError):
        container.note = "no attributes of its own"
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


def test_equality_counts_features_and_segments():
    assert SegmentedCorpus.from_documents(DOCUMENTS, 9) != CORPUS
    one = SegmentedCorpus.from_documents([[[0, 1]]])
    assert one != SegmentedCorpus.from_documents([[[0], [1]]])
    assert one != SegmentedCorpus.from_documents([[[0, 1], []]])


def test_missing_values_are_equal():
    sequences = [np.array([[np.nan, 1.0]])]
    assert SequencePanel.from_sequences(sequences) == SequencePanel.from_sequences(sequences)


@ALL
def test_slices_share_memory(container):
    assert np.shares_memory(container[2:5]._values, container._values)
    assert len(pickle.dumps(container[2:3])) < len(pickle.dumps(container))


@ALL
def test_memory_map(container, tmp_path):
    joblib.dump(container, tmp_path / "container.joblib")
    mapped = joblib.load(tmp_path / "container.joblib", mmap_mode="r")
    assert mapped == container
    assert mapped[1:] == container[1:]
    assert mapped[[2, 0]] == container[[2, 0]]
    base = mapped._values
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert base is not None  # so joblib hands its worker processes the file, not a copy
    assert joblib.hash(mapped) == joblib.hash(container)


def test_a_memory_map_is_not_copied(tmp_path):
    for name, array in [
        ("tokens", CORPUS.tokens),
        ("s", CORPUS.segment_ptr),
        ("d", CORPUS.doc_ptr),
    ]:
        np.save(tmp_path / f"{name}.npy", array)
    tokens, segment_ptr, doc_ptr = (
        np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("tokens", "s", "d")
    )
    corpus = SegmentedCorpus(tokens, segment_ptr, doc_ptr, 4)
    assert corpus == CORPUS
    assert np.shares_memory(corpus.tokens, tokens)
    assert np.shares_memory(corpus.segment_ptr, segment_ptr)
    assert np.shares_memory(corpus.doc_ptr, doc_ptr)


def test_the_callers_array_stays_writable():
    tokens = np.array([0, 1], dtype=np.int32)
    TokenSequences(tokens, [0, 2], 2)
    tokens[0] = 1


@ALL
def test_hash_depends_on_content_only(container):
    assert joblib.hash(container[1:3]) == joblib.hash(container[[1, 2]])
    assert joblib.hash(container[1:3]) != joblib.hash(container[2:4])


@ALL
def test_splitters(container):
    y = [0, 1, 0, 1, 0, 1]
    groups = [0, 0, 1, 1, 2, 2]
    for splitter in (KFold(3), GroupKFold(3), StratifiedKFold(3), ShuffleSplit(2, random_state=0)):
        needed = groups if isinstance(splitter, GroupKFold) else None
        for train, test in splitter.split(container, y, needed):
            assert len(container[train]) == len(train)
            assert [as_lists(s) for s in container[test]] == [as_lists(container[i]) for i in test]


@ALL
def test_scikit_learn_selects_samples(container):
    train, test, y_train, _ = train_test_split(container, np.arange(6), random_state=0)
    assert type(train) is type(test) is type(container)
    assert train == container[y_train]
    mixed, order = shuffle(container, np.arange(6), random_state=0)
    assert mixed == container[order]
    drawn, order = resample(container, np.arange(6), random_state=0)
    assert drawn == container[order]
    for key in ([1, 2], (1, 2), slice(1, 3), np.array([1, 2]), [False, True, True] + [False] * 3):
        assert _safe_indexing(container, key) == container[1:3]


def test_representation():
    assert repr(CORPUS) == "<SegmentedCorpus of 6 documents, 9 segments, 12 tokens, 4 features>"
    assert repr(SENTENCES) == "<TokenSequences of 6 sentences, 8 tokens, 4 features>"
    assert repr(PANEL) == "<SequencePanel of 6 sequences, 21 observations, 2 features>"
