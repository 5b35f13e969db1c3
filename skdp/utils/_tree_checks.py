"""Checks of estimators that learn from sentences and their parse trees, and predict trees."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from skdp.grammar import ParseTree
from skdp.metrics import bracket_scores
from skdp.utils._checking import Check, clone_fitted, interrupt, same_fit, seeded

_RULES = {
    "S": (("NP", "VP"), ("NP", "VP", "RB"), ("VP",)),
    "NP": (("DT", "NN"), ("NN",), ("NP", "PP")),
    "PP": (("IN", "NP"),),
    "VP": (("VB",), ("VB", "NP"), ("VB", "NP", "PP")),
}
"""One child to three; phrases that begin with IN may hang in two places."""

_WORDS = {
    "DT": ("a", "the"),
    "NN": ("dog", "run", "park"),
    "VB": ("run", "see"),
    "IN": ("in",),
    "RB": ("again",),
}


def _grow(label: str, rng: np.random.Generator) -> ParseTree:
    """Draw a tree with a label at its root."""
    if label in _WORDS:
        words = _WORDS[label]
        return ParseTree(label, [words[rng.integers(len(words))]])
    rules = _RULES[label]
    return ParseTree(label, [_grow(child, rng) for child in rules[rng.integers(len(rules))]])


def _samples() -> tuple[list[list[str]], list[ParseTree]]:
    """Return sentences of 1 to 12 words, and their trees; halves and two thirds have all rules."""
    rng = np.random.default_rng(19)
    trees = [_grow("S", rng) for _ in range(18)]
    return [list(tree.leaves) for tree in trees], trees


def _objects(items: list[Any]) -> np.ndarray:
    """Return an array of objects, which may be sequences of equal lengths."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def check_input_forms(estimator: Any) -> None:
    """Check that lists, tuples and arrays mean the same, and that none of them is changed."""
    X, y = _samples()
    before = copy.deepcopy((X, y))
    expected = seeded(estimator).fit(X, y)
    trees = expected.predict(X)
    assert (X, y) == before
    forms: tuple[tuple[Any, Any], ...] = (
        ([tuple(words) for words in X], tuple(y)),
        (tuple(np.array(words) for words in X), _objects(y)),
        (_objects(X), y),
    )
    for sentences, targets in forms:
        fitted = seeded(estimator).fit(sentences, targets)
        same_fit(expected, fitted)
        predicted = fitted.predict(sentences)
        assert predicted == trees
        assert {type(word) for tree in predicted for word in tree.leaves} == {str}
    pairs = [i for i, words in enumerate(X) if len(words) == 2]
    matrix = np.array([X[i] for i in pairs])
    same_fit(
        seeded(estimator).fit([X[i] for i in pairs], [y[i] for i in pairs]),
        seeded(estimator).fit(matrix, [y[i] for i in pairs]),
    )


def check_prediction_of_a_sentence_is_its_own(estimator: Any) -> None:
    """Check that a tree is over its sentence, and depends neither on the others nor on n_jobs."""
    X, y = _samples()
    fitted = seeded(estimator).fit(X, y)
    trees = fitted.predict(X)
    assert [list(tree.leaves) for tree in trees] == X
    order = np.random.default_rng(0).permutation(len(X))
    assert fitted.predict([X[i] for i in order]) == [trees[i] for i in order]
    for i in range(len(X)):
        assert fitted.predict(X[i : i + 1]) == trees[i : i + 1]
    assert clone_fitted(fitted).set_params(n_jobs=2).predict(X) == trees
    same_fit(fitted, seeded(estimator, n_jobs=2).fit(X, y))


def check_score(estimator: Any) -> None:
    """Check that the score is the F1 of the predictions, against true trees and against others."""
    X, y = _samples()
    fitted = seeded(estimator).fit(X, y)
    trees = fitted.predict(X)
    flat = [ParseTree("S", [ParseTree("NN", [word]) for word in words]) for words in X]
    for true in (y, flat):
        assert fitted.score(X, true) == bracket_scores(true, trees).f1
    assert fitted.score(X, trees) == 1.0
    assert fitted.score(X, flat) < fitted.score(X, y)


