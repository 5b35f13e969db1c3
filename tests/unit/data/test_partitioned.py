"""Containers in partitions: what opens them, and what errors name."""

import io
import mmap
import pickle
import re
import shutil

import numpy as np
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
from skdp.data._files import write_arrays
from skdp.topics._shared._arrays import split_documents

CORPUS = SegmentedCorpus.from_documents(
    [[[0, 1, 0], [2]], [[3, 3]], [[1], [], [2, 2]], [], [[4]]], n_features=6
)
PANEL = SequencePanel.from_sequences([np.ones((3, 2)), np.zeros((1, 2)), np.full((2, 2), np.nan)])
SENTENCES = TokenSequences.from_sequences([[0, 1, 2], [], [3], [2, 2]], n_features=4)


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

SPLITS = [
    (PartitionedCorpus.from_corpus, CORPUS),
    (PartitionedPanel.from_panel, PANEL),
    (PartitionedSentences.from_sentences, SENTENCES),
]


@pytest.mark.parametrize(("split", "whole"), SPLITS, ids=["corpus", "panel", "sentences"])
class TestAllKinds:
    def test_partitions_are_the_whole(self, split, whole):
        for n in range(1, len(whole) + 1):
            X = split(whole, n)
            assert X.n_partitions == len(X.partitions) == n
            assert X.shape == whole.shape
            assert len(X) == len(whole)
            assert X.compute() == whole
            assert all(len(part) for part in X.partitions)
            assert X.partitions[-1] == X.partitions[n - 1]

    def test_files(self, split, whole, tmp_path):
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

    def test_files_vanish(self, split, whole, tmp_path):
        X = split(whole, 2).to_files(tmp_path)
        shutil.rmtree(tmp_path / "part-00001")
        assert len(X.partitions[0])
        with pytest.raises(FileNotFoundError, match=r"partition 1 \(part-00001\): .*no file"):
            X.compute()

    def test_damaged_files(self, split, whole, tmp_path):
        X = split(whole, 2).to_files(tmp_path)
        name = whole._values_name
        (tmp_path / "part-00001" / f"{name}.npy").write_bytes(b"no array")
        with pytest.raises(ValueError, match=rf"partition 1 \(part-00001\): .*{name}.npy is dam"):
            X.compute()

    @pytest.mark.parametrize("mmap_mode", ["r", None])
    @pytest.mark.parametrize("kind", list(MALFORMED))
    def test_malformed_files_are_named(self, split, whole, tmp_path, kind, mmap_mode):
        for name in (whole._values_name, *whole._ptr_names):
            whole.save(tmp_path)
            (tmp_path / f"{name}.npy").write_bytes(MALFORMED[kind])
            with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
                type(whole).load(tmp_path, mmap_mode=mmap_mode)
            with pytest.raises(ValueError, match=rf"partition 0 \({tmp_path.name}\)"):
                type(split(whole, 1)).from_files([tmp_path]).compute()

    def test_what_is_no_folder(self, split, whole, tmp_path):
        X = split(whole, 2)
        (tmp_path / "file").write_text("x")
        for folders in (3, None, b"part", {}, np.array(3), True):
            with pytest.raises(TypeError, match="folders must be a list of paths, or a single pa"):
                type(X).from_files(folders)
        with pytest.raises(TypeError, match=r"folders\[1\] must be a str or a path-like.*int"):
            type(X).from_files([tmp_path, 3])
        with pytest.raises(ValueError, match="folders must hold at least one folder, got none"):
            type(X).from_files([])
        for place in (tmp_path / "none", tmp_path / "file"):
            with pytest.raises(
                FileNotFoundError, match=rf"partition 0 \({place.name}\).*no folder"
            ):
                type(X).from_files(place)
        for act in (whole.save, type(whole).load, X.to_files):
            with pytest.raises(TypeError, match="folder must be a str or a path-like object"):
                act(3)

    def test_nothing_changes_if_saving_fails(self, split, whole, tmp_path, monkeypatch):
        whole[:1].save(tmp_path / "old")
        saved = []

        def save(file, array):
            saved.append(array)
            if len(saved) == 2:
                raise OSError("the disk is full")
            np.lib.format.write_array(file, array)

        monkeypatch.setattr("skdp.data._files.np.save", save)
        before = sorted(path.name for path in (tmp_path / "old").iterdir())
        with pytest.raises(OSError, match="disk is full"):
            whole.save(tmp_path / "old")
        assert type(whole).load(tmp_path / "old") == whole[:1]
        assert sorted(path.name for path in (tmp_path / "old").iterdir()) == before

        def fail_in_the_second(folder, arrays, write=write_arrays):
            if folder.name == "part-00001":
                raise OSError("the disk is full")
            write(folder, arrays)

        monkeypatch.undo()
        monkeypatch.setattr("skdp.data._ragged.write_arrays", fail_in_the_second)
        with pytest.raises(OSError, match="disk is full"):
            split(whole, 2).to_files(tmp_path / "new")
        assert list((tmp_path / "new").iterdir()) == []

    def test_it_is_no_array(self, split, whole):
        X = split(whole, 2)
        for act in (np.asarray, list, lambda X: X[:1], lambda X: X[[0]], lambda X: X[0]):
            with pytest.raises(TypeError, match=r"X\.compute\(\)"):
                act(X)

    def test_bad_numbers_of_partitions(self, split, whole):
        for n in (0, len(whole) + 1, 1.5):
            with pytest.raises(ValueError, match="n_partitions"):
                split(whole, n)
        with pytest.raises(TypeError, match="Only a"):
            split([[0]], 1)

    def test_a_folder_that_is_its_own_source_can_be_saved_to(self, split, whole, tmp_path):
        whole.save(tmp_path)
        mapped = type(whole).load(tmp_path)
        mapped.save(tmp_path)
        assert mapped == whole
        assert type(whole).load(tmp_path, mmap_mode=None) == whole
        with pytest.raises(ValueError, match="mmap_mode"):
            type(whole).load(tmp_path, mmap_mode="r+")


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


