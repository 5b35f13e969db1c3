"""Topic models over partitions: the bits of shards, predictions, and errors."""

import signal
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from unit.topics.partitions import (
    CORPUS,
    RNG,
    assert_nothing_is_left,
    assert_same,
    interrupt_at,
    make,
    split,
)

from skdp._executors import LocalExecutor
from skdp._sklearn_compat import has_callbacks
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._partition import CorpusChain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

TABLE_MODELS = [SegmentedTopicModel, AdaptiveTopicModel, SequentialLDA]
OF_SEGMENTS = {
    "concentration_scope": "segment", "sampler": "ssa", "discount": "auto", "n_chains": 2
}  # fmt: skip
GIVEN = {
    "init": RNG.random((3, 12)), "doc_topic_prior": 0.3, "topic_word_prior": 0.1,
    "concentration": 2.0,
}  # fmt: skip
OF_TABLES = {
    "learned": {},
    "discount": {"discount": "auto"},
    "document": {"concentration_scope": "document", "sampler": "cmgs"},
    "segment, chains": OF_SEGMENTS,
    "given": GIVEN,
}
SYMMETRIC = {"doc_topic_prior": "auto-symmetric", "n_chains": 2}
OF_LDA = {
    "learned": {},
    "given": {name: GIVEN[name] for name in ("init", "doc_topic_prior", "topic_word_prior")},
    "symmetric, chains": SYMMETRIC,
}
OF_CO_CLUSTERING = {
    "learned": {},
    "given": {"document_topic_prior": 0.3, "segment_topic_prior": 0.2, "init": GIVEN["init"]},
    "symmetric, chains": {"document_topic_prior": "auto-symmetric", "n_chains": 2},
}


def cases():
    """Yield models, parameters and numbers of partitions: each pair, and not each triple."""
    for i, cls in enumerate(TABLE_MODELS):
        mixing = {"mixing_prior": "auto"} if cls is AdaptiveTopicModel else {}
        for j, (name, params) in enumerate(OF_TABLES.items()):
            params = params if name == "given" else {**mixing, **params}
            yield pytest.param(cls, params, (3, 1)[(i + j) % 2], id=f"{cls.__name__}-{name}")
    for i, level in enumerate(("document", "segment")):
        for j, (name, params) in enumerate(OF_LDA.items()):
            params = {"level": level, **params}
            yield pytest.param(GibbsLDA, params, (3, 1)[(i + j) % 2], id=f"LDA-{level}-{name}")
    for j, (name, params) in enumerate(OF_CO_CLUSTERING.items()):
        params = {"n_document_topics": 4, **params}
        n = (3, 1)[j % 2]
        yield pytest.param(LatentDirichletCoClustering, params, n, id=f"co-clustering-{name}")


@pytest.mark.parametrize(("cls", "params", "n_partitions"), list(cases()))
def test_partitions_have_the_bits_of_shards(cls, params, n_partitions):
    found = make(cls, n_jobs=2, **params).fit(split(n_partitions))
    assert_same(found, make(cls, n_shards=n_partitions, **params).fit(CORPUS))
    assert len(found.transform(CORPUS[:3])) == 3
    assert_nothing_is_left()


@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize(
    "params", [{}, {"init": RNG.random((6, 12)), **SYMMETRIC}], ids=["learned", "symmetric, chains"]
)
def test_partitions_of_lda_by_lists_have_the_bits_of_shards(n_partitions, params, monkeypatch):
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 6)
    params = {"n_components": 6, **params}
    found = make(GibbsLDA, n_jobs=2, **params).fit(split(n_partitions))
    assert_same(found, make(GibbsLDA, n_shards=n_partitions, **params).fit(CORPUS))
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 7)
    dense = make(GibbsLDA, **params).fit(split(n_partitions))
    assert np.any(dense.components_ != found.components_)
    assert_nothing_is_left()


def test_words_have_the_topics_that_they_have_in_shards():
    model = make(max_iter=5, n_shards=9)
    (*_, expected) = model.iter_sweeps(CORPUS)
    with LocalExecutor(2) as executor:
        (chain,) = model._make_procedure(DistributedCorpus(split(9), executor)).start_chains(1).runs
        for _ in range(5):
            chain.sampler.sweep()
        shards = [part.chains[0]._sampler.shards[0] for part in executor._states]
        assert_array_equal(np.concatenate([shard.topics for shard in shards]), expected.topics)
        assert_array_equal(chain.sampler.word_counts, expected._sampler.word_counts)


@pytest.mark.parametrize("cls", TABLE_MODELS, ids=lambda cls: cls.__name__)
def test_state_takes_little_room_between_sweeps(cls, monkeypatch):
    """A packed corpus has the same bits, and is complete."""
    expected = make(cls, n_shards=3, **OF_SEGMENTS).fit(CORPUS)
    packed = []
    opened = CorpusChain.opened

    @contextmanager
    def watched(self, *args):
        with opened(self, *args) as sampler:
            assert len(sampler.shards) == 1
            yield sampler
        packed.append(not sampler.shards)

    monkeypatch.setattr(CorpusChain, "opened", watched)
    monkeypatch.setattr("skdp.topics._shared._partition._ROOM", 0)
    assert_same(make(cls, **OF_SEGMENTS).fit(split(3)), expected)
    assert np.mean(packed) > 0.9  # but for the first partition, which was alone
    packed.clear()
    make(cls).fit(split(1))  # what is alone is never packed
    assert packed
    assert not any(packed)


