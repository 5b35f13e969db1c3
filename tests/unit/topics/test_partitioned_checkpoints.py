"""Fits to partitions that continue after a stop: the bits of one fit, and no remains."""

import os
import pickle
import signal

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from unit.topics.partitions import (
    CORPUS,
    assert_nothing_is_left,
    assert_same,
    interrupt_at,
    make,
    split,
)

from skdp._executors import LocalExecutor, LostWorkerError
from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
)
from skdp.topics._lda._sampler import DistributedLDASampler
from skdp.topics._shared._distributed import DistributedAverages
from skdp.topics._shared._partition import CorpusPartition
from skdp.topics._tables._sampler import DistributedTableSampler

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
with_callbacks = pytest.mark.skipif(not has_callbacks(), reason="callbacks of scikit-learn 1.9")

CASES = {
    "learned": (SegmentedTopicModel, {}),
    "segment, chains": (
        SegmentedTopicModel,
        {"concentration_scope": "segment", "sampler": "ssa", "discount": "auto", "n_chains": 2},
    ),
    "adaptive": (AdaptiveTopicModel, {"mixing_prior": "auto", "sampler": "cmgs"}),
    "LDA": (GibbsLDA, {"level": "segment"}),
    "co-clustering": (LatentDirichletCoClustering, {"n_document_topics": 4}),
}


def keeping(cls=SegmentedTopicModel, **params):
    """Return a model that keeps sweeps 4, 6, ..., and the last one."""
    return make(cls, **{"burn_in": 3, **params})


def warm(*args, **params):
    return keeping(*args, warm_start=True, **params)


def watched(path, *args, every_sweeps=2, **params):
    """Return a model that writes checkpoints."""
    return keeping(*args, **params).set_callbacks(Checkpoint(path, every_sweeps=every_sweeps))


def straight(*args, n_shards=3, **params):
    return keeping(*args, n_shards=n_shards, **params).fit(CORPUS)


def interrupt():
    signal.raise_signal(signal.SIGINT)


def lose_worker():
    raise LostWorkerError("A worker is gone.")


