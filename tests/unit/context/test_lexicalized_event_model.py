import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdp.context import (
    LexicalizedEventModel,
    extract_events,
)
from skdp.grammar import ParseTree

TREES = [
    "(S (NP (PRP she)) (VP (VBD saw) (NP (NN fish))))",
    "(S (NP (PRP he)) (VP (VBD ate) (NP (NN fish)) (PP (IN with) (NP (NN salt)))))",
    "(S (NP (PRP he)) (VP (VBD saw) (NP (NP (NN salt)) (PP (IN with) (NP (NN fish))))))",
    "(S (NP (NN fish)) (VP (VBD saw) (NP (PRP she))))",
]
EVENTS = ("root1", "root2", "unary", "mod1", "mod2")


class Counts(ClassifierMixin, BaseEstimator):
    """Shares of outcomes, given the columns of the first level, with one more of each."""

    def __init__(self, levels=None):
        self.levels = levels

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.counts_ = {}
        for x, code in zip(self._context(X), codes, strict=True):
            self.counts_.setdefault(x, np.ones(len(self.classes_)))[code] += 1.0
        return self

    def _context(self, X):
        return [tuple(x[self.levels[0]]) for x in X]

    def predict_proba(self, X):
        uniform = np.ones(len(self.classes_))
        rows = np.array([self.counts_.get(x, uniform) for x in self._context(X)])
        return rows / rows.sum(axis=1, keepdims=True)


class ScoresOutcomes(Counts):
    """The same, asked for the outcomes alone."""

    def score_samples(self, X, y):
        self.n_scored_ = len(y)
        columns = np.searchsorted(self.classes_, y)
        return np.log(super().predict_proba(X)[np.arange(len(y)), columns])

    def predict_proba(self, X):
        raise AssertionError("not asked")


def test_levels_are_those_of_the_events():
    classifier = Counts()
    model = LexicalizedEventModel(classifier).fit(TREES)
    assert classifier.levels is None
    assert tuple(model.classifiers_) == EVENTS
    for event in EVENTS[1:]:
        assert model.classifiers_[event].levels == extract_events(TREES, event).levels
    # There is no context of the root, and all roots here are alike.
    assert isinstance(model.classifiers_["root1"], DummyClassifier)
    assert not hasattr(model.classifiers_["root1"], "score_samples")
    root = extract_events(TREES, "root1")
    assert (model.classifiers_["root1"].predict_proba(np.zeros((len(root.y), 1))) == 1.0).all()
    roots = LexicalizedEventModel(classifier).fit([*TREES, "(NP (NN fish))"])
    assert roots.classifiers_["root1"].levels == [[0]]


def test_scores():
    model = LexicalizedEventModel(Counts()).fit(TREES)
    scores = model.score_samples(TREES)
    assert np.all(np.isfinite(scores))
    assert np.all(scores < 0.0)
    n_words = sum(len(ParseTree.from_brackets(tree).leaves) for tree in TREES)
    assert model.score(TREES) == pytest.approx(scores.sum() / n_words, rel=1e-12)
    assert model.score(TREES, None) == model.score(TREES)
    # A tree's score is its own.
    for i, tree in enumerate(TREES):
        np.testing.assert_allclose(model.score_samples([tree]), scores[i : i + 1], rtol=1e-12)
    order = [2, 0, 3, 3]
    np.testing.assert_allclose(
        model.score_samples([TREES[i] for i in order]), scores[order], rtol=1e-12
    )
    parsed = [ParseTree.from_brackets(tree) for tree in TREES]
    np.testing.assert_array_equal(model.score_samples(parsed), scores)
    again = LexicalizedEventModel(Counts()).fit([TREES[i] for i in (3, 1, 0, 2)])
    np.testing.assert_allclose(again.score_samples(TREES), scores, rtol=1e-12)


