"""Wrong patches of binarization."""

from mutation.mutation import Mutation

TESTS = "tests/unit/data/test_binarize.py"
REFINER = "tests/unit/grammar/test_hdp_pcfg_refiner.py"

BINARIZE = "data/_binarize.py"

MUTATIONS = [
    Mutation(
        "binarize-first-siblings",
        BINARIZE,
        "plain[max(0, i - horizontal) : i]",
        "plain[: min(i, horizontal)]",
        "The last siblings are remembered.",
        f"{TESTS}::test_orders[2]",
    ),
    Mutation(
        "binarize-siblings-in-one",
        BINARIZE,
        '.replace(SIBLING, "\\\\" + SIBLING)',
        "",
        "Other siblings give other labels, whatever signs they have.",
        f"{TESTS}::test_labels_of_other_siblings_differ",
    ),
    Mutation(
        "binarize-one-ancestor-more",
        BINARIZE,
        "[: order - 1]",
        "[:order]",
        "The order counts the node itself.",
        f"{TESTS}::test_orders[11]",
    ),
    Mutation(
        "binarize-ancestors-of-preterminals",
        BINARIZE,
        "        if n > 1 or not isinstance(items[i - 1], str):",
        "        if True:",
        "Tags are given without ancestors.",
        f"{TESTS}::test_orders[11]",
    ),
    Mutation(
        "binarize-roots-as-preterminals",
        BINARIZE,
        "label + ABOVE + ABOVE.join(ancestors)",
        "ABOVE.join((label, *ancestors))",
        "A root that is a preterminal elsewhere gives two binary trees of one tree.",
        f"{REFINER}::test_trees_have_plain_labels[with_orders1]",
    ),
    Mutation(
        "binarize-repeats-as-ancestors",
        BINARIZE,
        "            if n == 1 and not isinstance(below, str) and below[0] == label:",
        "            if False:",
        "X -> X is dropped.",
        f"{TESTS}::test_orders[13]",
    ),
]
