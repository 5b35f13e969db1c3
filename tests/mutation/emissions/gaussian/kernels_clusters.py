"""Wrong patches: gaussian, kernels clusters."""

from mutation.mutation import Mutation

GAUSSIAN = "emissions/_gaussian/_kernels_clusters.py"
DENSITIES = "tests/exact/mixture/test_densities.py"
PARTITIONS = "tests/exact/mixture/test_partitions.py"
GIBBS = f"{PARTITIONS}::test_partitions[full-gibbs]"

MUTATIONS = [
    Mutation(
        "mixture-center-without-the-row",
        GAUSSIAN,
        "center + sign * (x[begin + r] - center) / (c + sign)",
        "center + sign * (x[begin + r] - center) / (c + 1.0)",
        "A row that leaves takes a larger share of the mean with it.",
        f"{DENSITIES}::test_rows_that_come_and_go_leave_no_trace",
    ),
    Mutation(
        "mixture-factor-of-a-row-that-leaves",
        GAUSSIAN,
        "y = (factors[begin + r, e, k] - sign * w * row[e]) * root",
        "y = (factors[begin + r, e, k] - w * row[e]) * root",
        "I - w w^T has another factor than I + w w^T.",
        f"{DENSITIES}::test_rows_that_come_and_go_leave_no_trace",
    ),
    Mutation(
        "mixture-own-density-with-the-row",
        GAUSSIAN,
        "        weight = c / (c - 1.0)\n",
        "        weight = 1.0\n",
        "The row is compared to a cluster without it.",
        GIBBS,
    ),
    Mutation(
        "mixture-factors-never-made-anew",
        GAUSSIAN,
        "MOST_UPDATES = 1000\n",
        "MOST_UPDATES = 1000000\n",
        "Rounding errors of moves add up.",
        f"{DENSITIES}::test_rows_that_come_and_go_leave_no_trace",
    ),
]
