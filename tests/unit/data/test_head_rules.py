import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdp.data._head_rules import HeadFinder, category_of
from skdp.grammar import COLLINS_HEAD_RULES, ParseTree, head_children

# Phrases of every category. Asterisks mark their heads, found by hand.
PHRASES = [
    # Nouns: the last one, before phrases, numbers and adjectives
    "NP: DT *NN",
    "NP: DT JJ NN *NNS",
    "NP: NNP *NNPS",
    "NP: *NN PP",
    "NP: NNP *POS",
    "NP: *NP PP SBAR",
    "NP: *NP , NP ,",
    "NP: DT *CD",
    "NP: *$ CD -NONE-",
    "NP: DT *JJ",
    "NP: DT JJR *NN",
    "NP: *PRP",
    "NP: DT *QP",
    "NX: JJ *NNS",
    "NAC: *NNP , NNP",
    "QP: IN *$ CD",
    "QP: *CD CD",
    # Verbs: the first, so auxiliaries have verb phrases as their modifiers
    "VP: *VBD NP PP",
    "VP: *MD VP",
    "VP: *TO VP",
    "VP: ADVP *VBZ ADJP",
    "VP: *VBN CC VBN NP",
    "VP: *VP CC VP",
    "VP: *ADJP PP",
    # Clauses
    "S: NP *VP .",
    "S: PP , NP ADVP *VP .",
    "S: *S , CC S .",
    "S: NP *ADJP",
    "S: *NP PP",
    "SINV: `` S '' *VBD NP",
    "SINV: ADJP *VBZ NP",
    "SQ: *VBZ NP VP .",
    "SBARQ: WHNP *SQ .",
    "SBAR: *IN S",
    "SBAR: *WHNP S",
    "SBAR: -NONE- *S",
    "SBAR: ADVP *IN S",
    "RRC: ADVP *VP",
    "ROOT: *S",
    "ROOT: *NP .",
    "ROOT: `` *SINV ''",
    "TOP: *SBARQ",
    # Others
    "PP: *IN NP",
    "PP: *TO NP",
    "PP: IN *IN NP",
    "PP: ADVP *IN NP",
    "PP: *VBG PP",
    "PP: *PP CC PP",
    "ADJP: RB *JJ PP",
    "ADJP: NP *JJ",
    "ADJP: *JJ CC JJ",
    "ADVP: RB *RB",
    "ADVP: NP *IN",
    "ADVP: *RBR PP",
    "WHNP: *WDT NN",
    "WHNP: *WP",
    "WHNP: *WHADJP NNS",
    "WHPP: *IN WHNP",
    "WHADVP: *WRB",
    "WHADJP: *WRB JJ",
    "PRT: *RP",
    "CONJP: RB *RB IN",
    "INTJ: RB *UH .",
    "LST: *LS :",
    "LST: *LS .",
    "PRN: , *S ,",
    "PRN: -LRB- *NP -RRB-",
    "UCP: *NP CC ADJP",
    "UCP: NP *ADJP",
    "FRAG: NP *PP .",
    "X: *NP VP",
]


def find(phrase, rules="collins"):
    label, _, children = phrase.partition(": ")
    return HeadFinder(rules).find(label, children.split())


@pytest.mark.parametrize("phrase", PHRASES)
def test_collins(phrase):
    children = phrase.split()[1:]
    assert children[find(phrase.replace("*", ""))].startswith("*")


def test_every_category_has_a_phrase():
    assert {phrase.partition(":")[0] for phrase in PHRASES} == {*COLLINS_HEAD_RULES, "X"}


@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("NP", "NP"),
        ("NP-SBJ", "NP"),
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("NP-LOC=2", "NP"),
        ("ADVP|PRT", "ADVP"),
        ("-NONE-", "-NONE-"),
        ("-LRB-", "-LRB-"),
        ("=", "="),
        ("PRP$", "PRP$"),
    ],
)
def test_categories(label, category):
    assert category_of(label) == category


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


def test_the_table_is_not_changed():
    before = repr(COLLINS_HEAD_RULES)
    head_children(ParseTree.from_brackets("(S (NP (NN a)) (VP (VB b)))"))
    assert repr(COLLINS_HEAD_RULES) == before


def test_every_wanted_category_is_found():
    """A rule names what a child can be called."""
    for label, rule in COLLINS_HEAD_RULES.items():
        for _, wanted in rule if isinstance(rule, list) else [rule]:
            for group in wanted:
                for name in group if isinstance(group, tuple) else (group,):
                    assert category_of(name) == name
                    assert find(f"{label}: ZZ {name} ZZ") == 1, (label, name)
