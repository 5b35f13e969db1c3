"""Wrong patches of topic models and of the processes below them."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"
SEQUENTIAL = "tests/exact/topics/test_sequential.py"
ADAPTIVE = "tests/exact/topics/test_adaptive.py"
DISCOUNTS = "tests/exact/topics/test_discount.py"
SCOPES = "tests/exact/topics/test_concentration_scope.py"
LIKELIHOODS = "tests/exact/topics/test_log_likelihood.py"
PROCESSES = "tests/exact/processes"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


def _transform(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_transform[{sampler}-{case}]"


KERNELS = "topics/_kernels.py"
BTIGS = "topics/_kernels_btigs.py"
CMGS = "topics/_kernels_cmgs.py"
SSA = "topics/_kernels_ssa.py"
CHAIN = "topics/_kernels_chain.py"
TABLES = "topics/_kernels_tables.py"
SEATS = "topics/_kernels_seats.py"
SWEEPS = "topics/_kernels_sweeps.py"
NODES = "topics/_kernels_nodes.py"
PARTICLES = "topics/_kernels_particles.py"
LEFT_TO_RIGHT = "topics/_kernels_left_to_right.py"
TABLE_SAMPLER = "topics/_table_sampler.py"
PRIORS = "topics/_priors.py"
COMPLETION = "topics/_completion.py"
CONCENTRATION = "processes/_concentration.py"
DISCOUNT = "processes/_discount.py"
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

_DISCOUNT = [
    Mutation(
        "discount-tables-exchanged",
        DISCOUNT,
        "(concentration + discount * m) < discount * m",
        "(concentration + discount * m) < concentration",
        "A factor b + a m counts for a with probability a m / (b + a m), not b / (b + a m).",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[large concentrations-0.9]",
    ),
    Mutation(
        "discount-first-table-counts",
        DISCOUNT,
        "for m in range(1, n_tables):",
        "for m in range(1, n_tables + 1):",
        "The factors with an a are T - 1: those of all tables but the first.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[all tables-0.9]",
    ),
    Mutation(
        "discount-one-table-joined",
        DISCOUNT,
        "(ratio - u) * (n - a * t) <= (ratio - 1.0) * t * (1.0 - a)",
        "(ratio - u) * (n - a * t) <= (ratio - 1.0) * (1.0 - a)",
        "Each of t tables holds a factor 1 - a: z = 0 has weight t (1 - a).",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one restaurant-0.9]",
    ),
    Mutation(
        "discount-without-opening",
        DISCOUNT,
        "            t -= not joined\n",
        "",
        "Going back, a customer who opened a table takes it along.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one restaurant-0.9]",
    ),
    Mutation(
        "discount-last-table-sits",
        DISCOUNT,
        "    if t == 1:\n        for r",
        "    if t == 0:\n        for r",
        "The customers of a dish's first table have their z, too.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one table-0.9]",
    ),
    Mutation(
        "discount-bounds-exchanged",
        DISCOUNT,
        "opened = u * largest < 1.0",
        "opened = u * smallest < 1.0",
        "A customer opened a table for certain only if the largest V of its block says so.",
        f"{PROCESSES}/test_discount.py::test_law_of_seating_evidence[8-3-0.4-False]",
    ),
    Mutation(
        "discount-prior-exchanged",
        DISCOUNT,
        "return draw_bounded_beta(prior_p, prior_q, rng)",
        "return draw_bounded_beta(prior_q, prior_p, rng)",
        "p and the tables' powers belong to a, q and the seatings' to 1 - a.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[asymmetric prior-0.9]",
    ),
    Mutation(
        "discount-of-old-ratios",
        DISCOUNT,
        "ratios = StirlingRatios.for_counts(n_max, discount)",
        "ratios = StirlingRatios.for_counts(n_max, 0.9)",
        "The ratios follow a: a table made at the start is of another a.",
        f"{PROCESSES}/test_discount.py::test_posterior_moments[one restaurant-0.9]",
    ),
]

_CHAIN_ADD = [
    Mutation(
        "chain-without-document-weight",
        CHAIN,
        "    via_document[i] = new * f_document",
        "    via_document[i] = new",
        "fS, the predictive weight of the document, in the weight of a table that orders from it.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-without-previous-weight",
        CHAIN,
        "    via_previous[i] = new * f_previous",
        "    via_previous[i] = new",
        "fT, the same of the segment before.",
        _posterior("btigs", "three topics", ADAPTIVE),
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
        "chain-opens-without-aT",
        CHAIN,
        "new = concentration[first + i] + a * (s + t)",
        "new = concentration[first + i]",
        "The discount in the weight b + a Td of a new table.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-opens-without-b",
        CHAIN,
        "new = concentration[first + i] + a * (s + t)",
        "new = 1.0 + a * (s + t)",
        "The concentration in the weight b + a Td of a new table.",
        _posterior("btigs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "chain-words-without-customers-above",
        CHAIN,
        "    from_previous = np.float32(via_previous[i] * inverse[i - 1])\n    through",
        "    from_previous = np.float32(via_previous[i])\n    through",
        "1 / (b + Nd) of the segment before in what its tables weigh for a word.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-words-without-mu-above",
        CHAIN,
        "at_base += base[k] * (from_document + through * mu_part[i - 1, k])",
        "at_base += base[k] * from_document",
        "A topic that no segment above knows comes from mu through them, too.",
        _posterior("btigs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "chain-path-without-tables-above",
        CHAIN,
        "up = (fixed_part[level - 1, k] + mu_part[level - 1, k] * mu) * inverse[level - 1]",
        "up = mu_part[level - 1, k] * mu * inverse[level - 1]",
        "The weight of the tables of the segment before when a new table chooses its parent.",
        _posterior("btigs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "chain-path-without-mu",
        CHAIN,
        "to_node = opening[level, k] * via_document[level] * mu",
        "to_node = opening[level, k] * via_document[level]",
        "(alpha_k + c_k) / (A + c.) when a new table chooses its parent.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-level-without-levels-above",
        CHAIN,
        "fixed_part[i, k] = share[i, k] + from_above * fixed_part[i - 1, k] + TINY",
        "fixed_part[i, k] = share[i, k] + TINY",
        "The tables of all levels above, not those of the next one alone.",
        _posterior("btigs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "chain-level-without-mu-above",
        CHAIN,
        "mu_part[i, k] = opening[i, k] * from_document + from_above * mu_part[i - 1, k] + TINY",
        "mu_part[i, k] = opening[i, k] * from_document + TINY",
        "Mu through all levels above, not through the next one alone.",
        _posterior("btigs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "chain-level-out-of-date",
        CHAIN,
        """\
            if level < i:
                lowest = min(lowest, level if kind > 0 else level + 1)
