"""Wrong patches of n-grams."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
ANY = "tests/exact/language/test_any_order.py"
SAME = f"{ANY}::test_same_as_an_order_that_no_context_reaches[discounts0-False]"
TRIE = "language/_ngram/_trie.py"
KERNELS = "language/_ngram/_kernels_trie.py"

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
        KERNELS,
        "                x = cell_above[x]\n            share *= backoff[u]",
        "                x = cell_above[x]\n                share *= backoff[u]",
        "A context that was seen with other words takes its share from the shorter one's.",
        f"{LM}::test_probabilities_given_samples[trigrams]",
    ),
    Mutation(
        "ngram-leaf-keeps-nothing",
        KERNELS,
        "                p = 1.0 - share",
        "                p = 0.0",
        "Contexts in the text keep what they do not leave for the word that followed.",
        SAME,
    ),
    Mutation(
        "ngram-text-ends-with-the-trie",
        KERNELS,
        "            tails[i] = match_text(symbols, slots[i], m, text, leaf[u], begin)",
        "            tails[i] = 1",
        "Contexts in the text are as long as they agree with what is before the event.",
        SAME,
    ),
    Mutation(
        "ngram-chain-of-one-law",
        KERNELS,
        "        share *= chain[depth]",
        "        share *= chain[last]",
        "Each length of contexts has its own law, up to the last.",
        SAME,
    ),
    Mutation(
        "ngram-draws-pass-the-text",
        "language/_ngram/_kernels_draws.py",
        "            if next_double(rng) >= chain_backoff(chain, m, n):",
        "            if next_double(rng) >= 1.0:",
        "Draws come from contexts in the text, too.",
        f"{ANY}::test_draws",
    ),
    Mutation(
        "ngram-full-sequences-are-cut",
        "language/_ngram/_draws.py",
        "ended[i] = ends and length <= max_length",
        "ended[i] = ends and length < max_length",
        "A sequence of max_length words may be whole.",
        "tests/common/test_bad_inputs_of_language.py::test_samples",
    ),
]
