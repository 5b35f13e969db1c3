"""Wrong patches of forecasts."""

from mutation.mutation import Mutation

FORECAST = "sequence/_hmm/_forecast.py"
MARGINALS = "emissions/_marginals.py"
MODEL = "sequence/_hmm/_model.py"
TESTS = "tests/exact/sequence/hmm/test_forecast.py"

MUTATIONS = [
    Mutation(
        "forecast-ages-stand-still",
        FORECAST,
        "                ages[1:] = older[:-1]  # nothing",
        "                ages[1:] = older[1:]  # nothing",
        "A segment that goes on is one step older.",
        f"{TESTS}::test_next_states[Poisson]",
    ),
    Mutation(
        "forecast-leaving-at-any-age",
        FORECAST,
        "    logs = np.where(reached, log_pmf, 0.0) - np.where(reached, log_survival, 0.0)",
        "    logs = np.where(reached, log_pmf, 0.0)",
        "A segment has lasted so long already.",
        f"{TESTS}::test_next_states[Poisson]",
    ),
    Mutation(
        "forecast-within-alone",
        FORECAST,
        "                variance[h] += weights[h] @ (away * away)",
        "                variance[h] += 0.0 * (weights[h] @ (away * away))",
        "The means of the states differ.",
        f"{TESTS}::test_numbers[Student]",
    ),
    Mutation(
        "forecast-twins-without-weight",
        FORECAST,
        "            mixed.append(weights @ np.eye(len(states))[places.ravel()])",
        "            mixed.append(weights[:, states])",
        "Equal states count as often as there are.",
        f"{TESTS}::test_equal_states",
    ),
    Mutation(
        "forecast-scale-for-deviation",
        MARGINALS,
        "        ratios = np.where(self.freedoms > 2.0, self.freedoms / above, np.inf)",
        "        ratios = np.where(self.freedoms > 2.0, 1.0, np.inf)",
        "The variance of a Student t distribution is above its squared scale.",
        f"{TESTS}::test_numbers[Student]",
    ),
    Mutation(
        "forecast-duration-from-its-start",
        MODEL,
        "        log_pmf = self.duration.tables()[0][state, age:]",
        "        log_pmf = self.duration.tables()[0][state]",
        "A segment has lasted so long already.",
        f"{TESTS}::test_draws_of_next_states[Poisson]",
    ),
    Mutation(
        "impute-without-the-row",
        MARGINALS,
        'means[:, unseen] + np.einsum("njs,jsu->nju", away, slopes)',
        'means[:, unseen] + 0.0 * np.einsum("njs,jsu->nju", away, slopes)',
        "The other columns of a row tell of those that are missing.",
        f"{TESTS}::test_fill[full, Student]",
    ),
]
