"""Wrong patches: moves that split, merge and trade (mixture)."""

from mutation.mutation import Mutation

LABELS = "tests/exact/mixture/test_labels.py"
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
    Mutation(
        "mixture-labels-split-between-two-rows-of-one",
        SECTIONS,
        "    possible = move == TRADE or not (i_is_pinned and side)\n",
        "    possible = True or i_is_pinned\n",
        "A split would separate two rows with the same label.",
        f"{LABELS}::test_partitions[split-merge]",
    ),
    Mutation(
        "mixture-labels-merged",
        SECTIONS,
        "            possible &= goal[place] == side\n",
        "            possible &= True\n",
        "A merge would join two labels.",
        f"{LABELS}::test_partitions[split-merge]",
    ),
    Mutation(
        "mixture-labels-merged-by-a-move-without-reverse",
        SECTIONS,
        "            possible &= goal[place] == side\n",
        "            possible &= goal[place] == side or not side\n",
        "No split puts the label on the side of a second row that does not have it.",
        f"{LABELS}::test_partitions_of_one_label[split-merge]",
    ),
    Mutation(
        "mixture-labels-drawn-in-passes",
        SECTIONS,
        "    return move, i, first, second, n_free, n, n_passes\n",
        "    return move, i, first, second, n - 2, n, n_passes\n",
        "Passes would draw the sides of labeled rows one by one.",
        f"{LABELS}::test_partitions[split-merge]",
    ),
    Mutation(
        "mixture-labels-always-with-the-first-row",
        SECTIONS,
        "        sides[place] = is_pinned(members[n - 1], pinned)\n",
        "        sides[place] = 0\n",
        "The second row has the label, and the others with the label go with it.",
        f"{LABELS}::test_partitions[split-merge]",
    ),
    Mutation(
        "mixture-labels-change-sides-in-a-trade",
        SECTIONS,
        "        copy_sides(n - n_free, sides[1][n_free:], sides[0][n_free:])\n",
        "        settle_pinned(n_free, n, members[0], pinned, sides[0])\n",
        "In a trade both clusters can have a label, and each keeps its own.",
        f"{LABELS}::test_trades_of_two_labels",
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
