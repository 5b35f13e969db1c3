"""Sums over trees, best trees and drawn trees against enumeration of all trees.

Given brackets must be constituents: trees without them are left out of the enumeration, while the
engine closes the spans that cross a bracket. Sums over longer sentences, done side by side or one
at a time, are compared with those in numbers of unlimited range, and in logs."""

import math
from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.grammar import Grammar, enumerate_trees, spans, trees_over
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from skdp.data import TokenSequences
from skdp.grammar._chart import _paths
from skdp.grammar._chart._engine import (
    expected_counts,
    expected_symbols,
    inside,
    sample_trees,
    viterbi,
)
from skdp.grammar._chart._paths import RuleWeights, SentenceBatches
from skdp.grammar._induction._layout import add_brackets

INF = np.inf
N_WORDS = 4


def random_grammar(rng, n_preterminals, n_constituents, spread=2.0, zeros=0.0):
    """Return a grammar with Gaussian log weights, some of them zeros; None: unpartitioned."""
    n_emitting = n_preterminals or n_constituents
    n_symbols = (n_preterminals or 0) + n_constituents
    shapes = (n_symbols,), (n_emitting, N_WORDS), (n_constituents, n_symbols, n_symbols)
    parts = [spread * rng.normal(size=shape) for shape in shapes]
    for part in parts:
        part[rng.random(part.shape) < zeros] = -INF
    return Grammar(*parts, n_preterminals)


def wide_apart():
    """Weights that differ by thousands of nats, and sentences that need the small ones."""
    rng = np.random.default_rng(7)
    grammar = random_grammar(rng, None, 3)
    for part in grammar[:3]:
        part[rng.random(part.shape) < 0.7] -= rng.choice([100.0, 500.0, 800.0, 10_000.0])
    return grammar


def two_ways():
    """Trees of the symbol 0 pay e^-200 a word, trees of the symbol 1 pay e^-750 once, at the root.
    For six words the second are better, and nothing shows it in numbers of 64 bits, in which e^-750
    is 0."""
    log_binary = np.full((2, 2, 2), -INF)
    log_binary[0, 0, 0] = log_binary[1, 1, 1] = 0.0
    log_emission = np.full((2, N_WORDS), -200.0)
    log_emission[1] = 0.0
    return Grammar(np.array([0.0, -750.0]), log_emission, log_binary, None)


def shifted():
    """Weights that are no probabilities: large and small ones, words and rules apart."""
    root, emission, binary, _ = random_grammar(np.random.default_rng(1), None, 3)
    return Grammar(root - 300.0, emission + 400.0, binary - 700.0, None)


