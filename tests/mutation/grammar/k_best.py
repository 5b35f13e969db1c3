"""Wrong patches of the best trees of a chart."""

from mutation.mutation import Mutation

CHART_TESTS = "tests/unit/grammar/chart/test_k_best.py"
ALL_TREES = f"{CHART_TESTS}::test_equally_good_trees[None]"

K_BEST = "grammar/_k_best.py"

MUTATIONS = [
    Mutation(
        "k-best-trees-twice",
        K_BEST,
        " or key in self._seen[item]:",
        ":",
        "A way with both children one worse follows two others.",
        ALL_TREES,
    ),
    Mutation(
        "k-best-first-child-alone",
        K_BEST,
        "for place, child in enumerate(below):",
        "for place, child in enumerate(below[:1]):",
        "Either child may be one worse.",
        ALL_TREES,
    ),
]
