"""Wrong patches: discrete, multinomial."""

from mutation.mutation import Mutation

MULTINOMIAL = "emissions/_discrete/_multinomial.py"
BAG_TESTS = "tests/exact/emissions/test_multinomial.py"
UNIT_TESTS = "tests/unit/emissions/test_multinomial.py"

MUTATIONS = [
    Mutation(
        "events-without-coefficient",
        MULTINOMIAL,
        "return float(events) + round_sum(self._log_coefficients)",
        "return float(events)",
        "The evidence is that of rows, in whatever order their events came.",
        f"{BAG_TESTS}::test_evidence",
    ),
    Mutation(
        "events-totals-each-once",
        MULTINOMIAL,
        "counts = np.bincount(places, sizes).astype(np.int64)",
        "counts = np.bincount(places)",
        "A number of events is as frequent as it is in all parts.",
        f"{UNIT_TESTS}::test_numbers_of_events",
    ),
    Mutation(
        "events-totals-of-missing-steps",
        MULTINOMIAL,
        "totals = values[~np.isnan(values).any(axis=1)].sum(axis=1)",
        "totals = np.nansum(values, axis=1)",
        "Missing steps tell of nothing.",
        f"{UNIT_TESTS}::test_numbers_of_events",
    ),
    Mutation(
        "events-coefficients-of-one-part",
        MULTINOMIAL,
        "        self.counts, self._log_coefficients = sums\n",
        "        self.counts, _ = sums\n        self._log_coefficients = self._all_coefficients\n",
        "Coefficients are those of all parts, or of the steps that count.",
        f"{BAG_TESTS}::test_steps_of_no_state",
    ),
    Mutation(
        "events-as-if-known",
        MULTINOMIAL,
        "self.totals, concentrations)",
        "self.totals)",
        "Probabilities are known from finitely many events only.",
        f"{BAG_TESTS}::test_predictive_is_a_ratio_of_evidences_and_sums_to_one[4]",
    ),
]