RNG = np.random.default_rng(0)
CASES = {
    "two symbols": (random_grammar(RNG, None, 2), [5, 4, 3, 2, 1]),
    "three symbols": (random_grammar(RNG, None, 3), [4, 3]),
    "four symbols": (random_grammar(RNG, None, 4), [3, 2, 1, 1]),
    "one symbol": (random_grammar(RNG, None, 1), [6, 1]),
    "partitioned": (random_grammar(RNG, 2, 2), [5, 4, 3, 2, 1]),
    "more preterminals": (random_grammar(RNG, 3, 1), [5, 4, 1]),
    "more constituents": (random_grammar(RNG, 1, 3), [5, 4, 3]),
    "four and four": (random_grammar(RNG, 4, 4), [3, 2]),
    "zeros": (random_grammar(RNG, None, 3, zeros=0.4), [4, 4, 3, 3, 2, 2, 1, 1]),
    "partitioned zeros": (random_grammar(RNG, 3, 2, zeros=0.5), [4, 4, 4, 3, 2, 1]),
    "far apart": (wide_apart(), [4, 4, 3, 2, 1]),
    "two ways": (two_ways(), [[0, 1, 2, 3, 0, 1], [0, 1, 2], [2]]),
    "shifted": (shifted(), [4, 3, 2, 1]),
}
WORDS = [[0, 1, 2, 3, 0], [0, 1, 2, 3, 0], [0, 1, 2, 3, 0], [3, 1, 2, 2], [3, 1, 2, 2],
         [1, 1, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [2, 3], [2]]  # fmt: skip
BRACKETS = [[(1, 4)], [(0, 2), (2, 5), (3, 5)], None, [(0, 3), (0, 2)], [(1, 4), (2, 3)],
            [(0, 2)], [(1, 3)], [], [(0, 2), (0, 3)], [(0, 2)], [(0, 1)]]  # fmt: skip
"""Equal sentences with other brackets, with none, and with the same."""

BRACKETED = {
    "brackets, two symbols": (None, 2),
    "brackets, partitioned": (2, 2),
    "brackets, zeros": (None, 2, 2.0, 0.3),
    "brackets, far apart": (None, 2, 500.0),
}
every_case = pytest.mark.parametrize("case", [*CASES, *BRACKETED])


@cache
def problem(case):
    """Return words, brackets, sentences, weights and what enumeration says of each sentence."""
    if case in BRACKETED:
        grammar = random_grammar(np.random.default_rng(1), *BRACKETED[case])
        words, brackets = WORDS, BRACKETS
    else:
        grammar, sizes = CASES[case]
        rng = np.random.default_rng(2)
        words = [rng.integers(N_WORDS, size=n).tolist() if np.isscalar(n) else n for n in sizes]
        brackets = None
    pairs = zip(words, brackets or [None] * len(words), strict=True)
    expected = [enumerate_trees(grammar, sentence, known or ()) for sentence, known in pairs]
    return words, brackets, sentences_of(words, brackets), RuleWeights(*grammar), expected


def sentences_of(words, brackets, n_words=N_WORDS):
    return add_brackets(TokenSequences.from_sequences(words, n_words), brackets)


def done_alone(monkeypatch):
    """Let sentences of two words or more be done one at a time."""
    monkeypatch.setattr(_paths, "LEAST_WORDS", 2)
    monkeypatch.setattr(_paths, "MOST_WORDS", 2)


def taken_for_unsafe(monkeypatch):
    """Let all sums be done in extended range."""
    monkeypatch.setattr(_paths, "_LIMIT", {4: -1.0, 8: -1.0})


WAYS = {
    "side by side": lambda monkeypatch: None,
    "one at a time": done_alone,
    "in extended range": taken_for_unsafe,
}
OTHER_WAYS = [(way, case) for way in [*WAYS][1:] for case in [*BRACKETED, "zeros", "two ways"]]


@pytest.mark.parametrize(
    ("way", "case"), [*(("side by side", case) for case in [*CASES, *BRACKETED]), *OTHER_WAYS]
)
def test_sums(way, case, monkeypatch):
    WAYS[way](monkeypatch)
    _, _, sentences, weights, expected = problem(case)
    log_prob = [each.log_prob for each in expected]
    assert_allclose(inside(sentences, weights), log_prob, rtol=1e-13, atol=1e-10)
    found = expected_counts(sentences, weights)
    assert_allclose(found.log_prob, log_prob, rtol=1e-13, atol=1e-10)
    single = expected_counts(sentences, weights, dtype=np.float32)
    assert_allclose(single.log_prob, log_prob, rtol=2e-4, atol=2e-4)
    for part in ("root", "emission", "binary"):
        total = sum(getattr(each, part) for each in expected)
        assert_allclose(getattr(found, part), total, rtol=0, atol=1e-10)
        assert_allclose(getattr(single, part), total, rtol=0, atol=2e-4)
        assert not getattr(found, part)[getattr(weights, f"log_{part}") == -INF].any()
    symbols = expected_symbols(sentences, weights)
    assert_allclose(symbols, [each.symbols for each in expected], rtol=0, atol=1e-10)


def trees_of(arrays, sentences):
    """Return the trees as the oracle writes them, None where there is none."""

    def build(nodes, words):
        symbol, length = next(nodes)
        if length == 1:
            return symbol, next(words)
        return symbol, build(nodes, words), build(nodes, words)

    nodes = [*zip(arrays.symbols.tolist(), arrays.lengths.tolist(), strict=True)]
    places = zip(pairwise(arrays.node_ptr), sentences, strict=True)
    return [build(iter(nodes[b:e]), iter(words)) if b < e else None for (b, e), words in places]


@every_case
def test_best_trees(case):
    words, _, sentences, weights, expected = problem(case)
    log_prob, trees = viterbi(sentences, weights)
    assert_allclose(log_prob, [each.best for each in expected], rtol=1e-13, atol=1e-10)
    for tree, each in zip(trees_of(trees, words), expected, strict=True):
        assert (tree is None) == (not each.trees)
        if each.trees:
            assert each.trees[tree] == pytest.approx(max(each.trees.values()), rel=1e-9)


def test_best_of_equals():
    """All trees are equally good: first symbols, and splits as far left as can be."""
    weights = RuleWeights(np.zeros(2), np.zeros((2, 1)), np.zeros((2, 2, 2)), None)
    _, trees = viterbi(TokenSequences.from_sequences([[0] * 4]), weights)
    leaf = (0, 0)
    assert trees_of(trees, [[0] * 4]) == [(0, leaf, (0, leaf, (0, leaf, leaf)))]


DRAWN = [
    "two symbols", "four symbols", "partitioned", "more constituents", "zeros", "partitioned zeros",
    "far apart",
]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "case"),
    [("side by side", case) for case in [*DRAWN, *BRACKETED][:9]]
    + [("in extended range", case) for case in [*BRACKETED][:2]],
)
def test_drawn_trees(way, case, monkeypatch):
    """2,000 draws a sentence: 6.5 standard errors for each tree, 1e-10 false alarms each."""
    WAYS[way](monkeypatch)
    words, brackets, _, weights, expected = problem(case)
    n = 2000
    many = [sentence for sentence in words for _ in range(n)]
    known = brackets and [each for each in brackets for _ in range(n)]
    drawn = trees_of(sample_trees(sentences_of(many, known), weights, streams(len(many))), many)
    for s, each in enumerate(expected):
        counts = Counter(drawn[s * n : (s + 1) * n])
        if not each.trees:
            assert set(counts) == {None}
            continue
        assert all(each.trees.get(tree, 0.0) > 0.0 for tree in counts)
        for tree, p in each.trees.items():
            error = math.sqrt(max(p * (1.0 - p), 8.0 / n) / n)
            assert abs(counts[tree] / n - p) < 6.5 * error


