"""Wrong patches of the topic model whose number of topics is inferred."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_hdp_topic_model.py"

SWEEPS = "topics/_hdp/_kernels_sweeps.py"
MOVES = "topics/_hdp/_kernels_moves.py"
WALKER = "topics/_hdp/_sampler.py"

WORDS = f"{EXACT}::test_partitions[words]"
SPLITS = f"{EXACT}::test_partitions[split-merge]"
BOUND = f"{EXACT}::test_at_most_so_many_topics[2]"
ROOM = f"{EXACT}::test_sweeps_that_stop_for_room"

SEED_TESTS = "tests/exact/topics/test_seed_words.py"

MUTATIONS = [
    Mutation(
        "hdp-pairs-by-topic-as-any-pairs",
        WALKER,
        "log_ratio += moves.log_ratio_of_picks(joins, n_unseeded, n_first, n_members)\n",
        "pass\n",
        "Places of small topics are picked more often than others.",
        f"{EXACT}::test_each_kind_of_move[each-True]",
    ),
    Mutation(
        "hdp-words-on-both-sides-by-chance",
        MOVES,
        "    return result if free_words(n_members, tokens, division) else -math.inf\n",
        "    free_words(n_members, tokens, division)\n    return result\n",
        "A free word that comes to be on one side could have been bound there.",
        f"{EXACT}::test_each_kind_of_move[by-word-False]",
    ),
    Mutation(
        "hdp-anchored-words-by-coin",
        MOVES,
        "math.log(1.0 - _P_FREE) - (0.0 if anchored else math.log(2.0))",
        "math.log(1.0 - _P_FREE) - math.log(2.0)",
        "The words of i and j have no choice of side.",
        f"{EXACT}::test_each_kind_of_move[by-word-False]",
    ),
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
        "    weigh_spare(alpha, top, scratch)\n\n\n@njit_loop",
        "\n\n@njit_loop",
        "What falls back to beta_u counts at once.",
        WORDS,
    ),
    Mutation(
        "hdp-closed-topic-makes-no-room",
        SWEEPS,
        "    top.columns[2] += 1\n",
        "",
        "A topic may open again after one has closed.",
        BOUND,
    ),
    Mutation(
        "hdp-opens-beyond-the-bound",
        SWEEPS,
        "top.rest[0] if top.columns[2] > 0 else 0.0",
        "top.rest[0]",
        "The spare column has no weight when the bound is reached.",
        BOUND,
    ),
    Mutation(
        "hdp-splits-beyond-the-bound",
        WALKER,
        "        if not joins and self.n_topics == self.most_topics:\n            return\n",
        "",
        "A split makes one topic more.",
        f"{EXACT}::test_at_most_so_many_topics_again[two-split-merge-2]",
    ),
    Mutation(
        "hdp-stale-sums-after-a-new-topic",
        SWEEPS,
        "                gained = np.float32(-1.0)  # the sums have to be computed again\n",
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
        "    log_proposed += log_density_of_shares(m_a, m_b, shares)\n",
        "",
        "Shares are drawn from Beta(m_a, m_b).",
        SPLITS,
    ),
    Mutation(
        "hdp-merge-does-not-replay",
        MOVES,
        "            n_members, forgets, joins, pair, tokens, node_of, eta, division, rng\n",
        "            n_members, forgets, False, pair, tokens, node_of, eta, division, rng\n",
        "A merge is weighed by how likely its reverse would divide the words as they are.",
        f"{EXACT}::test_a_merge_is_a_split_reversed[by-node]",
    ),
    Mutation(
        "hdp-anchors-change-sides",
        MOVES,
        "    return i != pair[0] and i != pair[1] and",
        "    return i != pair[0] and",
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
        f"{EXACT}::test_a_merge_is_a_split_reversed[each]",
    ),
    Mutation(
        "hdp-columns-move-without-their-weights",
        WALKER,
        "        self.weights[names[used]] = weights[used]\n",
        "        self.weights[:] = weights[used]\n",
        "Where a gap is closed, a topic keeps its weight.",
        f"{EXACT}::test_partitions_again[one-both]",
    ),
    Mutation(
        "hdp-seeded-topics-split",
        "topics/_hdp/_sampler.py",
        "        if min(a, b) < n_seeded:\n            return\n",
        "        if a != b and min(a, b) < n_seeded:\n            return\n",
        "The acceptance ratio of a move holds for topics without seeds.",
        f"{SEED_TESTS}::test_hdp[None]",
    ),
    Mutation(
        "hdp-pairs-of-all-topics",
        "topics/_hdp/_kernels_moves.py",
        "    drawn = first_topic + int((n_topics - first_topic) * next_double(rng))\n",
        "    drawn = int(n_topics * next_double(rng))\n",
        "The ratio of picks counts topics without seeds.",
        f"{SEED_TESTS}::test_pairs_by_topic_of_hdp",
    ),
    Mutation(
        "hdp-ratio-of-picks-of-all-topics",
        "topics/_hdp/_sampler.py",
        "            n_unseeded = self.n_topics - n_seeded\n",
        "            n_unseeded = self.n_topics\n",
        "Pairs are picked by topics without seeds.",
        f"{SEED_TESTS}::test_pairs_by_topic_of_hdp",
    ),
    Mutation(
        "labels-are-free",
        "topics/_hdp/_sampler.py",
        "        sets, set_of = allowed.widened(n_columns)\n",
        "        sets, set_of = np.ones((9, n_columns), dtype=np.bool_), allowed.set_of\n",
        "Words of nodes with labels have no topic outside their sets.",
        "tests/exact/topics/test_labels.py::test_states_of_hdp[both-random]",
    ),
    Mutation(
        "shares-outside-labels",
        "topics/_hdp/_sampler.py",
        "            nodes = self._allowed.widened(self.n_topics).restrict(nodes)\n",
        "            pass\n",
        "Another word of a node has no topic outside its set.",
        "tests/exact/topics/test_labels.py::test_states_of_hdp[both-random]",
    ),
    Mutation(
        "labeled-words-ignore-the-top-level",
        "topics/_hdp/_sampler.py",
        "        prior[: self.n_topics] = self.doc_topic_prior\n",
        "        prior[: self.n_topics] = self.concentration / self.n_topics\n",
        "Words with labels have the weights of all topics, too.",
        "tests/exact/topics/test_labels.py::test_hdp[both]",
    ),
]
