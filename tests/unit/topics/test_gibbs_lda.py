"""Latent Dirichlet allocation as an estimator: documents and segments, few topics and many."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import GibbsLDA
from skdp.topics._lda._kernels_sweeps import SPARSE_FROM
from skdp.topics._lda._model import nodes_of_documents, tokens_of_nodes
from skdp.utils.estimator_checks import (
    check_resume_after_interruption,
    check_warm_start_continues,
)

TRUTH = make_segmented_corpus(
    20,
    n_components=3,
    n_features=30,
    n_segments=(1, 5),
    segment_length=15.0,
    topic_word_prior=0.05,
    random_state=0,
)
CORPUS = TRUTH.data
LEVELS = ("document", "segment")
TOPICS = np.array([[4, 3, 2, 1], [1, 1, 1, 7]]) / 10
every_level = pytest.mark.parametrize("level", LEVELS)
dense_and_sparse = pytest.mark.parametrize("n_components", [20, SPARSE_FROM])


def quick(**params):
    return GibbsLDA(**{"n_components": 3, "max_iter": 6, "random_state": 0, **params})


def weighted_means(corpus, segment_topic):
    """Return the means of documents' segments, weighted by tokens; documents have tokens."""
    lengths = np.diff(corpus.segment_ptr)
    return np.array(
        [
            np.average(segment_topic[begin:end], axis=0, weights=lengths[begin:end])
            for begin, end in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)
        ]
    )


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("level", "word"),
            ("level", None),
            ("level", 0),
            ("n_components", 0),
            ("doc_topic_prior", "asymmetric"),
            ("doc_topic_prior", -1.0),
            ("doc_topic_prior", [1.0, 1.0]),
            ("doc_topic_prior", [1.0, 0.0, 1.0]),
            ("topic_word_prior", 0.0),
            ("topic_word_prior", "0.1"),
            ("dirichlet_prior", (1.0, 0.0)),
            ("init", "lda"),
            ("init", np.ones((3, 29))),
            ("init", -np.ones((3, 30))),
            ("max_iter", 0),
            ("burn_in", 6),
            ("n_shards", 0),
            ("n_shards", "2"),
            ("n_chains", 0),
            ("transform_burn_in", 100),
        ],
    )
    def test_parameters(self, name, value):
        model = quick(**{name: value})
        before = dict(vars(model))
        for run in (model.fit, model.iter_sweeps):
            with pytest.raises(ValueError, match=name):
                run(CORPUS)
            assert vars(model) == before

    def test_no_parameter_of_a_process(self):
        names = set(quick().get_params())
        assert not names & {"discount", "concentration", "concentration_scope", "sampler"}

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "doc_topic_prior must be given as numbers"),
            ({"doc_topic_prior": 1.0, "level": "word"}, "level"),
            ({"doc_topic_prior": [1.0, 1.0, 1.0]}, "doc_topic_prior must hold"),
        ],
    )
    def test_given_topics(self, params, message):
        with pytest.raises(ValueError, match=message):
            GibbsLDA.from_topics(TOPICS, **params)

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            quick().transform(CORPUS)


