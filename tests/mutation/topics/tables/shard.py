"""Wrong patches of the sweep of a shard."""

from mutation.mutation import Mutation

SHARD = "topics/_tables/_shard.py"
FEW = "tests/exact/topics/test_open_segmented.py::test_any_threshold_will_do[0.6]"

MUTATIONS = [
    Mutation(
        "open-documents-of-light-topics-move",
        SHARD,
        "        left_out = served[:, light].any(axis=1)\n",
        "        left_out = np.zeros(len(served), dtype=bool)\n",
        "A document with a word of a topic that takes no part stays as it is.",
        FEW,
    ),
]
