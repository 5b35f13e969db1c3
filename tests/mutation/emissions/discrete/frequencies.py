"""Wrong patches: frequencies of the symbols in a column."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "alike-columns-of-unused-symbols",
        "emissions/_discrete/_frequencies.py",
        "return np.where(totals > 0, 1.0, 1.0 / (n_symbols - n_observed)), n_observed + 1",
        "return np.ones(n_symbols), n_symbols",
        "Hundreds of symbols that do not occur weigh as much as one.",
        "tests/unit/mixture/test_mixed_columns.py::test_unused_symbols_do_not_hide_clusters[200]",
    ),
]