""",
        """\
            if level < i:
                lowest = min(lowest, level + 1)
""",
        "b + a Td and fS of the level where a path ended with a table of the document.",
        _posterior("btigs", "cascade of small tables", ADAPTIVE),
    ),
    Mutation(
        "chain-level-without-tables",
        CHAIN,
        "    fixed_part[i, k] = share[i, k] + opening[i, k] * from_fixed + TINY\n"
        "    mu_part[i, k] =",
        "    mu_part[i, k] =",
        "What the tables of a level weigh follows a customer that came or left without a table.",
        f"{ADAPTIVE}::test_posterior_of_long_segments[btigs]",
    ),
    Mutation(
        "chain-word-out-of-date",
        CHAIN,
        "        if not tables_changed:\n",
        "        if i < 0:\n",
        "A word that shares a table changes the weight of its topic for the words that follow.",
        f"{ADAPTIVE}::test_posterior_of_long_segments[btigs]",
    ),
    Mutation(
        "chain-path-stops-early",
        CHAIN,
        "            if kind != PREVIOUS:\n                break\n            level -= 1",
        "            break",
        "A table that orders from the segment before is a customer there.",
        _joint("btigs", "three segments", SEQUENTIAL),
    ),
]

_CHAIN_REMOVE = [
    Mutation(
        "chain-removal-stops-early",
        CHAIN,
        """\
                if kind != PREVIOUS:
                    break
                level -= 1
