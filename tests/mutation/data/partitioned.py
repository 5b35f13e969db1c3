"""Wrong patches of data sets in partitions."""

from mutation.mutation import Mutation

TESTS = "tests/unit/data/test_partitioned.py"

PARTITIONED = "data/_partitioned.py"

MUTATIONS = [
    Mutation(
        "partitioned-cuts-before-the-document",
        PARTITIONED,
        'side="left") + 1',
        'side="left")',
        "Partitions are to be the shards of a topic model.",
        f"{TESTS}::test_cuts_are_those_of_shards",
    ),
]
