"""Wrong patches of emissions of bits and counts of events."""

from mutation.mutation import Mutation

KERNELS = "emissions/_kernels_events.py"
BERNOULLI = "emissions/_bernoulli.py"
BIT_TESTS = "tests/exact/emissions/test_bernoulli.py"

MUTATIONS = [
    Mutation(
        "bits-rest-left-out",
        KERNELS,
        "        for d in range(rest, n_columns):\n            a = places[t, d]",
        "        for d in range(rest, n_columns - 1):\n            a = places[t, d]",
        "The last one to three columns count, too.",
        f"{BIT_TESTS}::test_log_probabilities[5]",
    ),
    Mutation(
        "bits-four-at-a-time",
        KERNELS,
        "+ (rows[c, j] + rows[e, j])",
        "+ (rows[c, j] + rows[c, j])",
        "Each of four columns has its own row.",
        f"{BIT_TESTS}::test_log_probabilities[4]",
    ),
    Mutation(
        "bits-prior-swapped",
        KERNELS,
        "of_one + counts[2 * d + 1, j], of_zero + counts[2 * d, j]",
        "of_zero + counts[2 * d + 1, j], of_one + counts[2 * d, j]",
        "p belongs to 1, q to 0.",
        f"{BIT_TESTS}::test_posterior",
    ),
    Mutation(
        "bits-missing-are-zeros",
        BERNOULLI,
        "    places[missing] = 2 * n_columns\n",
        "",
        "What is missing says nothing.",
        f"{BIT_TESTS}::test_evidence",
    ),
    Mutation(
        "bits-as-if-known",
        BERNOULLI,
        "(of_one + ones) / (of_one + of_zero + ones + zeros)",
        "(of_one + ones) / (of_one + of_zero + ones + zeros + 1.0)",
        "The predictive probability is the ratio of two evidences.",
        f"{BIT_TESTS}::test_predictive_is_a_ratio_of_evidences_and_sums_to_one",
    ),
]
