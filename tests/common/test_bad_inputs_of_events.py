"""Faults in the use of lexicalized events and head rules are named."""

import numpy as np
import pytest
from bad_inputs import VAST, check_fault, faults
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from skdp.context import LexicalizedEventModel, extract_events
from skdp.grammar import ParseTree, head_children, lexicalize

TREE = "(S (NP (NN a)) (VP (VB b)))"
PAIRS = [("s", "a")] * 5


class Levels(DummyClassifier):
    """A classifier that was given levels."""

    def __init__(self, levels=None):
        super().__init__()
        self.levels = levels


def events(trees=(TREE,), event="mod1", **params):
    return extract_events(trees, event, **params)


def annotated(annotations, event="mod_sem"):
    return events(event=event, annotations=annotations)


def replaced(pair):
    return annotated([[*PAIRS[:4], pair]])


def model(trees=(TREE,), classifier=None, **params):
    return LexicalizedEventModel(classifier or DummyClassifier(), **params).fit(trees)


class Answers(DummyClassifier):
    """A classifier with probabilities of any kind."""

    def __init__(self, change=None):
        super().__init__()
        self.change = change

    def predict_proba(self, X):
        return self.change(super().predict_proba(X))


class Anonymous(DummyClassifier):
    """A classifier that does not tell its classes."""

    def fit(self, X, y):
        super().fit(X, y)
        del self.classes_


class Plain:
    """An object without parameters."""

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.ones((len(X), 1))


def answered(change):
    trees = [TREE, "(S (VP (VB c)))"]
    return model(trees, Answers(change)).score(trees)


def unfitted():
    return LexicalizedEventModel(DummyClassifier())


def heads(rules):
    return head_children(ParseTree.from_brackets(TREE), rules)


