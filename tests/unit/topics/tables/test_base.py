"""Tests of all table models as estimators: common parameters, shards, sizes."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, SequentialLDA
from skdp.topics._tables._arrays import stirling_ratios, writable
from skdp.utils.estimator_checks import (
    check_chains_do_not_depend_on_jobs,
    check_resume_after_interruption,
    check_warm_start_continues,
)

MODELS = (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel)
SAMPLERS = ("btigs", "cmgs", "ssa")
every_model = pytest.mark.parametrize("model", MODELS)
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)

TRUTH = make_segmented_corpus(
    12,
    n_components=3,
    n_features=30,
    n_segments=(1, 5),
    segment_length=8.0,
    topic_word_prior=0.05,
    model="adaptive",
    random_state=0,
)
CORPUS = TRUTH.data
N_DOCUMENTS, N_SEGMENTS = len(CORPUS), len(CORPUS.segment_ptr) - 1


def quick(model, **params):
    return model(**{"n_components": 3, "max_iter": 6, "random_state": 0, **params})


def assert_same_fit(first, second):
    for name in ("components_", "doc_topic_", "segment_topic_", "concentration_", "discount_"):
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert_array_equal(first.trace_["log_joint"], second.trace_["log_joint"])


def refuses(estimator, error, message):
    """Assert that no fit begins, and that the estimator stays as it was."""
    before = dict(vars(estimator))
    for run in (estimator.fit, estimator.iter_sweeps):
        with pytest.raises(error, match=message):
            run(CORPUS)
        assert vars(estimator) == before


class TestBadInput:
    @every_model
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("discount", "0.3"),
            ("discount", "automatic"),
            ("discount", None),
            ("discount_prior", 1.0),
            ("discount_prior", "ab"),
            ("discount_prior", None),
            ("discount_prior", np.ones(2)),
            ("concentration_scope", "corpora"),
            ("concentration_scope", "documents"),
            ("concentration_scope", None),
            ("sampler", "lda"),
            ("init", "nmf"),
            ("init", None),
            ("n_shards", 0),
            ("n_shards", -1),
            ("n_shards", 1.5),
            ("n_shards", "2"),
            ("n_shards", None),
        ],
    )
    def test_types_and_ranges(self, model, name, value):
        message = f"The '{name}' parameter of {model.__name__} must be"
        refuses(quick(model, **{name: value}), ValueError, message)

    @every_model
    @pytest.mark.parametrize(
        "value",
        [
            *[(1.0,), (1.0, 1.0, 1.0), (), ("1", "1"), (1.0, None), [1.0, 0.0]],
            *[(0.0, 1.0), (-1.0, 1.0), (1.0, np.nan), (np.inf, 1.0)],
        ],
    )
    def test_pairs(self, model, value):
        for name in ("discount_prior", "concentration_prior"):
            message = f"{name} must be two positive numbers"
            refuses(quick(model, **{name: value}), ValueError, message)

    @every_model
    @pytest.mark.parametrize(
        ("init", "message"),
        [
            (np.ones((2, 30)), r"init must have shape .* = \(3, 30\), got \(2, 30\)"),
            (np.ones((3, 29)), r"init must have shape .* = \(3, 30\), got \(3, 29\)"),
            (np.ones(30), "init|2D"),
            (-np.ones((3, 30)), "init must hold non-negative"),
            (np.zeros((3, 30)), "init must hold non-negative"),
            (np.full((3, 30), np.nan), "init contains NaN"),
        ],
    )
    def test_topics_to_start_from(self, model, init, message):
        refuses(quick(model, init=init), ValueError, message)

    @every_model
    def test_models_differ_in_parameters_by_the_mixing_and_the_top_level(self, model):
        expected = set(SegmentedTopicModel().get_params())
        if model is AdaptiveTopicModel:
            expected.add("mixing_prior")
        if model is SequentialLDA:  # its number of topics is given
            tops = ("document_concentration", "top_concentration")
            expected -= {
                "initial_components",
                "max_components",
                *tops,
                *(f"{name}_prior" for name in tops),
            }
        assert set(model().get_params()) == expected


class TestInit:
    @every_model
    @every_sampler
    def test_lda_is_deterministic_and_of_its_own(self, model, sampler):
        first, second = (quick(model, init="lda", sampler=sampler).fit(CORPUS) for _ in range(2))
        assert_same_fit(first, second)
        other = quick(model, sampler=sampler).fit(CORPUS)
        assert not np.array_equal(first.components_, other.components_)

    @every_model
    def test_lda_starts_where_random_topics_get_to(self, model):
        first, random = (
            next(quick(model, init=init).iter_sweeps(CORPUS)).log_joint()
            for init in ("lda", "random")
        )
        assert first > random + 20.0

    @every_model
    def test_lda_of_every_chain_is_its_own(self, model):
        fitted = quick(model, init="lda", n_chains=2).fit(CORPUS)
        assert len(np.unique(fitted.trace_["log_joint"][:, 0])) == 2

    @pytest.mark.parametrize("params", [{"n_shards": 3}, {"n_components": 1}, {"n_components": 40}])
    def test_lda_with_shards_and_any_number_of_topics(self, params):
        fitted = quick(AdaptiveTopicModel, init="lda", **params).fit(CORPUS)
        assert np.isfinite(fitted.trace_["log_joint"]).all()

    @every_model
    @pytest.mark.parametrize("n_shards", [1, 3])
    def test_an_array_aligns_topics(self, model, n_shards):
        params = {"max_iter": 20, "n_shards": n_shards}
        for order in ([0, 1, 2], [2, 0, 1]):
            given = TRUTH.components[order]
            found = quick(model, init=given, **params).fit(CORPUS).components_
            overlap = np.sqrt(given) @ np.sqrt(found).T
            assert_array_equal(overlap.argmax(axis=1), [0, 1, 2])


class TestConcentrationScope:
    @every_model
    @every_sampler
    @pytest.mark.parametrize(
        ("scope", "shape"), [("corpus", ()), ("document", (12,)), ("segment", (N_SEGMENTS,))]
    )
    def test_shapes(self, model, sampler, scope, shape):
        fitted = quick(model, sampler=sampler, concentration_scope=scope).fit(CORPUS)
        assert np.shape(fitted.concentration_) == shape
        assert isinstance(fitted.concentration_, np.ndarray if shape else float)
        assert np.min(fitted.concentration_) > 0
        if shape:
            assert len(np.unique(fitted.concentration_)) == shape[0]
        assert np.ptp(fitted.trace_["concentration"]) > 0
        shares = fitted.transform(CORPUS)
        assert_allclose(shares.sum(axis=1), 1.0)
        assert_array_equal(fitted.transform(CORPUS[3:4])[0], shares[3])
        assert np.isfinite(fitted.score(CORPUS))

    @every_model
    def test_a_number_is_that_of_all(self, model):
        first, *others = (
            quick(model, concentration=3.0, concentration_scope=scope).fit(CORPUS)
            for scope in ("corpus", "document", "segment")
        )
        for other in others:
            assert_array_equal(other.components_, first.components_)
            assert_array_equal(other.transform(CORPUS), first.transform(CORPUS))
            assert_allclose(other.concentration_, 3.0)

    @every_model
    def test_the_state_shows_all(self, model):
        for scope, shape in (("corpus", ()), ("document", (12,)), ("segment", (N_SEGMENTS,))):
            state = next(quick(model, concentration_scope=scope).iter_sweeps(CORPUS))
            assert np.shape(state.concentration) == shape


class TestDiscount:
    @every_model
    @every_sampler
    def test_it_is_learned_under_its_prior(self, model, sampler):
        fitted = quick(model, discount="auto", sampler=sampler).fit(CORPUS)
        assert np.ptp(fitted.trace_["discount"]) > 0
        assert fitted.discount_ == pytest.approx(fitted.trace_["discount"].mean())
        assert np.isfinite(fitted.score(CORPUS))
        # A Beta(1e8, 1e8) prior leaves the words nothing to say.
        sure = quick(model, discount="auto", discount_prior=(1e8, 1e8), sampler=sampler).fit(CORPUS)
        assert sure.discount_ == pytest.approx(0.5, abs=1e-3)

    @every_model
    def test_prior_of_a_number_has_no_effect(self, model):
        first = quick(model, discount=0.3).fit(CORPUS)
        second = quick(model, discount=0.3, discount_prior=(5.0, 2.0)).fit(CORPUS)
        assert_same_fit(first, second)
        assert first.discount_ == 0.3


def recount(corpus, topics, n_topics):
    """Return words by segment and topic."""
    counts = np.zeros((len(corpus.segment_ptr) - 1, n_topics), dtype=int)
    segments = np.repeat(np.arange(len(counts)), np.diff(corpus.segment_ptr))
    np.add.at(counts, (segments, topics), 1)
    return counts


class TestShards:
    @every_model
    @every_sampler
    def test_jobs_have_no_effect(self, model, sampler):
        params = {"n_shards": 3, "sampler": sampler, "discount": "auto", "n_chains": 2}
        first, second = (quick(model, n_jobs=n, **params).fit(CORPUS) for n in (1, 2))
        assert_same_fit(first, second)

    @every_model
    def test_one_is_the_default(self, model):
        default, one, two = (
            quick(model, **params).fit(CORPUS) for params in ({}, {"n_shards": 1}, {"n_shards": 2})
        )
        assert_same_fit(default, one)
        assert not np.array_equal(default.components_, two.components_)

    @every_model
    @every_sampler
    @pytest.mark.parametrize("n_shards", [1, 2, 5, 40])
    def test_tables_and_words_agree_after_every_sweep(self, model, sampler, n_shards):
        estimator = quick(model, n_shards=n_shards, sampler=sampler, discount=0.2)
        for state in estimator.iter_sweeps(CORPUS):
            to_document, to_previous = state.tables_to_document, state.tables_to_previous
            tables = to_document + to_previous
            customers = recount(CORPUS, state.topics, 3)
            first = CORPUS.doc_ptr[:-1]
            inner = np.setdiff1d(np.arange(N_SEGMENTS), first)
            customers[inner - 1] += to_previous[inner]
            assert not to_previous[first].any()
            if model is SequentialLDA:
                assert not to_document[inner].any()
            assert np.all(tables <= customers)
            assert_array_equal(tables > 0, customers > 0)
            assert np.isfinite(state.log_joint())

    @every_model
    def test_more_shards_than_documents(self, model):
        one_document = CORPUS[:1]
        fitted = quick(model, n_shards=7).fit(one_document)
        assert_allclose(fitted.doc_topic_.sum(axis=1), 1.0)
        fitted = quick(model, n_shards=30).fit([[], *CORPUS, [[]], []])
        assert fitted.doc_topic_.shape == (15, 3)
        assert_allclose(fitted.doc_topic_.sum(axis=1), 1.0)

    @every_model
    @every_sampler
    @pytest.mark.parametrize(
        "check",
        [
            check_resume_after_interruption,
            check_warm_start_continues,
            check_chains_do_not_depend_on_jobs,
        ],
    )
    def test_they_go_on_bit_for_bit(self, model, sampler, check):
        check(quick(model, n_shards=3, sampler=sampler, discount="auto", init="lda"))

    def test_their_number_stays(self):
        warm = quick(SegmentedTopicModel, n_shards=2, warm_start=True).fit(CORPUS)
        with pytest.raises(ValueError, match="n_shards"):
            warm.set_params(n_shards=3, max_iter=8).fit(CORPUS)
        warm.set_params(n_shards=2, max_iter=8, n_jobs=2).fit(CORPUS)
        assert warm.n_iter_ == 8

    @every_model
    def test_they_find_what_is_there(self, model):
        fitted = quick(model, n_shards=4, max_iter=60, init=TRUTH.components).fit(CORPUS)
        exact = quick(model, max_iter=60, init=TRUTH.components).fit(CORPUS)
        assert_allclose(fitted.components_, exact.components_, atol=0.08)
        assert fitted.score(CORPUS) == pytest.approx(exact.score(CORPUS), abs=0.1)


class TestFromTopics:
    documents = ([[0, 1, 0], [3], [29, 29]], [[3, 3, 3, 3]], [])

    @every_model
    @every_sampler
    def test_it_is_fitted(self, model, sampler):
        fitted = model.from_topics(
            TRUTH.components, doc_topic_prior=[1.0, 2.0, 1.0], sampler=sampler, random_state=0
        )
        shares = fitted.transform(self.documents)
        assert_allclose(shares.sum(axis=1), 1.0)
        assert_allclose(shares[2], [0.25, 0.5, 0.25])
        assert fitted.transform_segments(self.documents).shape == (4, 3)
        assert np.isfinite(fitted.score(self.documents))
        assert clone(fitted).n_components == 3

    @every_model
    def test_concentration_is_drawn_for_what_shares_it(self, model):
        """The scope makes a difference for a learned concentration, and none for a number."""
        shares = {
            (scope, concentration): model.from_topics(
                TRUTH.components,
                doc_topic_prior=0.5,
                concentration=concentration,
                concentration_scope=scope,
                random_state=0,
            ).transform(self.documents)
            for scope in ("corpus", "document", "segment")
            for concentration in ("auto", 2.0)
        }
        for scope in ("document", "segment"):
            assert_array_equal(shares[scope, 2.0], shares["corpus", 2.0])
        assert_array_equal(shares["document", "auto"], shares["corpus", "auto"])
        assert not np.array_equal(shares["segment", "auto"], shares["corpus", "auto"])

    @every_model
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({}, "doc_topic_prior must be given as numbers"),
            ({"doc_topic_prior": "auto-symmetric"}, "doc_topic_prior must be given as numbers"),
            ({"doc_topic_prior": 1.0, "discount": "auto"}, "discount must be given as numbers"),
            ({"doc_topic_prior": 1.0, "discount_prior": (0.0, 1.0)}, "discount_prior"),
            ({"doc_topic_prior": 1.0, "concentration_scope": "all"}, "concentration_scope"),
            ({"doc_topic_prior": 1.0, "n_components": 4}, "components holds 3 topics"),
        ],
    )
    def test_bad_input(self, model, params, message):
        with pytest.raises(ValueError, match=message):
            model.from_topics(TRUTH.components, **params)


RNG = np.random.default_rng(0)
LARGE = {
    "5,000 segments": [RNG.integers(0, 30, 3) for _ in range(5000)],
    "100,000 words": [RNG.integers(0, 30, 10_000) for _ in range(10)],
}


@every_model
@pytest.mark.parametrize("document", LARGE.values(), ids=LARGE)
def test_long_documents(model, document):
    """The limit is generous: one sweep that is quadratic in the document would not keep it."""
    corpus = SegmentedCorpus.from_documents([document], 30)
    estimator = quick(model, max_iter=3, transform_max_iter=3)
    estimator.fit(CORPUS).transform(CORPUS)  # compiles
    begin = time.process_time()
    shares = estimator.fit(corpus).transform_segments(corpus)
    assert time.process_time() - begin < 20.0
    assert_allclose(shares.sum(axis=1), 1.0)
    assert np.isfinite(estimator.trace_["log_joint"]).all()


def test_a_segment_of_100_000_words():
    corpus = SegmentedCorpus.from_documents([[RNG.integers(0, 30, 100_000)]], 30)
    fitted = quick(AdaptiveTopicModel, max_iter=2, sampler="cmgs").fit(corpus)
    assert np.isfinite(fitted.trace_["log_joint"]).all()
    assert_allclose(fitted.segment_topic_.sum(axis=1), 1.0)


@every_model
@pytest.mark.parametrize("discount", [0.0, 0.5])
def test_long_documents_do_not_depend_on_the_batch(model, discount):
    """Ratios beyond the table do not depend on the table or on earlier requests."""
    documents = [[RNG.integers(0, 30, n)] for n in (40, 3_000, 25_000, 1_500)]
    topics = RNG.dirichlet(np.full(30, 0.1), 3)
    fitted = model.from_topics(
        topics,
        doc_topic_prior=0.5,
        discount=discount,
        concentration=5.0,
        transform_max_iter=3,
        random_state=0,
    )
    together = fitted.transform(SegmentedCorpus.from_documents(documents, 30))
    for document, shares in zip(documents, together, strict=True):
        alone = fitted.transform(SegmentedCorpus.from_documents([document], 30))
        assert_array_equal(alone[0], shares)


def test_read_only_ratios_are_copied():
    """Another process gets arrays that it may not write to, as patches are when they are filled."""
    ratios = stirling_ratios(CORPUS, 0.5, chained=False)
    assert writable(ratios) is ratios
    ratios.values.flags.writeable = False
    copy = writable(ratios)
    assert copy.values.flags.writeable
    assert_array_equal(copy.values, ratios.values)
