"""Wrong patches of the sampler without tables."""

from mutation.mutation import Mutation

LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"

NODES = "topics/_lda/_kernels_nodes.py"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"
SEED_UNIT = "tests/unit/topics/test_seed_words.py"

LABELS = "topics/_lda/_kernels_labels.py"
LABEL_TESTS = "tests/exact/topics/test_labels.py"
LABEL_UNIT = "tests/unit/topics/test_labels.py"

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
]
