"""Wrong patches of what a customer weighs."""

from mutation.mutation import Mutation

ADAPTIVE = "tests/exact/topics/test_adaptive.py"
TOPICS = "tests/exact/topics/test_segmented.py"

SAMPLERS = "topics/_tables/_kernels_samplers.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "cmgs-opens-at-zero-only",
        SAMPLERS,
        "opening = 1.0 if t == n else 0.0",
        "opening = 1.0 if n == 0 else 0.0",
        "Erratum 4: opening a table is open to a word whenever t = n, not only at n = 0 (5.3).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-opens-always",
        SAMPLERS,
        "opening = 1.0 if t == n else 0.0",
        "opening = 1.0",
        "No state with t < n comes from one with t + 1: no word takes a table along at t < n.",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-without-U",
        SAMPLERS,
        "share = share_ratio(weights.values, weights.row_ptr, n, t, a)",
        "share = 1.0",
        "The Stirling ratio of sharing a table (5.3).",
        _posterior("cmgs"),
    ),
    Mutation(
        "ssa-shares-without-discount",
        SAMPLERS,
        "share, opening = n - a * t, 1.0",
        "share, opening = n - 0.0 * t, 1.0",
        "The discount of each table in n - a t (algorithm 1).",
        _posterior("ssa", "three topics"),
    ),
    Mutation(
        "chain-cmgs-opens-at-zero-only",
        SAMPLERS,
        "opening = 1.0 if t == n else 0.0",
        "opening = 1.0 if n == 0 else 0.0",
        "Erratum 4: opening a table is open to a customer whenever t = n, not only at n = 0.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "chain-ssa-shares-without-discount",
        SAMPLERS,
        "share, opening = n - a * t, 1.0",
        "share, opening = n - 0.0 * t, 1.0",
        "The discount of each table in n - a t.",
        _posterior("ssa", "three topics", ADAPTIVE),
    ),
]
