"""Best trees, probabilities and rare words of refined grammars against enumeration."""

import math

import numpy as np
import pytest
from exact.grammar import refined
from exact.oracles import refinement as oracle
from numpy.testing import assert_allclose

from skdp.grammar import ParseTree
from skdp.grammar._refinement._ascent import RefinedTables
from skdp.grammar._refinement._parser import rank_trees


def scores_of(trees, decoding):
    """Return the score of every tree by a way of decoding."""
    edges, projected = refined.project(trees)
    if decoding == "projection":
        return projected
    return {tree: refined.max_rule(tree, edges) for tree in trees}


@pytest.mark.parametrize("decoding", ["max-rule", "projection"])
@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("words", [*refined.SENTENCES[:3], ("a", "a")])
def test_best_trees_match_all_trees(words, n_components, decoding):
    parser, rules, logs = refined.make_parser(n_components)
    trees = refined.posterior(words, rules, logs)
    scores = scores_of(trees, decoding) if trees else {}
    ids = refined.look_up(parser, words)
    for k in (1, 2, 5, len(trees) + 3):
        ranked = rank_trees(parser, ids, words, decoding, k)
        found = [refined.to_tuple(tree) for tree, _ in ranked]
        assert len(found) == len(set(found)) == min(k, len(trees))
        expected = sorted(scores.values(), reverse=True)[:k]
        assert_allclose([scores[tree] for tree in found], expected, rtol=1e-9)
        log_probs = [math.log(trees[tree]) for tree in found]
        assert_allclose([log_prob for _, log_prob in ranked], log_probs, rtol=1e-10)
    if trees:
        assert parser.parse(ids, words, decoding) == ranked[0][0]


def test_best_trees_with_ties():
    """With equal weights trees of a shape are equally good: each comes once, in the same order."""
    treebank, words = refined.make_treebank(), refined.SENTENCES[3]
    logs = RefinedTables.zeros(treebank.rules, 1)
    parser, trees = (
        refined.parser_of(treebank, logs),
        refined.posterior(words, treebank.rules, logs),
    )
    assert len(trees) > 10
    ranked = rank_trees(parser, refined.look_up(parser, words), words, "max-rule", 10**6)
    assert {refined.to_tuple(tree) for tree, _ in ranked} == set(trees)
    assert len(ranked) == len(trees)
    scores = scores_of(trees, "max-rule")
    found = [scores[refined.to_tuple(tree)] for tree, _ in ranked]
    assert np.all(np.diff(np.log(found)) <= 1e-9)
    assert rank_trees(parser, refined.look_up(parser, words), words, "max-rule", 7) == ranked[:7]


@pytest.mark.parametrize("words", [*refined.SENTENCES[:2], ("a", "a")])
def test_marginal_is_the_likeliest_tree(words):
    for seed in range(5):
        parser, rules, logs = refined.make_parser(2, seed)
        trees = refined.posterior(words, rules, logs)
        ranked = rank_trees(parser, refined.look_up(parser, words), words, "marginal", 3)
        assert len(trees) <= 50  # all of them are candidates
        expected = sorted(trees.values(), reverse=True)[:3]
        assert_allclose([math.exp(p) for _, p in ranked], expected, rtol=1e-10)


def plain_parses(words, weights):
    """Return all trees of a sentence with the product of their rules, by a plain grammar."""
    rules = {(rule[1], rule[3]) for rule in weights if rule[0] == "emission"}
    rules |= {("unary", rule[1], rule[3]) for rule in weights if rule[0] == "unary"}
    rules |= {rule[1::2] for rule in weights if rule[0] == "binary"}
    trees = oracle.coarse_trees(words, rules, 2)
    return refined.positive({tree: oracle.tree_sum(tree, weights, 1)[0] for tree in trees})


def test_marginal_of_one_subsymbol_is_the_best_tree_of_the_treebank_grammar():
    """No sum is left: the product of relative frequencies, which "max-rule" does not maximize."""
    model, weights = (
        refined.fit(refined.TREES, inference="em"),
        oracle.relative_frequencies(refined.TREES, set("abc")),
    )
    for words in map(tuple, ("aba", "bab", "bcb", "accc")):
        products = plain_parses(words, weights)
        best = max(products, key=products.__getitem__)
        by_sums, by_rules = (
            refined.to_tuple(model.set_params(decoding=way).predict([words])[0])
            for way in ("marginal", "max-rule")
        )
        assert by_sums == best
        assert (by_rules == best) == (words == tuple("aba"))


@pytest.mark.parametrize("n_components", [1, 2])
def test_sums_and_posteriors(n_components):
    parser, rules, logs = refined.make_parser(n_components)
    for words in refined.SENTENCES[:3]:
        trees, ids = refined.posterior(words, rules, logs), refined.look_up(parser, words)
        expected = math.log(sum(trees.values())) if trees else -math.inf
        assert parser.log_sum(ids) == pytest.approx(expected, rel=1e-10)
        for tree, weight in trees.items():
            assert parser.log_prob(refined.to_tree(tree), ids) == pytest.approx(
                math.log(weight), rel=1e-10
            )
    unseen = refined.to_tree(("S", ("B", "b"), ("B", "b")))
    assert parser.log_prob(unseen, refined.look_up(parser, "bb")) == -np.inf
    chain = ("S", ("B", ("S", ("B", ("S", ("B", "b"), ("A", "a"))))))
    assert oracle.tree_sum(chain, refined.weights_of(rules, logs), n_components)[0] > 0.0
    longest = refined.look_up(parser, "ba")
    assert parser.log_prob(refined.to_tree(chain), longest) == -np.inf  # longer than any seen


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


