"""Wrong patches: random halves of groups."""

from mutation.mutation import Mutation

UNIT = "tests/unit/numeric/random/test_halves.py"

HALVES = "_numeric/_random/_halves.py"

MUTATIONS = [
    Mutation(
        "halves-are-rounded-up",
        HALVES,
        "(end - begin) // 2",
        "(end - begin + 1) // 2",
        "The second half of an odd number of items is the smaller one.",
        f"{UNIT}::test_sizes",
    ),
    Mutation(
        "halves-prefer-last-items",
        HALVES,
        "next_double(rng) * (end - i) < n_missing",
        "next_double(rng) * (end - i) < 0.7 * n_missing or end - i == n_missing",
        "All sets of items are equally probable.",
        f"{UNIT}::test_all_halves_are_equally_probable",
    ),
    Mutation(
        "halves-have-one-stream",
        HALVES,
        "contents[begin * width : end * width], lengths, rng)",
        "contents[:width], lengths, rng)",
        "The halves of a group depend on its own content.",
        f"{UNIT}::test_content_alone_decides",
    ),
]
