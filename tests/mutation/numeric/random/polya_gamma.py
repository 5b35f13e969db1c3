"""Wrong patches: random, Polya-Gamma draws."""

from mutation.mutation import Mutation

POLYA_GAMMA = "_numeric/_random/_polya_gamma.py"
TESTS = "tests/unit/numeric/test_polya_gamma.py"
MOMENTS = f"{TESTS}::test_moments_and_laplace_transform"

MUTATIONS = [
    Mutation(
        "polya-gamma-tail-without-rate",
        POLYA_GAMMA,
        "x = CUT + draw_exponential(rng) / (0.125 * math.pi**2 + 0.5 * c * c)",
        "x = CUT + draw_exponential(rng) / (0.125 * math.pi**2)",
        "The tail falls faster with larger log odds.",
        f"{MOMENTS}[3.1]",
    ),
    Mutation(
        "polya-gamma-share-of-a-levy-distribution",
        POLYA_GAMMA,
        "    head += math.exp(c) * math.erfc(root * (CUT * c + 1.0) * ROOT_HALF)\n",
        "",
        "The distribution function of an inverse Gaussian has two terms.",
        f"{MOMENTS}[0.7]",
    ),
    Mutation(
        "polya-gamma-short-times-not-tilted",
        POLYA_GAMMA,
        "            if next_double(rng) < math.exp(-0.5 * c * c * x):\n",
        "            if next_double(rng) < 1.0:\n",
        "Short times are those of an inverse Gaussian.",
        f"{MOMENTS}[-2.0]",
    ),
    Mutation(
        "polya-gamma-smaller-root-always",
        POLYA_GAMMA,
        "        if next_double(rng) * (1.0 + c * x) > 1.0:\n",
        "        if next_double(rng) * (1.0 + c * x) > 3.0:\n",
        "Either root is taken with its probability.",
        f"{MOMENTS}[9.0]",
    ),
    Mutation(
        "polya-gamma-one-expansion",
        POLYA_GAMMA,
        "    if x > CUT:\n        return math.pi * k",
        "    if x > 4.0 * CUT:\n        return math.pi * k",
        "The proposal beyond the cut is the first term of the other expansion.",
        f"{MOMENTS}[0.0]",
    ),
    Mutation(
        "polya-gamma-another-limit",
        POLYA_GAMMA,
        "        return 0.5 / abs(z)\n",
        "        return 1.0 / abs(z)\n",
        "The mean tends to 1 / (2 |z|).",
        f"{TESTS}::test_large_log_odds[1e+155]",
    ),
]
