"""Topic models on a cluster: the bits of shards, bytes a sweep, lost workers, nothing left."""

import gc
import os
import pickle
import re
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scale import workers

from skdp._executors import LostWorkerError
from skdp._executors._dask import STORES, DaskExecutor
from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._partition import CorpusPartition
from skdp.topics._tables._sampler import DistributedTableSampler

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

# Dask issues its own warnings, and fits are too short to converge.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

RNG = np.random.default_rng(0)
CORPUS = SegmentedCorpus.from_documents(
    [
        [RNG.integers(0, 12, RNG.integers(0, 9)) for _ in range(RNG.integers(1, 5))]
        for _ in range(24)
    ],
    n_features=12,
)
CORPUS_OF_MANY_WORDS = SegmentedCorpus(
    RNG.integers(0, 12, 20_000), np.arange(0, 20_001, 1_000), np.arange(21), 12
)
FITTED = (
    "components_", "doc_topic_", "doc_topic_prior_", "topic_word_prior_", "discount_",
    "concentration_", "mixing_prior_", "segment_topic_", "segment_mixing_",
)  # fmt: skip


def make(cls=SegmentedTopicModel, **params):
    return cls(
        3, **{"max_iter": 6, "thin": 2, "transform_max_iter": 4, "random_state": 0, **params}
    )


def split(n):
    return PartitionedCorpus.from_corpus(CORPUS, n)


def here(cls=SegmentedTopicModel, n_shards=3, **params):
    """Return what this process alone fits to shards."""
    with joblib.parallel_config("threading"):
        return make(cls, n_shards=n_shards, **params).fit(CORPUS)


def assert_same(found, expected):
    for name in FITTED:
        if hasattr(expected, name):
            assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.trace_ == expected.trace_


EVERYTHING = {
    "discount": "auto", "concentration_scope": "segment", "sampler": "ssa", "n_chains": 2,
}  # fmt: skip


@pytest.mark.parametrize("params", [{}, EVERYTHING], ids=["defaults", "everything learned"])
@pytest.mark.parametrize(
    "cls", [SegmentedTopicModel, AdaptiveTopicModel, SequentialLDA], ids=lambda cls: cls.__name__
)
def test_bits_are_those_of_shards(client, cls, params):
    if cls is AdaptiveTopicModel and params:
        params = {**params, "mixing_prior": "auto"}
    assert_same(make(cls, **params).fit(split(3)), here(cls, **params))
    workers.assert_nothing_is_left(client)


def test_bits_of_lda_are_those_of_shards(client):
    params = {"level": "segment", "n_chains": 2}
    assert_same(make(GibbsLDA, **params).fit(split(3)), here(GibbsLDA, **params))
    workers.assert_nothing_is_left(client)


@pytest.mark.parametrize("cls", [GibbsLDA, SegmentedTopicModel], ids=lambda cls: cls.__name__)
def test_bits_of_labels_are_those_of_shards(client, cls):
    y = [{0, 1}, None, {2}] * 8
    with joblib.parallel_config("threading"):
        expected = make(cls, n_shards=3).fit(CORPUS, y)
    assert_same(make(cls).fit(split(3), y), expected)
    with pytest.raises(ValueError, match=r"y\[23\] must hold topics from 0 to below n_comp.*got 3"):
        make(cls).fit(split(3), [*y[:-1], {3}])
    workers.assert_nothing_is_left(client)


def test_bits_of_co_clustering_are_those_of_shards(client):
    params = {"n_document_topics": 4, "n_chains": 2}
    found = make(LatentDirichletCoClustering, **params).fit(split(3))
    assert_same(found, here(LatentDirichletCoClustering, **params))
    del found
    gc.collect()
    workers.assert_nothing_is_left(client)


