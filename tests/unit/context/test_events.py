"""Events of trees, by hand from table 2.1 of the source."""

import numpy as np
import pytest
from refusals.events import PAIRS, annotated, answered, model

from skdp.context import extract_events
from skdp.grammar import ParseTree, head_children

TREE = (
    "(S (NP (PRP she)) (ADVP (RB often))"
    " (VP (VBD saw) (SBAR (IN that) (S (VP (VBD rained)))) (NP (DT the) (NN sun))) (. .))"
)
EXPECTED = {
    "root1": [("S VBD",)],
    "root2": [("VBD", "S", "saw")],
    "unary": [
        ("S", "VBD", "saw", "VP"),
        ("NP", "PRP", "she", "PRP"),
        ("ADVP", "RB", "often", "RB"),
        ("VP", "VBD", "saw", "VBD"),
        ("SBAR", "IN", "that", "IN"),
        ("S", "VBD", "rained", "VP"),
        ("VP", "VBD", "rained", "VBD"),
        ("NP", "NN", "sun", "NN"),
    ],
    "mod2": [
        ("RB", "ADVP", "S", "VP", "left,adjacent", "VBD", "saw", "often"),
        ("PRP", "NP", "S", "VP", "left", "VBD", "saw", "she"),
        (".", ".", "S", "VP", "right,adjacent", "VBD", "saw", "."),
        ("IN", "SBAR", "VP", "VBD", "right,adjacent", "VBD", "saw", "that"),
        ("NN", "NP", "VP", "VBD", "right,verb", "VBD", "saw", "sun"),
        ("VBD", "S", "SBAR", "IN", "right,adjacent", "IN", "that", "rained"),
        ("DT", "DT", "NP", "NN", "left,adjacent", "NN", "sun", "the"),
    ],
}
"""Modifiers, mod1, are enumerated in tests/exact/context."""

EVENTS = [*EXPECTED, "mod1"]
RULES = {"SBAR": ("left", ["IN"]), "S": ("left", ["VP"]), "NP": ("right", ["NN", "PRP"])}

LEVELS = {
    "root1": [],
    "root2": [["t"], ["l"]],
    "unary": [["l_p"], ["t_h"], ["w_p"]],
    "mod1": [["l_p"], ["l_h", "dist"], ["t_h"], ["w_h"]],
    "mod2": [["t"], ["l", "l_p", "l_h", "dist"], ["t_h"], ["w_h"]],
}
ANNOTATED_LEVELS = {  # table 2.1, with sa_h for the second sa_p of mod1
    "root1": [["s"], ["sa"]],
    "root2": [["t", "s"], ["l"], ["sa"]],
    "head_sem": [["s_p", "l_p"], ["t_h", "sa_p"], ["w_h"]],
    "unary": [["s", "l_p"], ["s_p", "t_h", "sa_h"], ["sa_p"], ["w_p"]],
    "mod_sem": [["s_p", "l_p"], ["s_h", "l_h", "dist"], ["t_h", "sa_p", "sa_h"], ["w_h"]],
    "mod1": [["l_p", "s"], ["l_h", "s_p", "s_h", "dist"], ["t_h", "sa_m", "sa_p", "sa_h"], ["w_h"]],
    "mod2": [
        ["t", "s"],
        ["l", "l_p", "l_h", "s_p", "s_h", "dist"],
        ["t_h", "sa_m", "sa_p", "sa_h"],
        ["w_h"],
    ],
}

SCENE = "(S (NP (DT a) (NN lamp)) (VP (VBZ is) (PP (IN on) (NN table))))"
ABOUT = [
    ("Focus", "on(lamp,table)"),
    ("target", "lamp"),
    None,
    ("target2", "lamp2"),
    ("Focus2", "on2"),
    ("Focus3", "on3"),
    ("base", "table"),
    ["base2", "table2"],
    ("base3", "table3"),
]


def rows(events):
    return [(*x, y) for x, y in zip(events.X, events.y, strict=True)]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("rules", ["collins", RULES])
def test_by_hand(event, rules):
    events = extract_events([TREE], event, head_rules=rules)
    expected = EXPECTED.get(event, rows(events))
    assert rows(events) == expected
    assert events.X.dtype == events.y.dtype == object
    names = events.feature_names
    assert [[names[i] for i in level] for level in events.levels] == LEVELS[event]
    assert events.tree_index.tolist() == [0] * len(events.y)
    without_stop = extract_events([TREE], event, head_rules=rules, stop=False)
    assert rows(without_stop) == [row for row in expected if row[-1] != "STOP"]


@pytest.mark.parametrize("event", ANNOTATED_LEVELS)
def test_levels_with_annotations(event):
    events = extract_events([SCENE], event, annotations=[ABOUT])
    names = events.feature_names
    assert [[names[i] for i in level] for level in events.levels] == ANNOTATED_LEVELS[event]
    assert [i for level in events.levels for i in level] == list(range(events.X.shape[1]))


