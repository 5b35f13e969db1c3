"""Lexicalized events and head rules: mistakes and their messages."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from skdp.context import LexicalizedEventModel, extract_events
from skdp.grammar import ParseTree, head_children

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


TABLE = r"""
events(TREE) -> TypeError: trees must be a list...a single tree as a list
events(ParseTree.from_brackets(TREE)) -> TypeError: a list of one
events(3) -> TypeError: trees must be a list...got int
events([]) -> trees must hold at least one tree
events([TREE, None]) -> TypeError: Tree 1 must be a ParseTree...NoneType
events([TREE, '']) -> Tree 1: The text must hold one tree
events(['()']) -> Tree 0: ...empty
events(['(S a b)']) -> Tree 0: The word 'b' has siblings
events(['a b']) -> Tree 0: ...outside of brackets
events([TREE, '(S (NN a) b)'])
    Tree 1: The word 'b' has siblings below 'S': every word must be the only child
events([['a', 'b']]) -> TypeError: Tree 0 must be a ParseTree...got list
events(event='mod3') -> event must be one of root1...mod3
events(event=$) for $ in None | ['mod1'] -> event must be one of...$
events(stop='yes') -> stop must be True or False...yes
events(event=$) for $ in 'mod_sem' | 'head_sem' -> event=$ needs annotations
annotated($) for $ in [] | {} -> annotations must be a list...1 trees
annotated($) for $ in [PAIRS[:3]] | [{}] | [[]], event='root1' -> tree 0 must be a list of 5 pairs
replaced($) for $ in (['s'], 'a') | ('s', {}) | ('s', 1) | 'sa' | ('s', 'a', 'b')
    TypeError: node 4 of tree 0 must be a pair of str
replaced(($)) for $ in 's', '' | 's', 'a b' | 's ', 'a' -> must not be empty or have white space
events(head_rules='magerman') -> Head rules must...mager
heads($) for $ in 3 | np.arange(3) -> Head rules must be 'collins', 'first', 'last' or
heads({'S': $}) for $ in ['VP'] | ('left', 'VP') | ('up', ['VP']) | ('left', [1]) |
        ('left', [(1,)]) | [] | [('left',)] | None -> head rule of 'S' must be
heads({1: ('left', [])}) -> labels of head rules must be str
head_children(TREE) -> TypeError: tree must be a ParseTree...from_brackets
lexicalize(TREE) -> TypeError: tree must be a ParseTree...from_brackets
model(classifier=DummyClassifier) -> TypeError: DummyClassifier...write
model(classifier=DecisionTreeRegressor())
    'classifier' parameter of LexicalizedEventModel...predict_proba
model(classifier=Levels([[0]])) -> parameter levels of classifier must be None or 'auto'
model(head_rules={'S': 1}) -> head rule of 'S' must be
model((t for t in [TREE])) -> TypeError: pass list(X)
model([]) -> X must hold at least one tree
model(TREE) -> TypeError: X must be a list...a single tree as a list
model([TREE, '(S (NP (NN (NN a) (NN b))) (VP (VB b)))'])
    Tree 1: a phrase has the label 'NN', which is the tag of its head
model().score([TREE, '(S (NP (NN (NN a))) (VP (VB b)))']) -> Tree 1: a phrase has the label 'NN'
LexicalizedEventModel(DummyClassifier()).score([TREE]) -> NotFittedError
model().score_samples([]) -> X must hold at least one tree
model({TREE}) -> TypeError: X must be a list...got set
model().fit(['(S a b)']) -> siblings
model({TREE: 1}) -> TypeError: X must be a list...got dict
events({TREE}) -> TypeError: trees must be a list...got set
model(np.array(TREE)) -> TypeError: X must be a list...got ndarray
model(np.ma.masked_array([TREE])) -> X must not be a masked
events(event=VAST) -> event must be one of...type int
heads({'S': VAST}) -> head rule of 'S' must...type int
model(classifier=Plain()) -> 'classifier'...get_params
model([TREE, '(S (VP (VB c)))'], Anonymous())
    TypeError: classifier must have the attribute classes_ after its fit; Anonymous has none
answered(lambda p: p * np.nan) -> Answers.predict_proba...got nan
answered(lambda p: -p) -> must hold numbers from 0 to 1, got -
answered(lambda p: 9 * p) -> must hold numbers from 0 to 1, got
answered(lambda p: p[$]) for $ in :-1 | :, :-1 | :, 0 -> must have the shape
answered(lambda p: $) for $ in None | p.astype(str) -> classifier: ...must hold real
"""
