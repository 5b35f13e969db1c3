"""Wrong patches: lags (emissions)."""

from mutation.mutation import Mutation

REGRESSION_TESTS = "tests/exact/emissions/test_autoregressive.py"
LAGS = "emissions/_lags.py"

MUTATIONS = [
    Mutation(
        "regressions-too-few-first-steps",
        LAGS,
        "places >= n_lags\n",
        "places >= 1\n",
        "All lags must be there.",
        f"{REGRESSION_TESTS}::test_log_evidence[1-3]",
    ),
    Mutation(
        "regressions-lags-in-time-order",
        LAGS,
        "        lags[known, lag - 1] = values[known - lag]",
        "        lags[known, n_lags - lag] = values[known - lag]",
        "Lag 1 comes first.",
        f"{REGRESSION_TESTS}::test_log_evidence[2-2]",
    ),
]
