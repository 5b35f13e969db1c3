"""Wrong patches of hidden Markov models in stored samples."""

from mutation.mutation import Mutation

MODEL = "sequence/_hmm/_model.py"
FORECAST_TESTS = "tests/exact/sequence/hmm/test_forecast.py"

MUTATIONS = [
    Mutation(
        "forecast-duration-from-its-start",
        MODEL,
        "        log_pmf = self.duration.tables()[0][state, age:]",
        "        log_pmf = self.duration.tables()[0][state]",
        "A segment has lasted so long already.",
        f"{FORECAST_TESTS}::test_draws_of_next_states[Poisson]",
    ),
    Mutation(
        "changes-without-draws-of-gaps",
        MODEL,
        "            return GappedModel(self).changes(ptr, values)\n",
        "            pass\n",
        "Steps about missing values tell of changes.",
        "tests/exact/sequence/hmm/test_gap_filter.py::test_changes_with_missing_values[none]",
    ),
]
