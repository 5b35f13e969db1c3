"""scikit-learn's checks and ours, on grammars.

They have a file of their own so that another process may run them: their kernels are others."""

from zlib import crc32

import numpy as np
import pytest
from scikit_learn_checks import scikit_learn_checks

from skdp.grammar import HDPPCFG, HDPPCFGRefiner
from skdp.metrics import bracket_scores
from skdp.utils.estimator_checks import check_ragged_estimator, parametrize_with_ragged_checks


class TreesAsNumbers(HDPPCFG):
    """Predictions that scikit-learn can compare: equal numbers for equal trees."""

    def predict(self, X):
        return np.array([crc32(str(tree).encode()) for tree in super().predict(X)])


@scikit_learn_checks([HDPPCFG(3, tol=0.01), TreesAsNumbers(2, n_preterminals=3, tol=0.01)])
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        HDPPCFG(3, max_iter=6),
        HDPPCFG(2, n_preterminals=3, top_prior="dirichlet", max_iter=6),
        HDPPCFG(2, n_preterminals=3, inference="em", max_iter=6),
        HDPPCFG(3, inference="gibbs", max_iter=6, thin=2),
        HDPPCFG(
            2, n_preterminals=3, child_prior="independent", inference="gibbs",
            top_concentration="auto", binary_concentration="auto", max_iter=6,
        ),
        HDPPCFGRefiner(2, max_iter=6, min_word_count=1),
        HDPPCFGRefiner(2, inference="em", pseudo_count=0.1, max_iter=6, min_word_count=1),
        HDPPCFGRefiner(4, inference="split-merge", max_iter=6, min_word_count=1),
    ]
)  # fmt: skip
def test_ragged(estimator, check):
    check(estimator)


class CountsPrecision(HDPPCFGRefiner):
    """A refiner whose score is another."""

    def score(self, X, y):
        return bracket_scores(y, self.predict(X)).precision


def test_the_ragged_checks_of_trees_can_fail():
    with pytest.raises(AssertionError):
        check_ragged_estimator(CountsPrecision(2, max_iter=6, min_word_count=1))
