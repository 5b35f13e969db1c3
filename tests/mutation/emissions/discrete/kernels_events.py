"""Wrong patches: discrete, kernels events."""

from mutation.mutation import Mutation

EVENTS = "emissions/_discrete/_kernels_events.py"
BIT_TESTS = "tests/exact/emissions/test_bernoulli.py"
BAG_TESTS = "tests/exact/emissions/test_multinomial.py"

MUTATIONS = [
    Mutation(
        "bits-rest-left-out",
        EVENTS,
        "        for d in range(rest, n_columns):\n            a = places[t, d]",
        "        for d in range(rest, n_columns - 1):\n            a = places[t, d]",
        "The last one to three columns count, too.",
        f"{BIT_TESTS}::test_log_probabilities[5]",
    ),
    Mutation(
        "bits-four-at-a-time",
        EVENTS,
        "+ (rows[c, j] + rows[e, j])",
        "+ (rows[c, j] + rows[c, j])",
        "Each of four columns has its own row.",
        f"{BIT_TESTS}::test_log_probabilities[4]",
    ),
    Mutation(
        "bits-prior-swapped",
        EVENTS,
        "of_one + counts[2 * d + 1, j], of_zero + counts[2 * d, j]",
        "of_zero + counts[2 * d + 1, j], of_one + counts[2 * d, j]",
        "p belongs to 1, q to 0.",
        f"{BIT_TESTS}::test_posterior",
    ),
    Mutation(
        "events-counted-once",
        EVENTS,
        "counts[kinds[i], j] += int(amounts[i])",
        "counts[kinds[i], j] += 1",
        "A kind may happen several times in a step.",
        f"{BAG_TESTS}::test_evidence",
    ),
    Mutation(
        "events-without-amounts",
        EVENTS,
        "log_obs[t, j] += amount * log_probs[v, j]",
        "log_obs[t, j] += log_probs[v, j]",
        "Each event multiplies the probability.",
        f"{BAG_TESTS}::test_log_probabilities",
    ),
]
