"""Rules for heads, and trees whose nodes have the words of their heads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdp.data._parse_tree import HeadFinder, category_of
from skdp.grammar import COLLINS_HEAD_RULES, ParseTree, head_children, lexicalize

PHRASES = """
NP: DT *NN | DT JJ NN *NNS | NNP *NNPS | *NN PP | NNP *POS | *NP PP SBAR | *NP , NP , | DT *CD
NP: *$ CD -NONE- | DT *JJ | DT JJR *NN | *PRP | DT *QP
NX: JJ *NNS
NAC: *NNP , NNP
QP: IN *$ CD | *CD CD
VP: *VBD NP PP | *MD VP | *TO VP | ADVP *VBZ ADJP | *VBN CC VBN NP | *VP CC VP | *ADJP PP
S: NP *VP . | PP , NP ADVP *VP . | *S , CC S . | NP *ADJP | *NP PP
SINV: `` S '' *VBD NP | ADJP *VBZ NP
SQ: *VBZ NP VP .
SBARQ: WHNP *SQ .
SBAR: *IN S | *WHNP S | -NONE- *S | ADVP *IN S
RRC: ADVP *VP
ROOT: *S | *NP . | `` *SINV ''
TOP: *SBARQ
PP: *IN NP | *TO NP | IN *IN NP | ADVP *IN NP | *VBG PP | *PP CC PP
ADJP: RB *JJ PP | NP *JJ | *JJ CC JJ
ADVP: RB *RB | NP *IN | *RBR PP
WHNP: *WDT NN | *WP | *WHADJP NNS
WHPP: *IN WHNP
WHADVP: *WRB
WHADJP: *WRB JJ
PRT: *RP
CONJP: RB *RB IN
INTJ: RB *UH .
LST: *LS : | *LS .
PRN: , *S , | -LRB- *NP -RRB-
UCP: *NP CC ADJP | NP *ADJP
FRAG: NP *PP .
X: *NP VP
"""
"""Phrases of every category; asterisks mark their heads, found by hand. Nouns: the last one, before
phrases, numbers and adjectives. Verbs: the first, so auxiliaries have verb phrases as modifiers."""


def find(phrase, rules="collins"):
    label, _, children = phrase.partition(": ")
    return HeadFinder(rules).find(label, children.split())


def test_collins():
    rows = [line.split(": ", 1) for line in PHRASES.strip().splitlines()]
    assert {label for label, _ in rows} == {*COLLINS_HEAD_RULES, "X"}
    for label, phrases in rows:
        for phrase in phrases.split(" | "):
            head = find(f"{label}: {phrase.replace('*', '')}")
            assert phrase.split()[head].startswith("*"), (label, phrase)


def test_categories():
    labels = "NP NP-SBJ NP-SBJ-1 NP=2 NP-LOC=2 ADVP|PRT -NONE- -LRB- = PRP$".split()
    expected = "NP NP NP NP NP ADVP -NONE- -LRB- = PRP$".split()
    assert list(map(category_of, labels)) == expected


@pytest.mark.parametrize(
    ("phrase", "rules", "head"),
    [
        ("S-TPC: NP-SBJ=1 VP-PRD", "collins", 1),
        ("S: NP VP .", "first", 0),
        ("S: `` NP VP .", "first", 1),
        ("S: -NONE- NP VP .", "first", 1),
        ("S: NP VP .", "last", 1),
        ("S: NP CC NP", "last", 2),
        ("NP: -NONE-", "collins", 0),
        ("PRN: -LRB- , -RRB-", "collins", 0),
        ("UCP: . ,", "collins", 1),
        ("PRN: -LRB- -RRB-", "last", 1),
        # Coordination
        ("NP: NN CC NN", "collins", 0),
        ("NP: NN , NN CC NN", "collins", 2),
        ("NP: NN CC NN CC NN", "collins", 0),
        ("NP: NN , CC NN", "collins", 0),
        ("NP: CC NN", "collins", 1),
        ("NP: , CC NN", "collins", 2),
        ("NP: NN CC JJ NN", "collins", 3),
        ("NP: NN CONJP NNS", "collins", 0),
        ("X: a CC b", {"X": ("right", [])}, 0),
        # Tables
        ("X: a b c", {"X": ("left", ["c", "b"])}, 2),
        ("X: a b c", {"X": ("left", [("c", "b")])}, 1),
        ("X: a b c", {"X": ("right", ["a", "b"])}, 0),
        ("X: a b c", {"X": ("right", [("a", "b")])}, 1),
        ("X: a b c", {"X": [("left", ["d"]), ("right", ["e"])]}, 2),
        ("X: a b c", {"X": [("right", ["d"]), ("left", ["b"])]}, 1),
        ("Y: a b c", {"X": ("right", [])}, 0),
        ("Y: , a b c", {}, 1),
        ("NP: DT NN", {**COLLINS_HEAD_RULES, "NP": ("left", ["DT"])}, 0),
    ],
)
def test_rules(phrase, rules, head):
    assert find(phrase, rules) == head


@given(st.lists(st.sampled_from("NN NP VP CC , -NONE- X VBD".split()), min_size=1, max_size=6))
def test_heads_are_children_that_count(children):
    for rules in ("collins", "first", "last", {"NP": ("right", ["VP", "X"])}):
        finder = HeadFinder(rules)
        for label in (*COLLINS_HEAD_RULES, "other"):
            head = finder.find(label, children)
            assert 0 <= head < len(children)
            if any(child not in (",", "-NONE-") for child in children):
                assert children[head] not in (",", "-NONE-")
            assert finder.find(label, children) == head  # remembered


def test_every_wanted_category_is_found():
    """A rule names what a child can be called."""
    for label, rule in COLLINS_HEAD_RULES.items():
        for _, wanted in rule if isinstance(rule, list) else [rule]:
            for group in wanted:
                for name in group if isinstance(group, tuple) else (group,):
                    assert category_of(name) == name
                    assert find(f"{label}: ZZ {name} ZZ") == 1, (label, name)


SENTENCE = ParseTree.from_brackets(
    "(S (NP-SBJ (NP (DT the) (NN son)) (PP (IN of) (NP (NNP Ada))))"
    " (VP (MD will) (ADVP (RB soon)) (VP (VB sleep))) (. .))"
)


def test_head_children():
    before = repr(COLLINS_HEAD_RULES)
    #         S NP NP DT NN PP IN NP NNP VP MD ADVP RB VP VB .
    places = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    np.testing.assert_array_equal(head_children(SENTENCE), places)
    places[0], places[2] = 0, 0
    np.testing.assert_array_equal(head_children(SENTENCE, "first"), places)
    assert repr(COLLINS_HEAD_RULES) == before


def test_lexicalize():
    nodes = lexicalize(SENTENCE)
    assert nodes.labels.tolist() == [node.label for node in SENTENCE.subtrees()]
    tags = "MD NN NN DT NN IN IN NNP NNP MD MD RB RB VB VB .".split()
    words = "will son son the son of of Ada Ada will will soon soon sleep sleep .".split()
    assert (nodes.tags.tolist(), nodes.words.tolist()) == (tags, words)
    assert nodes.parents.tolist() == [-1, 0, 1, 2, 2, 1, 5, 5, 7, 0, 9, 9, 11, 9, 13, 0]
    assert nodes.heads.tolist() == [9, 2, 4, -1, -1, 6, -1, 8, -1, 10, -1, 12, -1, 14, -1, -1]
    assert nodes.spikes.tolist() == [0, 1, 1, 3, 1, 5, 5, 7, 7, 0, 0, 11, 11, 13, 13, 15]


def test_a_word_and_a_deep_tree():
    tree = ParseTree("UH", ["yes"])
    assert head_children(tree).tolist() == [0]
    found = [part.tolist() for part in lexicalize(tree)]
    assert found == [["UH"], ["UH"], ["yes"], [-1], [-1], [0]]
    for _ in range(5000):
        tree = ParseTree("NP", [tree])
    assert lexicalize(tree).words.tolist() == ["yes"] * 5001


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
        begins = parent < 0 or nodes.heads[parent] != number
        assert top == (number if begins else nodes.spikes[parent])
        if node.is_preterminal:
            assert (head, place, nodes.words[number]) == (-1, 0, node.children[0])
        else:
            assert nodes.parents[head] == number
            assert subtrees[head] == node.children[place]
            assert nodes.parents[:head].tolist().count(number) == place
