"""Wrong patches of table models whose number of topics is inferred."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_open_segmented.py"
BOUNDED = "tests/unit/topics/test_bounded_number.py"
UNIT = "tests/unit/topics/tables/test_open_models.py"
WALKER = "topics/_tables/_open_sampler.py"
WORDS = f"{EXACT}::test_two_documents[btigs]"
SUM = f"{EXACT}::test_prior_of_a_sweep_sums_to_alpha"
FEW = f"{EXACT}::test_any_threshold_will_do[0.6]"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"

MUTATIONS = [
    Mutation(
        "open-splits-beyond-the-bound",
        WALKER,
        "        if not joins and self.n_topics == self.most_topics:\n            return\n",
        "",
        "A split makes one topic more.",
        f"{EXACT}::test_at_most_so_many_topics[segmented-one document-btigs-2]",
    ),
    Mutation(
        "open-shards-know-no-bound",
        WALKER,
        "            drawn = drawn[: self.most_topics - n_topics]\n",
        "            pass\n",
        "Shards open topics at the same time.",
        f"{BOUNDED}::TestTableModels::test_shards_keep_the_bound[SegmentedTopicModel]",
    ),
    Mutation(
        "open-pairs-by-topic-as-any-pairs",
        WALKER,
        "log_ratio += moves.log_ratio_of_picks(joins, n_unseeded, n_first, n_words)\n",
        "pass\n",
        "Words of small topics are picked more often than others.",
        f"{EXACT}::test_each_kind_of_move[False-True]",
    ),
    Mutation(
        "open-no-weight-for-what-is-left-out",
        WALKER,
        "        prior[n_used - 1] = max(self.rest - drawn.sum(), 0.0) + light\n",
        "",
        "Topics that take no part keep their weight in alpha, the sum that tables are weighed by.",
        SUM,
    ),
    Mutation(
        "open-light-topics-leave-no-weight",
        WALKER,
        "max(self.rest - drawn.sum(), 0.0) + light\n",
        "max(self.rest - drawn.sum(), 0.0)\n",
        "So do those among them that have words.",
        SUM,
    ),
    Mutation(
        "open-light-topics-take-part",
        WALKER,
        "        takes_part = weights > least\n",
        "        takes_part = weights > 0.0\n",
        "The topics of a sweep depend on weights alone, not on who has words.",
        FEW,
    ),
    Mutation(
        "open-threshold-of-the-state",
        WALKER,
        "        return float(SMALLEST_TABLE / (tables + self.top_concentration + 1.0))\n",
        "        return float(self.weights.min() * 0.999)\n",
        "The threshold depends on nothing that the sweep changes.",
        WORDS,
    ),
    Mutation(
        "open-tables-of-words",
        WALKER,
        "                tables, self.n_seeded, self.top_concentration,",
        "                served[:, : self.n_topics].sum(axis=0), 0, self.top_concentration,",
        "The customers of the top level are the tables of documents, not of segments.",
        f"{EXACT}::test_learned_concentrations[btigs]",
    ),
    Mutation(
        "open-concentration-of-documents",
        WALKER,
        "served.sum(axis=1, dtype=np.int64), of_documents, 0.0,",
        "served.sum(axis=1, dtype=np.int64), np.minimum(of_documents, 1), 0.0,",
        "alpha is drawn given all tables of the documents.",
        f"{EXACT}::test_learned_concentrations[btigs]",
    ),
    Mutation(
        "open-joint-without-topics-to-come",
        WALKER,
        "        return self._prior(s)._replace(alpha=np.append(self.doc_topic_prior, rest))\n",
        "        return self._prior(s)\n",
        "alpha is the concentration of documents, topics without words included.",
        f"{EXACT}::test_log_joint[two documents-btigs-segmented]",
    ),
    Mutation(
        "open-joint-without-the-density-of-weights",
        WALKER,
        "        return super()._log_prior() + weights\n",
        "        return super()._log_prior()\n",
        "The weights are part of the state.",
        f"{EXACT}::test_log_joint[two documents-btigs-segmented]",
    ),
    Mutation(
        "open-columns-move-without-their-weights",
        WALKER,
        "        self.weights[names[used]] = weights[used]\n",
        "        self.weights[:] = weights[used]\n",
        "Where a gap is closed, a topic keeps its weight.",
        f"{EXACT}::test_topics_keep_their_weights_where_gaps_are_closed",
    ),
    Mutation(
        "open-freed-columns-keep-their-tables",
        WALKER,
        "                    array[:, gaps], array[:, late] = array[:, late], free\n",
        "                    array[:, gaps] = array[:, late]\n",
        "A column that is free has no tables.",
        f"{UNIT}::TestTopicsComeAndGo::test_columns_are_the_words[SegmentedTopicModel-btigs-1-60]",
    ),
    Mutation(
        "open-seeded-topics-split",
        "topics/_tables/_open_sampler.py",
        "        if min(a, b) < n_seeded:\n            return\n",
        "        if a != b and min(a, b) < n_seeded:\n            return\n",
        "The acceptance ratio of a move holds for topics without seeds.",
        f"{SEED_TESTS}::test_moves_of_table_models[False]",
    ),
    Mutation(
        "open-ratio-of-picks-of-all-topics",
        "topics/_tables/_open_sampler.py",
        "            n_unseeded = self.n_topics - n_seeded\n",
        "            n_unseeded = self.n_topics\n",
        "Pairs are picked by topics without seeds.",
        f"{SEED_TESTS}::test_moves_of_table_models[True]",
    ),
    Mutation(
        "open-seeded-topics-with-two-tables",
        "topics/_tables/_open_sampler.py",
        "        tables[: self.n_seeded] += 1\n",
        "        tables[: self.n_seeded] += 2\n",
        "The prior of the weights of topics with seeds is that of one table each.",
        f"{SEED_TESTS}::test_table_models_with_inferred_numbers[btigs-None-segmented]",
    ),
    Mutation(
        "labels-of-open-models-are-free",
        "topics/_tables/_open_sampler.py",
        "        return None if allowed is None else allowed.widened(self.n_columns)\n",
        "        return None\n",
        "Words of documents with labels have no topic outside their sets.",
        "tests/exact/topics/test_labels.py::test_states_of_table_models_with_inferred_numbers[1-both-random]",
    ),
    Mutation(
        "shares-of-open-models-outside-labels",
        "topics/_tables/_open_sampler.py",
        "                doc_topic[documents] = allowed.restrict(doc_topic[documents])\n",
        "",
        "Another word of a document has no topic outside its set.",
        "tests/exact/topics/test_labels.py::test_states_of_table_models_with_inferred_numbers[1-both-random]",
    ),
]
