"""Wrong patches: the collapsed sampler of mixtures."""

from mutation.mutation import Mutation

ONE_COLUMN = "tests/unit/mixture/test_mixed_columns.py::test_a_single_column"

MUTATIONS = [
    Mutation(
        "mixture-of-one-column-shows-clusters",
        "mixture/_sampler.py",
        "        return super().is_single or (self.known is None and is_one_distribution)\n",
        "        return super().is_single\n",
        "A mixture of distributions of one symbol is such a distribution.",
        f"{ONE_COLUMN}_of_categories_shows_no_clusters[categorical-collapsed-DPMixture]",
    ),
]