@pytest.fixture(scope="module")
def with_rare_words():
    return refined.fit(CORPUS, inference="em", min_word_count=3)


def sums_of(words, weights):
    """Return the weights of all trees of a sentence, whose words may have any tag."""
    rules = {(tag, word) for tag in "AB" for word in words}
    rules |= {rule[1::2] for rule in weights if rule[0] == "binary"}
    trees = [tree for tree in oracle.coarse_trees(words, rules, 0) if tree[0] == "S"]
    return {tree: oracle.tree_sum(tree, weights, 1)[0] for tree in trees}


@pytest.mark.parametrize(
    "words", [("k", "qb"), ("k", "qa", "qd"), ("qd", "k"), ("qb", "qc", "qe"), ("k", "new")]
)
def test_rare_words_keep_their_tags(words, with_rare_words):
    model, weights = with_rare_words, oracle.relative_frequencies(CORPUS, {"k"})
    marked = tuple(f"{i}:{word}" for i, word in enumerate(words))  # first words have own classes
    for i, word in enumerate(words):
        name = word if word == "k" else "UNK" if i else "^UNK"
        for tag in "AB":
            factor = 1.0
            if word not in ("k", "new"):
                factor = oracle.rare_factor(CORPUS, {"k"}, tag, word, name)
            weights["emission", tag, 0, marked[i]] = factor * weights["emission", tag, 0, name]
    sums = sums_of(marked, weights)
    expected = math.log(sum(sums.values()))
    assert_allclose(model.score_samples([words]), [expected], rtol=1e-10)
    trees, found = zip(*model.k_best([words], k=len(sums) + 1)[0], strict=True)
    assert_allclose(sorted(found), sorted(math.log(x) for x in sums.values()), rtol=1e-10)
    proba = model.tree_proba([words] * len(trees), trees)
    assert_allclose(proba, [math.exp(p - expected) for p in found], rtol=1e-10)
    assert proba.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("inference", ["vb", "em", "split-merge"])
def test_probabilities_sum_to_one_without_rare_words(inference):
    """Words and one unknown class, of half a token in all: sentences of one word, of two tags."""
    model = refined.fit(zip("AAAAABBB", "abcaaadd", strict=True), 2, inference=inference)
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
    model, words = refined.fit(CORPUS, inference="em"), ("k", "new", "qa")
    weights = oracle.relative_frequencies(CORPUS, "k qa qb qc qd qe".split())
    n = sum(len(refined.to_tree(tree).leaves) for tree in CORPUS)
    for tag in "AB":
        weights["emission", tag, 0, "new"] = 0.5 / n
    sums = refined.positive(sums_of(words, weights))
    expected = {tree: p * (n / (n + 0.5)) ** 3 for tree, p in sums.items()}
    found = {refined.to_tuple(tree): math.exp(p) for tree, p in model.k_best([words], 100)[0]}
    assert found == pytest.approx(expected)


# Given tags


def test_given_tags_condition_on_them(with_rare_words):
    """Of all trees those with the tags are left, and their probabilities stay in proportion."""
    words, k = ("k", "k", "k"), 100
    everything = dict(with_rare_words.k_best([words], k)[0])
    for tags in [("A", "A", "B"), (None, "B", None), ("B", None, "A")]:
        found = dict(with_rare_words.k_best([words], k, tags=[tags])[0])
        expected = {
            tree: log_prob
            for tree, log_prob in everything.items()
            if all(t in (None, n) for t, n in zip(tags, tags_of(tree), strict=True))
        }
        assert 0 < len(expected) < len(everything)
        assert found == pytest.approx(expected)
        assert with_rare_words.predict([words], tags=[tags])[0] in expected


def tags_of(tree):
    return [node.label for node in tree.subtrees() if node.is_preterminal]


def test_a_tag_that_a_word_never_had():
    """The tag emits it as it emits all words together: log sums over k and the unknown ones."""
    corpus = CORPUS + [("S", ("C", "c"), ("A", "k"))] * 3
    model = refined.fit(corpus, inference="em", min_word_count=3)
    ((tree, log_prob),) = model.k_best([("k", "k")], tags=[("C", "A")])[0]
    assert refined.to_tuple(tree) == ("S", ("C", "k"), ("A", "k"))
    weights = oracle.relative_frequencies(corpus, "kc")
    p = weights["root", "S", 0] * weights["binary", "S", 0, "C", 0, "A", 0]
    p *= weights["emission", "A", 0, "k"]  # C emits a word with probability 1
    assert log_prob == pytest.approx(math.log(p))
    assert model.predict([("k", "k")], tags=[("C", "A")]) == [tree]
    assert model.predict([("k", "k")])[0].children[0].label != "C"


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_chains_of_unaries_are_mixtures_of_mixtures(n_components):
    """A - B - word (Liang et al. 2009, section 4.2): given words alone, however many subsymbols
    there are, the most likely probability of a word is its frequency. Half a token is unknown."""
    model = refined.fit([("A", ("B", word)) for word in "abacabda"], n_components, inference="em")
    counts = np.array([4, 2, 1, 1])
    scores = model.score_samples([[word] for word in "abcd"])
    assert_allclose(scores, np.log(counts / 8.5))
    assert model.lower_bound_ == pytest.approx(counts @ np.log(counts / 8))