@faults(
    # Trees
    ("one tree", lambda: events(TREE), TypeError, "trees must be a list.*a single tree as a list"),
    ("one tree", lambda: events(ParseTree.from_brackets(TREE)), TypeError, "a list of one"),
    ("a number", lambda: events(3), TypeError, "trees must be a list.*got int"),
    ("no trees", lambda: events([]), ValueError, "trees must hold at least one tree"),
    ("no tree", lambda: events([TREE, None]), TypeError, "Tree 1 must be a ParseTree.*NoneType"),
    (
        "an empty tree",
        lambda: events([TREE, ""]),
        ValueError,
        "Tree 1: The text must hold one tree",
    ),
    ("an empty tree", lambda: events(["()"]), ValueError, "Tree 0: .*empty"),
    ("leaves only", lambda: events(["(S a b)"]), ValueError, "Tree 0: The word 'b' has siblings"),
    ("leaves only", lambda: events(["a b"]), ValueError, "Tree 0: .*outside of brackets"),
    (
        "a word with siblings",
        lambda: events([TREE, "(S (NN a) b)"]),
        ValueError,
        "Tree 1: The word 'b' has siblings below 'S': every word must be the only child",
    ),
    ("words", lambda: events([["a", "b"]]), TypeError, "Tree 0 must be a ParseTree.*got list"),
    # Events
    ("another event", lambda: events(event="mod3"), ValueError, "event must be one of root1.*mod3"),
    ("no event", lambda: events(event=None), ValueError, "event must be one of.*None"),
    ("a list of events", lambda: events(event=["mod1"]), ValueError, "event must be one of"),
    ("stop", lambda: events(stop="yes"), ValueError, "stop must be True or False.*yes"),
    (
        "no annotations",
        lambda: events(event="mod_sem"),
        ValueError,
        "event='mod_sem' needs annotations",
    ),
    (
        "no annotations",
        lambda: events(event="head_sem"),
        ValueError,
        "event='head_sem' needs annotations",
    ),
    # Annotations
    ("of no tree", lambda: annotated([]), ValueError, "annotations must be a list.*1 trees"),
    ("a dict", lambda: annotated({}), ValueError, "annotations must be a list"),
    ("too few", lambda: annotated([PAIRS[:3]]), ValueError, "tree 0 must be a list of 5 pairs"),
    ("a dict", lambda: annotated([{}]), ValueError, "tree 0 must be a list of 5 pairs"),
    ("unhashable", lambda: replaced((["s"], "a")), TypeError, "node 4 of tree 0 must be a pair of"),
    ("unhashable", lambda: replaced(("s", {})), TypeError, "node 4 of tree 0 must be a pair of"),
    ("a number", lambda: replaced(("s", 1)), TypeError, "node 4 of tree 0 must be a pair of str"),
    ("a str", lambda: replaced("sa"), TypeError, "node 4 of tree 0 must be a pair of str"),
    ("three", lambda: replaced(("s", "a", "b")), TypeError, "must be a pair of str"),
    ("empty", lambda: replaced(("s", "")), ValueError, "must not be empty or have white space"),
    ("white space", lambda: replaced(("s", "a b")), ValueError, "empty or have white space"),
    ("white space", lambda: replaced(("s ", "a")), ValueError, "empty or have white space"),
    ("in vain", lambda: annotated([[]], event="root1"), ValueError, "tree 0 must be a list of 5"),
    # Head rules
    (
        "another name",
        lambda: events(head_rules="magerman"),
        ValueError,
        "Head rules must.*mager",
    ),
    ("a number", lambda: heads(3), ValueError, "Head rules must be 'collins', 'first', 'last' or"),
    ("an array", lambda: heads(np.arange(3)), ValueError, "Head rules must be"),
    ("a bare list", lambda: heads({"S": ["VP"]}), ValueError, "head rule of 'S' must be"),
    ("labels", lambda: heads({"S": ("left", "VP")}), ValueError, "head rule of 'S' must be"),
    ("direction", lambda: heads({"S": ("up", ["VP"])}), ValueError, "head rule of 'S' must be"),
    ("a number", lambda: heads({"S": ("left", [1])}), ValueError, "head rule of 'S' must be"),
    ("numbers", lambda: heads({"S": ("left", [(1,)])}), ValueError, "head rule of 'S' must be"),
    ("no rules", lambda: heads({"S": []}), ValueError, "head rule of 'S' must be"),
    ("a pass of one", lambda: heads({"S": [("left",)]}), ValueError, "head rule of 'S' must be"),
    ("None", lambda: heads({"S": None}), ValueError, "head rule of 'S' must be"),
    ("a label", lambda: heads({1: ("left", [])}), ValueError, "labels of head rules must be str"),
    ("text", lambda: head_children(TREE), TypeError, "tree must be a ParseTree.*from_brackets"),
    ("text", lambda: lexicalize(TREE), TypeError, "tree must be a ParseTree.*from_brackets"),
    # The model
    ("a class", lambda: model(classifier=DummyClassifier), TypeError, "DummyClassifier.*write"),
    (
        "a regressor",
        lambda: model(classifier=DecisionTreeRegressor()),
        ValueError,
        "'classifier' parameter of LexicalizedEventModel.*predict_proba",
    ),
    (
        "its own levels",
        lambda: model(classifier=Levels([[0]])),
        ValueError,
        "parameter levels of classifier must be None or 'auto'",
    ),
    ("rules", lambda: model(head_rules="frist"), ValueError, "'head_rules' parameter.*frist"),
    ("rules", lambda: model(head_rules={"S": 1}), ValueError, "head rule of 'S' must be"),
    ("a generator", lambda: model(t for t in [TREE]), TypeError, r"pass list\(X\)"),
    ("no trees", lambda: model([]), ValueError, "X must hold at least one tree"),
    ("one tree", lambda: model(TREE), TypeError, "X must be a list.*a single tree as a list"),
    (
        "a phrase like a tag",
        lambda: model([TREE, "(S (NP (NN (NN a) (NN b))) (VP (VB b)))"]),
        ValueError,
        "Tree 1: a phrase has the label 'NN', which is the tag of its head",
    ),
    (
        "a phrase like a tag",
        lambda: model().score([TREE, "(S (NP (NN (NN a))) (VP (VB b)))"]),
        ValueError,
        "Tree 1: a phrase has the label 'NN'",
    ),
    (
        "no model",
        lambda: LexicalizedEventModel(DummyClassifier()).score([TREE]),
        NotFittedError,
        "",
    ),
    ("no trees", lambda: model().score_samples([]), ValueError, "X must hold at least one tree"),
    ("no order", lambda: model({TREE}), TypeError, "X must be a list.*got set"),
    ("by name", lambda: model({TREE: 1}), TypeError, "X must be a list.*got dict"),
    ("no order", lambda: events({TREE}), TypeError, "trees must be a list.*got set"),
    ("a scalar", lambda: model(np.array(TREE)), TypeError, "X must be a list.*got ndarray"),
    ("masked", lambda: model(np.ma.masked_array([TREE])), ValueError, "X must not be a masked"),
    ("a vast event", lambda: events(event=VAST), ValueError, "event must be one of.*type int"),
    ("a vast rule", lambda: heads({"S": VAST}), ValueError, "head rule of 'S' must.*type int"),
    ("no parameters", lambda: model(classifier=Plain()), ValueError, "'classifier'.*get_params"),
    (
        "no classes",
        lambda: model([TREE, "(S (VP (VB c)))"], Anonymous()),
        TypeError,
        "classifier must have the attribute classes_ after its fit; Anonymous has none",
    ),
    # Probabilities
    ("NaN", lambda: answered(lambda p: p * np.nan), ValueError, "Answers.predict_proba.*got nan"),
    (
        "negative",
        lambda: answered(lambda p: -p),
        ValueError,
        "must hold numbers from 0 to 1, got -",
    ),
    (
        "above 1",
        lambda: answered(lambda p: 9 * p),
        ValueError,
        "must hold numbers from 0 to 1, got",
    ),
    ("a row less", lambda: answered(lambda p: p[:-1]), ValueError, "must have the shape"),
    ("a class less", lambda: answered(lambda p: p[:, :-1]), ValueError, "must have the shape"),
    ("no classes", lambda: answered(lambda p: p[:, 0]), ValueError, "must have the shape"),
    ("nothing", lambda: answered(lambda p: None), ValueError, "classifier: .*must hold real"),
    ("text", lambda: answered(lambda p: p.astype(str)), ValueError, "classifier: .*must hold real"),
)
def test_faults_are_named(fault):
    check_fault(fault)


def test_a_failed_fit_changes_nothing():
    fitted = model()
    before = fitted.classifiers_
    with pytest.raises(ValueError, match="siblings"):
        fitted.fit(["(S a b)"])
    assert fitted.classifiers_ is before


def test_what_is_fine():
    """Labels without rules, phrases like the tag of another word, words like outcomes."""
    unknown = "(ZZ (YY (XX a)) (WW b))"
    assert head_children(ParseTree.from_brackets(unknown)).tolist() == [0, 0, 0, 0]
    assert len(events([unknown]).y) == 5
    assert np.isfinite(
        model(["(S (VB (NN a)) (VP (VB b)))"]).score(["(S (VB (NN a)) (VP (VB b)))"])
    )
    assert events(["(S (NP (NN STOP)) (VP (VB b)))"], "mod2").y.tolist() == ["STOP"]
    assert annotated([[None, *PAIRS[1:]]]).X[0, 0] == "-"
    assert annotated([tuple(map(list, PAIRS))]).y.tolist()[0] == "s a"
    assert answered(lambda p: p.tolist()) == answered(lambda p: p)
    assert np.isfinite(answered(lambda p: (p + 1e-7).astype(np.float32)))
    assert len(events(iter([TREE])).y) == 7
