"""Wrong patches: probabilities that move with their concentration."""

from mutation.mutation import Mutation

COUNTS = "emissions/_kernels_counts.py"
TESTS = "tests/exact/emissions/test_comparable.py"
GROWN = f"{TESTS}::test_probabilities_follow_the_prior[3.0]"
SHRUNK = f"{TESTS}::test_probabilities_follow_the_prior[0.2]"

MUTATIONS = [
    Mutation(
        "shared-move-forgets-counts",
        COUNTS,
        "base = draw_log_gamma(after[v] + counts[v, j], rng)",
        "base = draw_log_gamma(after[v], rng)",
        "A share of a Gamma number that counts have made larger.",
        SHRUNK,
    ),
    Mutation(
        "shared-move-grows-too-much",
        COUNTS,
        "away = abs(after[v] - before[v])",
        "away = after[v]",
        "Only the difference of the parameters is new.",
        GROWN,
    ),
    Mutation(
        "shared-move-without-scale",
        COUNTS,
        "log_g = log_probs[v, j] + sums[1, j]",
        "log_g = log_probs[v, j]",
        "What is added is in units of the sum of the Gamma numbers.",
        GROWN,
    ),
]
