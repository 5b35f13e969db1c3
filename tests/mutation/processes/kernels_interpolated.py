"""Wrong patches of the kernels that interpolate restaurants."""

from mutation.mutation import Mutation

BACKOFF = "tests/exact/context/test_hdp_backoff_classifier.py"

MUTATIONS = [
    Mutation(
        "interpolated-backoff",
        "processes/_kernels_interpolated.py",
        "            p *= backoff[u]",
        "            p *= backoff[u] if cells[i, m] >= 0 else 1.0",
        "A context that was seen with other words takes its share from the shorter one's.",
        f"{BACKOFF}::test_probabilities_given_samples[level-two levels-False]",
    ),
]
