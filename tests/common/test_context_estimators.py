"""scikit-learn's checks on classifiers of outcomes in context."""

from scikit_learn_checks import scikit_learn_checks

from skdp.context import CollinsBackoffClassifier, HDPBackoffClassifier


@scikit_learn_checks(
    [
        HDPBackoffClassifier(max_iter=20),
        HDPBackoffClassifier(root=False, concentration_scope="context", max_iter=20),
        CollinsBackoffClassifier(),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
