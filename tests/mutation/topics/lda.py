"""Wrong patches of the sampler without tables."""

from mutation.mutation import Mutation

LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"

NODES = "topics/_lda/_kernels_nodes.py"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"
SEED_UNIT = "tests/unit/topics/test_seed_words.py"

LABELS = "topics/_lda/_kernels_labels.py"
LABEL_TESTS = "tests/exact/topics/test_labels.py"
LABEL_UNIT = "tests/unit/topics/test_labels.py"

BURST_KERNELS = "topics/_lda/_kernels_bursts.py"
BURST_SAMPLER = "topics/_lda/_bursty_sampler.py"
BURST_TESTS = "tests/exact/topics/test_bursts.py"

MUTATIONS = [
    Mutation(
        "lda-lists-lose-their-order",
        "topics/_lda/_sampler.py",
        "            self._words, self._listed = self._listed, None\n",
        "            self._listed = None\n",
        "The order of a list tells on the draws.",
        "tests/unit/topics/test_partitioned_warm_starts.py::"
        "test_lists_go_on_in_their_order[False-1]",
    ),
    Mutation(
        "lda-lists-of-a-partition-lose-their-order",
        "topics/_lda/_sampler.py",
        "        listed = self._listed if is_alone else None\n",
        "        listed = None\n",
        "A partition that is alone goes on with its lists.",
        "tests/unit/topics/test_partitioned.py::"
        "test_partitions_of_lda_by_lists_have_the_bits_of_shards[learned-1]",
    ),
    Mutation(
        "lda-words-of-lists-do-not-move",
        "topics/_lda/_sampler.py",
        "        Counted.move(own, self._corpora[0].tokens, before, self.topics)\n",
        "",
        "Other partitions hear of the words that moved.",
        "tests/unit/topics/test_partitioned.py::"
        "test_partitions_of_lda_by_lists_have_the_bits_of_shards[learned-3]",
    ),
    Mutation(
        "counts-in-lists-that-were-full-are-forgotten",
        "topics/_lda/_shard.py",
        "    overflows = sums != words.totals\n",
        "    overflows = sums > words.totals\n",
        "A count that was full has lost a word, although it has fallen since.",
        "tests/unit/topics/shared/test_arrays.py::test_lists[0]",
    ),
    Mutation(
        "likelihood-lda-moves-under-another-prior",
        NODES,
        "topics[r], words, alpha, 0.0, scratch, rng)",
        "topics[r], words, alpha + 1.0, 0.0, scratch, rng)",
        "A move leaves the posterior of the topics so far invariant.",
        f"{LIKELIHOODS}::test_mean_is_the_probability_lda[1-document]",
    ),
    Mutation(
        "seed-totals-are-not-listed",
        "topics/_lda/_sampler.py",
        "            totals += self.seeds.totals(self.n_topics)\n",
        "",
        "The word factor of the sparse sweep, too, has s_k in its denominator.",
        f"{SEED_TESTS}::test_lda[sparse]",
    ),
    Mutation(
        "a-partition-with-seeds-is-never-alone",
        "topics/_lda/_sampler.py",
        "len(self._whole.tokens) + n_seeds\n",
        "len(self._whole.tokens)\n",
        "A partition that has all words continues with its lists.",
        f"{SEED_UNIT}::test_partitions_of_lists_have_the_bits_of_shards[1]",
    ),
    Mutation(
        "lda-labels-without-effect-on-weights",
        LABELS,
        "            own_alpha[k] = alpha[k] if allowed[k] else 0.0\n",
        "            own_alpha[k] = alpha[k]\n",
        "Topics outside the set of a node have no weight.",
        f"{LABEL_TESTS}::test_posterior[document-plain]",
    ),
    Mutation(
        "lda-labels-of-the-first-node",
        LABELS,
        "        while last < n_nodes and set_of[last] == set_of[first]:\n",
        "        while last < n_nodes:\n",
        "Every node has a set of its own.",
        f"{LABEL_TESTS}::test_posterior[segment-plain]",
    ),
    Mutation(
        "lda-strays-leave-their-counts-behind",
        LABELS,
        "                words.totals[last] += 1.0\n",
        "",
        "A word that moves is counted in its new topic.",
        f"{LABEL_TESTS}::test_strays",
    ),
    Mutation(
        "lda-labeled-topics-trade-places",
        "topics/_lda/_sampler.py",
        "not (self._is_labeled or tells_apart(doc_topic_prior))",
        "not tells_apart(doc_topic_prior)",
        "Labels name topics, so these keep their numbers in the averages.",
        f"{LABEL_UNIT}::test_words_and_documents_obey[GibbsLDA-1]",
    ),
    Mutation(
        "strays-leave-their-labels",
        "topics/_lda/_sampler.py",
        "        return allowed.sets[allowed.set_of[node]]\n",
        "        return super()._topics_of_word(s, i)\n",
        "A word that rounding has put in a fixed topic moves to a topic of its label.",
        "tests/unit/topics/test_fixed_components.py::test_strays_of_sweeps_obey_labels",
    ),
    Mutation(
        "bursts-heads-by-share-of-tables",
        BURST_KERNELS,
        "next_double(rng) * open_ratio(values, row_ptr, n, t - 1, a) < 1.0\n",
        "next_double(rng) * (n + 1) < t\n",
        "A word sits alone with the probability that the last customer opened a table, not T / M.",
        f"{BURST_TESTS}::test_posterior[one word]",
    ),
    Mutation(
        "bursts-share-without-discount",
        BURST_KERNELS,
        "                total += (counts[w, k] - a * tables[w, k] + opening[k] * base)",
        "                total += (counts[w, k] + opening[k] * base)",
        "Every table gives up the discount.",
        f"{BURST_TESTS}::test_posterior[uniform]",
    ),
    Mutation(
        "bursts-opening-ignores-the-topics-tables",
        BURST_KERNELS,
        "            share, new = counts[w, k] - a * tables[w, k], opening[k] * base\n",
        "            share, new = counts[w, k] - a * tables[w, k], b * base\n",
        "A topic with many tables opens more of them.",
        f"{BURST_TESTS}::test_posterior[uniform]",
    ),
    Mutation(
        "bursts-base-counts-words",
        BURST_KERNELS,
        "    return (gamma + word_tables[w]) / (gamma * word_tables.shape[0] + n_tables)\n",
        "    return (gamma + word_tables[w]) / (word_tables.shape[0] + n_tables)\n",
        "The base has the total W gamma plus the tables.",
        f"{BURST_TESTS}::test_posterior[shared]",
    ),
    Mutation(
        "bursts-lonely-word-leaves-its-table-in-the-base",
        BURST_KERNELS,
        "                word_tables[w] -= 1\n                n_tables -= 1\n",
        "                word_tables[w] -= 1\n",
        "The base loses the table of a word that sat alone.",
        f"{BURST_TESTS}::test_posterior[shared]",
    ),
    Mutation(
        "bursts-estimate-without-the-discount-of-tables",
        BURST_SAMPLER,
        "        opening = self.concentration + self.discount * self.topic_tables\n",
        "        opening = self.concentration + 0.0 * self.topic_tables\n",
        "The estimate of a topic gives the base the weight b + a T.",
        f"{BURST_TESTS}::test_posterior[shared]",
    ),
    Mutation(
        "bursts-discount-without-seatings",
        BURST_KERNELS,
        "            if counts[w, k] > 1:\n                of_seatings",
        "            if counts[w, k] > 2:\n                of_seatings",
        "Two occurrences of a word tell on the discount.",
        f"{BURST_TESTS}::test_learned_parameters[discount]",
    ),
    Mutation(
        "bursts-ratios-of-the-last-discount",
        BURST_SAMPLER,
        "q + of_seatings, self.streams[0])\n        self._make_ratios()\n",
        "q + of_seatings, self.streams[0])\n",
        "Ratios of Stirling numbers depend on the discount.",
        f"{BURST_TESTS}::test_log_joint[discount]",
    ),
    Mutation(
        "bursts-concentration-at-no-discount",
        BURST_SAMPLER,
        "                self.discount, self.concentration, *self.bursts.concentration_prior,\n",
        "                0.0, self.concentration, *self.bursts.concentration_prior,\n",
        "The draw of the concentration depends on the discount.",
        f"{BURST_TESTS}::test_learned_parameters[concentration]",
    ),
    Mutation(
        "bursts-log-joint-without-the-total-of-the-base",
        BURST_KERNELS,
        "    return result - log_rising(gamma * n_words, n_tables)\n",
        "    return result - log_rising(gamma, n_tables)\n",
        "The base is a Dirichlet vector of W entries.",
        f"{BURST_TESTS}::test_log_joint[shared]",
    ),
    Mutation(
        "bursts-labels-allow-every-topic",
        BURST_SAMPLER,
        "        allowed = self.allowed or AllowedTopics.every(n_topics, len(self.node_ptr) - 1)\n",
        "        allowed = AllowedTopics.every(n_topics, len(self.node_ptr) - 1)\n",
        "Words keep to the topics of their document.",
        f"{BURST_TESTS}::test_labels",
    ),
]
