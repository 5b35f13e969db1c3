"""Wrong patches: mixtures whose groups share components."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_grouped_partitions.py"
DENSITIES = "tests/exact/mixture/test_grouped_densities.py"
UNIT = "tests/unit/mixture/test_hdp_mixture.py"

SECTIONS = "mixture/_hdp/_kernels_sections.py"
MOVES = "mixture/_hdp/_kernels_moves.py"
FOLD_IN = "mixture/_hdp/_kernels_fold_in.py"
MODEL = "mixture/_hdp/_model.py"
WALKER = "mixture/_hdp/_sampler.py"
ESTIMATOR = "mixture/_hdp_mixture.py"

GIBBS = f"{PARTITIONS}::test_partitions[full-gibbs]"
SPLITS = f"{PARTITIONS}::test_partitions[full-split-merge]"
SPLITS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-split-merge]"
KEPT = f"{PARTITIONS}::test_partitions_of_pairs[weights-kept]"

MUTATIONS = [
    Mutation(
        "grouped-rows-of-all-groups-count",
        SECTIONS,
        "            n_clusters, left, counts[j], top,",
        "            n_clusters, left, counts[0], top,",
        "A row counts the rows of its own group.",
        GIBBS,
    ),
    Mutation(
        "grouped-row-counts-itself",
        SECTIONS,
        "            counts[j, old] -= 1.0\n",
        "            counts[j, old] -= 0.0\n",
        "A row chooses given the others, not given itself.",
        GIBBS,
    ),
    Mutation(
        "grouped-weight-of-an-emptied-component-is-lost",
        SECTIONS,
        "                rest[0] += top[left]\n",
        "",
        "A component without rows gives its weight back to beta_u.",
        KEPT,
    ),
    Mutation(
        "grouped-new-component-takes-all-that-is-left",
        SECTIONS,
        "            top[chosen], rest[0] = break_weight(rest[0], gamma, rng)\n",
        "            top[chosen] = rest[0]\n",
        "A new component has a Beta(1, gamma) share of beta_u.",
        KEPT,
    ),
    Mutation(
        "grouped-new-component-of-weight-one",
        SECTIONS,
        "alpha * rest * fast_exp(log_alone - largest)",
        "alpha * fast_exp(log_alone - largest)",
        "New components share what beta_u has of alpha.",
        GIBBS,
    ),
    Mutation(
        "grouped-components-move-without-their-weights",
        SECTIONS,
        "    groups.top[target] = groups.top[source]\n",
        "    groups.top[target] = groups.top[0]\n",
        "The last component takes along its weight.",
        KEPT,
    ),
    Mutation(
        "grouped-components-move-without-their-rows",
        SECTIONS,
        "        groups.counts[j, target] = groups.counts[j, source]\n",
        "",
        "The last component takes along its rows in the groups.",
        GIBBS,
    ),
    Mutation(
        "grouped-split-without-the-top-level",
        MOVES,
        "    result = math.log(gamma) - shares[0] - shares[1]\n",
        "    result = 0.0 * gamma\n",
        "Two weights in the place of one have another density.",
        SPLITS,
    ),
    Mutation(
        "grouped-split-without-gamma",
        MOVES,
        "    result = math.log(gamma) - shares[0] - shares[1]\n",
        "    result = 0.0 * gamma - shares[0] - shares[1]\n",
        "Each component has a factor gamma.",
        SPLITS,
    ),
    Mutation(
        "grouped-split-forgets-how-shares-were-proposed",
        MOVES,
        "            log_way += log_density_of_shares(m_a, m_b, shares[0])\n",
        "",
        "Shares are drawn from Beta(m_a, m_b).",
        SPLITS_OF_COUNTS,
    ),
    Mutation(
        "grouped-split-forgets-its-way",
        MOVES,
        "        log_split = log_pair - log_both - log_way - LOG_TWO\n",
        "        log_split = log_pair - log_both - LOG_TWO\n",
        "A split divides by the probability of its allocation, a merge multiplies.",
        SPLITS,
    ),
    Mutation(
        "grouped-trade-way-back-forgotten",
        MOVES,
        "log_pair - log_pair_before + log_way_back - log_way\n",
        "log_pair - log_pair_before\n",
        "A trade is weighed by the probabilities of both ways.",
        SPLITS_OF_COUNTS,
    ),
    Mutation(
        "grouped-merge-or-trade",
        MOVES,
        "log_way - LOG_TWO\n",
        "log_way\n",
        "Half of the moves of two components are trades.",
        SPLITS,
    ),
    Mutation(
        "grouped-both-have-the-weight-of-one",
        MOVES,
        "log_prior_of_both(alpha * weight, group_counts)",
        "log_prior_of_both(alpha * top[first], group_counts)",
        "The joined component has the weight of both.",
        SPLITS,
    ),
    Mutation(
        "grouped-sides-without-the-prior-of-groups",
        MOVES,
        "result += log_rising(group_counts.priors[side], group_counts.counts[side, j])",
        "result += 0.0",
        "The shares of groups are summed out, for two components as for one.",
        SPLITS,
    ),
    Mutation(
        "grouped-merge-with-drawn-shares",
        MOVES,
        "        copy_shares(shares[2 if has_goal else 1], shares[0])\n",
        "        copy_shares(shares[1], shares[0])\n",
        "A merge is weighed with the shares that the components have.",
        SPLITS,
    ),
    Mutation(
        "grouped-merged-weight-is-lost",
        MOVES,
        "        top[second] = top[n_clusters - 1]  # the last one takes its place\n",
        "",
        "The joined component may be the last one, which takes the place of the other.",
        f"{PARTITIONS}::test_weights_of_merged_components",
    ),
    Mutation(
        "grouped-tables-of-other-concentrations",
        MOVES,
        "group_counts.priors[side] = prior * math.exp(shares[side])\n",
        "group_counts.priors[side] = prior * math.exp(shares[1 - side])\n",
        "Each side has its own share of the prior.",
        SPLITS_OF_COUNTS,
    ),
    Mutation(
        "grouped-log-joint-of-the-wrong-groups",
        WALKER,
        "gammaln(top.concentration + np.diff(self.ptr))",
        "gammaln(top.concentration + np.diff(self.ptr)[::-1] + 1)",
        "Every group has a factor of its own size.",
        f"{PARTITIONS}::test_log_joint[full]",
    ),
    Mutation(
        "grouped-fold-in-counts-itself",
        FOLD_IN,
        "            counts[labels[i]] -= 1.0\n",
        "            counts[labels[i]] -= 0.0\n",
        "A row of a new group chooses given the others.",
        f"{DENSITIES}::test_components_of_rows[full-1.3]",
    ),
    Mutation(
        "grouped-fold-in-keeps-the-first-prior",
        FOLD_IN,
        "first_prior if sweep == 0 else prior",
        "first_prior if sweep >= 0 else prior",
        "Only the first sweep may take a larger prior.",
        f"{DENSITIES}::test_components_of_rows[full-0.1]",
    ),
    Mutation(
        "grouped-scores-are-given-the-scored-rows",
        MODEL,
        "(ptr, values[given], values[scored], key",
        "(ptr, values[scored], values[given], key",
        "The second half of a group is scored given the first.",
        f"{UNIT}::TestScores::test_average_over_samples",
    ),
    Mutation(
        "grouped-scores-depend-on-the-order-of-rows",
        MODEL,
        "np.lexsort((*values.T[::-1], groups))",
        "np.argsort(groups, kind='stable')",
        "The model does not know the order of rows within groups.",
        f"{UNIT}::TestScores::test_neither_orders_nor_types_matter",
    ),
    Mutation(
        "grouped-scores-depend-on-signs-of-zeros",
        MODEL,
        "(np.where(np.isnan(values), np.nan, values) + 0.0).view(np.uint64)",
        "np.where(np.isnan(values), np.nan, values).view(np.uint64)",
        "Rows that are equal have equal bits.",
        f"{UNIT}::TestScores::test_neither_orders_nor_types_matter",
    ),
    Mutation(
        "grouped-shares-without-a-prior",
        MODEL,
        "(sums + self.prior) / (np.diff(ptr)[:, np.newaxis] + self.concentration)",
        "sums / np.diff(ptr)[:, np.newaxis]",
        "Shares are smoothed by alpha beta.",
        f"{DENSITIES}::test_completion_by_one_row[full]",
    ),
    Mutation(
        "grouped-scores-of-one-sample",
        MODEL,
        "logsumexp(parts, axis=0) - np.log(len(parts)), scored\n",
        "parts[0], scored\n",
        "Densities are averaged over the stored samples.",
        f"{UNIT}::TestScores::test_average_over_samples",
    ),
    Mutation(
        "hdp-mixture-labels-drawn-in-passes",
        MOVES,
        "            kind, n_free, n, members, sides,",
        "            kind, n - 2, n, members, sides,",
        "Passes would draw the sides of labeled rows one by one.",
        "tests/exact/mixture/test_grouped_partitions.py::test_partitions_with_labels[split-merge]",
    ),
    Mutation(
        "alike-columns-lose-weights-of-groups",
        "mixture/_hdp/_sampler.py",
        "self.top.weights.sum(keepdims=True)",
        "self.top.weights[:1]",
        "The single component has the weight of all.",
        "tests/exact/mixture/test_alike_columns.py::test_grouped_partitions_and_columns",
    ),
]
