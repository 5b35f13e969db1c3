"""Wrong patches of summaries of tables."""

from mutation.mutation import Mutation

TABLES = "tests/exact/mixture/test_tables.py"

MUTATIONS = [
    Mutation(
        "tables-tree-unions-without-the-distance",
        "mixture/_table_summary.py",
        "scatters + self.numbers[a] * share * apart**2",
        "scatters + 0.0 * share * apart**2",
        "The scatter of a union includes the distance of the means.",
        f"{TABLES}::test_merges[cells]",
    ),
]
