"""Wrong patches: the representative partition (mixture)."""

from mutation.mutation import Mutation

PARTITION = "tests/unit/mixture/test_partition.py"

MUTATIONS = [
    Mutation(
        "mixture-partition-bounded-by-the-largest-sample",
        "mixture/_partition.py",
        "int(np.median(counts))",
        "int(np.max(counts))",
        "Binder's loss takes all places that there are.",
        f"{PARTITION}::test_binders_loss_breaks_no_pieces_off",
    ),
]
