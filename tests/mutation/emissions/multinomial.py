"""Wrong patches: multinomial (emissions)."""

from mutation.mutation import Mutation

BAG_TESTS = "tests/exact/emissions/test_multinomial.py"
MULTINOMIAL = "emissions/_multinomial.py"

MUTATIONS = [
    Mutation(
        "events-without-coefficient",
        MULTINOMIAL,
        "return float(events) + self._log_coefficient",
        "return float(events)",
        "The evidence is that of rows, in whatever order their events came.",
        f"{BAG_TESTS}::test_evidence",
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
