"""scikit-learn's checks and ours, on every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from skdp.topics import SegmentedTopicModel
from skdp.utils.estimator_checks import check_ragged_estimator, parametrize_with_ragged_checks

ESTIMATORS = [SegmentedTopicModel(3, max_iter=10, transform_max_iter=10)]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        model.set_params(sampler=sampler)
        for sampler in ("btigs", "cmgs", "ssa")
        for model in [SegmentedTopicModel(3, max_iter=10)]
    ]
)
def test_ragged(estimator, check):
    check(estimator)


def test_all_ragged_checks_at_once():
    check_ragged_estimator(SegmentedTopicModel(2, max_iter=6))
