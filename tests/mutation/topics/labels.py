"""Wrong patches of labels of documents."""

from mutation.mutation import Mutation

MUTATIONS = [
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