def test_topics_that_trade_places_are_followed(monkeypatch):
    """Every second sample is said to have its topics the other way round."""
    orders = iter([[1, 2, 0], [0, 1, 2], [2, 1, 0]] * 8)

    def align(reference, current):
        return np.array(next(orders))

    monkeypatch.setattr("skdp.topics._shared._distributed.align_labels", align)
    found = make().fit(split(3))
    orders = iter([[1, 2, 0], [0, 1, 2], [2, 1, 0]] * 8)
    assert_same(found, make(n_shards=3).fit(CORPUS))


def test_labels_of_two_kinds_are_followed(monkeypatch):
    """Every label is said to have its place elsewhere in the next sample."""

    def align(reference, current):
        return np.roll(np.arange(len(current)), 1)

    monkeypatch.setattr("skdp.topics._shared._distributed.align_labels", align)
    monkeypatch.setattr("skdp.topics._lda._ldcc.align_labels", align)
    model = make(LatentDirichletCoClustering, n_document_topics=4)
    expected = clone(model).set_params(n_shards=3).fit(CORPUS)
    assert_same(model.fit(split(3)), expected)


def test_n_shards_may_be_the_number_of_partitions():
    assert_same(make(n_shards=3).fit(split(3)), make().fit(split(3)))


@pytest.mark.parametrize(("n_sweeps", "burn_in"), [(3, 2), (9, 6)])
def test_an_interrupted_fit_shows_what_there_is(monkeypatch, n_sweeps, burn_in):
    """In the burn-in, of six sweeps, it shows its last state."""
    interrupt_at(monkeypatch, n_sweeps, lambda: signal.raise_signal(signal.SIGINT))
    model = make(thin=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            model.fit(split(3))
    assert any("interrupted in its burn-in" in str(w.message) for w in caught) == (n_sweeps == 3)
    assert not hasattr(model, "_saved")
    shorter = make(max_iter=n_sweeps, burn_in=burn_in, thin=1, n_shards=3).fit(CORPUS)
    assert_array_equal(model.doc_topic_, shorter.doc_topic_)


FEW = {"max_iter": 6, "transform_max_iter": 6}
PREDICTING = {
    "segmented": make(**FEW),
    "open": make(n_components="auto", initial_components=4, **FEW),
    "LDA": make(GibbsLDA, **FEW),
    "co-clustering": make(LatentDirichletCoClustering, n_document_topics=2, **FEW),
}


@pytest.mark.parametrize("name", PREDICTING)
def test_predictions_are_those_of_the_documents(name):
    model = clone(PREDICTING[name]).fit(CORPUS)
    before = set(vars(model))
    for n_jobs in (None, 2):
        model.set_params(n_jobs=n_jobs)
        assert_array_equal(model.transform(split(5)), model.transform(CORPUS))
        assert_array_equal(model.score_samples(split(5)), model.score_samples(CORPUS))
        assert model.score(split(5)) == pytest.approx(model.score(CORPUS), rel=1e-12)
        assert model.perplexity(split(5)) == np.exp(-model.score(split(5)))
    assert set(vars(model)) == before


def test_what_is_sent_to_predict_has_no_training_documents():
    model = make(concentration_scope="document").fit(CORPUS)
    sent = model._for_parts(split(2))
    assert not set(vars(sent)) & {"doc_topic_", "segment_topic_", "_saved"}
    assert hasattr(model, "doc_topic_")


def test_fit_transform():
    X, model = split(2), make(transform_max_iter=4)
    assert_array_equal(clone(model).fit_transform(X), clone(model).fit(X).transform(CORPUS))


@pytest.mark.skipif(not has_callbacks(), reason="callbacks of scikit-learn 1.9")
def test_callbacks_that_look_at_the_fit():
    from sklearn.callback import ScoringMonitor

    model = make().set_callbacks(ScoringMonitor(scoring=lambda model, X, y=None: model.score(X)))
    with pytest.raises(TypeError, match=r"fit in progress.* X\.compute\(\)"):
        model.fit(split(3))
    assert not hasattr(model, "components_")


def test_progress(capsys, monkeypatch):
    """Partitions, speed and the time that is left, after what is said of shards."""
    clock = iter([100.0, 100.5, 101.0])
    monkeypatch.setattr("skdp._executors._distributed.perf_counter", lambda: next(clock))
    model = make(max_iter=4, verbose=2, n_chains=2).fit(split(3))
    assert not hasattr(model, "_throughput")
    found = capsys.readouterr().out.splitlines()
    make(max_iter=4, verbose=2, n_shards=3, n_chains=2).fit(CORPUS)
    first, second, few = capsys.readouterr().out.splitlines()
    # Two sweeps of two chains in half a second.
    speed = f"{len(CORPUS.tokens) * 2 * 2 / 0.5 / 1e6:.3g} million tokens a second"
    assert found == [
        f"{first}, 3 partitions, {speed}, 0 s left", f"{second}, 3 partitions, {speed}", few,
    ]  # fmt: skip


def test_errors_name_the_partition(tmp_path):
    X = split(3).to_files(tmp_path)
    files = [tmp_path / f"part-0000{i}" / "tokens.npy" for i in range(3)]
    tokens = np.load(files[1])
    tokens[-1] = 99
    np.save(files[1], tokens)
    model = make()
    message = r"partition 1 \(part-00001\): document 6, segment 3: word id 99"
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    for file in files[1:]:
        file.unlink()
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(part-00001\)"):
        model.fit(X)
    assert not hasattr(model, "n_features_in_")
