"""Best trees, probabilities and rare words of refined grammars against enumeration."""

import math

import numpy as np
import pytest
from exact.grammar.test_refinement import (
    SENTENCES,
    TREES,
    WORDS,
    draw_logs,
    look_up,
    make_parser,
    make_treebank,
    max_rule,
    posterior,
    project,
    to_tree,
    to_tuple,
    to_weights,
)
from exact.oracles import refinement as oracle

from skdp.grammar import HDPPCFGRefiner, ParseTree
from skdp.grammar._refinement._ascent import count_coarse
from skdp.grammar._refinement._maximum_likelihood import MaximumLikelihoodRefinement
from skdp.grammar._refinement._messages import RefinedTables
from skdp.grammar._refinement._parser import RefinedParser
from skdp.grammar._refinement._parses import rank_trees
from skdp.grammar._refinement._variational import RefinementPriors, VariationalRefinement


def lookup(parser, words):
    return look_up(parser, np.array([WORDS[w] for w in words], dtype=np.int32))


def scores_of(trees, decoding):
    """Return the score of every tree by a way of decoding."""
    edges, projected = project(trees)
    if decoding == "projection":
        return projected
    return {tree: max_rule(tree, edges) for tree in trees}


@pytest.mark.parametrize("decoding", ["max-rule", "projection"])
@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("words", [*SENTENCES[:3], ("a", "a")])
def test_best_trees_match_all_trees(words, n_components, decoding):
    parser, rules, weights = make_parser(n_components)
    trees = posterior(words, rules, weights, n_components)
    scores = scores_of(trees, decoding) if trees else {}
    ids = lookup(parser, words)
    for k in (1, 2, 5, len(trees) + 3):
        ranked = rank_trees(parser, ids, words, decoding, k)
        found = [to_tuple(tree) for tree, _ in ranked]
        assert len(found) == len(set(found)) == min(k, len(trees))
        expected = sorted(scores.values(), reverse=True)[:k]
        np.testing.assert_allclose([scores[tree] for tree in found], expected, rtol=1e-9)
        logs = [math.log(trees[tree]) for tree in found]
        np.testing.assert_allclose([log_prob for _, log_prob in ranked], logs, rtol=1e-10)
    if trees:
        assert parser.parse(ids, words, decoding) == ranked[0][0]


def test_best_trees_with_ties():
    """With equal weights trees of a shape are equally good: each comes once, in the same order."""
    treebank = make_treebank()
    rules, counts = treebank.rules, count_coarse(treebank)
    coarse_logs = MaximumLikelihoodRefinement(rules, 0.0, 1).updated(counts).weights()
    logs = RefinedTables.zeros(rules, 1)
    parser = RefinedParser(rules, counts, coarse_logs, logs, logs, 3, 3, (200.0,))
    words = SENTENCES[3]
    ids = lookup(parser, words)
    weights = to_weights(rules, RefinedTables(*map(np.exp, logs)))
    trees = posterior(words, rules, weights, 1)
    assert len(trees) > 10
    ranked = rank_trees(parser, ids, words, "max-rule", 10**6)
    assert {to_tuple(tree) for tree, _ in ranked} == set(trees)
    assert len(ranked) == len(trees)
    scores = scores_of(trees, "max-rule")
    found = [scores[to_tuple(tree)] for tree, _ in ranked]
    assert np.all(np.diff(np.log(found)) <= 1e-9)
    assert rank_trees(parser, ids, words, "max-rule", 7) == ranked[:7]


@pytest.mark.parametrize("words", [*SENTENCES[:2], ("a", "a")])
def test_marginal_is_the_likeliest_tree(words):
    for seed in range(5):
        parser, rules, weights = make_parser(2, seed=seed)
        trees = posterior(words, rules, weights, 2)
        ranked = rank_trees(parser, lookup(parser, words), words, "marginal", 3)
        expected = sorted(trees.values(), reverse=True)[:3]
        assert len(trees) <= 50  # all of them are candidates
        np.testing.assert_allclose([math.exp(p) for _, p in ranked], expected, rtol=1e-10)


def plain_parses(words, weights, most_unary):
    """Return all trees of a sentence with the product of their rules, by a plain grammar."""
    rules = {(rule[1], rule[3]) for rule in weights if rule[0] == "emission"}
    rules |= {("unary", rule[1], rule[3]) for rule in weights if rule[0] == "unary"}
    rules |= {rule[1::2] for rule in weights if rule[0] == "binary"}
    trees = oracle.coarse_trees(words, rules, most_unary)
    products = {tree: oracle.weight_of(next(oracle.labelings(tree, 1)), weights) for tree in trees}
    return {tree: product for tree, product in products.items() if product > 0.0}


