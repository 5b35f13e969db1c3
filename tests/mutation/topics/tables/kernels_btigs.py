"""Wrong patches of the sampler with table indicators."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"

BTIGS = "topics/_tables/_kernels_btigs.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "btigs-sums-of-a-rejected-draw",
        BTIGS,
        "                while True:\n                    in_present = sum_present(\n"
        "                        w, n_present, ratio, present, opening, sharing, counts, gamma, "
        "sums\n                    )\n",
        "                in_present = sum_present(\n"
        "                    w, n_present, ratio, present, opening, sharing, counts, gamma, sums\n"
        "                )\n                while True:\n",
        "The draw of an absent topic overwrites the running sums of the present ones.",
        "tests/exact/topics/test_open_segmented.py::test_at_most_two_topics[btigs]",
    ),
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
        "                        factor[k] = 0.0  # present from now on\n",
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
]

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
