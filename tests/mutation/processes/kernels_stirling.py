"""Wrong patches of ratios of Stirling numbers."""

from mutation.mutation import Mutation

PROCESSES = "tests/exact/processes"
STIRLING = "processes/_kernels_stirling.py"
PATCHES = "processes/_kernels_stirling_patches.py"

MUTATIONS = [
    Mutation(
        "stirling-open-ratio",
        STIRLING,
        "values[row + t, 1] = 1.0 + (n - a * (t + 1)) * r[t + 1]",
        "values[row + t, 1] = (n - a * (t + 1)) * r[t + 1]",
        "The recursion's first term, S^n_{t-1} (3.4).",
        f"{PROCESSES}/test_stirling.py::test_table_and_integral_match_integers",
    ),
    Mutation(
        "stirling-share-ratio",
        STIRLING,
        "values[row + t, 0] = n - a * t + 1.0 / r[t]",
        "values[row + t, 0] = n - t + 1.0 / r[t]",
        "The recursion's second term, (n - a t) S^n_t (3.4).",
        f"{PROCESSES}/test_stirling.py::test_table_and_integral_match_integers",
    ),
    Mutation(
        "stirling-patch-of-next-t",
        PATCHES,
        "integrate(n, m + 1.0, a)[1] * n * m / (n - m)",
        "integrate(n, m + 1.0, a)[1] * n * m / (n - m + 1.0)",
        "H is 2 / (1 - a) at t = n: R falls to 0 at t = n + 1, where m = n.",
        f"{PROCESSES}/test_stirling.py::test_patches_match_closed_form_of_one_half[100000]",
    ),
    Mutation(
        "stirling-patch-rounded-points",
        PATCHES,
        "m = 4.0 * octave / (s[j] + 3.0)",
        "m = math.floor(4.0 * octave / (s[j] + 3.0))",
        "Chebyshev's points lie between whole numbers.",
        f"{PROCESSES}/test_stirling.py::test_patches_follow_the_recursion[0.3]",
    ),
]
