"""Wrong patches of grammar induction."""

from mutation.mutation import Mutation

BOUND_TESTS = "tests/exact/grammar/test_hdp_pcfg.py"
INDUCTION_TESTS = "tests/unit/grammar/induction/test_ascent.py"

COUNTS = "grammar/_induction/_counts.py"
INDUCTION = "grammar/_induction/_ascent.py"
LAYOUT = "grammar/_induction/_layout.py"
LIKELIHOOD = "grammar/_induction/_maximum_likelihood.py"
VARIATIONAL = "grammar/_induction/_variational.py"


def _bound(case: str) -> str:
    """Return the test of the bound three iterations after a start."""
    return f"{BOUND_TESTS}::test_lower_bound[3-{case}]"


PREDICTION_TESTS = "tests/exact/grammar/test_predictions.py"
PARTITION_TESTS = "tests/unit/grammar/test_partitions.py"

BRACKET_TESTS = "tests/exact/grammar/test_brackets.py"
LIMIT_TEST = f"{BRACKET_TESTS}::test_a_tree_that_crosses_no_bracket_has_all_of_them"
BRACKETS = "grammar/_induction/_brackets.py"
ESTIMATOR = "grammar/_induction/_estimator.py"

PREDICTIONS = "grammar/_induction/_predictions.py"
PARTITIONS = "grammar/_induction/_partitions.py"

GIBBS_TESTS = "tests/exact/grammar/test_gibbs.py"
GIBBS = "grammar/_induction/_gibbs.py"
LIMITS = "tests/exact/grammar/test_limits.py"
GEM = f"{GIBBS_TESTS}::test_posterior[GEM]"
BINARY = f"{GIBBS_TESTS}::test_posterior[binary learned, beta known]"

