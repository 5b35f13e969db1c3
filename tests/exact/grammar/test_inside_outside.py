"""Sums over trees, best trees and drawn trees against enumeration of all trees."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from exact.oracles.grammar import Grammar, enumerate_trees

from skdp.data import TokenSequences
from skdp.grammar._chart._engine import (
    expected_counts,
    expected_symbols,
    inside,
    sample_trees,
    viterbi,
)
from skdp.grammar._chart._weights import RuleWeights

INF = np.inf
N_WORDS = 4


def random_grammar(rng, n_preterminals, n_constituents, spread=2.0, zeros=0.0):
    """Return a grammar with Gaussian log weights, some of them zeros; None: unpartitioned."""
    partitioned = n_preterminals is not None
    n_emitting = n_preterminals if partitioned else n_constituents
    n_symbols = n_emitting + n_constituents if partitioned else n_constituents
    shapes = (n_symbols,), (n_emitting, N_WORDS), (n_constituents, n_symbols, n_symbols)
    parts = [spread * rng.normal(size=shape) for shape in shapes]
    for part in parts:
        part[rng.random(part.shape) < zeros] = -INF
    return Grammar(*parts, n_preterminals)


def corpus(rng, *lengths):
    return [rng.integers(N_WORDS, size=length) for length in lengths]


def wide_apart():
    """Weights that differ by thousands of nats, and sentences that need the small ones."""
    rng = np.random.default_rng(7)
    grammar = random_grammar(rng, None, 3)
    for part in grammar[:3]:
        part[rng.random(part.shape) < 0.7] -= rng.choice([100.0, 500.0, 800.0, 10_000.0])
    return grammar, corpus(rng, 4, 4, 3, 2, 1)


def two_ways():
    """Trees of the symbol 0 pay e^-200 a word, trees of the symbol 1 pay e^-750 once, at the root.

    For six words the second are better, and nothing shows it in numbers of 64 bits, in which
    e^-750 is 0.
    """
    log_binary = np.full((2, 2, 2), -INF)
    log_binary[0, 0, 0] = log_binary[1, 1, 1] = 0.0
    log_emission = np.full((2, N_WORDS), -200.0)
    log_emission[1] = 0.0
    return Grammar(np.array([0.0, -750.0]), log_emission, log_binary, None), [
        [0, 1, 2, 3, 0, 1],
        [0, 1, 2],
        [2],
    ]


def make_cases():
    rng = np.random.default_rng(0)
    cases = {
        "two symbols": (random_grammar(rng, None, 2), corpus(rng, 6, 5, 4, 3, 2, 1)),
        "three symbols": (random_grammar(rng, None, 3), corpus(rng, 4, 3)),
        "four symbols": (random_grammar(rng, None, 4), corpus(rng, 4, 3, 2, 1, 1)),
        "one symbol": (random_grammar(rng, None, 1), corpus(rng, 6, 1)),
        "partitioned": (random_grammar(rng, 2, 2), corpus(rng, 6, 5, 4, 3, 2, 1)),
        "more preterminals": (random_grammar(rng, 3, 1), corpus(rng, 6, 4, 1)),
        "more constituents": (random_grammar(rng, 1, 3), corpus(rng, 5, 4, 3)),
        "four and four": (random_grammar(rng, 4, 4), corpus(rng, 4, 3, 2)),
        "zeros": (random_grammar(rng, None, 3, zeros=0.4), corpus(rng, 4, 4, 3, 3, 2, 2, 1, 1)),
        "partitioned zeros": (random_grammar(rng, 3, 2, zeros=0.5), corpus(rng, 5, 5, 4, 3, 2, 1)),
        "far apart": wide_apart(),
        "two ways": two_ways(),
    }
    # Weights that are not probabilities: large and small ones, words and rules apart.
    grammar = random_grammar(rng, None, 3)
    shifted = Grammar(
        grammar.log_root - 300.0, grammar.log_emission + 400.0, grammar.log_binary - 700.0, None
    )
    cases["shifted"] = shifted, corpus(rng, 4, 3, 2, 1)
    return cases


CASES = make_cases()
EXPECTED = {}

every_case = pytest.mark.parametrize("case", CASES)


def problem(case):
    """Return sentences, weights and what enumeration says of each sentence."""
    grammar, words = CASES[case]
    if case not in EXPECTED:
        EXPECTED[case] = [enumerate_trees(grammar, list(sentence)) for sentence in words]
    return TokenSequences.from_sequences(words, N_WORDS), RuleWeights(*grammar), EXPECTED[case]


@every_case
def test_log_prob(case):
    sentences, weights, expected = problem(case)
    expected = [each.log_prob for each in expected]
    np.testing.assert_allclose(inside(sentences, weights), expected, rtol=1e-13, atol=1e-10)
    found = expected_counts(sentences, weights).log_prob
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-10)


@every_case
def test_expected_counts(case):
    sentences, weights, expected = problem(case)
    found = expected_counts(sentences, weights)
    for part in ("root", "emission", "binary"):
        total = sum(getattr(each, part) for each in expected)
        np.testing.assert_allclose(getattr(found, part), total, rtol=0, atol=1e-10)
        assert not getattr(found, part)[getattr(weights, f"log_{part}") == -INF].any()


@every_case
def test_expected_symbols(case):
    sentences, weights, expected = problem(case)
    found = expected_symbols(sentences, weights)
    np.testing.assert_allclose(found, [each.symbols for each in expected], rtol=0, atol=1e-10)


def trees_of(arrays):
    """Return the trees as the oracle writes them."""
    symbols, lengths, node_ptr = arrays
    return [
        (tuple(symbols[begin:end].tolist()), tuple(lengths[begin:end].tolist()))
        for begin, end in pairwise(node_ptr)
    ]


@every_case
def test_viterbi(case):
    sentences, weights, expected = problem(case)
    log_prob, trees = viterbi(sentences, weights)
    best = [each.best for each in expected]
    np.testing.assert_allclose(log_prob, best, rtol=1e-13, atol=1e-10)
    for tree, each in zip(trees_of(trees), expected, strict=True):
        if each.best == -INF:
            assert tree == ((), ())
        else:
            assert each.trees[tree] == pytest.approx(max(each.trees.values()), rel=1e-9)


def test_best_of_equals():
    """All trees are equally good: first symbols, and splits as far left as can be."""
    weights = RuleWeights(np.zeros(2), np.zeros((2, 1)), np.zeros((2, 2, 2)), None)
    _, trees = viterbi(TokenSequences.from_sequences([[0] * 4]), weights)
    assert trees_of(trees) == [((0,) * 7, (4, 1, 3, 1, 2, 1, 1))]


def streams(n, seed=0):
    return np.random.default_rng(seed).integers(1, 2**63, size=(n, 4)).astype(np.uint64)


@every_case
def test_sample_trees(case):
    """Drawn trees, 5,000 a sentence: 6.5 standard errors for each tree, 1e-10 false alarms each."""
    sentences, weights, expected = problem(case)
    n_draws = 5000
    for s, each in enumerate(expected):
        drawn = sample_trees(sentences[[s] * n_draws], weights, streams(n_draws, s))
        counts = Counter(trees_of(drawn))
        if not each.trees:
            assert set(counts) == {((), ())}
            continue
        assert all(each.trees.get(tree, 0.0) > 0.0 for tree in counts)
        for tree, p in each.trees.items():
            error = math.sqrt(max(p * (1.0 - p), 8.0 / n_draws) / n_draws)
            assert abs(counts[tree] / n_draws - p) < 6.5 * error
