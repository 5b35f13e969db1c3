"""Wrong patches: predictions with missing values."""

from mutation.mutation import Mutation

GAPPED = "sequence/_hmm/_gapped_model.py"
TESTS = "tests/unit/emissions/test_constant_columns.py"

MUTATIONS = [
    Mutation(
        "gapped-scores-without-constant-columns",
        GAPPED,
        "out += [own.sum() for own in np.split(logs, ptr[1:-1])]",
        "pass",
        "Scores are densities of all columns.",
        f"{TESTS}::TestHDPHMMLT::test_scores_are_densities_of_all_columns[True-autoregressive]",
    ),
]
