"""Wrong patches: blocked sweeps, clusters of single rows and moves of large clusters (mixture)."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
BLOCKED = "mixture/_kernels_blocked.py"
LARGE = "mixture/_kernels_large_moves.py"
DRAWS = "emissions/_kernels_cluster_draws.py"
STIR = f"{PARTITIONS}::test_partitions[full-stir]"
ROWS = f"{PARTITIONS}::test_partitions[full-blocked]"
ROWS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-blocked]"
MOVES = f"{PARTITIONS}::test_partitions[full-large]"
MOVES_OF_FEW = f"{PARTITIONS}::test_partitions[full-large-of-few]"

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
        "mixture-blocked-weights-without-the-discount",
        BLOCKED,
        "draw_log_gamma(clusters.vectors[SIZE, k] - discount, rng)",
        "draw_log_gamma(clusters.vectors[SIZE, k], rng)",
        "Weights given the partition are Dirichlet(n_k - a).",
        ROWS,
    ),
    Mutation(
        "mixture-blocked-degrees-of-freedom",
        DRAWS,
        "0.5 * (dof - (width - 1 - r))",
        "0.5 * dof",
        "Degrees of freedom rise along the diagonal of Bartlett's matrix.",
        ROWS,
    ),
    Mutation(
        "mixture-blocked-mean-of-no-spread",
        DRAWS,
        "offset = draw_normal(rng) * error",
        "offset = 0.0 * draw_normal(rng) * error",
        "The mean is drawn, too.",
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
        MOVES,
    ),
    Mutation(
        "mixture-large-merge-without-its-way-back",
        LARGE,
        "        log_ratio += log_way\n",
        "        log_ratio += 0.0 * log_way\n",
        "A merge multiplies by the probability of the way back.",
        MOVES,
    ),
    Mutation(
        "mixture-large-moves-go-on-by-where-rows-are",
        LARGE,
        "if gain < 0.0 and",
        "if gain < 0.0 and is_merge and",
        "Whether a move goes on has the same probability for a split and for its merge.",
        MOVES_OF_FEW,
    ),
    Mutation(
        "mixture-large-first-rows-choose",
        LARGE,
        "        if row in (i, j):\n            side = int(row == j)\n        else:\n",
        "        if True:\n",
        "The two first rows are on their sides for certain.",
        MOVES,
    ),
]
