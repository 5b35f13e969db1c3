"""Wrong patches: blocked sweeps, clusters of single rows and moves of large clusters (mixture)."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
BLOCKED = "mixture/_kernels_blocked.py"
LARGE = "mixture/_kernels_large_moves.py"
DRAWS = "emissions/_kernels_cluster_draws.py"
STIR = f"{PARTITIONS}::test_partitions[full-stir]"
ROWS = f"{PARTITIONS}::test_partitions_of_few_clusters[blocked]"
ROWS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-blocked]"
MOVES_OF_FEW = f"{PARTITIONS}::test_partitions_of_few_clusters[large]"
MOVES = f"{PARTITIONS}::test_partitions[full-large]"

MUTATIONS = [
    Mutation(
        "mixture-blocked-rows-join-whatever-their-time",
        BLOCKED,
        "        logs[k] = weight if firsts[k] < time else 0.0\n",
        "        logs[k] = weight\n",
        "A row may only join clusters whose first rows come before it, or these are first no more.",
        ROWS,
    ),
    Mutation(
        "mixture-blocked-probabilities-not-normalized",
        DRAWS,
        "        log_rate = largest + math.log(total)\n",
        "        log_rate = largest + 0.0 * total\n",
        "Gamma draws over their sum are the probabilities.",
        ROWS_OF_COUNTS,
    ),
    Mutation(
        "mixture-stir-number-of-clusters",
        BLOCKED,
        "math.log(labels.shape[0] / (n_clusters + 1.0))",
        "math.log(labels.shape[0] / (n_clusters + 0.0))",
        "The way back begins with one cluster of K + 1.",
        STIR,
    ),
    Mutation(
        "mixture-stir-own-cluster-with-the-row",
        BLOCKED,
        "sizes[k] - (k == less) - discount",
        "sizes[k] - discount",
        "The size of the cluster that a row leaves counts without it.",
        STIR,
    ),
    Mutation(
        "mixture-stir-weight-of-a-cluster-too-many",
        BLOCKED,
        "math.log(concentration + discount * last)",
        "math.log(concentration + discount * n_clusters)",
        "b + a (K - 1), where a cluster ends.",
        STIR,
    ),
    Mutation(
        "mixture-large-way-forgotten",
        LARGE,
        "        log_ratio = log_weight - log_way\n",
        "        log_ratio = log_weight\n",
        "A split divides by the probability of what its rows chose.",
        MOVES_OF_FEW,
    ),
    Mutation(
        "mixture-large-merge-without-its-way-back",
        LARGE,
        "        log_ratio += log_way\n",
        "        log_ratio += 0.0 * log_way\n",
        "A merge multiplies by the probability of the way back.",
        MOVES,
    ),
]