class TestWarmStarts:
    @pytest.mark.parametrize("case", CASES)
    def test_bits_are_those_of_a_straight_run(self, case):
        """Sweep 7 is off the grid: it counts in the first fit only."""
        cls, params = CASES[case]
        X, model = split(3), warm(cls, **params, max_iter=7)
        model.fit(X)
        assert_same(model, straight(cls, max_iter=7, **params))
        model.set_params(max_iter=13, n_jobs=2).fit(X)
        assert_same(model, straight(cls, max_iter=13, **params))
        del model
        assert_nothing_is_left()

    def test_nothing_is_opened_again(self, monkeypatch):
        X, model = split(3), warm(max_iter=4)
        opened, place = [], LocalExecutor.place

        def counted(self, parts, make):
            opened.append(len(parts))
            place(self, parts, make)

        monkeypatch.setattr(LocalExecutor, "place", counted)
        for max_iter in (4, 8, 8):
            model.set_params(max_iter=max_iter).fit(X)
        assert opened == [3]
        assert model.n_iter_ == 8

    def test_before_the_end_of_the_burn_in(self):
        """The current state is shown, and does not count later."""
        X, model = split(3), warm(max_iter=2)
        model.fit(X)
        assert model.doc_topic_.shape == (24, 3)
        assert_same(model.set_params(max_iter=9).fit(X), straight(max_iter=9))
        (chain,) = model._saved.runs
        states = chain.sampler.data._executor._states
        assert [len(state.chains[0].sums) for state in states] == [1, 1, 1]  # looks are dropped

    @pytest.mark.parametrize("n_sweeps", [3, 9])
    def test_after_an_interrupt(self, monkeypatch, n_sweeps):
        X, model = split(3), warm()
        with monkeypatch.context() as patch:
            interrupt_at(patch, n_sweeps, interrupt)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X)
        assert model.n_iter_ == n_sweeps
        assert model.transform(CORPUS[:2]).shape == (2, 3)
        assert_same(model.fit(X), straight())

    @pytest.mark.parametrize(
        ("stop", "error", "message"),
        [
            (lambda: 1 / 0, ZeroDivisionError, "division by zero"),
            (lose_worker, LostWorkerError, r"has to start again\. With .*callback\.Checkpoint"),
        ],
        ids=["an error", "a loss"],
    )
    def test_after_a_stop_within_a_sweep(self, monkeypatch, stop, error, message):
        X, model = split(3), warm(max_iter=5)
        model.fit(X)
        with monkeypatch.context() as patch:
            interrupt_at(patch, 2, stop)
            with pytest.raises(error, match=message):
                model.set_params(max_iter=9).fit(X)
        assert_nothing_is_left()
        with pytest.warns(UserWarning, match="cannot continue"):
            model.fit(X)
        assert_same(model, straight(max_iter=9))

    def test_equal_partitions_will_do_and_others_not(self):
        model = warm(max_iter=5).fit(split(3)).set_params(max_iter=9).fit(split(3))
        expected = straight(max_iter=9)
        assert_same(model, expected)
        for other in (split(2), PartitionedCorpus.from_corpus(CORPUS[::-1], 3), CORPUS):
            with pytest.raises(ValueError, match="needs the same X"):
                model.fit(other)
        with pytest.raises(ValueError, match="which had topic_word_prior='auto'"):
            model.set_params(topic_word_prior=0.3).fit(split(3))
        assert_same(model, expected)
        model.set_params(topic_word_prior="auto", warm_start=False, max_iter=5).fit(split(3))
        assert not hasattr(model, "_saved")
        assert_nothing_is_left()

    def test_partitions_that_are_gone(self, monkeypatch):
        X, model = split(3), warm(max_iter=5)
        model.fit(X)
        monkeypatch.setattr(LocalExecutor, "go_on", lambda self, n_jobs: lose_worker())
        with pytest.raises(RuntimeError, match=r"A worker is gone\. Use warm_start=False"):
            model.set_params(max_iter=9).fit(X)
        model.set_params(warm_start=False).fit(X)
        assert model.n_iter_ == 9
        assert_nothing_is_left()

    def test_pickles_leave_the_chains_out(self):
        model = warm(AdaptiveTopicModel, max_iter=5).fit(split(3))
        with pytest.warns(UserWarning, match="leaves out what partitions hold: the chains"):
            copied = pickle.loads(pickle.dumps(model))
        assert not hasattr(copied, "_saved")
        for name in ("doc_topic_", "segment_topic_", "segment_mixing_"):
            assert_array_equal(getattr(copied, name), getattr(model, name), err_msg=name)
        with pytest.raises(AttributeError, match=r"^'AdaptiveTopicModel' object has no attribute"):
            AdaptiveTopicModel().segment_topic_  # noqa: B018
        assert_array_equal(model.transform(split(2)), model.transform(CORPUS))  # without a warning

    @with_callbacks
    def test_a_checkpoint_comes_first(self, tmp_path):
        X, model = split(3), warm(max_iter=6)
        model.set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=2)).fit(X)
        assert_same(model.set_params(max_iter=9).fit(X), straight(max_iter=9))
        del model
        assert_nothing_is_left()


@pytest.fixture
def lists(monkeypatch):
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 3)


@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize("is_distributed", [True, False])
def test_lists_go_on_in_their_order(n_partitions, is_distributed, lists):
    """Also shards in this process: the order of a list affects the draws."""
    X, n_shards = (split(n_partitions), 1) if is_distributed else (CORPUS, n_partitions)
    model = warm(GibbsLDA, max_iter=5, n_shards=n_shards).fit(X)
    expected = straight(GibbsLDA, max_iter=13, n_shards=n_partitions)
    assert_same(model.set_params(max_iter=13).fit(X), expected)


@with_callbacks
@pytest.mark.parametrize("X", [split(1), CORPUS], ids=["partitions", "memory"])
def test_lists_are_in_checkpoints(X, lists, tmp_path):
    for max_iter in (5, 13):
        model = watched(tmp_path / "file", GibbsLDA, max_iter=max_iter, every_sweeps=1).fit(X)
    assert_same(model, straight(GibbsLDA, max_iter=13, n_shards=1))


@with_callbacks
class TestCheckpoints:
    @pytest.mark.parametrize("case", list(CASES)[:4])
    def test_after_an_error(self, case, tmp_path, monkeypatch):
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

    def test_after_an_interrupt(self, tmp_path, monkeypatch):
        """It is written at the sweep at which it stops."""
        path = tmp_path / "file"
        with monkeypatch.context() as patch:
            interrupt_at(patch, 7, interrupt)
            with pytest.raises(KeyboardInterrupt):
                watched(path, every_sweeps=100).fit(split(3))
        resumed = watched(path)
        assert Checkpoint(path)._load(resumed).state.runs[0].n_sweeps == 7
        assert_same(resumed.fit(split(3)), straight())


