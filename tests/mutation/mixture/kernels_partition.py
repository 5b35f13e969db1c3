"""Wrong patches: kernels of the representative partition (mixture)."""

from mutation.mutation import Mutation

PARTITION = "tests/unit/mixture/test_partition.py"

MUTATIONS = [
    Mutation(
        "mixture-partition-merges-count-half-of-the-shared-rows",
        "mixture/_kernels_partition.py",
        "            change -= 2.0 * changes[other] / n_samples\n",
        "            change -= 1.0 * changes[other] / n_samples\n",
        "The loss has - 2 sum_kl g(n_kl), for merges as for single rows.",
        f"{PARTITION}::test_pieces_of_a_cluster_are_put_together[binder]",
    ),
    Mutation(
        "mixture-partition-rows-join-those-they-are-never-with",
        "mixture/_kernels_partition.py",
        "changes[k] > apart)",
        "changes[k] >= apart)",
        "Rows of two outcomes are never together in a sample.",
        "tests/unit/context/test_distance_dependent_crp_classifier.py::test_what_is_fitted",
    ),
]
