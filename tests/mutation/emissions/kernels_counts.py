"""Wrong patches: probabilities that move with their concentration."""

from mutation.mutation import Mutation

COUNTS = "emissions/_kernels_counts.py"
MOVES = "tests/exact/emissions/test_comparable.py::test_moves_of_the_concentration_keep_the_joint"

MUTATIONS = [
    Mutation(
        "shared-move-forgets-counts",
        COUNTS,
        "base = draw_log_gamma(after[v] + counts[v, j], rng)",
        "base = draw_log_gamma(after[v], rng)",
        "A share of a Gamma number that counts have made larger.",
        MOVES,
    ),
    Mutation(
        "shared-move-grows-too-much",
        COUNTS,
        "away = abs(after[v] - before[v])",
        "away = after[v]",
        "Only the difference of the parameters is new.",
        MOVES,
    ),
    Mutation(
        "shared-move-without-scale",
        COUNTS,
        "log_g = log_probs[v, j] + sums[1, j]",
        "log_g = log_probs[v, j]",
        "What is added is in units of the sum of the Gamma numbers.",
        MOVES,
    ),
]
