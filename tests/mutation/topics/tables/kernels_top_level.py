"""Wrong patches of the top level of table models."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_open_segmented.py"
KERNELS = "topics/_tables/_kernels_top_level.py"
WORDS = f"{EXACT}::test_two_documents[btigs]"

MUTATIONS = [
    Mutation(
        "open-one-new-topic",
        KERNELS,
        "    while rest > least:\n",
        "    while rest > least and n == 0:\n",
        "All topics above the threshold take part.",
        f"{EXACT}::test_any_threshold_will_do[0.001]",
    ),
    Mutation(
        "open-rest-in-one-piece",
        KERNELS,
        "        weight, rest = break_weight(rest, gamma, rng)\n",
        "        weight, rest = rest, 0.0\n",
        "The weight of topics without words is broken into sticks.",
        WORDS,
    ),
    Mutation(
        "open-documents-open-one-table-for-a-topic",
        KERNELS,
        "                drawn = draw_table_count(served[d, k], prior[k], rng)\n",
        "                drawn = 1\n",
        "How many tables a document opens for a topic is drawn.",
        WORDS,
    ),
]
