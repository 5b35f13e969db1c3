"""Wrong patches: regression, default priors."""

from mutation.mutation import Mutation

EMISSION = "emissions/_regression/_emission.py"
EXACT = "tests/unit/emissions/test_regression.py::TestEstimator::test_targets_without_noise"
COUNTS = "tests/unit/emissions/test_regression.py::TestEstimator"

MUTATIONS = [
    Mutation(
        "regression-unit-noise-of-exact-targets",
        EMISSION,
        "np.maximum(np.where(varies, deviations, 0.0), floors)",
        "np.maximum(deviations, floors)",
        "Residuals that are all zero have no unit: the least deviation is relative to the targets.",
        f"{EXACT}[1.0]",
    ),
    Mutation(
        "regression-little-noise-of-constant-targets",
        EMISSION,
        "np.where(varies, LEAST, 1.0) * deviations",
        "LEAST * deviations",
        "Targets that do not vary say nothing about the noise.",
        f"{EXACT}[1e-06]",
    ),
    Mutation(
        "regression-counts-without-unit",
        EMISSION,
        "                coefs[:, 0] = find_log_rates(targets)\n",
        "                pass\n",
        "The prior rates are those of the data.",
        f"{COUNTS}::test_default_prior_of_counts",
    ),
]
