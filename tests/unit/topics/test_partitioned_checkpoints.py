"""Fits of topic models to partitions that go on from a file: the bits of a fit never stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from unit.topics.partitions import assert_nothing_is_left, assert_same, interrupt_at, make, split

from skdp._executors import LostWorkerError
from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel
from skdp.topics._lda._distributed_sampler import DistributedLDASampler
from skdp.topics._shared._distributed_averages import DistributedAverages
from skdp.topics._shared._partition import CorpusPartition
from skdp.topics._tables._distributed_sampler import DistributedTableSampler

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.skipif(not has_callbacks(), reason="callbacks of scikit-learn 1.9"),
]

CASES = {
    "learned": (SegmentedTopicModel, {}),
    "segment, chains": (
        SegmentedTopicModel,
        {
            "concentration_scope": "segment", "sampler": "ssa", "discount": "auto", "n_chains": 2,
        },
    ),
    "adaptive": (AdaptiveTopicModel, {"mixing_prior": "auto", "sampler": "cmgs"}),
    "LDA": (GibbsLDA, {"level": "segment"}),
}  # fmt: skip


def watched(path, cls=SegmentedTopicModel, *, every_sweeps=2, **params):
    """Return a model that writes checkpoints, and keeps from sweep 4 on."""
    model = make(cls, burn_in=3, **params)
    return model.set_callbacks(Checkpoint(path, every_sweeps=every_sweeps))


def straight(cls=SegmentedTopicModel, n_partitions=3, **params):
    return make(cls, burn_in=3, **params).fit(split(n_partitions))


def lose_worker():
    raise LostWorkerError("A worker is gone.")


def error_of(model):
    """Fit a model; return the error of a lost worker, or None."""
    try:
        model.fit(split(3))
    except LostWorkerError as error:
        return error
    else:
        return None


def lose_worker_at(monkeypatch, *moments):
    """Lose a worker before these sweeps, counted over all fits."""
    sweep, done = DistributedTableSampler.sweep, []

    def interrupted(self):
        done.append(1)
        if len(done) in moments:
            lose_worker()
        sweep(self)

    monkeypatch.setattr(DistributedTableSampler, "sweep", interrupted)
    return done


@pytest.mark.parametrize("case", CASES)
def test_after_an_error(case, tmp_path, monkeypatch):
    """Chains go on from the last file with all that partitions hold."""
    cls, params = CASES[case]
    path = tmp_path / "file"
    n_chains = params.get("n_chains", 1)
    sampler = DistributedLDASampler if cls is GibbsLDA else DistributedTableSampler
    with monkeypatch.context() as patch:
        interrupt_at(patch, 8 * n_chains, lambda: 1 / 0, sampler)
        with pytest.raises(ZeroDivisionError):
            watched(path, cls, **params).fit(split(3))
    resumed = watched(path, cls, n_jobs=2, **params)
    assert Checkpoint(path)._load(resumed).state.runs[0].n_sweeps == 6
    assert_same(resumed.fit(split(3)), straight(cls, **params))
    assert_nothing_is_left()


def test_after_an_interrupt(tmp_path, monkeypatch):
    """It is written at the sweep at which it stops."""
    path = tmp_path / "file"
    with monkeypatch.context() as patch:
        interrupt_at(patch, 7, lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            watched(path, every_sweeps=100).fit(split(3))
    resumed = watched(path)
    assert Checkpoint(path)._load(resumed).state.runs[0].n_sweeps == 7
    assert_same(resumed.fit(split(3)), straight())


def test_a_finished_fit(tmp_path, monkeypatch):
    """It is not run again, and goes on with more sweeps."""
    path = tmp_path / "file"
    watched(path, max_iter=7).fit(split(3))
    expected = straight(max_iter=7)
    with monkeypatch.context() as patch:
        interrupt_at(patch, 1, lambda: 1 / 0)
        assert_same(watched(path, max_iter=7).fit(split(3)), expected)
    assert_same(watched(path).fit(split(3)), straight())


class TestLosses:
    @pytest.mark.parametrize("moments", [(1,), (5,), (6, 7), (4, 9, 13)], ids=str)
    def test_bits_are_those_of_no_loss(self, moments, tmp_path, monkeypatch):
        expected = straight()
        done = lose_worker_at(monkeypatch, *moments)
        model = watched(tmp_path / "file")
        with pytest.warns(
            RuntimeWarning, match=r"gone\. The fit continues from the .*file"
        ) as found:
            assert error_of(model) is None
        assert sum("gone" in str(each.message) for each in found) == len(moments)
        assert len(done) > 12
        assert_same(model, expected)
        assert_nothing_is_left()

    def test_a_source_of_random_numbers_has_moved_on(self, tmp_path, monkeypatch):
        expected = straight(random_state=np.random.default_rng(3))
        lose_worker_at(monkeypatch, 1)
        with pytest.warns(RuntimeWarning, match="continues"):
            model = watched(tmp_path / "file", random_state=np.random.default_rng(3)).fit(split(3))
        assert_same(model, expected)

    def test_at_a_checkpoint(self, tmp_path, monkeypatch):
        expected, write, n_calls = straight(), CorpusPartition.write, []

        def lost_once(part, path):
            n_calls.append(1)
            if len(n_calls) == 8:  # of the third checkpoint
                lose_worker()
            return write(part, path)

        monkeypatch.setattr(CorpusPartition, "write", lost_once)
        with pytest.warns(RuntimeWarning, match="continues"):
            assert_same(watched(tmp_path / "file").fit(split(3)), expected)
        assert len(n_calls) > 8
        assert len(os.listdir(tmp_path / "file.parts")) == 1

    def test_at_the_end(self, tmp_path, monkeypatch):
        expected, means, n_calls = straight(), DistributedAverages.means, []

        def lost_once(self, **params):
            n_calls.append(1)
            if len(n_calls) == 1:
                lose_worker()
            return means(self, **params)

        monkeypatch.setattr(DistributedAverages, "means", lost_once)
        with pytest.warns(RuntimeWarning, match="continues"):
            assert_same(watched(tmp_path / "file").fit(split(3)), expected)

    def test_three_in_a_row_are_an_error(self, tmp_path, monkeypatch):
        lose_worker_at(monkeypatch, 4, 6, 8)
        model = watched(tmp_path / "file", every_sweeps=3)
        with pytest.warns(RuntimeWarning, match="continues"):
            assert "third loss in a row" in str(error_of(model))
        assert not hasattr(model, "components_")
        monkeypatch.undo()
        assert_same(watched(tmp_path / "file").fit(split(3)), straight())

    def test_without_checkpoints(self, monkeypatch):
        lose_worker_at(monkeypatch, 4)
        message = r"has to start again\. With .*callback\.Checkpoint"
        with pytest.raises(LostWorkerError, match=message):
            make().fit(split(3))

    def test_callbacks_are_told_of_every_beginning_and_end(self, tmp_path, monkeypatch):
        told = []
        for name in ("setup", "teardown"):
            monkeypatch.setattr(Checkpoint, name, _telling(getattr(Checkpoint, name), told))
        lose_worker_at(monkeypatch, 5)
        with pytest.warns(RuntimeWarning, match="continues"):
            watched(tmp_path / "file").fit(split(3))
        assert told == ["setup", "teardown"] * 2


def _telling(method, told):
    def tell(self, estimator, context):
        told.append(method.__name__)
        method(self, estimator, context)

    return tell


class TestFiles:
    def fill_disk(self, monkeypatch, n_left):
        """Simulate a disk that is full after a number of files."""
        fsync, left = os.fsync, [n_left]

        def full(descriptor):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", full)

    # A file takes two calls, its own and that of its folder. Three partitions, and the checkpoint.
    @pytest.mark.parametrize("n_left", [8, 11, 14], ids=["no file", "two files", "all but one"])
    def test_a_full_disk(self, n_left, tmp_path, monkeypatch):
        """The fit goes on, and the last whole checkpoint stays."""
        path, expected = tmp_path / "file", straight()
        with monkeypatch.context() as patch:
            self.fill_disk(patch, n_left)
            with pytest.warns(RuntimeWarning, match="could not be written: .*No space left"):
                assert_same(watched(path).fit(split(3)), expected)
        model = watched(path)
        content = Checkpoint(path)._load(model)
        assert content.state.runs[0].n_sweeps == 0
        assert [each.name for each in (tmp_path / "file.parts").glob("*")] == [content.parts]
        assert sorted(os.listdir(tmp_path / "file.parts" / content.parts)) == [
            "part-00000", "part-00001", "part-00002",
        ]  # fmt: skip
        assert_same(model.fit(split(3)), expected)

    def test_a_disk_that_is_full_to_begin_with(self, tmp_path, monkeypatch):
        model = watched(tmp_path / "file")
        with monkeypatch.context() as patch:
            self.fill_disk(patch, 2)
            with pytest.raises(OSError, match=r"No space left.*all workers can write to"):
                model.fit(split(3))
        assert os.listdir(tmp_path) == []
        assert not hasattr(model, "n_features_in_")

    def test_a_folder_that_this_process_does_not_see(self, tmp_path, monkeypatch):
        write = CorpusPartition.write

        def elsewhere(part, path):
            found = write(part, path)
            path.unlink()
            return found

        monkeypatch.setattr(CorpusPartition, "write", elsewhere)
        with pytest.raises(OSError, match=r"part-00000 is not there.*all workers can write to"):
            watched(tmp_path / "file").fit(split(3))

    def test_one_of_a_kind_is_kept(self, tmp_path):
        path = tmp_path / "file"
        (tmp_path / "file.parts" / "step-00000009-0123abcd").mkdir(parents=True)  # of a killed fit
        (tmp_path / "file.parts" / "mine").mkdir()
        model = watched(path)
        model.fit(split(3))
        content = Checkpoint(path)._load(model)
        assert content.parts.startswith("step-00000012-")
        assert sorted(os.listdir(tmp_path / "file.parts")) == ["mine", content.parts]
        watched(path).fit(split(3))  # from the same file
        assert sorted(os.listdir(tmp_path / "file.parts")) == ["mine", content.parts]

    def test_a_checkpoint_of_documents_in_memory_has_none(self, tmp_path):
        path = tmp_path / "file"
        watched(path).fit(split(3))
        path.unlink()
        watched(path).fit(split(3).compute())
        assert os.listdir(tmp_path) == ["file"]

    def test_they_hold_no_words(self, tmp_path):
        documents = [[np.arange(1000) % 7]] * 20
        X = PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(documents, 7), 2)
        watched(tmp_path / "file", max_iter=4).fit(X)
        (folder,) = (tmp_path / "file.parts").iterdir()
        for path in folder.iterdir():
            assert np.arange(1000, dtype=np.int32)[:7].tobytes() not in path.read_bytes()
            # A byte for the topic of a word, and sums of shares of 10 documents, 10 segments.
            assert 10_000 < path.stat().st_size < 14_000

    @pytest.mark.parametrize("spoil", ["cut", "changed", "swapped", "gone"])
    def test_a_file_of_a_partition_is_damaged(self, spoil, tmp_path):
        path = tmp_path / "file"
        watched(path).fit(split(3))
        (part,) = (tmp_path / "file.parts").glob("*/part-00001")
        whole = bytearray(part.read_bytes())
        expected = pytest.raises(ValueError, match=r"part-00001 of a checkpoint is damaged")
        if spoil == "cut":
            part.write_bytes(whole[:-20])
        elif spoil == "changed":
            whole[len(whole) // 2] ^= 1
            part.write_bytes(whole)
        elif spoil == "swapped":
            part.write_bytes(part.with_name("part-00002").read_bytes())
        else:
            part.unlink()
            expected = pytest.raises(FileNotFoundError, match="part-00001")
        with expected:
            watched(path).fit(split(3))
        assert path.exists()

    @pytest.mark.parametrize("X", [split(2), split(3).compute()], ids=["partitions", "memory"])
    def test_other_partitions_are_another_model(self, X, tmp_path):
        watched(tmp_path / "file").fit(split(3))
        with pytest.raises(ValueError, match="is of a fit to another X"):
            watched(tmp_path / "file").fit(X)


CHILD = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from unit.topics.partitions import interrupt_at, split
from unit.topics.test_partitioned_checkpoints import watched
import pytest

interrupt_at(pytest.MonkeyPatch(), 8, lambda: os.kill(os.getpid(), signal.SIGKILL))
watched(sys.argv[1]).fit(split(3))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_kill_9(tmp_path):
    """The process dies in sweep 8; another one goes on from sweep 6."""
    path, tests = tmp_path / "file", Path(__file__).parents[2]
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(path), str(tests)],
        timeout=500,
    )
    assert child.returncode == -signal.SIGKILL
    resumed = watched(path)
    assert Checkpoint(path)._load(resumed).state.runs[0].n_sweeps == 6
    assert_same(resumed.fit(split(3)), straight())
