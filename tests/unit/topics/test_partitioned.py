"""Topic models over partitions: the bits of shards, and what partitions do not allow."""

import pickle
import signal
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
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
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._lda._kernels_sweeps import list_words, lists_of_counts
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._partition import CorpusChain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MODELS = [SegmentedTopicModel, AdaptiveTopicModel, SequentialLDA]
CASES = {
    "learned": {},
    "discount": {"discount": "auto"},
    "document": {"concentration_scope": "document", "sampler": "cmgs"},
    "segment, chains": {
        "concentration_scope": "segment", "sampler": "ssa", "discount": "auto", "n_chains": 2,
    },
    "given": {
        "init": RNG.random((3, 12)), "doc_topic_prior": 0.3, "topic_word_prior": 0.1,
        "concentration": 2.0,
    },
}  # fmt: skip


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_partitions", [1, 3])
def test_partitions_have_the_bits_of_shards(cls, case, n_partitions):
    params = dict(CASES[case])
    if cls is AdaptiveTopicModel and case != "given":
        params["mixing_prior"] = "auto"
    found = make(cls, n_jobs=2, **params).fit(split(n_partitions))
    assert_same(found, make(cls, n_shards=n_partitions, **params).fit(CORPUS))
    assert_array_equal(found.transform(CORPUS[:3]).shape, (3, 3))
    assert_nothing_is_left()


@pytest.mark.parametrize("level", ["document", "segment"])
@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"doc_topic_prior": 0.3, "topic_word_prior": 0.1, "init": RNG.random((3, 12))},
        {"doc_topic_prior": "auto-symmetric", "n_chains": 2},
    ],
    ids=["learned", "given", "symmetric, chains"],
)
def test_partitions_of_lda_have_the_bits_of_shards(level, n_partitions, params):
    found = make(GibbsLDA, level=level, n_jobs=2, **params).fit(split(n_partitions))
    expected = make(GibbsLDA, level=level, n_shards=n_partitions, **params).fit(CORPUS)
    assert_same(found, expected)
    assert_nothing_is_left()


@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"document_topic_prior": 0.3, "segment_topic_prior": 0.2, "init": RNG.random((3, 12))},
        {"document_topic_prior": "auto-symmetric", "n_chains": 2},
    ],
    ids=["learned", "given", "symmetric, chains"],
)
def test_partitions_of_co_clustering_have_the_bits_of_shards(n_partitions, params):
    params = {"n_document_topics": 4, **params}
    found = make(LatentDirichletCoClustering, n_jobs=2, **params).fit(split(n_partitions))
    expected = make(LatentDirichletCoClustering, n_shards=n_partitions, **params).fit(CORPUS)
    assert_same(found, expected)
    assert found.doc_topic_.shape == (24, 4)
    assert_nothing_is_left()


def test_labels_of_two_kinds_are_followed(monkeypatch):
    """Every label is said to have its place elsewhere in the next sample."""

    def align(reference, current):
        return np.roll(np.arange(len(current)), 1)

    monkeypatch.setattr("skdp.topics._shared._averages.align_labels", align)
    monkeypatch.setattr("skdp.topics._ldcc._averages.align_labels", align)
    found = make(LatentDirichletCoClustering, n_document_topics=4).fit(split(3))
    expected = make(LatentDirichletCoClustering, n_document_topics=4, n_shards=3).fit(CORPUS)
    assert_same(found, expected)
    assert_nothing_is_left()


@pytest.mark.parametrize("n_partitions", [1, 3])
@pytest.mark.parametrize(
    "params",
    [{}, {"doc_topic_prior": "auto-symmetric", "init": RNG.random((6, 12)), "n_chains": 2}],
    ids=["learned", "symmetric, chains"],
)
def test_partitions_of_lda_by_lists_have_the_bits_of_shards(n_partitions, params, monkeypatch):
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 6)
    params = {"n_components": 6, **params}
    found = make(GibbsLDA, n_jobs=2).set_params(**params).fit(split(n_partitions))
    expected = make(GibbsLDA, n_shards=n_partitions).set_params(**params).fit(CORPUS)
    assert_same(found, expected)
    dense = make(GibbsLDA).set_params(**params)
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 7)
    assert np.any(dense.fit(split(n_partitions)).components_ != found.components_)
    assert_nothing_is_left()


def test_lists_of_counts():
    tokens, topics = RNG.integers(0, 40, 900), RNG.integers(0, 20, 900)
    tokens[tokens == 7] = 8
    counts = np.zeros((40, 32), dtype=np.float32)
    np.add.at(counts, (tokens, topics), 1.0)
    expected = list_words(tokens.astype(np.int32), topics.astype(np.int32), 40, 20)
    for found, array in zip(lists_of_counts(counts, 20), expected, strict=True):
        assert_array_equal(found, array)
        assert found.dtype == array.dtype


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


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_state_takes_little_room_between_sweeps(cls, monkeypatch):
    """A packed corpus has the same bits, and is complete."""
    params = CASES["segment, chains"]
    expected = make(cls, n_shards=3, **params).fit(CORPUS)
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
    assert_same(make(cls, **params).fit(split(3)), expected)
    assert np.mean(packed) > 0.9  # but for the first partition, which was alone
    packed.clear()
    make(cls).fit(split(1))  # what is alone is never packed
    assert packed
    assert not any(packed)


