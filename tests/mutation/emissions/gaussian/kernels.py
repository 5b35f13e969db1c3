"""Wrong patches: gaussian, kernels."""

from mutation.mutation import Mutation

GAUSSIANS = "emissions/_gaussian/_kernels.py"
GAUSSIAN_TESTS = "tests/exact/emissions/test_gaussian.py"
STUDENT_T_TESTS = "tests/exact/emissions/test_student_t.py"

MUTATIONS = [
    Mutation(
        "gaussian-missing-values-of-one-stream",
        GAUSSIANS,
        "stream_of_number(key, (first + t) * n_blocks + b, rng)",
        "stream_of_number(key, 0, rng)",
        "What is missing in one row says nothing of another.",
        f"{GAUSSIAN_TESTS}::test_missing_values_are_drawn_given_what_was_observed",
    ),
    Mutation(
        "gaussian-missing-values-too-close",
        GAUSSIANS,
        "                        x[d] = deviation * draw_normal(rng)\n",
        "                        x[d] = 0.5 * deviation * draw_normal(rng)\n",
        "Missing values are drawn, with the covariance that is left.",
        f"{GAUSSIAN_TESTS}::test_missing_values_are_drawn_given_what_was_observed",
    ),
    Mutation(
        "gaussian-scale-without-means",
        GAUSSIANS,
        "        x = weight * (centers[k, d] - mean[b, d])\n",
        "        x = 0.0 * weight\n",
        "The term of the posterior's scale for means far from the prior's.",
        f"{GAUSSIAN_TESTS}::test_log_evidence[full-2]",
    ),
    Mutation(
        "gaussian-mean-without-observations",
        GAUSSIANS,
        "draw_normal(rng) / math.sqrt(weight)",
        "draw_normal(rng) / math.sqrt(precision)",
        "The mean's covariance is Sigma / (c + n).",
        f"{GAUSSIAN_TESTS}::test_draws_have_the_moments_of_the_posterior",
    ),
    Mutation(
        "gaussian-freedom-the-wrong-way",
        GAUSSIANS,
        "(dof - (n - 1 - d))",
        "(dof - d)",
        "Degrees of freedom rise along the diagonal: A^T A is Wishart, A A^T is not asked for.",
        f"{GAUSSIAN_TESTS}::test_draws_have_the_moments_of_the_posterior",
    ),
    Mutation(
        "outliers-missing-values-not-weighted",
        GAUSSIANS,
        "deviation = 1.0 / math.sqrt(weights[t, b])",
        "deviation = 1.0",
        "What is missing varies as the rest of its row does.",
        f"{STUDENT_T_TESTS}::test_weights_and_missing_values[full]",
    ),
]
