"""Wrong patches: regression, normal."""

from mutation.mutation import Mutation

REGRESSIONS = "emissions/_autoregressive/_regressions.py"
NORMAL = "emissions/_regression/_normal.py"
TESTS = "tests/exact/emissions/test_regression.py"

MUTATIONS = [
    Mutation(
        "targets-freedom-of-one-column",
        REGRESSIONS,
        "        freedoms = dofs - (n_dims - 1.0)\n",
        "        freedoms = dofs\n",
        "The degrees of freedom of a t distribution are nu_n - D + 1.",
        f"{TESTS}::test_predictive_densities[size2]",
    ),
    Mutation(
        "targets-in-units-of-the-prior",
        REGRESSIONS,
        "self._shift = -float(np.log(np.diag(prior.scale_root)).sum())",
        "self._shift = 0.0",
        "Densities are those of the targets in their own units.",
        f"{TESTS}::test_log_evidence[size0]",
    ),
    Mutation(
        "targets-drawn-without-leverage",
        REGRESSIONS,
        "sizes = np.sqrt(1.0 + (leverages**2).sum(axis=1)) / roots",
        "sizes = 1.0 / roots",
        "The coefficients are uncertain.",
        f"{TESTS}::test_draws_of_targets_follow_the_density",
    ),
    Mutation(
        "targets-missing-are-predictions",
        NORMAL,
        "        rows[np.isnan(targets).any(axis=1)] = np.nan\n        self._rows",
        "        rows[np.isnan(rows)] = 0.0\n        self._rows",
        "A step without targets has the density 1.",
        f"{TESTS}::test_log_evidence[size0]",
    ),
    Mutation(
        "regression-draws-of-fewer-states",
        NORMAL,
        "        inputs = as_inputs(self.roles, inputs, states)\n",
        "        inputs = as_inputs(self.roles, inputs)\n",
        "There is a state for each row of inputs.",
        "tests/unit/emissions/test_regression.py::TestBadInput::test_inputs_of_predictions[normal]",
    ),
]
