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
        "unknown-rows-are-labels",
        "topics/_labels.py",
        "    matrix[is_unknown_row] = 0.0\n",
        "    matrix[is_unknown_row] = np.eye(matrix.shape[1])[0]\n",
        "Rows of -1 or NaN are documents without labels.",
        "tests/unit/topics/test_labels.py::test_matrices",
    ),
    Mutation(
        "nullable-frames-are-no-matrix",
        "topics/_labels.py",
        "    if array.dtype == object:  # pandas.NA is no float\n",
        "    if False:\n",
        "A row of pandas.NA is a document without labels.",
        "tests/unit/topics/test_labels.py::test_nullable_frames",
    ),
    Mutation(
        "rows-unknown-in-part-are-ignored-silently",
        "topics/_labels.py",
        "        if matrix.shape[1] == n_topics:\n",
        "        if False:\n",
        "A matrix that was meant as labels is not ignored without a word.",
        "tests/unit/topics/test_labels.py::test_matrices_that_are_no_labels[unknown entry]",
    ),
]