def test_topics_that_trade_places_are_followed(monkeypatch):
    """Every second sample is said to have its topics the other way round."""
    orders = iter([[1, 2, 0], [0, 1, 2], [2, 1, 0]] * 4)

    def align(reference, current):
        return np.array(next(orders))

    monkeypatch.setattr("skdp.topics._shared._averages.align_labels", align)
    found = make().fit(split(3))
    orders = iter([[1, 2, 0], [0, 1, 2], [2, 1, 0]] * 4)
    expected = make(n_shards=3).fit(CORPUS)
    assert_same(found, expected)


def test_what_belongs_to_segments_in_threads():
    model = make(AdaptiveTopicModel).fit(split(2))
    expected = make(AdaptiveTopicModel, n_shards=2).fit(CORPUS)
    copied = pickle.loads(pickle.dumps(model))
    for each in (model, copied):
        for name in ("doc_topic_", "segment_topic_", "segment_mixing_"):
            assert_array_equal(getattr(each, name), getattr(expected, name), err_msg=name)
    with pytest.raises(AttributeError, match=r"^'AdaptiveTopicModel' object has no attribute"):
        AdaptiveTopicModel().segment_topic_  # noqa: B018


@pytest.mark.parametrize(
    ("params", "error", "match"),
    [
        ({"n_shards": 2}, ValueError, r"n_partitions=3, got n_shards=2"),
        ({"init": "lda"}, TypeError, r"init='lda' .* another init"),
        ({"n_components": "auto"}, TypeError, r"n_components='auto' .* X\.compute\(\)"),
        ({"init": np.ones((2, 12))}, ValueError, r"init must have shape"),
    ],
    ids=str,
)
def test_what_partitions_do_not_allow(params, error, match):
    model = make().set_params(**params)
    with pytest.raises(error, match=match):
        model.fit(split(3))
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        make().iter_sweeps(split(3))


def test_n_shards_may_be_the_number_of_partitions():
    assert_same(make(n_shards=3).fit(split(3)), make().fit(split(3)))


def test_no_words_at_all():
    X = PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents([[[]], [[]]], 3), 2)
    with pytest.raises(ValueError, match="X has no tokens at all"):
        make().fit(X)


def test_words_that_occur_too_often(monkeypatch):
    """The limit applies to the total over partitions of a word in a topic."""
    counts = np.bincount(CORPUS.tokens)
    model = make().set_params(n_components=1)
    monkeypatch.setattr("skdp.topics._shared._arrays.MAX_COUNT", counts.max() + 1)
    model.fit(split(3))
    monkeypatch.setattr("skdp.topics._shared._arrays.MAX_COUNT", counts.max())
    match = f"The word {counts.argmax()} occurs {counts.max()} times or more in topic 0"
    with pytest.raises(ValueError, match=match):
        clone(model).fit(split(3))
    make().fit(split(3))  # of three topics none has all of it
    assert_nothing_is_left()


def test_an_error_in_a_sweep_leaves_nothing_behind(monkeypatch):
    def fail():
        raise RuntimeError("full")

    interrupt_at(monkeypatch, 4, fail)
    model = make()
    with pytest.raises(RuntimeError, match="full"):
        model.fit(split(3))
    assert not hasattr(model, "_saved")
    assert not hasattr(model, "n_features_in_")
    assert_nothing_is_left()


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


PREDICTING = {
    "segmented": make(transform_max_iter=6),
    "open": SegmentedTopicModel("auto", max_iter=6, transform_max_iter=6, random_state=0),
    "LDA": GibbsLDA(3, max_iter=6, transform_max_iter=6, random_state=0),
    "co-clustering": LatentDirichletCoClustering(
        3, n_document_topics=2, max_iter=6, transform_max_iter=6, random_state=0
    ),
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
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        model.transform_segments(split(5))


def test_predictions_need_a_fit_and_its_vocabulary():
    model = make()
    for predict in (model.transform, model.score_samples, model.score):
        with pytest.raises(NotFittedError):
            predict(split(2))
    model.fit(CORPUS)
    X = PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents([[[0]], [[1]]], 5), 2)
    for predict in (model.transform, model.score_samples, model.score):
        with pytest.raises(ValueError, match="X has 5 features, but SegmentedTopicModel"):
            predict(X)
    X = PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents([[[0]], [[1]]], 12), 2)
    with pytest.raises(ValueError, match="X has no tokens to score"):
        model.score(X)


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
    monkeypatch.setattr("skdp._executors._throughput.perf_counter", lambda: next(clock))
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
    tokens = np.load(tmp_path / "part-00001" / "tokens.npy")
    tokens[-1] = 99
    np.save(tmp_path / "part-00001" / "tokens.npy", tokens)
    model = make()
    with pytest.raises(
        ValueError, match=r"partition 1 \(part-00001\): document 6, segment 3: word id 99"
    ):
        model.fit(X)
    (tmp_path / "part-00002" / "tokens.npy").unlink()
    (tmp_path / "part-00001" / "tokens.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(part-00001\)"):
        model.fit(X)
    assert not hasattr(model, "n_features_in_")


def test_what_is_sent_to_predict_has_no_training_documents():
    model = make(concentration_scope="document").fit(CORPUS)
    sent = model._for_parts(split(2))
    assert not set(vars(sent)) & {"doc_topic_", "segment_topic_", "_saved"}
    assert hasattr(model, "doc_topic_")
