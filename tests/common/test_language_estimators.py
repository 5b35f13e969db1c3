"""scikit-learn's checks and ours, on language models."""

import numpy as np
import pytest
from scikit_learn_checks import scikit_learn_checks

from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)
from skdp.utils.estimator_checks import check_ragged_estimator, parametrize_with_ragged_checks


class Counting:
    """Results that scikit-learn can compare: how many words there are instead of the words."""

    def predict(self, X):
        return np.array([len(words) for words in super().predict(X)])

    def predict_proba(self, X):
        return np.array([cuts.sum() for cuts in super().predict_proba(X)])

    def transform(self, X):
        sequences = super().transform(X)
        return np.array([[len(s), s.sum()] for s in sequences], dtype=float).reshape(-1, 2)

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)

    inverse_transform = None


class Counts(Counting, NestedPitmanYorLM):
    """Words that follow each other."""


class CountsUnderCollocations(Counting, CollocationPitmanYorLM):
    """Words under collocations."""


FEW = {"max_iter": 6, "anneal": None, "n_chains": 1}


@scikit_learn_checks(
    [
        HierarchicalPitmanYorLM(2, max_iter=10),
        KneserNeyLM(2, discount=0.5),
        LanguageModelClassifier(KneserNeyLM(2, discount=0.5)),
        Counts(**FEW),
        Counts(1, character_order=1, type_moves=1.0, **FEW),
        CountsUnderCollocations(**FEW),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        HierarchicalPitmanYorLM(3, max_iter=10),
        HierarchicalPitmanYorLM(1, max_iter=10),
        HierarchicalPitmanYorLM(None, max_iter=10),
        HierarchicalPitmanYorLM(2, max_iter=10, discount=0.5, end_of_sequence=False),
        NestedPitmanYorLM(max_iter=8, anneal=None, n_chains=1),
        NestedPitmanYorLM(1, character_order=2, type_moves=1.0, max_iter=8, anneal=None),
        CollocationPitmanYorLM(max_iter=8, anneal=None, n_chains=1),
    ]
)
def test_ragged(estimator, check):
    check(estimator)


class ScoresByPlace(HierarchicalPitmanYorLM):
    """A model whose scores depend on the other sentences."""

    def score_samples(self, X):
        scores = super().score_samples(X)
        return scores - np.arange(len(scores))


def test_the_ragged_checks_of_text_can_fail():
    with pytest.raises(AssertionError):
        check_ragged_estimator(ScoresByPlace(2, max_iter=10))
