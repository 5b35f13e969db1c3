import pytest
from hypothesis import given
from unit.data.tree_strategies import trees

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
    """That of a parser may go left, and begin below another label."""
    tree = tree_of("(X (@X (@Y (A a) (B b)) (C c)) (D d))")
    assert str(debinarize(tree)) == "(X (A a) (B b) (C c) (D d))"


def test_marked_labels():
    with pytest.raises(ValueError, match="Labels must not begin with '@' before binarization"):
        binarize(tree_of("(X (@Y a) b)"))
    with pytest.raises(ValueError, match="The root must not be an intermediate node, got '@X'"):
        debinarize(tree_of("(@X a b)"))