def streams(n):
    return np.random.default_rng(0).integers(1, 2**63, size=(n, 4)).astype(np.uint64)


# Brackets


def cross(one, other):
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def some_brackets(rng, n, size):
    """Return up to `size` spans of n words that do not cross."""
    found = []
    for _ in range(size):
        i, j = sorted(rng.choice(n + 1, 2, replace=False).tolist())
        if not any(cross((i, j), other) for other in found):
            found.append((i, j))
    return found


def test_a_tree_that_crosses_no_bracket_has_all_of_them():
    """The engine closes exactly the spans that cross a bracket."""
    rng = np.random.default_rng(0)
    trees = [spans(tree) for tree in trees_over([0] * 7, [0], [0])]
    for _ in range(100):
        brackets = some_brackets(rng, 7, rng.integers(1, 6))
        has_all = [each.issuperset(brackets) for each in trees]
        assert has_all == [not any(cross(a, b) for a in each for b in brackets) for each in trees]
        assert any(has_all)
        data = sentences_of([[0] * 7], [brackets])
        if isinstance(data, TokenSequences):
            assert all(has_all)
            continue
        firsts, lasts = data.limits
        for s in range(7):
            for e in range(s + 1, 8):
                is_open = firsts[e - 1] <= s and e <= lasts[s]
                assert is_open == (not any(cross((s, e), bracket) for bracket in brackets))


# Batches and long sentences

VOCABULARY = 30


def random_weights(n_preterminals, n_constituents):
    """Return a grammar of probabilities; None: unpartitioned."""
    rng = np.random.default_rng(0)
    n_symbols = (n_preterminals or 0) + n_constituents
    root = rng.dirichlet(np.ones(n_symbols))
    emission = rng.dirichlet(np.ones(VOCABULARY), n_preterminals or n_constituents)
    binary = rng.dirichlet(np.full(n_symbols**2, 0.3), n_constituents)
    binary = binary.reshape(n_constituents, n_symbols, n_symbols)
    with np.errstate(divide="ignore"):  # probabilities of 0 occur
        return RuleWeights(np.log(root), np.log(emission), np.log(binary), n_preterminals)


def random_sentences(lengths, with_brackets=False):
    rng = np.random.default_rng(0)
    words = [rng.integers(VOCABULARY, size=n) for n in lengths]
    brackets = [some_brackets(rng, n, k % 9) for k, n in enumerate(lengths)]
    return sentences_of(words, brackets if with_brackets else None, VOCABULARY)


def assert_close(found, expected, error):
    for part, wanted in zip(found, expected, strict=True):
        assert_allclose(part, wanted, rtol=error, atol=error)


def unlimited(monkeypatch, function, *args):
    """Return the result of a function that treats every sentence as unsafe."""
    with monkeypatch.context() as patch:
        taken_for_unsafe(patch)
        return function(*args)


