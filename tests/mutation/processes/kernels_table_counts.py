"""Wrong patches of the kernels of table counts."""

from mutation.mutation import Mutation

PROCESSES = "tests/exact/processes"
TABLE_COUNTS = "processes/_kernels_table_counts.py"

MUTATIONS = [
    Mutation(
        "table-counts-special-rule",
        TABLE_COUNTS,
        "                if t > 1:\n                    share *=",
        "                if t > 0:\n                    share *=",
        "Erratum 3: the rule that keeps a dish's last table, without the weight that belongs to "
        "it (after 3.10, algorithm 3).",
        f"{PROCESSES}/test_table_counts.py::test_table_counts[discount-btigs]",
    ),
]
