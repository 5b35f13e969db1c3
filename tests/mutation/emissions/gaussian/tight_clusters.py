"""Wrong patches: gaussian, tight clusters."""

from mutation.mutation import Mutation

STARTS = "emissions/_gaussian/_tight_clusters.py"
TESTS = "tests/unit/emissions/test_tight_clusters.py"

MUTATIONS = [
    Mutation(
        "tight-clusters-of-equal-columns",
        STARTS,
        "            variances = within\n",
        "            pass\n",
        "Columns in which clusters differ count for more.",
        f"{TESTS}::test_columns_that_separate_count_for_more[0]",
    ),
    Mutation(
        "tight-clusters-in-the-units-of-columns",
        STARTS,
        "    values = np.nan_to_num(values[:, ~is_constant] / deviations[~is_constant])\n",
        "    values = np.nan_to_num(values[:, ~is_constant])\n",
        "Units do not matter.",
        f"{TESTS}::test_units_do_not_matter[0.0]",
    ),
]
