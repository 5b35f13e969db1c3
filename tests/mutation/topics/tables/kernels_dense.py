"""Wrong patches of the samplers that pass over all topics."""

from mutation.mutation import Mutation

TOPICS = "tests/exact/topics/test_segmented.py"

DENSE = "topics/_tables/_kernels_dense.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "cmgs-leaves-the-table",
        DENSE,
        "        goes = assignments.tables[j, k] == n",
        "        goes = n == 1",
        "A word takes a table with it at t = n: there cannot be more tables than words.",
        _posterior("cmgs"),
    ),
    Mutation(
        "ssa-sits-without-discount",
        DENSE,
        """\
        target = next_double(rng) * (n - a * assignments.tables[j, k])
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
        DENSE,
        "target = next_double(rng) * n\n",
        "target = next_double(rng) * (n - 0.5 * assignments.tables[j, k])\n",
        "A word leaves a table in proportion to its size: there is no discount in it.",
        _posterior("ssa"),
    ),
    Mutation(
        "ssa-opens-without-aT",
        DENSE,
        "ratio = total / (b + a * n_tables)",
        "ratio = total / b",
        "The discount in the weight b + a T of a new table.",
        _posterior("ssa"),
    ),
    Mutation(
        "ssa-opens-without-node",
        DENSE,
        "scratch.opening[k] = new * base[k] * reciprocal[k]",
        "scratch.opening[k] = new * reciprocal[k]",
        "The weight alpha_k + c_k of a new table's dish.",
        _posterior("ssa"),
    ),
]
