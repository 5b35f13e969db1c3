"""Wrong patches of forecasts of observations that look back."""

from mutation.mutation import Mutation

LAGGED = "sequence/_hmm/_lagged_forecast.py"
LAG_TESTS = "tests/exact/sequence/hmm/test_lagged_forecast.py"

MUTATIONS = [
    Mutation(
        "lags-certain-coefficients",
        LAGGED,
        'weights = shares + np.einsum("ajkl,jkl->aj", moments, steps.precisions)',
        "weights = shares",
        "What is not known of coefficients widens forecasts.",
        f"{LAG_TESTS}::test_moments[2-1-none]",
    ),
    Mutation(
        "lags-ages-stand-still",
        LAGGED,
        "np.where(leaves, 0, ages + 1)",
        "np.where(leaves, 0, ages)",
        "A segment that goes on is a step older.",
        f"{LAG_TESTS}::test_simulated_quantiles[Poisson]",
    ),
    Mutation(
        "lags-first-step-at-the-last-state",
        LAGGED,
        "shares = one.move(tail.ends).sum(axis=0)  # (J, M)",
        "shares = tail.ends.sum(axis=0)  # (J, M)",
        "A transition comes before the next observation.",
        f"{LAG_TESTS}::test_simulated_quantiles[none]",
    ),
    Mutation(
        "lags-of-one-particle",
        LAGGED,
        "        own = tail.lags[particles]",
        "        own = tail.lags[0 * particles]",
        "Missing last values are uncertain.",
        "tests/unit/sequence/test_autoregressive_fits.py::TestGaps"
        "::test_forecasts_and_draws_after_gaps",
    ),
]
