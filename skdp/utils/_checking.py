"""Samples and tools of `estimator_checks`, and its checks of models of text and of trees."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_clusterer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils import get_tags

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences
from skdp.data._frames import as_objects
from skdp.emissions import BernoulliEmission
from skdp.grammar import ParseTree
from skdp.inference._trace import Trace
from skdp.metrics import bracket_scores

# Samples, and which estimator accepts which sample.


N_WORDS = 12


def make_documents(n_documents: int = 12, seed: int = 0) -> list[list[list[int]]]:
    """Return documents of one to four segments; every third one has an empty segment."""
    rng = np.random.default_rng(seed)
    documents = []
    for d in range(n_documents):
        lengths = rng.integers(2, 9, size=rng.integers(1, 5))
        if d % 3 == 2:
            lengths[-1] = 0
        half = N_WORDS // 2 * (d % 2)
        documents.append([(half + rng.integers(0, N_WORDS // 2, n)).tolist() for n in lengths])
    return documents


def make_corpus(n_documents: int = 12) -> SegmentedCorpus:
    return SegmentedCorpus.from_documents(make_documents(n_documents), n_features=N_WORDS)


def make_panel(n_sequences: int = 12, seed: int = 0, n_given: int = 0) -> SequencePanel:
    """Return sequences of whole numbers, which suit all emissions but bits, after given steps."""
    rng = np.random.default_rng(seed)
    lengths = [n_given + 1 + 7 * (i % 3) for i in range(n_sequences)]
    return SequencePanel.from_sequences(
        [3 * (rng.random(n) < 0.5) + rng.integers(0, 2, n).astype(float) for n in lengths]
    )


def make_sentences(
    n_sentences: int = 12, seed: int = 0, n_words: int | None = N_WORDS
) -> TokenSequences:
    """Return sentences of one word to four, of two kinds."""
    rng = np.random.default_rng(seed)
    return TokenSequences.from_sequences(
        [(i % 2) * 3 + rng.integers(0, 3, 1 + i % 4) for i in range(n_sentences)], n_words
    )


def takes_bits(estimator: Any) -> bool:
    emission = getattr(estimator, "emission", None)
    return isinstance(emission, BernoulliEmission) or emission == "bernoulli"


def takes_sequences(estimator: Any) -> bool:
    is_of_words = takes_text(estimator) or get_tags(estimator).input_tags.sparse
    return hasattr(estimator, "predict_proba") and not is_of_words


def count_given(estimator: Any) -> int:
    """Return the number of first steps of a sequence that count as given: the emission's lags."""
    return int(getattr(getattr(estimator, "emission", None), "n_lags", 0))


