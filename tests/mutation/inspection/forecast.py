"""Wrong patches of plots of forecasts."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "forecast-display-one-tail",
        "inspection/_forecast.py",
        "        tail = 0.5 * (1.0 - float(interval))",
        "        tail = 1.0 - float(interval)",
        "An interval leaves out both tails.",
        "tests/unit/inspection/test_forecast.py::test_from_estimator",
    ),
]
