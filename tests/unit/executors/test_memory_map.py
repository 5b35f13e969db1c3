"""Partitions that were computed or sent lie in files without names, mapped to memory."""

import errno
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp._executors import LocalExecutor
from skdp._executors import _base as _memory_map
from skdp._executors._base import map_to_files, zeros
from skdp.data import PartitionedCorpus, SegmentedCorpus, SequencePanel

dask = pytest.importorskip("dask")

RNG = np.random.default_rng(0)
CORPUS = SegmentedCorpus(
    RNG.integers(0, 9, 20_000), np.arange(0, 20_001, 2), np.arange(0, 10_001, 1_000), 9
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def is_mapped(array):
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def test_a_container_is_the_same(folder):
    found = map_to_files(CORPUS, "partition 1")
    assert found == CORPUS
    assert type(found.tokens) is np.ndarray
    assert not found.tokens.flags.writeable
    assert [is_mapped(found.tokens), is_mapped(found.doc_ptr)] == [
        True,
        False,
    ]  # small ones are not
    panel = SequencePanel(RNG.normal(size=(9_000, 2)), np.array([0, 4, 9_000]))
    assert map_to_files(panel, "partition 1") == panel


def test_zeros_can_be_written_to(folder):
    array = zeros((300, 40))
    assert is_mapped(array)
    array += 1.0
    assert array.sum() == 12_000.0
    assert zeros((0, 3)).shape == (0, 3)


@pytest.mark.skipif(os.name != "posix", reason="files with names are removed as they are closed")
def test_no_file_is_to_be_seen(folder):
    kept = [map_to_files(CORPUS, "partition 1"), zeros((300, 40))]
    assert os.listdir(folder) == []
    assert len(kept) == 2


def test_threads_map_what_dask_computes(folder):
    delayed = [dask.delayed(CORPUS)]
    for X, expected in [
        (PartitionedCorpus.from_delayed(delayed, 9), True),
        (PartitionedCorpus.from_corpus(CORPUS, 1), False),  # which is in memory, once
    ]:
        with LocalExecutor(1) as executor:
            executor.place(X._parts, lambda container: container)
            (container,) = executor._states
            assert_array_equal(container.tokens, CORPUS.tokens)
            assert is_mapped(container.tokens) == expected


def test_a_full_disk_is_an_error_that_names_the_folder(folder, monkeypatch):
    def refuse(descriptor, n_bytes):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_memory_map, "_reserve", refuse)
    with pytest.raises(OSError, match=rf"partition 1 .* {folder}: .*No space left"):
        map_to_files(CORPUS, "partition 1")
