"""Binary trees and back, with the orders of Markov grammars."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.data.tree_strategies import trees, trees_of, words

from skdp.grammar import ParseTree, binarize, debinarize

tree_of = ParseTree.from_brackets


def same_label_chains(tree):
    return any(
        len(node.children) == 1 and getattr(node.children[0], "label", None) == node.label
        for node in tree.subtrees()
    )


@pytest.mark.parametrize(
    ("horizontal", "vertical", "text", "binary"),
    [
        (1, 1, "(X (A a) (B b))", "(X (A a) (B b))"),
        (1, 1, "(X (A a) (B b) (C c))", "(X (A a) (@X|A (B b) (C c)))"),
        (1, 1, "(X (A a) (B b) (C c) (D d))", "(X (A a) (@X|A (B b) (@X|B (C c) (D d))))"),
        (2, 1, "(X (A a) (B b) (C c) (D d))", "(X (A a) (@X|A (B b) (@X|A|B (C c) (D d))))"),
        (
            2, 1, "(X (A a) (B b) (C c) (D d) (E e))",
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
            1, 2, "(S (X (Y (A a)) (Z (B b)) (C c)))",
            "(S^ (X^S (Y^X (A a)) (@X^S|Y (Z^X (B b)) (C c))))",
        ),
        (0, 1, "(X a)", "(X a)"),
        (0, 1, "(X (A a) (B b) (C c))", "(X (A a) (@X (B b) (C c)))"),
        (0, 1, "(X (A a) (B b) (C c) (D d))", "(X (A a) (@X (B b) (@X (C c) (D d))))"),
        (0, 1, "(S (X (X (A a) (B b) c)))", "(S (X (A a) (@X (B b) c)))"),
        (0, 1, "(X (Y (X (X a))))", "(X (Y (X a)))"),  # chains of other labels stay
    ],
    ids=count(),
)  # fmt: skip
def test_orders(horizontal, vertical, text, binary):
    tree = tree_of(text)
    found = binarize(tree, horizontal_order=horizontal, vertical_order=vertical)
    assert str(found) == binary
    assert binarize(tree, horizontal, vertical) == found
    assert debinarize(found, vertical) == debinarize(binarize(tree))


odd = trees_of(words, st.sampled_from(["A", "B", "A|B", "|", "\\", "A\\", "\\|", "B|", "S"]))


@given(odd | trees, st.integers(0, 4), st.integers(1, 5))
def test_there_and_back(tree, horizontal, vertical):
    binary = binarize(tree, horizontal, vertical)
    assert binary.is_binary
    assert binary.leaves == tree.leaves
    back = debinarize(binary, vertical)
    assert back == debinarize(binarize(tree))
    assert (back == tree) == (not same_label_chains(tree))
    assert binarize(back, horizontal, vertical) == binary
    if vertical == 1:  # orders change labels, and only those of intermediate nodes
        plain = binarize(tree)
        assert not same_label_chains(plain)
        assert [n for _, *n in plain.spans()] == [n for _, *n in binary.spans()]
        for old, new in zip(plain.subtrees(), binary.subtrees(), strict=True):
            assert new.label == old.label or (horizontal and old.label[0] == new.label[0] == "@")
    else:
        for node in binary.subtrees():
            assert node.is_preterminal == ("^" not in node.label)


def test_other_binary_trees():
    """The binarization of a parser may go left, and begin below another label."""
    tree = tree_of("(X (@X (@Y (A a) (B b)) (C c)) (D d))")
    assert str(debinarize(tree)) == "(X (A a) (B b) (C c) (D d))"
    for text in ("(X^Y a b)", "(S (X^ a) (B b))", "(S (^ a) (B b))"):
        assert debinarize(binarize(tree_of(text), 3)) == tree_of(text)
    deep = tree_of("(X a b c)")
    for i in range(5000):
        deep = ParseTree(f"Y{i % 2}", [deep, "d", "e"])
    assert debinarize(binarize(deep, 10**6, 3), 3) == deep


def test_labels_of_other_siblings_differ():
    """The sign between siblings is not that in their labels."""
    found = {
        next(n.label for n in binarize(tree_of(text), 2).subtrees() if n.label.count("|") > 1)
        for text in (
            "(X (A a) (B b) (C c) (D d))", "(X (A|B a) (C c) (D d))",
            "(X (A\\ a) (B b) (C c) (D d))", "(X (A\\|B a) (C c) (D d))",
            "(X|A (B a) (C c) (D d))",
        )
    }  # fmt: skip
    assert len(found) == 5
