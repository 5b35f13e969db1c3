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
    Mutation(
        "mixed-inputs-count-as-observed",
        INDEPENDENT_MODEL,
        "block.columns if own is None else block.columns[own]",
        "block.columns",
        "Steps that have only inputs do not count in scores.",
        "tests/unit/emissions/test_regression.py::TestEstimator::"
        "test_parts_without_targets_do_not_count[normal]",
    ),
]
