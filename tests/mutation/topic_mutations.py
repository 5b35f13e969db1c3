"""Wrong patches of models of segments."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"
PROCESSES = "tests/exact/processes"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


def _transform(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_transform[{sampler}-{case}]"


KERNELS = "topics/_tables/_kernels.py"
WORDS = "topics/_shared/_kernels.py"
BTIGS = "topics/_tables/_kernels_btigs.py"
CMGS = "topics/_tables/_kernels_cmgs.py"
SSA = "topics/_tables/_kernels_ssa.py"
TABLES = "topics/_tables/_kernels_table_counts.py"
PRIORS = "topics/_shared/_priors.py"
COMPLETION = "topics/_shared/_completion.py"
CONCENTRATION = "processes/_concentration.py"

_ADD = [
    Mutation(
        "btigs-special-rule",
        BTIGS,
        "share = ratio_share if t == 1 else ratio_share * (n + 1 - t) / (n + 1)",
        "share = ratio_share * (n + 1 - t) / (n + 1)",
        "Erratum 3: the rule that keeps a topic's last table, without the weight that belongs to "
        "it (after 3.10, algorithm 3).",
        _posterior("btigs", "large discount"),
    ),
    Mutation(
        "btigs-keeps-a-table-too-many",
        BTIGS,
        "if t == n or (t > 1 and next_double(rng) * n < t):",
        "if t == n or (t > 2 and next_double(rng) * n < t):",
        "Only the last table of a topic stays whatever its indicator.",
        _posterior("btigs", "no discount"),
    ),
    Mutation(
        "btigs-removes-as-cmgs",
        BTIGS,
        "if t == n or (t > 1 and next_double(rng) * n < t):",
        "if t == n:",
        "A word takes its table with it by its indicator, with probability t / n (3.10).",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-word",
        BTIGS,
        "total += (counts[w, k] + gamma) * (opening[k] + sharing[k] * ratio)",
        "total += gamma * (opening[k] + sharing[k] * ratio)",
        "The word factor's numerator gamma + M_kw.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-leaves-without-absent",
        BTIGS,
        "                    absent += (counts[w, k] + gamma) * factor[k]\n",
        "",
        "A topic that a word leaves as its last is one of the absent ones for that word.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-absent-out-of-date",
        BTIGS,
        "                    factor[k] = 0.0  # present from now on\n",
        "",
        "A topic that has come is present, and weighs nothing among the absent ones.",
        f"{TOPICS}::test_more_topics_than_are_listed[btigs]",
    ),
    Mutation(
        "btigs-without-U",
        BTIGS,
        "share = ratio_share if t == 1 else ratio_share * (n + 1 - t) / (n + 1)",
        "share = 1.0 if t == 1 else (n + 1 - t) / (n + 1)",
        "The Stirling ratio of sharing a table (3.9).",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-not-a-head",
        BTIGS,
        "share = ratio_share if t == 1 else ratio_share * (n + 1 - t) / (n + 1)",
        "share = ratio_share",
        "The probability (n + 1 - t) / (n + 1) that the word would not be a table's head.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-V",
        BTIGS,
        "return share, ratio_open * (t + 1) / (n + 1)",
        "return share, (t + 1) / (n + 1)",
        "The Stirling ratio of opening a table (3.9).",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-head",
        BTIGS,
        "return share, ratio_open * (t + 1) / (n + 1)",
        "return share, ratio_open",
        "The probability (t + 1) / (n + 1) that the word would be a table's head.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-b",
        BTIGS,
        "return total / (b + a * n_tables)",
        "return total / (a * n_tables)",
        "The concentration in the weight b + a T of opening a table.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-aT",
        BTIGS,
        "return total / (b + a * n_tables)",
        "return total / b",
        "The discount in the weight b + a T of opening a table.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-b-aT",
        BTIGS,
        "return total / (b + a * n_tables)",
        "return total",
        "The weight b + a T of opening a table.",
        _posterior("btigs", "middle empty"),
    ),
    Mutation(
        "btigs-without-node-total",
        BTIGS,
        "return total / (b + a * n_tables)",
        "return 1.0 / (b + a * n_tables)",
        "The denominator A + c. of the document's node.",
        _posterior("btigs"),
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
]

_CMGS = [
    Mutation(
        "cmgs-opens-at-zero-only",
        CMGS,
        "opening[k] = base[k] * reciprocal[k] if t == n else 0.0",
        "opening[k] = 0.0",
        "Erratum 4: opening a table is open to a word whenever t = n, not only at n = 0 (5.3).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-opens-always",
        CMGS,
        "opening[k] = base[k] * reciprocal[k] if t == n else 0.0",
        "opening[k] = base[k] * reciprocal[k]",
        "No state with t < n comes from one with t + 1: no word takes a table along at t < n.",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-without-U",
        CMGS,
        "sharing[k] = share_ratio(values, row_ptr, n, np.int64(t), a) * reciprocal[k]",
        "sharing[k] = reciprocal[k]",
        "The Stirling ratio of sharing a table (5.3).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-leaves-the-table",
        CMGS,
        "                if tables[k] == n:",
        "                if n == 1:",
        "A word takes a table with it at t = n: there cannot be more tables than words.",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-stirling",
        TABLES,
        "change *= next_stirling(n, s + t, values, row_ptr, a) * (s + t + 1) / (s + 1)",
        "change *= (s + t + 1) / (s + 1)",
        "The Stirling numbers of (5.4).",
        _posterior("cmgs", "middle empty"),
    ),
    Mutation(
        "cmgs-counts-without-node",
        TABLES,
        "change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))",
        "change = (b + a * (n_document + s + n_previous)) / (total + s)",
        "The weight alpha_k + c_k of a topic at the document's node in (5.4).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-node-total",
        TABLES,
        "change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))",
        "change = (base + s) * (b + a * (n_document + s + n_previous))",
        "The denominator A + c. of the document's node in (5.4).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-opening",
        TABLES,
        "change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))",
        "change = (base + s) / (total + s)",
        "The weight (b | a)_T of the tables in (5.4).",
        _posterior("cmgs", "middle empty"),
    ),
]

_SSA = [
    Mutation(
        "ssa-shares-without-discount",
        SSA,
        "sharing[k] = (n - a * t) * reciprocal[k]",
        "sharing[k] = n * reciprocal[k]",
        "The discount of each table in n - a t (algorithm 1).",
        _posterior("ssa", "three topics"),
    ),
    Mutation(
        "ssa-sits-without-discount",
        SSA,
        """\
                target = next_double(rng) * (n - a * tables[k])
                take_seat(j, k, target, a, heads, links, sizes)
