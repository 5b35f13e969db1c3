"""Faults in the use of language models are named, and what is small or closed is none."""

import warnings

import numpy as np
import pandas as pd
import pytest
from bad_inputs import DAYS, HIDDEN, SENTENCES, STRAY, TEXTS, check_fault, faults
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, LanguageModelClassifier


def lm(X=SENTENCES, order=2, **params):
    return HierarchicalPitmanYorLM(order, **{"max_iter": 4, **params}).fit(X)


def kn(X=SENTENCES, order=2, **params):
    return KneserNeyLM(order, **{"discount": 0.5, **params}).fit(X)


def classifier(y, X=SENTENCES, **params):
    return LanguageModelClassifier(KneserNeyLM(2, discount=0.5), **params).fit(X, y)


@faults(
    ("masked", lambda: lm(HIDDEN), ValueError, "X must not be a masked array"),
    ("dates", lambda: lm(DAYS), ValueError, "X must hold numbers, got dates"),
    ("text", lambda: lm(TEXTS), ValueError, "X holds text.*TokenVectorizer"),
    (
        "text after a fit",
        lambda: kn([[0, 1], [1]]).score(["the cat"]),
        ValueError,
        r"X holds text.*: pass transform\(X\) of the vectorizer of the fit\.$",
    ),
    ("text", lambda: kn(["the", "cat"]), ValueError, "X holds text.*TokenVectorizer"),
    ("words", lambda: lm(pd.Series([["the", "cat"], ["a"]])), ValueError, "X holds text.*Token"),
    ("a generator", lambda: lm(s for s in SENTENCES), TypeError, r"pass list\(X\)"),
    ("no sentences", lambda: lm([]), ValueError, "minimum of 1 is required"),
    ("no words", lambda: lm([[], []], end_of_sequence=False), ValueError, "0 feature"),
    (
        "no words",
        lambda: lm(TokenSequences.from_sequences([[], []], 3), end_of_sequence=False),
        ValueError,
        "X has no words at all.*HierarchicalPitmanYorLM",
    ),
    ("fractions", lambda: lm(np.array([[0.5, 1.0]])), ValueError, "word ids .integers.*0.5"),
    ("fractions", lambda: lm([[0.5, 1.0], [2.0]]), ValueError, "sentence 0.*integers"),
    ("negative ids", lambda: lm([[0, -1], [1]]), ValueError, "sentence 0: word id -1"),
    ("a stray id", lambda: lm([[0, STRAY]]), ValueError, f"largest word id is {STRAY}.*GiB"),
    ("a stray id", lambda: kn([[0, STRAY]]), ValueError, f"largest word id is {STRAY}.*GiB"),
    ("no order", lambda: lm(order=0), ValueError, "'order'.*0"),
    ("a truth value", lambda: lm(order=True), ValueError, "order.*True"),
    ("a discount of 1", lambda: lm(discount=1.0), ValueError, "discount.*1.0"),
    ("discounts", lambda: lm(discount=[0.5] * 3), ValueError, "discount must be.*2 numbers"),
    ("discounts", lambda: lm(discount=[0.5, 1.5]), ValueError, "discount must be a number in"),
    (
        "laws",
        lambda: lm(order=None, discount=[0.5] * 3, concentration=[1.0] * 2),
        ValueError,
        "concentration must be.*3 numbers.*from 0 to 2 and more",
    ),
    ("no laws", lambda: lm(order=None, discount=[]), ValueError, "discount must be.*1 numbers"),
    ("no order", lambda: kn(order=None), ValueError, "'order'.*None"),
    ("discounts", lambda: kn(discount=[0.5] * 3), ValueError, "discount must be.*2 of them"),
    ("discounts", lambda: kn(discount=[[1, 2, 4]] * 2), ValueError, "discount must be"),
    ("no concentration", lambda: lm(concentration=0), ValueError, "concentration"),
    ("priors", lambda: lm(discount_prior=(1.0,)), ValueError, "discount_prior must be two"),
    ("priors", lambda: lm(concentration_prior=(0, 1)), ValueError, "concentration_prior must be"),
    ("all burn-in", lambda: lm(burn_in=4), ValueError, "burn_in must be smaller than max_iter"),
    ("a short base", lambda: lm(base=[0.5, 0.5]), ValueError, "base must hold 4.*3 words and"),
    ("a base of weights", lambda: lm(base=[1, 1, 1, 1]), ValueError, "base.*with sum 1"),
    ("no base", lambda: lm(base=[0, 0.5, 0.2, 0.3]), ValueError, "outcome 0 of X the probability"),
    (
        "a base that is not fitted",
        lambda: lm(base=HierarchicalPitmanYorLM()),
        NotFittedError,
        "base.*HierarchicalPitmanYorLM, is not fitted.*FrozenEstimator",
    ),
    (
        "a base in a search",
        lambda: GridSearchCV(
            HierarchicalPitmanYorLM(2, base=lm(), max_iter=4),
            {"order": [1]}, cv=2, error_score="raise",
        ).fit(SENTENCES),
        NotFittedError,
        "FrozenEstimator",
    ),
    # Fitted models
    ("unseen ids", lambda: lm().score([[0, 7]]), ValueError, "sentence 0: word id 7.*TokenVec"),
    ("unseen ids", lambda: kn().predict([[3, 7]]), ValueError, "word id 3.*TokenVectorizer"),
    ("nothing to score", lambda: lm(end_of_sequence=False).score([[], []]), ValueError, "no words"),
    ("no model", lambda: KneserNeyLM().score(SENTENCES), NotFittedError, "KneserNeyLM"),
    ("no sequence", lambda: lm().sample(0), ValueError, "n_sequences"),
    ("names", lambda: lm().to_arpa("x.arpa", ["a", "b"]), ValueError, "3 names"),
    ("names", lambda: lm().to_arpa("x.arpa", ["a", "b", "c d"]), ValueError, "'c d'.*white"),
    ("names", lambda: kn().to_arpa("x.arpa", ["a", "b", "<s>"]), ValueError, "<s>"),
    ("names", lambda: kn().to_arpa("x.arpa", ["a", "b", "a"]), ValueError, "'a' names two"),
    *(
        ("names", lambda a=a: kn().to_arpa("x.arpa", ["a", "b", a]), ValueError, f"feature_na.*{w}")
        for a, w in (
            ("b\0", "NUL"), ("", "empty"), ("\ud800", "surrogate"), ("b\u2028", "white"),
            (None, "None.*word 2.*NoneType"), (np.nan, "nan.*word 2.*float"), (b"c", "bytes"),
            (True, "bool"), (1.0, "float"), ([], r"got .*list"),
        )
    ),
    ("a descriptor", lambda: kn().to_arpa(1, list("abc")), TypeError, "path must be a str.*int"),
    ("a descriptor", lambda: lm().to_arpa(True, list("abc")), TypeError, "path must be.*bool"),
    ("bytes", lambda: lm().to_arpa(b"x", list("abc")), TypeError, "path must be.*bytes"),
    ("any order", lambda: lm(order=None).to_arpa("x.arpa", list("abc")), ValueError, "order=None"),
    ("no sample", lambda: lm().to_arpa("x.arpa", list("abc"), sample=9), ValueError, "sample must"),
    # Classifiers
    ("no classes", lambda: classifier(None), ValueError, "requires y"),
    ("too few labels", lambda: classifier([0]), ValueError, "2 sequences, y has 1"),
    ("numbers", lambda: classifier([0.5, 1.7]), ValueError, "Unknown label type"),
    ("a class", lambda: LanguageModelClassifier(KneserNeyLM).fit([[0]], [0]), TypeError, "KneserN"),
    ("no scores", lambda: LanguageModelClassifier(GridSearchCV).fit([[0]], [0]), TypeError, "Grid"),
    ("priors", lambda: classifier([0, 1], class_prior=[1.0]), ValueError, "2 positive prob"),
    ("priors", lambda: classifier([0, 1], class_prior=[0.9, 0.9]), ValueError, "sum 1"),
)  # fmt: skip
def test_faults(fault):
    check_fault(fault)


