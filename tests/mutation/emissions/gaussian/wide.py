"""Wrong patches: gaussian, constant columns."""

from mutation.mutation import Mutation

GAUSSIAN = "emissions/_gaussian/_wide.py"
TESTS = "tests/unit/emissions/test_constant_columns.py"

MUTATIONS = [
    Mutation(
        "gaussian-scores-without-constant-columns",
        GAUSSIAN,
        "return logs + self.constants.log_density(values, known=self._is_known)",
        "return logs",
        "Scores are densities of all columns.",
        f"{TESTS}::TestHDPHMMLT::test_scores_are_densities_of_all_columns[False-full]",
    ),
    Mutation(
        "filled-constants-without-weights",
        GAUSSIAN,
        "rest = np.multiply.outer(weights.sum(axis=1), self.constants.values)",
        "rest = self.constants.values",
        "Weights add up to 1 over all stored samples.",
        f"{TESTS}::test_mixtures[diag-DPMixture]",
    ),
]
