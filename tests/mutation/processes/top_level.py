"""Wrong patches of the draws of a top level, its concentrations included."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_hdp_topic_model.py"
GROUPED = "tests/exact/mixture/test_grouped_partitions.py"
TOP = "processes/_top_level.py"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"

MUTATIONS = [
    Mutation(
        "top-level-tables-of-another-concentration",
        TOP,
        "ptr, dishes, self.concentration * self.weights,",
        "ptr, dishes, self.concentration + 0.0 * self.weights,",
        "The customers of a topic sit in a restaurant of concentration alpha beta_k.",
        f"{EXACT}::test_learned_concentrations[words-None]",
    ),
    Mutation(
        "top-level-top-concentration-of-words",
        TOP,
        "draw_top_concentration(tables, n_given,",
        "draw_top_concentration(np.bincount(dishes, minlength=n_dishes), n_given,",
        "The customers of the top level are tables, not words.",
        f"{EXACT}::test_learned_concentrations[words-None]",
    ),
    Mutation(
        "top-level-concentration-of-topics",
        TOP,
        "np.diff(ptr), own_tables, 0.0, alpha,",
        "np.diff(ptr), np.minimum(own_tables, 1), 0.0, alpha,",
        "alpha is drawn given all tables of the documents.",
        f"{EXACT}::test_learned_concentrations[words-None]",
    ),
    Mutation(
        "top-level-mean-of-one-draw",
        TOP,
        "            top = TopLevel(weights, left, self.concentration, gamma)\n",
        "",
        "Tables and weights are drawn in turn: without it, weights stay those of the beginning.",
        f"{GROUPED}::test_mean_weights",
    ),
    Mutation(
        "top-level-rest-of-no-tables",
        TOP,
        "                rest += gamma / (tables.sum() + gamma)\n",
        "                rest += gamma / (1.0 + gamma)\n",
        "beta_u has the mean gamma / (m.. + gamma).",
        f"{GROUPED}::test_mean_weights",
    ),
    Mutation(
        "top-level-given-dishes-with-two-tables",
        "processes/_top_level.py",
        "        tables[:n_given] += 1\n",
        "        tables[:n_given] += 2\n",
        "The prior of the weights of given dishes is Dirichlet(1, ..., 1, gamma).",
        f"{SEED_TESTS}::test_hdp[None]",
    ),
    Mutation(
        "top-level-evidence-without-given-dishes",
        "processes/_top_level.py",
        "    rate -= draw_log_beta(gamma + n_given, float(tables.sum()), rng)[0]\n",
        "    rate -= draw_log_beta(gamma, float(tables.sum()), rng)[0]\n",
        "The denominator of the likelihood of gamma is (gamma + G)_m.",
        f"{SEED_TESTS}::test_top_concentration",
    ),
    Mutation(
        "top-level-given-dishes-are-new",
        "processes/_top_level.py",
        "    return float(draw_given_evidence(shape + len(tables) - n_given, rate, rng))\n",
        "    return float(draw_given_evidence(shape + len(tables), rate, rng))\n",
        "Given dishes are no evidence for new ones.",
        f"{SEED_TESTS}::test_top_concentration",
    ),
]
