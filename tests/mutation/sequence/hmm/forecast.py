"""Wrong patches of forecasts."""

from mutation.mutation import Mutation

FORECAST = "sequence/_hmm/_forecast.py"
FORECAST_TESTS = "tests/exact/sequence/hmm/test_forecast.py"

MUTATIONS = [
    Mutation(
        "forecast-ages-stand-still",
        FORECAST,
        "                ages[1:] = older[:-1]  # nothing",
        "                ages[1:] = older[1:]  # nothing",
        "A segment that goes on is one step older.",
        f"{FORECAST_TESTS}::test_next_states[Poisson]",
    ),
    Mutation(
        "forecast-leaving-at-any-age",
        FORECAST,
        "    logs = np.where(reached, log_pmf, 0.0) - np.where(reached, log_survival, 0.0)",
        "    logs = np.where(reached, log_pmf, 0.0)",
        "A segment has lasted so long already.",
        f"{FORECAST_TESTS}::test_next_states[Poisson]",
    ),
    Mutation(
        "forecast-within-alone",
        FORECAST,
        "                variance[h] += weights[h] @ (away * away)",
        "                variance[h] += 0.0 * (weights[h] @ (away * away))",
        "The means of the states differ.",
        f"{FORECAST_TESTS}::test_numbers[Student]",
    ),
    Mutation(
        "forecast-twins-without-weight",
        FORECAST,
        "            mixed.append(weights @ np.eye(len(states))[places.ravel()])",
        "            mixed.append(weights[:, states])",
        "Equal states count as often as there are.",
        f"{FORECAST_TESTS}::test_equal_states",
    ),
]