@with_callbacks
class TestLosses:
    def watch(self, monkeypatch, owner, name, calls, lost=0):
        """Note the calls of a method; a worker is lost in one of them."""
        method = getattr(owner, name)

        def noted(self, *args, **params):
            calls.append(name)
            if len(calls) == lost:
                lose_worker()
            return method(self, *args, **params)

        monkeypatch.setattr(owner, name, noted)

    def error_of(self, model):
        """Fit a model; return the error of a lost worker, or None."""
        try:
            model.fit(split(3))
        except LostWorkerError as error:
            return error
        return None

    @pytest.mark.parametrize("moments", [(1,), (5,), (6, 7), (4, 9, 13)], ids=str)
    def test_bits_are_those_of_no_loss(self, moments, tmp_path, monkeypatch):
        done = interrupt_at(monkeypatch, moments, lose_worker)
        model = watched(tmp_path / "file")
        message = r"gone\. The fit continues from the .*file"
        with pytest.warns(RuntimeWarning, match=message) as found:
            assert self.error_of(model) is None
        assert sum("gone" in str(each.message) for each in found) == len(moments)
        assert len(done) > 12
        assert_same(model, straight())
        assert_nothing_is_left()

    def test_a_source_of_random_numbers_has_moved_on(self, tmp_path, monkeypatch):
        interrupt_at(monkeypatch, 1, lose_worker)
        with pytest.warns(RuntimeWarning, match="continues"):
            model = watched(tmp_path / "file", random_state=np.random.default_rng(3)).fit(split(3))
        assert_same(model, straight(random_state=np.random.default_rng(3)))

    @pytest.mark.parametrize(
        ("owner", "name", "call"),
        [(CorpusPartition, "write", 8), (DistributedAverages, "means", 1)],
        ids=["at the third checkpoint", "at the end"],
    )
    def test_between_sweeps(self, owner, name, call, tmp_path, monkeypatch):
        self.watch(monkeypatch, owner, name, calls := [], call)
        with pytest.warns(RuntimeWarning, match="continues"):
            assert_same(watched(tmp_path / "file").fit(split(3)), straight())
        assert len(calls) > call
        assert len(os.listdir(tmp_path / "file.parts")) == 1

    def test_three_in_a_row_are_an_error(self, tmp_path, monkeypatch):
        interrupt_at(monkeypatch, (4, 6, 8), lose_worker)
        model = watched(tmp_path / "file", every_sweeps=3)
        with pytest.warns(RuntimeWarning, match="continues"):
            assert "third loss in a row" in str(self.error_of(model))
        assert not hasattr(model, "components_")
        monkeypatch.undo()
        assert_same(watched(tmp_path / "file").fit(split(3)), straight())

    def test_callbacks_are_told_of_every_beginning_and_end(self, tmp_path, monkeypatch):
        told = []
        for name in ("setup", "teardown"):
            self.watch(monkeypatch, Checkpoint, name, told)
        interrupt_at(monkeypatch, 5, lose_worker)
        with pytest.warns(RuntimeWarning, match="continues"):
            watched(tmp_path / "file").fit(split(3))
        assert told == ["setup", "teardown"] * 2


@with_callbacks
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

    def test_those_of_documents_in_memory_have_none(self, tmp_path):
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

    def test_damaged_and_other_ones_are_refused(self, tmp_path):
        path = tmp_path / "file"
        watched(path).fit(split(3))
        for X in (split(2), split(3).compute()):
            with pytest.raises(ValueError, match="is of a fit to another X"):
                watched(path).fit(X)
        (part,) = (tmp_path / "file.parts").glob("*/part-00001")
        whole = part.read_bytes()
        middle = len(whole) // 2
        changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        swapped = part.with_name("part-00002").read_bytes()
        for damaged in (whole[:-20], changed, swapped):
            part.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"part-00001 of a checkpoint is damaged"):
                watched(path).fit(split(3))
        part.unlink()
        with pytest.raises(FileNotFoundError, match="part-00001"):
            watched(path).fit(split(3))
        assert path.exists()
