"""Fits to partitions that continue after a stop: same bits as one run, and no remains."""

import pickle
import signal

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
from skdp.data import PartitionedCorpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CASES = {
    "learned": (SegmentedTopicModel, {}),
    "segment, chains": (
        SegmentedTopicModel,
        {"concentration_scope": "segment", "sampler": "ssa", "discount": "auto", "n_chains": 2},
    ),
    "adaptive": (AdaptiveTopicModel, {"mixing_prior": "auto"}),
    "LDA": (GibbsLDA, {}),
    "co-clustering": (LatentDirichletCoClustering, {"n_document_topics": 4}),
}


def warm(cls=SegmentedTopicModel, **params):
    return make(cls, **{"burn_in": 3, "thin": 4, "warm_start": True, **params})


@pytest.mark.parametrize("case", CASES)
def test_bits_are_those_of_a_straight_run(case):
    """Sweep 6 is off the grid: it counts in the first fit only."""
    cls, params = CASES[case]
    X, model = split(3), warm(cls, **params, max_iter=6)
    model.fit(X)
    assert_same(model, make(cls, burn_in=3, thin=4, max_iter=6, n_shards=3, **params).fit(CORPUS))
    model.set_params(max_iter=13, n_jobs=2).fit(X)
    assert_same(model, make(cls, burn_in=3, thin=4, max_iter=13, n_shards=3, **params).fit(CORPUS))
    del model
    assert_nothing_is_left()


def test_nothing_is_opened_again(monkeypatch):
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


def test_before_the_end_of_the_burn_in():
    """The current state is shown, and does not count later."""
    X, model = split(3), warm(max_iter=2)
    model.fit(X)
    assert model.doc_topic_.shape == (24, 3)
    model.set_params(max_iter=9).fit(X)
    assert_same(model, make(burn_in=3, thin=4, max_iter=9, n_shards=3).fit(CORPUS))
    (chain,) = model._saved.runs
    states = chain.sampler.data._executor._states
    assert [len(state.chains[0].sums) for state in states] == [1, 1, 1]  # looks are dropped


@pytest.mark.parametrize("n_sweeps", [3, 9])
def test_after_an_interrupt(monkeypatch, n_sweeps):
    X, model = split(3), warm(max_iter=12)
    with monkeypatch.context() as patch:
        interrupt_at(patch, n_sweeps, lambda: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X)
    assert model.n_iter_ == n_sweeps
    assert model.transform(CORPUS[:2]).shape == (2, 3)
    assert_same(model.fit(X), make(burn_in=3, thin=4, n_shards=3).fit(CORPUS))


def test_after_an_error_within_a_sweep(monkeypatch):
    def fail():
        raise RuntimeError("full")

    X, model = split(3), warm()
    with monkeypatch.context() as patch:
        interrupt_at(patch, 4, fail)
        with pytest.raises(RuntimeError, match="full"):
            model.fit(X)
    assert_nothing_is_left()
    with pytest.warns(UserWarning, match="cannot continue"):
        model.fit(X)
    assert_same(model, make(burn_in=3, thin=4, n_shards=3).fit(CORPUS))


def test_equal_partitions_will_do_and_others_not():
    model = warm(max_iter=5).fit(split(3))
    model.set_params(max_iter=9).fit(split(3))
    expected = make(burn_in=3, thin=4, max_iter=9, n_shards=3).fit(CORPUS)
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


def test_partitions_that_are_gone(monkeypatch):
    def refuse(self, n_jobs):
        raise LostWorkerError("A worker is gone.")

    X, model = split(3), warm(max_iter=5)
    model.fit(X)
    monkeypatch.setattr(LocalExecutor, "go_on", refuse)
    with pytest.raises(RuntimeError, match=r"A worker is gone\. Use warm_start=False"):
        model.set_params(max_iter=9).fit(X)
    model.set_params(warm_start=False).fit(X)
    assert model.n_iter_ == 9
    assert_nothing_is_left()


def test_a_loss_on_the_way(monkeypatch):
    X, model = split(3), warm(max_iter=5)
    model.fit(X)

    def lose():
        raise LostWorkerError("A worker is gone.")

    with monkeypatch.context() as patch:
        interrupt_at(patch, 2, lose)
        with pytest.raises(LostWorkerError, match="has to start again"):
            model.set_params(max_iter=9).fit(X)
    assert_nothing_is_left()
    with pytest.warns(UserWarning, match="cannot continue"):
        model.fit(X)
    assert_same(model, make(burn_in=3, thin=4, max_iter=9, n_shards=3).fit(CORPUS))


def test_pickles_leave_the_chains_out():
    model = warm(max_iter=5).fit(split(3))
    with pytest.warns(UserWarning, match="leaves out what partitions hold: the chains"):
        copied = pickle.loads(pickle.dumps(model))
    assert not hasattr(copied, "_saved")
    assert_array_equal(copied.segment_topic_, model.segment_topic_)
    assert_array_equal(model.transform(split(2)), model.transform(CORPUS))  # without a warning


@pytest.mark.skipif(not has_callbacks(), reason="callbacks of scikit-learn 1.9")
def test_a_checkpoint_comes_first(tmp_path):
    X, model = split(3), warm(max_iter=6)
    model.set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=2)).fit(X)
    model.set_params(max_iter=9).fit(X)
    assert_same(model, make(burn_in=3, thin=4, max_iter=9, n_shards=3).fit(CORPUS))
    del model
    assert_nothing_is_left()


@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize("is_distributed", [True, False])
def test_lists_go_on_in_their_order(n_partitions, is_distributed, monkeypatch):
    """Also those of shards in this process: the order of a list tells on the draws."""
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 3)
    X = split(n_partitions) if is_distributed else CORPUS
    n_shards = 1 if is_distributed else n_partitions
    model = warm(GibbsLDA, max_iter=5, n_shards=n_shards).fit(X)
    expected = make(GibbsLDA, burn_in=3, thin=4, max_iter=13, n_shards=n_partitions).fit(CORPUS)
    assert_same(model.set_params(max_iter=13).fit(X), expected)


@pytest.mark.skipif(not has_callbacks(), reason="callbacks of scikit-learn 1.9")
@pytest.mark.parametrize("is_distributed", [True, False])
def test_lists_are_in_checkpoints(is_distributed, monkeypatch, tmp_path):
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 3)
    X = split(1) if is_distributed else CORPUS
    for max_iter in (5, 13):
        model = make(GibbsLDA, burn_in=3, thin=4, max_iter=max_iter)
        model.set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=1)).fit(X)
    assert_same(model, make(GibbsLDA, burn_in=3, thin=4, max_iter=13).fit(CORPUS))
