"""Topic models on a cluster: the bits of shards, bytes a sweep, lost workers, nothing left."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scale.workers import assert_nothing_is_left, kill_a_worker

from skdp._executors import LostWorkerError
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import AdaptiveTopicModel, GibbsLDA, SegmentedTopicModel, SequentialLDA
from skdp.topics._tables._placed_walker import PlacedTableWalker

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

# Dask has warnings of its own, and models are fitted for too short a time.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

RNG = np.random.default_rng(0)
CORPUS = SegmentedCorpus.from_documents(
    [
        [RNG.integers(0, 12, RNG.integers(0, 9)) for _ in range(RNG.integers(1, 5))]
        for _ in range(24)
    ],
    n_features=12,
)
FITTED = (
    "components_", "doc_topic_", "doc_topic_prior_", "topic_word_prior_", "discount_",
    "concentration_", "mixing_prior_",
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


@pytest.mark.parametrize("params", [{}, EVERYTHING], ids=["defaults", "everything learnt"])
@pytest.mark.parametrize(
    "cls", [SegmentedTopicModel, AdaptiveTopicModel, SequentialLDA], ids=lambda cls: cls.__name__
)
def test_bits_are_those_of_shards(client, cls, params):
    if cls is AdaptiveTopicModel and params:
        params = {**params, "mixing_prior": "auto"}
    assert_same(make(cls, **params).fit(split(3)), here(cls, **params))
    assert_nothing_is_left(client)


def test_bits_of_lda_are_those_of_shards(client):
    params = {"level": "segment", "n_chains": 2}
    assert_same(make(GibbsLDA, **params).fit(split(3)), here(GibbsLDA, **params))
    assert_nothing_is_left(client)


@pytest.mark.parametrize("n_partitions", [1, 11])
def test_bits_do_not_depend_on_workers(client, n_partitions):
    expected = here(n_shards=n_partitions, sampler="cmgs")
    assert_same(make(sampler="cmgs").fit(split(n_partitions)), expected)


def test_one_worker_without_processes():
    expected = here()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        assert_same(make().fit(split(3)), expected)


def test_files_and_what_dask_computes(client, tmp_path):
    expected = here()
    assert_same(make().fit(split(3).to_files(tmp_path)), expected)
    parts = [dask.delayed(part) for part in split(3).partitions]
    assert_same(make().fit(PartitionedCorpus.from_delayed(parts, 12)), expected)
    assert_nothing_is_left(client)


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
    assert_nothing_is_left(client)


def test_a_sweep_sends_changes_and_no_words(client, monkeypatch):
    """In a sweep of 60,000 words the client unpacks a few thousand bytes: no words, no topics."""
    rng = np.random.default_rng(1)
    corpus = SegmentedCorpus(
        rng.integers(0, 100, 60_000), np.arange(0, 60_001, 60), np.arange(0, 1_001, 10), 100
    )
    received = []
    loads = distributed.protocol.pickle.loads

    def counted(sent, *args, **kwargs):
        received.append(len(sent) + sum(map(len, kwargs.get("buffers", ()))))
        return loads(sent, *args, **kwargs)

    sweep, largest = PlacedTableWalker.sweep, []

    def watched(self):
        received.clear()
        sweep(self)
        largest.append(sum(received))

    monkeypatch.setattr(distributed.protocol.pickle, "loads", counted)
    monkeypatch.setattr(PlacedTableWalker, "sweep", watched)
    make(max_iter=4).fit(PartitionedCorpus.from_corpus(corpus, 4))
    assert len(largest) == 4
    assert 0 < max(largest) < 20_000


def test_a_lost_worker_is_a_clear_error(client, monkeypatch):
    sweep = PlacedTableWalker.sweep
    n_sweeps = []

    def interrupted(self):
        n_sweeps.append(1)
        if len(n_sweeps) == 3:
            kill_a_worker(client)
        sweep(self)

    monkeypatch.setattr(PlacedTableWalker, "sweep", interrupted)
    model = make()
    with pytest.raises(LostWorkerError, match=r"partitions 0, 1\. The topics .* begin anew"):
        model.fit(split(4))
    assert not hasattr(model, "components_")
    client.wait_for_workers(2, timeout=30)
    monkeypatch.undo()
    assert_same(make().fit(split(3)), here())
    assert_nothing_is_left(client)
