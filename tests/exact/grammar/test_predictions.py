"""What a fitted HDPPCFG says of sentences, against all trees; and what it draws."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from exact.grammar.fitted import CASES, PARTITIONED, PLAIN, fit, maximum_of, model_of, posterior_of
from exact.oracles import hdp_pcfg as oracle
from numpy.testing import assert_allclose
from scipy.stats import chi2

from skdp.grammar import HDPPCFG, ParseTree

every_case = pytest.mark.parametrize("case", CASES)

NEW = [[2], [0, 0], [1, 2, 0], [1, 0, 2, 2], [0, 1, 0]]


def tree_of(parse: ParseTree) -> oracle.Tree:
    """Return a tree of the oracle; S1 is 1, P0 is ("P", 0)."""
    kind, number = parse.label[0], int(parse.label[1:])
    symbol = number if kind == "S" else (kind, number)
    if isinstance(parse.children[0], str):
        (word,) = parse.children
        return symbol, int(word)
    return symbol, *map(tree_of, parse.children)


def new_sentences(case: str):
    return NEW[:3] if case == "three symbols, GEM" else NEW


@every_case
@pytest.mark.parametrize("method", ["expected-log", "mean"])
def test_best_trees(case, method):
    """After one iteration, when the two methods disagree on some of the trees."""
    estimator = fit(case, 1)
    model, rules = model_of(estimator), posterior_of(estimator)
    logs = {
        "expected-log": oracle.expected_logs(rules),
        "mean": oracle.log_rows(oracle.means(rules)),
    }[method]
    estimator.set_params(predict_method=method)
    for words, parse in zip(
        new_sentences(case), estimator.predict(new_sentences(case)), strict=True
    ):
        found = tree_of(parse)
        assert tuple(map(int, parse.leaves)) == tuple(words)
        weights = {t: oracle.log_weight(oracle.events(model, t), logs)
                   for t in oracle.all_trees(model, words)}  # fmt: skip
        best = max(weights.values())
        assert_allclose(weights[found], best, rtol=1e-12)
        ties = [t for t, w in weights.items() if w > best - 1e-9 * abs(best)]
        assert len(ties) > 1 or ties == [found]


@every_case
@pytest.mark.parametrize("method", ["expected-log", "mean"])
def test_k_best(case, method):
    """All trees, in order; their probabilities are those of the posterior mean."""
    estimator = fit(case, 1).set_params(predict_method=method)
    model, rules = model_of(estimator), posterior_of(estimator)
    means = oracle.log_rows(oracle.means(rules))
    logs = oracle.expected_logs(rules) if method == "expected-log" else means
    sentences = new_sentences(case)
    for k in (1, 3, 10**4):
        found = estimator.k_best(sentences, k)
        for words, ranked, best in zip(sentences, found, estimator.predict(sentences), strict=True):
            counts = {t: oracle.events(model, t) for t in oracle.all_trees(model, words)}
            trees = [tree_of(parse) for parse, _ in ranked]
            assert len(set(trees)) == len(trees) == min(k, len(counts))
            weights = sorted((oracle.log_weight(c, logs) for c in counts.values()), reverse=True)
            ranks = [oracle.log_weight(counts[t], logs) for t in trees]
            assert_allclose(ranks, weights[:k], rtol=1e-12)
            expected = [oracle.log_weight(counts[t], means) for t in trees]
            assert_allclose([log_prob for _, log_prob in ranked], expected, rtol=1e-12)
            assert ranked[0][0] == best
        if k > 1000:
            totals = [np.logaddexp.reduce([p for _, p in ranked]) for ranked in found]
            assert_allclose(totals, estimator.score_samples(sentences), rtol=1e-10)


@every_case
def test_expected_probabilities(case):
    """Equation (19): of the 50 best trees, the best by the mean over all Dirichlet rows."""
    estimator = fit(case, 1).set_params(predict_method="expected")
    model, rules = model_of(estimator), posterior_of(estimator)
    logs, sentences = oracle.expected_logs(rules), new_sentences(case)
    ranked, best = estimator.k_best(sentences, 60), estimator.predict(sentences)
    n_other = 0
    for words, trees, parse in zip(sentences, ranked, best, strict=True):
        counts = {t: oracle.events(model, t) for t in oracle.all_trees(model, words)}
        weights = {t: oracle.log_weight(c, logs) for t, c in counts.items()}
        expected = {t: oracle.log_evidence_of_counts(c, rules) for t, c in counts.items()}
        found = [tree_of(tree) for tree, _ in trees]
        assert found[0] == tree_of(parse)
        assert_allclose([expected[t] for t in found], sorted(expected[t] for t in found)[::-1],
                        rtol=1e-12)  # fmt: skip
        least = sorted(weights.values(), reverse=True)[:50][-1]
        highest = max(expected[t] for t, w in weights.items() if w >= least - 1e-12)
        first = estimator.k_best([words], 1)[0][0][0]
        assert_allclose(expected[tree_of(first)], highest, rtol=1e-12)
        n_other += weights[tree_of(first)] < max(weights.values()) - 1e-9
    if case == "uniform":
        assert n_other > 0  # the criteria differ


@every_case
def test_scores_and_shares(case):
    """Under the posterior mean of the grammar."""
    estimator = fit(case)
    model, logs = model_of(estimator), oracle.log_rows(oracle.means(posterior_of(estimator)))
    scores = estimator.score_samples(new_sentences(case))
    shares = estimator.transform(new_sentences(case))
    for i, words in enumerate(new_sentences(case)):
        trees, probabilities, log_prob = oracle.sentence_posterior(model, words, logs)
        assert_allclose(scores[i], log_prob, rtol=1e-10)
        expected = np.zeros(len(model.symbols))
        for tree, probability in zip(trees, probabilities, strict=True):
            for symbol in oracle.symbols_of(tree):
                expected[model.symbols.index(symbol)] += probability / (2 * len(words) - 1)
        assert_allclose(shares[i], expected, atol=1e-10)
    n_words = sum(map(len, new_sentences(case)))
    assert_allclose(estimator.score(new_sentences(case)), scores.sum() / n_words)
    assert_allclose(estimator.perplexity(new_sentences(case)), np.exp(-scores.sum() / n_words))


@every_case
def test_attributes_are_posterior_means(case):
    estimator = fit(case)
    means = oracle.means(posterior_of(estimator))
    for row, expected in maximum_of(estimator).items():
        for outcome, probability in expected.items():
            assert_allclose(means[row][outcome], probability, rtol=1e-9, atol=1e-15)
    assert_allclose(estimator.root_probs_.sum(), 1.0)
    for table in (estimator.rule_type_probs_, estimator.emission_probs_, estimator.binary_probs_):
        assert_allclose(table.reshape(len(table), -1).sum(axis=1), 1.0)


@pytest.mark.parametrize("parts", [PLAIN, PARTITIONED], ids=["plain", "partitioned"])
def test_probabilities_of_all_sentences_sum_to_one(parts):
    """Trees of a grammar fitted to short sentences end."""
    estimator = HDPPCFG(**parts, max_iter=50, random_state=0).fit(
        [[0], [0], [0], [0], [0, 1], [1]] * 8
    )
    totals = [
        np.exp(estimator.score_samples([*product(range(2), repeat=n)])).sum() for n in range(1, 9)
    ]
    total = np.sum(totals)
    assert np.all(np.diff(totals) < 0.0)
    assert 0.99 < total < 1.0 + 1e-12
    one = HDPPCFG(**parts, max_iter=50, random_state=0).fit([[0], [0], [0], [0], [0, 0]] * 8)
    longer = np.exp(one.score_samples([[0] * n for n in range(1, 61)]))
    assert_allclose(longer.sum(), 1.0, atol=1e-7)


@pytest.mark.parametrize("parts", [PLAIN, PARTITIONED], ids=["plain", "partitioned"])
def test_draws(parts):
    """Trees of two words at most, against their probabilities; by chance 1 seed in 10,000 fails."""
    estimator = HDPPCFG(**parts, max_iter=20, random_state=0).fit([[0, 1], [1, 0], [1], [0, 0, 1]])
    sentences, trees = estimator.sample(6000, max_length=2, random_state=1)
    model, logs = model_of(estimator), oracle.log_rows(oracle.means(posterior_of(estimator)))
    expected = {}
    for words in [(0,), (1,), *product(range(2), repeat=2)]:
        for tree in oracle.all_trees(model, words):
            expected[tree] = np.exp(oracle.log_weight(oracle.events(model, tree), logs))
    total = sum(expected.values())
    drawn = Counter(map(tree_of, trees))
    assert set(drawn) <= set(expected)
    for words, parse in zip(sentences, trees, strict=True):
        assert tuple(map(int, parse.leaves)) == tuple(words)
    means = {tree: 6000 * p / total for tree, p in expected.items()}
    rare = [tree for tree, mean in means.items() if mean < 8.0]
    cells = [(drawn[tree], mean) for tree, mean in means.items() if mean >= 8.0]
    cells.append((sum(drawn[tree] for tree in rare), sum(means[tree] for tree in rare)))
    cells = [(n, mean) for n, mean in cells if mean > 4.0]
    statistic = sum((n - mean) ** 2 / mean for n, mean in cells)
    assert chi2.sf(statistic, len(cells) - 1) > 1e-4
