"""Bayes' rule over language models."""

import numpy as np
import pytest
from scipy.special import softmax

from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, LanguageModelClassifier


def sentences():
    rng = np.random.default_rng(0)
    lists = [(rng.integers(0, 3, 6) + 2 * (i % 3)).tolist() for i in range(30)]
    return TokenSequences.from_sequences(lists, 9), np.array(["c", "a", "b"] * 10)


@pytest.mark.parametrize(
    ("prior", "log_prior"),
    [
        ("empirical", np.log([9 / 28, 9 / 28, 10 / 28])),
        ("uniform", np.log([1 / 3] * 3)),
        ([0.2, 0.3, 0.5], np.log([0.2, 0.3, 0.5])),
    ],
)
def test_bayes_rule(prior, log_prior):
    X, y = sentences()
    X, y = X[:28], y[:28]
    estimator = HierarchicalPitmanYorLM(2, max_iter=6, random_state=0)
    found = LanguageModelClassifier(estimator, class_prior=prior).fit(X, y)
    assert found.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(found.class_log_prior_, log_prior)
    joint = [
        HierarchicalPitmanYorLM(2, max_iter=6, random_state=0).fit(X[y == k]).score_samples(X)
        for k in "abc"
    ]
    expected = softmax(np.transpose(joint) + log_prior, axis=1)
    np.testing.assert_allclose(found.predict_proba(X), expected, rtol=1e-10)
    np.testing.assert_array_equal(found.predict(X), found.classes_[expected.argmax(axis=1)])
    assert found.n_features_in_ == 9
    assert not hasattr(estimator, "trace_")


@pytest.mark.parametrize(
    "estimator", [HierarchicalPitmanYorLM(2, max_iter=4), KneserNeyLM(2, discount=0.5)]
)
def test_class_of_an_empty_sequence(estimator):
    """Its model has only seen ends of sentences."""
    X, y = [[0, 1], [], [1]], ["words", "nothing", "words"]
    rows = LanguageModelClassifier(estimator).fit(X, y).predict_proba([[], [0, 1]])
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    assert np.all((rows > 0.0) & (rows < 1.0))


@pytest.mark.parametrize("prior", ["empirical", [0.2, 0.8]])
def test_sequences_that_no_class_can_have(prior):
    """They are evidence for no class; the others follow Bayes' rule."""
    model = LanguageModelClassifier(KneserNeyLM(order=2, discount=0.0), class_prior=prior)
    model.fit([[0, 1], [2, 3], [3, 2, 2], [2, 3]], ["a", "b", "b", "b"])
    shares = [0.25, 0.75] if prior == "empirical" else prior
    X = [[0, 2], [0, 1], [2, 3], [0, 2, 3, 1]]
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, [shares, [1.0, 0.0], [0.0, 1.0], shares])
    np.testing.assert_array_equal(model.predict(X), ["b", "a", "b", "b"])
    np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)), proba)


def test_log_probability_of_the_impossible():
    model = KneserNeyLM(order=2, discount=0.0).fit([[0, 1], [0, 1, 1], [2, 2]])
    assert model.score_samples([[0, 2], [0, 1]]).tolist()[0] == -np.inf
    assert model.score([[0, 2]]) == -np.inf
    assert model.perplexity([[0, 2]]) == np.inf
