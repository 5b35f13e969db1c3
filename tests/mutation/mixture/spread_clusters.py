"""Wrong patches: the k-means of the start of mixtures."""

from mutation.mutation import Mutation

STARTS = "mixture/_spread_clusters.py"
TESTS = "tests/unit/mixture/test_spread_clusters.py"

MUTATIONS = [
    Mutation(
        "spread-clusters-of-equal-columns",
        STARTS,
        "            variances = within\n",
        "            pass\n",
        "Columns in which clusters differ count for more.",
        f"{TESTS}::test_columns_that_separate_count_for_more[0]",
    ),
    Mutation(
        "spread-clusters-in-the-units-of-columns",
        STARTS,
        "    values = values[:, ~is_constant] / deviations[~is_constant]\n",
        "    values = values[:, ~is_constant]\n",
        "Units do not matter.",
        f"{TESTS}::test_units_do_not_matter[0.0]",
    ),
]