@pytest.mark.parametrize("n_partitions", [1, 11])
def test_bits_do_not_depend_on_workers(client, n_partitions):
    expected = here(n_shards=n_partitions, sampler="cmgs")
    assert_same(make(sampler="cmgs").fit(split(n_partitions)), expected)


def test_one_worker_without_processes():
    expected = here()
    with workers.one_worker(2):
        assert_same(make().fit(split(3)), expected)


def test_files_and_what_dask_computes(client, tmp_path):
    expected = here()
    assert_same(make().fit(split(3).to_files(tmp_path)), expected)
    parts = [dask.delayed(part) for part in split(3).partitions]
    assert_same(make().fit(PartitionedCorpus.from_delayed(parts, 12)), expected)
    workers.assert_nothing_is_left(client)


def test_predictions_are_lazy(client, tmp_path):
    fitted = here()
    X = split(3).to_files(tmp_path)
    shares, scores = fitted.transform(X), fitted.score_samples(X)
    assert shares.chunks == (tuple(map(len, X.partitions)), (3,))
    assert_array_equal(shares.compute(), fitted.transform(CORPUS))
    assert_array_equal(scores.compute(), fitted.score_samples(CORPUS))
    with joblib.parallel_config("threading"):
        expected = fitted.score(X)
    assert fitted.score(X) == expected
    unknown = PartitionedCorpus.from_delayed([dask.delayed(CORPUS)], 12)
    assert_array_equal(fitted.transform(unknown).compute(), fitted.transform(CORPUS))
    workers.assert_nothing_is_left(client)


def wait_for(condition):
    """Wait until a condition holds, which takes the scheduler a moment; return whether it did.
    Futures that are part of a reference cycle hold their data until garbage is collected."""
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.05)
    return condition()


def test_means_of_documents_stay_in_the_workers(client):
    def n_kept():
        return sum(client.run(lambda dask_worker: len(dask_worker.data)).values())

    n_before = n_kept()
    model = make(AdaptiveTopicModel).fit(split(3))
    for name, width in [("doc_topic_", (3,)), ("segment_topic_", (3,)), ("segment_mixing_", ())]:
        found = getattr(model, name)
        assert isinstance(found, dask.array.Array)
        assert found.numblocks[0] == 3
        assert found.shape[1:] == width
    assert_same(model, here(AdaptiveTopicModel))
    assert_array_equal(
        model.representative_documents(), here(AdaptiveTopicModel).representative_documents()
    )
    assert n_kept() >= n_before + 9
    with pytest.warns(UserWarning, match="partitions hold: doc_topic_, segment_topic_, segment_m"):
        copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.transform(CORPUS), model.transform(CORPUS))
    for name in ("doc_topic_", "segment_topic_", "segment_mixing_"):
        with pytest.raises(AttributeError, match=f"{name} was in the workers of a cluster"):
            getattr(copied, name)
    del model, found
    gc.collect()
    assert wait_for(lambda: n_kept() <= n_before)
    workers.assert_nothing_is_left(client)


def test_a_warm_start_goes_on_in_the_workers(client):
    X, model = split(3), make(warm_start=True, max_iter=3, burn_in=2, n_chains=2)
    model.fit(X)
    words = {"max_iter": 3, "burn_in": 2, "n_chains": 2}
    assert_same(model, here(**words))
    with joblib.parallel_config("threading"):  # the partitions stay in their processes
        model.set_params(max_iter=8).fit(X)
    assert isinstance(model.doc_topic_, dask.array.Array)
    assert_same(model, here(**{**words, "max_iter": 8}))
    del model
    gc.collect()
    workers.assert_nothing_is_left(client)


def test_a_warm_start_without_its_worker(client):
    X, model = split(3), make(warm_start=True, max_iter=3)
    model.fit(X)
    killed = workers.kill_a_worker(client)
    assert wait_for(lambda: killed not in client.nthreads())
    client.wait_for_workers(2, timeout=120)
    refusal = refusal_of(model.set_params(max_iter=5), X)
    assert "continues on the partitions of the last fit" in refusal
    assert_same(model.set_params(warm_start=False).fit(X), here(max_iter=5))
    del model
    gc.collect()
    workers.assert_nothing_is_left(client)


