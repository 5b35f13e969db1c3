"""Wrong patches: kernels cluster draws."""

from mutation.mutation import Mutation

DRAWS = "emissions/_kernels_cluster_draws.py"
PARTITIONS = "tests/exact/mixture/test_partitions.py"
ROWS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-blocked]"
MOMENTS = "tests/exact/emissions/test_cluster_draws.py"
FULL = f"{MOMENTS}::test_full_covariances"

MUTATIONS = [
    Mutation(
        "mixture-blocked-probabilities-not-normalized",
        DRAWS,
        "    log_total = largest + math.log(total)\n",
        "    log_total = largest + 0.0 * total\n",
        "Gamma draws over their sum are the probabilities.",
        ROWS_OF_COUNTS,
    ),
    Mutation(
        "clusters-intensities-without-the-rows",
        DRAWS,
        "math.log(prior.rates[v] + clusters.vectors[SIZE, k])",
        "math.log(prior.rates[v] + 1.0)",
        "Each row adds one to the rate of the Gamma posterior.",
        f"{MOMENTS}::test_intensities",
    ),
    Mutation(
        "clusters-density-of-a-row-without-the-determinant",
        DRAWS,
        "    drawn.heads[k] = log_det\n",
        "    drawn.heads[k] = 0.0 * log_det\n",
        "Narrow clusters are dense.",
        f"{MOMENTS}::test_weights[full]",
    ),
]