SIZES = [(None, 1), (None, 7), (None, 10), (None, 13), (3, 5), (9, 11), (12, 2), (2, 12)]


@pytest.mark.parametrize("way", ["side by side", "one at a time"])
@pytest.mark.parametrize(("place", "sizes"), list(enumerate(SIZES)), ids=str)
def test_all_sizes(place, sizes, way, monkeypatch):
    """Numbers of symbols that fill registers and vectors in all ways; with many brackets or none.
    Lengths are mixed, and spans' counts are held back in all numbers."""
    WAYS[way](monkeypatch)
    weights = random_weights(*sizes)
    sentences = random_sentences([*range(1, 12), *range(1, 10), 9, 9, 2, 1], place % 2 == 1)
    expected = unlimited(monkeypatch, expected_counts, sentences, weights)
    wanted = unlimited(monkeypatch, expected_symbols, sentences, weights)
    for dtype, error in ((np.float64, 1e-10), (np.float32, 2e-5)):
        found = expected_counts(sentences, weights, dtype=dtype)
        assert_close(found, expected, error)
        symbols = expected_symbols(sentences, weights, dtype=dtype)
        assert_allclose(symbols, wanted, rtol=0, atol=error)
        assert_array_equal(inside(sentences, weights, dtype=dtype), found.log_prob)


def test_one_at_a_time_is_as_side_by_side(monkeypatch):
    """Also in what follows from it: seven long sentences, equal ones among them, and short ones."""
    weights = random_weights(3, 4)
    sentences = random_sentences([60, 50, 50, 49, 48, 47, 5, 1])[[0, 1, 2, 1, 3, 4, 5, 6, 7]]
    found = expected_counts(sentences, weights)
    symbols = expected_symbols(sentences, weights)
    assert_array_equal(inside(sentences, weights), found.log_prob)
    for one, two in zip(found, expected_counts(sentences, weights, n_jobs=2), strict=True):
        assert_array_equal(one, two)
    monkeypatch.setattr(_paths, "LEAST_WORDS", 1000)
    expected = expected_counts(sentences, weights)
    assert_close(found, expected, 1e-11)
    assert_allclose(symbols, expected_symbols(sentences, weights), rtol=1e-11)
    assert not np.array_equal(found.binary, expected.binary)  # it is another way


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([100] * 5, [0, 1, 2, 3, 4]), ([100] * 16, []), ([100] * 16 + [90], [16]),
     ([100] * 16 + [40], []), ([150, *[40] * 100], [0]), ([150, 140, *[60] * 14], [0, 1]),
     ([40], []), ([250] * 32, [*range(32)]), ([], []), ([150, *[100] * 16, 90], [0, 17])],
)  # fmt: skip
def test_who_is_done_alone(lengths, expected):
    """Long sentences, among them a last one that would have a batch of its own."""
    assert np.flatnonzero(_paths.are_long(np.array(lengths, int), 16)).tolist() == expected


def log_prob_in_logs(words, weights):
    """Return the log probability of a sentence, unpartitioned; everything in logs."""
    n, n_symbols = len(words), len(weights.log_root)
    chart = np.full((n, n + 1, n_symbols), -np.inf)
    for s, word in enumerate(words):
        chart[s, s + 1] = weights.log_emission[:, word]
    for length in range(2, n + 1):
        for s in range(n - length + 1):
            e = s + length
            left, right = chart[s, s + 1 : e, :, None], chart[s + 1 : e, e, None, :]
            splits = np.logaddexp.reduce(left + right, axis=0)
            chart[s, e] = logsumexp(weights.log_binary + splits, axis=(1, 2))
    return logsumexp(weights.log_root + chart[0, n])


