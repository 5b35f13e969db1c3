"""Wrong patches of the franchise whose dishes are known, and of the language model on it."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
TABLES = f"{LM}::test_tables[trigrams]"
LEARNT = f"{LM}::test_discounts_and_concentrations[one often-all]"
PROBABILITIES = f"{LM}::test_probabilities_given_samples[trigrams]"

KERNELS = "processes/_kernels_franchise.py"
HYPER = "processes/_franchise_hyper.py"
HYPER_KERNELS = "processes/_kernels_franchise_hyper.py"
FRANCHISE = "processes/_franchise.py"
TRIE = "language/_ngram/_trie.py"
WALKER = "language/_ngram/_walker.py"
INTERPOLATED = "language/_ngram/_kernels_interpolated.py"

MUTATIONS = [
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
        "        opens = (laws.concentration[j] + d * nodes.tables[u]) * chance[j]",
        "        opens = (laws.concentration[j] + d * nodes.tables[u]) * chance[m]",
        "Above, tables open with the chance of their own depth.",
        f"{LM}::test_tables[one often, trigrams]",
    ),
    Mutation(
        "franchise-street",
        KERNELS,
        "        cells.customers[x] += street[x]\n",
        "        cells.customers[x] += min(street[x], 1)\n",
        "Every word after the beginning of a sentence counts, not only the first.",
        f"{LM}::test_log_joint[False-unigrams]",
    ),
    Mutation(
        "franchise-theta-jacobian",
        HYPER,
        "return shape * log_theta - rate * theta",
        "return (shape - 1.0) * log_theta - rate * theta",
        "The density of log(theta) is theta times that of theta.",
        LEARNT,
    ),
    Mutation(
        "franchise-discount-prior",
        HYPER,
        "density = (p - 1.0) * math.log(d) + (q - 1.0) * math.log1p(-d)",
        "density = p * math.log(d) + (q - 1.0) * math.log1p(-d)",
        "Beta(p, q) has the power p - 1.",
        LEARNT,
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
        LEARNT,
    ),
    Mutation(
        "franchise-join-refusal",
        HYPER_KERNELS,
        "                if (u - int(u)) * size[k] >= discount:",
        "                if u >= 0.0:",
        "A table is joined in proportion to s - d, not to s.",
        "tests/exact/processes/test_franchise_sizes.py::test_sizes[8-2-0.5-by the table]",
    ),
    Mutation(
        "franchise-who-opened",
        HYPER_KERNELS,
        "        smallest = open_ratio(values, row_ptr, i - steps + 1, left - 1, discount)",
        "        smallest = open_ratio(values, row_ptr, i - steps + 1, left, discount)",
        "Customer n opened a table with the chance S^{n-1}_{t-1} / S^n_t.",
        "tests/exact/processes/test_franchise_sizes.py::test_sizes[8-2-0.5-by the table]",
    ),
    Mutation(
        "franchise-block",
        HYPER_KERNELS,
        "max(left - steps, 1), discount)",
        "left - 1, discount)",
        "A bound for a block holds for the fewest tables that may be left in it, too.",
        "tests/exact/processes/test_franchise_sizes.py::test_sizes[12-4-0.2-in blocks]",
    ),
    Mutation(
        "ngram-padding",
        TRIE,
        "                longer = events.positions[deep] >= m",
        "                longer = events.positions[deep] > m",
        "The first word has one symbol before it, the beginning.",
        f"{LM}::test_tables[bigrams]",
    ),
    Mutation(
        "ngram-backoff",
        INTERPOLATED,
        "            p *= backoff[u]",
        "            p *= backoff[u] if cells[i, m] >= 0 else 1.0",
        "A context that was seen with other words takes its share from the shorter one's.",
        PROBABILITIES,
    ),
    Mutation(
        "ngram-mass",
        WALKER,
        "        mass = franchise.customers - self.discount[depth] * franchise.tables",
        "        mass = franchise.customers - self.discount[depth]",
        "Each table of a cell pays the discount.",
        f"{LM}::test_probabilities_given_samples[one often]",
    ),
    Mutation(
        "ngram-capacity",
        FRANCHISE,
        "        return (np.flatnonzero(self.capacity[cells] > 1) + cells.start).astype(np.int32)",
        "        return (np.flatnonzero(self.capacity[cells] > 2) + cells.start).astype(np.int32)",
        "Two customers may sit together or apart.",
        f"{LM}::test_tables[bigrams]",
    ),
]