def check_cross_validation(estimator: Any) -> None:
    """Check that folds index sentences and trees, and that a search does not depend on n_jobs."""
    X, y = _samples()
    grid = {"max_iter": [estimator.max_iter // 2, estimator.max_iter]}
    strict: Any = {"error_score": "raise"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a fold may have no parse for a sentence
        scores = cross_val_score(seeded(estimator), X, y, cv=KFold(3), **strict)
        one, two = (
            GridSearchCV(seeded(estimator), grid, cv=KFold(2), n_jobs=n_jobs, **strict).fit(X, y)
            for n_jobs in (1, 2)
        )
    assert np.all(np.isfinite(scores))
    assert np.all(np.isfinite(one.cv_results_["mean_test_score"]))
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    same_fit(one.best_estimator_, two.best_estimator_)


def check_interruption(estimator: Any) -> None:
    """Check that an interrupted fit is a shorter one, and that another one starts over."""
    X, y = _samples()
    params = {"max_iter": 6, "tol": 0.0}
    straight = seeded(estimator, **params).fit(X, y)
    first = X[:9], y[:9]
    expected = seeded(estimator, **params).fit(*first)
    for n_steps in range(1, straight.n_iter_):
        stopped = seeded(estimator, **params)
        interrupt(stopped, n_steps, X, y)
        assert stopped.n_iter_ == n_steps
        bounds = stopped.lower_bounds_
        assert_array_equal(bounds, straight.lower_bounds_[: len(bounds)])
        stopped = clone_fitted(stopped)
        shorter = seeded(estimator, max_iter=n_steps, tol=0.0).fit(X, y)
        shorter.convergence_ = stopped.convergence_  # a fit that was stopped is not judged
        same_fit(shorter, stopped)
        assert stopped.predict(X) == shorter.predict(X)
        same_fit(straight, clone_fitted(stopped).fit(X, y))
        same_fit(expected, stopped.fit(*first))


def check_pickle_holds_no_sentences(estimator: Any) -> None:
    """Check that a fitted estimator keeps nothing of the length of the corpus."""
    X, y = _samples()
    sizes = [
        len(pickle.dumps(seeded(estimator, tol=0.0).fit(X * n_copies, y * n_copies)))
        for n_copies in (10, 20)
    ]
    # Numbers may take a byte more. What is kept of a sentence takes at least one for each.
    assert sizes[1] - sizes[0] < 10 * len(X)


def check_small_samples(estimator: Any) -> None:
    """Check that sentences of one word or none, trees of one node and a single tree are legal."""
    run, see = (ParseTree("S", [ParseTree("VB", [word])]) for word in ("run", "see"))
    alone = ParseTree.from_brackets("(S (NP (NN dog)) (VP (VB run)) (RB again))")
    for y in ([run, see, run], [ParseTree("VB", ["run"])], [run], [alone]):
        X = [tree.leaves for tree in y]
        fitted = seeded(estimator).fit(X, y)
        assert fitted.predict(X) == y
        assert np.all(np.isfinite(fitted.lower_bounds_))
    assert fitted.score(X, y) == 1.0
    _check_empty_sentences(estimator)


def _check_empty_sentences(estimator: Any) -> None:
    """Check that sentences without words are left out of fits and scores, and have no tree."""
    import pytest

    X, y = _samples()
    mixed: tuple[list[Any], list[Any]] = [[], *X, ()], [None, *y, None]
    fitted = seeded(estimator).fit(*mixed)
    same_fit(seeded(estimator).fit(X, y), fitted)
    assert fitted.predict(mixed[0]) == [None, *fitted.predict(X), None]
    assert fitted.predict([[]]) == [None]
    assert fitted.score(*mixed) == fitted.score(X, y)
    for call in (seeded(estimator).fit, fitted.score):
        with pytest.raises(ValueError, match=r"0 word\(s\)|no words to score"):
            call([[], []], [None, None])
        with pytest.raises(ValueError, match="tree 0 is None, but sentence 0 has words"):
            call(X, [None, *y[1:]])
        with pytest.raises(ValueError, match="tree 0 and sentence 0 differ in their words"):
            call([[], *X[1:]], y)


def check_seeds(estimator: Any) -> None:
    """Check that seeds may be ints, RandomStates and Generators; equal ones give equal fits."""
    X, y = _samples()
    for make in (int, np.random.RandomState, np.random.default_rng):
        first, second, other = (
            clone(estimator).set_params(random_state=make(seed)).fit(X, y) for seed in (3, 3, 4)
        )
        same_fit(first, second)
        assert first.predict(X) == second.predict(X)
        assert first.lower_bound_ != other.lower_bound_


def check_bound_never_falls(estimator: Any) -> None:
    """Check that the bound is that of the last iteration, and falls only by merges."""
    fitted = seeded(estimator).fit(*_samples())
    assert len(fitted.lower_bounds_) > 1
    if getattr(estimator, "inference", None) != "split-merge":
        assert np.all(np.diff(fitted.lower_bounds_) >= 0.0)
    assert fitted.lower_bound_ == fitted.lower_bounds_[-1]
    assert fitted.n_iter_ <= fitted.max_iter


TREE_CHECKS: tuple[Check, ...] = (
    check_input_forms,
    check_prediction_of_a_sentence_is_its_own,
    check_score,
    check_cross_validation,
    check_interruption,
    check_pickle_holds_no_sentences,
    check_small_samples,
    check_seeds,
    check_bound_never_falls,
)
