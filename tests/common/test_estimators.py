"""scikit-learn's checks and ours, on models of documents and on what makes these of texts."""

import pytest
from scikit_learn_checks import scikit_learn_checks

from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
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
from skdp.utils.estimator_checks import check_ragged_estimator, parametrize_with_ragged_checks

SAMPLERS = ("btigs", "cmgs", "ssa")
TABLE_MODELS = (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel)

ESTIMATORS = [
    *(model(3, max_iter=10, transform_max_iter=10) for model in (*TABLE_MODELS, GibbsLDA)),
    LatentDirichletCoClustering(3, 2, max_iter=10, transform_max_iter=10),
    HDPTopicModel(initial_components=3, max_iter=10, transform_max_iter=10),
    *(
        model("auto", initial_components=3, max_iter=10, transform_max_iter=10)
        for model in (SegmentedTopicModel, AdaptiveTopicModel)
    ),
    TopicSegmenter(3, max_iter=10, transform_max_iter=10),
    TopicSegmenter(max_iter=10),
    SectionedTopicModel(3, max_iter=10, transform_max_iter=10),
    SegmentVectorizer(),
    TokenVectorizer(),
]


@scikit_learn_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        *(model(3, max_iter=10, sampler=sampler) for model in TABLE_MODELS for sampler in SAMPLERS),
        *(GibbsLDA(3, max_iter=10, level=level) for level in ("document", "segment")),
        AdaptiveTopicModel(3, max_iter=10, n_shards=2),
        LatentDirichletCoClustering(3, 2, max_iter=10),
        SegmentedTopicModel("auto", max_iter=10),
        AdaptiveTopicModel("auto", sampler="ssa", n_shards=2, max_iter=10),
        HDPTopicModel(max_iter=10),
        TopicSegmenter(3, max_iter=10),
        TopicSegmenter(max_iter=10),
        SectionedTopicModel(3, max_iter=10),
        SectionedTopicModel(3, discount="auto", n_chains=2, init="lda", max_iter=10),
        TopicSegmenter(3, concentration="auto", max_units=2, n_chains=2, max_iter=10),
        HDPTopicModel(level="segment", n_chains=2, max_iter=10),
    ]
)
def test_ragged(estimator, check):
    check(estimator)


def test_all_ragged_checks_at_once():
    check_ragged_estimator(SegmentedTopicModel(2, max_iter=6))


class ForgetsTheEnd(SegmentedTopicModel):
    """A model whose features depend on the batch."""

    def transform(self, X):
        shares = super().transform(X)
        shares[-1] = 1 / self.n_components
        return shares


def test_the_ragged_checks_can_fail():
    with pytest.raises(AssertionError):
        check_ragged_estimator(ForgetsTheEnd(2, max_iter=6))
