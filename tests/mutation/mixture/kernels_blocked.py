"""Wrong patches: blocked sweeps and clusters of single rows (mixture)."""

from mutation.mutation import Mutation

LABELS = "tests/exact/mixture/test_labels.py"
PARTITIONS = "tests/exact/mixture/test_partitions.py"
BLOCKED = "mixture/_kernels_blocked.py"
STIR = f"{PARTITIONS}::test_partitions[full-stir]"
ROWS = f"{PARTITIONS}::test_partitions_of_few_clusters[blocked]"
ROWS_ALONE = f"{PARTITIONS}::test_rows_given_the_number_of_clusters"

MUTATIONS = [
    Mutation(
        "mixture-blocked-weights-without-the-discount",
        BLOCKED,
        "draw_log_gamma(clusters.vectors[SIZE, k] - discount, rng)",
        "draw_log_gamma(clusters.vectors[SIZE, k] + 0.0 * discount, rng)",
        "Weights of the clusters that there are: Dirichlet(n_k - a).",
        f"{ROWS_ALONE}[close-0.5--0.3-2]",
    ),
    Mutation(
        "mixture-blocked-times-of-rows-drawn-again",
        BLOCKED,
        "            stream_of_number(key, 2 * block, times)\n",
        "            stream_of_number(key, 2 * block + 1, times)\n",
        "The rows have the times by which the first ones were found.",
        f"{ROWS_ALONE}[close-0.5--0.3-3]",
    ),
    Mutation(
        "mixture-blocked-rows-join-whatever-their-time",
        BLOCKED,
        "        logs[k] = weight if firsts[k] < time else 0.0\n",
        "        logs[k] = weight\n",
        "A row may only join clusters whose first rows come before it, or these are first no more.",
        ROWS,
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
        "mixture-labels-drawn-given-parameters",
        BLOCKED,
        " or is_pinned(i, pinned)):\n",
        "):\n",
        "A labeled row stays in the cluster of its label.",
        f"{LABELS}::test_partitions[blocked]",
    ),
    Mutation(
        "mixture-labels-left-by-a-row",
        BLOCKED,
        "                if sizes[labels[i]] > 1.5 and not is_pinned(i, pinned):\n",
        "                if sizes[labels[i]] > 1.5:\n",
        "A labeled row would open a cluster on its own.",
        f"{LABELS}::test_partitions[stir]",
    ),
    Mutation(
        "mixture-labels-joined-by-a-singleton",
        BLOCKED,
        " and n_clusters > 1 and not is_pinned(row_sums[k], pinned):\n",
        " and n_clusters > 1:\n",
        "The only row of a label would join the cluster of another.",
        f"{LABELS}::test_partitions[stir]",
    ),
]