def test_annotated_by_hand():
    def find(event):
        return rows(extract_events([SCENE], event, annotations=[ABOUT]))

    focus = ("Focus", "on(lamp,table)")
    assert find("root1") == [(*focus, "S VBZ")]
    assert find("root2") == [("VBZ", "Focus", "S", "on(lamp,table)", "is")]
    assert find("head_sem")[:2] == [
        ("Focus", "S", "VBZ", "on(lamp,table)", "is", "Focus2 on2"),
        ("target", "NP", "NN", "lamp", "lamp", "target2 lamp2"),
    ]
    assert find("unary")[:2] == [
        ("Focus2", "S", "Focus", "VBZ", "on2", "on(lamp,table)", "is", "VP"),
        ("target2", "NP", "target", "NN", "lamp2", "lamp", "lamp", "NN"),
    ]
    at_root = ("Focus", "S", "Focus2", "VP")
    last = ("VBZ", "on(lamp,table)", "on2", "is")
    assert find("mod_sem")[:4] == [
        (*at_root, "left,adjacent", *last, "target lamp"),
        (*at_root, "left", *last, "STOP"),
        (*at_root, "right,adjacent", *last, "STOP"),
        ("target", "NP", "target2", "NN", "left,adjacent", "NN", "lamp", "lamp2", "lamp", "- -"),
    ]
    # Modifiers end with mod_sem, and labels are given what they are about.
    np_of_s = ("VBZ", "lamp", "on(lamp,table)", "on2", "is")
    assert find("mod1")[:2] == [
        ("S", "target", "VP", "Focus", "Focus2", "left,adjacent", *np_of_s, "NP NN"),
        ("NP", "-", "NN", "target", "target2", "left,adjacent",
         "NN", "-", "lamp", "lamp2", "lamp", "DT DT"),
    ]  # fmt: skip
    assert len(find("mod1")) == len(find("mod2")) == 4
    assert len(find("mod_sem")) == 4 + 2 * 4
    assert find("mod2")[0] == (
        "NN", "target", "NP", "S", "VP", "Focus", "Focus2", "left,adjacent", *np_of_s, "lamp",
    )  # fmt: skip


def test_several_trees():
    """The events of a forest are those of its trees in turn."""
    trees = [TREE, SCENE, "(UH yes)", TREE]
    for event in EVENTS:
        alone = [extract_events([tree], event) for tree in trees]
        events = extract_events(trees, event)
        assert rows(events) == [row for found in alone for row in rows(found)]
        index = [i for i, found in enumerate(alone) for _ in found.y]
        assert events.tree_index.tolist() == index


def test_a_word():
    found = {event: rows(extract_events(["(UH yes)"], event)) for event in EVENTS}
    assert found == {
        "root1": [("UH UH",)], "root2": [("UH", "UH", "yes")], "unary": [], "mod1": [], "mod2": [],
    }  # fmt: skip
    events = extract_events(["(UH yes)"], "mod1")
    assert events.X.shape == (0, 5)
    assert events.y.shape == (0,)


def test_forms_of_trees():
    trees = [ParseTree.from_brackets(text) for text in (TREE, SCENE)]
    array = np.empty(2, dtype=object)
    array[:] = trees
    expected = rows(extract_events([TREE, SCENE], "mod2"))
    unlabelled = f"( {TREE} )"
    for form in (tuple(trees), array, [TREE, trees[1]], iter(trees), [unlabelled, SCENE]):
        assert rows(extract_events(form, "mod2")) == expected


def test_verbs():
    """Labels of the Penn Treebank, with function tags, and of Universal Dependencies."""
    for tag, is_verb in {
        "VB": True, "VBZ": True, "MD": True, "VERB": True, "AUX": True, "VBG-X": True,
        "NN": False, "TO": False, "PRT": False,
    }.items():  # fmt: skip
        events = extract_events([f"(X (H h) (Y (Z ({tag} w))) (N n))"], "mod1", head_rules="first")
        dists = [x[2] for x, y in zip(events.X, events.y, strict=True) if y == "N N"]
        assert dists == ["right,verb" if is_verb else "right"], tag


def test_labels_are_outcomes_as_they_are():
    events = extract_events(["(S (NP-SBJ (NN-X a)) (VP=2 (VB b)))"], "mod1")
    assert rows(events)[0] == ("S", "VP=2", "left,adjacent", "VB", "b", "NP-SBJ NN-X")


def test_deep_trees():
    tree = ParseTree("NN", ["a"])
    for _ in range(3000):
        tree = ParseTree("NP", [ParseTree("VB", ["b"]), tree])
    assert len(extract_events([tree], "mod1").y) == 9000


def test_brackets_among_words_have_two_spellings():
    text = "(S (NP (NN a) (PRN (-LRB- -LRB-) (NN b) (-RRB- -RRB-))) (VB c))"
    tree = ParseTree.from_brackets(text).with_leaves(["a", "(", "b", ")", "c"])
    for name in ("root2", "mod2"):
        read, made = extract_events([text], name), extract_events([tree], name)
        np.testing.assert_array_equal(read.y, made.y)
        np.testing.assert_array_equal(read.X, made.X)


def test_odd_events():
    """Labels without rules, phrases like the tag of another word, words like outcomes."""
    unknown = "(ZZ (YY (XX a)) (WW b))"
    assert head_children(ParseTree.from_brackets(unknown)).tolist() == [0, 0, 0, 0]
    assert len(extract_events([unknown], "mod1").y) == 5
    odd = ["(S (VB (NN a)) (VP (VB b)))"]
    assert np.isfinite(model(odd).score(odd))
    stop = extract_events(["(S (NP (NN STOP)) (VP (VB b)))"], "mod2")
    assert stop.y.tolist() == ["STOP"]
    assert annotated([[None, *PAIRS[1:]]]).X[0, 0] == "-"
    assert annotated([tuple(map(list, PAIRS))]).y.tolist()[0] == "s a"
    assert answered(lambda p: p.tolist()) == answered(lambda p: p)
    assert np.isfinite(answered(lambda p: (p + 1e-7).astype(np.float32)))
