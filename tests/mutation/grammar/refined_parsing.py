"""Wrong patches of what refined grammars say of sentences."""

from mutation.mutation import Mutation

TESTS = "tests/unit/grammar/test_hdp_pcfg_refiner.py"

MUTATIONS = [
    Mutation(
        "refined-parsing-orders-of-parameters",
        "grammar/_refined_parsing.py",
        "binarize_all(trees, *self._orders)",
        "binarize_all(trees, self.horizontal_order, self.vertical_order)",
        "The grammar has the orders of its fit.",
        f"{TESTS}::test_orders_are_those_of_the_fit[with_orders1]",
    ),
]
