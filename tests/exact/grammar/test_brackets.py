"""Trees in which given brackets are constituents: sums, best trees, draws and bounds.

Everything is compared with enumeration of all trees of short sentences, of which those without a
bracket are left out; the engine closes the spans that cross a bracket instead.
"""

import math
from collections import Counter

import numpy as np
import pytest
from exact.grammar.fitted import CASES as MODELS
from exact.grammar.fitted import betas_of, count_of, maximum_of, model_of, posterior_of
from exact.grammar.test_inside_outside import N_WORDS, random_grammar, streams, trees_of
from exact.oracles import hdp_pcfg as oracle
from exact.oracles.grammar import enumerate_trees, shapes, spans_of
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG
from skdp.grammar._chart import _lanes, _long
from skdp.grammar._chart._batches import SentenceBatches
from skdp.grammar._chart._engine import (
    expected_counts,
    expected_symbols,
    inside,
    sample_trees,
    viterbi,
)
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._induction._brackets import add_brackets


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
    trees = [spans_of(lengths) for lengths in shapes(7)]
    for _ in range(100):
        brackets = some_brackets(rng, 7, rng.integers(1, 6))
        has_all = [spans.issuperset(brackets) for spans in trees]
        crosses_none = [not any(cross(a, b) for a in spans for b in brackets) for spans in trees]
        assert has_all == crosses_none
        assert any(has_all)
        data = add_brackets(TokenSequences.from_sequences([[0] * 7]), [brackets])
        if isinstance(data, TokenSequences):
            assert all(has_all)
            continue
        firsts, lasts = data.limits
        for s in range(7):
            for e in range(s + 1, 8):
                is_open = firsts[e - 1] <= s and e <= lasts[s]
                assert is_open == (not any(cross((s, e), bracket) for bracket in brackets))


# Sums, best trees and drawn trees

