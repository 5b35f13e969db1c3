"""Wrong patches of trees of contexts, of explanations, and of the weights of chains."""

from mutation.mutation import Mutation

COLLINS = "tests/exact/context/test_collins_backoff_classifier.py"
UNIT = "tests/unit/context/test_backoff.py"
TREE = "context/_backoff/_tree.py"
EXACT = "tests/exact/context/test_leave_one_out.py"
POOL = "context/_backoff/_pool.py"
POOLING = "context/_backoff/_pooling.py"
SCREENING = "context/_backoff/_screening.py"

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
    Mutation(
        "pool-penalty",
        POOLING,
        "_PENALTY - gradient",
        "-gradient",
        "The gradient has a term of the prior.",
        f"{EXACT}::test_weights_maximize_the_left_out_probability",
    ),
    Mutation(
        "pool-counts",
        POOLING,
        "        left *= self.counts[:, None]\n        flat",
        "        flat",
        "An event counts as often as it occurred.",
        f"{EXACT}::test_weights_maximize_the_left_out_probability",
    ),
    Mutation(
        "pool-normalization",
        POOLING,
        "    pooled -= np.log(np.exp(pooled).sum(axis=1, keepdims=True))\n",
        "",
        "A product of distributions is normalized.",
        f"{EXACT}::test_pool_is_a_weighted_product",
    ),
    Mutation(
        "unknown-evidence",
        POOL,
        "max(others, key=lambda i: evidence[i]) if others",
        "others[0] if others",
        "The chain with the most evidence replaces one with unknown columns.",
        f"{EXACT}::test_unknown_columns_are_dropped",
    ),
    Mutation(
        "unknown-columns",
        POOL,
        "if not unknown}\n",
        "}\n",
        "The chain that replaces another one must not have the unknown column.",
        f"{EXACT}::test_unknown_columns_are_dropped",
    ),
    Mutation(
        "unknown-alone",
        POOL,
        "elif not uses_new_contexts[k]:",
        "elif False:",
        "A chain without known columns does not count if new contexts are no evidence.",
        f"{EXACT}::test_unknown_columns_are_dropped",
    ),
    Mutation(
        "new-contexts-replaced",
        POOL,
        "        if source is None:\n            gain[k]",
        "        if True:\n            gain[k]",
        "Events of a chain that another one replaces are no evidence about its new contexts.",
        f"{EXACT}::test_new_contexts_of_a_fit",
    ),
    Mutation(
        "new-contexts-gain",
        POOL,
        "(log_chances[k, rows] - log_chances[0, rows])",
        "log_chances[k, rows]",
        "The gain of new contexts is that over the tree without columns.",
        f"{EXACT}::test_new_contexts_of_a_fit",
    ),
    Mutation(
        "seen-once",
        SCREENING,
        "seen[self.codes[events, j]] == 1.0",
        "seen[self.codes[events, j]] == 0.0",
        "A category that occurs once is unknown without its event.",
        f"{EXACT}::test_seen_once",
    ),
    Mutation(
        "screening-own-event",
        SCREENING,
        "own = in_cell[cells.of_event[self._sampled]] - leaves",
        "own = in_cell[cells.of_event[self._sampled]] - 0.0",
        "The approximate evidence is that of a left-out event.",
        f"{EXACT}::test_screening_predicts_without_the_event",
    ),
]
