"""Parse trees: parts, equality, text, other libraries, and drawings."""

import copy
import pickle
import sys
from xml.etree import ElementTree

import nltk
import numpy as np
import pytest
from hypothesis import given
from sklearn.model_selection import train_test_split
from unit.data.tree_strategies import trees, written_trees

from skdp.data._parse_tree import lay_out
from skdp.grammar import ParseTree, binarize, debinarize

DEPTH = 5_000

tree_of = ParseTree.from_brackets


@pytest.fixture(scope="module")
def deep():
    tree = ParseTree("A", ["w"])
    for i in range(DEPTH):
        tree = ParseTree("AB"[i % 2], [tree, "v"] if i % 3 else ["v", tree])
    return tree


def leaves_of(tree):
    """By recursion, as the definition goes."""
    return (tree,) if isinstance(tree, str) else sum(map(leaves_of, tree.children), ())


def spans_of(tree, begin=0):
    spans = [(tree.label, begin, begin + len(leaves_of(tree)))]
    for child in tree.children:
        if isinstance(child, ParseTree):
            spans += spans_of(child, begin)
        begin += len(leaves_of(child))
    return spans


def height_of(tree):
    return 0 if isinstance(tree, str) else 1 + max(map(height_of, tree.children))


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
    for name in ("label", "children", "leaves", "other"):
        with pytest.raises(AttributeError):
            setattr(tree, name, "x")


@given(trees)
def test_traversals_and_copies(tree):
    assert tree.leaves == leaves_of(tree)
    assert tree.spans() == spans_of(tree)
    assert tree.height == height_of(tree)
    nodes = list(tree.subtrees())
    assert [node.label for node in nodes] == [label for label, _, _ in tree.spans()]
    assert tree.is_binary == (max(len(node.children) for node in nodes) <= 2)
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree)):
        assert other == tree
        assert hash(other) == hash(tree)


@given(written_trees)
def test_written_and_read(tree):
    assert tree_of(str(tree)) == tree
    assert str(tree_of(f"( {tree.to_brackets()}\n)")) == str(tree)


@given(trees, trees)
def test_equality(first, second):
    """Trees of other shapes, labels or words differ; words and labels are not mixed up."""
    arities = [[len(node.children) for node in tree.subtrees()] for tree in (first, second)]
    same = first.spans() == second.spans() and first.leaves == second.leaves
    assert (first == second) == (same and arities[0] == arities[1])
    assert first != str(first)


def test_hashes_and_nodes():
    """Equal hashes are not enough, and a hash of another process counts for nothing."""
    below = ParseTree("S", ["a"])
    assert ParseTree("S", ["a", below]) != ParseTree("S", [below, "a"])
    assert len({tree_of("(S (A a))"), tree_of("(S (A a))"), tree_of("(S A a)")}) == 2
    first, second = tree_of("(S (A a) b)"), tree_of("(S a (A b))")
    second._hash = first._hash
    assert first != second
    other = copy.deepcopy(first)
    for node in other.subtrees():
        node._hash = 0  # strings hash otherwise in another process
    assert hash(pickle.loads(pickle.dumps(other))) == hash(first)


def test_lists_of_trees_are_targets():
    """Neither numpy nor scikit-learn takes a tree for a sequence."""
    targets = [tree_of(f"(S (A a) w{i})") for i in range(6)]
    assert np.array(targets).shape == (6,)
    train, test = train_test_split(targets, test_size=2, shuffle=False)
    assert train + test == targets


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("( (S (A a)) (B b))", "(TOP (S (A a)) (B b))"),
        ("((A a)\n(B b)\n(C c))", "(TOP (A a) (B b) (C c))"),
        ("( (A a) b)", "(TOP (A a) b)"),
        ("( (A a))", "(A a)"),
        ("\ufeff(A a)", "(A a)"),
        ("(A \ufeffa)", "(A \ufeffa)"),
        ("\t( (S\r\n(NP\n   he )\f(VP ran)\n)\n)\n\n", "(S (NP he) (VP ran))"),
        ("(NUM 10\u00a0000)", "(NUM 10\u00a0000)"),
    ],
)
def test_outermost_brackets_and_white_space(text, tree):
    assert str(tree_of(text, root_label="TOP")) == tree
    assert str(tree_of(text)) == tree.replace("TOP", "ROOT")


