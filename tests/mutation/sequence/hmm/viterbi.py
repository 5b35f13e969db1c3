"""Wrong patches of most probable paths."""

from mutation.mutation import Mutation

VITERBI_TESTS = "tests/exact/sequence/hmm/test_viterbi.py"

MUTATIONS = [
    Mutation(
        "viterbi-ring",
        "sequence/_hmm/_viterbi.py",
        "[np.arange(longest, 0, -1), np.arange(longest, 1, -1)]",
        "[np.arange(longest, 0, -1), np.arange(1, longest)]",
        "Beyond the newest row of a ring are the longest segments.",
        f"{VITERBI_TESTS}::test_random_segments",
    ),
]
