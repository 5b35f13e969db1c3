"""Wrong patches of fits to partitions."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"

MUTATIONS = [
    Mutation(
        "losses-without-first-checkpoint",
        "_partitioned_fits.py",
        "            if checkpoint.path.exists():\n",
        "            if True:\n",
        "A source of random numbers has moved on when the fit begins again.",
        f"{CHECKPOINTS}::TestLosses::test_a_source_of_random_numbers_has_moved_on",
    ),
    Mutation(
        "losses-are-never-too-many",
        "_partitioned_fits.py",
        "n_losses = 1 if self._n_written() > n_before else n_losses + 1",
        "n_losses = 1",
        "The third loss in a row is an error.",
        f"{CHECKPOINTS}::TestLosses::test_three_in_a_row_are_an_error",
    ),
    Mutation(
        "losses-add-up-over-checkpoints",
        "_partitioned_fits.py",
        "n_losses = 1 if self._n_written() > n_before else n_losses + 1",
        "n_losses += 1",
        "A new checkpoint makes up for the losses before.",
        f"{CHECKPOINTS}::TestLosses::test_bits_are_those_of_no_loss[(4, 9, 13)]",
    ),
]
