"""Wrong patches of table models whose number of topics is inferred."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_open_segmented.py"
UNIT = "tests/unit/topics/tables/test_open_base.py"

WALKER = "topics/_tables/_open_walker.py"
KERNELS = "topics/_tables/_kernels_top_level.py"

WORDS = f"{EXACT}::test_two_documents[btigs]"
SUM = f"{EXACT}::test_prior_of_a_sweep_sums_to_alpha"
FEW = f"{EXACT}::test_any_threshold_will_do[0.6]"

MOVES = "topics/_tables/_kernels_open_moves.py"
SPLITS = f"{EXACT}::test_splits_and_merges[segmented-two documents-btigs]"

MUTATIONS = [
    Mutation(
        "open-split-without-the-top-level",
        MOVES,
        "    log_ratio = math.log(gamma) - shares[0] - shares[1] - log_proposed\n",
        "    log_ratio = -log_proposed\n",
        "Two weights in the place of one have another density.",
        SPLITS,
    ),
    Mutation(
        "open-words-of-a-block-do-not-know-each-other",
        MOVES,
        "        counts[0, w] += 1.0\n        counts[1, w] += 1.0\n",
        "        counts[0, w] += 0.0\n        counts[1, w] += 1.0\n",
        "The words of a block come one after the other, on either side.",
        f"{UNIT}::TestMoves::test_weights_of_blocks",
    ),
    Mutation(
        "open-tables-are-kept-with-blocks-undivided",
        MOVES,
        "            opens = next_double(rng) * ratio < 1.0\n",
        "            opens = False\n",
        "Which customers opened the tables is drawn.",
        f"{UNIT}::TestMoves::test_seats",
    ),
    Mutation(
        "open-seats-without-sizes",
        MOVES,
        "            target -= seats.size[seat] - a\n            while",
        "            target -= 1.0\n            while",
        "A customer takes a seat at a table in proportion to its size, less the discount.",
        f"{UNIT}::TestMoves::test_seats",
    ),
    Mutation(
        "open-moved-tables-stay",
        "topics/_tables/_open_moves.py",
        "        (assignments.document_tables, documents),\n",
        "",
        "Tables that change their topic do so at their document, too.",
        f"{UNIT}::TestTopicsComeAndGo::test_columns_are_the_words[SegmentedTopicModel-btigs-1-60]",
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
        "open-documents-of-light-topics-move",
        WALKER,
        "        left_out = shard.document_tables[:, light].any(axis=1)\n",
        "        left_out = np.zeros(len(shard.document_tables), dtype=bool)\n",
        "A document with a word of a topic that takes no part stays as it is.",
        FEW,
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
        "open-one-new-topic",
        KERNELS,
        "    while rest > least:\n",
        "    while rest > least and n == 0:\n",
        "All topics above the threshold take part.",
        f"{EXACT}::test_any_threshold_will_do[0.001]",
    ),
    Mutation(
        "open-rest-in-one-piece",
        KERNELS,
        "        weight, rest = break_weight(rest, gamma, rng)\n",
        "        weight, rest = rest, 0.0\n",
        "The weight of topics without words is broken into sticks.",
        WORDS,
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
        "open-documents-open-one-table-for-a-topic",
        KERNELS,
        "                drawn = draw_table_count(served[d, k], prior[k], rng)\n",
        "                drawn = 1\n",
        "How many tables a document opens for a topic is drawn.",
        WORDS,
    ),
    Mutation(
        "open-tables-of-words",
        WALKER,
        "                np.array([tables.sum()]), np.array([self.n_topics]), 0.0, self.top",
        "                np.array([served.sum()]), np.array([self.n_topics]), 0.0, self.top",
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
]