""",
        "                break\n",
        "Erratum 11: a table that goes takes its customer in the segment before along.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-removal-keeps-customer",
        CHAIN,
        "                level_customers[level] -= 1\n",
        "",
        "The customer that left a level above is none of its Nd.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-btigs-removes-as-cmgs",
        CHAIN,
        "        if s + t == 1 and n > 1:",
        "        if s + t < n:",
        "A customer takes a table along by its indicator, with probability (s + t) / n.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-last-table-goes",
        CHAIN,
        "        if s + t == 1 and n > 1:",
        "        if s + t == 0:",
        "The last table of a topic stays as long as others use it.",
        _joint("btigs", "three segments", ADAPTIVE),
    ),
    Mutation(
        "chain-removes-one-kind",
        CHAIN,
        "    if head < s:\n",
        "    if s > 0 and head < s + t:\n",
        "Which kind of table goes: in proportion to s and t.",
        _posterior("btigs", "three topics", ADAPTIVE),
    ),
]

_CHAIN_CMGS = [
    Mutation(
        "chain-cmgs-opens-at-zero-only",
        CHAIN,
        "1.0 if t == n else 0.0",
        "1.0 if n == 0 else 0.0",
        "Erratum 4: opening a table is open to a customer whenever t = n, not only at n = 0.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "tables-of-document-without-mixing",
        TABLES,
        "            change *= n_document + s + to_document\n",
        "",
        "The weight S + lambda_S of the document in the draw of s.",
        f"{ADAPTIVE}::test_posterior_of_long_segments[cmgs]",
    ),
    Mutation(
        "tables-of-document-without-binomial",
        TABLES,
        "(n, s + t, values, row_ptr, a) * (s + t + 1) / (s + 1)",
        "(n, s + t, values, row_ptr, a)",
        "C(s + t, s) in the draw of s.",
        _posterior("cmgs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "tables-to-previous-without-parent",
        TABLES,
        "        change *= share_ratio(values, row_ptr, above + t, above_tables, a)\n",
        "",
        "The Stirling numbers of the segment before, whose customers the tables are.",
        _posterior("cmgs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "tables-to-previous-without-customers",
        TABLES,
        "        change /= above_b + above_customers + t\n",
        "",
        "(b)_N of the segment before.",
        _posterior("cmgs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "tables-to-previous-without-opening",
        TABLES,
        "change = b + a * (n_document + n_previous + t)",
        "change = 1.0",
        "The weight (b | a)_T of the tables in the draw of t.",
        _posterior("cmgs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "tables-to-previous-without-mixing",
        TABLES,
        "            change *= n_previous + t + to_previous\n",
        "",
        "The weight T + lambda_T of the segment before in the draw of t.",
        _posterior("cmgs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "tables-split-without-mixing",
        TABLES,
        "        change *= (n_document + s + to_document) / (n_previous + t + to_previous)\n",
        "",
        "Both parents' weights when a table changes its parent.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "tables-split-without-binomial",
        TABLES,
        "change = (base + s) / (total + s) * (t + 1) / (s + 1)",
        "change = (base + s) / (total + s)",
        "C(s + t, s) when a table changes its parent.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "tables-split-without-customers",
        TABLES,
        "        change *= above_b + above_customers + t\n",
        "",
        "(b)_N of the segment before, which has a customer less for each table of the document.",
        _posterior("cmgs", "cascade", ADAPTIVE),
    ),
]

_CHAIN_SSA = [
    Mutation(
        "chain-ssa-shares-without-discount",
        CHAIN,
        "    return n - a * t, 1.0",
        "    return np.float64(n), 1.0",
        "The discount of each table in n - a t.",
        _posterior("ssa", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-ssa-leaves-the-last",
        CHAIN,
        "                    target = next_double(rng) * n\n",
        "                    target = 0.0\n",
        "A customer leaves a table in proportion to its size.",
        _posterior("ssa", "cascade", ADAPTIVE),
    ),
    Mutation(
        "seats-without-kind",
        SEATS,
        "    kinds[seat] = kind\n",
        "    kinds[seat] = DOCUMENT\n",
        "A table remembers where its dish was ordered.",
        _joint("ssa", "three topics", ADAPTIVE),
    ),
]

_CHAIN_JOINT = [
    Mutation(
        "joint-first-segment-has-rho",
        KERNELS,
        "prior.to_document > 0.0 and j > first:  # R_j",
        "prior.to_document > 0.0:",
        "Erratum 9: R_1 = 1, a first segment has no rho (7.2).",
        _joint("btigs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "joint-without-rho",
        KERNELS,
        "prior.to_document > 0.0 and j > first:  # R_j",
        "j < first:",
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
]

_CHAIN_ESTIMATES = [
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
        "mixing[j] += parents_of(j, first, assignments, prior)[0]",
        "mixing[j] += parents_of(j, first, assignments, prior)[1]",
        "segment_mixing_ is the weight of the document.",
        f"{ADAPTIVE}::test_segment_mixing_is_the_mean_over_kept_sweeps[btigs]",
    ),
]

_CHAIN_PARAMETERS = [
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
        "tables[j] = parents_of(j, first, assignments, prior)[2]",
        "tables[j] = assignments.segment_tables[j]",
        "Td_j counts the tables of both parents.",
        f"{ADAPTIVE}::test_random_concentration[btigs-segments of one topic]",
    ),
    Mutation(
        "concentration-of-the-corpus",
        SWEEPS,
        "            customers[begin:end], tables[begin:end], discount,",
        "            customers, tables, discount,",
        "The concentration of a segment is drawn given that segment's customers and tables.",
        f"{SCOPES}::test_random_concentration[btigs-segmented-unequal segments]",
    ),
    Mutation(
        "concentration-of-the-first-segment",
        SWEEPS,
        "prior.concentration[groups[g] : groups[g + 1]] = drawn[g]",
        "prior.concentration[groups[g] : groups[g + 1]] = drawn[0]",
        "Each segment of a new document has a concentration of its own.",
        f"{SCOPES}::test_transform[btigs-sequential-segment]",
    ),
    Mutation(
        "concentrations-averaged",
        TABLE_SAMPLER,
        "of_segments = np.repeat(self.concentration, np.diff(self._group_ptr))",
        "of_segments = np.full(self._group_ptr[-1], self.concentration.mean())",
        "Kernels take each segment's own concentration.",
        f"{SCOPES}::test_log_joint_of_estimated_hyper_parameters[btigs-segmented-unequal segments]",
    ),
    Mutation(
        "discount-without-tables",
        SWEEPS,
        "            of_tables += draw_table_evidence(n_tables, prior.concentration[j], a, rng)\n",
        "",
        "(b | a)_T speaks of the discount.",
        f"{DISCOUNTS}::test_random_discount[btigs-segmented-segments of one topic]",
    ),
    Mutation(
        "discount-without-tables-to-previous",
        SWEEPS,
        "                if prior.to_previous > 0.0:\n                    t +=",
        "                if prior.to_previous < 0.0:\n                    t +=",
        "The seatings of both kinds of tables speak of the discount.",
        f"{DISCOUNTS}::test_random_discount[btigs-adaptive-segments of one topic]",
    ),
    Mutation(
        "discount-keeps-its-weights",
        TABLE_SAMPLER,
        "        self.discount = draw_bounded_beta(p, q, stream)\n        self._make_ratios()\n",
        "        self.discount = draw_bounded_beta(p, q, stream)\n",
        "The ratios of Stirling numbers follow the discount.",
        f"{DISCOUNTS}::test_log_joint_of_estimated_hyper_parameters[btigs-segmented]",
    ),
]


def _ldcc(test: str) -> str:
    return f"tests/exact/topics/test_ldcc.py::{test}"


LDCC = "topics/_kernels_ldcc.py"

_LDCC = [
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
        "                if k >= 0:\n                    move_word(w, k, -1,",
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
        "        k = before[i - begin]\n",
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
]


def _likelihood(case: str, n_particles: int, model: str = "segmented") -> str:
    return f"{LIKELIHOODS}::test_mean_is_the_probability[{n_particles}-{model}-{case}]"


_LIKELIHOOD = [
    Mutation(
        "likelihood-without-resampled-mean",
        PARTICLES,
        "            ancestors[r] = source\n    return log_mean",
        "            ancestors[r] = source\n    return 0.0",
        "The mean of the weights at each resampling is a factor of the estimate.",
        _likelihood("middle empty", 5),
    ),
    Mutation(
        "likelihood-weights-after-resampling",
        PARTICLES,
        "        log_weights[r] = 0.0",
        "        log_weights[r] += 0.0",
        "Particles that were resampled weigh the same: their weights have been used.",
        f"{LIKELIHOODS}::test_long_documents[120-segmented]",
    ),
    Mutation(
        "likelihood-without-customers",
        LEFT_TO_RIGHT,
        "math.log(running / (prior.concentration[i] + ahead.level_customers[i]))",
        "math.log(running / prior.concentration[i])",
        "The denominator b + Nd_j of a word's weight.",
        _likelihood("middle empty", 1),
    ),
    Mutation(
        "likelihood-concentration-of-tables",
        LEFT_TO_RIGHT,
        "group_ptr, groups.customers, groups.tables, prior.discount, drawn[first:last],",
        "group_ptr, 0 * groups.customers, groups.tables, prior.discount, drawn[first:last],",
        "The concentrations of particles are drawn given customers and tables so far.",
        _likelihood("document's concentration", 1),
    ),
    Mutation(
        "likelihood-chain-of-two",
        LEFT_TO_RIGHT,
        "ahead.fixed_part[i, k] = share * inverse + at_above + TINY",
        "ahead.fixed_part[i, k] = share * inverse + TINY",
        "A segment without words hands on what the one before it has.",
        _likelihood("middle empty", 1, "sequential"),
    ),
    Mutation(
        "likelihood-customers-without-tables",
        LEFT_TO_RIGHT,
        "enter_level(level, stop, True, corpus, assignments, customers, level_customers)",
        "enter_level(level, stop, False, corpus, assignments, customers, level_customers)",
        "A table that orders from the segment before is a customer there.",
        _likelihood("middle empty", 1, "sequential"),
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
        "likelihood-mean-of-logs",
        "topics/_likelihood.py",
        "return np.logaddexp.reduce(estimates, axis=0) - np.log(len(models))",
        "return estimates.mean(axis=0)",
        "Stored samples are averaged as probabilities.",
        f"{LIKELIHOODS}::test_mean_is_the_probability_lda[1-document]",
    ),
]

MUTATIONS = [
    *_ADD, *_CMGS, *_SSA, *_ESTIMATES, *_CONCENTRATION, *_JOINT, *_PRIORS, *_PROCESSES,
    *_DISCOUNT, *_CHAIN_ADD, *_CHAIN_REMOVE, *_CHAIN_CMGS, *_CHAIN_SSA, *_CHAIN_JOINT,
    *_CHAIN_ESTIMATES, *_CHAIN_PARAMETERS, *_LDCC, *_LIKELIHOOD,
]  # fmt: skip

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
