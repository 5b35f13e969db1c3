"""Wrong patches: discrete, categorical."""

from mutation.mutation import Mutation

SYMBOLS = "emissions/_discrete/_categorical.py"
CONCENTRATION = "tests/exact/emissions/test_symbol_concentration.py"

ALIKE = "tests/exact/mixture/test_alike_columns.py::test_partitions_and_columns[MixtureSampler]"

GAPS = "tests/exact/emissions/test_counts.py::test_missing_values_have_factor_one"

MUTATIONS = [
    Mutation(
        "symbols-missing-are-the-last-when-predicted",
        SYMBOLS,
        "        out[symbols < 0] = 0.0\n",
        "",
        "A missing symbol has probability 1.",
        f"{GAPS}[categorical]",
    ),
    Mutation(
        "symbols-concentration-without-jacobian",
        SYMBOLS,
        "result + shape * log_concentration - rate * concentration",
        "result + (shape - 1.0) * log_concentration - rate * concentration",
        "The slice is one of the logarithm.",
        f"{CONCENTRATION}::test_one_step_of_each_state",
    ),
    Mutation(
        "symbols-joint-without-prior",
        SYMBOLS,
        "result += shape * math.log(rate * concentration) - rate * concentration",
        "result += shape * math.log(rate * concentration)",
        "The joint has the density of a drawn concentration.",
        f"{CONCENTRATION}::test_evidence[uniform]",
    ),
    Mutation(
        "symbols-drawn-of-the-old-concentration",
        SYMBOLS,
        "kernels.draw_log_probs(self.counts, self.prior,",
        "kernels.draw_log_probs(self.counts, self._base,",
        "Probabilities are drawn given the concentration of this sweep.",
        f"{CONCENTRATION}::test_probabilities_are_drawn_given_the_new_concentration",
    ),
    Mutation(
        "symbols-restricted-without-concentration",
        SYMBOLS,
        "return CategoricalSampler(n_states, self.prior)",
        "return CategoricalSampler(n_states, self._base)",
        "Moves of states condition on the concentration.",
        f"{CONCENTRATION}::test_restricted_samplers_know_the_concentration",
    ),
    Mutation(
        "alike-columns-without-prior-odds",
        SYMBOLS,
        "log_other = log_evidence(other) + log_odds",
        "log_other = log_evidence(other)",
        "Columns are drawn from their prior given the others.",
        ALIKE,
    ),
    Mutation(
        "alike-columns-of-the-base",
        SYMBOLS,
        "log_alike = float(totals @ np.log(common))",
        "log_alike = float(totals @ np.log(self._base))",
        "Equal probabilities are the frequencies.",
        ALIKE,
    ),
    Mutation(
        "alike-columns-propose-by-the-rate",
        SYMBOLS,
        "other = draw_gamma(shape, rng) / rate",
        "other = draw_gamma(shape, rng) * rate",
        "A concentration is proposed from its prior.",
        ALIKE,
    ),
    Mutation(
        "alike-columns-draw-a-finite-concentration",
        SYMBOLS,
        "        if self.differs:\n            self._draw_concentration",
        "        if True:\n            self._draw_concentration",
        "The concentration of equal columns changes with the choice of columns only.",
        "tests/unit/mixture/test_mixed_columns.py::test_categories_with_nothing_to_find[4]",
    ),
    Mutation(
        "alike-columns-begin-with-all-symbols",
        SYMBOLS,
        "            self._set_base(base)\n            self.prior",
        "            self.prior",
        "Probabilities that differ have the base of the symbols that occur.",
        "tests/exact/mixture/test_alike_columns.py::test_columns_of_few_symbols"
        "[unused-MixtureSampler]",
    ),
    Mutation(
        "alike-columns-by-a-huge-concentration",
        SYMBOLS,
        "most = min(largest, _ALIKE / 4.0) if self.may_be_alike else largest",
        "most = largest",
        "A drawn concentration stays below the mark of a common distribution.",
        "tests/unit/emissions/test_categorical.py"
        "::test_a_huge_concentration_is_no_common_distribution",
    ),
]
