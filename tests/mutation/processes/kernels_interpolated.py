"""Wrong patches of the kernels that interpolate restaurants."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"

MUTATIONS = [
    Mutation(
        "ngram-backoff",
        "processes/_kernels_interpolated.py",
        "            p *= backoff[u]",
        "            p *= backoff[u] if cells[i, m] >= 0 else 1.0",
        "A context that was seen with other words takes its share from the shorter one's.",
        f"{LM}::test_probabilities_given_samples[trigrams]",
    ),
]
