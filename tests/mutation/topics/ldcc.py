"""Wrong patches of co-clustering."""

from mutation.mutation import Mutation

LDCC = "topics/_ldcc/_kernels.py"


def _ldcc(test: str) -> str:
    return f"tests/exact/topics/test_ldcc.py::{test}"


MUTATIONS = [
    Mutation(
        "ldcc-words-without-alpha",
        LDCC,
        "            enter_node(begin, end, alpha[y], topics, base, reciprocal, factor)",
        "            enter_node(begin, end, alpha[0], topics, base, reciprocal, factor)",
        "The prior alpha_y of the words' topics: that of the segment's own document-topic.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-words-without-counts",
        LDCC,
        "                total = sum_product(counts, w, offset, factor, sums, 0)",
        "                total = sum_product(counts, w, np.float32(1e9), factor, sums, 0)",
        "The word factor's numerator gamma + M_kw.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-words-not-removed",
        LDCC,
        "                if k >= 0:\n                    move_word(w, k, LESS,",
        "                if k >= 0:\n                    move_word(w, k, 0,",
        "A word is drawn given the others: itself is not counted.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-segment-without-delta",
        LDCC,
        "weights[y] = (delta[y] + c_y[y]) * math.exp(",
        "weights[y] = (1.0 + c_y[y]) * math.exp(",
        "The prior delta_y of a document's document-topics.",
        _ldcc("test_posterior[one of them empty]"),
    ),
    Mutation(
        "ldcc-segment-without-others",
        LDCC,
        "weights[y] = (delta[y] + c_y[y]) * math.exp(",
        "weights[y] = delta[y] * math.exp(",
        "The document-topics c_y of the document's other segments.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-segment-not-removed",
        LDCC,
        "            c_y[y] -= 1\n            y = draw_cluster(",
        "            y = draw_cluster(",
        "A segment's document-topic is drawn given the others: itself is not counted.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-segment-without-words",
        LDCC,
        "            weights[y] += by_topic[k, m, y]",
        "            weights[y] += 0.0 * by_topic[k, m, y]",
        "The rising factorials (alpha_yk)_{n_sk} in the ratio of Beta functions.",
        _ldcc("test_posterior[exchangeable]"),
    ),
    Mutation(
        "ldcc-segment-without-length",
        LDCC,
        "            weights[y] = -by_length[n, y]",
        "            weights[y] = 0.0",
        "The rising factorial (A_y)_{n_s} in the ratio of Beta functions.",
        _ldcc("test_posterior[one of them empty]"),
    ),
    Mutation(
        "ldcc-powers-for-rising-factorials",
        LDCC,
        "by_topic[k, m - 1, y] + math.log(alpha[y, k] + (m - 1))",
        "by_topic[k, m - 1, y] + math.log(alpha[y, k])",
        "alpha (alpha + 1) ... (alpha + n - 1), not a power of alpha.",
        _ldcc("test_posterior[exchangeable]"),
    ),
    Mutation(
        "ldcc-move-always-accepted",
        LDCC,
        "    if math.log(1.0 - next_double(rng)) < log_proposed - log_before:",
        "    if math.log(1.0 - next_double(rng)) < 0.0:",
        "A segment's move is accepted by the ratio of its two estimates.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-move-without-length",
        LDCC,
        "        log_weight += math.log(total / (size + (i - begin)))",
        "        log_weight += math.log(total)",
        "The denominator A_y + i of a word's weight: it is not common to the two states.",
        _ldcc("test_posterior[one of them empty]"),
    ),
    Mutation(
        "ldcc-move-draws-of-all",
        LDCC,
        "    proposed = draw_prior_cluster(delta, c_y, weights, rng)",
        "    proposed = int(next_double(rng) * weights.shape[0])",
        "The proposal draws y from the rest of the document, or delta_y + c_y is left out.",
        _ldcc("test_posterior[one of them empty]"),
    ),
    Mutation(
        "ldcc-move-not-undone",
        LDCC,
        "        k = np.int64(before[i - begin])\n",
        "",
        "A segment that does not move has its old topics back.",
        _ldcc("test_posterior[asymmetric]"),
    ),
    Mutation(
        "ldcc-theta-of-all-segments",
        LDCC,
        "        if segment_ptr[s + 1] > segment_ptr[s]:",
        "        if segment_ptr[s + 1] >= segment_ptr[s]:",
        "Segments without words are integrated out: otherwise they add noise to the estimates.",
        _ldcc("test_documents_without_tokens_have_the_prior_mean[dense]"),
    ),
    Mutation(
        "ldcc-joint-without-documents",
        LDCC,
        "            result += log_rising(delta[y], c_y[y])",
        "            result += 0.0",
        "The factor Beta_Y(delta + c) / Beta_Y(delta) of a document.",
        _ldcc("test_state_knows_its_joint[asymmetric-given]"),
    ),
    Mutation(
        "ldcc-partitions-leave-segments",
        "topics/_ldcc/_distributed_sampler.py",
        'return ("doc_topic",) if "document_topic_prior" in axes else ("segment_topic",)',
        'return ("doc_topic",) if "document_topic_prior" in axes else ()',
        "Shares of segments are of word-topics, which are called anew.",
        "tests/unit/topics/test_partitioned.py::test_labels_of_two_kinds_are_followed",
    ),
    Mutation(
        "ldcc-partitions-keep-old-ratios",
        "topics/_ldcc/_sampler.py",
        "        if not np.array_equal(before, self.segment_topic_prior):\n",
        "        if False:\n",
        "Partitions weigh by the prior of the current sweep.",
        "tests/unit/topics/test_partitioned.py::"
        "test_partitions_of_co_clustering_have_the_bits_of_shards[learned-3]",
    ),
]