def test_a_bad_id_is_named_with_partition_file_and_document(tmp_path):
    X = PartitionedCorpus.from_corpus(CORPUS, 2).to_files(tmp_path)
    tokens = np.load(tmp_path / "part-00001" / "tokens.npy")
    tokens[-1] = 9
    np.save(tmp_path / "part-00001" / "tokens.npy", tokens)
    d = len(X.partitions[0])
    where = rf"partition 1 \(part-00001\): document {len(CORPUS) - d - 1}, segment 0: word id 9"
    with pytest.raises(ValueError, match=where):
        X.compute()


def test_numbers_of_features_agree(tmp_path):
    SENTENCES.save(tmp_path / "a")
    TokenSequences(SENTENCES.tokens, SENTENCES.ptr, 7).save(tmp_path / "b")
    folders = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(ValueError, match=r"partition 1 \(b\): has 7 features, but n_features is 4"):
        PartitionedSentences.from_files(folders)
    (tmp_path / "a" / "n_features.npy").unlink()
    (tmp_path / "b" / "n_features.npy").unlink()
    with pytest.raises(FileNotFoundError, match="give n_features"):
        PartitionedSentences.from_files(folders)
    X = PartitionedSentences.from_files(folders, 9)
    assert X.shape == (8, 9)
    assert X.partitions[1].n_features == 9
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(c\)"):
        PartitionedSentences.from_files([tmp_path / "a", tmp_path / "c"], 9)


def test_a_partition_without_samples(tmp_path):
    SENTENCES.save(tmp_path / "a")
    SENTENCES[:0].save(tmp_path / "b")
    X = PartitionedSentences.from_files([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(ValueError, match=r"partition 1 \(b\) has no sentences"):
        X.compute()


def test_names_of_columns_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, 2.0], "ü": [3.0, 4.0]})
    panel = SequencePanel.from_sequences([frame, frame])
    X = PartitionedPanel.from_panel(panel, 2).to_files(tmp_path)
    assert_array_equal(X.compute().feature_names, panel.feature_names)


def test_there_is_no_constructor():
    with pytest.raises(TypeError, match="from_bag, from_corpus, from_delayed, from_files"):
        PartitionedCorpus()


