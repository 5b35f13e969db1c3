"""Wrong patches: regression, coefficients."""

from mutation.mutation import Mutation

COEFS = "emissions/_regression/_coefs.py"
TESTS = "tests/exact/emissions/test_logistic_regression.py"

MUTATIONS = [
    Mutation(
        "logistic-model-in-units-of-the-prior",
        COEFS,
        "np.broadcast_to(inverse_root, factors.shape)",
        "np.broadcast_to(np.eye(len(root)), factors.shape)",
        "The model's inputs are those of X.",
        f"{TESTS}::test_predictive_probabilities_given_polya_gamma_variables",
    ),
    Mutation(
        "poisson-offsets-without-slopes",
        COEFS,
        "self.coefs[:, 0] + inputs @ self.coefs[:, 1:].T",
        "self.coefs[:, 0] + 0.0 * (inputs @ self.coefs[:, 1:].T)",
        "The prior mean of the slopes has its share of the predictor.",
        "tests/exact/emissions/test_poisson_regression.py::test_evidence_by_laplace",
    ),
]
