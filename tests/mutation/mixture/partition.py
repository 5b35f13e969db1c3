"""Wrong patches: the representative partition (mixture)."""

from mutation.mutation import Mutation

FITS_WITH_LABELS = "tests/unit/mixture/test_labels.py"
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
    Mutation(
        "mixture-labels-merged-by-the-point-estimate",
        "mixture/_partition.py",
        "            has_label[labels[n_free:]] = True\n",
        "",
        "Clusters of different labels are not merged, even if that lowers the loss.",
        f"{FITS_WITH_LABELS}::test_the_representative_partition_keeps_to_the_labels[vi]",
    ),
    Mutation(
        "mixture-labels-moved-by-the-point-estimate",
        "mixture/_partition.py",
        "        end = min(begin + step, n_free)\n",
        "        end = min(begin + step, len(labels))\n",
        "Labeled rows stay together, even if a move of one lowers the loss.",
        f"{FITS_WITH_LABELS}::test_the_representative_partition_keeps_to_the_labels[vi]",
    ),
]
