"""Wrong patches: autoregressive, constant columns."""

from mutation.mutation import Mutation

LAGGED = "emissions/_autoregressive/_wide.py"
TESTS = "tests/unit/emissions/test_constant_columns.py"

MUTATIONS = [
    Mutation(
        "constant-columns-at-given-steps",
        LAGGED,
        "logs[begin : min(begin + self.n_lags, end)] = 0.0",
        "logs[begin:begin] = 0.0",
        "Given steps have the density 1.",
        f"{TESTS}::TestHDPHMMLT::test_scores_are_densities_of_all_columns[False-autoregressive]",
    ),
]
