"""The adaptive topic model as an estimator: the weights of its parents above all."""

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betaln
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel
from skdp.utils.estimator_checks import (
    check_resume_after_interruption,
    check_warm_start_continues,
)

TRUTH = make_segmented_corpus(
    30,
    n_components=3,
    n_features=40,
    n_segments=(1, 8),
    segment_length=60.0,
    topic_word_prior=0.05,
    model="adaptive",
    concentration=3.0,
    mixing_prior=(0.3, 0.3),
    random_state=0,
)
CORPUS = TRUTH.data
FIRST = CORPUS.doc_ptr[:-1]
LATER = np.setdiff1d(np.arange(len(CORPUS.segment_ptr) - 1), FIRST)
TOPICS = np.array([[4, 3, 2, 1], [1, 1, 1, 7]]) / 10


def quick(**params):
    return AdaptiveTopicModel(**{"n_components": 3, "max_iter": 6, "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return quick(max_iter=200, mixing_prior=(0.3, 0.3), init=TRUTH.components).fit(CORPUS)


class TestLearnedMixingPrior:
    def test_it_is_where_the_posterior_given_the_tables_has_its_maximum(self):
        """With frozen tables, steps end at the most probable value."""
        *_, state = quick(mixing_prior="auto", max_iter=30).iter_sweeps(CORPUS)
        sampler = state._sampler
        for _ in range(3000):
            sampler._update_parents()
        s, t = (
            tables.sum(axis=1)[LATER]
            for tables in (state.tables_to_document, state.tables_to_previous)
        )
        shape, rate = sampler.dirichlet_prior

        def log_posterior(x, y):
            weights = betaln(x + s, y + t) - betaln(x, y)
            return weights.sum() + (shape - 1.0) * np.log(x * y) - rate * (x + y)

        x, y = state.mixing_prior
        best = log_posterior(x, y)
        for a, b in [(1.02, 1.0), (0.98, 1.0), (1.0, 1.02), (1.0, 0.98), (1.02, 1.02)]:
            assert log_posterior(a * x, b * y) < best
        assert abs(log_posterior(1.0001 * x, y) - log_posterior(0.9999 * x, y)) < 1e-4

    @pytest.mark.parametrize("lambdas", [(4.0, 0.5), (1.0, 2.0)])
    def test_it_finds_what_is_there(self, lambdas):
        truth = make_segmented_corpus(
            40, n_components=3, n_features=40, n_segments=10, segment_length=60.0,
            topic_word_prior=0.05, model="adaptive", concentration=3.0, mixing_prior=lambdas,
            random_state=1,
        )  # fmt: skip
        model = quick(max_iter=150, mixing_prior="auto", init=truth.components).fit(truth.data)
        share = model.mixing_prior_[0] / model.mixing_prior_.sum()
        assert share == pytest.approx(lambdas[0] / sum(lambdas), abs=0.15)
        assert_allclose(
            model.mixing_prior_,
            [model.trace_[f"mixing_prior_{name}"].mean() for name in ("document", "previous")],
        )

    def test_scores_and_new_documents_know_it(self):
        model = quick(max_iter=30, mixing_prior="auto").fit(CORPUS)
        assert np.ptp(model.trace_["mixing_prior_document"]) > 0.0
        assert model._averaged_model().parents == tuple(model.mixing_prior_)
        assert all(stored.parents != (1.0, 1.0) for stored in model._models)
        assert np.isfinite(model.score(CORPUS))
        assert_array_equal(quick(mixing_prior=(0.5, 2.0)).fit(CORPUS).mixing_prior_, [0.5, 2.0])

    def test_documents_of_one_segment_leave_it(self):
        model = quick(mixing_prior="auto").fit([[[0, 1, 2]], [[1, 1]], []])
        assert_array_equal(model.mixing_prior_, [1.0, 1.0])

    def test_given_topics_need_numbers(self):
        with pytest.raises(ValueError, match="mixing_prior must be given as numbers"):
            AdaptiveTopicModel.from_topics(TOPICS, doc_topic_prior=1.0, mixing_prior="auto")
        model = AdaptiveTopicModel.from_topics(TOPICS, doc_topic_prior=1.0)
        assert_array_equal(model.mixing_prior_, [1.0, 1.0])

    @pytest.mark.parametrize("check", [check_resume_after_interruption, check_warm_start_continues])
    def test_it_goes_on_bit_for_bit(self, check):
        check(quick(mixing_prior="auto", n_shards=2))


class TestMixingPrior:
    @pytest.mark.parametrize(
        "value",
        [
            *[(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), [1.0, -1.0], (np.nan, 1.0), (1.0, np.inf)],
            *[(1.0,), (), (1.0, 1.0, 1.0), ("1", "1"), (None, 1.0), ((1.0, 1.0),)],
        ],
    )
    def test_not_two_positive_numbers(self, value):
        self.refuses(value, "mixing_prior must be two positive numbers")

    @pytest.mark.parametrize("value", ["ab", 1.0, None, np.ones(2), {1.0, 2.0}])
    def test_no_pair(self, value):
        self.refuses(value, "The 'mixing_prior' parameter of AdaptiveTopicModel must be")

    @staticmethod
    def refuses(value, message):
        model = quick(mixing_prior=value)
        before = dict(vars(model))
        for run in (model.fit, model.iter_sweeps):
            with pytest.raises(ValueError, match=message):
                run(CORPUS)
            assert vars(model) == before
        with pytest.raises(ValueError, match=message):
            AdaptiveTopicModel.from_topics(TOPICS, doc_topic_prior=1.0, mixing_prior=value)

    def test_a_list_is_a_pair(self):
        first, second = (quick(mixing_prior=prior).fit(CORPUS) for prior in ((2.0, 1.0), [2, 1]))
        assert_array_equal(first.segment_mixing_, second.segment_mixing_)

    def test_its_place_is_behind_the_process(self):
        names = list(inspect.signature(AdaptiveTopicModel).parameters)
        others = list(inspect.signature(SegmentedTopicModel).parameters)
        place = names.index("mixing_prior")
        assert names[place - 1] == "top_concentration_prior"
        assert names[:place] + names[place + 1 :] == others

    def test_it_stays_for_the_life_of_a_chain(self):
        warm = quick(warm_start=True).fit(CORPUS)
        with pytest.raises(ValueError, match="mixing_prior"):
            warm.set_params(mixing_prior=(2.0, 1.0), max_iter=8).fit(CORPUS)

    def test_it_can_be_searched(self):
        grid = {"mixing_prior": [(1.0, 1.0), (1.0, 5.0)]}
        search = GridSearchCV(quick(), grid, cv=2).fit(CORPUS)
        assert search.best_params_["mixing_prior"] in grid["mixing_prior"]


class TestSegmentMixing:
    def test_first_segments_have_no_other_parent(self, fitted):
        assert fitted.segment_mixing_.shape == (len(CORPUS.segment_ptr) - 1,)
        assert_array_equal(fitted.segment_mixing_[FIRST], 1.0)
        assert np.all(fitted.segment_mixing_[LATER] > 0.0)
        assert np.all(fitted.segment_mixing_[LATER] < 1.0)

    @pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
    @pytest.mark.parametrize("n_shards", [1, 3])
    def test_also_with_other_samplers_and_shards(self, sampler, n_shards):
        model = quick(sampler=sampler, n_shards=n_shards, max_iter=23, thin=3).fit(CORPUS)
        assert_array_equal(model.segment_mixing_[FIRST], 1.0)
        assert np.all(model.segment_mixing_[LATER] < 1.0)

    def test_a_segment_without_words_has_the_mean_of_the_prior(self):
        documents = [[[0, 1, 0], [], [2, 3], []], [[2, 3, 3], [1, 0], []], [[], []], [], [[]]]
        model = quick(n_components=2, mixing_prior=(3.0, 1.0)).fit(documents)
        assert_allclose(model.segment_mixing_[[3, 6, 8]], 0.75)
        assert_array_equal(model.segment_mixing_[[0, 4, 7, 9]], 1.0)

    def test_a_strong_prior_stands(self):
        model = quick(mixing_prior=(3e7, 1e7)).fit(CORPUS)
        assert_allclose(model.segment_mixing_[LATER], 0.75, atol=1e-4)

    @pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
    @pytest.mark.parametrize("prior", [(1e8, 1e-8), (1e-8, 1e8)])
    def test_an_extreme_prior_leaves_one_parent(self, sampler, prior):
        """But for the odd table of the first state, which all go to the document."""
        for state in quick(mixing_prior=prior, sampler=sampler, max_iter=150).iter_sweeps(CORPUS):
            to_document = state.tables_to_document[LATER].sum()
            to_previous = state.tables_to_previous[LATER].sum()
        small, large = sorted((to_document, to_previous))
        assert large == (to_document if prior[0] > 1.0 else to_previous)
        assert small < 0.1 * large

    def test_it_tells_what_segments_follow(self, fitted):
        truth, found = TRUTH.segment_mixing[LATER], fitted.segment_mixing_[LATER]
        assert found[truth > 0.5].mean() > found[truth < 0.5].mean() + 0.1

    def test_averages_leave_it_in_order_where_topics_trade_places(self):
        model = quick(max_iter=60, thin=1).fit(CORPUS)
        assert_array_equal(model.segment_mixing_[FIRST], 1.0)
        assert model.segment_mixing_[LATER].max() < 1.0


@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
def test_a_last_segment_without_words_is_expected_between_its_parents(sampler):
    """E[nu_j] = E[rho] E[mu] + (1 - E[rho]) E[nu_{j-1}] where nothing hangs on segment j."""
    model = AdaptiveTopicModel.from_topics(
        TOPICS,
        doc_topic_prior=[0.5, 1.5],
        concentration=4.0,
        mixing_prior=(3.0, 1.0),
        sampler=sampler,
        random_state=0,
    )
    documents = [[[0, 0, 1], [3, 3], []], [[], []]]
    document, segments = model.transform(documents), model.transform_segments(documents)
    assert_allclose(segments[2], 0.75 * document[0] + 0.25 * segments[1])
    assert_allclose(segments[3:], [[0.25, 0.75]] * 2)


def test_shapes_and_sums(fitted):
    assert fitted.components_.shape == (3, 40)
    for shares in (fitted.components_, fitted.doc_topic_, fitted.segment_topic_):
        assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(fitted.components_, TRUTH.components, atol=0.05)
    assert fitted.get_feature_names_out()[0] == "adaptivetopicmodel0"


def test_companions(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(CORPUS), fitted.transform(CORPUS))
    assert_array_equal(again.segment_mixing_, fitted.segment_mixing_)
    assert clone(fitted).mixing_prior == (0.3, 0.3)
    given = AdaptiveTopicModel.from_topics(TOPICS, doc_topic_prior=1.0)
    assert not hasattr(given, "segment_mixing_")
