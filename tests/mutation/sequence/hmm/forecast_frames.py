"""Wrong patches of forecasts as data frames."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "forecast-frames-begin-at-the-last-date",
        "sequence/_hmm/_forecast_frames.py",
        "            return extend(last, periods=n_steps + 1, freq=step)[1:]",
        "            return extend(last, periods=n_steps + 1, freq=step)[:-1]",
        "The forecast begins after the last date.",
        "tests/unit/sequence/hmm/test_forecast_frames.py::test_frames",
    ),
    Mutation(
        "forecast-frames-of-other-columns",
        "sequence/_hmm/_forecast_frames.py",
        "cells.reshape(len(mean), -1)",
        "cells.swapaxes(1, 2).reshape(len(mean), -1)",
        "Each column has its own mean and deviation.",
        "tests/unit/sequence/hmm/test_forecast_frames.py::test_frames",
    ),
]
