from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.data.tree_strategies import trees, trees_of, words

from skdp.grammar import ParseTree, binarize, debinarize


def tree_of(text):
    return ParseTree.from_brackets(text)


def same_label_chains(tree):
    return any(
        len(node.children) == 1
        and isinstance(node.children[0], ParseTree)
        and node.children[0].label == node.label
        for node in tree.subtrees()
    )


@pytest.mark.parametrize(
    ("text", "binary"),
    [
        ("(X a)", "(X a)"),
        ("(X (A a) (B b))", "(X (A a) (B b))"),
        ("(X (A a) (B b) (C c))", "(X (A a) (@X (B b) (C c)))"),
        ("(X (A a) (B b) (C c) (D d))", "(X (A a) (@X (B b) (@X (C c) (D d))))"),
        ("(S (X (X (A a) (B b) c)))", "(S (X (A a) (@X (B b) c)))"),
        ("(X (Y (X (X a))))", "(X (Y (X a)))"),  # chains of other labels stay
    ],
)
def test_cascades(text, binary):
    assert str(binarize(tree_of(text))) == binary


@given(trees)
def test_there_and_back(tree):
    binary = binarize(tree)
    assert binary.is_binary
    assert binary.leaves == tree.leaves
    assert not same_label_chains(binary)
    back = debinarize(binary)
    assert binarize(back) == binary
    assert (back == tree) == (not same_label_chains(tree))


def test_any_cascade_is_undone():
    """The binarization of a parser may go left, and begin below another label."""
    tree = tree_of("(X (@X (@Y (A a) (B b)) (C c)) (D d))")
    assert str(debinarize(tree)) == "(X (A a) (B b) (C c) (D d))"


def test_marked_labels():
    with pytest.raises(ValueError, match="Labels must not begin with '@' before binarization"):
        binarize(tree_of("(X (@Y a) b)"))
    with pytest.raises(ValueError, match="The root must not be an intermediate node, got '@X'"):
        debinarize(tree_of("(@X a b)"))


# Orders


@pytest.mark.parametrize(
    ("horizontal", "vertical", "text", "binary"),
    [
        (1, 1, "(X (A a) (B b))", "(X (A a) (B b))"),
        (1, 1, "(X (A a) (B b) (C c))", "(X (A a) (@X|A (B b) (C c)))"),
        (1, 1, "(X (A a) (B b) (C c) (D d))", "(X (A a) (@X|A (B b) (@X|B (C c) (D d))))"),
        (2, 1, "(X (A a) (B b) (C c) (D d))", "(X (A a) (@X|A (B b) (@X|A|B (C c) (D d))))"),
        (
            2,
            1,
            "(X (A a) (B b) (C c) (D d) (E e))",
            "(X (A a) (@X|A (B b) (@X|A|B (C c) (@X|B|C (D d) (E e)))))",
        ),
        (1, 1, "(X a (B b) c d)", "(X a (@X| (B b) (@X|B c d)))"),
        (2, 1, "(X a b (C c) d)", "(X a (@X| b (@X|| (C c) d)))"),
        # Preterminals have no ancestors; the root, if it is a phrase, has none to remember.
        (0, 2, "(X a)", "(X a)"),
        (0, 2, "(X (X a))", "(X a)"),
        (0, 2, "(X (A a))", "(X^ (A a))"),
        (0, 2, "(X a b)", "(X^ a b)"),
        (0, 2, "(S (X (Y (A a) (B b)) (C c)))", "(S^ (X^S (Y^X (A a) (B b)) (C c)))"),
        (0, 3, "(S (X (Y (Z (A a)) b)))", "(S^ (X^S (Y^X^S (Z^Y^X (A a)) b)))"),
        (0, 2, "(S (X (X (X (Y (A a))))))", "(S^ (X^S (Y^X (A a))))"),  # X -> X is dropped first
        (0, 2, "(X (X (X (A a))))", "(X^ (A a))"),
        (0, 2, "(S (X (X a)) (B b))", "(S^ (X a) (B b))"),
        (0, 2, "(X (A a) (B b) (Y (C c)))", "(X^ (A a) (@X^ (B b) (Y^X (C c))))"),
        (
            1,
            2,
            "(S (X (Y (A a)) (Z (B b)) (C c)))",
            "(S^ (X^S (Y^X (A a)) (@X^S|Y (Z^X (B b)) (C c))))",
        ),
    ],
    ids=count(),
)
def test_orders(horizontal, vertical, text, binary):
    tree = tree_of(text)
    found = binarize(tree, horizontal_order=horizontal, vertical_order=vertical)
    assert str(found) == binary
    assert binarize(tree, horizontal, vertical) == found
    assert debinarize(found, vertical) == debinarize(binarize(tree))


