"""Wrong patches of the line of result."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "result-line-last-chain",
        "_result_line.py",
        "values.mean(axis=1).max()",
        "values.mean()",
        "The results are those of the best chain.",
        "tests/unit/test_result_line.py::test_lines",
    ),
]
