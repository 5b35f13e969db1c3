import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdp.grammar import ParseTree, head_children, lexicalize

SENTENCE = ParseTree.from_brackets(
    "(S (NP-SBJ (NP (DT the) (NN son)) (PP (IN of) (NP (NNP Ada))))"
    " (VP (MD will) (ADVP (RB soon)) (VP (VB sleep))) (. .))"
)


def test_head_children():
    #         S NP NP DT NN PP IN NP NNP VP MD ADVP RB VP VB .
    places = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    np.testing.assert_array_equal(head_children(SENTENCE), places)
    places[0], places[2] = 0, 0
    np.testing.assert_array_equal(head_children(SENTENCE, "first"), places)


def test_lexicalize():
    nodes = lexicalize(SENTENCE)
    assert nodes.labels.tolist() == [node.label for node in SENTENCE.subtrees()]
    assert [*zip(nodes.tags, nodes.words, strict=True)] == [
        ("MD", "will"),
        *[("NN", "son")] * 2,
        ("DT", "the"),
        ("NN", "son"),
        *[("IN", "of")] * 2,
        *[("NNP", "Ada")] * 2,
        *[("MD", "will")] * 2,
        *[("RB", "soon")] * 2,
        *[("VB", "sleep")] * 2,
        (".", "."),
    ]
    assert nodes.parents.tolist() == [-1, 0, 1, 2, 2, 1, 5, 5, 7, 0, 9, 9, 11, 9, 13, 0]
    assert nodes.heads.tolist() == [9, 2, 4, -1, -1, 6, -1, 8, -1, 10, -1, 12, -1, 14, -1, -1]
    assert nodes.spikes.tolist() == [0, 1, 1, 3, 1, 5, 5, 7, 7, 0, 0, 11, 11, 13, 13, 15]


def test_a_word():
    tree = ParseTree("UH", ["yes"])
    assert head_children(tree).tolist() == [0]
    assert [part.tolist() for part in lexicalize(tree)] == [
        ["UH"], ["UH"], ["yes"], [-1], [-1], [0],
    ]  # fmt: skip


def test_deep_trees():
    tree = ParseTree("NN", ["a"])
    for _ in range(5000):
        tree = ParseTree("NP", [tree])
    assert lexicalize(tree).words.tolist() == ["a"] * 5001


tagged = st.recursive(
    st.builds(ParseTree, st.sampled_from("NN VBD , CC -NONE- JJ".split()), st.just(["w"])),
    lambda below: st.builds(
        ParseTree, st.sampled_from("S NP VP X-1".split()), st.lists(below, min_size=1, max_size=4)
    ),
    max_leaves=15,
).map(lambda tree: tree.with_leaves(f"w{i}" for i in range(len(tree.leaves))))


@given(tagged)
def test_spikes_are_words(tree):
    """There is one for each, and all of its nodes have the same head."""
    places, nodes = head_children(tree), lexicalize(tree)
    subtrees = list(tree.subtrees())
    assert len(set(nodes.spikes)) == len(tree.leaves)
    assert {nodes.words[top] for top in set(nodes.spikes)} == set(tree.leaves)
    for number, (node, place) in enumerate(zip(subtrees, places, strict=True)):
        top, parent, head = nodes.spikes[number], nodes.parents[number], nodes.heads[number]
        assert (nodes.tags[top], nodes.words[top]) == (nodes.tags[number], nodes.words[number])
        assert top == (
            number if parent < 0 or nodes.heads[parent] != number else nodes.spikes[parent]
        )
        if node.is_preterminal:
            assert (head, place, nodes.words[number]) == (-1, 0, node.children[0])
        else:
            assert nodes.parents[head] == number
            assert subtrees[head] == node.children[place]
            assert nodes.parents[:head].tolist().count(number) == place


def test_words_need_tags():
    for function in (head_children, lexicalize):
        with pytest.raises(ValueError, match=r"The word 'he' has siblings below 'S'"):
            function(ParseTree.from_brackets("(S (NP (NN a)) he)"))
