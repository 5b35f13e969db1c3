"""Events of random trees, and probabilities of all trees, against plain definitions."""

from collections import Counter
from zlib import crc32

import numpy as np
import pytest
from exact.oracles.lexicalized import Growth, events_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from skdp.context import LexicalizedEventModel, extract_events

COLUMNS = {
    "root1": [],
    "root2": ["t", "l"],
    "unary": ["l_p", "t_h", "w_p"],
    "mod1": ["l_p", "l_h", "dist", "t_h", "w_h"],
    "mod2": ["t", "l", "l_p", "l_h", "dist", "t_h", "w_h"],
}
RULES = {"S": ("left", ["VB", "S"]), "N": ("right", ["n", "N"])}


def first(label, children):
    return 0


def last(label, children):
    return len(children) - 1


def by_rules(label, children):
    """Do what RULES say."""
    if label == "N":
        for wanted in ("n", "N"):
            if wanted in children:
                return len(children) - 1 - children[::-1].index(wanted)
        return len(children) - 1
    for wanted in ("VB", "S") if label == "S" else ():
        if wanted in children:
            return children.index(wanted)
    return 0


HEADS = {"first": ("first", first), "last": ("last", last), "table": (RULES, by_rules)}


def brackets(tree):
    label, below = tree
    return f"({label} {below if isinstance(below, str) else ' '.join(map(brackets, below))})"


tags = st.tuples(st.sampled_from(["VB", "n", "MD", "d"]), st.sampled_from("abc"))
trees = st.recursive(
    tags,
    lambda below: st.tuples(
        st.sampled_from("SNX"), st.lists(below, min_size=1, max_size=4).map(tuple)
    ),
    max_leaves=12,
)


def as_counts(found, event):
    names = COLUMNS[event]
    return Counter((tuple(context[name] for name in names), y) for context, y in found)


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("stop", [True, False])
@settings(max_examples=60, deadline=None)
@given(tree=trees)
def test_events_of_trees(heads, stop, tree):
    rules, find_head = HEADS[heads]
    expected = events_of(tree, find_head, stop=stop)
    for event, names in COLUMNS.items():
        found = extract_events([brackets(tree)], event, head_rules=rules, stop=stop)
        assert found.feature_names == names
        rows = Counter((tuple(x), y) for x, y in zip(found.X, found.y, strict=True))
        assert rows == as_counts(expected.get(event, []), event), event


# Probabilities of trees

TRAINING = [
    "(S (N (n a)) (VB b))", "(S (N (n b)) (S (VB a)) (N (N (n a)) (n b)))", "(N (n a) (n b))",
]  # fmt: skip
WORDS = ["a", "b"]
TRAINING_FIRST = [
    "(S (VB b) (N (n a)))", "(S (S (VB a)) (N (n b)) (N (n b) (N (n a))))", "(N (n a) (n b))",
]  # fmt: skip
OUTCOMES = {  # read off the trees above: first ones by RULES, the others by first children
    "root1": ["S VB", "N n"],
    "root2": ["a", "b"],
    "unary": ["VB", "S", "n"],
    "mod1": ["STOP", "N n", "n n"],
    "mod2": ["a", "b"],
}
EVENT_OF_WIDTH = {1: "root1", 2: "root2", 3: "unary", 5: "mod1", 7: "mod2"}


def weights(event, row, outcomes):
    """Return any probabilities that depend on all of a context; most spikes and sides end soon."""
    raw = [crc32("/".join([event, *row, y]).encode()) % 97 + 1 for y in outcomes]
    for i, y in enumerate(outcomes):
        if y == "STOP" or (event == "unary" and y == row[1]):
            raw[i] += 1000
    return [weight / sum(raw) for weight in raw]


def weights_without_left(event, row, outcomes):
    """Return the same where modifiers are never on the left of a head."""
    if event == "mod1" and row[2].startswith("left"):
        return [float(y == "STOP") for y in outcomes]
    return weights(event, row, outcomes)


def probabilities(choose, event, context, outcomes=OUTCOMES):
    row = [context[name] for name in COLUMNS[event]] or [""]
    return dict(zip(outcomes[event], choose(event, row, outcomes[event]), strict=True))


class Given(ClassifierMixin, BaseEstimator):
    """A classifier with given probabilities."""

    def __init__(self, choose=weights):
        self.choose = choose

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.event_ = EVENT_OF_WIDTH[X.shape[1]]
        return self

    def predict_proba(self, X):
        order = OUTCOMES[self.event_]
        assert sorted(order) == list(self.classes_)
        rows = [dict(zip(order, self.choose(self.event_, x, order), strict=True)) for x in X]
        return np.array([[row[y] for y in self.classes_] for row in rows])


def grown(choose, find_head, n_levels):
    growth = Growth(lambda event, x: probabilities(choose, event, x), find_head, floor=1e-6)
    return growth.trees(n_levels)


def test_probability_of_every_tree():
    """Heads may be drawn that the rules do not find: such trees count for nothing."""
    expected = grown(weights, by_rules, 3)
    assert len(expected) > 500
    model = LexicalizedEventModel(Given(), head_rules=RULES).fit(TRAINING)
    found = np.exp(model.score_samples([brackets(tree) for tree in expected]))
    # Whatever was given up is missing from the trees it would have led to: from none of these.
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-9)
    assert 0.95 < found.sum() < 1.0


def test_probabilities_of_all_trees_sum_to_one():
    """With heads that only generate what the rules find."""
    totals = []
    for n_levels in (1, 2, 3, 4):
        trees = grown(weights_without_left, first, n_levels)
        model = LexicalizedEventModel(Given(weights_without_left), head_rules="first")
        model.fit(TRAINING_FIRST)
        found = np.exp(model.score_samples([brackets(tree) for tree in trees]))
        np.testing.assert_allclose(found, list(trees.values()), rtol=1e-9)
        totals.append(found.sum())
    assert np.all(np.diff(totals) > 0.0)
    assert 0.99 < totals[-1] <= 1.0
