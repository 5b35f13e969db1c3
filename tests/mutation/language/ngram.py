"""Wrong patches of n-grams."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
TRIE = "language/_ngram/_trie.py"
PROBABILITIES = f"{LM}::test_probabilities_given_samples[trigrams]"
INTERPOLATED = "processes/_kernels_interpolated.py"
WALKER = "processes/_franchise_walker.py"

MUTATIONS = [
    Mutation(
        "ngram-padding",
        TRIE,
        "                longer = events.positions[deep] >= m",
        "                longer = events.positions[deep] > m",
        "The first word has one symbol before it, the beginning.",
        f"{LM}::test_tables[bigrams]",
    ),
    Mutation(
        "ngram-backoff",
        INTERPOLATED,
        "            p *= backoff[u]",
        "            p *= backoff[u] if cells[i, m] >= 0 else 1.0",
        "A context that was seen with other words takes its share from the shorter one's.",
        PROBABILITIES,
    ),
    Mutation(
        "ngram-mass",
        WALKER,
        "        mass = franchise.customers - self.discount[depth] * franchise.tables",
        "        mass = franchise.customers - self.discount[depth]",
        "Each table of a cell pays the discount.",
        f"{LM}::test_probabilities_given_samples[one often]",
    ),
]
