"""Wrong patches of fits to partitions."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"

MUTATIONS = [
    Mutation(
        "losses-are-never-too-many",
        "_fit/_partitions.py",
        "n_losses = 1 if _n_written(estimator) > n_before else n_losses + 1",
        "n_losses = 1",
        "The third loss in a row is an error.",
        f"{CHECKPOINTS}::TestLosses::test_three_in_a_row_are_an_error",
    ),
    Mutation(
        "losses-add-up-over-checkpoints",
        "_fit/_partitions.py",
        "n_losses = 1 if _n_written(estimator) > n_before else n_losses + 1",
        "n_losses += 1",
        "A new checkpoint makes up for the losses before.",
        f"{CHECKPOINTS}::TestLosses::test_bits_are_those_of_no_loss[(4, 9, 13)]",
    ),
]
