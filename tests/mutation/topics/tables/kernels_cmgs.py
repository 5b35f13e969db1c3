"""Wrong patches of the collapsed sampler."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"

CMGS = "topics/_tables/_kernels_cmgs.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
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
]
