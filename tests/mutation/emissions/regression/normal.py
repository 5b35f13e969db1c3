"""Wrong patches: regression, normal."""

from mutation.mutation import Mutation

NORMAL = "emissions/_regression/_normal.py"
TESTS = "tests/exact/emissions/test_regression.py"

MUTATIONS = [
    Mutation(
        "targets-missing-are-predictions",
        NORMAL,
        "        rows[np.isnan(targets).any(axis=1)] = np.nan\n        self._rows",
        "        rows[np.isnan(rows)] = 0.0\n        self._rows",
        "A step without targets has the density 1.",
        f"{TESTS}::test_log_evidence[size0]",
    ),
]