MUTATIONS = [
    Mutation(
        "grammar-rule-types-swapped",
        LAYOUT,
        "for t, (left, right) in enumerate(pairs)",
        "for t, (right, left) in enumerate(pairs)",
        "PC is a preterminal on the left.",
        _bound("partitioned, GEM"),
    ),
    Mutation(
        "grammar-emission-comes-first",
        COUNTS,
        "            types.insert(0, self.emission.sum(axis=1))",
        "            types.append(self.emission.sum(axis=1))",
        "Rule types are (emission, binary).",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-rule-types-uncounted",
        VARIATIONAL,
        "(self.priors.rule_type, self.counts.of_rule_types(self.layout))",
        "(self.priors.rule_type, 0.0 * self.counts.of_rule_types(self.layout))",
        "The rows of rule types have posteriors of their own.",
        _bound("partitioned, Dirichlet"),
    ),
    Mutation(
        "grammar-kind-of-the-root-uncounted",
        VARIATIONAL,
        "            rows.append((ROOT_KIND_PRIOR, self._root_kind_counts()))",
        "            rows.append((ROOT_KIND_PRIOR, 0.0 * self._root_kind_counts()))",
        "Erratum C7: the kind of the root is drawn too.",
        _bound("partitioned, GEM"),
    ),
    Mutation(
        "grammar-bound-without-top-prior",
        VARIATIONAL,
        "bound = log_likelihood + sum(self.priors.top.log_density(b) for b in self.top_weights)",
        "bound = log_likelihood",
        "The bound is of log p(x, beta).",
        _bound("plain, Dirichlet"),
    ),
    Mutation(
        "grammar-bound-without-root",
        VARIATIONAL,
        "for f in self.families()]",
        "for f in self.families()[1:]]",
        "Erratum C7: the bound lacks the divergence of the root.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-bound-without-binary-rules",
        VARIATIONAL,
        "for prior, counts in families + self._other_rows()",
        "for prior, counts in self._other_rows()",
        "The bound lacks the divergence of the binary rules and the root.",
        _bound("partitioned, GEM"),
    ),
    Mutation(
        "grammar-bound-without-emissions",
        VARIATIONAL,
        "for prior, counts in families + self._other_rows()",
        "for prior, counts in families + self._other_rows()[:1] + self._other_rows()[2:]",
        "The bound lacks the divergence of the emissions.",
        _bound("partitioned, Dirichlet"),
    ),
    Mutation(
        "grammar-bound-without-rule-types",
        VARIATIONAL,
        "for prior, counts in families + self._other_rows()",
        "for prior, counts in families + self._other_rows()[1:]",
        "The bound lacks the divergence of the rule types.",
        _bound("plain, Dirichlet"),
    ),
    Mutation(
        "grammar-bound-without-kind-of-the-root",
        VARIATIONAL,
        "for prior, counts in families + self._other_rows()",
        "for prior, counts in families + self._other_rows()[:2]",
        "The bound lacks the divergence of the kind of the root.",
        _bound("partitioned, GEM"),
    ),
    Mutation(
        "grammar-names-not-carried-along",
        VARIATIONAL,
        "binary[np.ix_(orders[-1], joint, joint)]",
        "binary",
        "Symbols that are sorted keep their counts.",
        f"{BOUND_TESTS}::test_bound_never_falls",
    ),
    Mutation(
        "grammar-top-weights-at-rest",
        VARIATIONAL,
        "        made.top_weights = maximize(self.priors.top, made.families(), self.top_weights)",
        "        made.top_weights = self.top_weights",
        "Beta is a coordinate too.",
        f"{BOUND_TESTS}::test_top_weights_are_optimal[partitioned, Dirichlet]",
    ),
    Mutation(
        "grammar-trials-always-kept",
        INDUCTION,
        "            if bound > best:",
        "            if bound > best - 1e3:",
        "A symbol goes only where that raises the bound.",
        f"{INDUCTION_TESTS}::TestTrials::test_bound_never_falls",
    ),
    Mutation(
        "grammar-trials-never-kept",
        INDUCTION,
        "                self._jump(grammar, counts)",
        "                pass",
        "The ascent goes on without a symbol that can be spared.",
        f"{INDUCTION_TESTS}::TestTrials::test_bound_never_falls",
    ),
    Mutation(
        "grammar-without-no-symbol",
        VARIATIONAL,
        "        left[symbol] = False\n",
        "",
        "The symbol that is left out has no rules.",
        f"{INDUCTION_TESTS}::TestTrials::test_without_a_symbol",
    ),
    Mutation(
        "grammar-without-smoothing",
        VARIATIONAL,
        "_SMOOTHING = 0.1",
        "_SMOOTHING = 0.0",
        "Others can only take over by rules that they did not have.",
        f"{INDUCTION_TESTS}::TestTrials::test_without_a_symbol",
    ),
    Mutation(
        "grammar-the-last-symbol-goes",
        VARIATIONAL,
        "if np.count_nonzero(active[place]) > 1",
        "if np.count_nonzero(active[place]) > 0",
        "Without preterminals, or constituents, there is no sentence.",
        f"{INDUCTION_TESTS}::TestTrials::test_the_last_of_its_kind_stays",
    ),
    Mutation(
        "grammar-start-without-rule-types",
        INDUCTION,
        " = types[block.rule_type] + pairs",
        " = types[0] + pairs",
        "Starts have the rule types that their prior expects.",
        f"{INDUCTION_TESTS}::TestStart::test_rule_types",
    ),
    Mutation(
        "grammar-em-uneven-pseudo-counts",
        LIKELIHOOD,
        "        types = counts.of_rule_types(self.layout)",
        "        types = used.of_rule_types(self.layout)",
        "Every whole rule has a pseudo-count.",
        f"{BOUND_TESTS}::test_likelihood_never_falls",
    ),
    Mutation(
        "grammar-em-bound-without-pseudo-counts",
        LIKELIHOOD,
        "log_likelihood + self.pseudo_count * float(logs + weights.log_binary.sum())",
        "log_likelihood",
        "What smoothed EM maximizes.",
        f"{BOUND_TESTS}::test_maximum_likelihood[0.2-0.0001-plain, GEM]",
    ),
    Mutation(
        "grammar-trees-of-expected-logs",
        PREDICTIONS,
        'if self.predict_method == "mean" else',
        "if False else",
        "The option of section 4.3.",
        f"{PREDICTION_TESTS}::test_best_trees[mean-partitioned, GEM]",
    ),
    Mutation(
        "grammar-scores-of-expected-logs",
        PREDICTIONS,
        "            return [self._mean_weights()]",
        "            return [self._grammar.weights()]",
        "exp E log phi is no proper grammar.",
        f"{PREDICTION_TESTS}::test_probabilities_of_all_sentences_sum_to_one",
    ),
    Mutation(
        "partitions-first-one-alone",
        PARTITIONS,
        "self._executor.call(part.number, method, *args) for part in self._parts]",
        "self._executor.call(0, method, *args) for part in self._parts]",
        "Every partition has sentences of its own.",
        f"{PARTITION_TESTS}::test_expected_counts_are_those_of_all_sentences",
    ),
    Mutation(
        "grammar-tables-order-no-left-child",
        GIBBS,
        "            orders[family.left] += m.sum(axis=(0, 2))",
        "            pass",
        "A table orders two symbols from the top.",
        GEM,
    ),
    Mutation(
        "grammar-tables-order-no-right-child",
        GIBBS,
        "            orders[family.right] += m.sum(axis=(0, 1))",
        "            pass",
        "A table orders two symbols from the top.",
        GEM,
    ),
    Mutation(
        "grammar-roots-order-nothing",
        GIBBS,
        "            orders[family.left] += m.sum(axis=0)",
        "            pass",
        "The root's row has a prior made of beta, too.",
        GEM,
    ),
    Mutation(
        "grammar-rules-of-the-prior",
        VARIATIONAL,
        "partial(draw_log, rng=rng)",
        "lambda prior, counts: draw_log(prior, 0.5 * counts, rng)",
        "Rules are drawn given the trees.",
        f"{GIBBS_TESTS}::test_posterior_of_all[root learned]",
    ),
    Mutation(
        "grammar-binary-concentration-of-roots",
        GIBBS,
        "draw(families[i : i + n], tables[i : i + n], old, self.learned.binary)",
        "draw(families[:1], tables[:1], old, self.learned.binary)",
        "The rows of binary rules tell of their concentration.",
        BINARY,
    ),
    Mutation(
        "grammar-top-concentration-without-jacobian",
        GIBBS,
        "+ shape * log_gamma",
        "+ (shape - 1.0) * log_gamma",
        "The slice is of the logarithm.",
        f"{GIBBS_TESTS}::test_posterior_of_more[top learned, GEM]",
    ),
    Mutation(
        "grammar-independent-children-swapped",
        VARIATIONAL,
        "rules = join(rules[:, :, None], next(found)[:, None, :])",
        "rules = join(next(found)[:, :, None], rules[:, None, :])",
        "Section 2.3: the left child has the first row.",
        f"{BOUND_TESTS}::test_lower_bound[3-independent]",
    ),
    Mutation(
        "grammar-brackets-exclude-spans-with-their-end",
        BRACKETS,
        "        firsts[i : j - 1] = i\n",
        "        firsts[i:j] = i\n",
        "A span may end with a bracket and begin before it.",
        LIMIT_TEST,
    ),
    Mutation(
        "grammar-brackets-exclude-spans-with-their-start",
        BRACKETS,
        "        lasts[i + 1 : j] = j\n",
        "        lasts[i:j] = j\n",
        "A span may begin with a bracket and end after it.",
        LIMIT_TEST,
    ),
    Mutation(
        "grammar-brackets-widened-by-outer-ones",
        BRACKETS,
        "key=lambda span: (span[0], -span[1])",
        "key=lambda span: (span[0], span[1])",
        "The limits of a span are those of the innermost brackets.",
        LIMIT_TEST,
    ),
    Mutation(
        "grammar-brackets-ignored-by-ascents",
        ESTIMATOR,
        "        batches = SentenceBatches.of(data)\n",
        '        batches = SentenceBatches.of(getattr(data, "sentences", data))\n',
        "Expected counts are those of trees with all brackets.",
        f"{BRACKET_TESTS}::test_mean_field[plain, GEM]",
    ),
    Mutation(
        "grammar-brackets-ignored-by-chains",
        GIBBS,
        "        self._batches = SentenceBatches.of(sentences)\n",
        '        self._batches = SentenceBatches.of(getattr(sentences, "sentences", sentences))\n',
        "Drawn trees have all brackets.",
        f"{GIBBS_TESTS}::test_posterior_given_brackets",
    ),
    Mutation(
        "grammar-brackets-ignored-by-best-trees-of-partitions",
        PARTITIONS,
        "count_best_trees(self.batches, layout, 1, weights)",
        "count_best_trees(SentenceBatches.of(self.batches.sentences), layout, 1, weights)",
        "The best trees of partitions have all brackets, too.",
        "tests/unit/grammar/test_brackets.py::TestPartitions::"
        "test_fit[{'inference': 'viterbi-em'}]",
    ),
    Mutation(
        "grammar-beta-of-customers",
        GIBBS,
        "        orders = count_orders(self.layout, families, tables)",
        "        orders = count_orders(self.layout, families, [f.counts for f in families])",
        "Beta is drawn given tables, not the uses of rules.",
        f"{LIMITS}::test_observed_trees_are_a_hierarchical_process[joint-gem]",
    ),
]
