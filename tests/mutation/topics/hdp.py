"""Wrong patches of the topic model whose number of topics is inferred."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_hdp_topic_model.py"

SWEEPS = "topics/_hdp/_kernels_sweeps.py"
MOVES = "topics/_hdp/_kernels_moves.py"
WALKER = "topics/_hdp/_walker.py"

WORDS = f"{EXACT}::test_partitions[words]"
SPLITS = f"{EXACT}::test_partitions[split-merge]"
ROOM = f"{EXACT}::test_sweeps_that_stop_for_room"

MUTATIONS = [
    Mutation(
        "hdp-new-topic-with-all-that-is-left",
        SWEEPS,
        "    weigh_column(k, top.weights[k], alpha, top, scratch)\n    scratch.base[k] += 1.0",
        "    scratch.base[k] = alpha * (top.weights[k] + top.rest[0])\n    scratch.base[k] += 1.0",
        "A new topic has a part of beta_u, also for the words that follow in its document.",
        WORDS,
    ),
    Mutation(
        "hdp-weight-of-a-closed-topic-is-lost",
        SWEEPS,
        "    top.rest[0] += top.weights[k]\n",
        "",
        "The weight of a topic that has lost its last word falls back to beta_u.",
        WORDS,
    ),
    Mutation(
        "hdp-closed-topic-does-not-make-new-ones-likelier",
        SWEEPS,
        "    weigh_column(top.columns[0], top.rest[0], alpha, top, scratch)\n\n\n@njit_loop",
        "\n\n@njit_loop",
        "What falls back to beta_u counts at once.",
        WORDS,
    ),
    Mutation(
        "hdp-stale-sums-after-a-new-topic",
        SWEEPS,
        "                gained = np.float32(-1.0)  # the sums are to be made anew\n",
        "                gained = np.float32(0.0)\n",
        "The sums of the next word lack the new topic and have the spare column's old weight.",
        WORDS,
    ),
    Mutation(
        "hdp-word-is-lost-where-a-sweep-stops",
        SWEEPS,
        "                    return i + 1\n",
        "                    return i + 2\n",
        "The sweep goes on with the word after the one that opened a topic.",
        ROOM,
    ),
    Mutation(
        "hdp-tables-of-another-concentration",
        WALKER,
        "            self._node_ptr, self.topics, self.concentration * self.weights,\n",
        "            self._node_ptr, self.topics, self.concentration + 0.0 * self.weights,\n",
        "The customers of a topic sit in a restaurant of concentration alpha beta_k.",
        f"{EXACT}::test_learned_concentrations[words]",
    ),
    Mutation(
        "hdp-top-concentration-of-words",
        WALKER,
        "np.array([tables.sum()]), np.array([self.n_topics]), 0.0, self.top_concentration,",
        "np.array([len(self._node_of)]), np.array([self.n_topics]), 0.0, self.top_concentration,",
        "The customers of the top level are tables, not words.",
        f"{EXACT}::test_learned_concentrations[words]",
    ),
    Mutation(
        "hdp-concentration-of-topics",
        WALKER,
        "np.diff(self._node_ptr), of_nodes, 0.0, self.concentration,",
        "np.diff(self._node_ptr), np.minimum(of_nodes, 1), 0.0, self.concentration,",
        "alpha is drawn given all tables of the documents.",
        f"{EXACT}::test_learned_concentrations[words]",
    ),
    Mutation(
        "hdp-split-without-the-top-level",
        MOVES,
        "    log_ratio = math.log(gamma) - shares[0] - shares[1] - log_proposed\n",
        "    log_ratio = -log_proposed\n",
        "Two weights in the place of one have another density.",
        SPLITS,
    ),
    Mutation(
        "hdp-split-forgets-how-shares-were-proposed",
        MOVES,
        "    log_proposed += (m_a - 1.0) * shares[0] + (m_b - 1.0) * shares[1]\n",
        "",
        "Shares are drawn from Beta(m_a, m_b).",
        SPLITS,
    ),
    Mutation(
        "hdp-merge-does-not-replay",
        MOVES,
        "    log_proposed += sweep_sides(n_members, anew, joins, pair,",
        "    log_proposed += sweep_sides(n_members, anew, False, pair,",
        "A merge is weighed by how likely its reverse would divide the words as they are.",
        SPLITS,
    ),
    Mutation(
        "hdp-anchors-change-sides",
        MOVES,
        "            if i != pair[0] and i != pair[1]:\n                w = tokens[i]",
        "            if i != pair[0]:\n                w = tokens[i]",
        "Word j stays on its side: a division without one is none.",
        SPLITS,
    ),
    Mutation(
        "hdp-split-without-the-priors-of-nodes",
        MOVES,
        "        result -= log_rising(priors[2], end - x)\n",
        "        result -= log_rising(priors[0] + 0.5 * priors[1], end - x)\n",
        "The joined topic has the weight of both.",
        SPLITS,
    ),
    Mutation(
        "hdp-split-without-the-totals-of-words",
        MOVES,
        "    result -= math.lgamma(shift + totals[0]) + math.lgamma(shift + totals[1])\n",
        "    result -= 2.0 * math.lgamma(shift)\n",
        "The words' factor has the sizes of both topics.",
        SPLITS,
    ),
    Mutation(
        "hdp-shares-are-not-those-of-the-topics",
        MOVES,
        "        shares[0], shares[1] = log_share, log_other\n",
        "        shares[0], shares[1] = log_other, log_share\n",
        "A merge is weighed with the shares that the topics have.",
        f"{EXACT}::test_a_merge_is_a_split_reversed[False]",
    ),
    Mutation(
        "hdp-columns-move-without-their-weights",
        WALKER,
        "        self.weights[names[used]] = weights[used]\n",
        "        self.weights[:] = weights[used]\n",
        "Where a gap is closed, a topic keeps its weight.",
        f"{EXACT}::test_partitions_again[one-both]",
    ),
]