def test_round_brackets_of_words():
    tree = ParseTree("X", ["(", "f(x)"])
    assert str(tree) == "(X -LRB- f-LRB-x-RRB-)"
    assert tree_of(str(tree)).leaves == ("-LRB-", "f-LRB-x-RRB-")
    assert tree_of(str(tree)).with_leaves(tree.leaves) == tree


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
    tagged, plain = (
        ParseTree("ROOT", [ParseTree(label, ["a-b=c|d"]) for label in row.split()])
        for row in (labels, cut)
    )
    assert tagged.without_function_tags() == plain


def test_other_words_and_labels():
    calls = []
    tree = tree_of("(S (NP-SBJ S) (S-TPC (NP-SBJ b)))")
    plain = tree.map_labels(lambda label: calls.append(label) or label.split("-")[0])
    assert str(plain) == "(S (NP S) (S (NP b)))"
    assert sorted(calls) == ["NP-SBJ", "S", "S-TPC"]
    assert str(plain.with_leaves(["she", "sat"])) == "(S (NP she) (S (NP sat)))"


def test_deep_trees(deep):
    assert deep.height == len(deep.leaves) == len(deep.spans()) == DEPTH + 1
    assert tree_of(deep.to_brackets()) == deep
    assert pickle.loads(pickle.dumps(deep)) == copy.deepcopy(deep) == deep
    assert deep.is_binary
    assert binarize(deep) == deep == debinarize(deep)
    assert deep.map_labels(str.lower).with_leaves(["z"] * (DEPTH + 1)).label == deep.label.lower()
    assert repr(deep).startswith("<ParseTree (")
    assert deep._repr_svg_().endswith("</svg>")
    assert ParseTree.from_nltk(deep.to_nltk()) == deep


def test_nltk(monkeypatch):
    tree, other = (read("(S (NP he) (VP ran off))") for read in (tree_of, nltk.Tree.fromstring))
    assert tree.to_nltk() == other
    assert ParseTree.from_nltk(other) == tree
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(
        ImportError, match=r"needs nltk: install it with `pip install skdp\[nltk\]`"
    ):
        tree.to_nltk()


@given(trees)
def test_drawings(tree):
    """Texts do not overlap; nodes are above the middle of their children."""
    texts = ElementTree.fromstring(tree._repr_svg_()).findall("{*}text")
    assert len(texts) == len(tree.spans()) + len(tree.leaves)
    words = [text.text for text in texts if text.get("font-style") == "italic"]
    if all(word.isprintable() for word in tree.leaves):
        assert tuple(words) == tree.leaves
    items = tree._flat()
    widths = np.array([len(item if isinstance(item, str) else item[0]) + 1.0 for item in items])
    layout = lay_out(items, lambda text, _: len(text) + 1.0)
    lefts, rights = layout.x - widths / 2, layout.x + widths / 2
    assert lefts.min() >= -1e-9
    assert rights.max() <= layout.width + 1e-9
    for depth in range(tree.height + 1):
        row = np.flatnonzero(layout.depth == depth)  # from the left to the right
        assert np.all(lefts[row[1:]] >= rights[row[:-1]] - 1e-9)
    assert layout.parent[-1] == -1
    for i, item in enumerate(items):
        below = np.flatnonzero(layout.parent == i)
        assert len(below) == (0 if isinstance(item, str) else item[1])
        if len(below):
            assert np.all(layout.depth[below] == layout.depth[i] + 1)
            np.testing.assert_allclose(layout.x[i], (layout.x[below[0]] + layout.x[below[-1]]) / 2)


def test_a_wide_label():
    layout = lay_out(ParseTree("LONG", ["a"])._flat(), lambda text, _: float(len(text)))
    assert layout.width == 4.0
    assert layout.x.tolist() == [2.0, 2.0]
    assert layout.texts == ["a", "LONG"]
    assert layout.is_word.tolist() == [True, False]
