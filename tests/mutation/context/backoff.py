"""Wrong patches of back-off classifiers, and of what they use of franchises."""

from mutation.mutation import Mutation

HDP = "tests/exact/context/test_hdp_backoff_classifier.py"
COLLINS = "tests/exact/context/test_collins_backoff_classifier.py"
UNIT = "tests/unit/context/test_backoff.py"
KERNELS = "processes/_kernels_franchise.py"
HYPER_KERNELS = "processes/_kernels_franchise_hyper.py"
TREE = "context/_backoff/_tree.py"
OWN = f"{HDP}::test_discounts_and_concentrations[two levels-True-dirichlet, context]"
GIVEN = f"{HDP}::test_concentrations_that_differ_between_contexts[True]"

MUTATIONS = [
    Mutation(
        "backoff-tables-of-restaurants",
        KERNELS,
        "    chance[0] = laws.base[path[0]]\n    for j in range(m):\n",
        "    for j in range(m + 1):\n        chance[j] = 1.0\n    for j in range(0):\n",
        "D5: given outcomes, tables open with theta times the chance of the dish, not with theta.",
        f"{HDP}::test_tables[dirichlet-one often-False]",
    ),
    Mutation(
        "backoff-enter-theta-of-the-level",
        KERNELS,
        "        theta = laws.concentration[u if laws.by_node else j]\n        opens",
        "        theta = laws.concentration[j]\n        opens",
        "A context may have a concentration of its own.",
        GIVEN,
    ),
    Mutation(
        "backoff-chance-theta-of-the-level",
        KERNELS,
        "        d, theta = laws.discount[j], laws.concentration[u if laws.by_node else j]",
        "        d, theta = laws.discount[j], laws.concentration[j]",
        "A context may have a concentration of its own.",
        GIVEN,
    ),
    Mutation(
        "backoff-own-theta-jacobian",
        HYPER_KERNELS,
        "    prior = shape * log_theta - rate * theta",
        "    prior = (shape - 1.0) * log_theta - rate * theta",
        "The density of log(theta) is theta times that of theta.",
        OWN,
    ),
    Mutation(
        "backoff-own-theta-customers",
        HYPER_KERNELS,
        "    return seated - log_rising(concentration + 1.0, 1.0, n_customers - 1)",
        "    return seated - log_rising(concentration + 1.0, 1.0, n_tables - 1)",
        "(2.15): a context's alpha depends on its customers, which are tables of those below.",
        OWN,
    ),
    Mutation(
        "backoff-own-theta-tables",
        HYPER_KERNELS,
        "    seated = log_rising(concentration + discount, discount, n_tables - 1)",
        "    seated = log_rising(concentration + discount, discount, n_tables)",
        "The first factors, theta, cancel.",
        f"{HDP}::test_log_joint[dirichlet, context-one often-False]",
    ),
    Mutation(
        "backoff-rootless-distributions",
        "processes/_interpolated.py",
        "        if not self.menu.has_root:\n            return self.base\n",
        "",
        "Without a root the first restaurant is one of many, and not above the others.",
        f"{HDP}::test_probabilities_given_samples[level-two levels-False]",
    ),
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
        "collins-tables",
        "context/_collins_backoff_classifier.py",
        "        counts = layout.capacity  #",
        "        counts = np.maximum(layout.street, 1)  #",
        "(2.3): the shares are those of events, at all levels.",
        f"{COLLINS}::test_by_hand",
    ),
    Mutation(
        "collins-diversity",
        "context/_collins_backoff_classifier.py",
        "        total = customers + self.gamma * diversity\n",
        "        total = customers + self.gamma\n",
        "(2.5): lambda depends on the number of distinct outcomes.",
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
