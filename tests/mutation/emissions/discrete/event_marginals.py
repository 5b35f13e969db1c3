"""Wrong patches: discrete, event marginals."""

from mutation.mutation import Mutation

EVENT_MARGINALS = "emissions/_discrete/_event_marginals.py"
BAG_TESTS = "tests/exact/emissions/test_multinomial.py"

MUTATIONS = [
    Mutation(
        "events-rounded",
        EVENT_MARGINALS,
        "result = (shapes - 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)",
        "result = (shapes + 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)",
        "log Gamma(a) is Stirling's formula of a! without log a.",
        f"{BAG_TESTS}::test_rising_factorials_lose_no_digits[4.0]",
    ),
    Mutation(
        "events-spread-of-binomial",
        EVENT_MARGINALS,
        "spread = (mean * c + square) / (c + 1.0)",
        "spread = (mean * c + mean) / (c + 1.0)",
        "Counts of unknown probabilities vary more than binomial ones.",
        f"{BAG_TESTS}::test_marginals_by_enumeration[learned]",
    ),
    Mutation(
        "events-cells-for-themselves",
        EVENT_MARGINALS,
        "np.cumsum(table[:-1], axis=0, out=self._before[1:])",
        "self._before[1:] = table[:-1]",
        "What lies before a cell is all cells before it.",
        f"{BAG_TESTS}::test_millions_of_events[binomial]",
    ),
    Mutation(
        "events-corrected-the-wrong-way",
        EVENT_MARGINALS,
        "(7.0 / 5760.0 / half**3) - second @ values / (24.0 * half)",
        "(7.0 / 5760.0 / half**3) + second @ values / (24.0 * half)",
        "The integral over a unit is the value in its middle and a 24th of the second derivative.",
        f"{BAG_TESTS}::test_integrals_by_sums[None]",
    ),
    Mutation(
        "events-number-without-chance",
        EVENT_MARGINALS,
        "    return np.asarray(result - log_negative_binomial(n, (a + b) * odds, a + b))",
        "    return np.asarray(result)",
        "Two counts, given that their sum is n.",
        f"{BAG_TESTS}::test_millions_of_events[at the ends]",
    ),
]
