"""Wrong patches: autoregressive, regressions."""

from mutation.mutation import Mutation

REGRESSIONS = "emissions/_autoregressive/_regressions.py"
REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"
TARGET_TESTS = "tests/exact/emissions/test_regression.py"

MUTATIONS = [
    Mutation(
        "regressions-freedom-of-one-column",
        REGRESSIONS,
        "        freedoms = dofs - (n_dims - 1.0)\n",
        "        freedoms = dofs\n",
        "The degrees of freedom of a t distribution are nu_n - D + 1.",
        f"{REGRESSION_TESTS}::test_predictive_densities[1.5-2-1]",
    ),
    Mutation(
        "regressions-draws-without-leverage",
        REGRESSIONS,
        "    sizes = np.sqrt(1.0 + (leverages**2).sum(axis=1)) / roots",
        "    sizes = 1.0 / roots",
        "Draws follow the density, which knows how uncertain coefficients are.",
        f"{REGRESSION_TESTS}::test_draws_of_the_next_observation_follow_the_density",
    ),
    Mutation(
        "targets-freedom-of-one-column",
        REGRESSIONS,
        "        freedoms = dofs - (n_dims - 1.0)\n",
        "        freedoms = dofs\n",
        "The degrees of freedom of a t distribution are nu_n - D + 1.",
        f"{TARGET_TESTS}::test_predictive_densities[size2]",
    ),
    Mutation(
        "targets-in-units-of-the-prior",
        REGRESSIONS,
        "self._shift = -float(np.log(np.diag(prior.scale_root)).sum())",
        "self._shift = 0.0",
        "Densities are those of the targets in their own units.",
        f"{TARGET_TESTS}::test_log_evidence[size0]",
    ),
    Mutation(
        "targets-drawn-without-leverage",
        REGRESSIONS,
        "sizes = np.sqrt(1.0 + (leverages**2).sum(axis=1)) / roots",
        "sizes = 1.0 / roots",
        "The coefficients are uncertain.",
        f"{TARGET_TESTS}::test_draws_of_targets_follow_the_density",
    ),
]
