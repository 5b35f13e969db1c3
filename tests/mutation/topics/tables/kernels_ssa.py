"""Wrong patches of the sampler with seats."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"

SSA = "topics/_tables/_kernels_ssa.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
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
