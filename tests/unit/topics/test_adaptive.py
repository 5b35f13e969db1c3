"""The adaptive topic model: the weights of the parents of segments, learned and given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import betaln

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel


def make_truth(n_documents, n_segments, mixing_prior, seed):
    return make_segmented_corpus(
        n_documents, n_components=3, n_features=40, n_segments=n_segments, segment_length=60.0,
        topic_word_prior=0.05, model="adaptive", concentration=3.0, mixing_prior=mixing_prior,
        random_state=seed,
    )  # fmt: skip


TRUTH = make_truth(30, (1, 8), (0.3, 0.3), 0)
CORPUS = TRUTH.data
FIRST = CORPUS.doc_ptr[:-1]
LATER = np.setdiff1d(np.arange(len(CORPUS.segment_ptr) - 1), FIRST)


def quick(**params):
    return AdaptiveTopicModel(**{"n_components": 3, "max_iter": 6, "random_state": 0, **params})


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

    def test_it_finds_what_is_there(self):
        truth = make_truth(40, 10, (4.0, 0.5), 1)
        model = quick(max_iter=150, mixing_prior="auto", init=truth.components).fit(truth.data)
        share = model.mixing_prior_[0] / model.mixing_prior_.sum()
        assert share == pytest.approx(4.0 / 4.5, abs=0.15)
        traces = [model.trace_[f"mixing_prior_{name}"] for name in ("document", "previous")]
        assert min(map(np.ptp, traces)) > 0.0
        assert_allclose(model.mixing_prior_, [trace.mean() for trace in traces])
        assert model._averaged_model().parents == tuple(model.mixing_prior_)
        assert all(stored.parents != (1.0, 1.0) for stored in model._models)
        alone = quick(mixing_prior="auto").fit([[[0, 1, 2]], [[1, 1]], []])
        assert_array_equal(alone.mixing_prior_, [1.0, 1.0])  # no segment has another parent


def test_given_mixing_prior():
    """A list is a pair."""
    first, second = (quick(mixing_prior=prior).fit(CORPUS) for prior in ((2.0, 1.0), [2, 1]))
    assert_array_equal(first.mixing_prior_, [2.0, 1.0])
    assert_array_equal(first.segment_mixing_, second.segment_mixing_)


class TestSegmentMixing:
    @pytest.mark.parametrize(("sampler", "n_shards"), [("cmgs", 3), ("ssa", 1)])
    def test_first_segments_have_no_other_parent(self, sampler, n_shards):
        """Also where topics trade places between samples."""
        model = quick(sampler=sampler, n_shards=n_shards, max_iter=23, thin=1).fit(CORPUS)
        assert_array_equal(model.segment_mixing_[FIRST], 1.0)
        assert np.all((model.segment_mixing_[LATER] > 0.0) & (model.segment_mixing_[LATER] < 1.0))

    def test_a_segment_without_words_has_the_mean_of_the_prior(self):
        documents = [[[0, 1, 0], [], [2, 3], []], [[2, 3, 3], [1, 0], []], [[], []], [], [[]]]
        model = quick(n_components=2, mixing_prior=(3.0, 1.0)).fit(documents)
        assert_allclose(model.segment_mixing_[[3, 6, 8]], 0.75)
        assert_array_equal(model.segment_mixing_[[0, 4, 7, 9]], 1.0)
