"""Wrong patches of models whose segments follow each other."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"
SEQUENTIAL = "tests/exact/topics/test_sequential.py"
ADAPTIVE = "tests/exact/topics/test_adaptive.py"
DISCOUNTS = "tests/exact/topics/test_discount.py"
SCOPES = "tests/exact/topics/test_concentration_scope.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


def _transform(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_transform[{sampler}-{case}]"


KERNELS = "topics/_tables/_kernels.py"
CHAIN = "topics/_tables/_kernels_chain.py"
TABLES = "topics/_tables/_kernels_table_counts.py"
SEATS = "topics/_tables/_kernels_seats.py"
SWEEPS = "topics/_tables/_kernels_sweeps.py"
TABLE_SAMPLER = "topics/_tables/_walker.py"

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
        "prior.concentration[j] = drawn[g]",
        "prior.concentration[j] = drawn[first]",
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

MUTATIONS = [
    *_CHAIN_ADD,
    *_CHAIN_REMOVE,
    *_CHAIN_CMGS,
    *_CHAIN_SSA,
    *_CHAIN_JOINT,
    *_CHAIN_ESTIMATES,
    *_CHAIN_PARAMETERS,
]
