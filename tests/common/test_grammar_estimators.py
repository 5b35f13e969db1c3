"""scikit-learn's checks and ours, on grammars.

They have a file of their own so that another process may run them: their kernels are others.
"""

from scikit_learn_checks import scikit_learn_checks

from skdp.grammar import HDPPCFG
from skdp.utils.estimator_checks import parametrize_with_ragged_checks


@scikit_learn_checks([HDPPCFG(3, max_iter=10), HDPPCFG(2, n_preterminals=3, max_iter=10)])
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
