"""Wrong patches of predictions of grammars."""

from mutation.mutation import Mutation

PREDICTION_TESTS = "tests/exact/grammar/test_predictions.py"

ESTIMATOR = "grammar/_hdp_pcfg.py"

MUTATIONS = [
    Mutation(
        "grammar-trees-of-expected-logs",
        ESTIMATOR,
        '        if self.predict_method == "mean":',
        "        if False:",
        "The option of section 4.3.",
        f"{PREDICTION_TESTS}::test_best_trees",
    ),
    Mutation(
        "grammar-scores-of-expected-logs",
        ESTIMATOR,
        "            return [self._mean_weights()]",
        "            return [self._grammar.weights()]",
        "exp E log phi is no proper grammar.",
        f"{PREDICTION_TESTS}::test_probabilities_of_all_sentences_sum_to_one",
    ),
]