@pytest.mark.parametrize(
    "X",
    [
        [[0]],
        [[0, 0, 0, 0]],
        [[], [0]],
        [[0, 1]] * 50,  # closed: nothing occurs once
        [list(range(30))],  # open: nothing occurs twice
    ],
)
@pytest.mark.parametrize("order", [1, 2, 7, None])
def test_small_and_closed_corpora(X, order):
    models = [lm(X, order), lm(X, order, end_of_sequence=False)]
    for model in models if order is None else [*models, kn(X, order)]:
        rows = model.predict_proba([[], [0], [0, 0, 0]])
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert np.all(rows > 0.0)
        assert np.all(np.isfinite(model.score_samples(X)))


def test_long_text_that_recurs_has_too_many_contexts(monkeypatch):
    monkeypatch.setattr("skdp._checks._memory.physical_memory", lambda: 2**20)
    rng = np.random.default_rng(0)
    words = rng.integers(0, 9, 2_000)
    assert lm([words], None)._trie.order < 20
    with pytest.raises(ValueError, match=r"order=None.*would take.*an order limits it"):
        lm([words, words], None)


def test_bases():
    """An array, a fitted model and a frozen one, which a search does not lose."""
    first = lm(random_state=0)
    unigrams = first._unigrams()
    X = TokenSequences.from_sequences([[0, 1], [1]], 3)
    expected = lm(X, base=unigrams, random_state=0).predict_proba([[2]])
    for base in (first, FrozenEstimator(first), kn()):
        found = lm(X, base=base, random_state=0)
        assert np.all(np.isfinite(found.predict_proba([[2]])))
        assert len(list(found.iter_sweeps(X))) == 4
        if not isinstance(base, KneserNeyLM):
            np.testing.assert_array_equal(found.predict_proba([[2]]), expected)
    search = GridSearchCV(
        HierarchicalPitmanYorLM(2, base=FrozenEstimator(first), max_iter=4), {"order": [1]}, cv=2
    )
    assert np.isfinite(search.fit(X).best_score_)


def test_samples():
    model = lm([[0, 1, 2]] * 40, random_state=0)
    drawn = model.sample(30, random_state=0)
    assert drawn.n_features == 3
    assert [0, 1, 2] in [x.tolist() for x in drawn]
    assert drawn == model.sample(30, random_state=0)
    with pytest.warns(UserWarning, match="of 5 sequences were cut at max_length=2"):
        assert max(map(len, model.sample(5, max_length=2, random_state=0))) == 2
    model = lm([[0, 1, 2]] * 20 + [[0, 1, 2, 0, 1]] * 20, random_state=0)
    cut = []
    for seed in range(20):
        (whole,) = model.sample(random_state=seed)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            (start,) = model.sample(max_length=3, random_state=seed)
        assert start.tolist() == whole[:3].tolist()
        cut.append(len(seen))
        assert cut[-1] == (len(whole) > 3)  # not for a sequence of exactly three words
    assert 0 < sum(cut) < 20
    endless = lm([[0, 1, 2]] * 40, end_of_sequence=False)
    assert list(map(len, endless.sample(4, max_length=9))) == [9] * 4
