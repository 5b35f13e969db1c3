import copy
import pickle
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from sklearn.model_selection import train_test_split
from unit.data.tree_strategies import trees, written_trees

from skdp.grammar import ParseTree, binarize, debinarize

DEPTH = 5_000


def tree_of(text):
    return ParseTree.from_brackets(text)


@pytest.fixture(scope="module")
def deep():
    tree = ParseTree("A", ["w"])
    for i in range(DEPTH):
        tree = ParseTree("AB"[i % 2], [tree, "v"] if i % 3 else ["v", tree])
    return tree


def recursive_leaves(tree):
    """By recursion, as the definition goes."""
    if isinstance(tree, str):
        return (tree,)
    return sum((recursive_leaves(child) for child in tree.children), ())


def recursive_spans(tree, begin=0):
    spans = [(tree.label, begin, begin + len(recursive_leaves(tree)))]
    for child in tree.children:
        if isinstance(child, ParseTree):
            spans += recursive_spans(child, begin)
        begin += len(recursive_leaves(child))
    return spans


def recursive_height(tree):
    return 0 if isinstance(tree, str) else 1 + max(map(recursive_height, tree.children))


def test_parts():
    tree = ParseTree("S", [ParseTree("NP", ["he"]), "ran"])
    assert tree.label == "S"
    assert tree.children == (ParseTree("NP", ["he"]), "ran")
    assert tree.leaves == ("he", "ran")
    assert tree.height == 2
    assert tree.children[0].is_preterminal
    assert not tree.is_preterminal
    assert not tree_of("(S (NP he))").is_preterminal
    assert [node.label for node in tree_of("(A (B (C c) (D d)) (E e))").subtrees()] == list("ABCDE")


@given(trees)
def test_traversals(tree):
    assert tree.leaves == recursive_leaves(tree)
    assert tree.spans() == recursive_spans(tree)
    assert tree.height == recursive_height(tree)
    nodes = list(tree.subtrees())
    assert [node.label for node in nodes] == [label for label, _, _ in tree.spans()]
    assert tree.is_binary == (max(len(node.children) for node in nodes) <= 2)


@given(written_trees)
def test_written_and_read(tree):
    assert tree_of(str(tree)) == tree
    assert str(tree_of(f"( {tree.to_brackets()}\n)")) == str(tree)


@given(trees)
def test_copies_are_equal(tree):
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert other == tree
        assert hash(other) == hash(tree)


@given(trees, trees)
def test_equality(first, second):
    """Trees of other shapes, labels or words differ; words and labels are not mixed up."""
    same = (
        first.spans() == second.spans()
        and first.leaves == second.leaves
        and [len(node.children) for node in first.subtrees()]
        == [len(node.children) for node in second.subtrees()]
    )
    assert (first == second) == same
    assert first != str(first)


def test_a_word_is_no_node():
    assert ParseTree("S", ["a", ParseTree("S", ["a"])]) != ParseTree(
        "S", [ParseTree("S", ["a"]), "a"]
    )
    assert len({tree_of("(S (A a))"), tree_of("(S (A a))"), tree_of("(S A a)")}) == 2


def test_lists_of_trees_are_targets():
    """Neither numpy nor scikit-learn takes a tree for a sequence."""
    targets = [tree_of(f"(S (A a) w{i})") for i in range(6)]
    assert np.array(targets).shape == (6,)
    train, test = train_test_split(targets, test_size=2, shuffle=False)
    assert train + test == targets


def test_equal_hashes():
    """They are not enough, as rare as they are."""
    first, second = tree_of("(S (A a) b)"), tree_of("(S a (A b))")
    second._hash = first._hash
    assert first != second


def test_a_hash_is_that_of_the_process():
    """Strings hash otherwise in another process: no hash is pickled."""
    tree = tree_of("(S (NP he) (VP ran))")
    other = copy.deepcopy(tree)
    for node in other.subtrees():
        node._hash = 0  # as if it were of another process
    assert hash(pickle.loads(pickle.dumps(other))) == hash(tree)


