"""Wrong patches of left-out predictions, of weights of chains, and of features."""

from mutation.mutation import Mutation

EXACT = "tests/exact/context/test_leave_one_out.py"
FEATURES = "tests/exact/context/test_backoff_features.py"
UNIT = "tests/unit/context/test_chains.py"
KERNEL = "processes/_kernels_leave_one_out.py"
POOL = "context/_backoff/_pool.py"
POOLING = "context/_backoff/_pooling.py"
SCREENING = "context/_backoff/_screening.py"

MUTATIONS = [
    Mutation(
        "left-out-table",
        KERNEL,
        "        n_tables -= 1\n",
        "",
        "A table that closes leaves its restaurant.",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
    Mutation(
        "left-out-customer",
        KERNEL,
        "        own_customers -= 1\n",
        "",
        "The event must not predict itself.",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
    Mutation(
        "left-out-weight",
        KERNEL,
        "weight = chance / row[mine]",
        "weight = chance",
        "Samples given the event are weighted by 1 / p(event | the rest of the sample).",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
    ),
    Mutation(
        "left-out-reach",
        KERNEL,
        "            left *= drops\n",
        "",
        "A table above can close only if the one below does.",
        f"{EXACT}::test_left_out_terms_of_a_sample[fixed-True]",
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
        "distributions[max(others, key=lambda i: evidence[i]), rows]",
        "distributions[others[0], rows]",
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
    Mutation(
        "features-own-fold",
        "context/_hdp_backoff_features.py",
        "features[test, k] = fitted[k, fold].log_probabilities(mine)",
        "features[test, k] = fitted[k, 0].log_probabilities(mine)",
        "Features of training rows come from models without them.",
        f"{FEATURES}::test_no_label_influences_features_of_its_own_fold[single]",
    ),
    Mutation(
        "features-mean-of-logs",
        "context/_hdp_backoff_features.py",
        "return np.log(total / len(self.samples))",
        "return np.log(total)",
        "A feature is the log of a mean probability.",
        f"{FEATURES}::test_features_are_log_probabilities_of_chains",
    ),
]
