"""Wrong patches: moves of large clusters (mixture)."""

from mutation.mutation import Mutation

LABELS = "tests/exact/mixture/test_labels.py"
PARTITIONS = "tests/exact/mixture/test_partitions.py"
LARGE = "mixture/_kernels_large_moves.py"
MOVES_OF_FEW = f"{PARTITIONS}::test_partitions_of_few_clusters[large]"
MOVES = f"{PARTITIONS}::test_partitions[full-large]"

MUTATIONS = [
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
    Mutation(
        "mixture-large-split-without-its-choice",
        LARGE,
        "        log_ratio -= log_choice_of_split(n_rows, n_clusters, sizes[first])\n",
        "",
        "A split divides by the probability of its two first rows.",
        MOVES_OF_FEW,
    ),
    Mutation(
        "mixture-large-merge-way-back-of-one-cluster-more",
        LARGE,
        "log_choice_of_split(n_rows, n_merged, sizes[first] + sizes[second])",
        "log_choice_of_split(n_rows, n_clusters, sizes[first] + sizes[second])",
        "The way back begins with one cluster less: alone, it is always split.",
        MOVES_OF_FEW,
    ),
    Mutation(
        "mixture-labels-merged-by-a-large-move",
        LARGE,
        "                possible &= (place >= size) == side\n",
        "                possible &= True\n",
        "A merge would join two labels.",
        f"{LABELS}::test_partitions[large]",
    ),
    Mutation(
        "mixture-labels-choose-sides",
        LARGE,
        "        elif is_pinned(row, pinned):\n",
        "        elif row < 0:\n",
        "Rows with one label would choose different sides.",
        f"{LABELS}::test_partitions[large]",
    ),
]
