"""Words and documents of topics, and the table of them: by hand-made topics, and after fits."""

import pickle
from functools import cache
from math import log

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.inspection._topic_evolution import name_topics
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)

TOPICS = np.array([[0.4, 0.35, 0.2, 0.05, 0.0], [0.5, 0.0, 0.1, 0.1, 0.3]])
TOKENS = np.array([30.0, 90.0])
SHARES = np.array([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5], [0.9, 0.1]])
NAMES = list("abcde")
MODELS = {
    "segmented": SegmentedTopicModel,
    "sequential": SequentialLDA,
    "adaptive": AdaptiveTopicModel,
    "lda": GibbsLDA,
    "co-clustering": LatentDirichletCoClustering,
}
every_model = pytest.mark.parametrize("name", MODELS)
CORPUS = make_segmented_corpus(9, n_components=3, n_features=12, random_state=0).data


def given(topics=TOPICS):
    return GibbsLDA.from_topics(topics, doc_topic_prior=1.0, random_state=0)


def hand_made():
    """Return a model whose fitted attributes are those above."""
    model = given()
    model._topic_tokens, model.doc_topic_ = TOKENS, SHARES
    return model


@cache
def fitted(name, **params):
    return MODELS[name](3, max_iter=12, random_state=0, **params).fit(CORPUS)


def relevance_by_hand(k, w, weight):
    """Return the relevance of a word, equation (1) of Sievert and Shirley."""
    marginal = TOKENS @ TOPICS[:, w] / sum(TOKENS)
    p = TOPICS[k][w]
    return weight * log(p) + (1 - weight) * log(p / marginal) if p else -np.inf


class TestTopWords:
    def test_by_probability(self):
        """Equal words are in the order of columns; by default there are ten, or all."""
        model = hand_made()
        assert model.top_words(NAMES, 3) == [["a", "b", "c"], ["a", "e", "c"]]
        assert model.top_words(n=2) == given().top_words(n=2) == [[0, 1], [0, 4]]
        assert model.top_words(NAMES)[1] == ["a", "e", "c", "d", "b"]
        assert name_topics(given([[0.5, 0.5], [0.1, 0.9]]), ["yes", "no"]) == [
            "0: yes, no", "1: no, yes"
        ]  # fmt: skip

    @pytest.mark.parametrize("weight", [0, 0.3, 0.6, 0.9])
    def test_by_relevance(self, weight):
        for k, words in enumerate(hand_made().top_words(relevance=weight)):
            by_hand = [relevance_by_hand(k, w, weight) for w in range(5)]
            assert words == sorted(range(5), key=lambda w: -by_hand[w])

    def test_marginals_weigh_topics_by_tokens(self):
        """The larger the other topic, the more a word that is rarer there stands out."""
        model = hand_made()
        for size in (10.0, 3000.0):
            model._topic_tokens = np.array([30.0, size])
            marginal = (30.0 * 0.2 + size * 0.1) / (30.0 + size)
            assert np.exp(model._relevance(0.0))[0, 2] == pytest.approx(0.2 / marginal)

    def test_weights_are_probabilities(self):
        pairs = hand_made().top_words(NAMES, 2, weights=True, relevance=0.0)
        assert pairs == [[("b", 0.35), ("c", 0.2)], [("e", 0.3), ("d", 0.1)]]
        assert hand_made().top_words(n=1, weights=True) == [[(0, 0.4)], [(0, 0.5)]]


