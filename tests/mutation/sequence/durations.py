"""Wrong patches of durations."""

from mutation.mutation import Mutation

DURATION_TESTS = "tests/exact/sequence/durations/test_durations.py"

DURATIONS = "sequence/_durations/_kernels.py"

MUTATIONS = [
    Mutation(
        "durations-last-one-complete",
        DURATIONS,
        "            if is_last or d == longest:",
        "            if d == longest:",
        "Of the last segment of a sequence is known that it lasted so long or longer.",
        f"{DURATION_TESTS}::test_parameters_given_states[9-poisson_case]",
    ),
    Mutation(
        "durations-longest-one-complete",
        DURATIONS,
        "            if is_last or d == longest:",
        "            if is_last:",
        "A segment of D_max steps was cut off there.",
        f"{DURATION_TESTS}::test_parameters_given_states[4-poisson_case]",
    ),
    Mutation(
        "durations-one-phase",
        DURATIONS,
        "b + n_phases * counts[j], rng)",
        "b + counts[j], rng)",
        "Every segment ends all of its phases.",
        f"{DURATION_TESTS}::test_parameters_given_states[9-negative_binomial_case]",
    ),
    Mutation(
        "durations-longest-one-cut-off",
        DURATIONS,
        "    log_pmf[last] = log_survival[last]\n",
        "    log_pmf[last] = -math.inf\n",
        "P(D = D_max) is the probability of all that is longer.",
        f"{DURATION_TESTS}::test_tables[4-poisson_case]",
    ),
]
