"""Wrong patches: autoregressive, sampler."""

from mutation.mutation import Mutation

REGRESSION_SAMPLER = "emissions/_autoregressive/_sampler.py"
GAP_TESTS = "tests/exact/emissions/test_autoregressive_gaps.py"
FITS = "tests/unit/sequence/test_autoregressive_fits.py"

MUTATIONS = [
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
