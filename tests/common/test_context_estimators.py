"""scikit-learn's checks on classifiers of outcomes in context."""

from scikit_learn_checks import scikit_learn_checks

from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
    HDPBackoffFeatures,
)


@scikit_learn_checks(
    [
        HDPBackoffClassifier(max_iter=20),
        HDPBackoffClassifier(None, max_iter=20),
        HDPBackoffFeatures(max_iter=6, cv=2, random_state=0),
        HDPBackoffClassifier(root=False, concentration_scope="context", max_iter=20),
        CollinsBackoffClassifier(),
        DistanceDependentCRPClassifier(max_iter=20),
        DistanceDependentCRPClassifier("overlap", weights="auto", max_iter=20),
        DistanceDependentCRPClassifier(outcome_model="dirichlet", max_iter=20),
        DistanceDependentCRPClassifier("precomputed", max_iter=20),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
