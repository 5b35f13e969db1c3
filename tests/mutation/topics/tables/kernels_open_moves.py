"""Wrong patches of splits and merges of topics of table models."""

from mutation.mutation import Mutation

EXACT = "tests/exact/topics/test_open_segmented.py"
UNIT = "tests/unit/topics/tables/test_open_models.py"
MOVES = "topics/_tables/_kernels_open_moves.py"
SPLITS = f"{EXACT}::test_splits_and_merges[segmented-two documents-btigs]"

MUTATIONS = [
    Mutation(
        "open-split-without-the-top-level",
        MOVES,
        "    log_ratio = math.log(gamma) - shares[0] - shares[1] - log_proposed\n",
        "    log_ratio = -log_proposed\n",
        "Two weights in the place of one have another density.",
        SPLITS,
    ),
    Mutation(
        "open-words-of-a-block-do-not-know-each-other",
        MOVES,
        "        counts[0, w] += 1.0\n        counts[1, w] += 1.0\n",
        "        counts[0, w] += 0.0\n        counts[1, w] += 1.0\n",
        "The words of a block come one after the other, on either side.",
        f"{UNIT}::TestMoves::test_weights_of_blocks",
    ),
    Mutation(
        "open-tables-are-kept-with-blocks-undivided",
        MOVES,
        "            opens = next_double(rng) * ratio < 1.0\n",
        "            opens = False\n",
        "Which customers opened the tables is drawn.",
        f"{UNIT}::TestMoves::test_seats",
    ),
    Mutation(
        "open-seats-without-sizes",
        MOVES,
        "            target -= seats.size[seat] - a\n            while",
        "            target -= 1.0\n            while",
        "A customer takes a seat at a table in proportion to its size, less the discount.",
        f"{UNIT}::TestMoves::test_seats",
    ),
]
