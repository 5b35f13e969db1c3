"""Wrong patches: parameters of clusters, drawn (emissions)."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
DRAWS = "emissions/_kernels_cluster_draws.py"
ROWS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-blocked]"

MUTATIONS = [
    Mutation(
        "mixture-blocked-probabilities-not-normalized",
        DRAWS,
        "        log_rate = largest + math.log(total)\n",
        "        log_rate = largest + 0.0 * total\n",
        "Gamma draws over their sum are the probabilities.",
        ROWS_OF_COUNTS,
    ),
]
