import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold

from skdp.grammar import HDPPCFGRefiner, ParseTree

WORDS = {i: [f"{letter}{i}" for letter in "abcd"] for i in range(2)}


def make_trees(n=60, seed=0):
    """Trees S -> X X whose words agree, of chains and nodes with three children among them."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n):
        words = WORDS[int(rng.integers(2))]
        children = [ParseTree("X", [str(rng.choice(words))]) for _ in range(2)]
        if rng.random() < 0.3:
            children.append(ParseTree("NP", [ParseTree("X", [str(rng.choice(words))])]))
        trees.append(ParseTree("ROOT", [ParseTree("S", children)]))
    return trees


def make_model(n_components=2, **changed):
    parameters = {"min_word_count": 1, "random_state": 0, **changed}
    return HDPPCFGRefiner(n_components, **parameters)


TREES = make_trees()
SENTENCES = [tree.leaves for tree in TREES]


@pytest.fixture(scope="module")
def model():
    return make_model().fit(SENTENCES, TREES)


def test_attributes(model):
    assert model.symbols_ == ("@S", "NP", "ROOT", "S", "X")
    assert model.top_weights_.shape == (5, 2)
    np.testing.assert_allclose(model.top_weights_.sum(axis=1), 1.0)
    assert model.subsymbol_counts_.shape == (5, 2)
    n_x = sum(label == "X" for tree in TREES for label, _, _ in tree.spans())
    assert model.subsymbol_counts_[4].sum() == pytest.approx(n_x)
    assert model.lower_bound_ == model.lower_bounds_[-1]
    assert len(model.lower_bounds_) == model.n_iter_
    assert model.binary_concentration_ == model.unary_concentration_
    assert model.n_active_rules_ == model.count_active_rules(1e-6)
    assert model.count_active_rules(1e-3) <= model.n_active_rules_
    assert {"a0", "UNK", "^UNK"} <= set(model.vocabulary_)


def test_predict_gives_trees_that_are_not_binary(model):
    predicted = model.predict(SENTENCES)
    assert [tree.leaves for tree in predicted] == SENTENCES
    assert predicted == TREES
    assert any(len(node.children) == 3 for tree in predicted for node in tree.subtrees())
    assert model.score(SENTENCES, TREES) == 1.0


def test_subsymbols_find_what_words_agree_on():
    """The refined grammar gives words that agree more than those that do not."""
    trees = make_trees(1000)
    model = make_model(4, tol=0.0, random_state=2).fit([tree.leaves for tree in trees], trees)
    parser = model._parser
    look_up = lambda words: parser.look_up(model._lexicon.encode(words), [None] * 2)  # noqa: E731
    together, apart = (
        parser.project(parser.make_forest(look_up(words), 10.0)).log_sum
        for words in (("a0", "b0"), ("a0", "b1"))
    )
    assert together > apart + 0.5


@pytest.mark.parametrize("inference", ["vb", "em", "viterbi-em"])
@pytest.mark.parametrize("n_components", [1, 3])
def test_inference(inference, n_components):
    model = make_model(n_components, inference=inference, max_iter=10, tol=0.0)
    model.fit(SENTENCES, TREES)
    assert np.all(np.diff(model.lower_bounds_) >= 0.0)
    assert model.score(SENTENCES, TREES) > 0.9


def test_a_forest_without_a_tree_is_made_again_wider():
    """A refined grammar that forbids the best coarse trees finds another."""
    trees = [
        ParseTree.from_brackets("(S (A (X a) (X b)) (X c))"),
        *[ParseTree.from_brackets("(S (X a) (A (X b) (X c)))")] * 30,
    ]
    model = make_model(1, inference="em").fit([tree.leaves for tree in trees], trees)
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


def test_products_of_one_subsymbol_are_one_grammar():
    """Without subsymbols there is one maximum: the posteriors are those of one grammar, squared."""
    one, two = (make_model(1, inference="em", n_products=n).fit(SENTENCES, TREES) for n in (1, 2))
    words = one._parser.look_up(one._lexicon.encode(SENTENCES[0]), [None] * len(SENTENCES[0]))
    forest = one._parser.make_forest(words, 20.0)
    assert_allclose(two._parser.project(forest).shares, one._parser.project(forest).shares ** 2)
    assert two.predict(SENTENCES) == one.predict(SENTENCES)
    with pytest.raises(ValueError, match="n_products"):
        make_model(1, n_products=0).fit(SENTENCES, TREES)


def test_pseudo_counts_keep_rules():
    plain, smoothed = (
        make_model(3, inference="em", pseudo_count=p).fit(SENTENCES, TREES) for p in (0.0, 0.1)
    )
    assert smoothed.n_active_rules_ > plain.n_active_rules_


def test_random_state_decides():
    first, second, other = (
        make_model(random_state=seed, max_iter=3).fit(SENTENCES, TREES) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.subsymbol_counts_, second.subsymbol_counts_)
    assert np.any(first.subsymbol_counts_ != other.subsymbol_counts_)


def test_threads_do_not_matter(model):
    threaded = clone(model).set_params(n_jobs=2).fit(SENTENCES, TREES)
    assert threaded.predict(SENTENCES) == model.predict(SENTENCES)
    np.testing.assert_array_equal(threaded.top_weights_, model.top_weights_)


def test_pickle(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(SENTENCES[:5]) == model.predict(SENTENCES[:5])
    assert not any("_saved" in name for name in vars(model))


def test_cross_validation():
    search = GridSearchCV(
        make_model(max_iter=5), {"n_components": [1, 2], "binary_concentration": [1.0, "auto"]},
        cv=KFold(2),
    )  # fmt: skip
    search.fit(SENTENCES, TREES)
    assert search.best_score_ > 0.9


def test_a_sentence_does_not_depend_on_its_neighbors(model):
    assert model.predict(SENTENCES[3:4]) == model.predict(SENTENCES)[3:4]


def test_verbose(capsys):
    make_model(max_iter=2, verbose=1).fit(SENTENCES, TREES)
    assert "[HDPPCFGRefiner] iteration 2 of 2, lower bound" in capsys.readouterr().out


def test_long_chains_come_back():
    chain = ParseTree.from_brackets("(R (A (B (C (D w)))))")
    pair = ParseTree.from_brackets("(R (A (D w) (B (C (D v)))))")
    model = make_model(1).fit([("w",), ("w", "v")], [chain, pair])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of flat trees, which are not these
        assert model.predict([("w",), ("w", "v")]) == [chain, pair]


def test_new_words():
    """A class of unknown words that no tree shows is emitted as all unknown words are."""
    trees = [*TREES, ParseTree.from_brackets("(ROOT (S (X rare) (X words)))")]
    model = make_model(min_word_count=2).fit([tree.leaves for tree in trees], trees)
    words = ("Quite-New", "a0")
    assert model.predict([words])[0].leaves == words


def test_no_unknown_words_in_the_trees(model):
    words = ("never", "SEEN")
    assert model.predict([words])[0].leaves == words


def test_no_parse(model):
    words = ("a0",) * 5
    with pytest.warns(UserWarning, match="1 of 2 sentences have no parse .* tree: sentence 0.$"):
        predicted = model.predict([words, SENTENCES[0]])
    assert predicted[0] == ParseTree("ROOT", [ParseTree("X", ["a0"])] * 5)
    assert predicted[1] == TREES[0]


def test_long_sentence():
    trees = [ParseTree.from_brackets("(S (S (S (X a) (X a)) (X a)) (X a))")]
    model = make_model(2).fit([("a",) * 4], trees)
    words = ("a",) * 150
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict([words])[0].leaves == words


# Bad input


def test_other_words():
    sentences = [*SENTENCES[:-1], ("other", *SENTENCES[-1][1:])]
    with pytest.raises(ValueError, match="tree 59 and sentence 59 differ in their words"):
        make_model().fit(sentences, TREES)


@pytest.mark.parametrize(
    ("sentences", "trees", "error", "message"),
    [
        ([], [], ValueError, "0 sample"),
        (SENTENCES[:2], TREES[:3], ValueError, "inconsistent numbers of samples"),
        ([()], TREES[:1], ValueError, "tree 0 and sentence 0 differ in their words"),
        ([()], [None], ValueError, r"0 word\(s\) in X"),
        (SENTENCES[:1], [None], ValueError, "tree 0 is None, but sentence 0 has words"),
        (["a b"], TREES[:1], TypeError, r"got str. Cut it into words: .* \[sentence.split\(\)\]"),
        ([7], TREES[:1], TypeError, "sentence 0: must be a sequence of words, got int.$"),
        (TREES, TREES, TypeError, r"got ParseTree. Trees are y.*leaves for tree in trees"),
        ("a b", TREES[:1], TypeError, "X must be a sequence of sentences, got str"),
        ([(1, 2)], TREES[:1], TypeError, "words must be str"),
        (SENTENCES[:1], None, ValueError, "y must hold the parse trees"),
        (SENTENCES[:1], ["(S a)"], TypeError, "tree 0: must be a ParseTree, got str"),
        (
            [("a", "b")],
            [ParseTree("S", ["a", ParseTree("X", ["b"])])],
            ValueError,
            "tree 0: a word must be the only child .* 'S' has the word 'a' and other children",
        ),
        (
            [(), ("a", "b", "c")],
            [None, ParseTree("NP", [ParseTree("X", ["a"]), "b", "c"])],
            ValueError,
            "tree 1: a word must be the only child .* 'NP' has the word 'b' and other children",
        ),
        ([("a", "")], TREES[:1], ValueError, "sentence 0: word 1 must not be empty or contain"),
        (
            [("a",)], [ParseTree("@S", ["a"])], ValueError, "must not begin with '@'",
        ),
    ],
)  # fmt: skip
def test_bad_data(sentences, trees, error, message):
    with pytest.raises(error, match=message):
        make_model().fit(sentences, trees)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("binary_concentration", 0.0),
        ("binary_concentration", "much"),
        ("unary_concentration", -1.0),
        ("top_concentration", 0.0),
        ("rule_type_prior", 0.0),
        ("emission_prior", -1.0),
        ("symbol_prior", 0.0),
        ("inference", "gibbs"),
        ("pseudo_count", -1.0),
        ("min_word_count", 0),
        ("max_iter", 0),
        ("tol", -1.0),
        ("decoding", "best"),
        ("horizontal_order", -1),
        ("horizontal_order", 0.5),
        ("vertical_order", 0),
        ("vertical_order", "2"),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        make_model().set_params(**{name: value}).fit(SENTENCES, TREES)


def test_pseudo_counts_are_not_for_mean_field():
    with pytest.raises(ValueError, match="pseudo_count is for"):
        make_model(pseudo_count=0.1).fit(SENTENCES, TREES)


def test_bad_sentences_at_predict(model):
    with pytest.raises(ValueError, match="differ in their words"):
        model.score(SENTENCES[:1], [ParseTree("S", ["a"])])
    with pytest.raises(NotFittedError):
        make_model().predict(SENTENCES)


@pytest.mark.parametrize("word", ["New York", "", " ", "a\tb", "a\n", "10\u00a0000"])
def test_trees_can_be_read_back(model, word):
    """Words that a tree cannot hold are errors; other kinds of white space may be words."""
    sentence = ["a0", word]
    if "\u00a0" in word:
        (tree,) = model.predict([sentence])
        assert ParseTree.from_brackets(str(tree)) == tree
        return
    for method in (model.predict, model.k_best, model.score_samples):
        with pytest.raises(ValueError, match="sentence 1: word 1 must not be empty or contain"):
            method([["a0", "b0"], sentence])


def test_a_failed_fit_changes_nothing(model):
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="differ in their words"):
        again.fit(SENTENCES, TREES[::-1])
    assert again.predict(SENTENCES[:3]) == TREES[:3]


def test_the_true_refinement_is_found():
    """S -> X X whose words are of one of four kinds: four subsymbols of X, one of S, 20 rules."""
    rng = np.random.default_rng(0)
    trees = [
        ParseTree("S", [ParseTree("X", [f"{'abcd'[i]}{kind}"]) for i in rng.integers(4, size=2)])
        for kind in rng.integers(4, size=2000)
    ]
    model = make_model(
        8, binary_concentration=1.0, symbol_prior=1.0, max_iter=100, tol=0.0
    ).fit([tree.leaves for tree in trees], trees)  # fmt: skip
    assert np.count_nonzero(model.subsymbol_counts_ >= 1e-3, axis=1).tolist() == [1, 4]
    assert model.count_active_rules(1e-3) == 20
    assert np.all(np.diff(model.lower_bounds_) >= 0.0)


# Several trees, probabilities, tags


def test_k_best_begins_with_the_prediction(model):
    for decoding in ("max-rule", "projection", "marginal"):
        other = pickle.loads(pickle.dumps(model)).set_params(decoding=decoding)
        ranked = other.k_best([*SENTENCES[:5], ()], k=3)
        assert [row[0][0] for row in ranked[:5]] == other.predict(SENTENCES[:5])
        assert ranked[5] == []
        assert all(1 <= len(row) <= 3 for row in ranked[:5])
        scores = other.score_samples(SENTENCES[:5])
        for sentence, row, score in zip(SENTENCES, ranked, scores, strict=False):
            trees, logs = zip(*row, strict=True)
            assert all(tree.leaves == sentence for tree in trees)
            proba = other.tree_proba([sentence] * len(trees), trees)
            np.testing.assert_allclose(proba, np.exp(np.array(logs) - score), rtol=1e-9)
            assert proba.sum() <= 1.0 + 1e-9


def test_probabilities_without_words_or_parse(model):
    none, unparsed = (), ("a0",) * 5
    np.testing.assert_array_equal(model.score_samples([none, unparsed]), [0.0, -np.inf])
    assert model.k_best([none, unparsed]) == [[], []]
    flat = ParseTree("ROOT", [ParseTree("X", ["a0"])] * 5)
    np.testing.assert_array_equal(model.tree_proba([none, unparsed], [None, flat]), [1.0, 0.0])


def test_threads_of_k_best(model):
    threaded = pickle.loads(pickle.dumps(model)).set_params(n_jobs=2)
    assert threaded.k_best(SENTENCES[:6], 4) == model.k_best(SENTENCES[:6], 4)
    np.testing.assert_array_equal(threaded.score_samples(SENTENCES), model.score_samples(SENTENCES))


def test_trees_of_a_long_sentence():
    trees = [ParseTree.from_brackets("(S (S (X a) (X a)) (X a))")] * 2
    trees += [ParseTree.from_brackets("(S (X a) (S (X a) (X a)))")]
    model = make_model(1).fit([tree.leaves for tree in trees], trees)
    found = [tree for tree, _ in model.k_best([("a",) * 60], k=40)[0]]
    assert len(set(found)) == 40


@pytest.mark.parametrize("k", [0, -1, 1.5, "2"])
def test_bad_k(model, k):
    with pytest.raises((ValueError, TypeError), match="k must be"):
        model.k_best(SENTENCES[:1], k=k)


@pytest.mark.parametrize(
    ("tags", "error", "message"),
    [
        ("XX", TypeError, "tags must be a sequence"),
        ([["X", "X"]], ValueError, "tags must be of 2 sentences, as X, got 1"),
        ([None, "XX"], TypeError, "sentence 1: tags must be a sequence"),
        ([None, ["X"]], ValueError, r"sentence 1 has \d words, but 1 tags"),
        ([["NP"] * 2, None], ValueError, "sentence 0: no word of .* has the tag 'NP'"),
    ],
)
def test_bad_tags(model, tags, error, message):
    sentences = [("a0", "b0"), SENTENCES[1]]
    with pytest.raises(error, match=message):
        model.predict(sentences, tags=tags)
    with pytest.raises(error, match=message):
        model.k_best(sentences, tags=tags)


def test_bad_decoding_at_predict(model):
    other = pickle.loads(pickle.dumps(model)).set_params(decoding="best")
    with pytest.raises(ValueError, match="decoding"):
        other.predict(SENTENCES[:1])


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

MIXED = [ParseTree.from_brackets(text) for text in BRACKETS] * 3
MIXED_WORDS = [tree.leaves for tree in MIXED]


@pytest.fixture(scope="module", params=[(1, 1), (0, 2), (2, 3)])
def with_orders(request):
    horizontal, vertical = request.param
    return make_model(horizontal_order=horizontal, vertical_order=vertical).fit(MIXED_WORDS, MIXED)


def test_symbols_of_orders(with_orders):
    orders = with_orders.horizontal_order, with_orders.vertical_order
    symbols = set(with_orders.symbols_)
    expected = {
        (1, 1): {"@NP|DT", "@NP|JJ", "@S|S", "@S|CC", "NP"},
        (0, 2): {"@NP^S", "@S^", "NP", "NP^", "NP^S", "NP^VP", "NP^NP"},
        (2, 3): {"@NP^VP^S|DT|JJ", "@S^|S|CC", "NP", "NP^", "NP^S", "NP^S^S", "NP^PP^VP"},
    }[orders]
    assert expected <= symbols
    assert any("|" in name for name in symbols) == (orders[0] > 0)
    assert any("^" in name for name in symbols) == (orders[1] > 1)


def test_trees_have_plain_labels(with_orders):
    """Each once, with probabilities that are those of `tree_proba`, and sum to 1."""
    plain = {node.label for tree in MIXED for node in tree.subtrees()}
    for decoding in ("max-rule", "marginal"):
        model = pickle.loads(pickle.dumps(with_orders)).set_params(decoding=decoding)
        predicted = model.predict(MIXED_WORDS[:7])
        assert {node.label for tree in predicted for node in tree.subtrees()} <= plain
        ranked = model.k_best(MIXED_WORDS[:7], k=1000)
        scores = model.score_samples(MIXED_WORDS[:7])
        for sentence, best, row, score in zip(MIXED_WORDS, predicted, ranked, scores, strict=False):
            trees, logs = zip(*row, strict=True)
            assert trees[0] == best
            assert len(set(trees)) == len(trees)
            proba = model.tree_proba([sentence] * len(trees), trees)
            assert_allclose(proba, np.exp(np.array(logs) - score), rtol=1e-9)
            assert proba.sum() == pytest.approx(1.0, rel=1e-6)
    assert len(ranked[5]) > 1
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
    other = pickle.loads(pickle.dumps(with_orders))
    other.set_params(horizontal_order=0, vertical_order=1)
    assert other.predict(MIXED_WORDS[:7]) == with_orders.predict(MIXED_WORDS[:7])
    proba = with_orders.tree_proba(MIXED_WORDS[:7], MIXED[:7])
    assert proba.min() > 0.0
    np.testing.assert_array_equal(other.tree_proba(MIXED_WORDS[:7], MIXED[:7]), proba)


def test_siblings_are_told_apart():
    """A grammar of order 0 has longer and shorter nodes than the trees, one of order 1 not."""
    trees = [ParseTree.from_brackets("(S (A a) (B a) (C a) (D a))")] * 4
    sentences = [tree.leaves for tree in trees]
    models = [make_model(1, horizontal_order=h).fit(sentences, trees) for h in (0, 1)]
    for n, found in ((3, [1, 0]), (4, [1, 1]), (5, [1, 0])):
        assert [len(model.k_best([("a",) * n])[0]) for model in models] == found
        # Rules that the finer grammar lacks come from the coarser one.
        trees_found = [model.predict([("a",) * n])[0] for model in models]
        assert trees_found[0] == trees_found[1]
    known = 4 * np.log(16 / 16.5)  # unknown words count as half a token
    assert_allclose(models[1].score_samples(sentences), known, rtol=1e-12)
    assert models[0].score_samples(sentences).max() < known - 0.1


def test_labels_that_orders_refuse():
    tree = ParseTree.from_brackets("(S (NP^X (A a) (B b)) (C c))")
    assert make_model(1).fit([tree.leaves], [tree]).predict([tree.leaves]) == [tree]
    with pytest.raises(ValueError, match=r"vertical_order=2: 'NP\^X'"):
        make_model(1, vertical_order=2).fit([tree.leaves], [tree])


PARENTS = [
    ParseTree.from_brackets(text)
    for text in (
        "(S (NP (PRP he)) (VP (VB saw) (NP (DT the) (NN cat))))",
        "(S (NP (PRP she)) (VP (VB fed) (NP (DT a) (NN dog))))",
    )
]
"""Subjects are pronouns, objects are not."""


@pytest.mark.parametrize("decoding", ["max-rule", "projection", "marginal"])
@pytest.mark.parametrize(("order", "n_products"), [(2, 1), (3, 1), (2, 2)])
def test_what_ancestors_forbid_is_parsed_without_them(order, n_products, decoding):
    """The noun phrases of these trees have no rules below their other parents."""
    sentences = [tree.leaves for tree in PARENTS]
    model = make_model(2, vertical_order=order, n_products=n_products, decoding=decoding)
    model.fit(sentences, PARENTS)
    words = ["the dog saw he".split(), [], "he saw a dog".split()]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = pickle.loads(pickle.dumps(model)).predict(words)
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
    rare = ["(X red)", "(Y fox)", "(Y cow)"]
    trees = PARENTS * 3 + [
        ParseTree.from_brackets(f"(S (NP (PRP he)) (VP (VB saw) (NP (DT the) {word})))")
        for word in rare
    ]
    model = make_model(1, vertical_order=2, min_word_count=3)
    model.fit([tree.leaves for tree in trees], trees)
    for tree, word in zip(model.predict([f"the {w[3:-1]} saw he".split() for w in rare]), rare,
                          strict=True):  # fmt: skip
        assert str(tree) == f"(S (NP (DT the) {word}) (VP (VB saw) (NP (PRP he))))"


def test_unparsed_sentences_have_numbers():
    model = make_model(1, vertical_order=2).fit([tree.leaves for tree in PARENTS], PARENTS)
    words = [["he", "he"], [], ["he", "saw", "the", "cat"], ["saw"]]
    with pytest.warns(UserWarning, match="2 of 4 .* get a flat tree: sentences 0, 3.$"):
        model.predict(words)
    with pytest.warns(UserWarning, match="12 of 12 .*: sentences 0, 1, .*, 8, 9, ....$"):
        model.predict(words[:1] * 12)


# Brackets as words

PARENTHESES = [
    ParseTree.from_brackets(text)
    for text in (
        "(S (NP (NN dog) (PRN (-LRB- -LRB-) (NN cat) (-RRB- -RRB-))) (VB ran))",
        "(S (NP (NN cow)) (VB ran))",
    )
] * 3

SPELLINGS = ["-LRB- -RRB-", "( )", "-lrb- -rrb-", "( -RRB-", "\ufeff( )"]


@pytest.mark.parametrize("min_word_count", [1, 9])
def test_parentheses_have_two_spellings(min_word_count):
    sentences = [tree.leaves for tree in PARENTHESES]
    model = make_model(1, min_word_count=min_word_count).fit(sentences, PARENTHESES)
    plain = [tuple("()"[word == "-RRB-"] if "RB-" in word else word for word in row)
             for row in sentences]  # fmt: skip
    other = make_model(1, min_word_count=min_word_count)
    other.fit(plain, [t.with_leaves(w) for t, w in zip(PARENTHESES, plain, strict=True)])
    mixed = make_model(1, min_word_count=min_word_count).fit(plain, PARENTHESES)
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
    model = make_model(1, min_word_count=1).fit([names], [tree])
    assert model.predict([[first, last]]) == [tree.with_leaves([first, last])]
    assert model.score([[first, last]], [tree]) == 1.0
