"""Wrong patches of distributions that interpolate restaurants."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "backoff-rootless-distributions",
        "processes/_interpolated.py",
        "        if not self.context_index.has_root:\n            return self.base\n",
        "",
        "Without a root the first restaurant is one of many, and not above the others.",
        "tests/exact/context/test_hdp_backoff_classifier.py"
        "::test_probabilities_given_samples[level-two levels-False]",
    ),
]
