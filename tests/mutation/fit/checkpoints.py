"""Wrong patches of the checkpoints of a fit."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"

MUTATIONS = [
    Mutation(
        "losses-without-first-checkpoint",
        "_fit/_checkpoints.py",
        "            if each.path.exists():\n",
        "            if True:\n",
        "A source of random numbers has moved on when the fit begins again.",
        f"{CHECKPOINTS}::TestLosses::test_a_source_of_random_numbers_has_moved_on",
    ),
]
