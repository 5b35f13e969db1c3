"""Wrong patches of grammars learnt by structured mean field or by maximum likelihood."""

from mutation.mutation import Mutation

BOUND_TESTS = "tests/exact/grammar/test_hdp_pcfg.py"
TOP_TESTS = "tests/exact/grammar/test_top_weights.py"
INDUCTION_TESTS = "tests/unit/grammar/induction/test_ascent.py"
PREDICTION_TESTS = "tests/exact/grammar/test_predictions.py"

VARIATIONAL = "grammar/_induction/_variational.py"
TOP = "grammar/_top_weights.py"
DIRICHLET = "grammar/_dirichlet.py"
COUNTS = "grammar/_induction/_counts.py"
LAYOUT = "grammar/_induction/_layout.py"
LIKELIHOOD = "grammar/_induction/_maximum_likelihood.py"
INDUCTION = "grammar/_induction/_ascent.py"
ESTIMATOR = "grammar/_hdp_pcfg.py"


def _bound(case: str) -> str:
    """Return the test of the bound three iterations after a start."""
    return f"{BOUND_TESTS}::test_lower_bound[3-{case}]"


_PRIORS = [
    Mutation(
        "grammar-rules-without-beta",
        TOP,
        "        return self.concentration * np.outer(weights[self.left], weights[self.right])",
        "        shape = len(weights[self.left]), len(weights[self.right])\n"
        "        return np.full(shape, self.concentration / (shape[0] * shape[1]))",
        "Erratum C1: the base measure of the binary rules is beta beta'.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-root-without-beta",
        TOP,
        "            return self.concentration * weights[self.left]",
        "            return np.full(len(weights[self.left]), self.concentration)",
        "Erratum C7: the root's distribution has the base measure beta.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-exponent-of-the-posterior",
        DIRICHLET,
        "    posterior = prior + rows\n    logs",
        "    posterior = prior + rows + 1.0\n    logs",
        "Erratum C2, (38)-(41): the exponent is alpha - 1 + C.",
        f"{BOUND_TESTS}::test_weights_of_the_trees[plain, GEM]",
    ),
    Mutation(
        "grammar-mean-without-the-prior",
        DIRICHLET,
        "    posterior = prior + rows\n    return (",
        "    posterior = 1e-9 * prior + rows\n    return (",
        "E phi counts the prior.",
        f"{PREDICTION_TESTS}::test_scores_and_shares[plain, GEM]",
    ),
    Mutation(
        "grammar-weights-of-the-mean",
        DIRICHLET,
        "    logs = psi(posterior) - psi(posterior.sum(axis=1, keepdims=True))",
        "    logs = np.log(posterior) - np.log(posterior.sum(axis=1, keepdims=True))",
        "E log phi, not log E phi (36).",
        f"{BOUND_TESTS}::test_weights_of_the_trees[plain, GEM]",
    ),
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
]

_BOUND = [
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
        "for f in self._families()]",
        "for f in self._families()[1:]]",
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
        "grammar-bound-without-expected-logs",
        DIRICHLET,
        "log_evidence(prior, counts) - float(np.sum(counts * expected_log(prior, counts)))",
        "log_evidence(prior, counts)",
        "A divergence, not an evidence.",
        _bound("plain, GEM"),
    ),
    Mutation(
        "grammar-bound-without-normaliser",
        DIRICHLET,
        "np.sum(gammaln(total) - gammaln(total + rows.sum(axis=1)))",
        "0.0",
        "The normalisers of the rows are part of their divergence.",
        _bound("plain, GEM"),
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
        "        made.top_weights = maximize(self.priors.top, made._families(), self.top_weights)",
        "        made.top_weights = self.top_weights",
        "Beta is a coordinate too.",
        f"{BOUND_TESTS}::test_top_weights_are_optimal[partitioned, Dirichlet]",
    ),
]

_TOP_WEIGHTS = [
    Mutation(
        "grammar-gem-without-last-tail",
        TOP,
        "(gamma - 1.0) * logs[-1] - logs[:-1].sum()",
        "-logs[:-1].sum()",
        "Beta(1, gamma) densities leave (gamma - 1) log T_K.",
        f"{TOP_TESTS}::test_density",
    ),
    Mutation(
        "grammar-gem-without-jacobian",
        TOP,
        "(gamma - 1.0) * logs[-1] - logs[:-1].sum()",
        "(gamma - 1.0) * logs[-1]",
        "The Jacobian of the sticks is the product of 1 / T_z.",
        f"{TOP_TESTS}::test_density",
    ),
    Mutation(
        "grammar-gem-without-constant",
        TOP,
        "float((n - 1) * np.log(gamma) + ",
        "float(",
        "A density integrates to 1.",
        f"{TOP_TESTS}::test_density_integrates_to_one",
    ),
    Mutation(
        "grammar-gem-slope-of-last-tail",
        TOP,
        "        slopes[-1] *= 1.0 - gamma",
        "        slopes[-1] = 0.0",
        "(48)-(49): the last tail has the factor gamma - 1.",
        f"{TOP_TESTS}::test_gradient[plain, GEM]",
    ),
    Mutation(
        "grammar-dirichlet-shared-out",
        TOP,
        "        shape = gamma / n\n",
        "        shape = gamma\n",
        "Dirichlet(gamma / K), A.3.3.",
        f"{TOP_TESTS}::test_density",
    ),
    Mutation(
        "grammar-dirichlet-slope",
        TOP,
        "np.asarray((gamma / n - 1.0) / beta)",
        "np.asarray((gamma - 1.0) / beta)",
        "The slope of Dirichlet(gamma / K).",
        f"{TOP_TESTS}::test_gradient[plain, Dirichlet]",
    ),
    Mutation(
        "grammar-slopes-of-one-child",
        TOP,
        "            slopes[family.right] = slopes[family.right] + cells.T @ weights[family.left]",
        "            slopes[family.left] = slopes[family.left] + cells @ weights[family.right]",
        "Erratum C10: PC and CP are linear in each of the two betas.",
        f"{TOP_TESTS}::test_gradient[partitioned, GEM]",
    ),
    Mutation(
        "grammar-slopes-of-the-counts",
        TOP,
        "np.sum(psi(base + family.counts) - psi(base), axis=0)",
        "np.sum(psi(base + family.counts), axis=0)",
        "(52)-(54): the normaliser depends on beta.",
        f"{TOP_TESTS}::test_gradient[plain, GEM]",
    ),
]

_TRIALS = [
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
]

_LIKELIHOOD = [
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
        "What smoothed EM maximises.",
        f"{BOUND_TESTS}::test_maximum_likelihood[0.2-0.0001-plain, GEM]",
    ),
]

_PREDICTION = [
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
        "inside(sentences, self._mean_weights(), n_jobs=self.n_jobs)",
        "inside(sentences, self._grammar.weights(), n_jobs=self.n_jobs)",
        "exp E log phi is no proper grammar.",
        f"{PREDICTION_TESTS}::test_probabilities_of_all_sentences_sum_to_one",
    ),
]

MUTATIONS = [*_PRIORS, *_BOUND, *_TOP_WEIGHTS, *_TRIALS, *_LIKELIHOOD, *_PREDICTION]
