"""Wrong patches of charts."""

from mutation.mutation import Mutation

ENGINE = "grammar/_chart/_engine.py"
LANES = "grammar/_chart/_kernels_lanes.py"
LONG = "grammar/_chart/_kernels_long.py"
TREES = "grammar/_chart/_kernels_trees.py"
EXTENDED = "grammar/_chart/_kernels_extended_range.py"
SPANS = "grammar/_chart/_kernels_spans.py"
BATCHES = "grammar/_chart/_batches.py"
LIMITS = "grammar/_chart/_limits.py"


def _batches(function: str) -> str:
    return f"tests/exact/grammar/chart/test_batches.py::{function}"


def _trees(function: str, case: str) -> str:
    return f"tests/exact/grammar/test_inside_outside.py::{function}[{case}]"


def _brackets(function: str) -> str:
    return f"tests/exact/grammar/test_brackets.py::{function}"


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
        "        in_doubt[k] = not is_surely_safe(rules, space, low, high, words.shape[0], total)",
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
    Mutation(
        "grammar-brackets-crossed-on-the-left",
        LANES,
        "        if s < firsts[w] or lasts[w] < e:\n",
        "        if lasts[w] < e:\n",
        "A span may cross a bracket that begins after it.",
        _brackets("test_sums[side by side-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-crossed-on-the-right",
        SPANS,
        "(s < firsts[e - 1] or lasts[s] < e)",
        "s < firsts[e - 1]",
        "A span may cross a bracket that ends before it.",
        _brackets("test_sums[one at a time-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-closed",
        SPANS,
        "or lasts[s] < e)",
        "or lasts[s] <= e)",
        "A span that ends with the bracket around it does not cross it.",
        _brackets("test_best_trees[two symbols]"),
    ),
    Mutation(
        "grammar-brackets-of-the-first-sentence",
        LANES,
        "            space.firsts[s, w] = firsts[begin + s] if",
        "            space.firsts[s, w] = firsts[s] if",
        "Each sentence of a batch has its own brackets.",
        _brackets("test_sums[side by side-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-of-the-next-word",
        LANES,
        "            space.lasts[s, w] = lasts[begin + s] if",
        "            space.lasts[s, w] = lasts[begin + s + 1] if s + 1 < space.lengths[w] and",
        "Limits are those of the word itself.",
        _brackets("test_sums[side by side-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-of-the-first-long-sentence",
        LONG,
        "        n = words.shape[0]\n        fill_inside(rules, space, words, low, high)",
        "        n = words.shape[0]\n        fill_inside(rules, space, words, firsts, lasts)",
        "Each long sentence has its own brackets.",
        _brackets("test_sums[one at a time-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-crossed-on-the-way-down",
        EXTENDED,
        "            if is_closed(firsts, lasts, s, e):\n                continue\n"
        "            normalize",
        "            normalize",
        "A closed span has outside sums, but its rules are not used.",
        _brackets("test_sums[in extended range-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-crossed-by-the-best-tree",
        TREES,
        "                if is_closed(firsts, lasts, s, e):\n",
        "                if n < 0:\n",
        "The best tree has all brackets, too.",
        _brackets("test_best_trees[two symbols]"),
    ),
    Mutation(
        "grammar-brackets-ignored-by-unsafe-draws",
        ENGINE,
        "                sentence = batches.sentence(place)\n                is_parsed",
        "                words, low, high = batches.sentence(place)\n"
        "                sentence = words, low[:0], high[:0]\n                is_parsed",
        "Trees drawn from sums in extended range have all brackets, too.",
        _brackets("test_drawn_trees[two symbols--1.0]"),
    ),
    Mutation(
        "grammar-brackets-shared-by-equal-sentences",
        BATCHES,
        "            values += limits\n",
        "",
        "Sentences of the same words may have different brackets.",
        _brackets("test_sums[side by side-two symbols]"),
    ),
    Mutation(
        "grammar-brackets-of-another-sentence",
        BATCHES,
        "self.limits.of_sentence(self.sentences.ptr, i)",
        "self.limits.of_sentence(self.sentences.ptr, place)",
        "Distinct sentences are in an order of their own.",
        _brackets("test_best_trees[two symbols]"),
    ),
    Mutation(
        "grammar-brackets-of-sentences-left-out",
        LIMITS,
        "SpanLimits.of(*(limit[words] for limit in self.limits))",
        "SpanLimits.of(*(limit[: np.count_nonzero(words)] for limit in self.limits))",
        "Brackets stay with their sentences if others are left out.",
        "tests/unit/grammar/test_brackets.py::TestFits::test_long_sentences_are_left_out",
    ),
]
