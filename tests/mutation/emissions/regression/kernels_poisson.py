"""Wrong patches: regression, kernels poisson."""

from mutation.mutation import Mutation

KERNELS = "emissions/_regression/_kernels_poisson.py"
TESTS = "tests/exact/emissions/test_poisson_regression.py"

MUTATIONS = [
    Mutation(
        "poisson-mode-of-the-likelihood",
        KERNELS,
        "linears[j, d, k] = -coefs[j, d, k]",
        "linears[j, d, k] = 0.0",
        "The mode is that of the posterior.",
        f"{TESTS}::test_evidence_by_laplace",
    ),
    Mutation(
        "poisson-slice-of-another-reference",
        KERNELS,
        "                    log += 0.5 * trials[j, d, k] * trials[j, d, k]\n",
        "                    pass\n",
        "The slice is one of the weights, without the Gaussian factor.",
        f"{TESTS}::test_posterior_of_coefficients[0]",
    ),
    Mutation(
        "poisson-slice-at-the-current-weight",
        KERNELS,
        "            bounds[j, d] += math.log(next_open_double(rng))\n",
        "",
        "The slice lies below the current weight.",
        f"{TESTS}::test_posterior_of_coefficients[0]",
    ),
    Mutation(
        "poisson-draws-from-the-approximation",
        KERNELS,
        "if log >= bounds[j, d]:",
        "if True:",
        "Draws of Laplace's approximation are not those of the posterior.",
        f"{TESTS}::test_posterior_of_coefficients[0]",
    ),
    Mutation(
        "poisson-weights-without-prior",
        KERNELS,
        "            if not are_done[j, d]:\n"
        "                logs[j, d] = 0.0\n"
        "                for k in range(width):\n"
        "                    logs[j, d] -= 0.5 * coefs[j, d, k] * coefs[j, d, k]\n",
        "            if not are_done[j, d]:\n                logs[j, d] = 0.0\n",
        "Weights have the prior density.",
        f"{TESTS}::test_mean_weights_are_evidences",
    ),
    Mutation(
        "poisson-coordinates-of-states",
        KERNELS,
        "                first = steps[t]\n",
        "                first = steps[j]\n",
        "Coordinates belong to steps: the numbers of states have no meaning.",
        f"{TESTS}::test_coordinates_belong_to_first_steps",
    ),
    Mutation(
        "poisson-coordinates-shared",
        KERNELS,
        "stream_of_number(key, first, stream)",
        "stream_of_number(key, 0, stream)",
        "Coordinates of different steps are independent.",
        f"{TESTS}::test_coordinates_belong_to_first_steps",
    ),
    Mutation(
        "poisson-means-on-the-other-side",
        KERNELS,
        "linears[j, d, k] -= pull * rows[t, k]",
        "linears[j, d, k] += pull * rows[t, k]",
        "Posteriors of log rates lean to the left.",
        f"{TESTS}::test_means_to_second_order",
    ),
    Mutation(
        "poisson-proposals-without-curvature",
        KERNELS,
        "                log_obs[t, j] -= 0.5 * math.log1p(variance * math.exp(psi))\n",
        "",
        "Laplace's approximation has a determinant.",
        f"{TESTS}::test_proposals_by_laplace",
    ),
    Mutation(
        "poisson-means-with-wide-steps",
        KERNELS,
        "step = min(0.3, 0.6 / math.sqrt(math.exp(peak)",
        "step = min(3.0, 6.0 / math.sqrt(math.exp(peak)",
        "The trapezoidal rule needs several steps within the width of the peak.",
        f"{TESTS}::test_means_of_poisson_probabilities[1.0]",
    ),
    Mutation(
        "poisson-wide-means-of-zero-cut",
        KERNELS,
        "if count == 0.0 and deviation > WIDE:",
        "if count == 0.0 and deviation > 1e9 * WIDE:",
        "The probability of 0 has terms far below a rate of 1.",
        f"{TESTS}::test_means_of_poisson_probabilities[300.0]",
    ),
    Mutation(
        "poisson-absurd-means-overflow",
        KERNELS,
        "    mean = min(max(mean, -LARGEST_MEAN), LARGEST_MEAN)\n",
        "",
        "Squares of absurd means overflow.",
        f"{TESTS}::test_absurd_log_rates[1e+160-1.0]",
    ),
    Mutation(
        "poisson-huge-counts-lose-digits",
        KERNELS,
        "return count * (away - math.expm1(away)) + constant",
        "return count * psi - math.exp(psi) - (count * log_count - count) + constant",
        "Differences of huge terms have no digits.",
        f"{TESTS}::test_huge_counts",
    ),
]
