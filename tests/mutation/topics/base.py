"""Wrong patches of fits of topic models to partitions."""

from mutation.mutation import Mutation

WARM = "tests/unit/topics/test_partitioned_warm_starts.py"

MUTATIONS = [
    Mutation(
        "warm-starts-keep-what-was-looked-at",
        "topics/_base.py",
        "                chain.averages.drop()\n",
        "                pass\n",
        "What was made for a look at a chain is dropped.",
        f"{WARM}::test_before_the_end_of_the_burn_in",
    ),
    Mutation(
        "zeros-are-labels",
        "topics/_labels.py",
        "set(np.flatnonzero(row).tolist())",
        "set(np.flatnonzero(~row).tolist())",
        "A one says that a document may have a topic.",
        "tests/unit/topics/test_labels.py::test_matrices",
    ),
    Mutation(
        "unknown-rows-are-no-matrix",
        "topics/_labels.py",
        "    array[is_unknown_row] = 0.0\n",
        "",
        "Rows of -1 or NaN are documents without labels.",
        "tests/unit/topics/test_labels.py::test_matrices",
    ),
]
