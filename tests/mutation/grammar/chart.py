"""Wrong patches of charts."""

from mutation.mutation import Mutation

ENGINE = "grammar/_chart/_engine.py"
LANES = "grammar/_chart/_kernels_lanes.py"
LONG = "grammar/_chart/_kernels_long.py"
TREES = "grammar/_chart/_kernels_trees.py"
EXTENDED = "grammar/_chart/_kernels_extended_range.py"


def _batches(function: str) -> str:
    return f"tests/exact/grammar/chart/test_batches.py::{function}"


def _trees(function: str, case: str) -> str:
    return f"tests/exact/grammar/test_inside_outside.py::{function}[{case}]"


MUTATIONS = [
    Mutation(
        "grammar-long-last-counts-forgotten",
        LONG,
        "    add_held(space, n_frozen, c, n_pairs, space.count)\n    for s",
        "    for s",
        "Counts of the last spans wait for others that never come.",
        _batches("test_one_at_a_time_is_as_side_by_side"),
    ),
    Mutation(
        "grammar-long-left-children-only",
        LONG,
        "x = space.outside_left[row * z + i] + space.outside_right[column * z + i]",
        "x = space.outside_left[row * z + i]",
        "A span may be a right child, too.",
        _batches("test_one_at_a_time_is_as_side_by_side"),
    ),
    Mutation(
        "grammar-long-never-unsafe",
        LONG,
        "if not ((worst <= rules.limit) & (total * rules.limit >= 1.0)):",
        "if n < 0:",
        "Sums raised to the floor may be all that a sentence's weight comes from.",
        _batches("test_weights_far_apart_one_at_a_time"),
    ),
    Mutation(
        "grammar-long-log-probabilities-unchecked",
        LONG,
        "        in_doubt[k] = not is_surely_safe(rules, space, words.shape[0], total)",
        "        in_doubt[k] = False",
        "Log probabilities alone may have lost something, too.",
        _batches("test_unlikely_words_one_at_a_time"),
    ),
    Mutation(
        "grammar-scale-forgotten-on-the-way-up",
        LANES,
        "            exponents[row, w] += d\n",
        "            exponents[row, w] += 0\n",
        "What a span was divided by has to be known to the spans above it.",
        _trees("test_log_prob", "two symbols"),
    ),
    Mutation(
        "grammar-scale-forgotten-on-the-way-down",
        LANES,
        "power_of_two(left[w] + right[w] - top[w] + rise[w])",
        "power_of_two(left[w] + right[w] - top[w])",
        "The outside sums of a span are in the scale of its inside sums.",
        _trees("test_expected_counts", "partitioned"),
    ),
    Mutation(
        "grammar-never-unsafe",
        LANES,
        "is_safe = (space.worst[w] <= rules.limit) & (space.totals[w] * rules.limit >= 1.0)",
        "is_safe = True",
        "Sums raised to the floor may be all that a sentence's weight comes from.",
        _trees("test_log_prob", "two ways"),
    ),
    Mutation(
        "grammar-high-floor",
        LANES,
        "raise_rows(space.inside, row * z, c, rules.floor, tops, 0)",
        "raise_rows(space.inside, row * z, c, 1e-9, tops, 0)",
        "The limit on outside sums is for a floor that the sums are far above.",
        _trees("test_expected_counts", "far apart"),
    ),
    Mutation(
        "grammar-log-probabilities-unchecked",
        LANES,
        "        in_doubt[begin:end] = not is_surely_safe(rules, space, n)",
        "        in_doubt[begin:end] = False",
        "Log probabilities alone may have lost something, too.",
        _trees("test_log_prob", "two ways"),
    ),
    Mutation(
        "grammar-word-on-the-right",
        LANES,
        "n_k, n_i, n_j, splits, pair)\n        pair += n_i * n_j",
        "n_k, n_i, n_j, splits, pair)\n        pair = n_i * n_j",
        "Pairs with a word on the right and pairs without words have rules of their own.",
        _trees("test_log_prob", "partitioned"),
    ),
    Mutation(
        "grammar-right-children-of-other-splits",
        LANES,
        "a, b, n_terms, f, k0 + k, 1,",
        "a, b, n_terms, f, k, 1,",
        "Every split has a scale of its own.",
        _trees("test_expected_counts", "partitioned"),
    ),
    Mutation(
        "grammar-equal-sentences-once",
        LANES,
        "        space.shares[w] = multiplicity[w] if",
        "        space.shares[w] = 1.0 if",
        "Sentences that occur more than once count as often.",
        _batches("test_equal_sentences_are_done_once"),
    ),
    Mutation(
        "grammar-wide-without-the-rules-exponents",
        EXTENDED,
        "d = min(shift + binary_exponents[z, i, j] + split_exponents[i, j], 1023)",
        "d = min(shift + split_exponents[i, j], 1023)",
        "The weights of rules have exponents, too.",
        _batches("test_long_sentences[0.0]"),
    ),
    Mutation(
        "grammar-draw-split-by-the-left-child",
        TREES,
        "            weights[m - s - 1] = inside[left, i] * inside[right, j]\n",
        "            weights[m - s - 1] = inside[left, i]\n",
        "A split point is drawn by the sums over the subtrees on both sides.",
        _trees("test_sample_trees", "two symbols"),
    ),
    Mutation(
        "grammar-best-tree-without-rules",
        TREES,
        "            x = log_binary[z - first_branching, i, j] + splits[i, j]\n",
        "            x = splits[i, j]\n",
        "The best children are best together with the rule that makes them.",
        _trees("test_viterbi", "two symbols"),
    ),
    Mutation(
        "grammar-counts-of-words-dropped",
        ENGINE,
        "                for total, each in zip(sums[:4], found[:4], strict=True):",
        "                for total, each in zip(sums[:3], found[:3], strict=True):",
        "Pairs of words and other pairs are counted apart.",
        _trees("test_expected_counts", "partitioned"),
    ),
    Mutation(
        "grammar-k-best-too-few-rules",
        "grammar/_chart/_k_best.py",
        'kind="stable")][:k]',
        'kind="stable")][: (k + 1) // 2]',
        "The k best trees may differ at one node alone.",
        "tests/exact/grammar/test_predictions.py::test_k_best[mean-plain, GEM]",
    ),
]
