"""scikit-learn's own checks of estimators whose input goes through skdp's."""

from scikit_learn_checks import scikit_learn_checks
from unit.data.dummies import MeanLevel, WordGroups, WordShares


@scikit_learn_checks([WordGroups(), WordShares(), MeanLevel(), MeanLevel(missing=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