WORDS = [[0, 1, 2, 3, 0], [0, 1, 2, 3, 0], [0, 1, 2, 3, 0], [3, 1, 2, 2], [3, 1, 2, 2],
         [1, 1, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [2, 3], [2]]  # fmt: skip
BRACKETS = [[(1, 4)], [(0, 2), (2, 5), (3, 5)], None, [(0, 3), (0, 2)], [(1, 4), (2, 3)],
            [(0, 2)], [(1, 3)], [], [(0, 2), (0, 3)], [(0, 2)], [(0, 1)]]  # fmt: skip
"""Equal sentences with other brackets, with none, and with the same."""

GRAMMARS = {
    "two symbols": (None, 2),
    "partitioned": (2, 2),
    "zeros": (None, 2, 2.0, 0.3),
    "far apart": (None, 2, 500.0),
}
every_grammar = pytest.mark.parametrize("case", GRAMMARS)

EXPECTED = {}


def problem(case):
    """Return sentences, weights and what enumeration says of each sentence."""
    grammar = random_grammar(np.random.default_rng(1), *GRAMMARS[case])
    if case not in EXPECTED:
        pairs = zip(WORDS, BRACKETS, strict=True)
        EXPECTED[case] = [enumerate_trees(grammar, words, known or ()) for words, known in pairs]
    sentences = add_brackets(TokenSequences.from_sequences(WORDS, N_WORDS), BRACKETS)
    return SentenceBatches.of(sentences), RuleWeights(*grammar), EXPECTED[case]


def test_sentences_differ_by_their_brackets():
    batches, *_ = problem("two symbols")
    assert len(batches.distinct) == 10
    assert batches.inverse[5] == batches.inverse[8]
    assert len({int(i) for i in batches.inverse[:8]}) == 8


@pytest.fixture(params=["side by side", "one at a time", "in extended range"])
def engine(request, monkeypatch):
    """Let all sentences be processed in one of the three ways."""
    if request.param == "one at a time":
        monkeypatch.setattr(_long, "LEAST_WORDS", 2)
        monkeypatch.setattr(_long, "MOST_WORDS", 2)
    if request.param == "in extended range":
        monkeypatch.setattr(_lanes, "_LIMIT", {4: -1.0, 8: -1.0})
    return request.param


@every_grammar
def test_sums(case, engine):
    sentences, weights, expected = problem(case)
    log_prob = [each.log_prob for each in expected]
    assert_allclose(inside(sentences, weights), log_prob, rtol=1e-12, atol=1e-10)
    for dtype, error in ((np.float64, 1e-10), (np.float32, 2e-4)):
        found = expected_counts(sentences, weights, dtype=dtype)
        assert_allclose(found.log_prob, log_prob, rtol=error, atol=error)
        for part in ("root", "emission", "binary"):
            total = sum(getattr(each, part) for each in expected)
            assert_allclose(getattr(found, part), total, rtol=0, atol=error)
    symbols = expected_symbols(sentences, weights)
    assert_allclose(symbols, [each.symbols for each in expected], rtol=0, atol=1e-10)


@every_grammar
def test_best_trees(case):
    sentences, weights, expected = problem(case)
    log_prob, trees = viterbi(sentences, weights)
    assert_allclose(log_prob, [each.best for each in expected], rtol=1e-13, atol=1e-10)
    for tree, each in zip(trees_of(trees), expected, strict=True):
        assert bool(tree[0]) == bool(each.trees)
        if each.trees:
            assert each.trees[tree] == pytest.approx(max(each.trees.values()), rel=1e-9)


@pytest.mark.parametrize("limit", [2.0**840, -1.0])
@pytest.mark.parametrize("case", ["two symbols", "partitioned"])
def test_drawn_trees(case, limit, monkeypatch):
    """Trees of 2,000 draws a sentence, side by side or in extended range: 6.5 standard errors."""
    monkeypatch.setitem(_lanes._LIMIT, 8, limit)
    _, weights, expected = problem(case)
    n_draws = 2000
    sentences = TokenSequences.from_sequences([w for w in WORDS for _ in range(n_draws)], N_WORDS)
    data = add_brackets(sentences, [known for known in BRACKETS for _ in range(n_draws)])
    drawn = trees_of(sample_trees(data, weights, streams(len(data))))
    for s, each in enumerate(expected):
        counts = Counter(drawn[s * n_draws : (s + 1) * n_draws])
        assert each.trees.keys() >= counts.keys()
        for tree, p in each.trees.items():
            error = math.sqrt(max(p * (1.0 - p), 8.0 / n_draws) / n_draws)
            assert abs(counts[tree] / n_draws - p) < 6.5 * error


@pytest.mark.parametrize("sizes", [(None, 7), (3, 5), (9, 11)], ids=str)
@pytest.mark.parametrize("is_alone", [False, True])
def test_many_symbols(sizes, is_alone, monkeypatch):
    """Sentences of mixed lengths, with many brackets or none, against extended range."""
    rng = np.random.default_rng(2)
    weights = RuleWeights(*random_grammar(rng, *sizes))
    lengths = [*range(1, 13), *range(1, 13), 12, 12, 11]
    words = TokenSequences.from_sequences([rng.integers(N_WORDS, size=n) for n in lengths], N_WORDS)
    data = add_brackets(words, [some_brackets(rng, n, k % 9) for k, n in enumerate(lengths)])
    with monkeypatch.context() as patch:
        patch.setattr(_lanes, "_LIMIT", {4: -1.0, 8: -1.0})
        expected = expected_counts(data, weights)
    if is_alone:
        monkeypatch.setattr(_long, "LEAST_WORDS", 2)
        monkeypatch.setattr(_long, "MOST_WORDS", 2)
    found = expected_counts(data, weights)
    for part, wanted in zip(found, expected, strict=True):
        assert_allclose(part, wanted, rtol=1e-10, atol=1e-10)
    assert_array_equal(inside(data, weights), found.log_prob)
    assert np.all(inside(words, weights) >= found.log_prob - 1e-9)


# Fits

CORPUS = [[0, 1, 0], [0, 1, 0], [1], [0, 2, 1, 0], [2, 0]]
KNOWN = [[(0, 2)], [], [(0, 1)], [(1, 4)], None]


def restricted(model, logs):
    """Return all trees of each sentence that have its brackets, their shares, and the log sum."""
    pairs = zip(CORPUS, KNOWN, strict=True)
    return [oracle.sentence_posterior(model, words, logs, known or ()) for words, known in pairs]


@pytest.mark.parametrize("case", ["plain, GEM", "partitioned, Dirichlet"])
def test_mean_field(case):
    """The bound is that of q(z) over the trees with the brackets, whose counts are those of q."""
    estimator = HDPPCFG(**MODELS[case], max_iter=1000, tol=0.0, random_state=0).fit(CORPUS, KNOWN)
    model, rules = model_of(estimator), posterior_of(estimator)
    trees = [each[:2] for each in restricted(model, oracle.expected_logs(rules))]
    expected = oracle.bound(model, CORPUS, betas_of(estimator), rules, trees)
    assert_allclose(estimator.lower_bound_, expected, rtol=1e-9, atol=1e-8)
    counts = oracle.expected_counts(model, trees)
    for row, outcomes in rules.items():
        for outcome in outcomes:
            found = count_of(model, estimator._grammar.counts, row, outcome)
            assert_allclose(found, counts[row, outcome], atol=1e-5)


@pytest.mark.parametrize("inference", ["em", "viterbi-em"])
@pytest.mark.parametrize("n_preterminals", [None, 2])
def test_maximum_likelihood(inference, n_preterminals):
    """The maximum is that of the trees with the brackets: of all of them, or of the best."""
    estimator = HDPPCFG(
        2, n_preterminals=n_preterminals, inference=inference, max_iter=50, tol=0.0, random_state=3
    ).fit(CORPUS, KNOWN)
    model, rules = model_of(estimator), maximum_of(estimator)
    trees = restricted(model, oracle.log_rows(rules))
    if inference == "em":
        expected = sum(total for *_, total in trees)
    else:
        expected = sum(np.log(shares.max()) + total for _, shares, total in trees)
    assert_allclose(estimator.lower_bound_, expected, rtol=1e-10)
    assert np.all(np.diff(estimator.lower_bounds_) >= -1e-10)
