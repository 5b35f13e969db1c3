"""Wrong patches: known labels of rows (mixture)."""

from mutation.mutation import Mutation

EXACT = "tests/exact/mixture/test_labels.py"
UNIT = "tests/unit/mixture/test_labels.py"
MOVES = "mixture/_kernels_moves.py"
LARGE = "mixture/_kernels_large_moves.py"
BLOCKED = "mixture/_kernels_blocked.py"
SPLIT_MERGE = f"{EXACT}::test_partitions[split-merge]"

MUTATIONS = [
    Mutation(
        "mixture-labels-split-between-two-rows-of-one",
        MOVES,
        "    possible = move == TRADE or not (i_is_pinned and side)\n",
        "    possible = True or i_is_pinned\n",
        "A split would separate two rows with the same label.",
        SPLIT_MERGE,
    ),
    Mutation(
        "mixture-labels-merged",
        MOVES,
        "            possible &= goal[place] == side\n",
        "            possible &= True\n",
        "A merge would join two labels.",
        SPLIT_MERGE,
    ),
    Mutation(
        "mixture-labels-merged-by-a-move-without-reverse",
        MOVES,
        "            possible &= goal[place] == side\n",
        "            possible &= goal[place] == side or not side\n",
        "No split puts the label on the side of a second row that does not have it.",
        f"{EXACT}::test_partitions_of_one_label[split-merge]",
    ),
    Mutation(
        "mixture-labels-drawn-in-passes",
        MOVES,
        "    return move, i, first, second, n_free, n, n_passes\n",
        "    return move, i, first, second, n - 2, n, n_passes\n",
        "Passes would draw the sides of labeled rows one by one.",
        SPLIT_MERGE,
    ),
    Mutation(
        "mixture-labels-always-with-the-first-row",
        MOVES,
        "        sides[place] = is_pinned(members[n - 1], pinned)\n",
        "        sides[place] = 0\n",
        "The second row has the label, and the others with the label go with it.",
        SPLIT_MERGE,
    ),
    Mutation(
        "mixture-labels-change-sides-in-a-trade",
        MOVES,
        "        copy_sides(n - n_free, sides[1][n_free:], sides[0][n_free:])\n",
        "        settle_pinned(n_free, n, members[0], pinned, sides[0])\n",
        "In a trade both clusters can have a label, and each keeps its own.",
        f"{EXACT}::test_trades_of_two_labels",
    ),
    Mutation(
        "mixture-labels-merged-by-a-large-move",
        LARGE,
        "                possible &= (place >= size) == side\n",
        "                possible &= True\n",
        "A merge would join two labels.",
        f"{EXACT}::test_partitions[large]",
    ),
    Mutation(
        "mixture-labels-choose-sides",
        LARGE,
        "        elif is_pinned(row, pinned):\n",
        "        elif row < 0:\n",
        "Rows with one label would choose different sides.",
        f"{EXACT}::test_partitions[large]",
    ),
    Mutation(
        "mixture-labels-drawn-given-parameters",
        BLOCKED,
        " or is_pinned(i, pinned)):\n",
        "):\n",
        "A labeled row stays in the cluster of its label.",
        f"{EXACT}::test_partitions[blocked]",
    ),
    Mutation(
        "mixture-labels-left-by-a-row",
        BLOCKED,
        "                if sizes[labels[i]] > 1.5 and not is_pinned(i, pinned):\n",
        "                if sizes[labels[i]] > 1.5:\n",
        "A labeled row would open a cluster on its own.",
        f"{EXACT}::test_partitions[stir]",
    ),
    Mutation(
        "mixture-labels-joined-by-a-singleton",
        BLOCKED,
        " and n_clusters > 1 and not is_pinned(row_sums[k], pinned):\n",
        " and n_clusters > 1:\n",
        "The only row of a label would join the cluster of another.",
        f"{EXACT}::test_partitions[stir]",
    ),
    Mutation(
        "hdp-mixture-labels-drawn-in-passes",
        "mixture/_hdp/_kernels_moves.py",
        "            kind, n_free, n, members, sides,",
        "            kind, n - 2, n, members, sides,",
        "Passes would draw the sides of labeled rows one by one.",
        "tests/exact/mixture/test_grouped_partitions.py::test_partitions_with_labels[split-merge]",
    ),
    Mutation(
        "mixture-labels-drawn-in-sweeps",
        "mixture/_cluster_sampler.py",
        "        self._seat(self._free, self.stream)\n        if self.split_merge",
        "        self._seat(self._order, self.stream)\n        if self.split_merge",
        "Sweeps leave labeled rows where they are.",
        f"{EXACT}::test_partitions_of_one_label[both]",
    ),
    Mutation(
        "mixture-labels-forgotten-by-k-means",
        "mixture/_cluster_sampler.py",
        "            labels = restrict_partition(labels, self.known)\n",
        "",
        "A start may not contradict the labels: no sweep would move their rows.",
        f"{UNIT}::test_labels_overrule_the_start_of_few_rows",
    ),
    Mutation(
        "mixture-labels-predicted-by-index",
        "mixture/_row_mixture.py",
        "np.asarray(self.component_labels_[np.argmax(self._log_proba(X), axis=1)])",
        "np.asarray(np.argmax(self._log_proba(X), axis=1))",
        "Predictions are the user's labels.",
        f"{UNIT}::test_components_have_the_numbers_of_labels[collapsed]",
    ),
    Mutation(
        "mixture-labels-merged-by-the-point-estimate",
        "mixture/_partition.py",
        "            has_label[labels[n_free:]] = True\n",
        "",
        "Clusters of different labels are not merged, even if that lowers the loss.",
        f"{UNIT}::test_the_representative_partition_keeps_to_the_labels[vi]",
    ),
    Mutation(
        "mixture-labels-moved-by-the-point-estimate",
        "mixture/_partition.py",
        "        end = min(begin + step, n_free)\n",
        "        end = min(begin + step, len(labels))\n",
        "Labeled rows stay together, even if a move of one lowers the loss.",
        f"{UNIT}::test_the_representative_partition_keeps_to_the_labels[vi]",
    ),
]
