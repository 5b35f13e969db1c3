"""Lexicalized events and head rules: mistakes and their messages."""

import numpy as np
from sklearn.dummy import DummyClassifier
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


def heads(rules):
    return head_children(ParseTree.from_brackets(TREE), rules)
