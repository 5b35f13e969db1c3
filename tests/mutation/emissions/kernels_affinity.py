"""Wrong patches: kernels affinity."""

from mutation.mutation import Mutation

AFFINITY = "emissions/_kernels_affinity.py"
TESTS = "tests/exact/emissions/test_comparable.py"

MUTATIONS = [
    Mutation(
        "affinity-of-gaussians-whole-square",
        AFFINITY,
        "total -= 0.125 * square",
        "total -= 0.25 * square",
        "An eighth of the squared distance.",
        f"{TESTS}::test_log_affinity[diag]",
    ),
    Mutation(
        "affinity-of-gaussians-without-determinants",
        AFFINITY,
        "total += 0.5 * (half_log_dets[j, b] + half_log_dets[k, b])",
        "total += half_log_dets[j, b]",
        "Both covariances count, a quarter of each log determinant.",
        f"{TESTS}::test_log_affinity[full]",
    ),
    Mutation(
        "affinity-of-counts-twice",
        AFFINITY,
        "total -= 0.5 * away * away",
        "total -= away * away",
        "Half the squared difference of the roots.",
        f"{TESTS}::test_log_affinity[poisson]",
    ),
    Mutation(
        "affinity-of-symbols-underflows",
        AFFINITY,
        "if out[j, k] > SMALLEST_SUM:",
        "if out[j, k] > -1.0:",
        "States without a common symbol are infinitely far.",
        f"{TESTS}::test_tiny_probabilities_have_an_affinity",
    ),
    Mutation(
        "affinity-of-bits-last-column",
        AFFINITY,
        "total += max(zero, one)",
        "total = max(zero, one)",
        "Coefficients of independent columns multiply.",
        f"{TESTS}::test_log_affinity[bernoulli]",
    ),
]
