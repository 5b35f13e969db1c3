"""Topics with given words: parameters, exact rows, strays of rounding, shards, resumed fits."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from unit.topics.partitions import CORPUS, assert_nothing_is_left, assert_same, split

from skdp._numeric._random import make_seed_sequence
from skdp.callback import Checkpoint
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SectionedTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)
from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._arrays import check_counts, empty_counts
from skdp.topics._shared._fixed import FixedTopics
from skdp.topics._shared._packing import pack_words, unpack_words

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PHI = np.array([
    [0.0, 0.0, 0.3, 0.3, 0.2, 0.2, 0, 0, 0, 0, 0, 0],
    [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1e-18, 1e-18],
])  # fmt: skip
PHI[1] /= PHI[1].sum()
POSSIBLE = PHI > 1e-17
MODELS = {
    "lda": GibbsLDA,
    "segmented": SegmentedTopicModel,
    "sectioned": SectionedTopicModel,
    "sequential": SequentialLDA,
    "adaptive": AdaptiveTopicModel,
    "co-clustering": LatentDirichletCoClustering,
    "hdp": lambda _, **params: HDPTopicModel(initial_components=4, **params),
    "open": lambda _, **params: SegmentedTopicModel("auto", initial_components=4, **params),
}


def make(name, **params):
    return MODELS[name](
        4,
        **{"fixed_components": PHI, "max_iter": 12, "thin": 2, "random_state": 0, **params},
    )


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_exact_and_words_possible(name):
    model = make(name, n_chains=2).fit(CORPUS)
    assert_array_equal(model.components_[:2], PHI)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    for state in make(name).iter_sweeps(CORPUS):
        for k in range(2):
            assert POSSIBLE[k, CORPUS.tokens[state.topics == k]].all()
    assert set(state.topics) >= {0, 1}
    assert np.isfinite(model.score(CORPUS))
    assert np.isfinite(model.transform(CORPUS)).all()


@pytest.mark.parametrize("name", ["lda", "segmented", "hdp", "open"])
def test_words_of_a_fixed_topic_are_found(name):
    """A fixed topic takes the words that it alone gives."""
    own = np.repeat([[0.5, 0.0]], [2, 10], axis=1)
    documents = [[[0, 1, 1, 0] * 3], [[2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]] * 12
    model = make(name, fixed_components=own, max_iter=60).fit(documents)
    assert model.segment_topic_[::3, 0].mean() > 0.8
    assert model.segment_topic_[1::3, 0].mean() < 0.1


def test_containers():
    expected = make("lda").fit(CORPUS)
    for phi in (PHI.tolist(), pd.DataFrame(PHI), sparse.csr_matrix(PHI), sparse.csr_array(PHI),
                np.asfortranarray(PHI)):  # fmt: skip
        assert_array_equal(make("lda", fixed_components=phi).fit(CORPUS).components_,
                           expected.components_)  # fmt: skip
    narrow = PHI.astype(np.float32)
    found = make("lda", fixed_components=narrow).fit(CORPUS)
    assert_array_equal(found.components_[:2], narrow.astype(np.float64))
    given = PHI.copy()
    model = make("lda", fixed_components=given).fit(CORPUS)
    given[:] = 0.0
    assert_array_equal(model.components_[:2], PHI)


def test_all_topics_are_fixed():
    phi = np.vstack([PHI, np.full((1, 12), 1 / 12)])
    model = GibbsLDA(3, fixed_components=phi, max_iter=10, random_state=0).fit(CORPUS)
    assert_array_equal(model.components_, phi)
    assert model.topic_word_prior_ == 0.05  # there is nothing to learn it from


def test_many_topics_are_not_lists(monkeypatch):
    expected = make("lda").fit(CORPUS)
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 1)
    assert_array_equal(make("lda").fit(CORPUS).components_, expected.components_)


@pytest.mark.parametrize("init", ["random", np.ones((4, 12))], ids=["random", "array"])
@pytest.mark.parametrize("name", MODELS)
def test_first_states_are_possible(name, init):
    model = make(name, init=init).fit(CORPUS)
    topics = model._start_sampler(CORPUS, make_seed_sequence(0), 0).topics
    for k in range(2):
        assert POSSIBLE[k, CORPUS.tokens[topics == k]].all()
    assert len(set(topics)) == 4


@pytest.mark.parametrize("name", ["lda", "segmented", "co-clustering"])
def test_shards(name):
    """Threads and processes of shards give the same bits."""
    expected = make(name, n_shards=3).fit(CORPUS)
    assert_array_equal(expected.components_[:2], PHI)
    assert_same(make(name, n_shards=3, n_jobs=2).fit(CORPUS), expected)


@pytest.mark.parametrize("name", ["lda", "segmented", "sequential", "adaptive", "co-clustering"])
@pytest.mark.parametrize("n_partitions", [1, 3])
def test_partitions_have_the_bits_of_shards(name, n_partitions):
    params = {"seed_words": {"a": [6]}, "n_chains": 2}
    found = make(name, n_jobs=2, **params).fit(split(n_partitions))
    assert_array_equal(found.components_[:2], PHI)
    assert_same(found, make(name, n_shards=n_partitions, **params).fit(CORPUS))
    assert_nothing_is_left()


def test_labels_in_partitions():
    y = [{0, 3}, None, {1, 2}] * 8
    found = make("lda").fit(split(3), y)
    assert_same(found, make("lda", n_shards=3).fit(CORPUS, y))


@pytest.mark.parametrize("name", ["lda", "segmented"])
def test_resumed_partitions(name, tmp_path):
    straight = make(name, n_jobs=2).fit(split(3))
    half = make(name, max_iter=6, n_jobs=2)
    half.set_callbacks(Checkpoint(tmp_path / "fit.ckpt")).fit(split(3))
    half.set_params(max_iter=12).fit(split(3))
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    X, warm = split(3), make(name, max_iter=6, n_jobs=2, warm_start=True)
    warm.fit(X).set_params(max_iter=12).fit(X)
    assert warm.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    with pytest.raises(ValueError, match="fixed_components"):
        warm.set_params(fixed_components=PHI[::-1]).fit(X)


@pytest.mark.slow
def test_processes():
    expected = make("lda", n_shards=3).fit(CORPUS)
    with parallel_config("loky", n_jobs=2):
        assert_same(make("lda", n_shards=3, n_jobs=2).fit(CORPUS), expected)


def test_seed_words_beside_fixed_topics():
    seeds = {"a": [10, 11], 3: [6]}
    model = make("segmented", seed_words=seeds, seed_weight=100).fit(CORPUS)
    assert model.topic_names_ == [None, None, "a", None]
    assert model.components_[2, [10, 11]].sum() > 0.5
    seeds = {"a": [10, 11]}
    model = make("hdp", seed_words=seeds, seed_weight=100).fit(CORPUS)
    assert model.topic_names_[:3] == [None, None, "a"]
    assert_array_equal(model.components_[:2], PHI)
    assert model.components_[2, [10, 11]].sum() > 0.5


def test_columns_absorb_words():
    """Fixed topics neither change with their words nor overflow, nor count as words."""
    fixed, words = FixedTopics(PHI), empty_counts(12, 4)
    fixed.write_to(words, 0.1)
    before = words.counts.copy()
    for change in (1.0, -1.0):
        for _ in range(3):
            words.counts[POSSIBLE.any(axis=0), :2] += np.float32(change)
            words.totals[:2] += change
    assert_array_equal(words.counts[:, :2][POSSIBLE.T], before[:, :2][POSSIBLE.T])
    fixed.write_to(words, 0.1)
    weights = (words.counts[:, :2] + np.float32(0.1)) / words.totals[:2]
    np.testing.assert_allclose(weights, np.where(POSSIBLE, PHI, 0.0).T, rtol=1e-6)
    assert np.all(weights.T[~POSSIBLE] == 0.0)
    check_counts(words)
    words.counts[0, 3] = 2**24
    words.totals[3] = 2.0**24
    with pytest.raises(ValueError, match="topic 3"):
        check_counts(words)
    words.counts[:, 2:] = np.arange(12)[:, None]
    again = unpack_words(pickle.loads(pickle.dumps(pack_words(words))))
    assert_array_equal(again.counts, words.counts)
    assert_array_equal(again.totals, words.totals)


def test_strays():
    """A word that rounding has left in a topic that excludes it moves to the last possible one."""
    fixed, words = FixedTopics(PHI), empty_counts(12, 4)
    tokens, topics = np.array([0, 2, 0, 11], dtype=np.int32), np.array([0, 0, 2, 1], dtype=np.int32)
    assert fixed.find_strays(tokens, topics).tolist() == [0, 3]
    fixed.move_stray(0, tokens, topics, words, np.array([True, True, False, False]))
    fixed.move_stray(3, tokens, topics, words, np.array([True, True, True, False]))
    assert topics.tolist() == [1, 0, 2, 2]
    assert words.counts[11].tolist()[:4] == [0, 0, 1, 0]
    fixed.move_stray(3, tokens, topics, words, np.array([True, True, False, False]))
    assert topics.tolist() == [1, 0, 2, 2]  # nothing is possible


def test_strays_of_sweeps_obey_labels():
    labels = [{0, 1, 2}] * len(CORPUS)
    *_, state = make("lda").iter_sweeps(CORPUS, labels)
    sampler = state._sampler
    i = int(np.flatnonzero(CORPUS.tokens == 0)[0])
    sampler._sweep_words = lambda *args: sampler.shards[0].topics.__setitem__(i, 0)
    sampler.sweep()
    assert sampler.topics[i] == 2


def test_first_state_respects_the_prior():
    fixed = FixedTopics(np.array([[0.5, 0.5, 0.0]]))
    tokens = np.tile(np.arange(3, dtype=np.int32), 3000)
    topics, allowed = np.empty(9000, dtype=np.int32), AllowedTopics.every(2, 9000)
    fixed.seat(topics, tokens, 0.5, None, allowed, np.array([1, 2, 3, 4], dtype=np.uint64))
    for word, share in enumerate([0.6, 0.6, 0.0]):
        assert np.mean(topics[word::3] == 0) == pytest.approx(share, abs=0.04)
    sets = AllowedTopics(np.array([[True, False], [True, True]]), np.repeat([0, 1], 4500))
    tokens %= 2
    fixed.seat(topics, tokens, 0.5, None, sets, np.array([1, 2, 3, 4], dtype=np.uint64))
    assert np.all(topics[:4500] == 0)
    assert set(topics[4500:]) == {0, 1}


@pytest.mark.parametrize("name", ["lda", "segmented", "open"])
def test_resumed_fits(name, tmp_path):
    straight = make(name).fit(CORPUS)
    model = make(name, max_iter=5, warm_start=True).fit(CORPUS)
    model = pickle.loads(pickle.dumps(model))
    model.set_params(max_iter=12).fit(CORPUS)
    assert model.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    *_, last = make(name).iter_sweeps(CORPUS)
    assert last.log_joint() == straight.trace_["log_joint"][0, -1]
    twice = clone(model).set_params(warm_start=False)
    assert_array_equal(twice.fit(CORPUS).components_, straight.components_)
    for other in (PHI[::-1], PHI[:1], None):
        with pytest.raises(ValueError, match="fixed_components"):
            model.set_params(fixed_components=other).fit(CORPUS)
    half = make(name, max_iter=6)
    half.set_callbacks(Checkpoint(tmp_path / "fit.ckpt")).fit(CORPUS)
    with pytest.raises(ValueError, match="fixed_components"):
        half.set_params(fixed_components=PHI[::-1], max_iter=12).fit(CORPUS)
    half.set_params(fixed_components=PHI).fit(CORPUS)
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]


def test_fits_without_fixed_topics_follow():
    model = make("lda").fit(CORPUS)
    plain = GibbsLDA(4, max_iter=12, thin=2, random_state=0).fit(CORPUS)
    model.set_params(fixed_components=None).fit(CORPUS)
    assert_array_equal(model.components_, plain.components_)
    assert "fixed_components" not in TopicSegmenter().get_params()
