"""Wrong patches: student t, model."""

from mutation.mutation import Mutation

STUDENT_T_MODEL = "emissions/_student_t/_model.py"
STUDENT_T_TESTS = "tests/exact/emissions/test_student_t.py"

MUTATIONS = [
    Mutation(
        "outliers-mean-as-if-known",
        STUDENT_T_MODEL,
        "spread = np.exp(-nodes.logs) + 1.0 / precisions[:, np.newaxis]\n            known",
        "spread = np.exp(-nodes.logs) + 0.0 / precisions[:, np.newaxis]\n            known",
        "The location of a state is known from its steps only.",
        f"{STUDENT_T_TESTS}::test_predictive_given_weights[3.0-full]",
    ),
    Mutation(
        "outliers-coarse-polynomials",
        STUDENT_T_MODEL,
        "np.ascontiguousarray(coefficients.T.reshape(at_points.shape))",
        "np.ascontiguousarray(coefficients.T.reshape(at_points.shape) * (np.arange(12) < 6))",
        "Polynomials are as exact as sums over nodes.",
        f"{STUDENT_T_TESTS}::test_many_rows_at_once[3.0-full]",
    ),
    Mutation(
        "gap-draws-without-the-observed-weight",
        "emissions/_student_t/_model.py",
        "            logs -= exponents[:, np.newaxis] * np.log1p(distances[:, np.newaxis]"
        " / spread[k])\n",
        "            logs -= exponents[:, np.newaxis]\n",
        "A row that is far out probably has a small weight.",
        "tests/exact/mixture/test_gap_densities.py::test_draws_of_missing_columns[student_t]",
    ),
]
