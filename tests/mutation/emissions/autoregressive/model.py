"""Wrong patches: autoregressive, model."""

from mutation.mutation import Mutation

REGRESSION_MODEL = "emissions/_autoregressive/_model.py"
REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"
LAG_TESTS = "tests/exact/sequence/hmm/test_lagged_forecast.py"
CHOSEN = f"{REGRESSION_TESTS}::TestChosenLagsAndTrends"

MUTATIONS = [
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
        "            lags = before[::-1][:n_lags].ravel()",
        "            lags = before[-n_lags:].ravel()",
        "The last value before is lag 1.",
        f"{REGRESSION_TESTS}::test_draws_of_the_next_observation_follow_the_density",
    ),
    Mutation(
        "regressions-certain-trends",
        REGRESSION_MODEL,
        "            factors[:, :, 0] += time * self.coef_factors[:, :, -1]",
        "            factors[:, :, 0] += 0.0 * time",
        "The coefficient of a trend is uncertain, too.",
        f"{CHOSEN}::test_model_and_next_steps[1-lags1-ct]",
    ),
    Mutation(
        "regressions-standing-trends",
        REGRESSION_MODEL,
        "n_before + t + 1)",
        "n_before + 1 if t else 1)",
        "A trend goes on in the steps that follow.",
        f"{CHOSEN}::test_model_and_next_steps[1-lags1-ct]",
    ),
]
