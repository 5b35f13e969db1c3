"""Wrong patches: regression, kernels coefs."""

from mutation.mutation import Mutation

KERNELS = "emissions/_regression/_kernels_coefs.py"
TESTS = "tests/exact/emissions/test_poisson_regression.py"

MUTATIONS = [
    Mutation(
        "coefs-linear-terms-of-the-intercept",
        KERNELS,
        "linear[k] += left * row[k]",
        "linear[k] += left * row[0]",
        "The slope of a step is in the direction of its regressors.",
        f"{TESTS}::test_evidence_by_laplace",
    ),
    Mutation(
        "coefs-half-of-the-variance",
        KERNELS,
        "        result += x * x\n",
        "        result += 0.5 * x * x\n",
        "The variance of the predictor is |F a|^2.",
        f"{TESTS}::test_model_averages_over_gaussian_coefficients",
    ),
]
