"""Wrong patches of topics that are Pitman-Yor processes."""

from mutation.mutation import Mutation

KERNELS = "topics/_lda/_kernels_bursts.py"
SAMPLER = "topics/_lda/_bursty_sampler.py"
TESTS = "tests/exact/topics/test_bursts.py"

MUTATIONS = [
    Mutation(
        "bursts-heads-by-share-of-tables",
        KERNELS,
        "next_double(rng) * open_ratio(values, row_ptr, n, t - 1, a) < 1.0\n",
        "next_double(rng) * (n + 1) < t\n",
        "A word sits alone with the probability that the last customer opened a table, not T / M.",
        f"{TESTS}::test_posterior[one word]",
    ),
    Mutation(
        "bursts-share-without-discount",
        KERNELS,
        "                total += (counts[w, k] - a * tables[w, k] + opening[k] * base)",
        "                total += (counts[w, k] + opening[k] * base)",
        "Every table gives up the discount.",
        f"{TESTS}::test_posterior[uniform]",
    ),
    Mutation(
        "bursts-opening-ignores-the-topics-tables",
        KERNELS,
        "            share, new = counts[w, k] - a * tables[w, k], opening[k] * base\n",
        "            share, new = counts[w, k] - a * tables[w, k], b * base\n",
        "A topic with many tables opens more of them.",
        f"{TESTS}::test_posterior[uniform]",
    ),
    Mutation(
        "bursts-base-counts-words",
        KERNELS,
        "    return (gamma + word_tables[w]) / (gamma * word_tables.shape[0] + n_tables)\n",
        "    return (gamma + word_tables[w]) / (word_tables.shape[0] + n_tables)\n",
        "The base has the total W gamma plus the tables.",
        f"{TESTS}::test_posterior[shared]",
    ),
    Mutation(
        "bursts-lonely-word-leaves-its-table-in-the-base",
        KERNELS,
        "                word_tables[w] -= 1\n                n_tables -= 1\n",
        "                word_tables[w] -= 1\n",
        "The base loses the table of a word that sat alone.",
        f"{TESTS}::test_posterior[shared]",
    ),
    Mutation(
        "bursts-estimate-without-the-discount-of-tables",
        SAMPLER,
        "        opening = self.concentration + self.discount * self.topic_tables\n",
        "        opening = self.concentration + 0.0 * self.topic_tables\n",
        "The estimate of a topic gives the base the weight b + a T.",
        f"{TESTS}::test_posterior[shared]",
    ),
    Mutation(
        "bursts-discount-without-seatings",
        KERNELS,
        "            if counts[w, k] > 1:\n                of_seatings",
        "            if counts[w, k] > 2:\n                of_seatings",
        "Two occurrences of a word tell on the discount.",
        f"{TESTS}::test_learned_parameters[discount]",
    ),
    Mutation(
        "bursts-ratios-of-the-last-discount",
        SAMPLER,
        "q + of_seatings, self.streams[0])\n        self._make_ratios()\n",
        "q + of_seatings, self.streams[0])\n",
        "Ratios of Stirling numbers depend on the discount.",
        f"{TESTS}::test_log_joint[discount]",
    ),
    Mutation(
        "bursts-concentration-at-no-discount",
        SAMPLER,
        "                self.discount, self.concentration, *self.bursts.concentration_prior,\n",
        "                0.0, self.concentration, *self.bursts.concentration_prior,\n",
        "The draw of the concentration depends on the discount.",
        f"{TESTS}::test_learned_parameters[concentration]",
    ),
    Mutation(
        "bursts-log-joint-without-the-total-of-the-base",
        KERNELS,
        "    return result - log_rising(gamma * n_words, n_tables)\n",
        "    return result - log_rising(gamma, n_tables)\n",
        "The base is a Dirichlet vector of W entries.",
        f"{TESTS}::test_log_joint[shared]",
    ),
    Mutation(
        "bursts-labels-allow-every-topic",
        SAMPLER,
        "        allowed = self.allowed or AllowedTopics.every(n_topics, len(self.node_ptr) - 1)\n",
        "        allowed = AllowedTopics.every(n_topics, len(self.node_ptr) - 1)\n",
        "Words keep to the topics of their document.",
        f"{TESTS}::test_labels",
    ),
]
