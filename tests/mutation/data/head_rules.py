"""Wrong patches of head rules."""

from mutation.mutation import Mutation

RULES = "data/_head_rules.py"
TESTS = "tests/unit/data/test_head_rules.py"

MUTATIONS = [
    Mutation(
        "heads-direction",
        RULES,
        '_Pass(each[0] == "left", ',
        '_Pass(each[0] != "left", ',
        "A rule says from where to look.",
        f"{TESTS}::test_rules[X: a b c-rules20-1]",
    ),
    Mutation(
        "heads-punctuation",
        RULES,
        "if label not in PUNCTUATION and label != TRACE",
        "if label != TRACE",
        "Punctuation is no head.",
        f"{TESTS}::test_rules[S: `` NP VP .-first-1]",
    ),
    Mutation(
        "heads-traces",
        RULES,
        "if label not in PUNCTUATION and label != TRACE",
        "if label not in PUNCTUATION",
        "Traces are no heads.",
        f"{TESTS}::test_rules[S: -NONE- NP VP .-first-1]",
    ),
    Mutation(
        "heads-coordination-once",
        RULES,
        "            while head >= 2 and categories[head - 1] in _COORDINATORS:",
        "            if head >= 2 and categories[head - 1] in _COORDINATORS:\n"
        "                pass\n"
        "            while False:",
        "The head of a coordination is its first conjunct.",
        f"{TESTS}::test_rules[NP: NN CC NN-collins-0]",
    ),
    Mutation(
        "heads-function-tags",
        RULES,
        "    return found[0] if found else label\n",
        "    return label\n",
        "NP-SBJ is an NP.",
        f"{TESTS}::test_rules[S-TPC: NP-SBJ=1 VP-PRD-collins-1]",
    ),
    Mutation(
        "heads-labels-of-one-rank",
        RULES,
        "[frozenset(group) for group in groups]",
        "[frozenset(name for group in groups for name in group)]",
        "The first label of a rule is wanted most.",
        f"{TESTS}::test_rules[X: a b c-rules19-2]",
    ),
]
