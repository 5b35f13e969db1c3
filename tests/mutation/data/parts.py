"""Wrong patches of partitions."""

from mutation.mutation import Mutation

TESTS = "tests/unit/data/test_partitioned.py"

PARTS = "data/_parts.py"

MUTATIONS = [
    Mutation(
        "partitioned-features-not-compared",
        PARTS,
        "        if found.n_features != self.n_features:",
        "        if False:",
        "Word ids beyond the vocabulary would reach kernels.",
        f"{TESTS}::TestDask::test_delayed",
    ),
]
