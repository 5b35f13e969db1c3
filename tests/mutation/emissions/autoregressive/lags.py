"""Wrong patches: autoregressive, lags."""

from mutation.mutation import Mutation

LAGS = "emissions/_autoregressive/_lags.py"
DENSITIES = "tests/exact/emissions/test_autoregressive.py::test_predictive_densities[1.5-2-2]"
CHOSEN = "tests/exact/emissions/test_autoregressive.py::TestChosenLagsAndTrends"

MUTATIONS = [
    Mutation(
        "regressions-too-few-first-steps",
        LAGS,
        "places >= design.n_lags\n",
        "places >= 1\n",
        "All lags must be there.",
        DENSITIES,
    ),
    Mutation(
        "regressions-lags-in-time-order",
        LAGS,
        "        lags[known, i] = values[known - lag]",
        "        lags[known, len(design.lags) - 1 - i] = values[known - lag]",
        "Lag 1 comes first.",
        DENSITIES,
    ),
    Mutation(
        "regressions-trend-from-zero",
        LAGS,
        "places[:, np.newaxis] + 1.0]",
        "places[:, np.newaxis] + 0.0]",
        "The first step of a sequence has the number 1, in fits and in scores.",
        f"{CHOSEN}::test_evidence_and_predictive_densities[1-lags1-ct]",
    ),
]
