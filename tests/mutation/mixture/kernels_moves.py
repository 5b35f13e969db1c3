"""Wrong patches: moves that split, merge and trade (mixture)."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
SECTIONS = "mixture/_kernels_moves.py"
MOVES = f"{PARTITIONS}::test_partitions[full-split-merge]"
PAIRS = f"{PARTITIONS}::test_partitions_of_pairs[split-merge]"

MUTATIONS = [
    Mutation(
        "mixture-split-way-forgotten",
        SECTIONS,
        "discount) - log_way\n",
        "discount)\n",
        "A split divides by the probability of its allocation, a merge multiplies.",
        MOVES,
    ),
    Mutation(
        "mixture-split-weight-of-a-cluster-too-many",
        SECTIONS,
        "discount * (n_clusters - (move == MERGE))",
        "discount * n_clusters",
        "A merge goes back to K - 1 clusters: b + a (K - 1).",
        MOVES,
    ),
    Mutation(
        "mixture-split-prior-of-sizes",
        SECTIONS,
        "    log_prior = math.lgamma(size - discount) - math.lgamma(1.0 - discount)\n",
        "    log_prior = 0.0 * size\n",
        "The prior of a partition has the sizes of its clusters.",
        MOVES,
    ),
    Mutation(
        "mixture-merge-draws-its-way-back",
        SECTIONS,
        "        goal[place] = labels[members[place]] != first\n",
        "        goal[place] = place % 2\n",
        "The way back of a merge leads to the two clusters that there are.",
        PAIRS,
    ),
    Mutation(
        "mixture-moves-begin-where-rows-are",
        SECTIONS,
        "    n_passes = FEW_PASSES if",
        "    copy_sides(n, sides[1], sides[0])\n    n_passes = FEW_PASSES if",
        "Where passes begin may not depend on the sides of the rows: no split would lead there.",
        PAIRS,
    ),
    Mutation(
        "mixture-trade-way-back-forgotten",
        SECTIONS,
        "log_pair - log_pair_before + log_way_back - log_way\n",
        "log_pair - log_pair_before\n",
        "A trade is weighed by the probabilities of both ways.",
        MOVES,
    ),
    Mutation(
        "mixture-move-choice-of-rows",
        SECTIONS,
        "    return log_choice_after - log_choice_before\n",
        "    return 0.0\n",
        "Pairs of rows of a merge and of its split are not equally probable.",
        MOVES,
    ),
    Mutation(
        "mixture-merge-partner-chance",
        SECTIONS,
        "return math.log(chance * partner_chance / second)",
        "return math.log(chance / (n_clusters - 1) / second)",
        "Partners that a row would join are preferred.",
        MOVES,
    ),
    Mutation(
        "mixture-merge-or-trade",
        SECTIONS,
        "        log_split -= LOG_TWO\n",
        "",
        "Half of the moves of two clusters are trades.",
        MOVES,
    ),
    Mutation(
        "mixture-single-rows-cannot-split",
        SECTIONS,
        "(1.0 - split_chance(n_clusters, first))",
        "0.5",
        "A row alone is never split, so its merges are twice as probable.",
        MOVES,
    ),
]

EQUIVALENTS = [
    Mutation(
        "mixture-passes-without-sizes",
        SECTIONS,
        " + math.log(second / first)\n",
        " + 0.0 * second\n",
        "Another proposal, whose probability is known: its draws are as exact.",
        MOVES,
    ),
]
