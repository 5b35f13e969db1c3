"""Wrong patches of the kernels of tables whose sizes are summed out."""

from mutation.mutation import Mutation

LM = "tests/exact/language/test_hierarchical_pitman_yor_lm.py"
LEARNT = f"{LM}::test_discounts_and_concentrations[one often-all]"
KERNELS = "processes/_kernels_cell_pairs.py"
PAIRS = "tests/exact/processes/test_cell_pairs.py"

MUTATIONS = [
    Mutation(
        "franchise-pairs-recursion",
        KERNELS,
        "(n - falls[t + 1]) * above[t + 1]",
        "(n - falls[t]) * above[t + 1]",
        "A customer joins t tables in proportion to n - d t.",
        LEARNT,
    ),
    Mutation(
        "franchise-pairs-counts",
        KERNELS,
        "            total += counts[i] * math.log(row[t[i]])",
        "            total += math.log(row[t[i]])",
        "Every cell has its factor, not only one of those that are alike.",
        f"{PAIRS}::test_every_small_pair[0.93]",
    ),
]
