"""Wrong patches: far values."""

from mutation.mutation import Mutation

TESTS = "tests/unit/emissions/test_far_values.py"

MUTATIONS = [
    Mutation(
        "far-values-not-pulled-in",
        "emissions/_far_values.py",
        "cuts[columns] * (cuts[columns] / away[far])",
        "cuts[columns] * np.sign(away[far])",
        "The farther a value is, the less it counts.",
        f"{TESTS}::test_far_values_hardly_count[-9999.0-normal]",
    ),
    Mutation(
        "far-values-measured-by-themselves",
        "emissions/_far_values.py",
        "np.floor(_TAIL * n_others + 0.5)",
        "np.floor(0.0 * n_others + 0.5)",
        "The width is that of the middle, not from end to end.",
        f"{TESTS}::test_far_values_hardly_count[1000000.0-two levels]",
    ),
]
