"""Sequential latent Dirichlet allocation as an estimator."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import SegmentedTopicModel, SequentialLDA

TRUTH = make_segmented_corpus(
    30,
    n_components=3,
    n_features=40,
    n_segments=6,
    segment_length=20.0,
    topic_word_prior=0.05,
    model="sequential",
    concentration=30.0,
    random_state=0,
)
CORPUS = TRUTH.data
TOPICS = np.array([[4, 3, 2, 1], [1, 1, 1, 7]]) / 10


@pytest.fixture(scope="module")
def fitted():
    return SequentialLDA(3, max_iter=100, init=TRUTH.components, random_state=0).fit(CORPUS)


def given(model, **params):
    return model.from_topics(
        TOPICS, **{"doc_topic_prior": [0.5, 1.5], "concentration": 4.0, "random_state": 0, **params}
    )


def test_shapes_and_sums(fitted):
    assert fitted.components_.shape == (3, 40)
    assert fitted.doc_topic_.shape == (30, 3)
    assert fitted.segment_topic_.shape == (180, 3)
    for shares in (fitted.components_, fitted.doc_topic_, fitted.segment_topic_):
        assert_allclose(shares.sum(axis=1), 1.0)
    assert fitted.get_feature_names_out().tolist() == [f"sequentiallda{k}" for k in range(3)]
    assert not hasattr(fitted, "segment_mixing_")


def test_it_finds_what_is_there(fitted):
    assert_allclose(fitted.components_, TRUTH.components, atol=0.05)
    errors = {
        model: np.abs(
            model(3, max_iter=100, init=TRUTH.components, random_state=0).fit(CORPUS).segment_topic_
            - TRUTH.segment_topic
        ).mean()
        for model in (SequentialLDA, SegmentedTopicModel)
    }
    assert errors[SequentialLDA] < 0.1
    assert errors[SequentialLDA] < errors[SegmentedTopicModel]


@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
def test_last_segments_without_words_are_expected_to_be_as_the_one_before(sampler):
    """With E[nu_j] = E[nu_{j-1}] where nothing hangs on segment j, in every sweep."""
    documents = [[[0, 0, 1], [3, 3], [], []], [[], []], [[3], []]]
    model = given(SequentialLDA, sampler=sampler)
    segments = model.transform_segments(documents)
    assert_allclose(segments[2], segments[1])
    assert_allclose(segments[3], segments[1])
    assert_allclose(segments[4:6], [[0.25, 0.75]] * 2)
    assert_allclose(segments[7], segments[6])
    segmented = given(SegmentedTopicModel, sampler=sampler)
    assert_allclose(segmented.transform_segments(documents)[3], segmented.transform(documents)[0])


def test_order_of_segments_matters():
    """A segment next to words of another topic has more of that topic than one further away."""
    model = given(SequentialLDA, concentration=20.0, transform_max_iter=2000)
    shares = model.transform_segments([[[3] * 40, [0, 3], [0, 3], [0, 3], [0, 1, 2] * 14]])
    assert np.all(np.diff(shares[:, 1]) < 0)


@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
def test_a_large_concentration_leaves_one_distribution(sampler):
    model = given(SequentialLDA, concentration=1e10, sampler=sampler)
    documents = [[[0, 0, 1], [3, 3], [2]]]
    document, segments = model.transform(documents), model.transform_segments(documents)
    assert_allclose(segments, np.repeat(document, 3, axis=0), atol=1e-6)


def test_companions(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(CORPUS), fitted.transform(CORPUS))
    assert_array_equal(again.score_samples(CORPUS), fitted.score_samples(CORPUS))
    assert clone(fitted).get_params()["concentration_scope"] == "corpus"
    labels = np.arange(30) % 2
    pipeline = make_pipeline(SequentialLDA(3, max_iter=6), LogisticRegression())
    assert pipeline.fit(CORPUS, labels).predict(CORPUS).shape == (30,)


def test_leading_segments_without_words():
    corpus = SegmentedCorpus.from_documents([[[], [], [0, 1]], [[2], [], [3, 3]], [[]]], 4)
    model = SequentialLDA(2, max_iter=20, random_state=0).fit(corpus)
    assert_allclose(model.segment_topic_.sum(axis=1), 1.0)
    assert np.isfinite(model.trace_["log_joint"]).all()
