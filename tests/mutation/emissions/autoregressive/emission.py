"""Wrong patches: autoregressive, emission."""

from mutation.mutation import Mutation

REGRESSION_SAMPLER = "emissions/_autoregressive/_emission.py"
REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"

MUTATIONS = [
    Mutation(
        "regressions-freedom-of-one-column",
        REGRESSION_SAMPLER,
        "        freedoms = dofs - (n_dims - 1.0)\n",
        "        freedoms = dofs\n",
        "The degrees of freedom of a t distribution are nu_n - D + 1.",
        f"{REGRESSION_TESTS}::test_predictive_densities[1.5-2-1]",
    ),
]
