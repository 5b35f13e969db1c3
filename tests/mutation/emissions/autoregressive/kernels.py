"""Wrong patches: autoregressive, kernels."""

from mutation.mutation import Mutation

REGRESSIONS = "emissions/_autoregressive/_kernels.py"
REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"

MUTATIONS = [
    Mutation(
        "regressions-constant-unscaled",
        REGRESSIONS,
        "products[j, d + 1, 0] = n * centers[j, d] * first",
        "products[j, d + 1, 0] = n * centers[j, d]",
        "The constant is in units of its prior, as the other regressors are.",
        f"{REGRESSION_TESTS}::test_log_evidence[2-1]",
    ),
    Mutation(
        "regressions-given-steps-count",
        REGRESSIONS,
        "                    row[d] = math.nan\n",
        "                    row[d] = 0.0\n",
        "The first steps of a sequence are not explained.",
        f"{REGRESSION_TESTS}::test_log_evidence[1-1]",
    ),
    Mutation(
        "regressions-lags-across-sequences",
        REGRESSIONS,
        "            if t - ptr[s] < n_lags:\n",
        "            if t < n_lags:\n",
        "A sequence does not go on in the next.",
        f"{REGRESSION_TESTS}::test_sequences_have_boundaries",
    ),
    Mutation(
        "regressions-products-about-means",
        REGRESSIONS,
        "scatter[j, d, e] + n * centers[j, d] * centers[j, e]",
        "scatter[j, d, e]",
        "A regression with an intercept needs products of the rows themselves.",
        f"{REGRESSION_TESTS}::test_log_evidence[2-1]",
    ),
    Mutation(
        "regressions-bartlett-upside-down",
        REGRESSIONS,
        "counts[j] - (n_dims - 1 - d)), rng)",
        "counts[j] - d), rng)",
        "Degrees of freedom rise along the diagonal.",
        f"{REGRESSION_TESTS}::test_draws_have_the_moments_of_the_posterior[a state of some steps]",
    ),
    Mutation(
        "regressions-coefficients-known",
        REGRESSIONS,
        "                row[e] = draw_normal(rng)",
        "                row[e] = draw_normal(rng) if e >= n_regressors else 0.0",
        "Coefficients are drawn, not only covariances.",
        f"{REGRESSION_TESTS}::test_draws_have_the_moments_of_the_posterior[a state of some steps]",
    ),
    Mutation(
        "regressions-one-equation",
        REGRESSIONS,
        "            result -= n_dims * math.log(factor[k, k])",
        "            result -= math.log(factor[k, k])",
        "Each column has coefficients of its own.",
        f"{REGRESSION_TESTS}::test_log_evidence[2-1]",
    ),
    Mutation(
        "regressions-evidence-out-of-scale",
        REGRESSIONS,
        "        result += n * (shift - 0.5",
        "        result += n * (-0.5",
        "Densities are those of the values, not of scaled ones.",
        f"{REGRESSION_TESTS}::test_log_evidence[1-1]",
    ),
    Mutation(
        "regressions-no-leverage",
        REGRESSIONS,
        "            h = least[j] - 2.0 * leverages[j]",
        "            h = least[j]",
        "Lags far from those of a state make it less certain.",
        f"{REGRESSION_TESTS}::test_predictive_densities[1.5-2-1]",
    ),
    Mutation(
        "regressions-leverage-without-volume",
        REGRESSIONS,
        "constants[j] - 0.5 * n_dims * fast_log_1p(h)",
        "constants[j]",
        "A wider density is lower.",
        f"{REGRESSION_TESTS}::test_predictive_densities_integrate_to_one",
    ),
    Mutation(
        "regressions-fourth-step",
        REGRESSIONS,
        "        sums[3, j] += (a3 * a + b3 * b) + (c3 * c + d3 * d)",
        "        sums[3, j] += (a3 * a + b3 * b) + (c3 * c + d2 * d)",
        "Each of four steps has numbers of its own.",
        f"{REGRESSION_TESTS}::test_densities_with_the_parameters_last_drawn",
    ),
    Mutation(
        "regressions-last-steps-left-out",
        REGRESSIONS,
        "    for t in range(in_fours, rows.shape[0]):",
        "    for t in range(in_fours, in_fours):",
        "What is left after the last four steps counts, too.",
        f"{REGRESSION_TESTS}::test_densities_with_the_parameters_last_drawn",
    ),
]
