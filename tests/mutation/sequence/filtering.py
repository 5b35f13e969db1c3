"""Wrong patches of states given the past."""

from mutation.mutation import Mutation

AGES = "sequence/_hmm/_kernels_ages.py"
TESTS = "tests/exact/sequence/hmm/test_filtered.py"

MUTATIONS = [
    Mutation(
        "filtering-likelihood-of-later-steps",
        AGES,
        "        begin = t - d\n",
        "        begin = t - d + 1 if d > 0 else t\n",
        "The d-th step of a segment is d - 1 steps after its first.",
        f"{TESTS}::test_ages[plain]",
    ),
    Mutation(
        "filtering-without-survival",
        AGES,
        "likelihoods[j] + survival_logs[d, j])",
        "likelihoods[j])",
        "A segment may have ended before it was so old.",
        f"{TESTS}::test_filtered_segments[plain]",
    ),
    Mutation(
        "filtering-logs-as-they-are",
        "sequence/_hmm/_messages.py",
        "            out[self.ptr[first] : self.ptr[first + 1]] = np.exp(logs)",
        "            out[self.ptr[first] : self.ptr[first + 1]] = np.abs(logs)",
        "Sequences that take logarithms give logarithms.",
        f"{TESTS}::test_filtered[left to right, late]",
    ),
]