@pytest.mark.parametrize("shift", [0.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_long_sentences(shift, monkeypatch):
    """Also of large weights, so that sums reach thousands of nats."""
    weights = random_weights(None, 3)
    weights = weights._replace(log_binary=weights.log_binary + shift)
    sentences = random_sentences([200, 90, 60])
    found = expected_counts(sentences, weights)
    in_logs = [log_prob_in_logs(sentences[i], weights) for i in (1, 2)]
    assert_allclose(found.log_prob[1:], in_logs, rtol=1e-13)
    expected = unlimited(monkeypatch, expected_counts, sentences, weights)
    for part, wanted in zip(found, expected, strict=True):
        assert_allclose(part, wanted, rtol=1e-12, atol=1e-10)
    assert_array_equal(inside(sentences, weights), found.log_prob)


@pytest.mark.parametrize("seed", [7, 11])
def test_weights_far_apart_one_at_a_time(seed):
    """Up to 2,000 nats between rules: what is lost of the likely ones may be all there is."""
    rng = np.random.default_rng(seed)
    shapes = (3,), (3, 5), (3, 3, 3)
    weights = RuleWeights(*(-2000.0 * rng.random(shape) for shape in shapes), None)
    words = rng.integers(0, 5, 50)
    found = expected_counts(TokenSequences.from_sequences([words], 5), weights)
    assert_allclose(found.log_prob[0], log_prob_in_logs(words, weights), rtol=1e-13)
    assert_allclose(found.binary.sum(), 49.0, rtol=1e-12)


@pytest.mark.parametrize("way", ["side by side", "one at a time"])
def test_unlikely_words(way, monkeypatch):
    """Rules of weight e^-10,000 are all but zero: sentences that need them are seen to."""
    WAYS[way](monkeypatch)
    rng = np.random.default_rng(1)
    weights = random_weights(4, 4)
    for part in weights[:3]:
        part[rng.random(part.shape) < 0.9] -= 10_000.0
    sentences = random_sentences([*range(1, 9)] * 4)
    found = expected_counts(sentences, weights)
    assert_array_equal(inside(sentences, weights), found.log_prob)
    expected = unlimited(monkeypatch, expected_counts, sentences, weights)
    assert found.log_prob.min() < -10_000.0
    for part, wanted in zip(found, expected, strict=True):
        assert_allclose(part, wanted, rtol=1e-13, atol=1e-10)
    single = expected_counts(sentences, weights, dtype=np.float32)
    for part, wanted in zip(single, expected, strict=True):
        assert_allclose(part, wanted, rtol=1e-6, atol=1e-4)


def test_threads_and_batches_change_nothing():
    weights = random_weights(5, 6)
    lengths = np.random.default_rng(0).integers(1, 12, size=800)
    sentences, some = random_sentences(lengths), np.array([5, 700, 31, 2, 5])
    first, second = (expected_counts(sentences, weights, n_jobs=n) for n in (1, 2))
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(inside(sentences[some], weights), first.log_prob[some])
    symbols = expected_symbols(sentences, weights)
    assert_array_equal(expected_symbols(sentences[some], weights, n_jobs=2), symbols[some])
    assert_allclose(symbols.sum(axis=1), 2 * lengths - 1)
    seeds = streams(800)
    one, other = (sample_trees(sentences, weights, seeds.copy(), n_jobs=n) for n in (1, 2))
    for a, b in zip(one, other, strict=True):
        assert_array_equal(a, b)
    few = trees_of(sample_trees(sentences[some], weights, seeds[some]), sentences[some])
    every = trees_of(one, sentences)
    assert few == [every[i] for i in some]


def test_equal_sentences_are_done_once():
    """They are not equal if their brackets differ."""
    batches = SentenceBatches.of(sentences_of(WORDS, BRACKETS))
    assert len(batches.distinct) == 10
    assert batches.inverse[5] == batches.inverse[8]
    assert len({int(i) for i in batches.inverse[:8]}) == 8
    weights = random_weights(None, 4)
    rows = [[1, 2, 3], [4], [1, 2, 3], [3, 2, 1], [4], [1, 2, 3]]
    batches = SentenceBatches.of(sentences_of(rows, None, VOCABULARY))
    assert len(batches.distinct) == 3
    assert batches.multiplicity.tolist() == [3.0, 1.0, 2.0]
    assert SentenceBatches.of(batches) is batches
    found = expected_counts(batches, weights)
    parts = [expected_counts(sentences_of([row], None, VOCABULARY), weights) for row in rows]
    assert_allclose(found.log_prob, [part.log_prob[0] for part in parts], rtol=1e-13)
    for name in ("root", "emission", "binary"):
        total = sum(getattr(part, name) for part in parts)
        assert_allclose(getattr(found, name), total, rtol=1e-12)
    _, trees = viterbi(batches, weights)
    assert_array_equal(np.diff(trees.node_ptr), [5, 1, 5, 5, 1, 5])
    with pytest.raises(ValueError, match="Sentence 1 has no words"):
        SentenceBatches.of(TokenSequences.from_sequences([[0], []], VOCABULARY))
