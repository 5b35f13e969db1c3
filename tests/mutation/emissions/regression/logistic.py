"""Wrong patches: regression, logistic."""

from mutation.mutation import Mutation

LOGISTIC = "emissions/_regression/_logistic.py"
TESTS = "tests/exact/emissions/test_logistic_regression.py"
CHAIN = "tests/exact/sequence/test_hdp_hmm_gaussian.py"
IN_SHORT = f"{CHAIN}::test_posterior_of_targets_that_depend_on_inputs_in_short[choices]"

MUTATIONS = [
    Mutation(
        "logistic-omegas-stay",
        LOGISTIC,
        "        if not self._is_complete:\n            self.complete(states, rng)\n",
        "",
        "Without new Polya-Gamma variables, coefficients have another distribution.",
        f"{TESTS}::test_posterior_of_coefficients[1]",
    ),
    Mutation(
        "logistic-moves-by-laplace",
        LOGISTIC,
        "        evidence = kernels.log_evidence_given_omegas"
        "(self.factors, self.linears, self.means)\n"
        "        return float(self._constant + evidence)\n",
        "        return float(self._constant)\n",
        "Moves of states need the evidence with the coefficients integrated out.",
        IN_SHORT,
    ),
]
