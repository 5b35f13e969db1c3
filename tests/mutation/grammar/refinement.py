"""Wrong patches of refined grammars."""

from mutation.mutation import Mutation

TESTS = "tests/exact/grammar/test_refinement.py"

CHART = "grammar/_refinement/_kernels_coarse.py"
FOREST = "grammar/_refinement/_kernels_forest.py"
GRAMMAR = "grammar/_refinement/_variational.py"
LABELS = "grammar/_refinement/_kernels_messages.py"
DECODING = "grammar/_refinement/_decoding.py"
LIMITS = "tests/exact/grammar/test_limits.py"
PARSER = "grammar/_refinement/_parser.py"
PARSES = "tests/exact/grammar/test_refined_parses.py"
REFINER = "tests/unit/grammar/test_hdp_pcfg_refiner.py"
REFINEMENT = "grammar/_refinement/_ascent.py"

CYCLES = "tests/exact/grammar/test_split_merge.py"
MERGES = "grammar/_refinement/_kernels_merges.py"
REGROUPING = "grammar/_refinement/_regrouping.py"
SPLIT_MERGE = "grammar/_refinement/_split_merge.py"

MUTATIONS = [
    Mutation(
        "refinement-outside-of-impossible-subsymbols",
        FOREST,
        "            if inside[item, z] == 0.0:  # else without bound",
        "            if False:",
        "Outside weights of subsymbols without inside weight grow without bound: 0 x inf.",
        f"{TESTS}::test_shares_with_weights_of_any_size",
    ),
    Mutation(
        "refinement-split-children-whole",
        REFINEMENT,
        "            if axis <= n_children:",
        "            if False:",
        "Halves of a child share its weight.",
        "tests/unit/grammar/refinement/test_ascent.py::test_split_grammar_is_the_same[4]",
    ),
    Mutation(
        "refinement-prior-without-base",
        GRAMMAR,
        "            self.priors.binary * pairs[..., None],",
        "            self.priors.binary / pairs[0].size * np.ones_like(pairs[..., None]),",
        "The prior of binary rules is alpha beta beta' (erratum C1).",
        f"{TESTS}::test_weights_are_expected_logs",
    ),
    Mutation(
        "refinement-root-without-base",
        GRAMMAR,
        "            self.priors.unary * beta[rules.roots],",
        "            self.priors.unary / beta.shape[1] * np.ones_like(beta[rules.roots]),",
        "The root has a prior of its own (erratum C7).",
        f"{TESTS}::test_weights_are_expected_logs",
    ),
    Mutation(
        "refinement-density-left-out",
        GRAMMAR,
        "        total = log_gem(self.top_weights, self.priors.top)[0]\n",
        "        total = 0.0\n",
        "The bound counts the density of beta (errata C5, C8).",
        f"{TESTS}::test_bound_without_counts_is_the_density_of_the_weights",
    ),
    Mutation(
        "refinement-outside-of-the-right-child",
        LABELS,
        "            outside[second, j] += pairs[i, j] * x",
        "            outside[second, j] += pairs[j, i] * x",
        "Rows are left children.",
        f"{TESTS}::test_messages_match_all_labelings[2]",
    ),
    Mutation(
        "refinement-pairs-of-another-rule",
        FOREST,
        "                        pairs[i, j] = 0.0\n                        for z in range(n):",
        "                        for z in range(n):",
        "Each rule sums its own splits.",
        f"{TESTS}::test_projection_matches_all_trees",
    ),
    Mutation(
        "refinement-chains-of-one",
        CHART,
        "            x = log_unary[u] + chart[span, level - 1, unary[u, 1]]",
        "            x = log_unary[u] + chart[span, 0, unary[u, 1]]",
        "A unary rule stands on the level below.",
        "tests/unit/grammar/test_hdp_pcfg_refiner.py::test_long_chains_come_back",
    ),
    Mutation(
        "refinement-coarse-left-children-free",
        CHART,
        "                        x = log_by_left[b] + inner + best_in[second",
        "                        x = log_by_left[b] + best_in[second",
        "The best tree of a span has a left and a right child.",
        f"{TESTS}::test_pruning_keeps_what_is_part_of_a_good_tree",
    ),
    Mutation(
        "refinement-pairs-of-good-items-are-kept",
        CHART,
        "                                if right >= 0 and x + y >= cut:",
        "                                if right >= 0:",
        "Two items may be parts of good trees, and of none together.",
        f"{TESTS}::test_pruning_keeps_what_is_part_of_a_good_tree",
    ),
    Mutation(
        "refinement-product-of-the-last",
        "grammar/_refinement/_parser.py",
        "log_sum + other.log_sum, shares * other.shares",
        "log_sum + other.log_sum, other.shares",
        "A product has the posteriors of all grammars.",
        f"{TESTS}::test_product_matches_all_trees",
    ),
    Mutation(
        "refinement-join-forgets-lone-parents",
        GRAMMAR,
        "        (made.unary, 2, rules.unary[:, 0]),\n",
        "",
        "A subsymbol that joins another one takes the rules along of which it is the parent.",
        "tests/unit/grammar/refinement/test_variational.py::test_join[1]",
    ),
    Mutation(
        "refinement-max-rule-of-copies",
        DECODING,
        "        scores[(trees.edges[:, 0] == COPY) & (shares > 0.0)] = 0.0",
        "        pass",
        "Copies are no rules.",
        f"{TESTS}::test_decodings_differ",
    ),
    Mutation(
        "refinement-projection-of-edges",
        DECODING,
        "        np.subtract(scores, root_scores[items], out=scores, where=shares > 0.0)",
        "        pass",
        "An item's edges share its probability.",
        f"{TESTS}::test_decodings_differ",
    ),
    Mutation(
        "refinement-rare-words-without-their-class",
        PARSER,
        "        of_word = (own + _SMOOTHING * of_class)",
        "        of_word = (own + _SMOOTHING)",
        "What a word was not seen with, it has as its class has.",
        f"{PARSES}::test_rare_words_keep_their_tags[words0]",
    ),
    Mutation(
        "refinement-known-words-keep-everything",
        PARSER,
        "    logs[emission[:, 1] >= 0] += np.log(n_tokens) - log_total\n",
        "",
        "What unknown words have is taken from the known ones.",
        f"{PARSES}::test_probabilities_sum_to_one_without_rare_words[em]",
    ),
    Mutation(
        "refinement-unknown-words-of-a-whole-token",
        PARSER,
        "+= np.log(_SMOOTHING) - log_total",
        "+= -log_total",
        "Unknown words count half a token.",
        f"{PARSES}::test_unknown_words_without_rare_ones_keep_the_order_of_trees",
    ),
    Mutation(
        "refinement-trees-of-longer-chains",
        PARSER,
        "            if rule is None or chain > self.rules.longest_chain:",
        "            if rule is None:",
        "Sentences have no trees with longer chains.",
        f"{PARSES}::test_sums_and_posteriors[1]",
    ),
    Mutation(
        "refinement-flat-trees-of-marked-symbols",
        "grammar/_refinement/_parses.py",
        "self.undo(self.parser.make_flat(words, sentence)), False",
        "self.parser.make_flat(words, sentence), False",
        "Symbols of the treebank have no marks.",
        f"{REFINER}::test_orders_with_tags_and_without_parse[with_orders1]",
    ),
    Mutation(
        "refinement-no-backoff",
        "grammar/_refinement/_parses.py",
        "if tree is None and self.backoff is not None:",
        "if tree is None and self.backoff is self:",
        "What finer symbols forbid is parsed without them.",
        f"{REFINER}::test_what_ancestors_forbid_is_parsed_without_them[2-1-max-rule]",
    ),
    Mutation(
        "refinement-rare-words-of-the-finer-grammar",
        "grammar/_refinement/_backoff.py",
        "    own.count_symbols(sentences, flat.word_symbols.tolist())\n",
        "",
        "Rare words have the symbols of the grammar that parses.",
        f"{REFINER}::test_rare_words_without_ancestors",
    ),
    Mutation(
        "refinement-words-as-they-are",
        "grammar/_refinement/_parses.py",
        "words = [as_in_treebanks(word) for word in sentence]",
        "words = list(sentence)",
        "A parenthesis is the same word by its name.",
        f"{REFINER}::test_parentheses_have_two_spellings[9]",
    ),
    Mutation(
        "split-merge-outside-of-one-half",
        MERGES,
        "            joined = within * (outside[node, z] + outside[node, y])",
        "            joined = within * outside[node, z]",
        "What is merged is chosen where either half was.",
        f"{CYCLES}::test_losses_are_exact_if_no_tree_has_two_such_nodes[0]",
    ),
    Mutation(
        "split-merge-halves-of-equal-share",
        MERGES,
        "share[s, z] * inside[node, z] + share[s, y] * inside[node, y]",
        "0.5 * inside[node, z] + 0.5 * inside[node, y]",
        "What is merged goes on as its halves did, by their expected nodes.",
        f"{CYCLES}::test_losses_take_every_node_by_itself",
    ),
    Mutation(
        "split-merge-parents-are-summed",
        REGROUPING,
        "    weight = np.where(is_merged | dropped, share, 1.0)",
        "    weight = np.ones_like(share)",
        "Rules of what is merged are means, not sums.",
        f"{CYCLES}::test_merged_grammar[0]",
    ),
    Mutation(
        "split-merge-children-whole",
        REGROUPING,
        "1.0 / (1 + is_split[origin])",
        "1.0",
        "Halves of a child share its weight.",
        f"{CYCLES}::test_splits_without_noise_change_nothing[6]",
    ),
    Mutation(
        "split-merge-the-dearest",
        REGROUPING,
        "np.argsort(losses.reshape(-1)[pairs], kind",
        "np.argsort(-losses.reshape(-1)[pairs], kind",
        "Merges are those that cost least.",
        f"{CYCLES}::test_the_cheapest_merges_are_made[0.5-2]",
    ),
    Mutation(
        "split-merge-smoothed-sums",
        REGROUPING,
        "    totals = np.where(is_used, sums(), 1.0)",
        "    totals = np.ones_like(is_used, dtype=float)",
        "Words and rules are smoothed by different shares: their sum is not 1.",
        f"{CYCLES}::test_smoothing",
    ),
    Mutation(
        "split-merge-not-smoothed",
        SPLIT_MERGE,
        "        if self._is_merged and self._n_left == 1:",
        "        if False:",
        "A cycle ends with a smoothed grammar.",
        f"{CYCLES}::test_every_cycle_ends_with_a_smoothed_grammar",
    ),
    Mutation(
        "refinement-lone-child-of-its-parents-weights",
        GRAMMAR,
        "            self.priors.unary * beta[rules.unary[:, 1], :, None],",
        "            self.priors.unary * beta[rules.unary[:, 0], :, None],",
        "The base of an only child is beta of its own symbol.",
        f"{LIMITS}::test_chains_of_unaries_are_a_nested_process",
    ),
    Mutation(
        "refinement-groups-of-another-total",
        GRAMMAR,
        "            priors.unary + counts.unary.sum(axis=1, keepdims=True),",
        "            priors.unary + counts.unary.sum(axis=2, keepdims=True),",
        "A group is the children of a parent's subsymbol.",
        f"{LIMITS}::test_observed_upper_subsymbols_are_groups",
    ),
    Mutation(
        "refinement-marginal-in-the-order-of-max-rule",
        "grammar/_refinement/_parses.py",
        "        found.sort(key=lambda pair: -pair[1])",
        "        pass",
        "Candidates are ranked by their probabilities.",
        f"{PARSES}::test_marginal_of_one_subsymbol_is_the_best_tree_of_the_treebank_grammar",
    ),
]
