"""Wrong patches of the draws of a top level, its concentrations included."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_hdp_topic_model.py"
GROUPED = "tests/exact/mixture/test_grouped_partitions.py"
TOP = "processes/_top_level.py"

MUTATIONS = [
    Mutation(
        "top-level-tables-of-another-concentration",
        TOP,
        "ptr, dishes, self.concentration * self.weights,",
        "ptr, dishes, self.concentration + 0.0 * self.weights,",
        "The customers of a topic sit in a restaurant of concentration alpha beta_k.",
        f"{EXACT}::test_learned_concentrations[words]",
    ),
    Mutation(
        "top-level-top-concentration-of-words",
        TOP,
        "n_tables = np.array([tables.sum()])\n",
        "n_tables = np.array([len(dishes)])\n",
        "The customers of the top level are tables, not words.",
        f"{EXACT}::test_learned_concentrations[words]",
    ),
    Mutation(
        "top-level-concentration-of-topics",
        TOP,
        "np.diff(ptr), own_tables, 0.0, alpha,",
        "np.diff(ptr), np.minimum(own_tables, 1), 0.0, alpha,",
        "alpha is drawn given all tables of the documents.",
        f"{EXACT}::test_learned_concentrations[words]",
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
]
