"""Wrong patches of the sweep of a shard."""

from mutation.mutation import Mutation

SHARD = "topics/_tables/_shard.py"
FEW = "tests/exact/topics/test_open_segmented.py::test_any_threshold_will_do[0.6]"

LABEL_TESTS = "tests/exact/topics/test_labels.py"

MUTATIONS = [
    Mutation(
        "open-documents-of-light-topics-move",
        SHARD,
        "        left_out = served[:, light].any(axis=1)\n",
        "        left_out = np.zeros(len(served), dtype=bool)\n",
        "A document with a word of a topic that takes no part stays as it is.",
        FEW,
    ),
    Mutation(
        "tables-of-topics-outside-labels",
        "topics/_tables/_shard.py",
        "                self.scratch.reciprocal[np.flatnonzero(~own)] = 0.0\n",
        "",
        "Topics outside the set of a document have no weight.",
        f"{LABEL_TESTS}::test_states_of_table_models[False-random]",
    ),
    Mutation(
        "topics-outside-labels-never-return",
        "topics/_tables/_shard.py",
        "                enter_words(words, self.prior.gamma, self.scratch)\n",
        "",
        "The next document may use other topics.",
        f"{LABEL_TESTS}::test_table_models[btigs-segmented]",
    ),
    Mutation(
        "labels-hold-for-neighbors",
        "topics/_tables/_shard.py",
        "[first, *changes[(first < changes) & (changes < last)].tolist(), last]",
        "[first, last]",
        "Documents next to each other may have different sets.",
        "tests/exact/topics/test_labels.py::test_states_of_table_models_with_inferred_numbers[1-both-random]",
    ),
]