def test_immutable():
    tree = tree_of("(S a)")
    for name in ("label", "children", "leaves", "other"):
        with pytest.raises(AttributeError):
            setattr(tree, name, "x")


def test_round_brackets_of_words():
    tree = ParseTree("X", ["(", "f(x)"])
    assert str(tree) == "(X -LRB- f-LRB-x-RRB-)"
    assert tree_of(str(tree)).leaves == ("-LRB-", "f-LRB-x-RRB-")
    assert tree_of(str(tree)).with_leaves(tree.leaves) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("( (S (A a)) (B b))", "(TOP (S (A a)) (B b))"),
        ("((A a)\n(B b)\n(C c))", "(TOP (A a) (B b) (C c))"),
        ("( (A a) b)", "(TOP (A a) b)"),
        ("( (A a))", "(A a)"),
        ("\ufeff(A a)", "(A a)"),
        ("(A \ufeffa)", "(A \ufeffa)"),
    ],
)
def test_outermost_brackets_without_a_label(text, tree):
    assert str(ParseTree.from_brackets(text, root_label="TOP")) == tree
    assert str(tree_of(text)) == tree.replace("TOP", "ROOT")


def test_bad_root_label():
    with pytest.raises(ValueError, match="root_label must not contain white space"):
        ParseTree.from_brackets("(A a)", root_label="(")


def test_white_space():
    tree = tree_of("\t( (S\r\n(NP\n   he )\f(VP ran)\n)\n)\n\n")
    assert str(tree) == "(S (NP he) (VP ran))"
    assert tree_of("(NUM 10\u00a0000)").leaves == ("10\u00a0000",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S a", "line 1: a bracket is never closed"),
        ("(S\n(A a)\n(B b", "line 3: a bracket is never closed"),
        ("(S a))", "line 1: a closing bracket without an opening bracket"),
        ("(S a)\n)", "line 2: a closing bracket without an opening bracket"),
        ("(S\n(A))", r"line 2: the bracket \(A\) is empty"),
        ("(S\n())", r"line 2: the bracket \(\) is empty"),
        ("( () (A a))", r"line 1: the bracket \(\) is empty"),
        ("()", "The tree is empty"),
        ("( ( ) )", "The tree is empty"),
        ("(S a)\nb", "line 2: 'b' is outside of brackets"),
        ("(S (A a)\n((B b)))", "line 2: an inner bracket has no label"),
        ("(((S a)))", "line 1: an inner bracket has no label"),
        ("", "must hold one tree, but it holds 0"),
        ("(S a) (S b)", "must hold one tree, but it holds 2"),
    ],
)
def test_malformed(text, message):
    with pytest.raises(ValueError, match=message):
        tree_of(text)


@pytest.mark.parametrize(
    ("label", "children", "error", "message"),
    [
        ("S", [], ValueError, "A node must have children, but 'S' has none"),
        ("S", "dog", TypeError, "children must be a sequence of trees and words, got 'dog'"),
        ("S", ParseTree("A", ["a"]), TypeError, "pass a single child as a list of one"),
        ("S", [3], TypeError, "A word must be a str, got 3"),
        ("S", [""], ValueError, "A word must not be empty"),
        ("S", ["New York"], ValueError, "A word must not contain white space, got 'New York'"),
        ("", ["a"], ValueError, "A label must not be empty"),
        ("S(", ["a"], ValueError, "must not contain white space or parentheses, got 'S\\('"),
        (7, ["a"], TypeError, "A label must be a str, got 7"),
    ],
)
def test_bad_parts(label, children, error, message):
    with pytest.raises(error, match=message):
        ParseTree(label, children)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("(S (NP (-NONE- *)) (VP (TO to) (VP go)))", "(S (VP (TO to) (VP go)))"),
        ("(S (SBAR (-NONE- 0) (S (NP (-NONE- *T*-1)))) (A a) (-NONE- *))", "(S (A a))"),
        ("(S (NP (-NONE- (X *)) (N n)))", "(S (NP (N n)))"),
        ("(S (A a))", "(S (A a))"),
        ("(S (NP (-NONE- *)))", None),
        ("(-NONE- *)", None),
    ],
)
def test_without_traces(text, clean):
    assert tree_of(text).without_traces() == (None if clean is None else tree_of(clean))