class TestDask:
    def test_delayed(self):
        delayed = pytest.importorskip("dask").delayed
        parts = [CORPUS[:2], CORPUS[2:]]
        X = PartitionedCorpus.from_delayed([delayed(lambda c=c: c)() for c in parts], 6)
        assert np.isnan(X.shape[0])
        with pytest.raises(TypeError, match=r"X\.compute\(\)"):
            len(X)
        assert X
        assert "unknown number of documents" in repr(X)
        assert X.compute() == CORPUS
        wrong = PartitionedCorpus.from_delayed([delayed(lambda: CORPUS)()], 5)
        with pytest.raises(ValueError, match="partition 0 has 6 features, but n_features is 5"):
            wrong.compute()
        lists = PartitionedCorpus.from_delayed([delayed(lambda: [[[0]]])()], 5)
        with pytest.raises(TypeError, match="partition 0: must be a SegmentedCorpus, got list"):
            lists.compute()
        with pytest.raises(TypeError, match=r"partition 0: must be a dask\.delayed"):
            PartitionedCorpus.from_delayed([CORPUS], 5)
        with pytest.raises(ValueError, match="at least one partition"):
            PartitionedCorpus.from_delayed([], 5)

    @pytest.mark.parametrize(
        ("cls", "whole"),
        [
            (PartitionedCorpus, CORPUS),
            (PartitionedPanel, PANEL),
            (PartitionedSentences, SENTENCES),
        ],
    )
    def test_bag(self, cls, whole):
        bag = pytest.importorskip("dask.bag")
        X = cls.from_bag(bag.from_sequence(list(whole), npartitions=2), whole.n_features)
        assert X.n_partitions == 2
        assert X.compute() == whole

    def test_bad_bags(self):
        bag = pytest.importorskip("dask.bag")
        documents = bag.from_sequence([[[0, 1]], [[2], [9]]], npartitions=2)
        X = PartitionedCorpus.from_bag(documents, 5)
        with pytest.raises(ValueError, match="partition 1: document 0, segment 1: word id 9"):
            X.compute()
        with pytest.raises(ValueError, match="partition 0 has no documents"):
            PartitionedCorpus.from_bag(documents.filter(lambda d: len(d) > 1), 50).compute()
        with pytest.raises(TypeError, match="bag must be"):
            PartitionedCorpus.from_bag([[[0]]], 5)


class OddError(Exception):
    """An error that takes two arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


@pytest.mark.parametrize(
    ("error", "text"),
    [(ValueError("no rows"), "no rows"), (OSError(5, "disk"), "disk"), (OddError(1, 2), "1 and 2"),
     (KeyError("x"), "x"), (TimeoutError(), "partition 1"), (b"\xff", "codec")],
)  # fmt: skip
def test_a_delayed_partition_that_raises_is_named(error, text):
    dask = pytest.importorskip("dask")

    @dask.delayed
    def load(i):
        if i == 0:
            return SENTENCES
        if isinstance(error, bytes):
            return error.decode()
        raise error

    X = PartitionedSentences.from_delayed([load(0), load(1)], 4)
    assert X.partitions[0] == SENTENCES
    expected = UnicodeDecodeError if isinstance(error, bytes) else type(error)
    for act in (X.compute, lambda: X.partitions[1]):
        with pytest.raises(expected) as caught:
            act()
        told = [str(caught.value), *getattr(caught.value, "__notes__", [])]
        assert any("partition 1" in each for each in told)
        assert any(text in each for each in told)


def test_samples_of_a_bag_that_are_none_are_named():
    bag = pytest.importorskip("dask.bag")
    X = PartitionedPanel.from_bag(bag.from_sequence([[1.0], 3], npartitions=2), 1)
    with pytest.raises((ValueError, TypeError), match="partition 1: sequence 0"):
        X.compute()


def test_names_of_columns_fit_the_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    panel = SequencePanel.from_sequences([pd.DataFrame({"x": [1.0], "y": [2.0]})])
    panel.save(tmp_path)
    assert SequencePanel.load(tmp_path).feature_names.tolist() == ["x", "y"]
    np.save(tmp_path / "feature_names.npy", np.array(["x"]))
    with pytest.raises(ValueError, match=r"feature_names.npy must hold 2 strings"):
        SequencePanel.load(tmp_path)
    SequencePanel(panel.values, panel.ptr).save(tmp_path)  # without names
    assert SequencePanel.load(tmp_path).feature_names is None
    odd = SequencePanel.from_sequences([pd.DataFrame({"x\0": [1.0]})])
    with pytest.raises(ValueError, match="ends with NUL"):
        odd.save(tmp_path)
