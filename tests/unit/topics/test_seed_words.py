"""Seed words of topics: parameters, names, first states, partitions, warm starts."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from unit.topics.partitions import CORPUS, assert_nothing_is_left, assert_same, split

from skdp.callback import Checkpoint
from skdp.data import SegmentedCorpus
from skdp.feature_extraction import SegmentVectorizer
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
from skdp.topics._shared._averages import TopicAverages
from skdp.topics._shared._seeds import Seeds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SEED_WORDS = {"first": [0, 1], 3: [4], "second": [7, 8]}
FIXED = [
    GibbsLDA, SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel, LatentDirichletCoClustering,
    TopicSegmenter, SectionedTopicModel,
]  # fmt: skip
OPEN = {
    "hdp": HDPTopicModel,
    "segmented": lambda **params: SegmentedTopicModel("auto", **params),
}
TEXTS = ["war army war", "school teacher", "army war", "teacher school school"] * 5


def make(cls, **params):
    return cls(
        5, **{"seed_words": SEED_WORDS, "seed_weight": 400, "max_iter": 12, "thin": 2,
              "random_state": 0, **params}
    )  # fmt: skip


@pytest.mark.parametrize("cls", FIXED)
def test_seeded_topics_keep_their_numbers(cls):
    """The prior outweighs the few words of the corpus."""
    model = make(cls, n_chains=2).fit(CORPUS)
    phi = model.components_
    assert model.topic_names_ == ["first", "second", None, None, None][:2] + [None] * 3
    for k, words in {0: [0, 1], 1: [7, 8], 3: [4]}.items():
        assert phi[k, words].sum() > 0.5
        assert set(np.argsort(-phi[k])[: len(words)]) == set(words)
    names = model.get_feature_names_out()
    if cls is not LatentDirichletCoClustering:
        assert names[:3].tolist() == ["first", "second", f"{cls.__name__.lower()}2"]


@pytest.mark.parametrize("name", OPEN)
def test_seeded_topics_never_die(name):
    """They come first, in the order of their numbers, and others in the order of their sizes."""
    model = OPEN[name](
        seed_words={"a": [0, 1], 2: [4], "b": [7, 8]}, seed_weight=400, max_iter=12,
        initial_components=6, random_state=0,
    ).fit(CORPUS)  # fmt: skip
    assert model.n_components_ >= 3
    assert model.topic_names_[:3] == ["a", "b", None]
    assert model.trace_["n_components"].min() >= 3
    for k, words in enumerate([[0, 1], [7, 8], [4]]):
        assert model.components_[k, words].sum() > 0.5
    sizes = model._topic_tokens[3:]
    assert np.all(np.diff(np.round(sizes, 6)) <= 1.0)
    coarse = model.reduce_topics(1)
    assert coarse.topic_names_ == coarse.get_feature_names_out().tolist() == ["a + b"]


def test_seeds_are_no_words():
    """Sizes, shares and active topics count the words of documents only."""
    sampler = make(GibbsLDA, topic_word_prior=0.1)
    for state in sampler.iter_sweeps(CORPUS):
        counts = np.zeros((5, 12))
        np.add.at(counts, (state.topics, CORPUS.tokens), 1)
        assert_array_equal(state._sampler.word_counts, counts)
        prior = np.full((5, 12), 0.1)
        prior[[0, 0, 1, 1, 3], [0, 1, 7, 8, 4]] += 400
        expected = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(state._sampler.components(), expected, rtol=1e-12)
        found = state._sampler.scalars()["n_active_components"]
        assert found == np.count_nonzero(counts.sum(axis=1))


def test_means_follow_topics_without_seeds_only():
    class Moving:
        topics_trade_places, topic_axes, names = True, {"share": 0}, np.arange(4)
        seeded = np.array([1])

        def components(self):
            return np.eye(4)[self.names]

        def empty_sums(self):
            return {"share": np.zeros(4)}

        def add_to(self, sums):
            sums["share"] += np.arange(4.0)[self.names]

    sampler, averages = Moving(), TopicAverages()
    for names in ([0, 1, 2, 3], [2, 1, 0, 3], [1, 0, 2, 3]):
        sampler.names = np.array(names)
        averages.add(sampler)
    means = averages.means(in_place=False)
    assert means["components_"][1] == pytest.approx([1 / 3, 2 / 3, 0, 0])
    assert means["share_"][1] == pytest.approx(2 / 3)


def test_first_state_respects_the_prior():
    """Seed words begin in their topics, and others anywhere, by the prior mean."""
    topics = np.empty(3000, dtype=np.int32)
    tokens = np.tile(np.arange(3, dtype=np.int32), 1000)
    seeds = Seeds(np.array([0, 1]), np.array([0, 1]), 3, 3)
    seeds.seat(topics, tokens, 3, 0.5, np.array([1, 2, 3, 4], dtype=np.uint64))
    phi = np.full((3, 3), 0.5)
    phi[[0, 1], [0, 1]] += 3
    phi /= phi.sum(axis=1, keepdims=True)
    for word in range(3):
        found = np.bincount(topics[word::3], minlength=3) / 1000
        np.testing.assert_allclose(found, phi[:, word] / phi[:, word].sum(), atol=0.06)


@pytest.mark.parametrize("cls", FIXED[:5])
@pytest.mark.parametrize("n_partitions", [1, 3])
def test_partitions_have_the_bits_of_shards(cls, n_partitions):
    found = make(cls, n_jobs=2).fit(split(n_partitions))
    assert_same(found, make(cls, n_shards=n_partitions).fit(CORPUS))
    assert found.topic_names_[0] == "first"
    assert_nothing_is_left()


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_partitions_of_lists_have_the_bits_of_shards(n_partitions, monkeypatch):
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 5)
    found = make(GibbsLDA, n_jobs=2).fit(split(n_partitions))
    assert_same(found, make(GibbsLDA, n_shards=n_partitions).fit(CORPUS))


def test_names_of_words():
    """The same words by name and by number, in a pipeline, in a data frame, and as numpy values."""
    pipeline = make_pipeline(
        SegmentVectorizer(),
        GibbsLDA(3, seed_words={"war": ["war", "army"], "school": {"teacher"}}, random_state=0,
                 max_iter=20),
    ).fit(TEXTS)  # fmt: skip
    by_name = pipeline[-1]
    X = pipeline[0].transform(TEXTS)
    ids = pipeline[0].vocabulary_
    numbers = {
        np.int64(0): np.array([ids["war"], ids["army"]]), np.int32(1): (np.int8(ids["teacher"]),)
    }  # fmt: skip
    params = {"random_state": 0, "max_iter": 20}
    weight = np.int64(max(round(0.0075 * len(X.tokens) / 3), 1))  # "auto"
    by_number = GibbsLDA(3, seed_words=numbers, seed_weight=weight, **params).fit(X)
    assert_array_equal(by_name.components_, by_number.components_)
    assert not hasattr(by_number, "topic_names_")
    frame = pd.DataFrame(X.to_bow().toarray(), columns=pipeline[0].get_feature_names_out())
    of_frame = GibbsLDA(3, seed_words=by_name.seed_words, **params).fit(frame)
    assert of_frame.components_[0].argmax() == ids["war"]
    assert by_name.summary(n=1).__repr__().split("\n")[0].startswith("topic ")
    assert "school  " in repr(by_name.summary())
    assert by_name.name_topics(n=1)._topic_names[0].startswith("war: ")


def test_names_go_with_a_corpus():
    X = SegmentVectorizer().fit_transform(TEXTS)
    for other in (X[:3], X[[2, 1]], pickle.loads(pickle.dumps(X)), X.with_parts([[]] * 20)):
        assert other._names == ("army", "school", "teacher", "war")
    plain = SegmentedCorpus(X.tokens, X.segment_ptr, X.doc_ptr, X.n_features)
    assert plain == X
    assert plain._names is None


def test_names_of_the_last_fit_are_dropped():
    model = make(GibbsLDA).fit(CORPUS)
    assert model.set_params(seed_words=None).fit(CORPUS).get_feature_names_out()[0] == "gibbslda0"
    assert not hasattr(model, "topic_names_")
    assert model._seeds is None


def test_unknown_words_are_named():
    seed_words = {"a": ["war", "peace"], "b": ["school"]}
    X = SegmentVectorizer().fit_transform(TEXTS)
    with pytest.warns(UserWarning, match=r"seed_words\['a'\].*4 words: 'peace'\. The other"):
        model = GibbsLDA(3, seed_words=seed_words, max_iter=5, random_state=0).fit(X)
    known = GibbsLDA(3, seed_words={"a": ["war"], "b": ["school"]}, max_iter=5, random_state=0)
    assert_array_equal(model.components_, known.fit(X).components_)
    with pytest.warns(UserWarning, match=r"seed_words\[0\].*99"):
        GibbsLDA(3, seed_words={0: [1, 99]}, max_iter=5).fit(X)
    with pytest.raises(ValueError, match=r"'a'.*'peace'\. No seed word of this topic is left"):
        GibbsLDA(3, seed_words={"a": ["peace"]}).fit(X)


@pytest.mark.parametrize("make_model", [make, lambda cls, **p: OPEN["segmented"](**{
    "seed_words": {"a": [0], "b": [5]}, "max_iter": 12, "random_state": 0,
    "initial_components": 3, **p})], ids=["fixed", "open"])  # fmt: skip
def test_resumed_fits(make_model, tmp_path):
    straight = make_model(SegmentedTopicModel).fit(CORPUS)
    model = make_model(SegmentedTopicModel, max_iter=5, warm_start=True).fit(CORPUS)
    model = pickle.loads(pickle.dumps(model))
    model.set_params(max_iter=12).fit(CORPUS)
    assert model.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    *_, last = make_model(SegmentedTopicModel).iter_sweeps(CORPUS)
    assert last.log_joint() == straight.trace_["log_joint"][0, -1]
    twice = clone(model).set_params(warm_start=False)
    assert_array_equal(twice.fit(CORPUS).components_, straight.components_)
    other = dict(reversed(model.seed_words.items()))  # names take other numbers
    with pytest.raises(ValueError, match="seed_words"):
        model.set_params(seed_words=other).fit(CORPUS)
    path = tmp_path / "fit.ckpt"
    half = make_model(SegmentedTopicModel, max_iter=6)
    half.set_callbacks(Checkpoint(path)).fit(CORPUS)
    with pytest.raises(ValueError, match="seed_weight"):
        half.set_params(seed_weight=7, max_iter=12).fit(CORPUS)
    half.set_params(seed_weight=model.seed_weight, max_iter=12).fit(CORPUS)
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]


def test_hash_has_no_names_of_objects():
    X = SegmentVectorizer().fit_transform(TEXTS)
    again = SegmentVectorizer().fit_transform(list(TEXTS))
    assert joblib.hash(X) == joblib.hash(again)


@pytest.mark.parametrize("cls", [GibbsLDA, SegmentedTopicModel])
def test_resumed_partitions(cls, tmp_path):
    """A restored state has the seeds once."""
    straight = make(cls, n_jobs=2).fit(split(3))
    half = make(cls, max_iter=6, n_jobs=2)
    half.set_callbacks(Checkpoint(tmp_path / "fit.ckpt")).fit(split(3))
    half.set_params(max_iter=12).fit(split(3))
    assert half.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    warm = make(cls, max_iter=6, n_jobs=2, warm_start=True).fit(split(3))
    warm.set_params(max_iter=12).fit(split(3))
    assert warm.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
