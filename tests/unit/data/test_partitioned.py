"""Containers in files and in partitions: what opens them, and what errors name."""

import io
import mmap
import pickle
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from skdp.data import (
    PartitionedCorpus,
    PartitionedPanel,
    PartitionedSentences,
    SegmentedCorpus,
    SequencePanel,
    TokenSequences,
)
from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import HDPTopicModel
from skdp.topics._shared._arrays import split_documents

CORPUS = SegmentedCorpus.from_documents(
    [[[0, 1, 0], [2]], [[3, 3]], [[1], [], [2, 2]], [], [[4]]], n_features=6
)
PANEL = SequencePanel.from_sequences([np.ones((3, 2)), np.zeros((1, 2)), np.full((2, 2), np.nan)])
SENTENCES = TokenSequences.from_sequences([[0, 1, 2], [], [3], [2, 2]], n_features=4)
SPLITS = {
    "corpus": (PartitionedCorpus.from_corpus, CORPUS),
    "panel": (PartitionedPanel.from_panel, PANEL),
    "sentences": (PartitionedSentences.from_sentences, SENTENCES),
}
all_kinds = pytest.mark.parametrize(("split", "whole"), SPLITS.values(), ids=SPLITS)


@all_kinds
def test_partitions_are_the_whole(split, whole):
    for n in range(1, len(whole) + 1):
        X = split(whole, n)
        assert X.n_partitions == len(X.partitions) == n
        assert (X.shape, X.ndim) == (whole.shape, 2)
        assert len(X) == len(whole)
        assert X.compute() == whole
        assert all(len(part) for part in X.partitions)
        assert X.partitions[-1] == X.partitions[n - 1]
    for act in (np.asarray, list, lambda X: X[:1], lambda X: X[[0]], lambda X: X[0]):
        with pytest.raises(TypeError, match=r"X\.compute\(\)"):
            act(X)
    for n in (0, len(whole) + 1, 1.5):
        with pytest.raises(ValueError, match="n_partitions"):
            split(whole, n)
    with pytest.raises(TypeError, match="Only a"):
        split([[0]], 1)


def test_cuts_are_those_of_shards():
    rng = np.random.default_rng(0)
    for _ in range(50):
        documents = [[rng.integers(0, 5, rng.integers(0, 9))] for _ in range(rng.integers(4, 30))]
        corpus = SegmentedCorpus.from_documents(documents, 5)
        for n in range(1, 5):
            bounds = split_documents(corpus, n)
            if all(begin < end for begin, end in bounds):
                X = PartitionedCorpus.from_corpus(corpus, n)
                assert [len(part) for part in X.partitions] == [e - b for b, e in bounds]


# Files


@all_kinds
def test_files(split, whole, tmp_path):
    X = split(whole, 2)
    Y = X.to_files(tmp_path / "parts")
    assert Y.compute() == whole
    assert Y.shape == whole.shape
    Z = type(X).from_files(str(tmp_path / "parts" / "part-*"))
    assert Z.compute() == whole
    base = Z.partitions[0]._values
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)
    with pytest.raises(FileExistsError, match="not empty"):
        X.to_files(tmp_path / "parts")
    with pytest.raises(FileNotFoundError, match="No folder matches"):
        type(X).from_files(str(tmp_path / "none-*"))
    whole.save(tmp_path)
    mapped = type(whole).load(tmp_path)
    mapped.save(tmp_path)  # to its own source
    assert mapped == whole
    assert type(whole).load(tmp_path, mmap_mode=None) == whole
    with pytest.raises(ValueError, match="mmap_mode"):
        type(whole).load(tmp_path, mmap_mode="r+")