def refusal_of(model, X):
    """Return the message of a fit's error, or an empty string."""
    try:
        model.fit(X)
    except RuntimeError as error:
        return str(error)
    return ""


def test_a_warm_start_without_its_cluster():
    with workers.one_worker():
        X, model = split(2), make(warm_start=True, max_iter=3)
        model.fit(X)
    assert "The client of the Dask cluster is closed. Use warm_start=False" in refusal_of(
        model.set_params(max_iter=5), X
    )
    assert_same(model.set_params(warm_start=False).fit(X), here(n_shards=2, max_iter=5))
    STORES.clear()  # a closed client cannot drop partitions, and the worker was in this process


def test_texts_lie_in_files_that_are_gone(client):
    """Results of Dask are mapped from files without names, and the lists are freed."""
    X = PartitionedCorpus.from_delayed([dask.delayed(CORPUS_OF_MANY_WORDS)], 12)
    executor = DaskExecutor(client)
    executor.place(X._parts, CorpusPartition)
    executor.results([executor.call(0, "measure")])
    mapped = client.run(workers.count_maps)
    assert max(mapped.values()) == 1  # tokens; offsets are small
    folders = client.run(lambda dask_worker: os.listdir(dask_worker.local_directory)).values()
    assert not [name for folder in folders for name in folder if name.startswith("skdp-")]
    assert wait_for(lambda: not any(client.run(lambda dask_worker: len(dask_worker.data)).values()))
    executor.drop()
    client.run(gc.collect)
    assert max(client.run(workers.count_maps).values()) == 0


def test_a_sweep_sends_changes_and_no_words(client, monkeypatch):
    """In a sweep of 60,000 words the client unpacks a few thousand bytes: no words, no topics."""
    rng = np.random.default_rng(1)
    corpus = SegmentedCorpus(
        rng.integers(0, 100, 60_000), np.arange(0, 60_001, 60), np.arange(0, 1_001, 10), 100
    )
    largest = workers.count_bytes(monkeypatch, DistributedTableSampler)
    make(max_iter=4).fit(PartitionedCorpus.from_corpus(corpus, 4))
    assert len(largest) == 4
    assert 0 < max(largest) < 20_000


def watched(folder, **params):
    """Return a model that writes checkpoints."""
    return make(**params).set_callbacks(Checkpoint(folder / "file", every_sweeps=2))


needs_callbacks = pytest.mark.skipif(
    not has_callbacks(), reason="callbacks came with scikit-learn 1.9"
)


def test_a_lost_worker_is_a_clear_error(client, monkeypatch):
    workers.kill_at(monkeypatch, client, DistributedTableSampler, 3)
    model = make()
    with pytest.raises(
        LostWorkerError, match=r"partitions 0, 1\. The fit has lost .*callback\.Checkpoint it"
    ):
        model.fit(split(4))
    assert not hasattr(model, "components_")
    client.wait_for_workers(2, timeout=120)
    monkeypatch.undo()
    assert_same(make().fit(split(3)), here())
    workers.assert_nothing_is_left(client)


@needs_callbacks
@pytest.mark.parametrize("params", [{}, EVERYTHING], ids=["defaults", "everything learned"])
def test_a_fit_goes_on_from_its_checkpoint(client, monkeypatch, tmp_path, params):
    """A worker is killed in sweep 4, after a checkpoint at sweep 2."""
    expected = here(n_shards=4, **params)
    workers.kill_at(monkeypatch, client, DistributedTableSampler, 4 * params.get("n_chains", 1))
    with pytest.warns(RuntimeWarning, match=r"partitions 0, 1\. The fit continues from the"):
        found = watched(tmp_path, **params).fit(split(4))
    assert_same(found, expected)
    client.wait_for_workers(2, timeout=120)
    workers.assert_nothing_is_left(client)