odd = trees_of(words, st.sampled_from(["A", "B", "A|B", "|", "\\", "A\\", "\\|", "B|", "S"]))


@given(odd | trees, st.integers(0, 4), st.integers(1, 5))
def test_orders_there_and_back(tree, horizontal, vertical):
    binary = binarize(tree, horizontal, vertical)
    assert binary.is_binary
    assert binary.leaves == tree.leaves
    back = debinarize(binary, vertical)
    assert back == debinarize(binarize(tree))
    assert (back == tree) == (not same_label_chains(tree))
    assert binarize(back, horizontal, vertical) == binary
    if vertical == 1:  # orders change labels, and only those of intermediate nodes
        plain = binarize(tree)
        assert [n for _, *n in plain.spans()] == [n for _, *n in binary.spans()]
        for old, new in zip(plain.subtrees(), binary.subtrees(), strict=True):
            assert new.label == old.label or (horizontal and old.label[0] == new.label[0] == "@")
    else:
        for node in binary.subtrees():
            assert node.is_preterminal == ("^" not in node.label)


def test_labels_of_other_siblings_differ():
    """The sign between siblings is not that in their labels."""
    found = {
        next(n.label for n in binarize(tree_of(text), 2).subtrees() if n.label.count("|") > 1)
        for text in (
            "(X (A a) (B b) (C c) (D d))",
            "(X (A|B a) (C c) (D d))",
            "(X (A\\ a) (B b) (C c) (D d))",
            "(X (A\\|B a) (C c) (D d))",
            "(X|A (B a) (C c) (D d))",
        )
    }
    assert len(found) == 5


@pytest.mark.parametrize("order", [-1, 1.0, "1", True, None])
def test_bad_horizontal_orders(order):
    with pytest.raises(ValueError, match="horizontal_order must be an integer >= 0, got"):
        binarize(tree_of("(X a)"), order)


@pytest.mark.parametrize("order", [0, -1, 2.0, "2", True, None])
def test_bad_vertical_orders(order):
    for function in (binarize, debinarize):
        with pytest.raises(ValueError, match="vertical_order must be an integer >= 1, got"):
            function(tree_of("(X a)"), vertical_order=order)


@pytest.mark.parametrize("text", ["(X^Y a b)", "(S (X^ a) (B b))", "(S (^ a) (B b))"])
def test_labels_with_the_sign_of_ancestors(text):
    tree = tree_of(text)
    assert debinarize(binarize(tree, 3)) == tree
    message = r"Labels must not contain '\^' with vertical_order=3: '.*\^"
    with pytest.raises(ValueError, match=message):
        binarize(tree, vertical_order=3)
    with pytest.raises(ValueError, match=r"Labels must not begin with '\^' with vertical_order=2"):
        debinarize(tree_of("(S^ (^S a b) c)"), 2)


def test_orders_of_deep_trees():
    tree = tree_of("(X a b c)")
    for i in range(5000):
        tree = ParseTree(f"Y{i % 2}", [tree, "d", "e"])
    assert debinarize(binarize(tree, 10**6, 3), 3) == tree
