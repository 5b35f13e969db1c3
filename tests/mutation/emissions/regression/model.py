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
    Mutation(
        "regression-draws-of-fewer-states",
        "emissions/_regression/_model.py",
        "        inputs = as_inputs(self.roles, inputs, states)\n",
        "        inputs = as_inputs(self.roles, inputs)\n",
        "There is a state for each row of inputs.",
        "tests/unit/emissions/test_regression.py::TestBadInput::test_inputs_of_predictions[normal]",
    ),
]
