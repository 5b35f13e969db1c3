"""Wrong patches of what the estimators of sequences have in common."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "partitions-of-too-short-sequences",
        "sequence/_base.py",
        "    if n_given > 0:\n        check_complete_sequences(panel.values, panel.ptr, n_given)\n"
        "    elif not",
        "    if not",
        "Something has to follow the first steps of each sequence.",
        "tests/unit/sequence/test_partitioned_fits.py::test_sequences_without_lags",
    ),
]
