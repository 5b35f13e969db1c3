"""Wrong patches of the expected number of tables."""

from mutation.mutation import Mutation

TABLES = "processes/_expected_tables.py"
TESTS = "tests/exact/processes/test_expected_tables.py"

MUTATIONS = [
    Mutation(
        "expected-tables-first-shifted",
        TABLES,
        "_log1p_ratio(a, c + (i - a))",
        "_log1p_ratio(a, c + (i - 1.0))",
        "The second customer meets b + 1 = c + 1 - a.",
        f"{TESTS}::test_moments_by_all_seatings[2-0.5-1.0]",
    ),
    Mutation(
        "expected-tables-of-b",
        TABLES,
        "    return c * (np.expm1(a * growth) / a if a > 0.0 else growth)",
        "    return (c - a) * (np.expm1(a * growth) / a if a > 0.0 else growth)",
        "Tables besides the first have the factor b + a, not b.",
        f"{TESTS}::test_moments_by_all_seatings[3-0.9-5.0]",
    ),
    Mutation(
        "expected-tables-series-begins-later",
        TABLES,
        "    x, y = c + (17.0 - a), c + (last - a)",
        "    x, y = c + (18.0 - a), c + (last - a)",
        "The series takes over from the 17th customer.",
        f"{TESTS}::test_expected_table_count_matches_enumeration[0.5-1.0]",
    ),
    Mutation(
        "concentration-for-tables-few-halvings",
        TABLES,
        "_N_HALVINGS = 70",
        "_N_HALVINGS = 20",
        "The concentration is found to its last digits.",
        f"{TESTS}::test_concentration_is_the_one_that_seatings_have[4-0.0-20.0]",
    ),
]