class TestShares:
    @dense_and_sparse
    @every_level
    def test_they_sum_to_one(self, n_components, level):
        model = quick(n_components=n_components, level=level).fit(CORPUS)
        n_segments = len(CORPUS.segment_ptr) - 1
        for shares, n in (
            (model.components_, n_components),
            (model.doc_topic_, len(CORPUS)),
            (model.segment_topic_, n_segments),
            (model.transform(CORPUS), len(CORPUS)),
            (model.transform_segments(CORPUS), n_segments),
        ):
            assert len(shares) == n
            assert_allclose(shares.sum(axis=1), 1.0)
            assert np.all(shares > 0.0)
        assert np.isfinite(model.trace_["log_joint"]).all()
        assert np.isfinite(model.score(CORPUS))

    @dense_and_sparse
    def test_of_documents_are_means_of_their_segments(self, n_components):
        model = quick(n_components=n_components, level="segment").fit(CORPUS)
        assert_allclose(model.doc_topic_, weighted_means(CORPUS, model.segment_topic_))
        segments = model.transform_segments(CORPUS)
        assert_allclose(model.transform(CORPUS), weighted_means(CORPUS, segments))
        assert np.ptp(segments[: CORPUS.doc_ptr[1]], axis=0).max() > 0.0

    @dense_and_sparse
    def test_of_segments_are_their_documents(self, n_components):
        model = quick(n_components=n_components, level="document").fit(CORPUS)
        lengths = np.diff(CORPUS.doc_ptr)
        assert_array_equal(model.segment_topic_, np.repeat(model.doc_topic_, lengths, axis=0))
        expected = np.repeat(model.transform(CORPUS), lengths, axis=0)
        assert_array_equal(model.transform_segments(CORPUS), expected)

    @dense_and_sparse
    @every_level
    def test_documents_without_words_have_the_mean_of_the_prior(self, n_components, level):
        prior = np.linspace(0.1, 1.0, n_components)
        mean = prior / prior.sum()
        documents = [[[0, 1, 2], [3]], [], [[]], [[], []], [[], [29]]]
        model = quick(n_components=n_components, level=level, doc_topic_prior=prior).fit(documents)
        for shares in (model.doc_topic_, model.transform(documents)):
            assert_allclose(shares[1:4], [mean] * 3)
        for shares in (model.segment_topic_, model.transform_segments(documents)):
            assert_allclose(shares[2:5], [mean] * 3)
        if level == "segment":  # segments without words do not weigh
            assert_allclose(model.segment_topic_[5], mean)
            assert_allclose(model.doc_topic_[4], model.segment_topic_[6])
        learned = quick(n_components=n_components, level=level).fit(documents)
        mean = learned.doc_topic_prior_ / learned.doc_topic_prior_.sum()
        assert_allclose(learned.transform(documents)[1:4], [mean] * 3)

    def test_levels_are_the_same_for_documents_of_one_segment(self):
        flat = SegmentedCorpus.from_documents([[np.concatenate(d)] for d in CORPUS], 30)
        first, second = (quick(level=level).fit(flat) for level in LEVELS)
        assert_array_equal(first.components_, second.components_)
        assert_allclose(first.doc_topic_, second.doc_topic_)
        assert_allclose(first.transform(flat), second.transform(flat))


class TestFit:
    @every_level
    def test_it_finds_what_is_there(self, level):
        model = quick(level=level, max_iter=80, init=TRUTH.components).fit(CORPUS)
        assert_allclose(model.components_, TRUTH.components, atol=0.06)

    @every_level
    @pytest.mark.parametrize("n_shards", [1, 3])
    def test_an_array_aligns_topics(self, level, n_shards):
        for order in ([0, 1, 2], [2, 0, 1]):
            given = TRUTH.components[order]
            model = quick(level=level, init=given, max_iter=20, n_shards=n_shards).fit(CORPUS)
            overlap = np.sqrt(given) @ np.sqrt(model.components_).T
            assert_array_equal(overlap.argmax(axis=1), [0, 1, 2])

    def test_an_array_for_many_topics(self):
        given = np.random.default_rng(0).dirichlet(np.full(30, 0.1), SPARSE_FROM)
        model = quick(n_components=SPARSE_FROM, init=given).fit(CORPUS)
        assert_allclose(model.components_.sum(axis=1), 1.0)

    @pytest.mark.parametrize("n_components", [1, SPARSE_FROM - 1, SPARSE_FROM, SPARSE_FROM + 1])
    def test_both_sides_of_the_limit(self, n_components):
        for state in quick(n_components=n_components).iter_sweeps(CORPUS):
            assert state.topics.min() >= 0
            assert state.topics.max() < n_components
            assert np.isfinite(state.log_joint())

    def test_priors(self):
        learned = quick(max_iter=30).fit(CORPUS)
        assert np.ptp(learned.trace_["topic_word_prior"]) > 0
        assert np.ptp(learned.doc_topic_prior_) > 0
        symmetric = quick(max_iter=30, doc_topic_prior="auto-symmetric").fit(CORPUS)
        assert np.ptp(symmetric.trace_["doc_topic_prior_sum"]) > 0
        assert np.ptp(symmetric.doc_topic_prior_) == pytest.approx(0.0, abs=1e-12)
        fixed = quick(doc_topic_prior=0.3, topic_word_prior=0.2).fit(CORPUS)
        assert_allclose(fixed.doc_topic_prior_, 0.3)
        assert fixed.topic_word_prior_ == pytest.approx(0.2)

    def test_state_is_a_live_read_only_view(self):
        sweeps = quick(n_components=5).iter_sweeps(CORPUS)
        state = next(sweeps)
        copy, joint, before = state.copy(), state.log_joint(), state.topics.copy()
        for array in (state.topics, state.doc_topic_prior):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        for _ in sweeps:
            pass
        assert_array_equal(copy.topics, before)
        assert copy.log_joint() == joint
        assert not np.array_equal(state.topics, before)


