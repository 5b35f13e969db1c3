"""Wrong patches of predictions of regressions."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "targets-filled-everywhere",
        "emissions/_regression/_model.py",
        "np.where(missing[rows], means, targets[rows])",
        "means",
        "Observed targets stay.",
        "tests/unit/emissions/test_regression.py::TestEstimator::test_targets_that_are_known_stay",
    ),
]
