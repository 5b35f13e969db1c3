"""Wrong patches of the draws of seatings."""

from mutation.mutation import Mutation

PARTITIONS = "processes/_partitions.py"
TESTS = "tests/exact/processes/test_partitions.py"
GOES_ON = f"{TESTS}::test_crp_goes_on_with_the_conditional_probabilities"

MUTATIONS = [
    Mutation(
        "crp-tables-are-joined-by-size",
        PARTITIONS,
        "            while a > 0.0 and draw_bernoulli(a / sizes[seat], rng):",
        "            while a > 1.0 and draw_bernoulli(a / sizes[seat], rng):",
        "A table of m customers has the weight m - a, not m.",
        f"{TESTS}::test_crp_draws_every_seating_with_its_probability[0.5-1.0]",
    ),
    Mutation(
        "crp-given-tables-do-not-count",
        PARTITIONS,
        "    _seat_all(a, b, seats, len(before), sizes, n_tables, rng)",
        "    _seat_all(a, b, seats, len(before), sizes, min(n_tables, 1), rng)",
        "All tables with customers count in b + a T, and have numbers of their own.",
        f"{GOES_ON}[21-0.5-1.0]",
    ),
    Mutation(
        "crp-given-customers-are-single",
        PARTITIONS,
        "np.concatenate([counts, np.zeros(n, dtype=np.int64)])",
        "np.concatenate([np.minimum(counts, 1), np.zeros(n, dtype=np.int64)])",
        "The discount is taken from a table once, however many sit there.",
        f"{GOES_ON}[311-0.5-1.0]",
    ),
]
