"""scikit-learn's checks and ours, on mixtures."""

import pytest
from scikit_learn_checks import scikit_learn_checks

from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.utils.estimator_checks import parametrize_with_ragged_checks


@scikit_learn_checks(
    [
        PitmanYorMixture(max_iter=20), DPMixture(max_iter=20), HDPMixture(max_iter=20),
        DPMixture(max_iter=20, sampler="blocked"), DPMixture("student_t", max_iter=20),
        IBPLatentFeatures(max_iter=20),
    ]
)  # fmt: skip
def test_scikit_learn(estimator, check):
    if getattr(check, "func", check).__name__ == "check_sample_weight_equivalence_on_dense_data":
        pytest.skip("It shuffles the rows, whose order a chain depends on: see test_weights.py.")
    check(estimator)


@parametrize_with_ragged_checks(
    [
        HDPMixture(max_iter=10),
        HDPMixture("categorical", max_iter=10, n_chains=2),
        HDPMixture("student_t", max_iter=10),
        HDPMixture("poisson", max_iter=10, concentration=2.0, split_merge=False),
        HDPMixture("multinomial", max_iter=10, top_concentration=2.0),
    ]
)
def test_ragged(estimator, check):
    check(estimator)
