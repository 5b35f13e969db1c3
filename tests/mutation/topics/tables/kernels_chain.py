"""Wrong patches of segments that follow each other."""

from mutation.mutation import Mutation

ADAPTIVE = "tests/exact/topics/test_adaptive.py"
SEQUENTIAL = "tests/exact/topics/test_sequential.py"
TOPICS = "tests/exact/topics/test_segmented.py"

CHAIN = "topics/_tables/_kernels_chain.py"


def _joint(sampler: str, case: str, of: str = TOPICS) -> str:
    return f"{of}::test_state_is_consistent_and_knows_its_joint[{sampler}-{case}]"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "chain-goes-on-at-breaks",
        CHAIN,
        "f_document, f_previous = weigh_parents(i == 0, s,",
        "f_document, f_previous = weigh_parents(first + i == 0, s,",
        "The first segment of a part has the document as its parent.",
        _posterior("btigs", "breaks", ADAPTIVE),
    ),
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
    Mutation(
        "chain-cmgs-opens-at-zero-only",
        CHAIN,
        "1.0 if t == n else 0.0",
        "1.0 if n == 0 else 0.0",
        "Erratum 4: opening a table is open to a customer whenever t = n, not only at n = 0.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
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
]
