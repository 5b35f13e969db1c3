"""Wrong patches: autoregressive, draws of missing values."""

from mutation.mutation import Mutation

GAPS = "emissions/_autoregressive/_kernels_gaps.py"
DRAWS = "tests/exact/emissions/test_autoregressive_gaps.py::test_draws_of_missing_values"

MUTATIONS = [
    Mutation(
        "gaps-no-later-steps",
        GAPS,
        "            while lo < n and steps[begin + lo] < t - n_lags:",
        "            while lo < n and steps[begin + lo] < t:",
        "A missing value is a lag of later steps.",
        f"{DRAWS}[1-1-c]",
    ),
    Mutation(
        "gaps-first-values-at-zero",
        GAPS,
        "                    value += starting_inverse[d, e] * starting_mean[e]",
        "                    value += 0.0 * starting_mean[e]",
        "First values have the mean of the data.",
        f"{DRAWS}[1-3-c]",
    ),
    Mutation(
        "gaps-trend-by-panel",
        GAPS,
        "w[n_regressors - 1] * (t - origin + 1)",
        "w[n_regressors - 1] * (t + 1)",
        "A trend begins with each sequence.",
        f"{DRAWS}[2-2-ct]",
    ),
    Mutation(
        "gaps-of-one-column-at-a-time",
        GAPS,
        "                    x, k = w[n_regressors + e], places[t, e]",
        "                    x, k = w[n_regressors + e] * (d == e), places[t, e]",
        "The noise of columns is correlated.",
        f"{DRAWS}[2-1-c]",
    ),
    Mutation(
        "gaps-means",
        GAPS,
        "            x = right[k] + draw_normal(rng)",
        "            x = right[k]",
        "Missing values are drawn, not set to their means.",
        f"{DRAWS}[1-1-c]",
    ),
]
