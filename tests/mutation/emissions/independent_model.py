"""Wrong patches: independent model."""

from mutation.mutation import Mutation

INDEPENDENT_MODEL = "emissions/_independent_model.py"
MIXED_TESTS = "tests/exact/emissions/test_independent.py"

MUTATIONS = [
    Mutation(
        "mixed-columns-in-order",
        INDEPENDENT_MODEL,
        "            out[:, columns] = block",
        "            out[:, np.sort(columns)] = block",
        "Columns of a part may be in any order.",
        f"{MIXED_TESTS}::test_quantiles_of_mixtures[0]",
    ),
]