class TestNamesOfTopics:
    def test_names(self):
        model = hand_made()
        assert model.get_feature_names_out().tolist() == ["gibbslda0", "gibbslda1"]
        assert model.name_topics() is model
        assert model.get_feature_names_out().tolist() == ["0: 0, 1, 2", "1: 0, 4, 2"]
        names = model.name_topics(NAMES, 2).get_feature_names_out()
        assert names.tolist() == ["0: a, b", "1: a, e"]
        assert names.dtype == object
        names[:] = "changed"
        assert model.get_feature_names_out().tolist() == ["0: a, b", "1: a, e"]
        by_lift = model.name_topics(NAMES, 1, relevance=0.0)
        assert by_lift.get_feature_names_out().tolist() == ["0: b", "1: e"]
        same = given(np.ones((3, 2))).name_topics(["a", "b"])
        assert same.get_feature_names_out().tolist() == ["0: a, b", "1: a, b", "2: a, b"]

    def test_columns_of_data_frames(self):
        X = pd.DataFrame([[3, 0, 1, 0, 0], [0, 1, 0, 2, 4]], columns=NAMES)
        model = GibbsLDA(2, max_iter=4, random_state=0).set_output(transform="pandas")
        assert model.fit(X).transform(X).columns.tolist() == ["gibbslda0", "gibbslda1"]
        words = model.top_words(n=3)
        assert set(words[0]) < set(NAMES)
        expected = [f"{k}: {', '.join(words[k])}" for k in range(2)]
        named = model.name_topics()
        assert named.transform(X).columns.tolist() == expected
        assert pickle.loads(pickle.dumps(named)).transform(X).columns.tolist() == expected

    def test_a_fit_and_a_clone_forget(self):
        model = clone(fitted("segmented")).fit(CORPUS).name_topics()
        named = model.get_feature_names_out().tolist()
        with pytest.raises(ValueError, match="max_iter"):
            model.set_params(max_iter=0).fit(CORPUS)
        assert model.get_feature_names_out().tolist() == named
        for again in (clone(model), model):
            names = again.set_params(max_iter=4).fit(CORPUS).get_feature_names_out()
            assert names.tolist() == [f"segmentedtopicmodel{k}" for k in range(3)]


class TestRepresentativeDocuments:
    def test_training_documents(self):
        assert_array_equal(hand_made().representative_documents(n_documents=2), [[1, 3], [0, 2]])
        assert_array_equal(
            hand_made().representative_documents(), [[1, 3, 2, 0], [0, 2, 1, 3]]
        )  # all four: fewer than five

    def test_new_documents(self):
        documents = [[[1, 1, 1, 2]], [[4, 4, 4, 3]], [[0]]]
        assert_array_equal(given().representative_documents(documents, 1), [[0], [1]])


class TestSummary:
    def test_rows(self):
        table = hand_made().summary(NAMES, 2)
        assert list(table) == [(1, 0.75, 90.0, ["a", "e"]), (0, 0.25, 30.0, ["a", "b"])]
        assert table[1:][0].topic == 0
        assert hand_made().summary(NAMES, 1, relevance=0.0)[0].top_words == ["e"]
        assert repr(table).splitlines() == [
            "topic  share    n_tokens  top_words",
            "    1  0.750        90.0  a e",
            "    0  0.250        30.0  a b",
        ]
        frame = pd.DataFrame(list(table))
        assert frame.columns.tolist() == ["topic", "share", "n_tokens", "top_words"]
        assert frame["n_tokens"].tolist() == [90.0, 30.0]

    def many(self):
        """Return a model of four topics with 10, 60, 0 and 30 tokens."""
        model = given([[1.0, 0, 0, 0], [0, 0.9, 0, 0.1], [0.1, 0.2, 0.3, 0.4], [0.2, 0, 0, 0.8]])
        model._topic_tokens = np.array([10.0, 60.0, 0.0, 30.0])
        return model

    def test_rest(self):
        table = self.many().summary(list("abcd"), 2, n_topics=1)
        assert [row[:3] for row in table] == [(1, 0.6, 60.0), (-1, 0.4, 40.0)]
        assert table[1].top_words == ["d", "a"]  # 24 and 16 of 40 words
        assert repr(table).splitlines()[2].startswith(" rest  0.400        40.0  d a")
        lift = self.many().summary(list("abcd"), 1, n_topics=1, relevance=0.0)
        assert lift[1].top_words == ["a"]  # which is nowhere else

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, [1, 3, 0, 2]),
            ({"n_topics": None}, [1, 3, 0, 2]),
            ({"n_topics": 2}, [1, 3, -1]),
            ({"n_topics": 3}, [1, 3, 0, 2]),  # one is left
            ({"min_share": 0.1}, [1, 3, 0, 2]),
            ({"min_share": 0.2}, [1, 3, -1]),
            ({"min_share": 0.2, "n_topics": 1}, [1, -1]),
            ({"min_share": 1.0}, [-1]),
        ],
    )
    def test_which_topics_have_a_row(self, options, expected):
        table = self.many().summary(**options)
        assert [row.topic for row in table] == expected
        assert sum(row.share for row in table) == pytest.approx(1.0)

    def test_empty_segments(self):
        corpus = SegmentedCorpus.from_documents([[[0, 1], []], [], [[2], [1, 1, 2]]], 3)
        table = GibbsLDA(2, max_iter=4, random_state=0).fit(corpus).summary(n=1)
        assert sum(row.n_tokens for row in table) == pytest.approx(6.0)


