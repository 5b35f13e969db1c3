"""Wrong patches: regression, columns."""

from mutation.mutation import Mutation

COLUMNS = "emissions/_regression/_columns.py"
UNIT = "tests/unit/emissions/test_regression.py"

MUTATIONS = [
    Mutation(
        "regressors-in-other-units",
        COLUMNS,
        "solved = solve_triangular(root, rows.T, lower=True, check_finite=False)",
        "solved = root @ rows.T",
        "Regressors have coefficients of variance 1 under the prior.",
        "tests/exact/emissions/test_regression.py::test_log_evidence[size1]",
    ),
]