def test_without_function_tags():
    labels = "S-TPC-1 NP-SBJ=2 NP=3 ADVP|PRT -LRB- -NONE- WP$ -RRB- , :"
    cut = "S NP NP ADVP -LRB- -NONE- WP$ -RRB- , :"
    trees = [
        ParseTree("ROOT", [ParseTree(label, ["a-b=c|d"]) for label in row.split()])
        for row in (labels, cut)
    ]
    assert trees[0].without_function_tags() == trees[1]


def test_with_leaves():
    tree = tree_of("(S (NP he) (VP ran off))")
    assert str(tree.with_leaves(["she", "sat", "down"])) == "(S (NP she) (VP sat down))"
    with pytest.raises(ValueError, match="words must hold 3 words, one per leaf, got 2"):
        tree.with_leaves(["she", "sat"])
    with pytest.raises(ValueError, match="A word must not be empty"):
        tree.with_leaves(["she", "", "down"])


def test_map_labels():
    calls = []
    tree = tree_of("(S (NP-SBJ S) (S-TPC (NP-SBJ b)))")
    plain = tree.map_labels(lambda label: calls.append(label) or label.split("-")[0])
    assert str(plain) == "(S (NP S) (S (NP b)))"
    assert sorted(calls) == ["NP-SBJ", "S", "S-TPC"]
    with pytest.raises(ValueError, match="A label must not be empty"):
        tree.map_labels(lambda label: "")
    with pytest.raises(TypeError, match="A label must be a str, got None"):
        tree.map_labels(lambda label: None)


def test_deep_trees(deep):
    assert deep.height == DEPTH + 1
    assert tree_of(deep.to_brackets()) == deep
    assert pickle.loads(pickle.dumps(deep)) == copy.deepcopy(deep) == deep
    assert len(deep.leaves) == DEPTH + 1
    assert len(deep.spans()) == DEPTH + 1
    assert deep.is_binary
    assert binarize(deep) == deep == debinarize(deep)
    assert deep.map_labels(str.lower).with_leaves(["z"] * (DEPTH + 1)).label == deep.label.lower()
    assert repr(deep).startswith("<ParseTree (")
    assert deep._repr_svg_().endswith("</svg>")


def test_nltk():
    nltk = pytest.importorskip("nltk")
    text = "(S (NP he) (VP ran off))"
    tree = tree_of(text)
    assert tree.to_nltk() == nltk.Tree.fromstring(text)
    assert ParseTree.from_nltk(nltk.Tree.fromstring(text)) == tree
    with pytest.raises(TypeError, match="A word must be a str, got \\('he', 'PRP'\\)"):
        ParseTree.from_nltk(nltk.Tree("S", [("he", "PRP")]))
    with pytest.raises(ValueError, match="A node must have children, but 'S' has none"):
        ParseTree.from_nltk(nltk.Tree("S", []))


def test_deep_trees_of_nltk(deep):
    pytest.importorskip("nltk")
    assert ParseTree.from_nltk(deep.to_nltk()) == deep


@pytest.mark.parametrize("other", [["S", "a"], "(S a)", None])
def test_not_of_nltk(other):
    with pytest.raises(TypeError, match=r"tree must be an nltk\.Tree, got"):
        ParseTree.from_nltk(other)


def test_without_nltk(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(
        ImportError, match=r"needs nltk: install it with `pip install skdp\[nltk\]`"
    ):
        tree_of("(S a)").to_nltk()


@given(trees)
def test_svg(tree):
    root = ElementTree.fromstring(tree._repr_svg_())
    texts = root.findall("{*}text")
    assert len(texts) == len(tree.spans()) + len(tree.leaves)
    words = [text.text for text in texts if text.get("font-style") == "italic"]
    if all(word.isprintable() for word in tree.leaves):
        assert tuple(words) == tree.leaves
