"""Wrong patches of HTML displays of estimators."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "result-line-unescaped",
        "_sklearn_compat.py",
        "_RESULT.format(html.escape(line))",
        "_RESULT.format(line)",
        "A line of another package can hold markup.",
        "tests/unit/test_result_line.py::test_odd_estimators_have_the_display_of_scikit_learn",
    ),
]
