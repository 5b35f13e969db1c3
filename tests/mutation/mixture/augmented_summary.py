"""Wrong patches of unions of clusters of rows with weights."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "unions-without-weights",
        "mixture/_augmented_summary.py",
        "apart = (np.sqrt(weights) * (values - means[k])).transpose(1, 2, 0)",
        "apart = (values - means[k]).transpose(1, 2, 0)",
        "Rows count by their weights.",
        "tests/exact/mixture/test_gap_densities.py::test_unions_of_clusters_with_weights",
    ),
]
