"""Wrong patches: gaussian, kernels sums."""

from mutation.mutation import Mutation

KERNELS = "emissions/_gaussian/_kernels_sums.py"
TESTS = "tests/unit/emissions/test_gaussian_sums.py"

MUTATIONS = [
    Mutation(
        "gaussian-sums-unit-of-one-observation",
        KERNELS,
        "    return 2.0 ** (BITS - count_bits(n))",
        "    return 2.0 ** (BITS + 3)",
        "A sum of as many terms as there are has to fit in 64 bits.",
        f"{TESTS}::test_statistics[1-ones]",
    ),
    Mutation(
        "gaussian-sums-of-floats",
        KERNELS,
        "    return 2.0 ** (BITS - count_bits(n))",
        "    return 2.0**20",
        "A unit must be far smaller than what is added up.",
        f"{TESTS}::test_statistics[1-ones]",
    ),
    Mutation(
        "gaussian-sums-about-the-middle",
        KERNELS,
        "x = subtract_products(whole, seconds[k, d, e], firsts[k, d], firsts[k, e])",
        "x = subtract_products(whole, seconds[k, d, e], 0, 0)",
        "Scatter is about the mean, not about the middle of the range.",
        f"{TESTS}::test_statistics[1-ones]",
    ),
    Mutation(
        "gaussian-sums-without-carry",
        KERNELS,
        "high = a1 * b1 - c1 * d1 + (middle >> LIMB)",
        "high = a1 * b1 - c1 * d1",
        "What the middle limb has too much belongs to the next.",
        f"{TESTS}::test_statistics[1-ones]",
    ),
    Mutation(
        "gaussian-sums-of-no-state",
        KERNELS,
        "    for t in range(values.shape[0]):\n        if states[t] < 0:\n            continue\n"
        "        for b in range(n_blocks):\n            if not math.isnan(values[t, b * width]):\n"
        "                k = states[t] * n_blocks + b\n                for d in range(width):\n",
        "    for t in range(values.shape[0]):\n        for b in range(n_blocks):\n"
        "            if not math.isnan(values[t, b * width]):\n"
        "                k = states[t] * n_blocks + b\n                for d in range(width):\n",
        "Steps of no state do not count.",
        f"{TESTS}::test_statistics[1-ones]",
    ),
]
