"""Fits with at most `max_components` topics."""

import numpy as np
import pytest

from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, HDPTopicModel, SegmentedTopicModel
from skdp.topics._shared import _pilots

pytestmark = pytest.mark.filterwarnings("ignore:.*max_components allows")

X = make_segmented_corpus(
    60, components=np.kron(np.eye(8), np.ones((1, 5))), n_segments=3, segment_length=15.0,
    doc_topic_prior=0.3, random_state=0,
).data  # fmt: skip
"""Eight topics that share no word."""

MODELS = [HDPTopicModel(), SegmentedTopicModel("auto"), AdaptiveTopicModel("auto")]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def make(model, **params):
    params = {"max_iter": 20, "burn_in": 0, "thin": 1, "random_state": 0, **params}
    return type(model)(**{**model.get_params(), **params})


def fit(model, **params):
    return make(model, **params).fit(X)


@each_model
class TestBound:
    @pytest.mark.parametrize("most", [1, 4, np.int64(7)])
    def test_no_sweep_has_more_topics(self, model, most):
        """Topics would come in every sweep."""
        start = {"initial_components": 1, "top_concentration": 20.0, "topic_word_prior": 0.1}
        assert fit(model, **start).trace_["n_components"].max() > 8
        numbers = fit(model, **start, max_components=most).trace_["n_components"]
        assert numbers.max() == most

    def test_far_away_it_changes_nothing(self, model):
        bounded, free = (fit(model, max_components=n, initial_components=9) for n in (10**9, None))
        np.testing.assert_array_equal(bounded.components_, free.components_)

    @pytest.mark.parametrize("most", [3, 50, 400])
    def test_pilots_do_not_begin_beyond(self, model, most, monkeypatch):
        begun = []

        class Watched(_pilots.Pilot):
            def __init__(self, sampler, held_out):
                begun.append(sampler.n_initial_topics)
                super().__init__(sampler, held_out)

        monkeypatch.setattr(_pilots, "Pilot", Watched)
        fitted = fit(model, max_components=most, max_iter=2)
        assert fitted.initial_components_ <= most
        assert max(begun) <= most
        assert len(set(begun)) == len(begun)

    def test_small_corpora_begin_with_no_more(self, model):
        fitted = make(model, max_components=3, max_iter=2).fit([[[0, 1, 2]]] * 30)
        assert fitted.initial_components_ == 3

    @pytest.mark.parametrize("most", [0, -1, 2.5, "auto", True])
    def test_no_bound(self, model, most):
        with pytest.raises(ValueError, match="max_components"):
            fit(model, max_components=most)

    def test_more_topics_to_begin_with(self, model):
        with pytest.raises(ValueError, match="initial_components has 9 topics, but max_components"):
            fit(model, max_components=8, initial_components=9)
        with pytest.raises(ValueError, match="init has 9 topics, but max_components is 8"):
            fit(model, max_components=8, init=np.ones((9, 40)))
        assert fit(model, max_components=9, init=np.ones((9, 40))).n_components_ <= 9


@pytest.mark.parametrize("model", MODELS[1:], ids=lambda model: type(model).__name__)
class TestTableModels:
    def test_shards_keep_the_bound(self, model):
        start = {"initial_components": 4, "top_concentration": 20.0, "topic_word_prior": 0.1}
        assert fit(model, n_shards=3, **start).trace_["n_components"].max() > 8
        numbers = fit(model, n_shards=3, **start, max_components=4).trace_["n_components"]
        assert numbers.max() == 4

    def test_given_numbers(self, model):
        assert fit(model, n_components=4, max_components=4).components_.shape[0] == 4
        with pytest.raises(ValueError, match="n_components has 5 topics, but max_components is 4"):
            fit(model, n_components=5, max_components=4)
