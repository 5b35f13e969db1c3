"""Wrong patches of the most probable paths."""

from mutation.mutation import Mutation

KERNELS = "sequence/_hmm/_kernels_viterbi.py"
TESTS = "tests/exact/sequence/hmm/test_viterbi.py"

MUTATIONS = [
    Mutation(
        "viterbi-tail-of-the-matrix",
        KERNELS,
        "    for i in range(whole, n):\n        a = vector[i]",
        "    for i in range(whole, n - 1):\n        a = vector[i]",
        "The rows beyond the last whole block of eight.",
        f"{TESTS}::test_long_sequence",
    ),
    Mutation(
        "viterbi-last-of-ties",
        KERNELS,
        "        if x > largest:\n            place, largest = i, x",
        "        if x >= largest:\n            place, largest = i, x",
        "The lowest of equally good states counts.",
        f"{TESTS}::test_order_of_ties",
    ),
    Mutation(
        "viterbi-greedy",
        KERNELS,
        "            state = find_best_previous(own_best[t], log_into[state])",
        "            state = find_first_largest(own_best[t])",
        "The best state of a step need not be on the best path.",
        f"{TESTS}::test_random_models",
    ),
    Mutation(
        "viterbi-wrong-way",
        KERNELS,
        "            state = find_best_previous(own_best[t], log_into[state])",
        "            state = find_best_previous(own_best[t], log_from[state])",
        "Rows of the transposed matrix go into a state.",
        f"{TESTS}::test_path[left to right]",
    ),
    Mutation(
        "viterbi-last-segment-is-whole",
        KERNELS,
        "            log_last[j] = find_best_duration(own_enter, own_obs, t, j, log_survival)[1]",
        "            log_last[j] = find_best_duration(own_enter, own_obs, t, j, log_pmf)[1]",
        "The end of a sequence cuts off its last segment.",
        f"{TESTS}::test_segments[plain]",
    ),
    Mutation(
        "viterbi-observations-of-few-segments",
        KERNELS,
        "            entries[k, j] += obs[j]",
        "            entries[k, j] += 0.0",
        "Every segment under way has to explain the step.",
        f"{TESTS}::test_random_segments",
    ),
    Mutation(
        "viterbi-ring",
        "sequence/_hmm/_viterbi.py",
        "[np.arange(longest, 0, -1), np.arange(longest, 1, -1)]",
        "[np.arange(longest, 0, -1), np.arange(1, longest)]",
        "Beyond the newest row of a ring are the longest segments.",
        f"{TESTS}::test_random_segments",
    ),
]