class TestShards:
    @dense_and_sparse
    @every_level
    def test_jobs_have_no_effect(self, n_components, level):
        params = {"n_components": n_components, "level": level, "n_shards": 3}
        first, second = (quick(n_jobs=n, **params).fit(CORPUS) for n in (1, 2))
        assert_array_equal(first.components_, second.components_)
        assert_array_equal(first.segment_topic_, second.segment_topic_)
        assert_array_equal(first.trace_["log_joint"], second.trace_["log_joint"])

    def test_one_is_the_default(self):
        default, one, two = (quick(**p).fit(CORPUS) for p in ({}, {"n_shards": 1}, {"n_shards": 2}))
        assert_array_equal(default.components_, one.components_)
        assert not np.array_equal(default.components_, two.components_)

    @dense_and_sparse
    def test_more_than_documents(self, n_components):
        model = quick(n_components=n_components, n_shards=50).fit([[], *CORPUS, [[]]])
        assert_allclose(model.doc_topic_.sum(axis=1), 1.0)

    @dense_and_sparse
    @pytest.mark.parametrize("check", [check_resume_after_interruption, check_warm_start_continues])
    def test_they_go_on_bit_for_bit(self, n_components, check):
        check(quick(n_components=n_components, n_shards=3))


class TestFromTopics:
    documents = ([[0, 1, 0], [3]], [[3, 3, 3, 3]], [])

    @every_level
    def test_it_is_fitted(self, level):
        model = GibbsLDA.from_topics(
            TOPICS, level=level, doc_topic_prior=[0.5, 1.5], random_state=0
        )
        shares = model.transform(self.documents)
        assert_allclose(shares.sum(axis=1), 1.0)
        assert_allclose(shares[2], [0.25, 0.75])
        assert shares[1, 1] > shares[0, 1]
        assert np.isfinite(model.score(self.documents))
        assert clone(model).level == level

    @pytest.mark.parametrize(
        "params", [{"fixed_components": np.full((1, 5), 0.2)}, {"seed_words": {0: [1]}}]
    )
    def test_hints_are_refused(self, params):
        (name,) = params
        message = ""
        try:
            GibbsLDA.from_topics(np.eye(3), doc_topic_prior=0.1, **params)
        except ValueError as error:
            message = str(error)
        assert message.startswith(f"{name} must be None in from_topics")

    def test_segments_know_of_each_other_at_the_level_of_documents_alone(self):
        document = [[[0, 0, 1, 0, 0], [2]]]
        of_documents, of_segments = (
            GibbsLDA.from_topics(
                TOPICS, level=level, doc_topic_prior=0.2, transform_max_iter=1000, random_state=0
            ).transform_segments(document)
            for level in LEVELS
        )
        assert of_documents[1, 0] > of_segments[1, 0]
        assert_array_equal(of_documents[0], of_documents[1])


@pytest.mark.parametrize("level", ["document", "segment"])
def test_levels_share_kernels(level):
    """numba compiles again for arrays that can be written: both levels pass read-only ones."""
    for offsets in (tokens_of_nodes(CORPUS, level), nodes_of_documents(CORPUS, level)):
        assert offsets.dtype == np.int64
        assert not offsets.flags.writeable


def test_pickle():
    model = quick().fit(CORPUS)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(CORPUS), model.transform(CORPUS))
    assert_array_equal(again.score_samples(CORPUS), model.score_samples(CORPUS))
    assert again.get_feature_names_out().tolist() == [f"gibbslda{k}" for k in range(3)]