""",
        """\
                target = next_double(rng) * n
                take_seat(j, k, target, 0.0, heads, links, sizes)
""",
        "The discount in the weight size - a of a table.",
        _posterior("ssa", "long segment"),
    ),
    Mutation(
        "ssa-leaves-with-discount",
        SSA,
        "target = next_double(rng) * n\n",
        "target = next_double(rng) * (n - a * tables[k])\n",
        "A word leaves a table in proportion to its size: there is no discount in it.",
        _posterior("ssa"),
    ),
    Mutation(
        "ssa-opens-without-aT",
        SSA,
        "ratio = total / (b + a * n_tables)",
        "ratio = total / b",
        "The discount in the weight b + a T of a new table.",
        _posterior("ssa"),
    ),
    Mutation(
        "ssa-opens-without-node",
        SSA,
        "opening[k] = base[k] * reciprocal[k]",
        "opening[k] = reciprocal[k]",
        "The weight alpha_k + c_k of a new table's dish.",
        _posterior("ssa"),
    ),
]

_ESTIMATES = [
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
        "completion-of-even-tokens",
        COMPLETION,
        """\
    odd = position % 2 == 1
    observed = SegmentedCorpus(
        corpus.tokens[~odd], offsets((lengths + 1) // 2), corpus.doc_ptr, corpus.n_features
    )
    segment_of = np.repeat(np.arange(len(lengths)), lengths // 2)
""",
        """\
    odd = position % 2 == 0
    observed = SegmentedCorpus(
        corpus.tokens[~odd], offsets(lengths // 2), corpus.doc_ptr, corpus.n_features
    )
    segment_of = np.repeat(np.arange(len(lengths)), (lengths + 1) // 2)
""",
        "The tokens at even positions infer, those at odd positions are scored.",
        f"{TOPICS}::test_completion[btigs-large concentration]",
    ),
]

_CONCENTRATION = [
    Mutation(
        "concentration-beta",
        CONCENTRATION,
        "draw_log_beta(concentration + 1.0, customers[j] - 1.0, rng)[0]",
        "draw_log_beta(concentration, customers[j], rng)[0]",
        "Erratum 6: x ~ Beta(b, N) goes with all T factors of (b | a)_T, not with T - 1 of them.",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[discount]",
    ),
    Mutation(
        "concentration-every-table-counts",
        CONCENTRATION,
        "        if discount == 0.0:",
        "        if discount >= 0.0:",
        "Erratum 6: with a > 0 a table counts with probability b / (b + a m) only (5.8).",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[discount]",
    ),
    Mutation(
        "concentration-first-table-counts",
        CONCENTRATION,
        "shape += max(tables[j] - 1, 0)",
        "shape += tables[j]",
        "The first table's factor b cancels against Beta(b + 1, N - 1).",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[no discount]",
    ),
    Mutation(
        "concentration-without-rate",
        CONCENTRATION,
        "    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "    rate = 0.0\n    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "The prior's rate.",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[no discount, one table each]",
    ),
    Mutation(
        "concentration-without-shape",
        CONCENTRATION,
        "    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "    shape = 1.0\n    for j in range(customers.shape[0]):\n        if customers[j] >= 2:",
        "The prior's shape.",
        f"{PROCESSES}/test_concentration.py::test_posterior_moments[discount, one table each]",
    ),
]

_JOINT = [
    Mutation(
        "joint-without-document-total",
        KERNELS,
        "result -= log_rising(alpha_sum, in_document)",
        "result -= 0.0",
        "The document's normaliser Gamma(A) / Gamma(A + c.) (5.2).",
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
        "joint-without-words",
        WORDS,
        "result += math.lgamma(gamma + counts[w, k]) - at_zero",
        "result += math.lgamma(gamma + counts[w, k])",
        "The constant Gamma(gamma) of the word factor (5.2).",
        _joint("btigs", "asymmetric"),
    ),
]

_PRIORS = [
    Mutation(
        "alpha-without-shape",
        PRIORS,
        "return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)",
        "return np.clip(prior * ups / (rate + down), FLOOR, CEILING)",
        "The shape of alpha's Gamma prior.",
        f"{TOPICS}::test_doc_topic_prior_fixed_point_has_zero_gradient[documents 2.0-auto]",
    ),
    Mutation(
        "alpha-without-rate",
        PRIORS,
        "return np.clip((shape - 1.0 + prior * ups) / (rate + down), FLOOR, CEILING)",
        "return np.clip((shape - 1.0 + prior * ups) / down, FLOOR, CEILING)",
        "The rate of alpha's Gamma prior.",
        f"{TOPICS}::test_doc_topic_prior_fixed_point_has_zero_gradient[documents 1.0-auto]",
    ),
    Mutation(
        "symmetric-alpha-without-size",
        PRIORS,
        "(shape - 1.0 + prior[0] * ups.sum()) / (rate + prior.size * down)",
        "(shape - 1.0 + prior[0] * ups.sum()) / (rate + down)",
        "A symmetric alpha moves all K entries at once.",
        f"{TOPICS}::test_doc_topic_prior_fixed_point_has_zero_gradient"
        "[documents 2.0-auto-symmetric]",
    ),
    Mutation(
        "gamma-without-prior",
        PRIORS,
        "return min(max((shape - 1.0 + prior * up) / (rate + down), FLOOR), CEILING)",
        "return min(max(prior * up / down, FLOOR), CEILING)",
        "Gamma's own Gamma prior.",
        f"{TOPICS}::test_topic_word_prior_fixed_point_has_zero_gradient[documents 2.0]",
    ),
]

MUTATIONS = [*_ADD, *_CMGS, *_SSA, *_ESTIMATES, *_CONCENTRATION, *_JOINT, *_PRIORS]

# Patches that choose another way of doing the same: the exact test must stay green.
EQUIVALENTS = [
    Mutation(
        f"btigs-lists-no-topic-{case.replace(' ', '-')}",
        BTIGS,
        "MOST_LISTED = 12",
        "MOST_LISTED = 0",
        "Segments of many topics take a dense pass over all of them.",
        _posterior("btigs", case),
    )
    for case in ("asymmetric", "middle empty", "large discount")
]
