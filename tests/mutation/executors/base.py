"""Wrong patches of what executors do."""

from mutation.mutation import Mutation

TESTS = "tests/unit/executors/test_local.py"

BASE = "_executors/_base.py"

MUTATIONS = [
    Mutation(
        "executors-plain-sum",
        BASE,
        "_FAN = 8",
        "_FAN = 20",
        "The tree is part of the result.",
        f"{TESTS}::test_four_verbs[1]",
    ),
    Mutation(
        "executors-last-change-forgotten",
        BASE,
        "for value in values[1:]:",
        "for value in values[1:-1]:",
        "All changes count.",
        f"{TESTS}::test_four_verbs[1]",
    ),
]
