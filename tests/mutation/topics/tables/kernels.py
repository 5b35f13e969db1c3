"""Wrong patches of the joint probability of tables, and estimates from them."""

from mutation.mutation import Mutation

ADAPTIVE = "tests/exact/topics/test_adaptive.py"
SEQUENTIAL = "tests/exact/topics/test_sequential.py"
TOPICS = "tests/exact/topics/test_segmented.py"

BOUND = "tests/exact/topics/test_open_segmented.py::test_at_most_two_topics"
KERNELS = "topics/_tables/_kernels.py"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


def _transform(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_transform[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "topics-that-close-make-no-room",
        KERNELS,
        "            may_open[0] += totals[k] == 0.0\n",
        "            pass\n",
        "A topic may open again after one has closed.",
        f"{BOUND}[ssa]",
    ),
    Mutation(
        "topics-open-beyond-the-bound",
        KERNELS,
        "    return totals[k] > 0.0 or may_open[0] > 0\n",
        "    return True\n",
        "When the bound is reached, a word takes a topic that has words.",
        f"{BOUND}[cmgs]",
    ),
    Mutation(
        "without-alpha",
        KERNELS,
        "        base[k] = alpha[k] + customers[k]\n        total += base[k]",
        "        base[k] = 1.0 + customers[k]\n        total += base[k]",
        "The Dirichlet prior alpha_k of the document's node: every entry taken for 1.",
        _posterior("btigs"),
    ),
    Mutation(
        "without-document-tables",
        KERNELS,
        "    base[k] += change",
        "    base[k] += 0 * change",
        "The tables c_k that opened or went at the document's node during the sweep.",
        _posterior("btigs", "large discount"),
    ),
    Mutation(
        "without-topic-total",
        KERNELS,
        "        reciprocal[k] = 1.0 / (shift + totals[k])",
        "        reciprocal[k] = 1.0",
        "The word factor's denominator W gamma + M_k.",
        _posterior("btigs"),
    ),
    Mutation(
        "without-topic-words",
        KERNELS,
        "        reciprocal[k] = 1.0 / (shift + totals[k])",
        "        reciprocal[k] = 1.0 / shift",
        "M_k in the word factor's denominator.",
        _posterior("btigs"),
    ),
    Mutation(
        "nu-without-rest",
        KERNELS,
        "rest = (b + a * n_tables) * scale",
        "rest = b * scale",
        "The tables' discounts, a T, go to the document's shares (5.6).",
        _transform("btigs", "large discount"),
    ),
    Mutation(
        "nu-without-discount",
        KERNELS,
        "before[k] = (n - a * t) * scale + rest * base",
        "before[k] = n * scale + rest * base",
        "The discount a t of a topic's tables (5.6).",
        _transform("btigs", "large discount"),
    ),
    Mutation(
        "mu-without-tables",
        KERNELS,
        "mu[k] += (prior.alpha[k] + assignments.document_tables[d, k]) / total",
        "mu[k] += prior.alpha[k] / prior.alpha.sum()",
        "The tables c_k in the document's shares (5.5).",
        _transform("btigs", "large discount"),
    ),
    Mutation(
        "joint-without-document-total",
        KERNELS,
        "result -= log_rising(alpha_sum, in_document)",
        "result -= 0.0",
        "The document's normalizer Gamma(A) / Gamma(A + c.) (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "joint-without-document-topics",
        KERNELS,
        "result += log_rising(prior.alpha[k], c)",
        "result += math.lgamma(prior.alpha[k] + c)",
        "The constant Gamma(alpha_k) of the document's node (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "joint-without-words-of-segment",
        KERNELS,
        "result = -log_rising(b, n_customers)",
        "result = 0.0",
        "The segment's (b)_N (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "joint-without-discount",
        KERNELS,
        "result += math.log(b + a * m)",
        "result += math.log(b + 0 * m)",
        "The segment's (b | a)_T is b^T without a discount only (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "joint-without-stirling",
        KERNELS,
        "result += log_stirling(ratios.values, ratios.row_ptr, n, s + t, a)",
        "result += 0.0",
        "The Stirling numbers of (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "chain-parents-exchanged",
        KERNELS,
        "return (n_document + to_document) * weight, (n_previous + to_previous) * weight",
        "return (n_previous + to_previous) * weight, (n_document + to_document) * weight",
        "Erratum 8: rho and lambda_S belong to the document, 1 - rho to the segment before (7.1).",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-first-segment-has-rho",
        KERNELS,
        "        return 1.0, 0.0\n    weight =",
        "        s = n_document + to_document\n        return s / (s + to_previous), 0.0\n"
        "    weight =",
        "Erratum 9: a first segment has one parent and no rho (7.2).",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "joint-first-segment-has-rho",
        KERNELS,
        "prior.to_document > 0.0 and j > corpus.part_begin[j]:  # R_j",
        "prior.to_document > 0.0:",
        "Erratum 9: R_1 = 1, a first segment has no rho (7.2).",
        _joint("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "joint-without-rho",
        KERNELS,
        "prior.to_document > 0.0 and j > corpus.part_begin[j]:  # R_j",
        "j < corpus.part_begin[j]:",
        "R_j, the Beta function of rho (7.2).",
        _joint("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "joint-without-binomial",
        KERNELS,
        "            result += log_binomial(s + t, s)\n",
        "",
        "C(s + t, s): which of a topic's tables order from the document.",
        _joint("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "joint-without-tables-below",
        KERNELS,
        """\
        n = n_k[k] + tables_below(j, k, d, corpus, assignments, prior)
        n_k[k] = 0
""",
        """\
        n = n_k[k] + (1 if tables_below(j, k, d, corpus, assignments, prior) > 0 else 0)
        n_k[k] = 0
""",
        "Erratum 12: N_jk = n_jk + t_{j+1,k} in the Stirling numbers (7.2).",
        _joint("btigs", "three segments", ADAPTIVE),
    ),
    Mutation(
        "joint-without-customers-below",
        KERNELS,
        "        n_customers += assignments.segment_to_previous[j + 1]\n",
        "        n_customers += 0\n",
        "Erratum 12: the tables below in (b)_N (7.2).",
        _joint("btigs", "three topics", SEQUENTIAL),
    ),
    Mutation(
        "nu-without-tables-below",
        KERNELS,
        "            n = n_k[k] + tables_below(j, k, d, corpus, assignments, prior)\n"
        "            t = assignments",
        "            n = n_k[k]\n            t = assignments",
        "Erratum 12: the tables below are customers, in the estimate of nu, too.",
        _transform("btigs", "small concentration", SEQUENTIAL),
    ),
    Mutation(
        "nu-without-segment-before",
        KERNELS,
        "base = f_document * node + f_previous * before[k]",
        "base = node",
        "The base of a segment is a mixture of its two parents.",
        _transform("btigs", "small concentration", ADAPTIVE),
    ),
    Mutation(
        "mixing-of-the-segment-before",
        KERNELS,
        "mixing[j] += parents_of(j, corpus, assignments, prior)[0]",
        "mixing[j] += parents_of(j, corpus, assignments, prior)[1]",
        "segment_mixing_ is the weight of the document.",
        f"{ADAPTIVE}::test_segment_mixing_is_the_mean_over_kept_sweeps[btigs]",
    ),
    Mutation(
        "concentration-without-tables-below",
        KERNELS,
        "                customers[j] += assignments.segment_to_previous[j + 1]",
        "                customers[j] += 0",
        "Nd_j counts the tables below.",
        f"{SEQUENTIAL}::test_random_concentration[btigs-segments of one topic]",
    ),
    Mutation(
        "concentration-without-tables-to-previous",
        KERNELS,
        "tables[j] = parents_of(j, corpus, assignments, prior)[2]",
        "tables[j] = assignments.segment_tables[j]",
        "Td_j counts the tables of both parents.",
        f"{ADAPTIVE}::test_random_concentration[btigs-segments of one topic]",
    ),
    Mutation(
        "breaks-are-weighed-as-others",
        KERNELS,
        "        j == corpus.part_begin[j], s, t, prior.to_document, prior.to_previous\n",
        "        j == corpus.part_begin[0], s, t, prior.to_document, prior.to_previous\n",
        "The first segment of a part has the document as its parent.",
        _transform("btigs", "breaks", SEQUENTIAL),
    ),
    Mutation(
        "joint-breaks-have-rho",
        KERNELS,
        "prior.to_document > 0.0 and j > corpus.part_begin[j]:  # R_j",
        "prior.to_document > 0.0 and j > corpus.doc_ptr[d]:  # R_j",
        "The first segment of every part has one parent and no rho.",
        _joint("btigs", "breaks", ADAPTIVE),
    ),
]
