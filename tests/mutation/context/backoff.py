"""Wrong patches of trees of contexts and of what explains predictions."""

from mutation.mutation import Mutation

COLLINS = "tests/exact/context/test_collins_backoff_classifier.py"
UNIT = "tests/unit/context/test_backoff.py"
TREE = "context/_backoff/_tree.py"

MUTATIONS = [
    Mutation(
        "backoff-weights",
        TREE,
        "np.bincount(cell, weights=counts, minlength=len(cell_key))",
        "np.bincount(cell, minlength=len(cell_key))",
        "A weight is how often an event occurred.",
        f"{UNIT}::test_order_of_rows_and_repetitions_change_no_bit[Collins]",
    ),
    Mutation(
        "backoff-unseen-category",
        TREE,
        "is_seen = (node >= 0) & (code >= 0) & (keys[found] == wanted)",
        "is_seen = (node >= 0) & (keys[found] == wanted)",
        "The code of an unseen category must not be taken for one of the context before.",
        f"{COLLINS}::test_formula[None-True]",
    ),
    Mutation(
        "backoff-parent",
        TREE,
        "            up = keys[step][up] // len(columns[step].values)\n",
        "            up = keys[step][up] % len(columns[step].values)\n",
        "A context lies within that of the columns before it.",
        f"{COLLINS}::test_by_hand",
    ),
    Mutation(
        "explain-dilution",
        "context/_backoff/_explain.py",
        "np.cumprod(left[:, :0:-1], axis=1)[:, ::-1]",
        "np.cumprod(left[:, 1:], axis=1)",
        "What a context adds is diluted by the narrower ones, not by the broader ones.",
        f"{COLLINS}::test_weights_of_all_levels",
    ),
]
