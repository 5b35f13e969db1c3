"""Wrong patches: columns that are constant in the data of a fit."""

from mutation.mutation import Mutation

CONSTANTS = "emissions/_constant_columns.py"
TESTS = "tests/unit/emissions/test_constant_columns.py"

MUTATIONS = [
    Mutation(
        "constant-columns-by-their-bits",
        CONSTANTS,
        "highs - lows <= ROUNDING * sizes",
        "highs == lows",
        "A column that varies by rounding only is constant.",
        f"{TESTS}::TestConstantColumns::test_what_is_constant",
    ),
    Mutation(
        "constant-columns-of-unit-scale",
        CONSTANTS,
        "SCALE_RATIO = (FREEDOM - 2.0) / FREEDOM",
        "SCALE_RATIO = 1.0",
        "The variance of a Student t distribution is larger than its squared scale.",
        f"{TESTS}::TestConstantColumns::test_distribution[False]",
    ),
    Mutation(
        "missing-values-of-constant-columns-have-a-density",
        CONSTANTS,
        "np.where(np.isnan(values[:, [d]]), 0.0, logs)",
        "np.nan_to_num(logs, nan=-1.0)",
        "A missing value has the density 1.",
        f"{TESTS}::test_mixtures[diag-DPMixture]",
    ),
]