def test_marginal_of_one_subsymbol_is_the_best_tree_of_the_treebank_grammar():
    """No sum is left: the product of relative frequencies, which "max-rule" does not maximize."""
    trees = [to_tree(tree) for tree in TREES]
    model = HDPPCFGRefiner(1, inference="em", decoding="marginal", min_word_count=1)
    model.fit([tree.leaves for tree in trees], trees)
    weights = dict(oracle.relative_frequencies(TREES, set("abc")))
    for sentence in ("aba", "bab", "bcb", "accc"):
        words = tuple(sentence)
        products = plain_parses(words, weights, 2)
        best = max(products, key=products.__getitem__)
        assert to_tuple(model.set_params(decoding="marginal").predict([words])[0]) == best
        by_rules = to_tuple(model.set_params(decoding="max-rule").predict([words])[0])
        assert (by_rules == best) == (sentence == "aba")


@pytest.mark.parametrize("seed", range(5))
def test_marginal_of_observed_subsymbols_is_the_best_tree_of_their_grammar(seed):
    """Every tree has one labeling: a word has one subsymbol, and children determine the parent's.

    So the sum over labelings is the product of a plain grammar whose symbols are the pairs.
    """
    treebank = make_treebank()
    rules, counts = treebank.rules, count_coarse(treebank)
    root, emission, unary, binary = draw_logs(rules, 2, seed)
    i, j, z = np.ogrid[:2, :2, :2]
    emission[rules.emission[:, 1][:, None] % 2 != np.arange(2)] = -np.inf
    unary[:, ~np.eye(2, dtype=bool)] = -np.inf
    binary[:, (i + j) % 2 != z] = -np.inf
    logs = RefinedTables(root, emission, unary, binary)
    coarse_logs = MaximumLikelihoodRefinement(rules, 0.0, 1).updated(counts).weights()
    parser = RefinedParser(rules, counts, coarse_logs, logs, logs, 3, 3, (200.0,))
    pairs = {}
    for rule, weight in to_weights(rules, RefinedTables(*map(np.exp, logs))).items():
        if weight == 0.0:
            continue
        kind, *rest = rule
        n = 1 if kind == "emission" else 0
        symbols = rest[: len(rest) - n]
        merged = [part for s, y in zip(symbols[::2], symbols[1::2], strict=True)
                  for part in (f"{s}{y}", 0)]  # fmt: skip
        pairs[kind, *merged, *rest[len(rest) - n :]] = weight
    for words in SENTENCES[:3]:
        products = plain_parses(words, pairs, rules.longest_chain)
        ranked = rank_trees(parser, lookup(parser, words), words, "marginal", 1)
        if not products:
            assert not ranked
            continue
        best = max(products, key=products.__getitem__)
        assert to_tuple(ranked[0][0]) == without_subsymbols(best)
        assert ranked[0][1] == pytest.approx(math.log(products[best]), rel=1e-10)


def without_subsymbols(tree):
    return (tree[0][:-1], *(c if isinstance(c, str) else without_subsymbols(c) for c in tree[1:]))


@pytest.mark.parametrize("n_components", [1, 2])
def test_sums_and_posteriors(n_components):
    parser, rules, weights = make_parser(n_components)
    for words in SENTENCES[:3]:
        trees = posterior(words, rules, weights, n_components)
        ids = lookup(parser, words)
        expected = math.log(sum(trees.values())) if trees else -math.inf
        assert parser.log_sum(ids) == pytest.approx(expected, rel=1e-10)
        for tree, weight in trees.items():
            assert parser.log_prob(to_tree(tree), ids) == pytest.approx(math.log(weight), rel=1e-10)
    assert parser.log_prob(to_tree(("S", ("B", "b"), ("B", "b"))), lookup(parser, "bb")) == -np.inf
    chain = ("S", ("B", ("S", ("B", ("S", ("B", "b"), ("A", "a"))))))
    assert oracle.tree_sum(chain, weights, n_components)[0] > 0.0
    assert parser.log_prob(to_tree(chain), lookup(parser, "ba")) == -np.inf  # longer than any seen


