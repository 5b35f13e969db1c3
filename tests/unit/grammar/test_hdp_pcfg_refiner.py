"""Refined treebank grammars as an estimator; tests/refusals/grammar.txt has what it refuses."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skdp.grammar import HDPPCFGRefiner, ParseTree
from skdp.grammar._refinement._split_merge import SplitMergeSchedule

tree_of = ParseTree.from_brackets


def make_trees(n, tagged=0.0):
    """Trees whose words agree, of two kinds, with chains and long nodes; some begin with a tag."""
    rng = np.random.default_rng(0)
    trees = []
    for kind in rng.integers(2, size=n):
        words = [f"{letter}{kind}" for letter in "abcd"]
        children = [ParseTree("X", [str(rng.choice(words))]) for _ in range(2)]
        if rng.random() < 0.3:
            children.append(ParseTree("NP", [ParseTree("X", [str(rng.choice(words))])]))
        if rng.random() < tagged:
            children.insert(0, ParseTree("NP", ["it"]))
        trees.append(ParseTree("S", children))
    return trees


def make_model(n_components=2, **changed):
    parameters = {"min_word_count": 1, "random_state": 0, **changed}
    return HDPPCFGRefiner(n_components, **parameters)


def fit(model, trees):
    return model.fit([tree.leaves for tree in trees], trees)


def copy_of(model, **changed):
    return pickle.loads(pickle.dumps(model)).set_params(**changed)


def check_parses(model, asked):
    """Check trees of all ways of decoding against one another and their probabilities; return them.
    Each comes once. All trees of a sentence together have probability 1."""
    for decoding in ("projection", "marginal", "max-rule"):
        other = copy_of(model, decoding=decoding)
        predicted, ranked = other.predict(asked), other.k_best(asked, k=1000)
        assert [row[0][0] if row else None for row in ranked] == predicted
        for sentence, row, score in zip(asked, ranked, other.score_samples(asked), strict=True):
            if sentence:
                trees, logs = zip(*row, strict=True)
                assert all(tree.leaves == sentence for tree in trees)
                assert len(set(trees)) == len(trees)
                proba = other.tree_proba([sentence] * len(trees), trees)
                assert_allclose(proba, np.exp(np.array(logs) - score), rtol=1e-9)
                assert proba.sum() == pytest.approx(1.0, abs=1e-6)
    assert [row[:4] for row in ranked] == copy_of(other, n_jobs=2).k_best(asked, k=4)
    return predicted


TREES = make_trees(60)
SENTENCES = [tree.leaves for tree in TREES]


@pytest.fixture(scope="module")
def model():
    return make_model().fit(SENTENCES, TREES)


def test_attributes(model):
    assert model.symbols_ == ("@S", "NP", "S", "X")
    assert model.top_weights_.shape == (4, 2)
    assert_allclose(model.top_weights_.sum(axis=1), 1.0)
    assert model.subsymbol_counts_.shape == (4, 2)
    n_x = sum(label == "X" for tree in TREES for label, _, _ in tree.spans())
    assert model.subsymbol_counts_[3].sum() == pytest.approx(n_x)
    assert len(model.lower_bounds_) == model.n_iter_
    assert model.binary_concentration_ == model.unary_concentration_
    assert model.n_active_rules_ == model.count_active_rules(1e-6)
    assert model.count_active_rules(1e-3) <= model.n_active_rules_
    assert {"a0", "UNK", "^UNK"} <= set(model.vocabulary_)


def test_trees_are_not_binary(model):
    predicted = check_parses(model, [*SENTENCES[:8], ()])
    assert predicted == [*TREES[:8], None]
    assert model.predict(SENTENCES) == TREES
    assert any(len(node.children) == 3 for tree in predicted[:-1] for node in tree.subtrees())
    assert model.score(SENTENCES, TREES) == 1.0


@pytest.mark.parametrize(
    ("n_components", "inference"), [(1, "vb"), (3, "em"), (1, "viterbi-em"), (3, "viterbi-em")]
)
def test_inference(n_components, inference):
    model = make_model(n_components, inference=inference, max_iter=10, tol=0.0)
    model.fit(SENTENCES, TREES)
    assert np.all(np.diff(model.lower_bounds_) >= 0.0)
    assert model.score(SENTENCES, TREES) > 0.9


def test_the_true_refinement_is_found():
    """S -> X X whose words are of one of four kinds: four subsymbols of X, one of S, 20 rules."""
    rng = np.random.default_rng(0)
    trees = [
        ParseTree("S", [ParseTree("X", [f"{'abcd'[i]}{kind}"]) for i in rng.integers(4, size=2)])
        for kind in rng.integers(4, size=2000)
    ]
    options = {"binary_concentration": 1.0, "symbol_prior": 1.0, "max_iter": 100, "tol": 0.0}
    model = fit(make_model(8, **options), trees)
    assert np.count_nonzero(model.subsymbol_counts_ >= 1e-3, axis=1).tolist() == [1, 4]
    assert model.count_active_rules(1e-3) == 20
    assert np.all(np.diff(model.lower_bounds_) >= 0.0)


def test_a_forest_without_a_tree_is_made_again_wider():
    """A refined grammar that forbids the best coarse trees finds another."""
    trees = [tree_of("(S (A (X a) (X b)) (X c))"), *[tree_of("(S (X a) (A (X b) (X c)))")] * 30]
    model = fit(make_model(1, inference="em"), trees)
    parser = model._parser
    rules, ((weights, _),) = parser.rules, parser._scaled
    names = [tuple(rules.symbols[s] for s in rule) for rule in rules.binary]
    assert model.predict([("a", "b", "c")]) == trees[1:2]
    weights.binary[names.index(("S", "X", "A"))] = 0.0
    parser.widths = (1.0,)
    with pytest.warns(UserWarning, match="no parse"):
        model.predict([("a", "b", "c")])
    parser.widths = (1.0, 10.0)
    assert model.predict([("a", "b", "c")]) == trees[:1]


def test_pseudo_counts_keep_rules():
    plain, smoothed = (
        fit(make_model(3, inference="em", pseudo_count=p), TREES) for p in (0.0, 0.1)
    )
    assert smoothed.n_active_rules_ > plain.n_active_rules_


@pytest.mark.filterwarnings("ignore:.*flat tree")
def test_long_chains_come_back():
    trees = [tree_of("(R (A (B (C (D w)))))"), tree_of("(R (A (D w) (B (C (D v)))))")]
    assert fit(make_model(1), trees).predict([("w",), ("w", "v")]) == trees


def test_new_words(model):
    """A class of unknown words that no tree shows is emitted as all unknown words are."""
    assert model.predict([("never", "SEEN")])[0].leaves == ("never", "SEEN")
    rare = fit(make_model(min_word_count=2), [*TREES, tree_of("(S (X rare) (X words))")])
    assert rare.predict([("Quite-New", "a0")])[0].leaves == ("Quite-New", "a0")
    (tree,) = model.predict([["a0", "10\u00a0000"]])
    assert tree_of(str(tree)) == tree


def test_no_parse(model):
    none, unparsed = (), ("a0",) * 5
    with pytest.warns(UserWarning, match="1 of 2 sentences have no parse .* tree: sentence 0.$"):
        predicted = model.predict([unparsed, SENTENCES[0]])
    flat = ParseTree("S", [ParseTree("X", ["a0"])] * 5)
    assert predicted == [flat, TREES[0]]
    assert_array_equal(model.score_samples([none, unparsed]), [0.0, -np.inf])
    assert model.k_best([none, unparsed]) == [[], []]
    assert_array_equal(model.tree_proba([none, unparsed], [None, flat]), [1.0, 0.0])
    with pytest.warns(UserWarning, match="2 of 4 .* get a flat tree: sentences 0, 3.$"):
        model.predict([unparsed, [], SENTENCES[0], unparsed])
    with pytest.warns(UserWarning, match="12 of 12 .*: sentences 0, 1, .*, 8, 9, ....$"):
        model.predict([unparsed] * 12)


def test_long_sentences():
    trees = [tree_of("(S (S (X a) (X a)) (X a))")] * 2 + [tree_of("(S (X a) (S (X a) (X a)))")]
    model = fit(make_model(1), trees)
    assert len({tree for tree, _ in model.k_best([("a",) * 60], k=40)[0]}) == 40
    model = fit(make_model(), [tree_of("(S (S (S (X a) (X a)) (X a)) (X a))")])
    assert model.predict([("a",) * 150])[0].leaves == ("a",) * 150


def test_verbose(capsys):
    make_model(max_iter=2, verbose=1).fit(SENTENCES, TREES)
    assert "[HDPPCFGRefiner] iteration 2 of 2, lower bound" in capsys.readouterr().out
    split_merge(2, tol=0.0, verbose=5)
    out = capsys.readouterr().out
    assert "[HDPPCFGRefiner] iteration 5 of 35, lower bound" in out
    assert "[HDPPCFGRefiner] iteration 20 of 35, lower bound" in out


# Splits and merges

MORE_TREES = make_trees(300, tagged=0.2)
MORE_TREES[7] = tree_of("(S (NP rarely) (X seen))")


def split_merge(n_components=4, **changed):
    parameters = {"min_word_count": 3, **changed, "inference": "split-merge"}
    return fit(make_model(n_components, **parameters), MORE_TREES)


@pytest.mark.parametrize("changed", [{}, {"n_products": 2, "horizontal_order": 1}], ids=str)
def test_splits_and_merges(changed):
    """Words are of two kinds: X needs two subsymbols, S one; words of one kind are likelier."""
    model = split_merge(**changed)
    sizes = dict(zip(model.symbols_, model.n_active_components_.tolist(), strict=True))
    assert sizes["X"] >= 2
    assert sizes["S"] == 1
    assert max(sizes.values()) > 2
    shape = (len(sizes), max(sizes.values()))
    assert model.subsymbol_counts_.shape == model.top_weights_.shape == shape
    assert_allclose(model.top_weights_.sum(axis=1), 1.0)
    assert_array_equal(np.count_nonzero(model.top_weights_, axis=1), list(sizes.values()))
    assert_array_equal(model.top_weights_ > 0.0, model.subsymbol_counts_ >= 1e-6)
    assert len(model.lower_bounds_) == model.n_iter_ <= 2 * 35
    assert model.lower_bound_ == model.lower_bounds_[-1]
    assert model.count_active_rules(1e-3) <= model.count_active_rules() == model.n_active_rules_
    sentences = [tree.leaves for tree in MORE_TREES[:30]]
    predicted = check_parses(model, [*sentences[:6], sentences[7], ()])
    assert predicted[:6] == MORE_TREES[:6]
    (tagged,) = model.predict([("it", "seen", "a0")], tags=[["NP", "X", None]])
    assert str(tagged) == "(S (NP it) (X seen) (X a0))"
    assert model.score(sentences, MORE_TREES[:30]) > 0.95
    scores = model.score_samples([("a0", "b0"), ("c1", "d1"), ("a0", "b1"), ("c0", "d1")])
    assert scores[:2].min() > scores[2:].max() + 1.0


@pytest.mark.parametrize(
    ("n_components", "n_cycles", "made"),
    [(1, "auto", 0), (2, "auto", 1), (5, "auto", 3), (8, "auto", 3), (9, "auto", 4), (8, 5, 5)],
)
def test_cycles(n_components, n_cycles, made):
    schedule = make_model(n_components, n_cycles=n_cycles)._schedule
    assert schedule == SplitMergeSchedule(n_components, made, 0.5)
    assert schedule.most_steps == max(35 * made, 1)


def test_bounds_on_subsymbols():
    """No more than n_components, however many cycles; no merges, or nothing but merges."""
    model = split_merge(3, n_cycles=3, merge_share=0.0)
    assert model.top_weights_.shape[1] == 3
    assert np.all(model.top_weights_ > 0.0)
    model, plain = split_merge(8, merge_share=1.0), split_merge(1)
    assert model.top_weights_.shape[1] == 1
    for mine, other in zip(model._logs, plain._logs, strict=True):
        assert_allclose(np.exp(mine), np.exp(other), rtol=1e-12)


def test_fits_that_end_early():
    """At a large tolerance: two iterations after splits, two and one to smooth after merges. Fits
    that are cut short are the first iterations of others, and warn that cycles are missing."""
    assert split_merge(tol=1e8).n_iter_ == 2 * (2 + 3)
    whole = split_merge(max_iter=70, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="the cycles of splits and merges are not done"):
        cut = split_merge(max_iter=40, tol=0.0)
    assert cut.n_iter_ == 40
    assert_array_equal(cut.lower_bounds_, whole.lower_bounds_[:40])
    assert cut.score([tree.leaves for tree in MORE_TREES[:30]], MORE_TREES[:30]) > 0.95


# Orders of binarization

BRACKETS = [
    "(S (NP (DT a) (JJ b) (NN c)) (VP (VB d) (NP (NN c)) (PP (IN e) (NP (NN c)))))",
    "(S (NP (NN c)) (VP (VB d) (NP (DT a) (JJ b) (JJ b) (NN c))))",
    "(S (NP f) (VP (VB d) (NP (NP (NN c)) (PP (IN e) (NP (DT a) (NN c))))))",
    "(NP (NP (DT a) (NN c)) (PP (IN e) (NP f)))",
    "(S (S (NP f) (VP (VB d))) (CC g) (S (NP (NN c)) (VP (VB d))) (. h))",
    "(S (NP (NP (NN c)) (PP (IN e) (NP (NP (NN c)) (PP (IN e) (NP (NN c)))))) (VP (VB d)))",
    "(S (NP (NP (NP (NN c)) (PP (IN e) (NP (NN c)))) (PP (IN e) (NP (NN c)))) (VP (VB d)))",
]
"""NP is a phrase, a root and a preterminal; the last two have the same words."""

MIXED = list(map(tree_of, BRACKETS)) * 3
MIXED_WORDS = [tree.leaves for tree in MIXED]
ORDERS = {
    (1, 1): {"@NP|DT", "@NP|JJ", "@S|S", "@S|CC", "NP"},
    (0, 2): {"@NP^S", "@S^", "NP", "NP^", "NP^S", "NP^VP", "NP^NP"},
    (2, 3): {"@NP^VP^S|DT|JJ", "@S^|S|CC", "NP", "NP^", "NP^S", "NP^S^S", "NP^PP^VP"},
}


@pytest.fixture(scope="module", params=ORDERS, ids=["siblings", "parents", "both"])
def with_orders(request):
    horizontal, vertical = request.param
    return fit(make_model(horizontal_order=horizontal, vertical_order=vertical), MIXED)


def test_trees_have_plain_labels(with_orders):
    orders = with_orders.horizontal_order, with_orders.vertical_order
    symbols = set(with_orders.symbols_)
    assert ORDERS[orders] <= symbols
    assert any("|" in name for name in symbols) == (orders[0] > 0)
    assert any("^" in name for name in symbols) == (orders[1] > 1)
    plain = {node.label for tree in MIXED for node in tree.subtrees()}
    predicted = check_parses(with_orders, MIXED_WORDS[:7])
    assert {node.label for tree in predicted for node in tree.subtrees()} <= plain
    assert len(with_orders.k_best(MIXED_WORDS[5:6])[0]) > 1
    assert with_orders.score(MIXED_WORDS, MIXED) > 0.9


def test_orders_with_tags_and_without_parse(with_orders):
    tags = [["NP", None, "NN"]]
    (tree,) = with_orders.predict([["c", "d", "c"]], tags=tags)
    assert str(tree) == "(S (NP c) (VP (VB d) (NP (NN c))))"
    (row,) = with_orders.k_best([["c", "d", "c"]], tags=tags)
    assert row[0][0] == tree
    with pytest.warns(UserWarning, match="1 of 1 sentences have no parse"):
        (flat,) = with_orders.predict([["h", "h"]])
    assert str(flat) == "(S (. h) (. h))"
    if with_orders.vertical_order > 1:
        with pytest.raises(ValueError, match=r"no word of .* has the tag 'NP\^S'"):
            with_orders.predict([["c"]], tags=[["NP^S"]])


def test_orders_are_those_of_the_fit(with_orders):
    """Other parameters do not count before the next fit."""
    other = copy_of(with_orders, horizontal_order=0, vertical_order=1)
    assert other.predict(MIXED_WORDS[:7]) == with_orders.predict(MIXED_WORDS[:7])
    proba = with_orders.tree_proba(MIXED_WORDS[:7], MIXED[:7])
    assert proba.min() > 0.0
    assert_array_equal(other.tree_proba(MIXED_WORDS[:7], MIXED[:7]), proba)


def test_siblings_are_told_apart():
    """A grammar of order 0 has longer and shorter nodes than the trees, one of order 1 not."""
    trees = [tree_of("(S (A a) (B a) (C a) (D a))")] * 4
    models = [fit(make_model(1, horizontal_order=h), trees) for h in (0, 1)]
    for n, found in ((3, [1, 0]), (4, [1, 1]), (5, [1, 0])):
        assert [len(model.k_best([("a",) * n])[0]) for model in models] == found
        # Rules that the finer grammar lacks come from the coarser one.
        coarse, fine = (model.predict([("a",) * n])[0] for model in models)
        assert coarse == fine
    known = 4 * np.log(16 / 16.5)  # unknown words count as half a token
    assert_allclose(models[1].score_samples([("a",) * 4]), known, rtol=1e-12)
    assert models[0].score_samples([("a",) * 4]).max() < known - 0.1
    marked = tree_of("(S (NP^X (A a) (B b)) (C c))")
    assert fit(make_model(1), [marked]).predict([marked.leaves]) == [marked]


PARENTS = [
    tree_of("(S (NP (PRP he)) (VP (VB saw) (NP (DT the) (NN cat))))"),
    tree_of("(S (NP (PRP she)) (VP (VB fed) (NP (DT a) (NN dog))))"),
]
"""Subjects are pronouns, objects are not."""


@pytest.mark.parametrize(
    ("order", "n_products", "decoding"),
    [(2, 1, "max-rule"), (3, 1, "projection"), (2, 2, "marginal")],
)
def test_what_ancestors_forbid_is_parsed_without_them(order, n_products, decoding):
    """The noun phrases of these trees have no rules below their other parents."""
    options = {"vertical_order": order, "n_products": n_products, "decoding": decoding}
    model = fit(make_model(2, **options), PARENTS)
    words = ["the dog saw he".split(), [], "he saw a dog".split()]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = copy_of(model).predict(words)
        tagged = model.predict([["x", "y", "z", "he"]], [["DT", "NN", "VB", None]])
    assert str(found[0]) == "(S (NP (DT the) (NN dog)) (VP (VB saw) (NP (PRP he))))"
    assert found[1] is None
    assert str(found[2]) == "(S (NP (PRP he)) (VP (VB saw) (NP (DT a) (NN dog))))"
    assert str(tagged[0]) == "(S (NP (DT x) (NN y)) (VP (VB z) (NP (PRP he))))"
    assert not caught
    assert model.k_best(words)[0] == []
    assert model.score_samples(words)[0] == -np.inf
    assert model.tree_proba(words[:1], found[:1]) == 0.0


def test_rare_words_without_ancestors():
    """They have their tags from the trees, by whichever grammar."""
    rare = {"red": "(X red)", "fox": "(Y fox)", "cow": "(Y cow)"}
    text = "(S (NP (PRP he)) (VP (VB saw) (NP (DT the) {})))"
    trees = PARENTS * 3 + [tree_of(text.format(tag)) for tag in rare.values()]
    model = fit(make_model(1, vertical_order=2, min_word_count=3), trees)
    found = model.predict([f"the {word} saw he".split() for word in rare])
    for tree, tag in zip(found, rare.values(), strict=True):
        assert str(tree) == f"(S (NP (DT the) {tag}) (VP (VB saw) (NP (PRP he))))"


# Brackets as words

PARENTHESES = [
    tree_of("(S (NP (NN dog) (PRN (-LRB- -LRB-) (NN cat) (-RRB- -RRB-))) (VB ran))"),
    tree_of("(S (NP (NN cow)) (VB ran))"),
] * 3
SPELLINGS = ["-LRB- -RRB-", "( )", "-lrb- -rrb-", "( -RRB-", "\ufeff( )"]


@pytest.mark.parametrize("min_word_count", [1, 9])
def test_parentheses_have_two_spellings(min_word_count):
    names = {"-LRB-": "(", "-RRB-": ")"}
    sentences = [tree.leaves for tree in PARENTHESES]
    plain = [tuple(names.get(word, word) for word in row) for row in sentences]
    plain_trees = [t.with_leaves(w) for t, w in zip(PARENTHESES, plain, strict=True)]
    model, other, mixed = (
        make_model(1, min_word_count=min_word_count).fit(X, y)
        for X, y in ((sentences, PARENTHESES), (plain, plain_trees), (plain, PARENTHESES))
    )
    texts = [f"cow {pair.split()[0]} cat {pair.split()[1]} ran".split() for pair in SPELLINGS]
    for each in (model, other, mixed):
        assert each.vocabulary_ == model.vocabulary_
        trees = each.predict(texts)
        assert [list(tree.leaves) for tree in trees] == texts
        assert len({tree.with_leaves(list("abcde")) for tree in trees}) == 1
        assert len(set(each.score_samples(texts).tolist())) == 1
        assert each.score(plain, PARENTHESES) == each.score(sentences, PARENTHESES)
        assert each.tree_proba(texts, trees[:1] * len(texts)).min() > 0.0
    assert str(model.predict(texts[1:2])[0]) == str(model.predict(texts[:1])[0])


@pytest.mark.parametrize("pair", ["[ ] -LSB- -RSB-", "{ } -LCB- -RCB-", "f(x) y f-LRB-x-RRB- y"])
def test_other_brackets(pair):
    first, last, *names = pair.split()
    tree = ParseTree("S", [ParseTree("A", [names[0]]), ParseTree("B", [names[1]])])
    model = make_model(1).fit([names], [tree])
    assert model.predict([[first, last]]) == [tree.with_leaves([first, last])]
    assert model.score([[first, last]], [tree]) == 1.0