def count_scored_rows(fitted: Any, panel: SequencePanel) -> int:
    """Return the number of rows over which a score is a mean: half of a group, rounded down."""
    if is_clusterer(fitted):
        return int((np.diff(panel.ptr) // 2).sum())
    observed = ~np.isnan(panel.values).all(axis=1)
    places = np.arange(len(panel.values)) - np.repeat(panel.ptr[:-1], np.diff(panel.ptr))
    return int((observed & (places >= count_given(fitted))).sum())


def has_factors(estimator: Any) -> bool:
    """Tell whether features are activities of factors: each in [0, 1], with any sum."""
    return "n_factors" in estimator.get_params(deep=False)


def assert_shares(estimator: Any, shares: Any) -> None:
    """Assert that rows are distributions, or shares of time in which factors are on."""
    if has_factors(estimator):
        assert np.all((shares >= 0.0) & (shares <= 1.0))
    else:
        assert_allclose(shares.sum(axis=1), 1.0)


def takes_text(estimator: Any) -> bool:
    """Tell whether an estimator models sequences of words and has no features."""
    return getattr(estimator, "_sample_kind", None) == "text"


def takes_sentences(estimator: Any) -> bool:
    return getattr(estimator, "_sample_kind", None) == "sentence"


def climbs(estimator: Any) -> bool:
    """Tell whether a fit climbs from some starts, where others draw samples."""
    return "n_init" in estimator.get_params() and not hasattr(estimator, "iter_sweeps")


def make_samples(estimator: Any, n_samples: int = 12) -> Any:
    """Return a corpus, sentences or a panel for the estimator, with gaps if NaN is legal."""
    if takes_sentences(estimator) or takes_text(estimator):
        return make_sentences(n_samples)
    if not takes_sequences(estimator):
        return make_corpus(n_samples)
    panel = make_panel(n_samples, n_given=count_given(estimator))
    if takes_bits(estimator):
        panel = SequencePanel(panel.values > 1.5, panel.ptr)
    if not get_tags(estimator).input_tags.allow_nan:
        return panel
    values = panel.values.copy()
    values[4::9] = np.nan
    return SequencePanel(values, panel.ptr)


# Tools for all checks.


Check = Callable[[Any], None]


def of_short_fits(check: Check) -> Check:
    """Return a check without warnings of convergence, because its fits are short."""

    @wraps(check)
    def quiet(estimator: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    return quiet


def seeded(estimator: Any, **params: Any) -> Any:
    """Return an unfitted copy with a fixed seed and other parameters."""
    return clone(estimator).set_params(random_state=0, **params)


def _same(value: Any, other: Any, name: str) -> None:
    """Assert that two values of any kind are equal, bit for bit."""
    if isinstance(value, dict):
        assert value.keys() == other.keys(), name
        for key in value:
            _same(value[key], other[key], f"{name}[{key!r}]")
    elif isinstance(value, list | tuple):
        assert len(value) == len(other), name
        for i, (one, two) in enumerate(zip(value, other, strict=True)):
            _same(one, two, f"{name}[{i}]")
    elif isinstance(value, Trace):
        assert_array_equal(value.sweeps, other.sweeps)
        for scalar in value:
            assert_array_equal(value[scalar], other[scalar], err_msg=f"{name}[{scalar!r}]")
    elif hasattr(value, "__dict__"):
        for part in vars(value):
            _same(vars(value)[part], vars(other)[part], f"{name}.{part}")
    else:
        assert_array_equal(value, other, err_msg=name)


def list_fitted(estimator: Any) -> set[str]:
    """Return the names of the fitted attributes."""
    return {name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")}


def same_fit(first: Any, second: Any) -> None:
    """Assert that two estimators learned the same, bit for bit."""
    for name in list_fitted(first):
        _same(getattr(first, name), getattr(second, name), name)


def clone_fitted(estimator: Any) -> Any:
    """Return a copy of a fitted estimator, by pickle."""
    return pickle.loads(pickle.dumps(estimator))


def interrupt(estimator: Any, n_steps: int, *data: Any) -> None:
    """Fit to the data, and press Ctrl-C after `n_steps` steps."""
    _fail(estimator, "is_done", n_steps, KeyboardInterrupt, *data)


def tear(estimator: Any, n_steps: int, *data: Any) -> None:
    """Fit to the data, and run out of memory in the middle of a later step than `n_steps`."""
    _fail(estimator, "advance", n_steps, MemoryError, *data)


@contextmanager
def acting_after(estimator: Any, method: str, act: Callable[[int], None]) -> Iterator[None]:
    """Return a context in which fits call ``act(n_steps)`` after a method of their procedure.
    Errors of `act` come in the middle of a step with "advance", between steps with "is_done".
    """
    make = estimator._make_procedure

    def make_acting(data: Any) -> Any:
        procedure = make(data)
        whole = getattr(procedure, method)

        def then_act(run: Any, *args: Any) -> Any:
            result = whole(run, *args)
            act(procedure.n_steps(result if method == "advance" else run))
            return result

        setattr(procedure, method, then_act)
        return procedure

    estimator._make_procedure = make_acting
    try:
        yield
    finally:
        del estimator._make_procedure


def _fail(
    estimator: Any, method: str, n_steps: int, error: type[BaseException], *data: Any
) -> None:
    """Fit to the data, with an error at the end of a method once `n_steps` steps are done."""

    def fail(n_done: int) -> None:
        if n_done >= n_steps:
            raise error

    with acting_after(estimator, method, fail):
        try:
            estimator.fit(*data)
        except error:
            return
    raise AssertionError(f"The fit did not end with {error.__name__}.")


def search(estimator: Any, *data: Any, **params: Any) -> None:
    """Assert that scores of folds are finite, and that a search does not depend on n_jobs."""
    scores = cross_val_score(seeded(estimator), *data, cv=KFold(3), **params)
    assert np.all(np.isfinite(scores))
    grid = {"max_iter": [estimator.max_iter // 2, estimator.max_iter]}
    one, two = (
        GridSearchCV(seeded(estimator), grid, cv=KFold(2), n_jobs=n_jobs, **params).fit(*data)
        for n_jobs in (1, 2)
    )
    assert np.all(np.isfinite(one.cv_results_["mean_test_score"]))
    assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    same_fit(one.best_estimator_, two.best_estimator_)


# Checks of estimators that model sequences of words, and score them.


def check_text_forms(estimator: Any) -> None:
    """Check that a container, lists and the rows of an array mean the same."""
    sentences = make_sentences(n_words=None)
    expected = seeded(estimator).fit(sentences)
    for lists in (list(sentences), [x.tolist() for x in sentences]):
        same_fit(expected, seeded(estimator).fit(lists))
    rows = sentences.tokens[: len(sentences.tokens) // 3 * 3].reshape(-1, 3)
    expected = seeded(estimator).fit(list(rows))
    same_fit(expected, seeded(estimator).fit(rows.tolist()))
    of_array = seeded(estimator).fit(rows)
    same_fit(of_array, seeded(estimator).fit(rows.astype(float)))
    scores = expected.score_samples(list(rows))
    for matrix in (rows, rows.astype(float), rows.tolist()):
        assert_array_equal(of_array.score_samples(matrix), scores)
    assert expected.n_features_in_ == rows.max() + 1
    assert (of_array.n_words_, of_array.n_features_in_) == (rows.max() + 1, 3)


def check_text_scores(estimator: Any) -> None:
    """Check that a sequence's score is its own, and that score and perplexity are means of them."""
    sentences = make_sentences()
    fitted = seeded(estimator).fit(sentences)
    scores = fitted.score_samples(sentences)
    assert scores.shape == (len(sentences),)
    assert np.all(scores < 0.0)
    order = np.random.default_rng(0).permutation(len(sentences))
    assert_allclose(fitted.score_samples(sentences[order]), scores[order], rtol=1e-10)
    for i in range(len(sentences)):
        assert_allclose(fitted.score_samples(sentences[i : i + 1])[0], scores[i], rtol=1e-10)
    assert_array_equal(clone_fitted(fitted).set_params(n_jobs=2).score_samples(sentences), scores)
    n_events = scores.sum() / fitted.score(sentences)
    assert_allclose(n_events, np.round(n_events))
    assert len(sentences.tokens) <= round(n_events) <= len(sentences.tokens) + len(sentences)


def check_text_without_words(estimator: Any) -> None:
    """Check that sequences without words and of one word are legal, and no words at all are not."""
    import pytest

    lists: list[Any] = [[], *(x.tolist() for x in make_sentences()), [0], []]
    mixed = TokenSequences.from_sequences(lists, N_WORDS)
    fitted = seeded(estimator).fit(mixed)
    scores = fitted.score_samples(mixed)
    assert np.all(np.isfinite(scores))
    assert scores[0] == scores[-1]
    assert np.all(np.isfinite(fitted.score_samples([[], [0]])))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        seeded(estimator).fit([])


# Checks of estimators that learn from sentences and their parse trees, and predict trees.


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


def check_input_forms(estimator: Any) -> None:
    """Check that lists, tuples and arrays mean the same, and that none of them is changed."""
    X, y = _samples()
    before = copy.deepcopy((X, y))
    expected = seeded(estimator).fit(X, y)
    trees = expected.predict(X)
    assert (X, y) == before
    forms: tuple[tuple[Any, Any], ...] = (
        ([tuple(words) for words in X], tuple(y)),
        (tuple(np.array(words) for words in X), as_objects(y)),
        (as_objects(X), y),
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a fold may have no parse for a sentence
        search(estimator, *_samples(), error_score="raise")


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
