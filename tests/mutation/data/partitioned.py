"""Wrong patches of data sets in partitions."""

from mutation.mutation import Mutation

TESTS = "tests/unit/data/test_partitioned.py"

PARTITIONED = "data/_partitioned.py"

MUTATIONS = [
    Mutation(
        "partitioned-empty-runs",
        PARTITIONED,
        "bounds.append(min(max(int(cut), bounds[-1] + 1), last))",
        "bounds.append(min(int(cut), last))",
        "A large document would leave a partition without any.",
        f"{TESTS}::TestAllKinds::test_partitions_are_the_whole[corpus]",
    ),
    Mutation(
        "partitioned-cuts-before-the-document",
        PARTITIONED,
        'side="left") + 1',
        'side="left")',
        "Partitions are to be the shards of a topic model.",
        f"{TESTS}::test_cuts_are_those_of_shards",
    ),
]