def test_means_are_those_of_the_posterior():
    """Every refined rule: type, coarse children, subsymbols; and all of a parent sum to 1."""
    treebank = make_treebank()
    rules, rng = treebank.rules, np.random.default_rng(0)
    counts = RefinedTables(*(rng.gamma(1.0, size=t.shape) for t in draw_logs(rules, 2)))
    beta = rng.dirichlet([1.0, 1.0], rules.n_symbols)
    priors = RefinementPriors(1.3, 0.8, 0.6, None, 1.7, 2.1)
    means = VariationalRefinement(rules, priors, 2, beta, counts).log_means()
    means = RefinedTables(*map(np.exp, means))
    totals = np.zeros((rules.n_symbols, 2))
    np.add.at(totals, rules.emission[:, 0], means.emission)
    np.add.at(totals, rules.unary[:, 0], means.unary.sum(axis=1))
    np.add.at(totals, rules.binary[:, 0], means.binary.sum(axis=(1, 2)))
    np.testing.assert_allclose(totals, 1.0)
    np.testing.assert_allclose(means.root.sum(), 1.0)
    s, a, b = (rules.symbols.index(name) for name in "SAB")
    place, z = rules.binary.tolist().index([s, b, a]), 1
    mine = rules.binary[:, 0] == s
    n_rules, n_binary = counts.binary[place, :, :, z], counts.binary[mine, :, :, z].sum()
    n_unary = counts.unary[rules.unary[:, 0] == s, :, z].sum()
    n_words = counts.emission[rules.emission[:, 0] == s, z].sum()
    n_types = 0.8 * np.count_nonzero([n_binary, n_unary, n_words])
    expected = (0.8 + n_binary) / (n_types + n_binary + n_unary + n_words)
    expected *= (1.0 / mine.sum() + n_rules.sum()) / (1.0 + n_binary)
    expected = expected * (2.1 * np.outer(beta[b], beta[a]) + n_rules) / (2.1 + n_rules.sum())
    np.testing.assert_allclose(means.binary[place, :, :, z], expected)


# Rare words

CORPUS = [
    ("S", ("A", "k"), ("B", "qa")),
    ("S", ("A", "k"), ("B", "qb")),
    ("S", ("B", "qb"), ("A", "k")),
    ("S", ("A", "k"), ("A", "qc")),
    ("S", ("A", "qc"), ("S", ("A", "qd"), ("B", "k"))),
    ("S", ("B", "qe"), ("A", "qa")),
    ("S", ("B", "k"), ("S", ("A", "qe"), ("B", "qd"))),
]
"""k is known, all others are seen twice at most."""


def fit_rare():
    trees = [to_tree(tree) for tree in CORPUS]
    model = HDPPCFGRefiner(1, inference="em", min_word_count=3)
    return model.fit([tree.leaves for tree in trees], trees)


@pytest.mark.parametrize(
    "words", [("k", "qb"), ("k", "qa", "qd"), ("qd", "k"), ("qb", "qc", "qe"), ("k", "new")]
)
def test_rare_words_keep_their_tags(words):
    model = fit_rare()
    weights = dict(oracle.relative_frequencies(CORPUS, {"k"}))
    marked = tuple(f"{i}:{word}" for i, word in enumerate(words))  # first words have own classes
    for i, word in enumerate(words):
        name = word if word == "k" else "UNK" if i else "^UNK"
        for tag in "AB":
            factor = 1.0
            if word not in ("k", "new"):
                factor = oracle.rare_factor(CORPUS, {"k"}, tag, word, name)
            weights["emission", tag, 0, marked[i]] = factor * weights["emission", tag, 0, name]
    rules = {("A", word) for word in marked} | {("B", word) for word in marked}
    rules |= {rule[1::2] for rule in weights if rule[0] == "binary"}
    trees = [tree for tree in oracle.coarse_trees(marked, rules, 0) if tree[0] == "S"]
    sums = {tree: oracle.tree_sum(tree, weights, 1)[0] for tree in trees}
    expected = math.log(sum(sums.values()))
    np.testing.assert_allclose(model.score_samples([words]), [expected], rtol=1e-10)
    ranked = model.k_best([words], k=len(sums) + 1)[0]
    found = sorted(p for _, p in ranked)
    np.testing.assert_allclose(found, sorted(math.log(x) for x in sums.values()), rtol=1e-10)
    trees = [tree for tree, _ in ranked]
    proba = model.tree_proba([words] * len(trees), trees)
    np.testing.assert_allclose(proba, [math.exp(p - expected) for _, p in ranked], rtol=1e-10)
    assert proba.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("inference", ["vb", "em", "split-merge"])