@needs_callbacks
def test_a_worker_is_killed_at_a_checkpoint(client, monkeypatch, tmp_path):
    """The worker of the last partition, after the others have written: that of sweep 2 is kept."""
    expected, write, n_calls = here(n_shards=4), DistributedCorpus.write, []

    def killed_once(self, folder):
        n_calls.append(1)
        if len(n_calls) == 3:
            workers.kill_a_worker(client)
        write(self, folder)

    monkeypatch.setattr(DistributedCorpus, "write", killed_once)
    with pytest.warns(RuntimeWarning, match="continues from the"):
        found = watched(tmp_path).fit(split(4))
    assert len(n_calls) == 5  # at sweeps 0, 2, 4 in vain, 4, 6
    assert_same(found, expected)
    assert len(list((tmp_path / "file.parts").iterdir())) == 1
    client.wait_for_workers(2, timeout=120)
    workers.assert_nothing_is_left(client)


@needs_callbacks
def test_threads_go_on_with_the_fit_of_a_cluster(client, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        workers.kill_at(patch, client, DistributedTableSampler, 4)
        patch.setattr("skdp._fit._estimator._MOST_LOSSES", 1)
        with pytest.raises(LostWorkerError, match="loss"):
            watched(tmp_path).fit(split(4))
    with joblib.parallel_config("threading"):
        found = watched(tmp_path).fit(split(4))
    assert_same(found, here(n_shards=4))
    client.wait_for_workers(2, timeout=120)


@needs_callbacks
def test_a_full_disk_of_a_worker(client, monkeypatch, tmp_path):
    """An error of the operating system in a worker is a warning, and the fit goes on."""
    expected, paths, n_calls = here(), DistributedCorpus._paths, []

    def full_once(self, folder):
        n_calls.append(1)
        found = paths(self, folder)
        if len(n_calls) == 2:
            found[2] = Path("/dev/full/part")
        return found

    monkeypatch.setattr(DistributedCorpus, "_paths", full_once)
    with pytest.warns(RuntimeWarning, match=r"could not be written: .*The fit continues"):
        assert_same(watched(tmp_path).fit(split(3)), expected)
    assert len(n_calls) == 4
    assert len(list((tmp_path / "file.parts").iterdir())) == 1
    workers.assert_nothing_is_left(client)


def test_a_worker_is_killed_in_transform(client, tmp_path):
    """Dask computes the partition again elsewhere."""
    fitted, died = here(), tmp_path / "died"
    parts = split(3).partitions
    delayed = [dask.delayed(workers.die_once)(parts[s], died if s == 1 else None) for s in range(3)]
    found = fitted.transform(PartitionedCorpus.from_delayed(delayed, 12)).compute()
    assert died.exists()
    assert_array_equal(found, fitted.transform(CORPUS))
    client.wait_for_workers(2, timeout=120)


def test_progress_and_the_names_of_tasks(client, capsys):
    """The dashboard shows what tasks do, and a line what they send."""
    make(max_iter=4, verbose=2, discount="auto").fit(split(3))
    lines = [line for line in capsys.readouterr().out.splitlines() if "] sweep " in line]
    assert len(lines) == 2
    assert all(
        re.search(r"3 partitions, \S+ million tokens a second, \S+ MB a sweep", line)
        for line in lines
    )
    assert 0.0 < float(re.search(r"(\S+) MB", lines[0]).group(1)) < 0.01
    here().transform(split(3)).compute()
    named = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    for name in (
        "place",
        "begin",
        "sweep",
        "settle",
        "finish",
        "shared",
        "sum",
        "report",
        "add-sample",
    ):
        assert f"skdp-{name}" in named
    assert any("skdp-transform" in name for name in named)  # with what Dask fuses it with
