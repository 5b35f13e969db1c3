"""Wrong patches: autoregressive, model."""

from mutation.mutation import Mutation

REGRESSION_MODEL = "emissions/_autoregressive/_model.py"
REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"
LAG_TESTS = "tests/exact/sequence/hmm/test_lagged_forecast.py"

MUTATIONS = [
    Mutation(
        "regressions-draws-without-leverage",
        REGRESSION_MODEL,
        "        sizes = np.sqrt(1.0 + (leverages**2).sum(axis=1)) / roots",
        "        sizes = 1.0 / roots",
        "Draws follow the density, which knows how uncertain coefficients are.",
        f"{REGRESSION_TESTS}::test_draws_of_the_next_observation_follow_the_density",
    ),
    Mutation(
        "regressions-moments-about-the-old-origin",
        REGRESSION_MODEL,
        "        factors[:, :, 0] += factors[:, :, 1:] @ origins",
        "        factors[:, :, 0] += 0.0 * (factors[:, :, 1:] @ origins)",
        "The leverage is that of the values, wherever moments are taken about.",
        f"{LAG_TESTS}::test_moments[2-1-none]",
    ),
    Mutation(
        "regressions-new-lags-in-time-order",
        REGRESSION_MODEL,
        "            lags = before[::-1].ravel()",
        "            lags = before.ravel()",
        "The last value before is lag 1.",
        f"{REGRESSION_TESTS}::test_draws_of_the_next_observation_follow_the_density",
    ),
]