def test_probabilities_sum_to_one_without_rare_words(inference):
    """Words and one unknown class, of half a token in all: sentences of one word, of two tags."""
    trees = [ParseTree(tag, [word]) for tag, word in zip("AAAAABBB", "abcaaadd", strict=True)]
    model = HDPPCFGRefiner(2, inference=inference, min_word_count=1, random_state=0)
    model.fit([tree.leaves for tree in trees], trees)
    p = dict(zip("abcdx", np.exp(model.score_samples([[w] for w in "abcdx"])), strict=True))
    assert sum(p.values()) == pytest.approx(1.0)
    assert p["x"] == pytest.approx(0.5 / 8.5)
    assert p["x"] < min(p[word] for word in "abcd")
    assert np.exp(model.score_samples([["y"], ["X-9"]])) == pytest.approx(p["x"])
    ranked = model.k_best([["x"]])[0]  # the tags of all words
    assert sum(math.exp(log_prob) for _, log_prob in ranked) == pytest.approx(p["x"])
    proba = model.tree_proba([["x"]] * 2, [ParseTree(tag, ["x"]) for tag in "AB"])
    assert proba.sum() == pytest.approx(1.0)


def test_unknown_words_without_rare_ones_keep_the_order_of_trees():
    """Every tree of a sentence has a factor for each word, which does not depend on the tree."""
    trees = [to_tree(tree) for tree in CORPUS]
    model = HDPPCFGRefiner(1, inference="em", min_word_count=1)
    model.fit([tree.leaves for tree in trees], trees)
    words = ("k", "new", "qa")
    weights = dict(oracle.relative_frequencies(CORPUS, "k qa qb qc qd qe".split()))
    n = sum(len(tree.leaves) for tree in trees)
    for tag in "AB":
        weights["emission", tag, 0, "new"] = 0.5 / n
    rules = {(tag, word) for tag in "AB" for word in words}
    rules |= {rule[1::2] for rule in weights if rule[0] == "binary"}
    every = [tree for tree in oracle.coarse_trees(words, rules, 0) if tree[0] == "S"]
    sums = {tree: oracle.tree_sum(tree, weights, 1)[0] for tree in every}
    expected = {tree: p * (n / (n + 0.5)) ** 3 for tree, p in sums.items() if p > 0.0}
    found = {to_tuple(tree): math.exp(p) for tree, p in model.k_best([words], 100)[0]}
    assert found == pytest.approx(expected)


# Given tags


def test_given_tags_condition_on_them():
    """Of all trees those with the tags are left, and their probabilities stay in proportion."""
    model = fit_rare()
    words, k = ("k", "k", "k"), 100
    everything = dict(model.k_best([words], k)[0])
    for tags in [("A", "A", "B"), (None, "B", None), ("B", None, "A")]:
        found = dict(model.k_best([words], k, tags=[tags])[0])
        expected = {
            tree: log_prob
            for tree, log_prob in everything.items()
            if all(t in (None, n.label) for t, n in zip(tags, preterminals(tree), strict=True))
        }
        assert 0 < len(expected) < len(everything)
        assert found == pytest.approx(expected)
        assert model.predict([words], tags=[tags])[0] in expected


def preterminals(tree):
    return [node for node in tree.subtrees() if node.is_preterminal]


def test_a_tag_that_a_word_never_had():
    """The tag emits it as it emits all words together: log sums over k and the unknown ones."""
    trees = [to_tree(tree) for tree in CORPUS] + [to_tree(("S", ("C", "c"), ("A", "k")))] * 3
    model = HDPPCFGRefiner(1, inference="em", min_word_count=3)
    model.fit([tree.leaves for tree in trees], trees)
    ((tree, log_prob),) = model.k_best([("k", "k")], tags=[("C", "A")])[0]
    assert to_tuple(tree) == ("S", ("C", "k"), ("A", "k"))
    weights = oracle.relative_frequencies([*CORPUS, *[("S", ("C", "c"), ("A", "k"))] * 3], "kc")
    p = weights["root", "S", 0] * weights["binary", "S", 0, "C", 0, "A", 0]
    p *= weights["emission", "A", 0, "k"]  # C emits a word with probability 1
    assert log_prob == pytest.approx(math.log(p))
    assert model.predict([("k", "k")], tags=[("C", "A")]) == [tree]
    assert model.predict([("k", "k")])[0].children[0].label != "C"


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_chains_of_unaries_are_mixtures_of_mixtures(n_components):
    """A - B - word (Liang et al. 2009, section 4.2): given words alone, however many subsymbols
    there are, the most likely probability of a word is its frequency. Half a token is unknown."""
    words = "a b a c a b d a".split()
    trees = [ParseTree("A", [ParseTree("B", [word])]) for word in words]
    model = HDPPCFGRefiner(n_components, inference="em", min_word_count=1, random_state=0)
    model.fit([[word] for word in words], trees)
    counts = np.array([4, 2, 1, 1])
    expected = np.log(counts / len(words))
    scores = model.score_samples([[word] for word in "abcd"])
    np.testing.assert_allclose(scores, np.log(counts / (len(words) + 0.5)))
    assert model.lower_bound_ == pytest.approx(counts @ expected)