def nearest(segments):
    """Return the segments of words 0, 1, 2 that have words, the nearest to all words first."""
    counts = np.array([np.bincount(segment, minlength=3) for segment in segments], dtype=float)
    shares, whole = counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    distance = ((np.sqrt(shares) - np.sqrt(whole / whole.sum())) ** 2).sum(axis=1)
    return np.argsort(distance, kind="stable")


class TestRepresentativeSegments:
    """With a topic for each word, the topics of words are known."""

    MODEL = SegmentedTopicModel.from_topics(np.eye(3), doc_topic_prior=np.ones(3), random_state=0)

    def test_they_are_nearest_to_the_document(self):
        rng = np.random.default_rng(0)
        documents = [[rng.choice(3, 6, p=rng.dirichlet([1, 1, 1])) for _ in range(7)] for _ in "ab"]
        for n in (1, 3, 7, 9):
            found = self.MODEL.representative_segments(documents, n)
            for segments, document in zip(found, documents, strict=True):
                assert segments.tolist() == sorted(nearest(document)[:n])

    def test_parts_take_turns(self):
        first, second = [[0, 0, 0], [0, 0, 1], [0, 1, 1]], [[2, 2], [2]]
        expected = {1: [1], 2: [1, 3], 3: [1, 2, 3], 4: [0, 1, 2, 3], 5: [0, 1, 2, 3, 4]}
        assert nearest(first).tolist() == [1, 2, 0]
        for n, segments in expected.items():
            assert self.MODEL.representative_segments([[first, second]], n)[0].tolist() == segments

    def test_segments_without_words(self):
        found = self.MODEL.representative_segments([[[], [0], []], [[], []], []], 5)
        assert [each.tolist() for each in found] == [[1], [], []]
        assert all(each.dtype == np.int64 for each in found)


@every_model
class TestAfterAFit:
    def test_top_words_are_those_of_components(self, name):
        model = fitted(name)
        assert model.top_words(n=4) == np.argsort(-model.components_, axis=1)[:, :4].tolist()
        for relevance in (0.0, 0.5):
            words = model.top_words(relevance=relevance, weights=True)
            for topic, pairs in zip(model.components_, words, strict=True):
                assert len(pairs) == 10
                assert [topic[w] for w, _ in pairs] == [weight for _, weight in pairs]

    def test_documents_and_segments_are_those_of_shares(self, name):
        model = fitted(name)
        for X, shares in ((None, model.doc_topic_), (CORPUS, model.transform(CORPUS))):
            found = model.representative_documents(X, 3)
            assert found.shape == (shares.shape[1], 3)
            for column, documents in zip(shares.T, found, strict=True):
                assert_allclose(column[documents], np.sort(column)[::-1][:3])
        assert model.representative_documents().shape == (shares.shape[1], 5)
        found = model.representative_segments(CORPUS, np.int64(2))
        for segments, document in zip(found, CORPUS, strict=True):
            filled = [j for j, segment in enumerate(document) if len(segment)]
            assert len(segments) == min(2, len(filled))
            assert set(segments) <= set(filled)

    def test_tokens_are_those_of_segments(self, name):
        """Weighted by them, topics give back the words of the corpus, nearly."""
        model = fitted(name, topic_word_prior=0.01)
        expected = np.diff(CORPUS.segment_ptr) @ model.segment_topic_
        table = model.summary()
        assert_allclose([row.n_tokens for row in table], np.sort(expected)[::-1])
        assert sum(row.share for row in table) == pytest.approx(1.0)
        assert sum(row.n_tokens for row in table) == pytest.approx(len(CORPUS.tokens))
        for row in table:
            assert row.n_tokens == pytest.approx(expected[row.topic])
            assert row.top_words == model.top_words()[row.topic]
        frequencies = np.bincount(CORPUS.tokens, minlength=12) / len(CORPUS.tokens)
        marginal = model._topic_tokens / model._topic_tokens.sum() @ model.components_
        assert_allclose(marginal, frequencies, atol=0.02)
