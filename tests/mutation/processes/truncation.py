"""Wrong patches of the error of truncated weights."""

from mutation.mutation import Mutation

TRUNCATION = "processes/_truncation.py"
TESTS = "tests/exact/processes/test_truncation.py"

MUTATIONS = [
    Mutation(
        "truncation-of-one-stick-less",
        TRUNCATION,
        "        k = np.arange(1.0, largest + 1.0)",
        "        k = np.arange(0.0, largest)",
        "The first stick leaves (b + a) / (b + 1).",
        f"{TESTS}::test_one_draw[1-0.5-1]",
    ),
    Mutation(
        "truncation-share-of-the-first",
        TRUNCATION,
        "        total = b + 1.0 + a * (k - 1.0)",
        "        total = b + 1.0 + a * k",
        "Beta(1 - a, b + k a) has the sum b + 1 + (k - 1) a.",
        f"{TESTS}::test_one_draw[3-0.5-1]",
    ),
    Mutation(
        "truncation-last-stick-takes-the-rest",
        TRUNCATION,
        "np.cumsum(sticks)])[sizes]",
        "np.cumsum(sticks)])[np.maximum(sizes - 1, 0)]",
        "The last stick has its own share of what it takes: the mass after it is what differs.",
        f"{TESTS}::test_one_draw[2-0.5-1]",
    ),
    Mutation(
        "truncation-of-one-draw",
        TRUNCATION,
        "        return -np.expm1(n * np.log1p(-np.exp(log_rest)))",
        "        return -np.expm1(np.log1p(-np.exp(log_rest)))",
        "Any of n draws may fall behind the sticks.",
        f"{TESTS}::test_several_draws[2-1-0-20]",
    ),
    Mutation(
        "truncation-without-discount",
        TRUNCATION,
        "np.array(b / (1.0 + b)))",
        "np.array((b - 0.1) / (1.0 + b)))",
        "Without a discount each stick leaves b / (b + 1).",
        f"{TESTS}::test_one_draw[1-0-0.3]",
    ),
]
