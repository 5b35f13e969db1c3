"""Wrong patches of the kernels of franchises."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
KERNELS = "processes/_kernels_franchise.py"
TABLES = f"{LM}::test_tables[trigrams]"
LEARNT = f"{LM}::test_discounts_and_concentrations[one often-all]"
HYPER_KERNELS = "processes/_kernels_franchise_hyper.py"
EXACT = "tests/exact/language/test_nested.py"
SEATS = f"{EXACT}::test_posterior_of_tables"
DYNAMIC = "processes/_kernels_franchise_dynamic.py"
POSTERIOR = f"{EXACT}::test_posterior_of_cuts"
BACKOFF = "tests/exact/context/test_hdp_backoff_classifier.py"
OWN = f"{BACKOFF}::test_discounts_and_concentrations[two levels-True-dirichlet, context]"
GIVEN = f"{BACKOFF}::test_concentrations_that_differ_between_contexts[True]"

MUTATIONS = [
    Mutation(
        "backoff-tables-of-restaurants",
        KERNELS,
        "    chance[0] = laws.base[path[0]]\n    for j in range(m):\n",
        "    for j in range(m + 1):\n        chance[j] = 1.0\n    for j in range(0):\n",
        "D5: given outcomes, tables open with theta times the chance of the dish, not with theta.",
        f"{BACKOFF}::test_tables[dirichlet-one often-False]",
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
        f"{BACKOFF}::test_log_joint[dirichlet, context-one often-False]",
    ),
    Mutation(
        "franchise-drop-ratio",
        KERNELS,
        "laws.values[laws.values_ptr[m] + row + t - 1, 1]",
        "laws.values[laws.values_ptr[m] + row + t, 1]",
        "The chance to sit alone is S^{c-1}_{t-1} / S^c_t, whose ratio is that of (c - 1, t - 1).",
        f"{LM}::test_tables[one often]",
    ),
    Mutation(
        "franchise-no-drop",
        KERNELS,
        "stays = (1.0 - drops) * joins / (joins + opens)",
        "stays = joins / (joins + opens)",
        "A visit changes nothing only if the customer leaves no empty table behind.",
        f"{LM}::test_tables[one often]",
    ),
    Mutation(
        "franchise-own-customer",
        KERNELS,
        "            joins = c - 1 - d * (t - 1)",
        "            joins = c - d * (t - 1)",
        "Who enters again does not count among those who sit.",
        f"{LM}::test_tables[one often]",
    ),
    Mutation(
        "franchise-base",
        KERNELS,
        "    chance[0] = laws.base[path[0]]",
        "    chance[0] = 1.0",
        "A table of the root costs the base's probability of its dish.",
        f"{LM}::test_tables[unigrams]",
    ),
    Mutation(
        "franchise-old-chance",
        KERNELS,
        "                _leave(m - 1, cells, nodes, laws, path, rng)\n"
        "                _find_chances(m, cells, nodes, laws, path, chance)",
        "                _leave(m - 1, cells, nodes, laws, path, rng)",
        "A table that goes is a customer less above: chances change.",
        TABLES,
    ),
    Mutation(
        "franchise-backoff-without-tables",
        KERNELS,
        "        opens = theta + d * nodes.tables[u]\n",
        "        opens = theta\n",
        "What discounts left goes up: theta + d T, not theta.",
        TABLES,
    ),
    Mutation(
        "franchise-enter-theta",
        KERNELS,
        "        opens = (theta + d * nodes.tables[u]) * chance[j]",
        "        opens = (theta + d * nodes.tables[u]) * chance[m]",
        "Above, tables open with the chance of their own depth.",
        f"{LM}::test_tables[an unlikely one, trigrams]",
    ),
    Mutation(
        "franchise-street",
        KERNELS,
        "        cells.customers[x] += observed[x]\n",
        "        cells.customers[x] += min(observed[x], 1)\n",
        "Every word after the beginning of a sentence counts, not only the first.",
        f"{LM}::test_log_joint[False-unigrams]",
    ),
    Mutation(
        "franchise-first-table",
        HYPER_KERNELS,
        "log_rising(concentration + discount, discount, n)",
        "log_rising(concentration, discount, n)",
        "The first factors, theta, of tables and customers cancel; the next is theta + d.",
        LEARNT,
    ),
    Mutation(
        "franchise-first-customer",
        HYPER_KERNELS,
        "log_rising(concentration + 1.0, 1.0, customers[i] - 1)",
        "log_rising(concentration, 1.0, customers[i] - 1)",
        "(theta)_C without its first factor begins at theta + 1.",
        LEARNT,
    ),
    Mutation(
        "franchise-sizes",
        HYPER_KERNELS,
        "log_rising(1.0 - discount, 1.0, sizes[i] - 1)",
        "log_rising(1.0 - discount, 1.0, sizes[i])",
        "A table of s customers has the factor (1 - d)_(s - 1).",
        "tests/unit/processes/test_franchise.py::test_likelihoods_of_histograms",
    ),
    Mutation(
        "nested-journal-loses-sizes",
        DYNAMIC,
        "            change_seats(f, LEFT, cell, np.int32(size + 1))",
        "            change_seats(f, CLOSED, cell, size)",
        "A rejected string has its old seats again.",
        f"{SEATS}[one string-strings-(2, 2)]",
    ),
    Mutation(
        "nested-any-table-as-likely",
        DYNAMIC,
        "        left -= f.entries[entry, COUNT] * f.entries[entry, SIZE]\n",
        "        left -= f.entries[entry, COUNT] * f.cells[cell, CUSTOMERS] "
        "/ f.cells[cell, TABLES]\n",
        "A customer leaves: its table is drawn in proportion to its size.",
        "tests/unit/processes/test_franchise_dynamic.py::test_tables_by_size",
    ),
    Mutation(
        "nested-tables-without-discount",
        DYNAMIC,
        "        left -= f.entries[entry, COUNT] * (f.entries[entry, SIZE] - discount)",
        "        left -= f.entries[entry, COUNT] * (f.entries[entry, SIZE] - 0.99 * "
        "(f.entries[entry, SIZE] > 1))",
        "A customer joins a table in proportion to its size less d.",
        "tests/unit/processes/test_franchise_dynamic.py::test_tables_by_size",
    ),
    Mutation(
        "nested-back-off-without-discount",
        DYNAMIC,
        "    return own, (concentration + discount * f.nodes[node, 1]) * scale",
        "    return own, concentration * scale",
        "What tables give away goes to the parent.",
        f"{POSTERIOR}[two strings-strings-(1, 1)]",
    ),
    Mutation(
        "franchise-theta-jacobian",
        HYPER_KERNELS,
        "return shape * log_theta - rate * theta",
        "return (shape - 1.0) * log_theta - rate * theta",
        "The density of log(theta) is theta times that of theta.",
        LEARNT,
    ),
    Mutation(
        "franchise-discount-prior",
        HYPER_KERNELS,
        "density = (p - 1.0) * math.log(d) + (q - 1.0) * math.log1p(-d)",
        "density = p * math.log(d) + (q - 1.0) * math.log1p(-d)",
        "Beta(p, q) has the power p - 1.",
        LEARNT,
    ),
]