@all_kinds
def test_files_that_vanish_or_are_damaged(split, whole, tmp_path):
    X, name = split(whole, 2).to_files(tmp_path), whole._values_name
    (tmp_path / "part-00001" / f"{name}.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match=rf"partition 1 \(part-00001\): .*{name}.npy is dam"):
        X.compute()
    shutil.rmtree(tmp_path / "part-00001")
    assert len(X.partitions[0])
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(part-00001\): .*no file"):
        X.compute()


def npy(array, **params):
    file = io.BytesIO()
    np.save(file, array, **params)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


MALFORMED = {
    "empty": b"",
    "text": b"no array",
    "archive": npz(tokens=np.arange(5)),
    "cut archive": npz(tokens=np.arange(5))[:100],
    "pickle": pickle.dumps([0, 1]),
    "objects": npy(np.array([None, 1], dtype=object), allow_pickle=True),
    "complex": npy(np.ones(3) + 1j),
    "structured": npy(np.zeros(3, [("a", "i4")])),
    "3-D": npy(np.zeros((2, 2, 2))),
    "cut head": npy(np.zeros(3))[:20],
    "cut data": npy(np.zeros(300))[:-100],
    "bad head": npy(np.zeros(3)).replace(b"(3,)", b"(3(("),
    "false shape": npy(np.zeros(3)).replace(b"(3,), }" + b" " * 12, b"(9999999999999999,)}"),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_files_are_named(kind, tmp_path):
    for split, whole in SPLITS.values():
        for name in (whole._values_name, *whole._ptr_names):
            whole.save(tmp_path)
            (tmp_path / f"{name}.npy").write_bytes(MALFORMED[kind])
            for mmap_mode in ("r", None):
                with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
                    type(whole).load(tmp_path, mmap_mode=mmap_mode)
            with pytest.raises(ValueError, match=rf"partition 0 \({tmp_path.name}\)"):
                type(split(whole, 1)).from_files([tmp_path]).compute()


@all_kinds
def test_nothing_changes_if_saving_fails(split, whole, tmp_path, monkeypatch):
    """In the middle of a container, or in the second partition."""
    old, new = tmp_path / "old", tmp_path / "new"
    whole[:1].save(old)
    names = sorted(path.name for path in old.iterdir())

    def fail_after(n):
        free = iter(range(n))

        def save(file, array):
            if next(free, None) is None:
                raise OSError("the disk is full")
            np.lib.format.write_array(file, array)

        monkeypatch.setattr("skdp.data._ragged.np.save", save)

    fail_after(1)
    with pytest.raises(OSError, match="disk is full"):
        whole.save(old)
    assert type(whole).load(old) == whole[:1]
    assert sorted(path.name for path in old.iterdir()) == names
    fail_after(len(names))
    with pytest.raises(OSError, match="disk is full"):
        split(whole, 2).to_files(new)
    assert list(new.iterdir()) == []


def test_a_bad_id_is_named_with_partition_file_and_document(tmp_path):
    X = PartitionedCorpus.from_corpus(CORPUS, 2).to_files(tmp_path)
    tokens = np.load(tmp_path / "part-00001" / "tokens.npy")
    tokens[-1] = 9
    np.save(tmp_path / "part-00001" / "tokens.npy", tokens)
    d = len(CORPUS) - len(X.partitions[0]) - 1
    where = rf"partition 1 \(part-00001\): document {d}, segment 0: word id 9"
    with pytest.raises(ValueError, match=where):
        X.compute()


def test_numbers_of_features_and_samples(tmp_path):
    a, b, c, from_files = (*(tmp_path / x for x in "abc"), PartitionedSentences.from_files)
    SENTENCES.save(a)
    TokenSequences(SENTENCES.tokens, SENTENCES.ptr, 7).save(b)
    with pytest.raises(ValueError, match=r"partition 1 \(b\): has 7 features, but n_features is 4"):
        from_files([a, b])
    (a / "n_features.npy").unlink()
    (b / "n_features.npy").unlink()
    with pytest.raises(FileNotFoundError, match="give n_features"):
        from_files([a, b])
    X = from_files([a, b], 9)
    assert X.shape == (8, 9)
    assert X.partitions[1].n_features == 9
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(c\)"):
        from_files([a, c], 9)
    SENTENCES[:0].save(c)
    with pytest.raises(ValueError, match=r"partition 1 \(c\) has no sentences"):
        from_files([a, c], 4).compute()


def test_names_of_columns(tmp_path):
    """They are kept, and must fit the columns."""
    frame = pd.DataFrame({"x": [1.0, 2.0], "ü": [3.0, 4.0]})
    panel = SequencePanel.from_sequences([frame, frame])
    X = PartitionedPanel.from_panel(panel, 2).to_files(tmp_path / "parts")
    assert_array_equal(X.compute().feature_names, panel.feature_names)
    panel.save(tmp_path)
    assert SequencePanel.load(tmp_path).feature_names.tolist() == ["x", "ü"]
    np.save(tmp_path / "feature_names.npy", np.array(["x"]))
    with pytest.raises(ValueError, match=r"feature_names.npy must hold 2 strings"):
        SequencePanel.load(tmp_path)
    SequencePanel(panel.values, panel.ptr).save(tmp_path)  # without names
    assert SequencePanel.load(tmp_path).feature_names is None
    odd = SequencePanel.from_sequences([pd.DataFrame({"x\0": [1.0]})])
    with pytest.raises(ValueError, match="ends with NUL"):
        odd.save(tmp_path)


def test_names_of_words(tmp_path):
    """Seeds that are words find them in a corpus from files, too."""
    corpus = SegmentVectorizer().fit_transform([["court law", "law"], ["geld bank"]])
    X = PartitionedCorpus.from_corpus(corpus, 2).to_files(tmp_path / "parts")
    assert X.partitions[1]._names == ("bank", "court", "geld", "law")
    corpus.save(tmp_path)
    loaded = SegmentedCorpus.load(tmp_path)
    assert loaded._names == corpus._names
    options = {"max_iter": 1, "seed_words": {0: ["court"]}, "random_state": 0}
    fits = [HDPTopicModel(**options).fit(each).components_ for each in (corpus, loaded)]
    assert_array_equal(*fits)
    np.save(tmp_path / "feature_names.npy", np.array(["court"]))
    with pytest.raises(ValueError, match=r"feature_names.npy must hold 4 strings, .* of the words"):
        SegmentedCorpus.load(tmp_path)
    corpus._without_names().save(tmp_path)
    assert SegmentedCorpus.load(tmp_path)._names is None


# Dask


@pytest.fixture(name="dask")
def import_dask():
    pytest.importorskip("dask.bag")
    return pytest.importorskip("dask")


def delayed(*parts):
    dask = pytest.importorskip("dask")
    return [dask.delayed(lambda part=part: part)() for part in parts]


def test_delayed():
    X = PartitionedCorpus.from_delayed(delayed(CORPUS[:2], CORPUS[2:]), 6)
    assert np.isnan(X.shape[0])
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        len(X)
    assert X
    assert "unknown number of documents" in repr(X)
    assert X.compute() == CORPUS
    with pytest.raises(ValueError, match="partition 0 has 6 features, but n_features is 5"):
        PartitionedCorpus.from_delayed(delayed(CORPUS), 5).compute()
    with pytest.raises(TypeError, match="partition 0: must be a SegmentedCorpus, got list"):
        PartitionedCorpus.from_delayed(delayed([[[0]]]), 5).compute()


@pytest.mark.parametrize("error", [IndexError, StopIteration])
def test_errors_that_end_loops(dask, error):
    """They are errors of a partition, not the end of the data."""

    def read():
        raise error("no such file")

    X = PartitionedCorpus.from_delayed([*delayed(CORPUS), dask.delayed(read)()], 6)
    with pytest.raises((error, RuntimeError)):
        X.compute()


@all_kinds
def test_bags(split, whole, dask):
    bag = dask.bag.from_sequence(list(whole), npartitions=2)
    X = type(split(whole, 1)).from_bag(bag, whole.n_features)
    assert X.n_partitions == 2
    assert X.compute() == whole


def test_bad_bags(dask):
    documents = dask.bag.from_sequence([[[0, 1]], [[2], [9]]], npartitions=2)
    with pytest.raises(ValueError, match="partition 1: document 0, segment 1: word id 9"):
        PartitionedCorpus.from_bag(documents, 5).compute()
    with pytest.raises(ValueError, match="partition 0 has no documents"):
        PartitionedCorpus.from_bag(documents.filter(lambda d: len(d) > 1), 50).compute()
    sequences = dask.bag.from_sequence([[1.0], 3], npartitions=2)
    with pytest.raises((ValueError, TypeError), match="partition 1: sequence 0"):
        PartitionedPanel.from_bag(sequences, 1).compute()


class OddError(Exception):
    """An error that takes two arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


@pytest.mark.parametrize(
    ("error", "text"),
    [(ValueError("no rows"), "no rows"), (OSError(5, "disk"), "disk"), (OddError(1, 2), "1 and 2"),
     (KeyError("x"), "x"), (TimeoutError(), "partition 1"),
     (UnicodeDecodeError("codec", b"\xff", 0, 1, "odd"), "codec")],
)  # fmt: skip
def test_a_delayed_partition_that_raises_is_named(error, text, dask):
    @dask.delayed
    def load(i):
        if i == 0:
            return SENTENCES
        raise error

    X = PartitionedSentences.from_delayed([load(0), load(1)], 4)
    assert X.partitions[0] == SENTENCES
    for act in (X.compute, lambda: X.partitions[1]):
        with pytest.raises(type(error)) as caught:
            act()
        told = [str(caught.value), *getattr(caught.value, "__notes__", [])]
        assert any("partition 1" in each for each in told)
        assert any(text in each for each in told)
