"""Wrong patches: discrete, bernoulli."""

from mutation.mutation import Mutation

BERNOULLI = "emissions/_discrete/_bernoulli.py"
BIT_TESTS = "tests/exact/emissions/test_bernoulli.py"

MUTATIONS = [
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
