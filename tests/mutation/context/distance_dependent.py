"""Wrong patches: links between similar contexts."""

from mutation.mutation import Mutation

LINKS = "tests/exact/context/test_links.py"
UNITS = "tests/unit/context/test_distance_dependent_crp_classifier.py"
PARTS = "context/_distance_dependent"
COMPONENTS = f"{PARTS}/_kernels_components.py"
SWEEP = f"{PARTS}/_kernels_sweep.py"
ROWS = f"{PARTS}/_kernels_rows.py"
SUBSETS = f"{PARTS}/_subsets.py"
SIMILARITIES = f"{PARTS}/_similarities.py"
WALKER = f"{PARTS}/_sampler.py"
MODEL = f"{PARTS}/_model.py"
SHARED = f"{LINKS}::test_links[product-shared]"
DIRICHLET = f"{LINKS}::test_links[product-dirichlet]"
TABLE = f"{LINKS}::test_links[precomputed-shared]"
OUTCOME_PRIOR = f"{LINKS}::test_drawn_outcome_prior[shared]"
DECAYS = f"{LINKS}::test_drawn_decays[shared]"

MUTATIONS = [
    Mutation(
        "links-weights-as-printed",
        SWEEP,
        "    return math.log(total / (outcome_prior + m_x - 1.0))\n",
        "    return math.log((outcome_prior + m_x - 1.0) / (outcome_prior + m_x))\n",
        "(2.23) as printed: m_x + gamma without a change, m_x - 1 + gamma where two are joined.",
        SHARED,
    ),
    Mutation(
        "links-no-total-of-components",
        SWEEP,
        "    return math.log(total / (outcome_prior + m_x - 1.0))\n",
        "    return -math.log(outcome_prior + m_x - 1.0)\n",
        "The probability of the outcomes has the number of all components in its denominator.",
        SHARED,
    ),
    Mutation(
        "links-components-with-the-link",
        SWEEP,
        "(outcome_prior + m_x - 1.0)",
        "(outcome_prior + m_x)",
        "m_x counts i's component, which goes if two are joined.",
        SHARED,
    ),
    Mutation(
        "links-similarity-as-printed",
        SUBSETS,
        "        weights = np.concatenate([weights * np.exp(-rate), weights * -np.expm1(-rate)])\n"
        "    return weights\n",
        "        weights = np.concatenate([weights * np.exp(-rate), weights * -np.expm1(-rate)])\n"
        "    weights[:] = np.exp(-decay).sum()\n"
        "    weights[1:] = 0.0\n"
        "    weights[2 ** np.arange(len(decay))] = -np.expm1(-decay)\n"
        "    return weights\n",
        "(2.19) as printed: a sum over columns, not a product.",
        SHARED,
    ),
    Mutation(
        "links-oneself-counts-among-the-others",
        SIMILARITIES,
        'observations.once("others", lambda: self.index.count(repeats) - 1.0)',
        'observations.once("others", lambda: self.index.count(repeats))',
        "phi_ii is no part of the normalizer: a link to oneself weighs alpha.",
        f"{LINKS}::test_log_joint[product-shared]",
    ),
    Mutation(
        "links-oneself-among-the-proposals",
        SWEEP,
        "total += source.weights[q] * (source.sizes[row, q] - 1)",
        "total += source.weights[q] * source.sizes[row, q]",
        "Others are proposed by their similarities, without one's own.",
        SHARED,
    ),
    Mutation(
        "links-proposal-never-the-last",
        SWEEP,
        "    return members[start + size - 1] if j == i else j\n",
        "    return members[start] if j == i else j\n",
        "All others in a bucket are as probable.",
        f"{LINKS}::test_links_of_many_of_one_outcome[shared]",
    ),
    Mutation(
        "links-own-column-not-skipped",
        SWEEP,
        "        value += source.own[row]\n",
        "        value += 0.0\n",
        "What i is like itself is left out of the sums along its row.",
        TABLE,
    ),
    Mutation(
        "links-ratio-upside-down",
        SWEEP,
        "< other - weight:",
        "< weight - other:",
        "A proposal is accepted by the ratio of its weight to the old one.",
        DIRICHLET,
    ),
    Mutation(
        "links-cut-does-not-count",
        COMPONENTS,
        "        c.n_of_outcome[c.outcomes[i]] += 1\n",
        "        c.n_of_outcome[c.outcomes[i]] += 0\n",
        "A component that falls apart is one more of its outcome.",
        SHARED,
    ),
    Mutation(
        "links-other-side-keeps-its-label",
        COMPONENTS,
        "        relabel(side, c.walk[side, TAIL], c.labels[i]",
        "        relabel(side, 1, c.labels[i]",
        "All of a side that is cut off get the new label.",
        f"{UNITS}::test_components_are_those_of_the_links[3-shared]",
    ),
    Mutation(
        "links-union-without-totals",
        SWEEP,
        "    result -= log_total_gammas[n_a + n_b] + log_total_gammas[0]\n",
        "    result = 0.0\n",
        "f(A) has the number of all members in its denominator.",
        DIRICHLET,
    ),
    Mutation(
        "links-union-without-its-parts",
        SWEEP,
        "log_gammas[k + m] + log_gammas[0] - log_gammas[k] - log_gammas[m]",
        "log_gammas[k + m] - log_gammas[0]",
        "Joining multiplies by f(A u B) / (f(A) f(B)).",
        DIRICHLET,
    ),
    Mutation(
        "links-members-not-moved",
        COMPONENTS,
        "            c.counts[new, c.outcomes[i]] += 1\n",
        "            c.counts[new, c.outcomes[i]] += 0\n",
        "Counts of outcomes go with the members.",
        DIRICHLET,
    ),
    Mutation(
        "links-concentration-without-its-prior",
        WALKER,
        "(shape + n_loops) * math.log(value) - rate * value",
        "(1.0 + n_loops) * math.log(value)",
        "The density of the concentration's logarithm has its Gamma prior.",
        f"{LINKS}::test_drawn_concentration[product-shared]",
    ),
    Mutation(
        "links-concentration-without-loops",
        WALKER,
        "(shape + n_loops) * math.log(value)",
        "shape * math.log(value)",
        "Each link to oneself has the weight alpha.",
        f"{LINKS}::test_drawn_concentration[product-shared]",
    ),
    Mutation(
        "links-decay-without-its-links",
        SIMILARITIES,
        "log_prior - float(differences[d]) * value - normalizers",
        "log_prior - normalizers",
        "Links between contexts that differ speak for small decays.",
        DECAYS,
    ),
    Mutation(
        "links-decay-without-normalizers",
        SIMILARITIES,
        "log_prior - float(differences[d]) * value - normalizers",
        "log_prior - float(differences[d]) * value",
        "The normalizers of the prior of links depend on the decays.",
        DECAYS,
    ),
    Mutation(
        "links-decay-of-the-wrong-column",
        SIMILARITIES,
        "        is_with = (np.arange(2 * len(weights)) >> d) & 1 == 1\n",
        "        is_with = np.arange(2 * len(weights)) & 1 == 1\n",
        "The sets with column d are those with bit d.",
        f"{UNITS}::test_two_ways_to_the_same_sums[True]",
    ),
    Mutation(
        "links-jacobian-of-decays",
        SIMILARITIES,
        "log_prior = shape * math.log(value) - rate * value",
        "log_prior = (shape - 1.0) * math.log(value) - rate * value",
        "The density is that of the decay's logarithm.",
        DECAYS,
    ),
    Mutation(
        "links-table-counts-oneself",
        ROWS,
        "        alike[u] = repeats[u] - 1.0",
        "        alike[u] = repeats[u]",
        "An observation is no other to itself.",
        f"{LINKS}::test_drawn_decays_in_a_table[shared]",
    ),
    Mutation(
        "links-weights-without-links",
        SIMILARITIES,
        "value + log_links - normalizers",
        "value - normalizers",
        "Links have the probability of their similarity.",
        f"{LINKS}::test_drawn_weights[shared]",
    ),
    Mutation(
        "links-fresh-by-observations",
        MODEL,
        "            counts += np.bincount(self.outcomes[firsts], minlength=self.n_outcomes)\n",
        "            counts += np.bincount(self.outcomes, minlength=self.n_outcomes)\n",
        "A fresh component gets an outcome by the numbers of components.",
        f"{LINKS}::test_predictive_given_links[product-shared]",
    ),
    Mutation(
        "links-prediction-without-the-prior",
        MODEL,
        "        counts += model.outcome_prior\n",
        "        counts += 1e-9\n",
        "A component's distribution is the posterior mean, prior included.",
        f"{LINKS}::test_predictive_given_links[product-dirichlet]",
    ),
    Mutation(
        "links-outcome-prior-of-one-outcome",
        WALKER,
        "        total = self._n_outcomes * gamma\n",
        "        total = gamma\n",
        "The total of the Dirichlet prior is that of all outcomes.",
        OUTCOME_PRIOR,
    ),
    Mutation(
        "links-outcome-prior-on-the-wrong-scale",
        WALKER,
        "return shape * math.log(value) - rate * value",
        "return (shape - 1.0) * math.log(value) - rate * value",
        "The density is that of the logarithm: the Gamma density times the value.",
        OUTCOME_PRIOR,
    ),
    Mutation(
        "links-outcome-prior-in-old-tables",
        WALKER,
        "self.outcome_prior, self.stream)\n        self._tabulate()\n",
        "self.outcome_prior, self.stream)\n",
        "Links are weighed by tables of the outcome prior, which are those of the current one.",
        f"{LINKS}::test_drawn_outcome_prior[dirichlet]",
    ),
]

EQUIVALENTS = [
    Mutation(
        "links-more-proposals",
        WALKER,
        "N_PROPOSALS = 4\n",
        "N_PROPOSALS = 1\n",
        "One proposal in a visit is right, too, only slower.",
        SHARED,
    ),
]
