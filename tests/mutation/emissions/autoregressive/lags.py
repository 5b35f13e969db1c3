"""Wrong patches: autoregressive, lags."""

from mutation.mutation import Mutation

LAGS = "emissions/_autoregressive/_lags.py"
DENSITIES = "tests/exact/emissions/test_autoregressive.py::test_predictive_densities[1.5-2-2]"

MUTATIONS = [
    Mutation(
        "regressions-too-few-first-steps",
        LAGS,
        "places >= n_lags\n",
        "places >= 1\n",
        "All lags must be there.",
        DENSITIES,
    ),
    Mutation(
        "regressions-lags-in-time-order",
        LAGS,
        "        lags[known, lag - 1] = values[known - lag]",
        "        lags[known, n_lags - lag] = values[known - lag]",
        "Lag 1 comes first.",
        DENSITIES,
    ),
]
