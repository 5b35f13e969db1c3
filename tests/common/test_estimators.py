"""scikit-learn's checks and ours, on models of documents and on what makes these of texts."""

import pytest
from scikit_learn_checks import scikit_learn_checks

from skdp import topics
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.utils.estimator_checks import check_ragged_estimator, parametrize_with_ragged_checks

SAMPLERS = ("btigs", "cmgs", "ssa")
TABLE_MODELS = (topics.SegmentedTopicModel, topics.SequentialLDA, topics.AdaptiveTopicModel)

ESTIMATORS = [
    *(model(3, max_iter=10, transform_max_iter=10) for model in (*TABLE_MODELS, topics.GibbsLDA)),
    topics.LatentDirichletCoClustering(3, 2, max_iter=10, transform_max_iter=10),
    topics.HDPTopicModel(initial_components=3, max_iter=10, transform_max_iter=10),
    *(
        model("auto", initial_components=3, max_iter=10, transform_max_iter=10)
        for model in (topics.SegmentedTopicModel, topics.AdaptiveTopicModel)
    ),
    topics.TopicSegmenter(3, max_iter=10, transform_max_iter=10),
    topics.TopicSegmenter(max_iter=10),
    topics.SectionedTopicModel(3, max_iter=10, transform_max_iter=10),
    SegmentVectorizer(),
    TokenVectorizer(),
]


@scikit_learn_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        *(model(3, max_iter=10, sampler=sampler) for model in TABLE_MODELS for sampler in SAMPLERS),
        *(topics.GibbsLDA(3, max_iter=10, level=level) for level in ("document", "segment")),
        topics.AdaptiveTopicModel(3, max_iter=10, n_shards=2),
        topics.LatentDirichletCoClustering(3, 2, max_iter=10),
        topics.SegmentedTopicModel("auto", max_iter=10),
        topics.AdaptiveTopicModel("auto", sampler="ssa", n_shards=2, max_iter=10),
        topics.HDPTopicModel(max_iter=10),
        topics.TopicSegmenter(3, max_iter=10),
        topics.TopicSegmenter(max_iter=10),
        topics.SectionedTopicModel(3, max_iter=10),
        topics.SectionedTopicModel(3, discount="auto", n_chains=2, init="lda", max_iter=10),
        topics.TopicSegmenter(3, concentration="auto", max_units=2, n_chains=2, max_iter=10),
        topics.HDPTopicModel(level="segment", n_chains=2, max_iter=10),
    ]
)
def test_ragged(estimator, check):
    check(estimator)


def test_all_ragged_checks_at_once():
    check_ragged_estimator(topics.SegmentedTopicModel(2, max_iter=6))


class ForgetsTheEnd(topics.SegmentedTopicModel):
    """A model whose features depend on the batch."""

    def transform(self, X):
        shares = super().transform(X)
        shares[-1] = 1 / self.n_components
        return shares


def test_the_ragged_checks_can_fail():
    with pytest.raises(AssertionError):
        check_ragged_estimator(ForgetsTheEnd(2, max_iter=6))
