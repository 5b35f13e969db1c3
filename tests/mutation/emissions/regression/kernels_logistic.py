"""Wrong patches: regression, kernels logistic."""

from mutation.mutation import Mutation

KERNELS = "emissions/_regression/_kernels_logistic.py"
TESTS = "tests/exact/emissions/test_logistic_regression.py"
POSTERIOR = f"{TESTS}::test_posterior_of_coefficients[0]"
GIVEN = f"{TESTS}::test_evidence_given_polya_gamma_variables"
LAPLACE = f"{TESTS}::test_evidence_by_laplace"

MUTATIONS = [
    Mutation(
        "logistic-omegas-of-half-the-log-odds",
        KERNELS,
        "omegas[t, d] = draw_polya_gamma(psi, rng)",
        "omegas[t, d] = draw_polya_gamma(0.5 * psi, rng)",
        "omega is PG(1, psi).",
        POSTERIOR,
    ),
    Mutation(
        "logistic-without-offsets",
        KERNELS,
        "left = halves[t, d] - omega * offset",
        "left = halves[t, d]",
        "The prior mean has its share of the log odds.",
        POSTERIOR,
    ),
    Mutation(
        "logistic-missing-targets-have-a-constant",
        KERNELS,
        "            if halves[t, d] == 0.0:\n                continue\n            omega, offset",
        "            omega, offset",
        "A missing target has the factor 1, not 1/2.",
        GIVEN,
    ),
    Mutation(
        "logistic-evidence-without-determinant",
        KERNELS,
        "                result -= math.log(factors[j, d, k, k])\n",
        "",
        "Coefficients are integrated out, not maximized.",
        GIVEN,
    ),
    Mutation(
        "logistic-constant-without-offsets",
        KERNELS,
        "constant += LOG_HALF + halves[t, d] * offset - 0.5 * omega * offset * offset",
        "constant += LOG_HALF",
        "The log odds under the prior mean enter the evidence, too.",
        GIVEN,
    ),
    Mutation(
        "logistic-proposals-without-uncertainty",
        KERNELS,
        "inner = kappa * mean + 0.5 * kappa * kappa * variance - 0.5 * omega * mean * mean",
        "inner = kappa * mean - 0.5 * omega * mean * mean",
        "The predictive density averages over the coefficients.",
        GIVEN,
    ),
    Mutation(
        "logistic-draws-have-no-means",
        KERNELS,
        "                coefs[j, d, k] += means[j, d, k]\n",
        "                pass\n",
        "Coefficients vary about their posterior means.",
        POSTERIOR,
    ),
    Mutation(
        "logistic-curvature-without-square",
        KERNELS,
        "weight = 0.25 - half * half",
        "weight = 0.25",
        "The curvature of log p is p (1 - p).",
        LAPLACE,
    ),
    Mutation(
        "logistic-mode-of-the-likelihood",
        KERNELS,
        "logs[j, d] -= 0.5 * coefs[j, d, k] * coefs[j, d, k]",
        "logs[j, d] -= 0.0 * coefs[j, d, k] * coefs[j, d, k]",
        "The mode is that of the posterior.",
        LAPLACE,
    ),
    Mutation(
        "logistic-means-without-deviation",
        KERNELS,
        "log_mean_sigmoid(mean, math.sqrt(variance))",
        "log_mean_sigmoid(mean, 0.0)",
        "The predictive probability averages over the coefficients.",
        f"{TESTS}::test_predictive_probabilities_given_polya_gamma_variables",
    ),
    Mutation(
        "logistic-means-cut-at-the-peak",
        KERNELS,
        "last = -8.5, 8.5 + min(deviation, max(-mean / deviation, 0.0))",
        "last = -8.5, 2.0 + min(deviation, max(-mean / deviation, 0.0))",
        "The integrand extends beyond its peak.",
        f"{TESTS}::test_means_of_logistic_functions[2.5]",
    ),
    Mutation(
        "logistic-wide-means-not-tilted",
        KERNELS,
        "if mean < -0.5 * square:",
        "if mean < -1e9 * square:",
        "Far below 0, the range has to follow the peak.",
        f"{TESTS}::test_means_of_logistic_functions[300.0]",
    ),
]
