"""Wrong patches of n-grams."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
TRIE = "language/_ngram/_trie.py"

MUTATIONS = [
    Mutation(
        "ngram-padding",
        TRIE,
        "                longer = events.positions[deep] >= m",
        "                longer = events.positions[deep] > m",
        "The first word has one symbol before it, the beginning.",
        f"{LM}::test_tables[bigrams]",
    ),
]
