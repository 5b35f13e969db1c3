"""Small wrong patches of the package, and the exact test that each of them must turn red."""

from typing import NamedTuple

TOPICS = "tests/exact/topics/test_segmented.py"
PROCESSES = "tests/exact/processes"


class Mutation(NamedTuple):
    """Replace `old`, which occurs once in `file`, by `new`; then `test` must fail."""

    name: str
    file: str  # within the package
    old: str
    new: str
    why: str  # what goes wrong; the erratum, where it is one
    test: str


def _posterior(sampler: str, case: str = "asymmetric") -> str:
    return f"{TOPICS}::test_posterior[{sampler}-{case}]"


def _joint(sampler: str, case: str) -> str:
    return f"{TOPICS}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


KERNELS = "topics/_kernels.py"
BTIGS = "topics/_kernels_btigs.py"
CMGS = "topics/_kernels_cmgs.py"
SSA = "topics/_kernels_ssa.py"
PRIORS = "topics/_priors.py"
COMPLETION = "topics/_completion.py"
CONCENTRATION = "processes/_concentration.py"
STIRLING = "processes/_kernels_stirling.py"
TABLE_COUNTS = "processes/_kernels_table_counts.py"

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
        "k = draw_product(counts, w, gamma, factor, sums, rng)",
        "k = draw_product(counts, w, np.float32(1e9), factor, sums, rng)",
        "The word factor's numerator gamma + M_kw.",
        _posterior("btigs"),
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
        "ratio = total / (b + a * n_tables)",
        "ratio = total / (a * n_tables)",
        "The concentration in the weight b + a T of opening a table.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-aT",
        BTIGS,
        "ratio = total / (b + a * n_tables)",
        "ratio = total / b",
        "The discount in the weight b + a T of opening a table.",
        _posterior("btigs"),
    ),
    Mutation(
        "btigs-without-b-aT",
        BTIGS,
        "ratio = total / (b + a * n_tables)",
        "ratio = total",
        "The weight b + a T of opening a table.",
        _posterior("btigs", "middle empty"),
    ),
    Mutation(
        "btigs-without-node-total",
        BTIGS,
        "ratio = total / (b + a * n_tables)",
        "ratio = 1.0 / (b + a * n_tables)",
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
        "sharing[k] = share_ratio(values, row_ptr, n, t, a) * reciprocal[k]",
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
        CMGS,
        "change = stirling * (base + t) / (rest + t) * (b + a * (elsewhere + t))",
        "change = (base + t) / (rest + t) * (b + a * (elsewhere + t))",
        "The Stirling numbers of (5.4).",
        _posterior("cmgs", "middle empty"),
    ),
    Mutation(
        "cmgs-counts-without-node",
        CMGS,
        "change = stirling * (base + t) / (rest + t) * (b + a * (elsewhere + t))",
        "change = stirling / (rest + t) * (b + a * (elsewhere + t))",
        "The weight alpha_k + c_k of a topic at the document's node in (5.4).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-node-total",
        CMGS,
        "change = stirling * (base + t) / (rest + t) * (b + a * (elsewhere + t))",
        "change = stirling * (base + t) * (b + a * (elsewhere + t))",
        "The denominator A + c. of the document's node in (5.4).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-opening",
        CMGS,
        "change = stirling * (base + t) / (rest + t) * (b + a * (elsewhere + t))",
        "change = stirling * (base + t) / (rest + t)",
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
                seat = find_seat(k, target, a, begin, n_tables, seat_topics, seat_sizes)
""",
        """\
                target = next_double(rng) * n
                seat = find_seat(k, target, 0.0, begin, n_tables, seat_topics, seat_sizes)
""",
        "The discount in the weight size - a of a table.",
        _posterior("ssa", "long segment"),
    ),
    Mutation(
        "ssa-leaves-with-discount",
        SSA,
        "k, next_double(rng) * n, 0.0, begin, n_tables, seat_topics, seat_sizes",
        "k, next_double(rng) * (n - a * tables[k]), a, begin, n_tables, seat_topics, seat_sizes",
        "A word leaves a table in proportion to its size, not to size - a.",
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
        "(n_k[k] - a * assignments.tables[j, k]) * scale + rest * node",
        "(n_k[k] - a * assignments.tables[j, k]) * scale + b * scale / total * node",
        "The tables' discounts, a T, go to the document's shares (5.6).",
        f"{TOPICS}::test_transform[btigs-large discount]",
    ),
    Mutation(
        "nu-without-discount",
        KERNELS,
        "(n_k[k] - a * assignments.tables[j, k]) * scale + rest * node",
        "n_k[k] * scale + rest * node",
        "The discount a t of a topic's tables (5.6).",
        f"{TOPICS}::test_transform[btigs-large discount]",
    ),
    Mutation(
        "mu-without-tables",
        KERNELS,
        "mu[k] += (prior.alpha[k] + assignments.document_tables[d, k]) / total",
        "mu[k] += prior.alpha[k] / prior.alpha.sum()",
        "The tables c_k in the document's shares (5.5).",
        f"{TOPICS}::test_transform[btigs-large discount]",
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
        "result -= log_rising(b, end - begin)",
        "result -= 0.0",
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
        "result += log_stirling(ratios.values, ratios.row_ptr, n_k[k], t, a)",
        "result += 0.0 * t",
        "The Stirling numbers of (5.2).",
        _joint("btigs", "asymmetric"),
    ),
    Mutation(
        "joint-without-words",
        KERNELS,
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

_PROCESSES = [
    Mutation(
        "stirling-open-ratio",
        STIRLING,
        "values[row + t, 1] = 1.0 + (n - a * (t + 1)) * r[t + 1]",
        "values[row + t, 1] = (n - a * (t + 1)) * r[t + 1]",
        "The recursion's first term, S^n_{t-1} (3.4).",
        f"{PROCESSES}/test_stirling.py::test_table_and_integral_match_integers",
    ),
    Mutation(
        "stirling-share-ratio",
        STIRLING,
        "values[row + t, 0] = n - a * t + 1.0 / r[t]",
        "values[row + t, 0] = n - t + 1.0 / r[t]",
        "The recursion's second term, (n - a t) S^n_t (3.4).",
        f"{PROCESSES}/test_stirling.py::test_table_and_integral_match_integers",
    ),
    Mutation(
        "table-counts-special-rule",
        TABLE_COUNTS,
        "                if t > 1:\n                    share *=",
        "                if t > 0:\n                    share *=",
        "Erratum 3: the rule that keeps a dish's last table, without the weight that belongs to "
        "it (after 3.10, algorithm 3).",
        f"{PROCESSES}/test_table_counts.py::test_table_counts[discount-btigs]",
    ),
]

MUTATIONS = [
    *_ADD, *_CMGS, *_SSA, *_ESTIMATES, *_CONCENTRATION, *_JOINT, *_PRIORS, *_PROCESSES,
]  # fmt: skip
