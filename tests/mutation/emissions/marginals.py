"""Wrong patches: marginals."""

from mutation.mutation import Mutation

MARGINALS = "emissions/_marginals.py"
FORECAST_TESTS = "tests/exact/sequence/hmm/test_forecast.py"

MUTATIONS = [
    Mutation(
        "forecast-scale-for-deviation",
        MARGINALS,
        "        ratios = np.where(self.freedoms > 2.0, self.freedoms / above, np.inf)",
        "        ratios = np.where(self.freedoms > 2.0, 1.0, np.inf)",
        "The variance of a Student t distribution is above its squared scale.",
        f"{FORECAST_TESTS}::test_numbers[Student]",
    ),
    Mutation(
        "impute-without-the-row",
        MARGINALS,
        'means[:, unseen] + np.einsum("njs,jsu->nju", away, slopes)',
        'means[:, unseen] + 0.0 * np.einsum("njs,jsu->nju", away, slopes)',
        "The other columns of a row tell of those that are missing.",
        f"{FORECAST_TESTS}::test_fill[full, Student]",
    ),
    Mutation(
        "gap-draws-without-observed-degrees-of-freedom",
        "emissions/_marginals.py",
        "rng.chisquare(nu + len(seen), len(rows))",
        "rng.chisquare(nu, len(rows))",
        "Each observed value adds a degree of freedom to the conditional distribution.",
        "tests/exact/mixture/test_gap_densities.py::test_draws_of_missing_columns[gaussian]",
    ),
]
