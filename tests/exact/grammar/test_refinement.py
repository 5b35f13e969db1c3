"""Messages, bounds and projections of refined grammars against enumeration."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from exact.grammar import refined
from exact.oracles import refinement as oracle
from exact.oracles.hdp_pcfg import log_gem
from numpy.testing import assert_allclose
from scipy.special import psi

from skdp.grammar import ParseTree, inside_outside
from skdp.grammar._kernels import _forest as coarse
from skdp.grammar._refinement._ascent import (
    MaximumLikelihoodRefinement,
    RefinedTables,
    RefinementPriors,
    VariationalRefinement,
    count_nodes,
    expect,
    expect_best,
)
from skdp.grammar._refinement._treebank import flatten


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_messages_match_all_labelings(n_components):
    """Sums over labelings, and the best of them, with the uses of every rule."""
    treebank = refined.make_treebank()
    rules, logs = treebank.rules, refined.draw_logs(treebank.rules, n_components)
    weights = refined.weights_of(rules, logs)
    expected, uses, best, best_uses = 0.0, Counter(), 0.0, Counter()
    for tree in refined.TREES:
        total, used = oracle.tree_sum(tree, weights, n_components)
        labeling = oracle.best_labeling(tree, weights, n_components)
        expected += math.log(total)
        best += math.log(oracle.weight_of(labeling, weights))
        uses.update(used)
        best_uses.update(labeling)
    log_sum, counts = expect(treebank, logs)
    assert log_sum == pytest.approx(expected, rel=1e-12)
    found = refined.numbers_of(rules, counts)
    assert found == pytest.approx({rule: uses[rule] for rule in found}, abs=1e-10)
    log_best, counts = expect_best(treebank, logs)
    assert log_best == pytest.approx(best, rel=1e-12)
    assert refined.numbers_of(rules, counts) == {rule: best_uses[rule] for rule in found}


def test_long_trees_do_not_underflow():
    tree = ParseTree("X", ["a"])
    for _ in range(400):
        tree = ParseTree("X", [ParseTree("X", ["a"]), tree])
    treebank = flatten([tree], [[0] * 401])
    logs = RefinedTables(
        *(np.full(part.shape, -900.0) for part in refined.draw_logs(treebank.rules, 3))
    )
    log_sum, counts = expect(treebank, logs)
    n_nodes = 801
    assert log_sum == pytest.approx(-900.0 * (n_nodes + 1) + n_nodes * math.log(3), rel=1e-12)
    assert counts.binary.sum() == pytest.approx(400.0)
    assert_allclose(counts.binary, 400.0 / 27.0)


# The lower bound

PRIORS = RefinementPriors(1.3, 0.8, 0.6, None, 1.7, 2.1)


def climb(grammar, treebank, n_iter, seed=0):
    """Return the grammar, the bounds of all iterations."""
    counts = expect(treebank, refined.draw_logs(treebank.rules, grammar.n_components, seed))[1]
    bounds = []
    for _ in range(n_iter):
        grammar = grammar.updated(counts)
        log_likelihood, counts = expect(treebank, grammar.weights())
        bounds.append(grammar.lower_bound(log_likelihood))
    return grammar, bounds


def test_weights_are_expected_logs():
    """Of the type of a rule, its coarse children, and their subsymbols; means go the same way."""
    rules, rng = refined.make_treebank().rules, np.random.default_rng(0)
    counts = RefinedTables(*(rng.gamma(1.0, size=t.shape) for t in refined.draw_logs(rules, 2)))
    beta = rng.dirichlet([1.0, 1.0], rules.n_symbols)
    grammar = VariationalRefinement(rules, PRIORS, 2, beta, counts)
    s, a, b = (rules.symbols.index(name) for name in "SAB")
    place, z = rules.binary.tolist().index([s, b, a]), 1
    mine = rules.binary[:, 0] == s
    n_rules, n_binary = counts.binary[place, :, :, z], counts.binary[mine, :, :, z].sum()
    types = [n_binary, counts.unary[rules.unary[:, 0] == s, :, z].sum()]
    types += [counts.emission[rules.emission[:, 0] == s, z].sum()]
    steps = [
        (0.8 + n_binary, sum(0.8 + n for n in types if n)),
        (1.0 / mine.sum() + n_rules.sum(), 1.0 + n_binary),
        (2.1 * np.outer(beta[b], beta[a]) + n_rules, 2.1 + n_rules.sum()),
    ]
    weights, means = grammar.weights(), RefinedTables(*map(np.exp, grammar.log_means()))
    expected = sum(psi(part) - psi(whole) for part, whole in steps)
    assert_allclose(weights.binary[place, :, :, z], expected)
    expected = math.prod(part / whole for part, whole in steps)
    assert_allclose(means.binary[place, :, :, z], expected)
    assert_allclose(count_nodes(rules, means), 1.0)
    assert_allclose(means.root.sum(), 1.0)
    n_roots = counts.root.sum(axis=1, keepdims=True)
    expected = psi(1.7 * beta[rules.roots] + counts.root) - psi(1.7 + n_roots)
    expected += psi(1.0 / len(n_roots) + n_roots) - psi(1.0 + n_roots.sum())
    assert_allclose(weights.root, expected)


def evidence_of(trees, beta, n_components, symbol_prior=None):
    names = {"type": "rule_type", "emission": "emission", "unary": "unary", "binary": "binary"}
    priors = {name: getattr(PRIORS, field) for name, field in names.items()}
    return oracle.log_evidence(trees, beta, {**priors, "symbol": symbol_prior}, n_components)


@pytest.mark.parametrize("symbol_prior", [None, 0.7])
def test_bound_is_below_the_log_evidence(symbol_prior):
    trees = [refined.TREES[0], refined.TREES[3], refined.TREES[1]]
    treebank, priors = refined.make_treebank(trees), PRIORS._replace(symbol=symbol_prior)
    grammar, bounds = climb(VariationalRefinement(treebank.rules, priors, 2), treebank, 40)
    beta = dict(zip(treebank.rules.symbols, grammar.top_weights.tolist(), strict=True))
    bound = bounds[-1] - sum(log_gem(row, priors.top) for row in grammar.top_weights)
    evidence = evidence_of(trees, beta, 2, symbol_prior)
    assert evidence - 8.0 < bound <= evidence + 1e-9


def test_bound_is_exact_with_one_subsymbol():
    treebank = refined.make_treebank()
    _, bounds = climb(VariationalRefinement(treebank.rules, PRIORS, 1), treebank, 2)
    beta = {symbol: [1.0] for symbol in treebank.rules.symbols}
    assert bounds[-1] == pytest.approx(evidence_of(refined.TREES, beta, 1), rel=1e-12)


def test_bound_without_counts_is_the_density_of_the_weights():
    rules = refined.make_treebank().rules
    beta = np.random.default_rng(0).dirichlet(np.ones(4), rules.n_symbols)
    none = RefinedTables.zeros(rules, 4)
    grammar = VariationalRefinement(rules, PRIORS, 4, beta, none)
    assert grammar.lower_bound(0.0) == pytest.approx(sum(log_gem(row, 1.3) for row in beta))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bounds_and_likelihoods_never_fall(seed):
    treebank = refined.make_treebank()
    grammars = [VariationalRefinement(treebank.rules, PRIORS, n) for n in (1, 2, 4)]
    grammars += [MaximumLikelihoodRefinement(treebank.rules, count, 3) for count in (0.0, 0.01)]
    for grammar in grammars:
        assert np.all(np.diff(climb(grammar, treebank, 40, seed)[1]) >= -1e-9)


def test_no_other_counts_give_a_higher_bound():
    """q(phi) = Dir(prior + counts) is the best for q(z): each expectation of any other is worse."""
    treebank = refined.make_treebank()
    grammar, _ = climb(VariationalRefinement(treebank.rules, PRIORS, 3), treebank, 3)
    log_likelihood, counts = expect(treebank, grammar.weights())

    def bound_of(counts_of_rules):
        """The bound at q(z) = the one above: linear in the weights, plus its entropy."""
        beta = grammar.top_weights
        made = VariationalRefinement(treebank.rules, PRIORS, 3, beta, counts_of_rules)
        old, new = grammar.weights(), made.weights()
        shift = sum(np.vdot(c, n - o) for c, n, o in zip(counts, new, old, strict=True))
        return made.lower_bound(log_likelihood + shift)

    top, rng = bound_of(counts), np.random.default_rng(0)
    for _ in range(20):
        other = RefinedTables(*(c * rng.uniform(0.9, 1.1, c.shape) for c in counts))
        assert bound_of(other) < top


# Parsing


@pytest.mark.parametrize(
    ("words", "n_components"),
    [(w, k) for w in refined.SENTENCES for k in (1, 2, 3) if len(w) * k <= 6],
)
def test_projection_matches_all_trees(words, n_components):
    """Shares of all choices, and sums over the places of every binary rule."""
    parser, rules, logs = refined.make_parser(n_components)
    trees, forest = refined.posterior(words, rules, logs), refined.forest_of(parser, words)
    if not trees:
        assert forest is None
        return
    log_sum, shares = parser.project(forest)
    assert log_sum == pytest.approx(math.log(sum(trees.values())), rel=1e-10)
    edges, projected = refined.project(trees)
    assert_allclose(sorted(shares[shares > 1e-12]), sorted(edges.values()), atol=1e-10)
    by_rule, expected = Counter(), Counter()
    for edge, share in zip(forest.edges, shares, strict=True):
        if edge[0] == coarse.BINARY:
            by_rule[tuple(rules.symbols[s] for s in rules.binary[edge[1]])] += share
    for (item, made_of), share in edges.items():
        if isinstance(made_of, tuple) and isinstance(made_of[0], tuple):
            expected[item[0], made_of[0][0], made_of[1][0]] += share
    assert by_rule == pytest.approx(expected, abs=1e-10)
    assert refined.parse(parser, words, "projection") == max(projected, key=projected.__getitem__)
    assert refined.parse(parser, words, "max-rule") == max(
        trees, key=lambda t: refined.max_rule(t, edges)
    )


def test_decodings_differ():
    """Else the trees above say nothing of which of them it was."""
    words, n_different = refined.SENTENCES[3], 0
    for seed in range(20):
        parser, rules, logs = refined.make_parser(1, seed)
        trees = refined.posterior(words, rules, logs)
        edges, projected = refined.project(trees)
        first, second = (refined.parse(parser, words, way) for way in ("projection", "max-rule"))
        assert projected[first] == pytest.approx(max(projected.values()), rel=1e-9)
        best = max(refined.max_rule(tree, edges) for tree in trees)
        assert refined.max_rule(second, edges) == pytest.approx(best, rel=1e-9)
        n_different += first != second
    assert n_different


@pytest.mark.parametrize("spread", [100.0, 500.0, 2000.0])
def test_shares_with_weights_of_any_size(spread):
    """However far apart weights are, or zero, items that are used have all of their shares."""
    treebank = refined.make_treebank()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        zeros = RefinedTables.zeros(treebank.rules, 3)
        logs = RefinedTables(*(-spread * rng.random(t.shape) for t in zeros))
        for table in logs:
            table[rng.random(table.shape) < 0.2] = -np.inf
        parser = refined.parser_of(treebank, logs)
        longer = [tuple(rng.choice(list(refined.WORDS), n)) for n in (12, 25)]
        for words in [*refined.SENTENCES, *longer]:
            forest = refined.forest_of(parser, words)
            if forest is None:
                continue
            log_sum, shares = parser.project(forest)
            tree = parser.parse(refined.look_up(parser, words), words, "projection")
            if not log_sum > -np.inf:
                assert tree is None
                continue
            assert tree.leaves == tuple(words)
            assert np.all((shares >= 0.0) & (shares <= 1.0 + 1e-9))
            own = np.add.reduceat(shares, forest.edge_ptr[:-1])
            roots = forest.root_items[forest.root_items >= 0]
            assert own[roots].sum() == pytest.approx(1.0)
            used, kinds = np.zeros_like(own), forest.edges[:, 0]
            for place, mine in ((2, kinds != coarse.WORD), (3, kinds == coarse.BINARY)):
                np.add.at(used, forest.edges[mine, place], shares[mine])
            used[roots] += own[roots]
            assert_allclose(own, used, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("width", [1e-6, 0.5, 2.0, 4.0, refined.WIDTH])
def test_pruning_keeps_what_is_part_of_a_good_tree(seed, width):
    """By all coarse trees: an edge stays if the best tree with it is within the width."""
    treebank = refined.make_treebank()
    logs = refined.draw_logs(treebank.rules, 1, seed)
    parser = refined.parser_of(treebank, logs, width, coarse_logs=logs)
    for words in (*refined.SENTENCES[1:], ("a", "b", "a", "c", "a")):
        best = defaultdict(lambda: -math.inf)
        for tree, weight in refined.posterior(words, treebank.rules, logs).items():
            for edge in oracle.anchored_edges(tree)[0]:
                if edge[0] == "binary":  # sees copies: the chains below do not matter
                    edge = (*edge[:6], edge[7])
                best[edge] = max(best[edge], math.log(weight))
        forest = refined.forest_of(parser, words, width)
        if not best:
            assert forest is None
            continue
        assert parser.parse(refined.look_up(parser, words), words, "max-rule").leaves == words
        cut = max(best.values()) - width
        expected = Counter(edge[0] for edge, log_weight in best.items() if log_weight >= cut)
        kinds = {coarse.WORD: "word", coarse.UNARY: "unary", coarse.BINARY: "binary"}
        found = Counter(kinds[k] for k in forest.edges[:, 0].tolist() if k != coarse.COPY)
        assert found == expected


@pytest.mark.parametrize("n_components", [1, 3, 5])
def test_one_coarse_symbol_is_a_binary_grammar(n_components):
    """Then subsymbols are all there is: sentences have the weights of `inside_outside`."""
    treebank = refined.make_treebank([("S", ("S", "a"), ("S", ("S", "b"), ("S", "c")))])
    logs = refined.draw_logs(treebank.rules, n_components)
    parser = refined.parser_of(treebank, logs, coarse_logs=RefinedTables.zeros(treebank.rules, 1))
    root, emission, binary = (np.exp(t) for t in (logs.root, logs.emission, logs.binary))
    sentences = ["a", "cb", "abccb", "bbacabca"]
    found = [parser.project(refined.forest_of(parser, words)).log_sum for words in sentences]
    ids = [[refined.WORDS[w] for w in words] for words in sentences]
    types = np.ones((n_components, 2))
    expected = inside_outside(ids, root[0], types, emission.T, binary[0].transpose(2, 0, 1))
    assert_allclose(found, expected.log_prob, rtol=1e-11)


@pytest.mark.parametrize("n_grammars", [2, 3])
@pytest.mark.parametrize("words", refined.SENTENCES[1:])
def test_product_matches_all_trees(words, n_grammars):
    """Moments of every grammar are multiplied, and the choices of every item sum to 1 again."""
    treebank = refined.make_treebank()
    first, *others = tables = [
        refined.draw_logs(treebank.rules, 1, seed) for seed in range(n_grammars)
    ]
    parser = refined.parser_of(treebank, first, others=others, coarse_logs=first)
    posteriors = [refined.posterior(words, treebank.rules, logs) for logs in tables]
    if not posteriors[0]:
        assert refined.parse(parser, words, "projection") is None
        return
    moments = [refined.project(trees)[0] for trees in posteriors]
    products = {edge: math.prod(edges[edge] for edges in moments) for edge in moments[0]}
    totals = defaultdict(float)
    for (item, _), share in products.items():
        totals[item] += share
    projected = {
        tree: totals[tree[0], 0, len(words), "copy"]
        * math.prod(products[e] / totals[e[0]] for e in refined.edges_of(tree))
        for tree in posteriors[0]
    }
    by_rules = {tree: refined.max_rule(tree, products) for tree in posteriors[0]}
    for decoding, scores in (("projection", projected), ("max-rule", by_rules)):
        best = scores[refined.parse(parser, words, decoding)]
        assert best == pytest.approx(max(scores.values()), rel=1e-10)
    shares = parser.project(refined.forest_of(parser, words)).shares
    assert_allclose(np.sort(shares[shares > 0.0]), sorted(products.values()), rtol=1e-8)


def test_product_of_grammars_that_share_no_tree():
    treebank = refined.make_treebank([("S", ("A", "a")), ("S", ("B", "a"))])
    zeros = RefinedTables.zeros(treebank.rules, 1)
    tables = [zeros._replace(unary=zeros.unary.copy()) for _ in range(2)]
    for place, logs in enumerate(tables):
        logs.unary[place] = -np.inf
    for others, expected in (([], ("S", ("B", "a"))), (tables[1:], None)):
        parser = refined.parser_of(treebank, tables[0], others=others, coarse_logs=zeros)
        assert refined.parse(parser, "a", "max-rule") == expected


def test_estimators_climb_from_noise_of_their_own():
    """Each grammar of a product starts elsewhere; one of them is that of a single fit."""
    options = {"max_iter": 30, "tol": 1e-3}
    bounds = refined.fit(refined.TREES, 3, max_iter=30, tol=0.0).lower_bounds_
    assert len(bounds) > 3
    assert np.all(np.diff(bounds) >= 0.0)
    one, three = (refined.fit(refined.TREES, 3, n_products=n, **options) for n in (1, 3))
    grammars = [scaled.weights.binary for scaled in three._parser._scaled]
    assert len(grammars) == 3
    assert not any(np.allclose(grammars[i], grammars[i - 1]) for i in range(3))
    assert any(np.array_equal(one._parser._scaled[0].weights.binary, g) for g in grammars)
    assert three.lower_bound_ >= one.lower_bound_
