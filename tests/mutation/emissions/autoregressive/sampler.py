"""Wrong patches: autoregressive, sampler."""

from mutation.mutation import Mutation

REGRESSIONS = "emissions/_autoregressive/_regressions.py"
REGRESSION_SAMPLER = "emissions/_autoregressive/_sampler.py"
REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"
GAP_TESTS = "tests/exact/emissions/test_autoregressive_gaps.py"
FITS = "tests/unit/sequence/test_autoregressive_fits.py"

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
        "regressions-residuals-of-the-prior",
        REGRESSION_SAMPLER,
        "@ to_regressors - factors @ coefs",
        "@ to_regressors",
        "Slopes are drawn relative to those of the prior.",
        f"{GAP_TESTS}::test_whitening_maps_to_standard_residuals",
    ),
    Mutation(
        "gaps-forgotten-between-fits",
        REGRESSION_SAMPLER,
        "            self._fill(self._drawn)\n",
        "            self._fill(0.0 * self._drawn)\n",
        "Missing values are part of the state of a chain.",
        f"{FITS}::TestGaps::test_warm_starts_and_sweeps_are_one_fit[None]",
    ),
]
