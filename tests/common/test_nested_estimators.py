"""scikit-learn's checks and ours, on the model that finds words."""

import numpy as np
from scikit_learn_checks import scikit_learn_checks

from skdp.language import CollocationPitmanYorLM, NestedPitmanYorLM
from skdp.utils.estimator_checks import parametrize_with_ragged_checks


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
        Counts(**FEW),
        Counts(1, character_order=1, type_moves=1.0, **FEW),
        CountsUnderCollocations(**FEW),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        NestedPitmanYorLM(max_iter=8, anneal=None, n_chains=1),
        NestedPitmanYorLM(1, character_order=2, type_moves=1.0, max_iter=8, anneal=None),
        CollocationPitmanYorLM(max_iter=8, anneal=None, n_chains=1),
    ]
)
def test_ragged(estimator, check):
    check(estimator)
