"""Seed words and given words of topics; shards, partitions and continued fits with all hints."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from unit.topics.partitions import CORPUS, assert_nothing_is_left, assert_same, split

from skdp._numeric._random import make_seed_sequence
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
from skdp.topics._shared._arrays import (
    AllowedTopics,
    FixedTopics,
    Seeds,
    check_counts,
    empty_counts,
)
from skdp.topics._shared._distributed import TopicAverages
from skdp.topics._shared._partition import pack_words, unpack_words

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PHI = np.array([
    [0.0, 0.0, 0.3, 0.3, 0.2, 0.2, 0, 0, 0, 0, 0, 0],
    [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1e-18, 1e-18],
])  # fmt: skip
PHI[1] /= PHI[1].sum()
POSSIBLE = PHI > 1e-17
LABELS = [{0, 1}, None, frozenset([2]), set()] * 6
SEEDS = {"seed_words": {"first": [0, 1], 3: [4], "second": [7, 8]}, "seed_weight": 400}
FIXED = {"fixed_components": PHI}
MODELS = {
    "lda": GibbsLDA,
    "segmented": SegmentedTopicModel,
    "sequential": SequentialLDA,
    "adaptive": AdaptiveTopicModel,
    "co-clustering": LatentDirichletCoClustering,
    "sectioned": SectionedTopicModel,
    "segmenter": TopicSegmenter,
    "hdp": lambda _, **params: HDPTopicModel(initial_components=4, **params),
    "open": lambda _, **params: SegmentedTopicModel("auto", initial_components=4, **params),
}
WITHOUT_CUTS = [name for name in MODELS if name != "segmenter"]
OVER_PARTITIONS = list(MODELS)[:5]


def make(name, **params):
    return MODELS[name](4, **{"max_iter": 12, "thin": 2, "random_state": 0, **params})


class TestSeedWords:
    @pytest.mark.parametrize("name", list(MODELS)[:7])
    def test_topics_keep_their_numbers(self, name):
        """The prior outweighs the few words of the corpus."""
        model = make(name, n_chains=2, **SEEDS).fit(CORPUS)
        phi = model.components_
        assert model.topic_names_ == ["first", "second", None, None]
        for k, words in {0: [0, 1], 1: [7, 8], 3: [4]}.items():
            assert phi[k, words].sum() > 0.5
            assert set(np.argsort(-phi[k])[: len(words)]) == set(words)
        if name != "co-clustering":
            expected = ["first", "second", f"{type(model).__name__.lower()}2"]
            assert model.get_feature_names_out()[:3].tolist() == expected

    @pytest.mark.parametrize("name", ["hdp", "open"])
    def test_topics_never_die(self, name):
        """They come first in the order of their numbers, and others in that of their sizes."""
        seeds = {"seed_words": {"a": [0, 1], 2: [4], "b": [7, 8]}, "seed_weight": 400}
        model = make(name, **seeds).set_params(initial_components=6).fit(CORPUS)
        assert model.n_components_ >= 3
        assert model.topic_names_[:3] == ["a", "b", None]
        assert model.trace_["n_components"].min() >= 3
        for k, words in enumerate([[0, 1], [7, 8], [4]]):
            assert model.components_[k, words].sum() > 0.5
        sizes, slack = np.round(model._topic_tokens, 6), 1.0
        if name == "hdp":  # shares of topics in documents show their numbers of words
            alpha, lengths = model.concentration_, np.ravel(CORPUS.to_bow().sum(axis=1))
            sizes = (model.doc_topic_ * (lengths + alpha)[:, None]).sum(axis=0)
            sizes, slack = np.round(sizes - len(CORPUS) * model.doc_topic_prior_), 0.0
        assert np.all(np.diff(sizes[3:]) <= slack)
        coarse = model.reduce_topics(1)
        assert coarse.topic_names_ == coarse.get_feature_names_out().tolist() == ["a + b"]

    def test_they_are_no_words(self):
        """Sizes, shares and active topics count the words of documents only."""
        for state in make("lda", topic_word_prior=0.1, **SEEDS).iter_sweeps(CORPUS):
            counts = np.zeros((4, 12))
            np.add.at(counts, (state.topics, CORPUS.tokens), 1)
            assert_array_equal(state._sampler.word_counts, counts)
            prior = np.full((4, 12), 0.1)
            prior[[0, 0, 1, 1, 3], [0, 1, 7, 8, 4]] += 400
            expected = (counts + prior) / (counts + prior).sum(axis=1, keepdims=True)
            assert_allclose(state._sampler.components(), expected, rtol=1e-12)
            found = state._sampler.scalars()["n_active_components"]
            assert found == np.count_nonzero(counts.sum(axis=1))

    def test_means_follow_topics_without_seeds_only(self):
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

    def test_words_begin_by_the_prior(self):
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
            assert_allclose(found, phi[:, word] / phi[:, word].sum(), atol=0.06)

    def test_names_are_dropped_by_a_fit_without_seeds(self):
        model = make("lda", **SEEDS).fit(CORPUS).set_params(seed_words=None).fit(CORPUS)
        assert model.get_feature_names_out()[0] == "gibbslda0"
        assert not hasattr(model, "topic_names_")
        assert model._seeds is None


TEXTS = ["war army war", "school teacher", "army war", "teacher school school"] * 5


class TestNamesOfWords:
    def test_words_by_name_and_by_number_are_the_same(self):
        """In a pipeline, in a data frame, and as numpy values."""
        params = {"n_components": 3, "random_state": 0, "max_iter": 20}
        seed_words = {"war": ["war", "army"], "school": {"teacher"}}
        pipeline = make_pipeline(SegmentVectorizer(), GibbsLDA(seed_words=seed_words, **params))
        vectorizer, by_name = pipeline.fit(TEXTS)
        X, ids = vectorizer.transform(TEXTS), vectorizer.vocabulary_
        numbers = {
            np.int64(0): np.array([ids["war"], ids["army"]]),
            np.int32(1): (np.int8(ids["teacher"]),),
        }
        weight = np.int64(max(round(0.0075 * len(X.tokens) / 3), 1))  # "auto"
        by_number = GibbsLDA(seed_words=numbers, seed_weight=weight, **params).fit(X)
        assert_array_equal(by_name.components_, by_number.components_)
        assert not hasattr(by_number, "topic_names_")
        frame = pd.DataFrame(X.to_bow().toarray(), columns=vectorizer.get_feature_names_out())
        of_frame = GibbsLDA(seed_words=seed_words, **params).fit(frame)
        assert of_frame.components_[0].argmax() == ids["war"]
        assert "school  " in repr(by_name.summary())
        assert by_name.name_topics(n=1)._topic_names[0].startswith("war: ")

    def test_names_go_with_a_corpus(self):
        X, again = (SegmentVectorizer().fit_transform(list(TEXTS)) for _ in range(2))
        for other in (X[:3], X[[2, 1]], pickle.loads(pickle.dumps(X)), X.with_parts([[]] * 20)):
            assert other._names == ("army", "school", "teacher", "war")
        assert joblib.hash(X) == joblib.hash(again)
        plain = SegmentedCorpus(X.tokens, X.segment_ptr, X.doc_ptr, X.n_features)
        assert plain == X
        assert plain._names is None

    def test_unknown_words_are_named(self):
        X = SegmentVectorizer().fit_transform(TEXTS)

        def fit(**seed_words):
            return GibbsLDA(3, seed_words=seed_words, max_iter=5, random_state=0).fit(X)

        with pytest.warns(UserWarning, match=r"seed_words\['a'\].*4 words: 'peace'\. The other"):
            model = fit(a=["war", "peace"], b=["school"])
        assert_array_equal(model.components_, fit(a=["war"], b=["school"]).components_)
        with pytest.warns(UserWarning, match=r"seed_words\['a'\].*99"):
            fit(a=[1, 99])


class TestFixedTopics:
    @pytest.mark.parametrize("name", WITHOUT_CUTS)
    def test_rows_are_exact_and_words_possible(self, name):
        model = make(name, n_chains=2, **FIXED).fit(CORPUS)
        assert_array_equal(model.components_[:2], PHI)
        assert_allclose(model.components_.sum(axis=1), 1.0)
        for state in make(name, **FIXED).iter_sweeps(CORPUS):
            self.check_possible(state.topics)
        assert set(state.topics) >= {0, 1}
        assert np.isfinite(model.score(CORPUS))
        assert np.isfinite(model.transform(CORPUS)).all()

    def check_possible(self, topics):
        for k in range(2):
            assert POSSIBLE[k, CORPUS.tokens[topics == k]].all()

    def test_containers(self):
        expected = make("lda", **FIXED).fit(CORPUS).components_
        for phi in (PHI.tolist(), pd.DataFrame(PHI), sparse.csr_array(PHI), np.asfortranarray(PHI)):
            found = make("lda", fixed_components=phi).fit(CORPUS).components_
            assert_array_equal(found, expected)
        narrow = PHI.astype(np.float32)
        found = make("lda", fixed_components=narrow).fit(CORPUS).components_
        assert_array_equal(found[:2], narrow.astype(np.float64))
        given = PHI.copy()
        model = make("lda", fixed_components=given).fit(CORPUS)
        given[:] = 0.0
        assert_array_equal(model.components_[:2], PHI)

    def test_all_topics(self):
        phi = np.vstack([PHI, np.full((2, 12), 1 / 12)])
        model = make("lda", fixed_components=phi).fit(CORPUS)
        assert_array_equal(model.components_, phi)
        assert model.topic_word_prior_ == 0.05  # there is nothing to learn it from

    @pytest.mark.parametrize("init", ["random", np.ones((4, 12))], ids=["random", "array"])
    @pytest.mark.parametrize("name", WITHOUT_CUTS)
    def test_first_states_are_possible(self, name, init):
        model = make(name, init=init, **FIXED).fit(CORPUS)
        topics = model._start_sampler(CORPUS, make_seed_sequence(0), 0).topics
        self.check_possible(topics)
        assert len(set(topics)) == 4

    def test_words_begin_by_the_prior_and_obey_labels(self):
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

    @pytest.mark.parametrize(("name", "seeds"), [("segmented", {3: [6]}), ("hdp", {})])
    def test_seed_words_of_other_topics(self, name, seeds):
        seeds = {"seed_words": {"a": [10, 11], **seeds}, "seed_weight": 100}
        model = make(name, **seeds, **FIXED).fit(CORPUS)
        assert model.topic_names_[:3] == [None, None, "a"]
        assert_array_equal(model.components_[:2], PHI)
        assert model.components_[2, [10, 11]].sum() > 0.5

    def test_columns_absorb_words(self):
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
        assert_allclose(weights, np.where(POSSIBLE, PHI, 0.0).T, rtol=1e-6)
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

    def test_strays(self):
        """A word that rounding has left in a topic that excludes it moves to the last possible."""
        fixed, words = FixedTopics(PHI), empty_counts(12, 4)
        tokens, topics = np.array([[0, 2, 0, 11], [0, 0, 2, 1]], dtype=np.int32)
        assert fixed.find_strays(tokens, topics).tolist() == [0, 3]
        fixed.move_stray(0, tokens, topics, words, np.array([True, True, False, False]))
        fixed.move_stray(3, tokens, topics, words, np.array([True, True, True, False]))
        assert topics.tolist() == [1, 0, 2, 2]
        assert words.counts[11].tolist()[:4] == [0, 0, 1, 0]
        fixed.move_stray(3, tokens, topics, words, np.array([True, True, False, False]))
        assert topics.tolist() == [1, 0, 2, 2]  # nothing is possible

    def test_strays_of_sweeps_obey_labels(self):
        *_, state = make("lda", **FIXED).iter_sweeps(CORPUS, [{0, 1, 2}] * len(CORPUS))
        sampler = state._sampler
        i = int(np.flatnonzero(CORPUS.tokens == 0)[0])
        sampler._sweep_words = lambda *args: sampler.shards[0].topics.__setitem__(i, 0)
        sampler.sweep()
        assert sampler.topics[i] == 2

    def test_fits_without_them_follow(self):
        model = make("lda", **FIXED).fit(CORPUS).set_params(fixed_components=None).fit(CORPUS)
        assert_array_equal(model.components_, make("lda").fit(CORPUS).components_)


@pytest.mark.parametrize(("params", "y"), [(FIXED, None), ({}, LABELS)], ids=["fixed", "labels"])
def test_counts_are_no_lists(params, y, monkeypatch):
    """With fixed topics and with labels the counts of many topics are not stored as lists."""
    expected = make("lda", **params).fit(CORPUS, y)
    monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 1)
    assert_array_equal(make("lda", **params).fit(CORPUS, y).components_, expected.components_)


OF_SEGMENTS = [[of] * n for of, n in zip(LABELS, np.diff(CORPUS.doc_ptr), strict=True)]
MATRIX = np.array([[k in (labels or ()) for k in range(4)] for labels in LABELS])
IN_PARTITIONS = {
    "seeds": (SEEDS, None, OVER_PARTITIONS),
    "seeds by lists": ({**SEEDS, "seed_weight": 5}, None, ["lda"]),
    "fixed": ({"seed_words": {"a": [6]}, "n_chains": 2, **FIXED}, None, OVER_PARTITIONS),
    "labels": ({}, LABELS, OVER_PARTITIONS[:4]),
    "matrix of labels": ({}, MATRIX, ["segmented"]),
    "labels of segments": ({"level": "segment"}, OF_SEGMENTS, ["lda"]),
    "labels and fixed": (FIXED, [{0, 3}, None, {1, 2}] * 8, ["lda"]),
}
"""Parameters, y, and models."""


@pytest.mark.parametrize(
    ("hint", "name", "n_partitions"),
    [(hint, name, 3) for hint, (*_, names) in IN_PARTITIONS.items() for name in names]
    + [("seeds by lists", "lda", 1), ("fixed", "lda", 1), ("labels", "segmented", 1)],
)
def test_partitions_have_the_bits_of_shards(hint, name, n_partitions, monkeypatch):
    if hint == "seeds by lists":
        monkeypatch.setattr("skdp.topics._lda._sampler.SPARSE_FROM", 4)
    params, y, _ = IN_PARTITIONS[hint]
    found = make(name, n_jobs=2, **params).fit(split(n_partitions), y)
    assert_same(found, make(name, n_shards=n_partitions, **params).fit(CORPUS, y))
    assert_nothing_is_left()


OPEN_SEEDS = {"seed_words": {"a": [0], "b": [5], "c": [7]}, "seed_weight": 5}
RESUMED = {
    "labels": ({}, LABELS, [({}, LABELS[::-1]), ({}, None)]),
    "seed words": (
        OPEN_SEEDS,
        None,
        [({"seed_words": {"c": [7], "b": [5], "a": [0]}}, None), ({"seed_weight": 7}, None)],
    ),
    "fixed topics": (
        FIXED,
        None,
        [({"fixed_components": phi}, None) for phi in (PHI[::-1], PHI[:1], None)],
    ),
    "labels of seeded topics": (OPEN_SEEDS, LABELS, [({}, LABELS[::-1]), ({}, None)]),
}
"""Parameters and y of fits that are continued, and others with which they are refused."""


@pytest.mark.parametrize(
    ("hint", "name", "is_distributed"),
    [
        (hint, name, on)
        for hint in list(RESUMED)[:3]
        for name in OVER_PARTITIONS[:2]
        for on in (0, 1)
    ]
    + [("fixed topics", "open", 0), ("seed words", "open", 0)]
    + [("labels of seeded topics", name, 0) for name in ("hdp", "open")],
)
def test_fits_that_continue_have_the_bits_of_one_fit(hint, name, is_distributed, tmp_path):
    """A restored state has seeds once; another hint is refused."""
    params, y, others = RESUMED[hint]
    X = split(3) if is_distributed else CORPUS
    straight = make(name, **params).fit(X, y)
    checkpoint = Checkpoint(tmp_path / "fit.ckpt")
    warm = make(name, max_iter=6, warm_start=True, **params).fit(X, y)
    half = make(name, max_iter=6, **params).set_callbacks(checkpoint).fit(X, y)
    if not is_distributed:
        warm = pickle.loads(pickle.dumps(warm))
        *_, last = make(name, **params).iter_sweeps(X, y)
        assert last.log_joint() == straight.trace_["log_joint"][0, -1]
        assert_array_equal(clone(straight).fit(X, y).components_, straight.components_)
    for model in (warm, half):
        model.set_params(max_iter=12)
        for other, labels in others:
            kept = {key: model.get_params()[key] for key in other}
            match = "X|got others" if labels is not y else "seed_w|fixed_components"
            with pytest.raises(ValueError, match=match):
                model.set_params(**other).fit(X, labels)
            model.set_params(**kept)
        model.fit(X, y)
        assert model.trace_["log_joint"][0, -1] == straight.trace_["log_joint"][0, -1]
    plain = make(name, max_iter=3, warm_start=True).fit(X)
    if y is not None and not params:
        with pytest.raises(ValueError, match="got others"):
            plain.fit(X, y)
