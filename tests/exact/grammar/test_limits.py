"""Grammars that are nested or hierarchical Dirichlet processes (Liang et al. 2009, section 3.1).

Chains are compared by 12 means each: a right sampler fails one of them by chance once in 80,000
comparisons, so both together raise a false alarm for one choice of seeds in 3,000; the seeds are
fixed."""

import math
from itertools import product

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from exact.oracles.hdp_pcfg import log_gem
from exact.oracles.nested_processes import (
    franchise_evidence,
    hierarchical_posterior,
    nested_evidence,
    nested_joint,
)

from skdp.grammar import HDPPCFG, ParseTree
from skdp.grammar._induction._gibbs import GrammarSampler
from skdp.grammar._induction._layout import RuleCounts
from skdp.grammar._refinement._ascent import RefinedTables, RefinementPriors, VariationalRefinement
from skdp.grammar._refinement._treebank import flatten

WORDS = [0, 1, 0, 2]
OUTER, INNER = np.array([[0.7, 0.3], [0.4, 0.6]])
ALPHA, WORD_PRIOR = 1.7, 0.6


def chains_of_unaries(words):
    return [ParseTree("A", [ParseTree("B", [str(word)])]) for word in words]


def evidence_of(labels):
    """Return p(words, labels | beta) by the grammar of trees A - B - word. The bound is exact if
    q(z) is a point: labels are the subsymbols of A and B of every tree."""
    rules = flatten(chains_of_unaries(WORDS), [[word] for word in WORDS]).rules
    priors = RefinementPriors(1.3, 0.8, WORD_PRIOR, None, ALPHA, 9.9)
    counts = RefinedTables.zeros(rules, 2)
    place = {tuple(rule): r for r, rule in enumerate(rules.emission.tolist())}
    (upper_symbol,) = rules.roots
    (lower_symbol,) = set(rules.unary[:, 1])
    for word, (upper, lower) in zip(WORDS, labels, strict=True):
        counts.root[0, upper] += 1.0
        counts.unary[0, lower, upper] += 1.0
        counts.emission[place[lower_symbol, word], lower] += 1.0
    beta = np.empty((2, 2))
    beta[upper_symbol], beta[lower_symbol] = OUTER, INNER
    grammar = VariationalRefinement(rules, priors, 2, beta, counts)
    used = sum(np.vdot(n, log) for n, log in zip(counts, grammar.weights(), strict=True))
    density = sum(log_gem(row, 1.3) for row in (OUTER, INNER))
    return math.exp(grammar.lower_bound(used) - density)


def test_chains_of_unaries_are_a_nested_process():
    """A's subsymbol is the distribution that a word draws, B's the component within it."""
    prior = [WORD_PRIOR] * 3
    pairs = list(product(range(2), repeat=2))
    total = 0.0
    for labels in product(pairs, repeat=len(WORDS)):
        found = evidence_of(labels)
        expected = nested_joint(WORDS, labels, OUTER, INNER, ALPHA, prior)
        assert found == pytest.approx(expected, rel=1e-10)
        total += found
    assert total == pytest.approx(nested_evidence(WORDS, OUTER, INNER, ALPHA, prior), rel=1e-10)


def test_observed_upper_subsymbols_are_groups():
    """Then the chains are a hierarchical process: groups are the subsymbols of A."""
    groups = [0, 0, 1, 0]
    found = sum(
        evidence_of(list(zip(groups, lower, strict=True)))
        for lower in product(range(2), repeat=len(WORDS))
    )
    p_groups, seen = 1.0, [ALPHA * w for w in OUTER]
    for group in groups:
        p_groups *= seen[group] / sum(seen)
        seen[group] += 1.0
    expected = franchise_evidence(WORDS, groups, INNER, ALPHA, [WORD_PRIOR] * 3)
    assert found / p_groups == pytest.approx(expected, rel=1e-10)


# Observed trees

ROOT = np.array([2.0, 1.0])
EMISSION = np.array([[2.0, 0.0], [1.0, 4.0]])
BINARY = np.array([[[2.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])
"""Counts of the rules of three trees: parent, left child, right child."""


def rows_of(child_prior, root, alpha):
    """Return the rows of the hierarchical process, roots first."""
    rows = [(root, {(k,): ROOT[k] for k in range(2)})]
    for parent in BINARY:
        if child_prior == "joint":
            rows.append((alpha, {pair: parent[pair] for pair in product(range(2), repeat=2)}))
        else:
            rows += [
                (alpha, {(k,): n for k, n in enumerate(parent.sum(axis=axis))}) for axis in (1, 0)
            ]
    return [(alpha, {o: int(n) for o, n in row.items()}) for alpha, row in rows]


@pytest.mark.parametrize(
    ("child_prior", "top_prior"), [("joint", "gem"), ("independent", "dirichlet")]
)
def test_observed_trees_are_a_hierarchical_process(monkeypatch, child_prior, top_prior):
    """Given the trees, roots and each parent's children are groups that share beta."""
    counts = RuleCounts(ROOT, EMISSION, BINARY)
    monkeypatch.setattr(GrammarSampler, "_draw_trees", lambda self: counts)
    root, alpha, gamma, n_sweeps = 0.8, 1.6, 1.4, 800
    model = HDPPCFG(
        2, top_prior=top_prior, top_concentration=gamma, root_concentration=root,
        binary_concentration=alpha, rule_type_prior=[1.5, 0.7], child_prior=child_prior,
        inference="gibbs", max_iter=n_sweeps, random_state=0,
    )  # fmt: skip
    rows = rows_of(child_prior, root, alpha)
    beta, means = hierarchical_posterior(rows, 2, top_prior, gamma)
    betas, roots, pairs = [], [], []
    for state in model.iter_sweeps([[0, 1]]):
        weights = state._sampler.weights
        betas.append(state.top_weights)
        roots.append(np.exp(weights.log_root))
        pairs.append(np.exp(weights.log_binary))
    assert_means(betas, beta, "beta")
    assert_means(roots, [means[0][k,] for k in range(2)], "roots")
    n_binary, n_words = BINARY.sum(axis=(1, 2)), EMISSION.sum(axis=1)
    shares = (0.7 + n_binary) / (2.2 + n_binary + n_words)
    if child_prior == "joint":
        expected = [[[row[i, j] for j in range(2)] for i in range(2)] for row in means[1:]]
        assert_means(pairs, shares[:, None, None] * expected, "pairs")
    else:
        pairs = np.array(pairs)
        for axis, first in ((3, 1), (2, 2)):
            expected = [[row[k,] for k in range(2)] for row in means[first::2]]
            assert_means(pairs.sum(axis=axis), shares[:, None] * expected, "children")
