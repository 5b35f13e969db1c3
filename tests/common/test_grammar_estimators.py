"""scikit-learn's checks and ours, on grammars.

They have a file of their own so that another process may run them: their kernels are others.
"""

from zlib import crc32

import numpy as np
from scikit_learn_checks import scikit_learn_checks

from skdp.grammar import HDPPCFG
from skdp.utils.estimator_checks import parametrize_with_ragged_checks


class TreesAsNumbers(HDPPCFG):
    """Predictions that scikit-learn can compare: equal numbers for equal trees."""

    def predict(self, X):
        return np.array([crc32(str(tree).encode()) for tree in super().predict(X)])


@scikit_learn_checks([HDPPCFG(3, max_iter=10), TreesAsNumbers(2, n_preterminals=3, max_iter=10)])
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        HDPPCFG(3, max_iter=6),
        HDPPCFG(2, n_preterminals=3, top_prior="dirichlet", max_iter=6),
        HDPPCFG(2, n_preterminals=3, inference="em", max_iter=6),
    ]
)
def test_ragged(estimator, check):
    check(estimator)