def test_outcomes_that_no_classifier_knows():
    trees = [
        TREES[0],
        TREES[0].replace("fish", "whales"),
        TREES[0].replace("NP", "QP"),
        TREES[0].replace("saw", "heard"),
        "(NP (NN fish))",
        TREES[0].replace("(NN fish)", "(DT a) (NN fish)"),
        TREES[0].replace("(NP (NN fish))", "(VP (VP (VBD saw)))"),  # seen as a head only
    ]
    for classifier in (Counts(), ScoresOutcomes()):
        scores = LexicalizedEventModel(classifier).fit(TREES).score_samples(trees)
        assert np.isfinite(scores).tolist() == [True] + [False] * 6
        assert np.all(scores[1:] == -np.inf)


def test_score_samples_of_classifiers_are_used():
    expected = LexicalizedEventModel(Counts()).fit(TREES).score_samples(TREES)
    model = LexicalizedEventModel(ScoresOutcomes()).fit(TREES)
    np.testing.assert_allclose(model.score_samples(TREES), expected, rtol=1e-12)
    unknown = TREES[0].replace("fish", "whales")
    assert model.score_samples([unknown]).tolist() == [-np.inf]
    assert model.classifiers_["mod2"].n_scored_ == 1  # she, not whales


def test_probabilities_are_asked_in_blocks(monkeypatch):
    expected = LexicalizedEventModel(Counts()).fit(TREES).score_samples(TREES * 9)
    monkeypatch.setattr("skdp.context._lexicalized_event_model.BLOCK", 20)
    model = LexicalizedEventModel(Counts()).fit(TREES)
    np.testing.assert_array_equal(model.score_samples(TREES * 9), expected)


def test_kinds_of_events_that_never_occur():
    model = LexicalizedEventModel(Counts()).fit(["(UH yes)", "(RB no)"])
    assert tuple(model.classifiers_) == ("root1", "root2")
    assert np.isfinite(model.score_samples(["(UH yes)"])).all()
    assert model.score_samples([TREES[0]]).tolist() == [-np.inf]
    bare = LexicalizedEventModel(Counts()).fit(["(X (UH yes))"])
    assert tuple(bare.classifiers_) == ("root1", "root2", "unary", "mod1")
    assert bare.score_samples(["(X (UH yes))"]).tolist() == [0.0]


def test_parses_are_ranked():
    """After ate, prepositional phrases were the verb's; after saw, the noun's."""
    low = "(S (NP (PRP {})) (VP (VBD {}) (NP (NP (NN fish)) (PP (IN with) (NP (NN salt))))))"
    high = "(S (NP (PRP {})) (VP (VBD {}) (NP (NN fish)) (PP (IN with) (NP (NN salt)))))"
    seen = [low.format("he", "saw"), high.format("he", "ate"), TREES[0]] * 5
    classifier = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(C=100.0))
    model = LexicalizedEventModel(classifier).fit(seen)
    for verb, best in (("saw", 0), ("ate", 1)):
        scores = model.score_samples([low.format("she", verb), high.format("she", verb)])
        assert np.argmax(scores) == best


def test_head_rules():
    model = LexicalizedEventModel(Counts(), head_rules="first").fit(TREES)
    assert set(model.classifiers_["root2"].classes_) == {"fish", "he", "she"}
    table = {"S": ("left", ["NP"])}
    other = LexicalizedEventModel(Counts(), head_rules=table).fit(TREES)
    assert set(other.classifiers_["root2"].classes_) == {"fish", "he", "she"}
    collins = LexicalizedEventModel(Counts()).fit(TREES)
    assert set(collins.classifiers_["root2"].classes_) == {"ate", "saw"}


def test_model_selection():
    classifier = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    model = LexicalizedEventModel(classifier)
    trees = TREES * 4
    scores = cross_val_score(model, trees, cv=3, error_score="raise")
    assert np.all(np.isfinite(scores))
    assert np.all(scores < 0.0)
    grid = {"classifier__logisticregression__C": [1e-3, 10.0]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(trees)
    assert search.best_params_["classifier__logisticregression__C"] == 10.0


def test_a_fault_of_the_classifier_names_the_event():
    with pytest.raises(ValueError, match="could not convert") as raised:
        LexicalizedEventModel(LogisticRegression()).fit(TREES)
    assert "events 'root2'" in raised.value.__notes__[0]
